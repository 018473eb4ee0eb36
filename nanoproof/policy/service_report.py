"""What a policy server says about itself: `/status` for people and clients, `/metrics` for Prometheus."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from nanoproof.common.run_dir import versions
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


class Figures(Collector):
    """What the policy and its engine count themselves, and what is the case at the moment of a scrape."""

    def __init__(self, service: "PolicyService") -> None:
        self._service = service

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        """Yield each counter and gauge."""
        service, policy = self._service, self._service.policy
        questions = asdict(policy.stats)
        busy_seconds, steps = questions.pop("busy_seconds"), questions.pop("steps")
        samples = asdict(policy.counts)
        yield _totals("states", "States, by what became of them.", "outcome", questions)
        yield _totals("samples", "Tactics that were sampled, and those that were left out.", "kind", samples)
        yield _totals("engine", "Work of the engine.", "kind", asdict(policy.engine.stats))
        yield CounterMetricFamily("nanoproof_policy_steps", "Steps of the engine.", steps)
        yield CounterMetricFamily("nanoproof_policy_busy_seconds", "Seconds that the engine worked.", busy_seconds)
        yield _gauge("open_states", "States that wait for the model.", policy.num_open)
        yield _gauge("open_requests", "Requests that wait for the model.", service.open_requests)
        yield _gauge("ready", "1 if the server lets in requests.", not service.closing)


def _totals(name: str, help: str, label: str, values: Mapping[str, Any]) -> CounterMetricFamily:
    family = CounterMetricFamily(f"nanoproof_policy_{name}", help, labels=[label])
    for key, value in values.items():
        if isinstance(value, (int, float)):
            family.add_metric([key], value)
    return family


def _gauge(name: str, help: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"nanoproof_policy_{name}", help, float(value))
