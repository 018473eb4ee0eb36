"""The Flask application of the Lean server: LeanTree's API, a call for several tactics, `/status` and `/metrics`."""

import os
import platform
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil
from flask import Blueprint, Flask, Response
from prometheus_client import Counter
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from werkzeug.routing import IntegerConverter

from nanoproof.common.errors import UserError
from nanoproof.common.web import flask_app
from nanoproof.lean.project.layout import EMBEDDED_LEAN, lean_version
from nanoproof.lean.server.backend import ServerSettings
from nanoproof.lean.server.calls import Answer, LeaseCalls, Request
from nanoproof.lean.server.local import LocalServer
from nanoproof.lean.server.pool import CannotStart, LeaseNotFound, Pool, ShuttingDown, TooManyWaiting

_STATES = ("available", "used", "starting", "stopping")
_DEFAULT_WAIT_SECONDS = 60.0
# Who has a lease when the server shuts down may still give it back; monitors see how it ends.
_SERVED_WHILE_CLOSING = ("lean.status", "lean.metrics", "lean.return_process")

# -- Status and metrics ----------------------------------------------------------------------------------------------


def server_status(settings: ServerSettings, pool: Pool, active_requests: list[dict[str, Any]]) -> dict[str, Any]:
    """Collect the answer to `GET /status`: the fields of LeanTree servers, and ours."""
    counts, processes = pool.count_processes()
    metrics = pool.metrics
    memory = psutil.virtual_memory()
    ram = {"total_bytes": memory.total, "available_bytes": memory.available, "used_bytes": memory.used}
    return {
        **counts,
        "processes": [
            {
                "pid": process.pid,
                "state": state,
                "resident_bytes": process.resident_bytes(),
                "uses": process.uses,
                "soft_limits": process.limits.names,
            }
            for process, state in processes
        ],
        "totals": {"starts": _by(metrics.starts), "leases": _by(metrics.leases), "restarts": _by(metrics.ends)},
        "backend": settings.backend,
        "imports": list(settings.imports),
        "versions": versions(settings),
        "lease_seconds": settings.lease_seconds,
        "active_requests": active_requests,
        "cpu_percent_per_core": psutil.cpu_percent(percpu=True),
        "ram": {**ram, "percent": memory.percent},
    }


def versions(settings: ServerSettings) -> dict[str, str | None]:
    """Return the versions of nanoproof, Python and Lean; Lean's is None where it is not known."""
    try:
        ours = version("nanoproof")
    except PackageNotFoundError:
        ours = "unknown"
    return {"nanoproof": ours, "python": platform.python_version(), "lean": _lean_version(settings)}


class Gauges(Collector):
    """Gauges with the state of the pool and the server at the moment of a scrape."""

    def __init__(
        self, settings: ServerSettings, pool: Pool, active_requests: Callable[[], list[dict[str, Any]]]
    ) -> None:
        self._settings, self._pool, self._active_requests = settings, pool, active_requests

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Count the processes of the pool and yield each gauge."""
        counts, processes = self._pool.count_processes()
        resident = dict.fromkeys(_STATES, 0)
        largest = 0
        for process, state in processes:
            size = process.resident_bytes()
            resident[state] += size
            largest = max(largest, size)
        own = psutil.Process(os.getpid())
        yield _by_state("processes", "Lean processes, by state.", {s: counts[f"{s}_processes"] for s in _STATES})
        yield _by_state("resident_bytes", "Unshared resident memory of Lean processes, by state.", resident)
        yield _single("largest_resident_bytes", "Unshared resident memory of the largest Lean process.", largest)
        most = self._settings.max_processes
        yield _single("processes_max", "How many Lean processes may be leased at the same time.", most)
        yield _single("queue_length", "Callers that wait for a free Lean process.", counts["waiting_requests"])
        yield _single("active_requests", "HTTP requests under way.", len(self._active_requests()))
        yield _single("ready", "1 if the server can serve.", counts["ready"])
        yield _single("server_resident_bytes", "Resident memory of the server itself.", own.memory_info().rss)
        yield _single("start_time_seconds", "When the server started, in seconds since 1970.", own.create_time())
        build = {"backend": self._settings.backend, **versions(self._settings)}
        info = GaugeMetricFamily("nanoproof_lean_build_info", "What runs here, as labels.", labels=list(build))
        info.add_metric([text or "" for text in build.values()], 1)
        yield info


def _by(counter: Counter) -> dict[str, int]:
    """Return the values of a counter with one label, by the label's values."""
    counts = {}
    for family in counter.collect():
        for sample in family.samples:
            for value in sample.labels.values():
                counts[value] = int(sample.value)
    return counts


def _single(name: str, help: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"nanoproof_lean_{name}", help, value)


