"""The HTTP routes: LeanTree's API, and our batch call."""

import time
from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypeVar

from flask import Blueprint, Response
from pydantic import FailFast, Field
from werkzeug.routing import IntegerConverter

from nanoproof.common.web.guard import metrics_of
from nanoproof.common.web.json_api import Amount, Body, Text, caller_gone, reply, reply_later
from nanoproof.lean.errors import ProtocolError
from nanoproof.lean.repl_goals import ReplBranch
from nanoproof.lean.server import report
from nanoproof.lean.server.errors import CannotStart, LeaseNotFound, ShuttingDown, TooManyWaiting
from nanoproof.lean.server.lease import Lease, LeaseError, ProcessGone, TacticRefused, TacticTimedOut
from nanoproof.lean.server.metrics import Metrics
from nanoproof.lean.server.pool import Pool
from nanoproof.lean.server.settings import ServerSettings

T = TypeVar("T")

_DEFAULT_TACTIC_MS = 1000.0
_DEFAULT_WAIT_SECONDS = 60.0
_MAX_TACTICS = 1024


class GetProcess(Body):
    """The body of `/process/get`; `timeout` is in seconds."""

    blocking: bool | None = None
    timeout: Amount | None = None


class Command(Body):
    """The body of `/process/ID/command`; `timeout` is in milliseconds, here and below."""

    command: Text
    timeout: Amount | None = None


class ProofFromSorry(Body):
    """The body of `/process/ID/proof_from_sorry`."""

    theorem_with_sorry: Text
    fresh: bool | None = None


class Tactic(Body):
    """The body of the calls that try one tactic."""

    tactic: Text
    timeout: Amount | None = None


class Tactics(Body):
    """The body of the call that tries several."""

    tactics: Annotated[list[Text], FailFast(), Field(max_length=_MAX_TACTICS)]
    timeout: Amount | None = None


class IdConverter(IntegerConverter):
    """Ids in paths: as many digits as an id can have."""

    regex = r"\d{1,18}"


def make_routes(settings: ServerSettings, pool: Pool, active_requests: Callable[[], list[dict[str, Any]]]) -> Blueprint:
    """The routes over a pool; `active_requests` lists the requests under way for `/status`."""
    routes = Blueprint("lean", __name__)
    pool.metrics.registry.register(report.Gauges(settings, pool, active_requests))
    _add_observing(routes, settings, pool, active_requests)
    _add_leasing(routes, settings, pool)
    _add_proving(routes, settings, pool)
    return routes


def _add_observing(
    routes: Blueprint, settings: ServerSettings, pool: Pool, active_requests: Callable[[], list[dict[str, Any]]]
) -> None:
    @routes.get("/status")
    def status() -> Response:
        return reply(report.status(settings, pool, active_requests()))

    @routes.get("/metrics")
    def metrics() -> Response:
        return metrics_of(pool.metrics.registry)


def _add_leasing(routes: Blueprint, settings: ServerSettings, pool: Pool) -> None:
    @routes.post("/process/get")
    def get_process() -> Response:
        body = GetProcess.read()
        seconds = _DEFAULT_WAIT_SECONDS if body.timeout is None else body.timeout
        gone = caller_gone()
        try:
            lease = pool.get(body.blocking is not False, min(seconds, settings.longest_seconds), gone)
        except TooManyWaiting:
            return reply_later({"error": "too many requests are waiting for a process"}, 429)
        except ShuttingDown:
            return reply_later({"error": "the server is shutting down"}, 503)
        except CannotStart as error:
            return reply_later({"error": f"no Lean process can be started: {error}"}, 503)
        if lease is not None and gone():
            pool.give_back(lease.id)
            lease = None
        if lease is None:
            return reply({"process_id": None})
        answer = {"process_id": lease.id, "lease_seconds": settings.lease_seconds}
        # Each command and statement starts from the imports, and independent goals are branches of their own.
        return reply({**answer, "fresh_environments": True, "splits_goals": True})

    @routes.post("/process/<id:pid>/heartbeat")
    def heartbeat(pid: int) -> Response:
        try:
            pool.heartbeat(pid)
        except LeaseNotFound:
            return reply({"error": f"Process {pid} not found"}, 404)
        return reply({"status": "ok", "lease_seconds": settings.lease_seconds})

    @routes.post("/process/<id:pid>/return")
    def return_process(pid: int) -> Response:
        return reply({"status": "ok"} if pool.give_back(pid) else {"status": "ok", "already_returned": True})


