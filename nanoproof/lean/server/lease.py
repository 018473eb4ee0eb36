"""A lease: the process of one client, and the branches that the client knows."""

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from nanoproof.lean import repl_goals
from nanoproof.lean.forbidden import banned_reason
from nanoproof.lean.lexical import mask
from nanoproof.lean.server.backend import Backend, is_runaway, restore_line_numbers
from nanoproof.lean.server.repl_process import ReplError, ReplProcess, ReplTimeout
from nanoproof.lean.source import before_declaration
from nanoproof.lean.types import ProtocolError, SourceError

T = TypeVar("T")

_PRUNE_SECONDS = 60.0


class LeaseError(Exception):
    """A request on a lease has no result; the text is the API's answer, in wording that LeanTree clients recognize."""


class TacticRefused(LeaseError):
    """Lean refused the statement or the tactic."""


class TacticTimedOut(LeaseError):
    """The tactic was stopped at its time limit, or its process was killed."""


class ProcessGone(LeaseError):
    """The process ended, or had to be killed, and with it every proof state of the lease."""


class ProcessOwner(Protocol):
    """The calls of a lease to the pool that it belongs to."""

    def replace(self, lease: "ServerLease") -> tuple[ReplProcess, int | None]:
        """Return another process and its base environment; raises `ProcessGone` if there is none in time."""

    def recycle_reason(self, process: ReplProcess) -> str | None:
        """Return why the process should not be used for another proof, None if it may be."""

    def note_end(self, reason: str) -> None:
        """Count a process that ended or was given up."""


@dataclass(frozen=True, slots=True)
class Where:
    """Where a command runs: after the imports, in an environment of an earlier answer, or as a file with a header."""

    env: int | None = None
    header: bool = False


