"""What can be asked of a leased process, whichever way it comes: over HTTP, or over a socket of this machine."""

import time
from collections.abc import Callable, Iterable
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import FailFast, Field

from nanoproof.common.web.flask_app import Amount, Body, Number, Text
from nanoproof.lean.repl_goals import ReplBranch
from nanoproof.lean.server.backend import ServerSettings
from nanoproof.lean.server.lease import LeaseError, ProcessGone, ServerLease, TacticRefused, TacticTimedOut, Where
from nanoproof.lean.server.pool import LeaseNotFound, Metrics, Pool, TooManyWaiting
from nanoproof.lean.types import ProtocolError

T = TypeVar("T")

_DEFAULT_TACTIC_MS = 1000.0
_MAX_TACTICS = 1024
_MAX_STEPS = 100_000

# -- Request bodies --------------------------------------------------------------------------------------------------


class Command(Body):
    """Body of `command`; `timeout` is in milliseconds, here and below.

    `allTactics`, `rootGoals` and `declarations` are passed to the REPL, as are `module`, `prelude` and `constants`,
    which NanoLean alone knows. `env` is an environment of an earlier answer on this lease, in place of the lease's own;
    with `header` the command is a whole file with imports of its own. Neither changes where the next command starts.
    """

    command: Text
    timeout: Amount | None = None
    env: Number | None = None
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


class Step(Body):
    """A tactic, and the proof state of a command's answer on which to run it."""

    proofState: Number
    tactic: Text


class Steps(Body):
    """Body of the call that runs tactics on proof states of a command's answer; with `forget` these are gone then."""

    steps: Annotated[list[Step], FailFast(), Field(max_length=_MAX_STEPS)]
    timeout: Amount | None = None
    forget: bool | None = None


class ProofFromSorry(Body):
    """Body of `proof_from_sorry`."""

    theorem_with_sorry: Text
    fresh: bool | None = None


class Tactic(Body):
    """Body of the calls that try one tactic."""

    tactic: Text
    timeout: Amount | None = None


class Tactics(Body):
    """Body of the call that tries several tactics."""

    tactics: Annotated[list[Text], FailFast(), Field(max_length=_MAX_TACTICS)]
    timeout: Amount | None = None


# -- The calls -------------------------------------------------------------------------------------------------------


class Answer(NamedTuple):
    """Status and JSON body, as HTTP has them."""

    status: int
    body: dict[str, Any]


class Request(NamedTuple):
    """One call: on which lease, on which proof state (0 for calls on none), its body, and whether its caller is gone.

    The body is read by the calls that have one: over HTTP one of another type than JSON is refused when it is.
    """

    lease: int
    state: int
    data: Callable[[], bytes]
    gone: Callable[[], bool]


class LeaseCalls:
    """The calls on leases of a pool, by the last part of their path; those in `on_states` are on a proof state."""

    def __init__(self, settings: ServerSettings, pool: Pool) -> None:
        self._settings = settings
        self._pool = pool
        self.on_leases: dict[str, Callable[[Request], Answer]] = {
            "command": self._command,
            "steps": self._steps,
            "proof_from_sorry": self._proof_from_sorry,
        }
        self.on_states: dict[str, Callable[[Request], Answer]] = {
            "try_apply_tactic": self._try_apply_tactic,
            "try_apply_tactics": self._try_apply_tactics,
            "apply_tactic": self._apply_tactic,
            "state": self._state,
        }

    def _command(self, request: Request) -> Answer:
        body = Command.parse(request.data())
        seconds = self._seconds(body.timeout, self._settings.command_seconds * 1000)
        where = Where(body.env, bool(body.header))
        return self._on_lease(request, lambda lease: lease.command(body.command, seconds, where, body.flags))

    def _steps(self, request: Request) -> Answer:
        body = Steps.parse(request.data())
        seconds = self._seconds(body.timeout, _DEFAULT_TACTIC_MS)

        def run(lease: ServerLease) -> dict[str, Any]:
            steps = [(step.proofState, step.tactic) for step in body.steps]
            results = lease.run_steps(steps, seconds, request.gone)
            if body.forget:
                lease.forget_proof_states()
            return {"results": results}

        return self._on_lease(request, run)

    def _proof_from_sorry(self, request: Request) -> Answer:
        body = ProofFromSorry.parse(request.data())

        def start(lease: ServerLease) -> dict[str, Any]:
            try:
                started = lease.start(body.theorem_with_sorry, self._settings.command_seconds, bool(body.fresh))
                return {"value": branch_to_json(started)}
            except TacticRefused as error:
                return {"error": str(error)}

        return self._on_lease(request, start)

    def _try_apply_tactic(self, request: Request) -> Answer:
        body = Tactic.parse(request.data())
        seconds = self._seconds(body.timeout, _DEFAULT_TACTIC_MS)

        def apply(lease: ServerLease) -> dict[str, Any]:
            return try_tactic(self._pool.metrics, lease, request.state, body.tactic, seconds)

        # LeanTree's server answers 200 to this call whatever happens, and its clients read the text.
        return self._on_lease(request, apply, missing_status=200)

    def _try_apply_tactics(self, request: Request) -> Answer:
        body = Tactics.parse(request.data())
        seconds = self._seconds(body.timeout, _DEFAULT_TACTIC_MS)

        def apply_all(lease: ServerLease) -> dict[str, Any]:
            results = []
            for tactic in body.tactics:
                if not request.gone():
                    results.append(try_tactic(self._pool.metrics, lease, request.state, tactic, seconds))
            return {"results": results}

        return self._on_lease(request, apply_all)

    def _apply_tactic(self, request: Request) -> Answer:
        body = Tactic.parse(request.data())
        seconds = self._seconds(body.timeout, _DEFAULT_TACTIC_MS)

        def apply_whole(lease: ServerLease) -> dict[str, Any]:
            def apply() -> dict[str, Any]:
                return branch_to_json(lease.apply_whole(request.state, body.tactic, seconds))

            return count_outcome(self._pool.metrics, apply)

        return self._on_lease(request, apply_whole)

    def _state(self, request: Request) -> Answer:
        # LeanTree's server answers the number alone as well.
        return self._on_lease(request, lambda lease: {"proof_state_id": request.state})

    def _on_lease(
        self, request: Request, work: Callable[[ServerLease], dict[str, Any]], missing_status: int = 404
    ) -> Answer:
        """Run `work` with exclusive use of the lease, and answer with its result or with the error."""
        try:
            with self._pool.use(request.lease) as lease:
                return Answer(200, work(lease))
        except LeaseNotFound:
            return Answer(missing_status, {"error": f"Process {request.lease} not found"})
        except TooManyWaiting:
            return Answer(429, {"error": f"too many requests are waiting for process {request.lease}"})
        except (LeaseError, ProtocolError) as error:
            return Answer(500, {"error": str(error)})

    def _seconds(self, timeout_ms: float | None, default_ms: float) -> float:
        if timeout_ms is None:
            timeout_ms = default_ms
        return min(timeout_ms / 1000, self._settings.longest_seconds)


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
