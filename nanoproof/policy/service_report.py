"""What a policy server says about itself: `/status` for people and clients, `/metrics` for Prometheus."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from nanoproof.common.run_dir import versions
from nanoproof.common.web.metrics import Gauge, Labels, render
from nanoproof.policy.wire import sampling_to_json

if TYPE_CHECKING:
    from nanoproof.policy.service import PolicyService


def status(service: "PolicyService", active: list[dict[str, Any]]) -> dict[str, Any]:
    """The answer to `GET /status`."""
    policy = service.policy
    return {
        "model": service.model,
        "sampling": sampling_to_json(policy.sampling),
        "limits": service.limits(),
        "max_requests": service.options.max_requests,
        "open_requests": service.open_requests,
        "open_states": policy.num_open,
        "closing": service.closing,
        "questions": asdict(policy.stats),
        "samples": asdict(policy.counts),
        "engine": asdict(policy.engine.stats),
        "decisions": policy.engine.decisions(),
        "versions": versions(),
        "active_requests": active,
    }


def metrics(service: "PolicyService") -> str:
    """The answer to `GET /metrics`."""
    policy = service.policy
    questions = asdict(policy.stats)
    busy_seconds, steps = questions.pop("busy_seconds"), questions.pop("steps")
    gauges = [
        _total("states", "States, by what became of them.", "outcome", questions),
        _total("samples", "Tactics that were sampled, and those that were left out.", "kind", asdict(policy.counts)),
        _total("engine", "Work of the engine.", "kind", asdict(policy.engine.stats)),
        _single("steps_total", "Steps of the engine.", steps, counted=True),
        _single("busy_seconds_total", "Seconds that the engine worked.", busy_seconds, counted=True),
        _single("open_states", "States that wait for the model.", policy.num_open),
        _single("open_requests", "Requests that wait for the model.", service.open_requests),
        _single("ready", "1 if the server lets in requests.", float(not service.closing)),
    ]
    return render([service.requests, service.seconds, *gauges])


def _total(name: str, help: str, label: str, values: Mapping[str, Any]) -> Gauge:
    numbers: dict[Labels, float] = {
        ((label, key),): value for key, value in values.items() if isinstance(value, (int, float))
    }
    return Gauge(f"nanoproof_policy_{name}_total", help, numbers, "counter")


def _single(name: str, help: str, value: float, counted: bool = False) -> Gauge:
    return Gauge(f"nanoproof_policy_{name}", help, {(): value}, "counter" if counted else "gauge")