class ServerLease:
    """A process that is leased to one client. Requests of one lease are serialized by `lock`.

    The lease outlives a lost process: the next statement or command gets a fresh process from the pool, but the
    branches of the lost one are gone. Once `ended` is set no further request may use the lease.

    With `fresh_environments`, which clients of ours ask for, each command and statement starts from the imports. Else
    the lease behaves as on LeanTree's server, whose clients rely on it: what one of them declares or opens the next
    one knows, and a command with an error is refused.
    """

    def __init__(
        self,
        lease_id: int,
        process: ReplProcess,
        base_env: int | None,
        backend: Backend,
        pool: ProcessOwner,
        idle_seconds: float,
        fresh_environments: bool = True,
    ) -> None:
        """`idle_seconds` is how long no request and no heartbeat may come before the lease is taken back."""
        self.id = lease_id
        self.idle_seconds = idle_seconds
        self.lock = threading.Lock()
        self.last_used = time.monotonic()
        self.waiting = 0
        self.ended = False
        self.process: ReplProcess | None = process
        self.base_env = base_env
        self.fresh_environments = fresh_environments
        self._env: int | None = None
        """The environment that the commands and statements so far led to; None: that after the imports."""
        self._backend = backend
        self._pool = pool
        self._killed_for: tuple[ReplProcess, str, str] | None = None
        self._ids = itertools.count()
        self._branches: dict[int, repl_goals.ReplBranch] = {}
        self._envs: set[int] = set()
        self._proof_states: set[int] = set()

    def kill(self, reason: str, why: str) -> None:
        """Kill the process, from any thread; a request in progress fails with `why` in its message."""
        if (process := self.process) is not None:
            self._killed_for = (process, reason, why)
            process.kill()

    def command(
        self, text: str, seconds: float, where: Where = Where(), flags: Mapping[str, bool] | None = None
    ) -> dict[str, Any]:
        """Run a command and return the REPL's answer; `flags` are further keys of the request.

        Raises `ProcessGone` for an environment of a process that was lost, `LeaseError` for one that never was, and
        `TacticRefused` for a command with an error where the lease keeps its environment.
        """
        if where.env is not None:
            if self.process is None:
                raise ProcessGone("Subprocess has terminated: the environments of this lease are gone")
            # Not any number: the REPL keeps the environments of earlier leases of this process, too.
            if where.env not in self._envs:
                raise LeaseError(f"Environment {where.env} not found")
        self._revive()
        continues = not self.fresh_environments and where == Where()
        if continues:
            env = self._statement_env()
        elif where.header:
            env = None  # the REPL takes `import` lines only without an environment
        elif where.env is not None:
            env = where.env
        else:
            env = self.base_env
        answer = self._command(text, seconds, env, flags)
        if continues:
            if not _is_accepted(answer):
                raise TacticRefused(_refusal(answer))
            self._env = answer["env"]
        if isinstance(answer.get("env"), int):
            self._envs.add(answer["env"])
        self._note_proof_states((*(answer.get("tactics") or ()), *(answer.get("sorries") or ())))
        return answer

    def run_steps(
        self, steps: Sequence[tuple[int, str]], seconds: float, gone: Callable[[], bool] = lambda: False
    ) -> list[dict[str, Any]]:
        """Run each tactic on a proof state of an earlier answer; return the REPL's answers as they are.

        A tactic may take `seconds`; where it ends the process, its answer and all further ones are an `error`.
        """
        answers: list[dict[str, Any]] = []
        for proof_state, tactic in steps:
            if gone():
                break
            if self.process is None:
                answers.append({"error": "Subprocess has terminated: the proof states of this lease are gone"})
            elif proof_state not in self._proof_states:
                answers.append({"error": f"Proof state {proof_state} not found"})
            else:
                answers.append(self._answer_step(proof_state, tactic, seconds))
        return answers

    def _answer_step(self, proof_state: int, tactic: str, seconds: float) -> dict[str, Any]:
        try:
            answer = self._request({"tactic": tactic, "proofState": proof_state}, seconds)
        except ReplTimeout:
            return {"error": "Tactic application timed out"}
        except ProcessGone as error:
            return {"error": str(error)}
        self._note_proof_states((answer, *(answer.get("sorries") or ())))
        return answer

    def _note_proof_states(self, entries: Iterable[Any]) -> None:
        for entry in entries:
            if isinstance(entry, Mapping) and isinstance(entry.get("proofState"), int):
                self._proof_states.add(entry["proofState"])

    def forget_proof_states(self) -> None:
        """Forget the proof states of commands' answers and of `run_steps`, where the REPL can."""
        forgotten, self._proof_states = self._proof_states, set()
        if forgotten and self.process is not None and self._backend.can_prune:
            with suppress(ReplTimeout, ProcessGone):
                self._request({"prune": sorted(forgotten)}, _PRUNE_SECONDS)

    def _revive(self) -> ReplProcess:
        """Return the process, or a new one in place of one that was lost."""
        if self.process is None:
            self.process, self.base_env = self._pool.replace(self)
        return self.process

    def _command(
        self, text: str, seconds: float, env: int | None, flags: Mapping[str, bool] | None = None
    ) -> dict[str, Any]:
        message: dict[str, Any] = {"cmd": text, **(flags or {})}
        if env is not None:
            message["env"] = env
        try:
            return self._request(message, seconds)
        except ReplTimeout as error:
            raise TacticTimedOut(f"Command timed out after {seconds:g} s") from error

    def start(self, source: str, seconds: float, fresh: bool = False) -> tuple[int, repl_goals.ReplBranch]:
        """Start the proof at the single `sorry` of a theorem; return its branch with the id.

        With `fresh` all that was done on the lease before is forgotten. The REPL runs tactics in the environment before
        the command with the `sorry`. So what precedes the theorem is sent as a command of its own, and the tactics know
        its definitions, notations and instances.
        """
        if fresh:
            self._env = None
            if self._branches:
                self._forget()
        answer = self._state_theorem(source, seconds)
        if not self.fresh_environments and _is_accepted(answer):
            self._env = answer["env"]
            gaps = answer.get("sorries") or []
            if not gaps:
                raise LeaseError("No `sorries` in REPL response: expected exactly one sorry, Lean found 0")
            answer = {**answer, "sorries": gaps[:1]}  # LeanTree's server starts at the first of several
        outcome = _read(repl_goals.read_statement_answer, answer)
        if isinstance(outcome, repl_goals.Refused):
            raise TacticRefused(f"REPL returned error: {outcome.message}")
        if isinstance(outcome, repl_goals.OutOfTime):
            raise TacticTimedOut("Command timed out in the REPL")
        return self._remember(repl_goals.ReplBranch(outcome.proof_state, outcome.goals))

    def _state_theorem(self, source: str, seconds: float) -> dict[str, Any]:
        """Send the command with the `sorry` to an environment where Lean can stop tactics; return the answer."""
        self._revive()
        base_env = self._statement_env()
        try:
            context = before_declaration(source)
        except SourceError:  # Lean's own errors tell more
            context = ""
        if mask(context).strip():
            answer = self._command(context, seconds, base_env)
            env = answer.get("env")
            # With an error in the context the whole source is sent below: Lean's errors about that tell more.
            if isinstance(env, int) and not repl_goals.error_messages(answer):
                return self._command(source[len(context) :].lstrip("\n"), seconds, env)
        return self._command(source, seconds, base_env)

    def _statement_env(self) -> int | None:
        """Return where the next statement starts: an environment in which Lean can stop tactics, if there is one."""
        assert self.process is not None
        if self._env is not None:
            return self._env
        lean_env = self.process.limits.lean_env
        return self.base_env if lean_env is None else lean_env

    def apply(self, branch_id: int, tactic: str, seconds: float) -> list[tuple[int, repl_goals.ReplBranch]]:
        """Run a tactic on a branch; return the branches that it leaves, with their ids."""
        branch = self._find(branch_id, tactic)
        proof_state, own = self._step(branch, tactic, seconds)
        split = repl_goals.split_branches(proof_state, own, branch.siblings)
        return [self._remember(child) for child in split]

    def apply_whole(self, branch_id: int, tactic: str, seconds: float) -> tuple[int, repl_goals.ReplBranch]:
        """Run a tactic like `apply`, but leave all goals in one branch."""
        branch = self._find(branch_id, tactic)
        proof_state, own = self._step(branch, tactic, seconds)
        return self._remember(repl_goals.ReplBranch(proof_state, own, branch.siblings))

    def release(self) -> ReplProcess | None:
        """Forget all branches and return the process, reset; None if it cannot be used again."""
        self._clean()
        process, self.process = self.process, None
        return process

    def _forget(self) -> None:
        """Forget all branches, and give up the process if it is due to be recycled (its memory may only ever grow)."""
        self._clean()
        if self.process is not None:
            self.process.uses += 1

    def _clean(self) -> None:
        """Forget all branches; reset the process, or give it up."""
        self._forget_numbers()
        if self.process is None:
            return
        if not self.process.alive:
            self._lose("crash")
        elif reason := self._pool.recycle_reason(self.process):
            self._lose(reason)
        else:
            try:
                self._backend.reset(self.process)
            except ReplError:
                self._lose("crash")

    def _forget_numbers(self) -> None:
        self._branches.clear()
        self._env = None
        self._envs = set()
        self._proof_states = set()

    def _find(self, branch_id: int, tactic: str) -> repl_goals.ReplBranch:
        """Return the branch with this id, if `tactic` may be tried on it."""
        if reason := banned_reason(tactic):
            raise TacticRefused(f"Could not apply tactic: {reason}")
        if self.process is None:
            raise ProcessGone("Subprocess has terminated: the proof states of this lease are gone")
        if branch_id not in self._branches:
            raise LeaseError(f"Proof state {branch_id} not found")
        return self._branches[branch_id]

    def _step(
        self, branch: repl_goals.ReplBranch, tactic: str, seconds: float
    ) -> tuple[int, tuple[repl_goals.ReplGoal, ...]]:
        """Run one tactic; return the new proof state and the branch's own goals in it."""
        if not branch.goals:
            raise TacticRefused("Could not apply tactic: no goals")
        # One deadline for rotating and the tactic, as a client waits no longer than for a tactic.
        deadline = time.monotonic() + seconds
        request = branch.request_for(tactic)
        if isinstance(request, repl_goals.Refused):
            raise TacticRefused(f"Could not apply tactic: {request.message}")
        if branch.rotation:
            self._rotate(branch, deadline)
        step = self._run(branch.proof_state, request, deadline)
        own = repl_goals.own_goals(branch, step.goals)
        if own is None:
            raise TacticRefused("Could not apply tactic: it changes goals of another branch")
        try:
            for goal in own:
                goal.parsed()
        except ProtocolError as error:  # `conv` mode, say: this tactic leads nowhere, others may
            raise TacticRefused(f"Could not apply tactic: {error}") from error
        return step.proof_state, own

    def _rotate(self, branch: repl_goals.ReplBranch, deadline: float) -> None:
        step = self._run(branch.proof_state, f"rotate_left {branch.rotation}", deadline)
        if step.goals != branch.goals + branch.siblings:
            raise TacticRefused("Could not apply tactic: the REPL did not rotate the goals as it should")
        branch.proof_state, branch.rotation = step.proof_state, 0

    def _run(self, proof_state: int, tactic: str, deadline: float) -> repl_goals.Step:
        process, seconds = self.process, deadline - time.monotonic()
        assert process is not None
        message = self._backend.tactic_request(process, proof_state, tactic, seconds)
        try:
            answer = self._request(message, self._backend.kill_seconds(process, seconds))
        except ReplTimeout as error:
            raise TacticTimedOut("Tactic application timed out") from error
        outcome = _read(repl_goals.read_tactic_answer, answer)
        if isinstance(outcome, repl_goals.Refused):
            raise TacticRefused(f"Could not apply tactic: {restore_line_numbers(outcome.message, process.limits)}")
        if isinstance(outcome, repl_goals.OutOfTime):
            process.is_busy |= is_runaway(outcome, process.limits)
            raise TacticTimedOut("Tactic application timed out in the REPL")
        return outcome

    def _request(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        assert self.process is not None
        try:
            return self.process.request(message, seconds)
        except ReplTimeout:
            self._lose("timeout")
            raise
        except ReplError as error:
            why = self._lose("crash")
            raise ProcessGone(f"Lean REPL process ended unexpectedly: {why}{error}") from error

    def _lose(self, reason: str) -> str:
        """Give up the process and all branches; return why it was killed, if it was."""
        process, self.process = self.process, None
        self._forget_numbers()
        assert process is not None
        process.close()
        # A process that was killed by another thread looks as if it had crashed. The reason may be about an earlier
        # process of this lease.
        why = ""
        if self._killed_for is not None and self._killed_for[0] is process:
            _, reason, why = self._killed_for
        self._pool.note_end(reason)
        return why and f"{why}; "

    def _remember(self, branch: repl_goals.ReplBranch) -> tuple[int, repl_goals.ReplBranch]:
        branch_id = next(self._ids)
        self._branches[branch_id] = branch
        return branch_id, branch


def _is_accepted(answer: dict[str, Any]) -> bool:
    """Tell whether Lean took a command or statement without an error."""
    return isinstance(answer.get("env"), int) and not _read(repl_goals.error_messages, answer)


def _refusal(answer: dict[str, Any]) -> str:
    """Say why a command was refused, in the words that LeanTree's clients look for."""
    messages = answer.get("messages") or []
    errors = [message for message in messages if message.get("severity") == "error"]
    if errors:
        return f"REPL returned error messages: {json.dumps(errors, ensure_ascii=False)}"
    return f"REPL returned error: {answer.get('message')}"


def _read(reader: Callable[[dict[str, Any]], T], answer: dict[str, Any]) -> T:
    try:
        return reader(answer)
    except ValueError as error:
        raise LeaseError(f"unexpected answer of the REPL: {error}") from error
