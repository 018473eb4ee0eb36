"""The Flask application of the Lean server: LeanTree's API, a call for several tactics, `/status` and `/metrics`."""

import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, TypeVar

import psutil
from flask import Blueprint, Flask, Response
from prometheus_client import Counter
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from pydantic import FailFast, Field
from werkzeug.routing import IntegerConverter

from nanoproof.common.errors import UserError
from nanoproof.common.web import flask_app
from nanoproof.lean.project.layout import EMBEDDED_LEAN, lean_version
from nanoproof.lean.repl_goals import ReplBranch
from nanoproof.lean.server.backend import ServerSettings
from nanoproof.lean.server.lease import LeaseError, ProcessGone, ServerLease, TacticRefused, TacticTimedOut, Where
from nanoproof.lean.server.pool import CannotStart, LeaseNotFound, Metrics, Pool, ShuttingDown, TooManyWaiting
from nanoproof.lean.types import ProtocolError

T = TypeVar("T")

_STATES = ("available", "used", "starting", "stopping")
_DEFAULT_TACTIC_MS = 1000.0
_DEFAULT_WAIT_SECONDS = 60.0
_MAX_TACTICS = 1024
_MAX_STEPS = 100_000
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


class Command(flask_app.Body):
    """Body of `/process/ID/command`; `timeout` is in milliseconds, here and below.

    `allTactics`, `rootGoals` and `declarations` are passed to the REPL, as are `module`, `prelude` and `constants`,
    which NanoLean alone knows. `env` is an environment of an earlier answer on this lease, in place of the lease's own;
    with `header` the command is a whole file with imports of its own. Neither changes where the next command starts.
    """

    command: flask_app.Text
    timeout: flask_app.Amount | None = None
    env: flask_app.Number | None = None
    header: bool | None = None
    allTactics: bool | None = None
    rootGoals: bool | None = None
    module: bool | None = None
    prelude: bool | None = None
    declarations: bool | None = None
    constants: bool | None = None

    @property
    def flags(self) -> dict[str, bool]:
        """The keys that the REPL gets as they are."""
        keys = ("allTactics", "rootGoals", "declarations", "module", "prelude", "constants")
        return {key: True for key in keys if getattr(self, key)}


class Step(flask_app.Body):
    """A tactic, and the proof state of a command's answer on which to run it."""

    proofState: flask_app.Number
    tactic: flask_app.Text


class Steps(flask_app.Body):
    """Body of the call that runs tactics on proof states of a command's answer; with `forget` these are gone then."""

    steps: Annotated[list[Step], FailFast(), Field(max_length=_MAX_STEPS)]
    timeout: flask_app.Amount | None = None
    forget: bool | None = None


class ProofFromSorry(flask_app.Body):
    """Body of `/process/ID/proof_from_sorry`."""

    theorem_with_sorry: flask_app.Text
    fresh: bool | None = None


class Tactic(flask_app.Body):
    """Body of the calls that try one tactic."""

    tactic: flask_app.Text
    timeout: flask_app.Amount | None = None


class Tactics(flask_app.Body):
    """Body of the call that tries several tactics."""

    tactics: Annotated[list[flask_app.Text], FailFast(), Field(max_length=_MAX_TACTICS)]
    timeout: flask_app.Amount | None = None


# -- Routes ----------------------------------------------------------------------------------------------------------


class IdConverter(IntegerConverter):
    """Ids in paths, of at most 18 digits: Python refuses to convert thousands of them, which would be a 500."""

    regex = r"\d{1,18}"


def make_routes(settings: ServerSettings, pool: Pool, active_requests: Callable[[], list[dict[str, Any]]]) -> Blueprint:
    """Create the routes over a pool; `active_requests` lists the requests in progress for `/status`."""
    routes = Blueprint("lean", __name__)
    pool.metrics.registry.register(Gauges(settings, pool, active_requests))
    _add_observing(routes, settings, pool, active_requests)
    _add_leasing(routes, settings, pool)
    _add_commands(routes, settings, pool)
    _add_tactics(routes, settings, pool)
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


def _add_leasing(routes: Blueprint, settings: ServerSettings, pool: Pool) -> None:
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
        answer = {"process_id": lease.id, "lease_seconds": lease.idle_seconds}
        # By these three fields, which LeanTree's server does not have, our client knows what it can rely on.
        return flask_app.reply({**answer, "fresh_environments": fresh, "splits_goals": True})

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


def _add_commands(routes: Blueprint, settings: ServerSettings, pool: Pool) -> None:
    @routes.post("/process/<id:pid>/command")
    def command(pid: int) -> Response:
        body = Command.read()
        seconds = _seconds(body.timeout, settings, settings.command_seconds * 1000)
        where = Where(body.env, bool(body.header))
        return on_lease(pool, pid, lambda lease: lease.command(body.command, seconds, where, body.flags))

    @routes.post("/process/<id:pid>/steps")
    def steps(pid: int) -> Response:
        body = Steps.read()
        seconds = _seconds(body.timeout, settings, _DEFAULT_TACTIC_MS)
        gone = flask_app.client_disconnected()

        def run(lease: ServerLease) -> dict[str, Any]:
            return {"results": lease.run_steps([(s.proofState, s.tactic) for s in body.steps], seconds, gone)}

        def run_and_forget(lease: ServerLease) -> dict[str, Any]:
            results = run(lease)
            lease.forget_proof_states()
            return results

        return on_lease(pool, pid, run_and_forget if body.forget else run)

    @routes.post("/process/<id:pid>/proof_from_sorry")
    def proof_from_sorry(pid: int) -> Response:
        body = ProofFromSorry.read()

        def start(lease: ServerLease) -> dict[str, Any]:
            try:
                started = lease.start(body.theorem_with_sorry, settings.command_seconds, bool(body.fresh))
                return {"value": branch_to_json(started)}
            except TacticRefused as error:
                return {"error": str(error)}

        return on_lease(pool, pid, start)


