"""The HTTP routes: LeanTree's API, and our batch call."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import psutil
from flask import Blueprint, Response, request

from nanoproof.lean.errors import ProtocolError
from nanoproof.lean.server.branches import ReplBranch
from nanoproof.lean.server.lease import Lease, LeaseError, TacticRefused
from nanoproof.lean.server.pool import CannotStart, LeaseNotFound, Pool, TooManyWaiting
from nanoproof.lean.server.settings import ServerSettings

_DEFAULT_TACTIC_MS = 1000.0
_DEFAULT_WAIT_SECONDS = 60.0


class BadRequest(Exception):
    """The body of a request lacks something; the message says what."""


def reply(body: Any, status: int = 200) -> Response:
    """A JSON response."""
    return Response(json.dumps(body, ensure_ascii=False), status, mimetype="application/json")


def make_routes(settings: ServerSettings, pool: Pool, active_requests: Callable[[], list[dict[str, Any]]]) -> Blueprint:
    """The routes over a pool; `active_requests` lists the requests under way for `/status`."""
    routes = Blueprint("lean", __name__)

    @routes.get("/status")
    def status() -> Response:
        memory = psutil.virtual_memory()
        ram = {"total_bytes": memory.total, "available_bytes": memory.available, "used_bytes": memory.used}
        machine = {"cpu_percent_per_core": psutil.cpu_percent(percpu=True), "ram": {**ram, "percent": memory.percent}}
        return reply({**pool.status(), "backend": settings.backend, "active_requests": active_requests(), **machine})

    @routes.post("/process/get")
    def get_process() -> Response:
        body = _object()
        blocking, seconds = bool(body.get("blocking", True)), _number(body, "timeout", _DEFAULT_WAIT_SECONDS)
        try:
            lease = pool.get(blocking, seconds)
        except TooManyWaiting:
            response = reply({"error": "too many requests are waiting for a process"}, 429)
            response.headers["Retry-After"] = "1"
            return response
        except CannotStart as error:
            return reply({"error": f"no Lean process can be started: {error}"}, 503)
        return reply({"process_id": lease.id if lease else None})

    @routes.post("/process/<int:pid>/return")
    def return_process(pid: int) -> Response:
        return reply({"status": "ok"} if pool.give_back(pid) else {"status": "ok", "already_returned": True})

    @routes.post("/process/<int:pid>/command")
    def command(pid: int) -> Response:
        body = _object()
        seconds = _number(body, "timeout", settings.command_seconds * 1000) / 1000
        return on_lease(pool, pid, lambda lease: lease.command(_string(body, "command"), seconds))

    @routes.post("/process/<int:pid>/proof_from_sorry")
    def proof_from_sorry(pid: int) -> Response:
        def start(lease: Lease) -> dict[str, Any]:
            source, fresh = _string(body, "theorem_with_sorry"), bool(body.get("fresh"))
            try:
                return {"value": describe(lease.start(source, settings.command_seconds, fresh))}
            except TacticRefused as error:
                return {"error": str(error)}

        body = _object()
        return on_lease(pool, pid, start)

    @routes.post("/process/<int:pid>/proof/<int:state>/try_apply_tactic")
    def try_apply_tactic(pid: int, state: int) -> Response:
        body = _object()
        tactic, seconds = _string(body, "tactic"), _number(body, "timeout", _DEFAULT_TACTIC_MS) / 1000
        return on_lease(pool, pid, lambda lease: attempt(lease, state, tactic, seconds), missing_status=200)

    @routes.post("/process/<int:pid>/proof/<int:state>/try_apply_tactics")
    def try_apply_tactics(pid: int, state: int) -> Response:
        body = _object()
        tactics, seconds = body.get("tactics"), _number(body, "timeout", _DEFAULT_TACTIC_MS) / 1000
        if not isinstance(tactics, list) or not all(isinstance(tactic, str) for tactic in tactics):
            raise BadRequest("`tactics` must be a list of strings")
        return on_lease(
            pool, pid, lambda lease: {"results": [attempt(lease, state, tactic, seconds) for tactic in tactics]}
        )

    @routes.post("/process/<int:pid>/proof/<int:state>/apply_tactic")
    def apply_tactic(pid: int, state: int) -> Response:
        body = _object()
        tactic, seconds = _string(body, "tactic"), _number(body, "timeout", _DEFAULT_TACTIC_MS) / 1000
        return on_lease(pool, pid, lambda lease: describe(lease.apply_whole(state, tactic, seconds)))

    @routes.post("/process/<int:pid>/proof/<int:state>/state")
    def proof_state(pid: int, state: int) -> Response:
        return on_lease(pool, pid, lambda lease: {"proof_state_id": state})

    return routes


def on_lease(pool: Pool, pid: int, work: Callable[[Lease], Any], missing_status: int = 404) -> Response:
    """Run `work` with the lease to itself; what goes wrong with the lease becomes an error response."""
    try:
        lease = pool.find(pid)
        with lease.lock, lease.in_use():
            pool.find(pid)  # while this waited for its turn the lease may have ended; it must not get a process then
            return reply(work(lease))
    except LeaseNotFound:
        return reply({"error": f"Process {pid} not found"}, missing_status)
    except (LeaseError, ProtocolError) as error:
        return reply({"error": str(error)}, 500)


def attempt(lease: Lease, state: int, tactic: str, seconds: float) -> dict[str, Any]:
    """One tactic as a value: the branches that it leaves, or why it has none."""
    try:
        return {"value": describe_all(lease.apply(state, tactic, seconds))}
    except (LeaseError, ProtocolError) as error:
        return {"error": str(error)}


def describe(entry: tuple[int, ReplBranch]) -> dict[str, Any]:
    """A branch as clients see it."""
    branch_id, branch = entry
    return {"proof_state_id": branch_id, "goals": [goal.to_wire() for goal in branch.parsed_goals()]}


def describe_all(entries: Iterable[tuple[int, ReplBranch]]) -> list[dict[str, Any]]:
    """Branches as clients see them; none means that the branch is closed."""
    return [describe(entry) for entry in entries]


def _object() -> dict[str, Any]:
    body = request.get_json()
    if not isinstance(body, dict):
        raise BadRequest("the body must be a JSON object")
    return body


def _string(body: dict[str, Any], key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str):
        raise BadRequest(f"`{key}` must be a string")
    return value


def _number(body: dict[str, Any], key: str, default: float) -> float:
    value = body.get(key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e9:
        raise BadRequest(f"`{key}` must be a number >= 0")
    return float(value)
