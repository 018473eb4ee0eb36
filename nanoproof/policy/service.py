"""The HTTP service over a policy: `/generate`, `/status` and `/metrics`."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import Blueprint, Flask, Response
from prometheus_client import CollectorRegistry, Counter, Histogram

from nanoproof.common.web.guard import guarded_app, metrics_of
from nanoproof.common.web.json_api import BadRequest, caller_gone, json_object, number, reply, reply_later
from nanoproof.policy import service_report as report
from nanoproof.policy.sampling import SamplingConfig
from nanoproof.policy.service_options import ServiceOptions
from nanoproof.policy.tactic_policy import TacticPolicy
from nanoproof.policy.wire import SAMPLING_FIELDS, sampling_from_json, suggestion_to_json
from nanoproof.search.policy import BadState, ModelFailed, PolicyCancelled, PolicyClosed, PolicyTimeout, Suggestion

log = logging.getLogger(__name__)

_SECONDS_BUCKETS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
_KNOWN = frozenset(("states", "seeds", "timeout_seconds", *SAMPLING_FIELDS))
_CALLER_GONE = 499


class TooBusy(Exception):
    """There is no room for the request; the message says of what there is too much."""


class PolicyService:
    """A policy, what its server counts, and how much of it is taken."""

    def __init__(self, policy: TacticPolicy, options: ServiceOptions, model: dict[str, Any]) -> None:
        """`model` is what `/status` says about the model."""
        self.policy, self.options, self.model = policy, options, model
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "nanoproof_policy_requests_total",
            "HTTP requests answered, by route and status.",
            ("route", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "nanoproof_policy_generate_seconds",
            "Seconds that the states of a request took.",
            buckets=_SECONDS_BUCKETS,
            registry=self.registry,
        )
        self.registry.register(report.Figures(self))
        self.closing = False
        self._lock = threading.Lock()
        self.open_requests = self._open_states = 0

    def drain(self) -> None:
        """Let in no more requests."""
        self.closing = True

    def generate(self, body: dict[str, Any]) -> list[Suggestion]:
        """Answer the body of a request. Raises BadRequest, TooBusy, or what the policy raises."""
        if unknown := sorted(set(body) - _KNOWN):
            raise BadRequest(f"unknown field `{unknown[0][:50]}` (known: {', '.join(sorted(_KNOWN))})")
        states, seeds = self._states(body), self._seeds(body)
        if seeds and len(seeds) != len(states):
            raise BadRequest(f"there are {len(seeds)} seeds for {len(states)} states")
        sampling = self._sampling(body)
        seconds = min(number(body, "timeout_seconds", self.options.longest_seconds), self.options.longest_seconds)
        with self._room_for(len(states)):
            began = time.monotonic()
            try:
                return self.policy.suggest_all(
                    states,
                    seeds or [0] * len(states),
                    sampling=sampling,
                    deadline=began + seconds,
                    cancelled=caller_gone(),
                )
            finally:
                self.seconds.observe(time.monotonic() - began)

    @contextmanager
    def _room_for(self, num_states: int) -> Iterator[None]:
        with self._lock:
            if self.open_requests >= self.options.max_requests:
                raise TooBusy(f"{self.open_requests} requests are waiting for the model")
            if self._open_states + num_states > self.options.max_open_states:
                raise TooBusy(f"{self._open_states} states are waiting for the model")
            self.open_requests += 1
            self._open_states += num_states
        try:
            yield
        finally:
            with self._lock:
                self.open_requests -= 1
                self._open_states -= num_states

    def _states(self, body: dict[str, Any]) -> list[str]:
        states, most = body.get("states"), self.options.max_states
        if not isinstance(states, list) or not 1 <= len(states) <= most:
            raise BadRequest(f"`states` must be a list of 1 to {most} strings")
        for index, state in enumerate(states):
            if not isinstance(state, str):
                raise BadRequest(f"states[{index}] must be a string")
            try:
                state.encode()
            except UnicodeEncodeError as error:
                raise BadRequest(f"states[{index}] is not Unicode: lone surrogate at {error.start}") from error
        return states

    def _seeds(self, body: dict[str, Any]) -> list[int]:
        seeds = body.get("seeds", [])
        if not isinstance(seeds, list) or not all(type(seed) is int and 0 <= seed < 2**63 for seed in seeds):
            raise BadRequest("`seeds` must be a list of integers from 0 to 2^63 - 1")
        return seeds

    def _sampling(self, body: dict[str, Any]) -> SamplingConfig:
        try:
            sampling = sampling_from_json(body, self.policy.sampling)
            self.policy.check_sampling(sampling)
        except ValueError as error:
            raise BadRequest(str(error)) from error
        for name, most in self.limits().items():
            value = getattr(sampling, name, None)
            if value is not None and value > most:
                raise BadRequest(f"`{name}` must be <= {most} on this server, got {value}")
        return sampling

    def limits(self) -> dict[str, int]:
        """The most that a request may ask for."""
        options = self.options
        return {
            "states": options.max_states,
            "num_sampled_tactics": max(options.max_samples, self.policy.sampling.num_sampled_tactics),
            "max_gen_tokens": min(
                max(options.longest_tactic, self.policy.sampling.max_gen_tokens), self.policy.longest
            ),
        }


def create_app(service: PolicyService, token: str | None = None) -> Flask:
    """The application over a service; for the `token` see `guarded_app`."""
    served_to_the_end = ("policy.status", "policy.metrics")
    on_loopback = service.options.on_loopback
    app = guarded_app(__name__, token, on_loopback, service.requests, lambda: service.closing, served_to_the_end)
    app.register_blueprint(_routes(service, app.extensions["requests"].active))
    app.register_error_handler(BadState, lambda error: reply({"error": str(error)}, 400))
    app.register_error_handler(TooBusy, lambda error: reply_later({"error": str(error)}, 429))
    app.register_error_handler(PolicyClosed, lambda _: reply_later({"error": "the server is shutting down"}, 503))
    app.register_error_handler(PolicyTimeout, lambda error: reply({"error": str(error)}, 504))
    app.register_error_handler(PolicyCancelled, lambda error: reply({"error": str(error)}, _CALLER_GONE))
    app.register_error_handler(ModelFailed, _model_failed)
    return app


def _model_failed(error: ModelFailed) -> Response:
    log.error("%s", error, exc_info=error)
    return reply({"error": str(error)}, 500)


def _routes(service: PolicyService, active: Any) -> Blueprint:
    routes = Blueprint("policy", __name__)

    @routes.post("/generate")
    def generate() -> Response:
        return reply({"suggestions": [suggestion_to_json(each) for each in service.generate(json_object())]})

    @routes.get("/status")
    def status() -> Response:
        return reply(report.status(service, active()))

    @routes.get("/metrics")
    def metrics() -> Response:
        return metrics_of(service.registry)

    return routes