def _add_tactics(routes: Blueprint, settings: ServerSettings, pool: Pool) -> None:
    @routes.post("/process/<id:pid>/proof/<id:state>/try_apply_tactic")
    def try_apply_tactic(pid: int, state: int) -> Response:
        body = Tactic.read()
        seconds = _seconds(body.timeout, settings, _DEFAULT_TACTIC_MS)

        def apply(lease: ServerLease) -> dict[str, Any]:
            return try_tactic(pool.metrics, lease, state, body.tactic, seconds)

        # LeanTree's server answers 200 to this call whatever happens, and its clients read the text.
        return on_lease(pool, pid, apply, missing_status=200)

    @routes.post("/process/<id:pid>/proof/<id:state>/try_apply_tactics")
    def try_apply_tactics(pid: int, state: int) -> Response:
        body = Tactics.read()
        seconds = _seconds(body.timeout, settings, _DEFAULT_TACTIC_MS)
        gone = flask_app.client_disconnected()

        def apply_all(lease: ServerLease) -> dict[str, Any]:
            results = []
            for tactic in body.tactics:
                if not gone():
                    results.append(try_tactic(pool.metrics, lease, state, tactic, seconds))
            return {"results": results}

        return on_lease(pool, pid, apply_all)

    @routes.post("/process/<id:pid>/proof/<id:state>/apply_tactic")
    def apply_tactic(pid: int, state: int) -> Response:
        body = Tactic.read()
        seconds = _seconds(body.timeout, settings, _DEFAULT_TACTIC_MS)

        def apply_whole(lease: ServerLease) -> dict[str, Any]:
            return count_outcome(pool.metrics, lambda: branch_to_json(lease.apply_whole(state, body.tactic, seconds)))

        return on_lease(pool, pid, apply_whole)

    @routes.post("/process/<id:pid>/proof/<id:state>/state")
    def proof_state(pid: int, state: int) -> Response:
        # LeanTree's server answers the number alone as well.
        return on_lease(pool, pid, lambda lease: {"proof_state_id": state})


def on_lease(pool: Pool, pid: int, work: Callable[[ServerLease], Any], missing_status: int = 404) -> Response:
    """Run `work` with exclusive use of a lease, and reply with its result, or with the error as a response."""
    try:
        with pool.use(pid) as lease:
            return flask_app.reply(work(lease))
    except LeaseNotFound:
        return flask_app.reply({"error": f"Process {pid} not found"}, missing_status)
    except TooManyWaiting:
        return flask_app.reply_later({"error": f"too many requests are waiting for process {pid}"}, 429)
    except (LeaseError, ProtocolError) as error:
        return flask_app.reply({"error": str(error)}, 500)


def try_tactic(metrics: Metrics, lease: ServerLease, state: int, tactic: str, seconds: float) -> dict[str, Any]:
    """Try one tactic; return the branches that it leaves as `value`, or why there are none as `error`."""
    try:
        return {"value": count_outcome(metrics, lambda: branches_to_json(lease.apply(state, tactic, seconds)))}
    except (LeaseError, ProtocolError) as error:
        return {"error": str(error)}


def count_outcome(metrics: Metrics, work: Callable[[], T]) -> T:
    """Do `work`, which tries one tactic, and count its outcome and duration in the metrics."""
    began, outcome = time.perf_counter(), "failed"
    try:
        result = work()
        outcome = "applied"
        return result
    except TacticRefused:
        outcome = "refused"
        raise
    except TacticTimedOut:
        outcome = "timeout"
        raise
    except ProcessGone:
        outcome = "process_gone"
        raise
    finally:
        metrics.tactic(outcome, time.perf_counter() - began)


def branch_to_json(entry: tuple[int, ReplBranch]) -> dict[str, Any]:
    """Convert a branch with its id to JSON."""
    branch_id, branch = entry
    return {"proof_state_id": branch_id, "goals": [goal.to_wire() for goal in branch.parsed_goals()]}


def branches_to_json(entries: Iterable[tuple[int, ReplBranch]]) -> list[dict[str, Any]]:
    """Convert branches to JSON; an empty list means that the goals are proved."""
    return [branch_to_json(entry) for entry in entries]


def _seconds(timeout_ms: float | None, settings: ServerSettings, default_ms: float) -> float:
    if timeout_ms is None:
        timeout_ms = default_ms
    return min(timeout_ms / 1000, settings.longest_seconds)


# -- The application -------------------------------------------------------------------------------------------------


def create_app(settings: ServerSettings, pool: Pool, token: str | None = None) -> Flask:
    """Create the application over a started pool; for the `token` see `guarded_app`."""
    app = flask_app.guarded_app(
        __name__, token, settings.on_loopback, pool.metrics.requests, lambda: pool.closing, _SERVED_WHILE_CLOSING
    )
    app.url_map.converters["id"] = IdConverter
    app.register_blueprint(make_routes(settings, pool, app.extensions["requests"].active))
    return app
