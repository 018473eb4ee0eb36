"""The HTTP service over a policy: `/generate`, `/status` and `/metrics`; and what `endpoints` has over its models."""

import dataclasses
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any, get_type_hints

from flask import Blueprint, Flask, Response, request
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from pydantic import FailFast, Field, create_model

from nanoproof.common.run_dir import versions
from nanoproof.common.web import flask_app
from nanoproof.policy import protocol
from nanoproof.policy.endpoints import (
    CALLER_GONE,
    ExternalApi,
    NoSuchModel,
    in_openai_shape,
    is_external,
    openai_routes,
)
from nanoproof.policy.served_models import ServedModels
from nanoproof.policy.tactic_policy import TacticPolicy
from nanoproof.policy.text_policy import TextPolicy
from nanoproof.search.policy import (
    BadState,
    ModelFailed,
    PolicyCancelled,
    PolicyClosed,
    PolicyServerError,
    PolicyTimeout,
    PolicyUnavailable,
    Suggestion,
)

log = logging.getLogger(__name__)

_SECONDS_BUCKETS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)


class StatesBody(flask_app.Body, extra="forbid"):
    """The body of `/generate` without the fields that say how to sample."""

    states: Annotated[list[flask_app.Text], FailFast(), Field(min_length=1)]
    seeds: Annotated[list[Annotated[int, Field(ge=0, lt=2**63)]], FailFast()] = []
    timeout_seconds: flask_app.Amount | None = None


_SAMPLING: dict[str, Any] = {name: (kind, None) for name, kind in get_type_hints(protocol.SamplingConfig).items()}


class Generate(create_model("Generate", __base__=StatesBody, **_SAMPLING)):  # type: ignore[misc]
    """The body of `/generate`; fields of `SamplingConfig` that are left out are the server's."""


class TooBusy(Exception):
    """The server is full; the message names what there is too much of."""


ServedPolicy = TacticPolicy | TextPolicy


class PolicyService:
    """A policy with the limits and metrics of its server."""

    def __init__(
        self,
        policy: ServedPolicy,
        options: protocol.ServiceOptions,
        model: dict[str, Any],
        models: ServedModels | None = None,
    ) -> None:
        """`model` describes the policy's model in `/status`; `models` are those served by name, which it closes."""
        self.policy, self.options, self.model, self.models = policy, options, model, models
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
        self.registry.register(PolicyMetrics(self))
        self.closing = False
        self._lock = threading.Lock()
        self.open_requests = self._open_states = 0

    def drain(self) -> None:
        """Refuse further requests."""
        self.closing = True

    def close(self) -> None:
        """End what is under way: those who wait are told so."""
        if self.models is not None:
            self.models.close()
        self.policy.close()

    def generate(self, body: Generate) -> list[Suggestion]:
        """Answer the body of a request. Raises BadRequest, TooBusy, or what the policy raises."""
        states, seeds, longest = body.states, body.seeds, self.options.longest_seconds
        if len(states) > self.options.max_states:
            raise flask_app.BadRequest(
                f"`states`: there are {len(states)}, and this server takes {self.options.max_states}"
            )
        if seeds and len(seeds) != len(states):
            raise flask_app.BadRequest(f"`seeds`: there are {len(seeds)} seeds for {len(states)} states")
        sampling = self._sampling(body)
        seconds = longest
        if body.timeout_seconds is not None:
            seconds = min(body.timeout_seconds, longest)
        with self._admitted(len(states)):
            began = time.monotonic()
            try:
                return self.policy.suggest_all(
                    states,
                    seeds or [0] * len(states),
                    sampling=sampling,
                    deadline=began + seconds,
                    cancelled=flask_app.client_disconnected(),
                )
            finally:
                self.seconds.observe(time.monotonic() - began)

    @contextmanager
    def _admitted(self, num_states: int) -> Iterator[None]:
        leave = self.admit(num_states)
        try:
            yield
        finally:
            leave()

    def admit(self, num_states: int) -> Callable[[], None]:
        """Count a request as one that waits for the model; what is returned counts it out. Raises TooBusy."""
        with self._lock:
            # Refused at once rather than queued: clients come back, and a queue without an end would only time out.
            if self.open_requests >= self.options.max_requests:
                raise TooBusy(f"{self.open_requests} requests are waiting for the model")
            if self._open_states + num_states > self.options.max_open_states:
                raise TooBusy(f"{self._open_states} states are waiting for the model")
            self.open_requests += 1
            self._open_states += num_states
        return partial(self._leave, num_states)

    def _leave(self, num_states: int) -> None:
        with self._lock:
            self.open_requests -= 1
            self._open_states -= num_states

    def _sampling(self, body: Generate) -> protocol.SamplingConfig:
        # `exclude_unset`, since null is a value of `first_token_occurrences_cap`: no cap.
        fields = body.model_dump(include=set(protocol.SAMPLING_FIELDS), exclude_unset=True)
        try:
            sampling = dataclasses.replace(self.policy.sampling, **fields)
            self.policy.check_sampling(sampling)
        except ValueError as error:
            raise flask_app.BadRequest(str(error)) from error
        for name, most in self.limits().items():
            value = getattr(sampling, name, None)
            if value is not None and value > most:
                raise flask_app.BadRequest(f"`{name}` must be <= {most} on this server, got {value}")
        return sampling

    def limits(self) -> dict[str, int]:
        """Return the most that a request may ask for, by field."""
        # What the server does by default it also does for who asks for it by name, hence the `max` of both.
        options = self.options
        return {
            "states": options.max_states,
            "num_sampled_tactics": max(options.max_samples, self.policy.sampling.num_sampled_tactics),
            "max_gen_tokens": min(
                max(options.longest_tactic, self.policy.sampling.max_gen_tokens), self.policy.max_tactic_tokens
            ),
        }