def _add_proving(routes: Blueprint, settings: ServerSettings, pool: Pool) -> None:
    @routes.post("/process/<id:pid>/command")
    def command(pid: int) -> Response:
        body = Command.read()
        seconds = _seconds(body.timeout, settings, settings.command_seconds * 1000)
        return on_lease(pool, pid, lambda lease: lease.command(body.command, seconds))

    @routes.post("/process/<id:pid>/proof_from_sorry")
    def proof_from_sorry(pid: int) -> Response:
        body = ProofFromSorry.read()

        def start(lease: Lease) -> dict[str, Any]:
            try:
                started = lease.start(body.theorem_with_sorry, settings.command_seconds, bool(body.fresh))
                return {"value": describe(started)}
            except TacticRefused as error:
                return {"error": str(error)}

        return on_lease(pool, pid, start)

    @routes.post("/process/<id:pid>/proof/<id:state>/try_apply_tactic")
    def try_apply_tactic(pid: int, state: int) -> Response:
        body = Tactic.read()
        seconds = _seconds(body.timeout, settings, _DEFAULT_TACTIC_MS)
        return on_lease(
            pool, pid, lambda lease: attempt(pool.metrics, lease, state, body.tactic, seconds), missing_status=200
        )

    @routes.post("/process/<id:pid>/proof/<id:state>/try_apply_tactics")
    def try_apply_tactics(pid: int, state: int) -> Response:
        body = Tactics.read()
        seconds = _seconds(body.timeout, settings, _DEFAULT_TACTIC_MS)
        gone = caller_gone()
        return on_lease(
            pool,
            pid,
            lambda lease: {
                "results": [
                    attempt(pool.metrics, lease, state, tactic, seconds) for tactic in body.tactics if not gone()
                ]
            },
        )

    @routes.post("/process/<id:pid>/proof/<id:state>/apply_tactic")
    def apply_tactic(pid: int, state: int) -> Response:
        body = Tactic.read()
        seconds = _seconds(body.timeout, settings, _DEFAULT_TACTIC_MS)
        return on_lease(
            pool,
            pid,
            lambda lease: counted(pool.metrics, lambda: describe(lease.apply_whole(state, body.tactic, seconds))),
        )

    @routes.post("/process/<id:pid>/proof/<id:state>/state")
    def proof_state(pid: int, state: int) -> Response:
        return on_lease(pool, pid, lambda lease: {"proof_state_id": state})


def on_lease(pool: Pool, pid: int, work: Callable[[Lease], Any], missing_status: int = 404) -> Response:
    """Run `work` with the lease to itself; what goes wrong with the lease becomes an error response."""
    try:
        with pool.use(pid) as lease:
            return reply(work(lease))
    except LeaseNotFound:
        return reply({"error": f"Process {pid} not found"}, missing_status)
    except TooManyWaiting:
        return reply_later({"error": f"too many requests are waiting for process {pid}"}, 429)
    except (LeaseError, ProtocolError) as error:
        return reply({"error": str(error)}, 500)


def attempt(metrics: Metrics, lease: Lease, state: int, tactic: str, seconds: float) -> dict[str, Any]:
    """One tactic as a value: the branches that it leaves, or why it has none."""
    try:
        return {"value": counted(metrics, lambda: describe_all(lease.apply(state, tactic, seconds)))}
    except (LeaseError, ProtocolError) as error:
        return {"error": str(error)}


def counted(metrics: Metrics, work: Callable[[], T]) -> T:
    """Do `work`, which tries one tactic, and count how it ended."""
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


def describe(entry: tuple[int, ReplBranch]) -> dict[str, Any]:
    """A branch as clients see it."""
    branch_id, branch = entry
    return {"proof_state_id": branch_id, "goals": [goal.to_wire() for goal in branch.parsed_goals()]}


def describe_all(entries: Iterable[tuple[int, ReplBranch]]) -> list[dict[str, Any]]:
    """Branches as clients see them; none means that the branch is closed."""
    return [describe(entry) for entry in entries]


def _seconds(timeout_ms: float | None, settings: ServerSettings, default_ms: float) -> float:
    return min((default_ms if timeout_ms is None else timeout_ms) / 1000, settings.longest_seconds)