def _by_state(name: str, help: str, values: dict[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"nanoproof_lean_{name}", help, labels=["state"])
    for state, value in values.items():
        family.add_metric([state], value)
    return family


def _lean_version(settings: ServerSettings) -> str | None:
    """Return the version in the project's `lean-toolchain`, such as v4.27.0, by which whitelists are chosen."""
    if settings.backend == "nanolean":
        return EMBEDDED_LEAN
    if not settings.project_path:
        return None
    try:
        return lean_version(Path(settings.project_path).expanduser())
    except UserError:
        return None


# -- Request bodies --------------------------------------------------------------------------------------------------


class GetProcess(flask_app.Body):
    """Body of `/process/get`; `timeout` is in seconds, as is how long the lease may be idle, at most the server's.

    With `fresh_environments` each command and statement of the lease starts from the imports; without, which is how
    LeanTree's clients ask, it starts after the last one.
    """

    blocking: bool | None = None
    timeout: flask_app.Amount | None = None
    lease_seconds: flask_app.Amount | None = None
    fresh_environments: bool | None = None


# -- Routes ----------------------------------------------------------------------------------------------------------


class IdConverter(IntegerConverter):
    """Ids in paths, of at most 18 digits: Python refuses to convert thousands of them, which would be a 500."""

    regex = r"\d{1,18}"


def make_routes(
    settings: ServerSettings,
    pool: Pool,
    calls: LeaseCalls,
    active_requests: Callable[[], list[dict[str, Any]]],
    local_name: Callable[[], str | None],
) -> Blueprint:
    """Create the routes over a pool and the `calls` on its leases.

    `active_requests` lists the requests in progress for `/status`; `local_name` names the socket that clients on this
    machine may use.
    """
    routes = Blueprint("lean", __name__)
    pool.metrics.registry.register(Gauges(settings, pool, active_requests))
    _add_observing(routes, settings, pool, active_requests)
    _add_leasing(routes, settings, pool, local_name)
    _add_calls(routes, calls)
    return routes


def _add_observing(
    routes: Blueprint, settings: ServerSettings, pool: Pool, active_requests: Callable[[], list[dict[str, Any]]]
) -> None:
    @routes.get("/status")
    def status() -> Response:
        return flask_app.reply(server_status(settings, pool, active_requests()))

    @routes.get("/metrics")
    def metrics() -> Response:
        return flask_app.metrics_response(pool.metrics.registry)


def _add_leasing(routes: Blueprint, settings: ServerSettings, pool: Pool, local_name: Callable[[], str | None]) -> None:
    @routes.post("/process/get")
    def get_process() -> Response:
        body = GetProcess.read()
        seconds = _DEFAULT_WAIT_SECONDS if body.timeout is None else body.timeout
        gone = flask_app.client_disconnected()
        try:
            waits = min(seconds, settings.longest_seconds)
            fresh = bool(body.fresh_environments)
            lease = pool.get(body.blocking is not False, waits, gone, body.lease_seconds, fresh)
        except TooManyWaiting:
            return flask_app.reply_later({"error": "too many requests are waiting for a process"}, 429)
        except ShuttingDown:
            return flask_app.reply_later({"error": "the server is shutting down"}, 503)
        except CannotStart as error:
            return flask_app.reply_later({"error": f"no Lean process can be started: {error}"}, 503)
        # The caller may have hung up while it waited. Nobody would learn of the lease then, nor return it.
        if lease is not None and gone():
            pool.give_back(lease.id)
            lease = None
        if lease is None:
            return flask_app.reply({"process_id": None})
        answer: dict[str, Any] = {"process_id": lease.id, "lease_seconds": lease.idle_seconds}
        # By these fields, which LeanTree's server does not have, our client knows what it can rely on.
        answer |= {"fresh_environments": fresh, "splits_goals": True}
        if flask_app.comes_from_here() and (name := local_name()) is not None:
            answer["local_socket"] = name
        return flask_app.reply(answer)

    @routes.post("/process/<id:pid>/heartbeat")
    def heartbeat(pid: int) -> Response:
        try:
            lease = pool.heartbeat(pid)
        except LeaseNotFound:
            return flask_app.reply({"error": f"Process {pid} not found"}, 404)
        return flask_app.reply({"status": "ok", "lease_seconds": lease.idle_seconds})

    @routes.post("/process/<id:pid>/return")
    def return_process(pid: int) -> Response:
        # A client that lost the answer returns its lease again.
        if pool.give_back(pid):
            return flask_app.reply({"status": "ok"})
        return flask_app.reply({"status": "ok", "already_returned": True})


def _add_calls(routes: Blueprint, calls: LeaseCalls) -> None:
    def add(rule: str, name: str, call: Callable[[Request], Answer]) -> None:
        def view(pid: int, state: int = 0) -> Response:
            answer = call(Request(pid, state, flask_app.request_data, flask_app.client_disconnected()))
            if answer.status == 429:
                return flask_app.reply_later(answer.body, answer.status)
            return flask_app.reply(answer.body, answer.status)

        routes.add_url_rule(f"{rule}/{name}", name, view, methods=["POST"])

    for name, call in calls.on_leases.items():
        add("/process/<id:pid>", name, call)
    for name, call in calls.on_states.items():
        add("/process/<id:pid>/proof/<id:state>", name, call)


# -- The application -------------------------------------------------------------------------------------------------


def create_app(settings: ServerSettings, pool: Pool, token: str | None = None) -> Flask:
    """Create the application over a started pool; for the `token` see `guarded_app`.

    The extension "local" is the socket for clients on this machine, which is not started.
    """
    app = flask_app.guarded_app(
        __name__, token, settings.on_loopback, pool.metrics.requests, lambda: pool.closing, _SERVED_WHILE_CLOSING
    )
    requests, calls = app.extensions["requests"], LeaseCalls(settings, pool)
    local = LocalServer(calls, pool, requests, round(settings.max_body_mb * 2**20), settings.threads)
    app.extensions["local"] = local
    app.url_map.converters["id"] = IdConverter
    app.register_blueprint(make_routes(settings, pool, calls, requests.active, lambda: local.name))
    return app