def status_of(service: PolicyService, active: list[dict[str, Any]]) -> dict[str, Any]:
    """Describe a service for `GET /status`."""
    policy = service.policy
    status: dict[str, Any] = {"model": service.model}
    if service.models is not None:
        status["models"] = list(service.models.by_name)
    return {
        **status,
        "sampling": protocol.sampling_to_json(policy.sampling),
        "limits": service.limits(),
        "max_requests": service.options.max_requests,
        "open_requests": service.open_requests,
        "open_states": policy.num_open,
        "closing": service.closing,
        "questions": asdict(policy.stats),
        "samples": asdict(policy.counts),
        **policy.report(),
        "versions": versions(),
        "active_requests": active,
    }


class PolicyMetrics(Collector):
    """Counters of the policy and its engine, and gauges of their state at the moment of a scrape."""

    def __init__(self, service: PolicyService) -> None:
        self._service = service

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        """Yield each counter and gauge."""
        service, policy = self._service, self._service.policy
        states = asdict(policy.stats)
        busy_seconds, steps = states.pop("busy_seconds"), states.pop("steps")  # not outcomes of states
        samples = asdict(policy.counts)
        yield _totals("states", "States, by what became of them.", "outcome", states)
        yield _totals("samples", "Tactics that were sampled, and those that were left out.", "kind", samples)
        yield _totals("engine", "Work of the engine.", "kind", policy.report()["engine"])
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


def create_app(service: PolicyService, token: str | None = None) -> Flask:
    """Make the Flask application of a service; for the `token` see `guarded_app`."""
    served_while_closing = ("policy.status", "policy.metrics")
    on_loopback = service.options.on_loopback
    app = flask_app.guarded_app(
        __name__, token, on_loopback, service.requests, lambda: service.closing, served_while_closing
    )
    external = None
    if service.models is not None:
        app.register_blueprint(openai_routes(service.models, service.options, service.admit))
        app.after_request(in_openai_shape)
        external = ExternalApi(service.models, service.options, service.admit)
    app.register_blueprint(_routes(service, app.extensions["requests"].active, external))
    app.register_error_handler(BadState, lambda error: flask_app.reply({"error": str(error)}, 400))
    app.register_error_handler(TooBusy, lambda error: flask_app.reply_later({"error": str(error)}, 429))
    app.register_error_handler(
        PolicyClosed, lambda _: flask_app.reply_later({"error": "the server is shutting down"}, 503)
    )
    app.register_error_handler(PolicyTimeout, lambda error: flask_app.reply({"error": str(error)}, 504))
    app.register_error_handler(PolicyCancelled, lambda error: flask_app.reply({"error": str(error)}, CALLER_GONE))
    app.register_error_handler(NoSuchModel, lambda error: flask_app.reply({"error": str(error)}, 404))
    app.register_error_handler(PolicyUnavailable, lambda error: flask_app.reply_later({"error": str(error)}, 503))
    app.register_error_handler(PolicyServerError, _model_failed)
    app.register_error_handler(ModelFailed, _model_failed)
    return app


def _model_failed(error: Exception) -> Response:
    log.error("%s", error, exc_info=error)
    return flask_app.reply({"error": str(error)}, 500)


def _routes(service: PolicyService, active: Any, external: ExternalApi | None) -> Blueprint:
    routes = Blueprint("policy", __name__)

    @routes.post("/generate")
    def generate() -> Response:
        # LeanDojo's client has the path built in, so that the body has to tell whose request it is.
        if external is not None and is_external(request.get_data()):
            return external.generate()
        suggestions = [protocol.suggestion_to_json(suggestion) for suggestion in service.generate(Generate.read())]
        return flask_app.reply({"suggestions": suggestions, "step": service.model.get("step")})

    if external is not None:
        routes.add_url_rule("/encode", "encode", external.encode, methods=["POST"])

    @routes.get("/status")
    def status() -> Response:
        return flask_app.reply(status_of(service, active()))

    @routes.get("/metrics")
    def metrics() -> Response:
        return flask_app.metrics_response(service.registry)

    return routes
