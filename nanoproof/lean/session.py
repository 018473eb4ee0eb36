"""A session on a leased process of a Lean server: proofs, tactics and checks that survive the loss of the process."""

import random
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, ParamSpec, TypeVar

from nanoproof.common.process import Closing
from nanoproof.lean import transport, types
from nanoproof.lean.check_command import CheckCommand
from nanoproof.lean.forbidden import banned_reason
from nanoproof.lean.lexical import mask
from nanoproof.lean.repl_goals import Refused, ReplBranch, ReplGoal, own_goals, split_branches
from nanoproof.lean.source import before_declaration, rename_theorem, unforeseeable_name

P = ParamSpec("P")
T = TypeVar("T")

_LEASE_CALL_SECONDS = 20.0
"""How long one request for a process may wait at the server; then it is sent again, up to the caller's time limit."""
_ASK_AGAIN_SECONDS = 1.0
_RECOVERIES = 3
"""How many processes a single request may lose before it counts as an error: the request itself may end them."""
_RECOVERY_SECONDS = 120.0
"""How long to wait, at least, for the replacement of a lost process: others may be starting too."""
_REPLAY_PATIENCE = 4.0
"""Factor on the time limit of a step that is replayed: the new process is cold, and others start beside it."""
_LOSSES_IN_A_ROW = 6
"""After so many losses without one answer it is the server that fails, whatever the tactics are."""


class _ProcessGone(Exception):
    """The process of the lease is gone; the session replaces it."""


@dataclass(slots=True, eq=False)
class Origin:
    """How a branch was reached, and its proof state: `number`, in the session's process `epoch`.

    `part` tells which goals of that proof state are its own, where the server leaves them together.
    """

    theorem: types.Theorem
    parent: "Origin | None"
    tactic: str
    position: int
    state: types.ProofState
    epoch: int
    number: int
    part: ReplBranch | None = None


class OpenBranch(NamedTuple):
    """A branch in an answer: proof state, goals, and which goals of the proof state these are if it has others."""

    number: int
    state: types.ProofState
    part: ReplBranch | None = None


class _Refusal(Exception):
    """Lean refused a whole request."""


@dataclass(slots=True)
class ServerFeatures:
    """What a server can do, as far as it is known; shared by all its sessions.

    `keeps_environment` is true if what a lease declares or opens stays until it is returned, as on LeanTree's server;
    None if that is not known yet. `splits_goals` is true if independent goals come as branches of their own.
    """

    has_batch_call: bool = True
    expires_leases: bool = False
    splits_goals: bool = False
    keeps_environment: bool | None = None


class HttpLeanSession(Closing):
    """A leased process of a server (`LeanSession`). If the process is lost it is replaced, and branches are rebuilt.

    Every theorem and every text that is checked starts from the environment after the imports. Where a server keeps one
    environment for each lease, that takes a new lease; namespaces would not be enough, since instances, notations and
    attributes leave every scope. Whether a server does so is tested once, by declaring a name.

    Independent goals are branches of their own, as the network learns them. Where a server leaves them in one proof
    state, each is rotated to the front and focused (`repl_goals.ReplBranch`), and no tactic may touch the others.
    """

    def __init__(
        self, keeper: transport.LeaseKeeper, config: transport.ClientConfig, features: ServerFeatures, timeout: float
    ) -> None:
        self._keeper = keeper
        self._transport = keeper.transport
        self._config = config
        self._features = features
        self._timeout = timeout
        self._epoch = 0
        self._lease: transport.Lease | None = None
        self._changed_environment = False
        self._closed = False
        self._acquire()

    @property
    def address(self) -> str:
        """The server's `host:port`."""
        return str(self._transport.address)

    @property
    def process(self) -> int | None:
        """Number of the leased process on the server; None if there is none at the moment."""
        if self._lease is None:
            return None
        return self._lease.process

    # -- Theorems ----------------------------------------------------------------------------------------------------

    def start(self, theorem: types.Theorem) -> types.Branch:
        """Start the proof of a theorem: return the branch at its `sorry`.

        Raises `TheoremRejected` if Lean refuses the statement.
        """
        number, state = self._with_recovery(self._start, theorem, True)
        self._epoch += 1  # the server forgets earlier branches now; they are rebuilt if they are used again
        return types.Branch(state, Origin(theorem, None, "", 0, state, self._epoch, number))

    def _start(self, theorem: types.Theorem, fresh: bool = False) -> tuple[int, types.ProofState]:
        """Start a theorem on the leased process; return the number of its proof state and its goals.

        It gets another name, which cannot be guessed: a proof must not use the theorem itself, and its own name may be
        taken already. It is no `example`: in those a proof may use all `variable`s, in a theorem those it states.
        """
        source = rename_theorem(theorem.source, unforeseeable_name(theorem.source))
        self._clear_environment()
        body = {"theorem_with_sorry": self._after_context(source), "fresh": fresh}
        self._changed_environment = True
        try:
            answer = self._call("proof_from_sorry", body, self._config.command_seconds, refuses_with_200=True)
        except _Refusal as error:
            # Two servers, two forms: LeanTree's refuses with Lean's messages as JSON, ours with their text.
            messages = transport.refused_messages(str(error)) or [{"data": error}]
            texts = [str(message.get("data")) for message in messages]
            raise types.TheoremRejected("\n".join(texts)) from error
        return transport.read_branch(answer.get("value"))

    def _after_context(self, source: str) -> str:
        """Send what precedes a theorem as a command of its own; return the rest of the source.

        A REPL runs tactics in the environment before the command with the `sorry`, so they know the definitions and
        notations of earlier commands only. Servers that start each text afresh split the source themselves.
        """
        if not self._features.keeps_environment:
            return source
        context = before_declaration(source)
        if not mask(context).strip():
            return source
        try:
            self._command(context)
        except _Refusal:  # Lean's errors about the whole source tell more
            return source
        return source[len(context) :].lstrip("\n")

    # -- Tactics -----------------------------------------------------------------------------------------------------

    def apply(self, branch: types.Branch, tactics: Sequence[str]) -> list[types.TacticResult]:
        """Try each tactic on the branch on its own, in one round trip where the server can."""
        origin = branch.handle
        assert isinstance(origin, Origin), "the branch is not of this session"
        results: dict[int, types.TacticResult] = {}
        for position, tactic in enumerate(tactics):
            if reason := _unsendable(tactic) or banned_reason(tactic):
                results[position] = types.TacticFailed("banned", reason)
            elif origin.part and isinstance(request := origin.part.request_for(tactic), Refused):
                results[position] = types.TacticFailed("rejected", request.message)
        # How often the process was lost at each position. A single loss may be chance (a neighbour took all memory, the
        # process was due anyway), so that a tactic gets a second try before it is blamed.
        losses: dict[int, int] = {}
        in_a_row = 0
        while pending := [position for position in range(len(tactics)) if position not in results]:
            # One at a time after a loss: in a batch, a process that ends late is blamed on a tactic behind the culprit.
            if losses:
                del pending[1:]
            self._with_recovery(self._locate, origin)
            try:
                answers = self._try(origin, [tactics[position] for position in pending])
            except _ProcessGone as error:
                answers = [error]
            # Answers end early where the process was lost; what has none stays pending.
            for position, answer in zip(pending, answers):
                result = self._read(origin, tactics[position], answer)
                if isinstance(result, _ProcessGone):
                    in_a_row += 1
                    self._note_loss(position, str(result), losses, results, in_a_row)
                    break
                results[position] = result
                in_a_row = 0
        return [results[position] for position in range(len(tactics))]

    def _try(self, origin: Origin, tactics: Sequence[str], patience: float = 1.0, focused: bool = True) -> list[Any]:
        """Try tactics on a branch of the present process; return an answer (`{"value"}` or `{"error"}`) for each.

        If the process is lost, the answers end with that error. Each tactic may take `patience` times the time limit.
        They are `focused` on the branch's own goals, which have to be in front, if there are others in its proof state.
        """
        number, part = origin.number, origin.part
        if focused and part is not None:
            tactics = [str(part.request_for(tactic)) for tactic in tactics]
        seconds = patience * self._config.tactic_seconds
        milliseconds = round(seconds * 1000)
        # Servers of LeanTree know single tactics only: there the route is missing, which is learned once.
        if self._features.has_batch_call and len(tactics) > 1:
            path = f"proof/{number}/try_apply_tactics"
            body = {"tactics": list(tactics), "timeout": milliseconds}
            answer = self._call(path, body, seconds * len(tactics), optional=True)
            if answer is not None:
                results = answer.get("results")
                if not isinstance(results, list) or len(results) != len(tactics):
                    shown = str(answer)[:200]
                    raise types.ProtocolError(f"not one result for each of {len(tactics)} tactics: {shown!r}")
                return results
            self._features.has_batch_call = False
        answers = []
        for tactic in tactics:
            path = f"proof/{number}/try_apply_tactic"
            code, answer = self._post(path, {"tactic": tactic, "timeout": milliseconds}, seconds)
            if not isinstance(answer, dict) or not ("value" in answer or "error" in answer):
                raise types.ProtocolError(f"Lean server {self.address} answered {code} to {path}")
            answers.append(answer)
            if transport.classify(transport.error_text(answer) or "") == "gone":
                break
        return answers

    def _read(self, origin: Origin, tactic: str, answer: Any) -> types.TacticResult | _ProcessGone:
        """Read the answer to one tactic; raises `ProtocolError` if it is neither a result nor a refusal."""
        if isinstance(answer, _ProcessGone):
            return answer
        text = transport.error_text(answer)
        if text is not None:
            match transport.classify(text):
                case "gone":
                    return _ProcessGone(text)
                case "timeout":
                    return types.TacticFailed("timeout", text)
                case "rejected":
                    return types.TacticFailed("rejected", text)
            # Neither a refusal nor out of time: to train on it as a failed tactic would teach the server's defects.
            raise types.ProtocolError(f"Lean server {self.address} failed on a tactic: {text[:500]}")
        open_branches = self._open_branches(origin, answer.get("value") if isinstance(answer, dict) else None)
        if open_branches is None:
            return types.TacticFailed("rejected", "it changes goals of another branch")
        if any(transport.bare_metavariable(branch.state) for branch in open_branches):
            return types.TacticFailed("rejected", "a goal is left that is a bare metavariable")
        branches = []
        for position, (number, state, part) in enumerate(open_branches):
            handle = Origin(origin.theorem, origin, tactic, position, state, self._epoch, number, part)
            branches.append(types.Branch(state, handle))
        return types.TacticApplied(tuple(branches))

    def _open_branches(self, origin: Origin, value: Any) -> list[OpenBranch] | None:
        """Read the open branches that a tactic left; None if it changed goals that are not its own."""
        entries = [OpenBranch(number, state) for number, state in transport.read_branches(value)]
        # More than one entry: a server of another kind that splits goals without saying so.
        if self._features.splits_goals or len(entries) > 1:
            return entries

        number = -1
        goals: tuple[types.Goal, ...] = ()
        if entries:
            number, goals = entries[0].number, entries[0].state.goals
        own = _texts(types.ProofState(goals))
        siblings: tuple[ReplGoal, ...] = ()
        if origin.part is not None:
            # An answer without goals is a change as well: the siblings are gone.
            left = own_goals(origin.part, own)
            if left is None:
                return None
            own, siblings = left, origin.part.siblings
        elif len(own) < 2:
            return entries
        branches = []
        for part in split_branches(number, own, siblings):
            state = types.ProofState(goals[part.rotation : part.rotation + len(part.goals)])
            branches.append(OpenBranch(number, state, part))
        return branches

    def _note_loss(
        self,
        position: int,
        reason: str,
        losses: dict[int, int],
        results: dict[int, types.TacticResult],
        in_a_row: int,
    ) -> None:
        """Record that the process was lost at this tactic, which is given up when that happens twice.

        After too many losses in a row, which tell nothing about the tactics, raises `ProcessLost`.
        """
        losses[position] = losses.get(position, 0) + 1
        if losses[position] >= 2:
            results[position] = types.TacticFailed("timeout", f"the Lean process ended twice at this tactic: {reason}")
        self._release()
        if in_a_row >= _LOSSES_IN_A_ROW:
            raise types.ProcessLost(f"Lean server {self.address} lost {in_a_row} processes in a row: {reason}")

    def _locate(self, origin: Origin) -> None:
        """Make sure that the present process has a branch: replay the tactics that led to it in a lost process."""
        path = [origin]
        while path[-1].epoch != self._epoch and path[-1].parent is not None:
            path.append(path[-1].parent)
        while path:
            step = path.pop()
            if step.epoch == self._epoch:
                continue
            branches: list[OpenBranch] | None
            if step.parent is None:
                branches = [OpenBranch(*self._start(step.theorem))]
            else:
                self._rotate(step.parent, _REPLAY_PATIENCE)
                answer = self._try(step.parent, [step.tactic], _REPLAY_PATIENCE)[0]
                # Lean took this tactic before. That it now fails says something about this process (cold, short of
                # memory), not about the tactic, so that another process is tried.
                if (text := transport.error_text(answer)) is not None:
                    raise _ProcessGone(f"replaying `{step.tactic}` failed: {text}")
                branches = self._open_branches(step.parent, answer.get("value"))
            is_there = branches is not None and step.position < len(branches)
            if branches is None or not is_there or branches[step.position].state.text != step.state.text:
                raise _ProcessGone(f"replaying `{step.tactic}` led to another state")
            step.number, _, step.part = branches[step.position]
            step.epoch = self._epoch
        self._rotate(origin)

    def _rotate(self, origin: Origin, patience: float = 1.0) -> None:
        """Bring the branch's own goals to the front of its proof state, where a focused tactic works on them.

        That waits until a tactic is tried on the branch: most branches of a search are never visited.
        """
        part = origin.part
        if part is None or not part.rotation:
            return
        answer = self._try(origin, [f"rotate_left {part.rotation}"], patience, focused=False)[0]
        if (text := transport.error_text(answer)) is not None:
            if transport.classify(text) == "gone":
                raise _ProcessGone(text)
            raise types.ProtocolError(f"Lean server {self.address} cannot rotate goals: {text[:500]}")
        branches = transport.read_branches(answer.get("value"))
        if len(branches) != 1 or _texts(branches[0][1]) != part.goals + part.siblings:
            raise types.ProtocolError(f"Lean server {self.address} does not rotate goals as Lean does")
        part.proof_state = origin.number = branches[0][0]
        part.rotation = 0

    # -- Checks of whole texts ---------------------------------------------------------------------------------------

    def check(self, source: str, seconds: float | None = None, since: int = 0) -> types.CheckReport:
        """Check a text after the server's imports; report errors, axioms and statements of theorems from `since` on."""
        command = CheckCommand.build(source, since=since)
        try:
            return command.read_answer(self._with_recovery(self._fresh_command, command.text, seconds))
        except _Refusal as error:
            # LeanTree's server answers 500 to a text with an error: a verdict of Lean's like any other.
            if (messages := transport.refused_messages(str(error))) is not None:
                return command.read_messages(messages)
            raise types.ProtocolError(f"Lean server {self.address} refuses the final check: {error}") from error

    def used_constants(self, source: str, seconds: float | None = None) -> tuple[str, ...] | None:
        """Return the constants that the tactics of a whole text use, sorted; None if the server does not say."""
        try:
            answer = self._with_recovery(self._fresh_command, source, seconds, allTactics=True)
        except _Refusal:
            return None
        steps = answer.get("tactics")
        if not isinstance(steps, list):
            return None
        constants: set[str] = set()
        for step in steps:
            # Older REPLs list tactics without their constants. To pass over one would say "uses nothing".
            if not isinstance(step, dict) or "usedConstants" not in step:
                return None
            constants.update(str(name) for name in step["usedConstants"] or ())
        return tuple(sorted(constants))

    def run_file(self, text: str, seconds: float, env: int | None = None, **flags: bool) -> dict[str, Any]:
        """Run a text as a command and return the REPL's whole answer, whose numbers `run_steps` and `env` may name.

        It runs after the server's imports, in the environment `env` of an earlier answer, or, with `header=True`, as a
        file with imports of its own; `flags` are further keys of the request (`allTactics`, ..). Nothing is repeated:
        raises `ProcessLost` if the process is lost, and with it all numbers, `TheoremRejected` with the server's words
        if it refuses the text, and `ServerTimeout`.
        """
        body = {"command": text, "timeout": round(seconds * 1000), **flags}
        if env is not None:
            body["env"] = env
        return self._whole_call("command", body, seconds)

    def run_steps(self, steps: Sequence[tuple[int, str]], seconds: float, forget: bool = False) -> list[dict[str, Any]]:
        """Run each tactic on a proof state of `run_file`'s answer; return the REPL's answers, or `{"error"}`, in order.

        A tactic may take `seconds`. With `forget` all proof states are given up then, which bounds the memory that a
        process takes. Raises what `run_file` does.
        """
        listed = [{"proofState": number, "tactic": tactic} for number, tactic in steps]
        body = {"steps": listed, "timeout": round(seconds * 1000), "forget": forget}
        answers = self._whole_call("steps", body, seconds * max(1, len(listed))).get("results")
        if not isinstance(answers, list) or len(answers) != len(listed):
            raise types.ProtocolError(f"not one result for each of {len(listed)} tactics: {str(answers)[:200]!r}")
        return answers

    def _whole_call(self, path: str, body: dict[str, Any], seconds: float) -> dict[str, Any]:
        self._changed_environment = True
        try:
            if self._lease is None:
                self._acquire()
            return self._call(path, body, seconds)
        except _ProcessGone as error:
            self._release()
            raise types.ProcessLost(f"Lean server {self.address} lost a process: {error}") from error
        except _Refusal as error:
            raise types.TheoremRejected(str(error)) from error

    def _fresh_command(self, text: str, seconds: float | None = None, **flags: bool) -> Any:
        """Run a command in the environment after the imports, and return the answer."""
        self._clear_environment()
        return self._command(text, seconds, **flags)

    def _command(self, text: str, seconds: float | None = None, **flags: bool) -> Any:
        """Run a command and return the answer; raises what `_call` raises. A refused one changes nothing."""
        # Noted before the request: if its answer is lost, the server may have run it all the same.
        changed, self._changed_environment = self._changed_environment, True
        if seconds is None:
            seconds = self._config.command_seconds
        try:
            return self._call("command", {"command": text, "timeout": round(seconds * 1000), **flags}, seconds)
        except _Refusal:
            self._changed_environment = changed
            raise

    def _clear_environment(self) -> None:
        """Make sure that the next request starts from the imports: take a new lease if this one's environment is kept.

        Branches of the previous lease are rebuilt if they are used again.
        """
        if self._features.keeps_environment is None:
            self._features.keeps_environment = self._finds_own_declaration()
        if self._features.keeps_environment and self._changed_environment:
            self._release()
            self._acquire()

    def _finds_own_declaration(self) -> bool:
        """Test whether a command knows what the previous one declared; true too if the answers are unexpected."""
        # Another name each time: the processes of such a server may hold one that an earlier client declared.
        name = f"nanoproof_{secrets.token_hex(12)}"
        try:
            self._command(f"theorem {name} : True := True.intro")
            answer = self._command(f"#check {name}")
        except (_Refusal, types.ProtocolError) as error:
            return name not in str(error)
        for message in answer.get("messages") or ():
            if isinstance(message, dict) and message.get("severity") == "error":
                return False
        return True

    # -- Requests on the leased process ------------------------------------------------------------------------------

    def _with_recovery(self, work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        """Do `work`, and repeat it with a new process if the old one is gone; in the end raise `ProcessLost`."""
        for _ in range(_RECOVERIES):
            try:
                assert not self._closed, "the session is closed"
                if self._lease is None:
                    self._acquire()
                return work(*args, **named)
            except _ProcessGone as error:
                reason = str(error)
                self._release()
        raise types.ProcessLost(f"Lean server {self.address} lost {_RECOVERIES} processes in a row: {reason}")

    def _call(
        self, path: str, body: Any, seconds: float, optional: bool = False, refuses_with_200: bool = False
    ) -> Any:
        """POST to the leased process; None if the route is `optional` and the server does not have it.

        With `refuses_with_200` any error with status 200 is a refusal, whatever its text.
        Raises `_ProcessGone`, `_Refusal`, `ProtocolError`, `ServerUnavailable` or `ServerTimeout`.
        """
        code, answer = self._post(path, body, seconds)
        text = transport.error_text(answer)
        if text is not None:
            kind = transport.classify(text)
            if kind == "gone":
                raise _ProcessGone(text)
            if kind == "rejected" or (kind == "protocol" and refuses_with_200 and code == 200):
                raise _Refusal(text)
            if kind == "timeout":
                raise types.ServerTimeout(f"Lean server {self.address}: {text}")
        if optional and code in (404, 405, 501):
            return None
        if text is not None or code != 200 or not isinstance(answer, dict):
            raise types.ProtocolError(f"Lean server {self.address} answered {code} to {path}: {(text or '')[:500]}")
        return answer

    def _post(self, path: str, body: Any, seconds: float) -> tuple[int, Any]:
        """POST to the leased process; raises `ServerUnavailable` if the server is overloaded."""
        process = None if self._lease is None else self._lease.touch()
        if process is None:
            raise _ProcessGone("the lease was given back")
        timeout = seconds + self._config.slack_seconds
        code, answer = self._transport.call(process, path, body, timeout)
        text = transport.error_text(answer) or ""
        if code in transport.BUSY_STATUSES and transport.classify(text) == "protocol":
            raise types.ServerUnavailable(f"Lean server {self.address} is too busy: {text[:500] or f'status {code}'}")
        return code, answer

    # -- The lease ---------------------------------------------------------------------------------------------------

    def _acquire(self) -> None:
        """Lease a process; raises `ServerBusy` if none comes free in time.

        The request is repeated even if the connection broke after it was sent, as busy servers break connections before
        they read them. With a server that does not expire leases it never waits there for a process: the server would
        give it to a connection that may be gone by then, for good.
        """
        timeout = self._timeout
        if self._epoch:
            timeout = max(timeout, _RECOVERY_SECONDS)
        deadline = time.monotonic() + timeout
        while True:
            # A server that does not expire leases answers once a new process has its imports, which takes as long as a
            # command may; if we hung up before that, nobody would get the process.
            wait, slack = 0.0, self._config.command_seconds
            if self._features.expires_leases:
                wait = max(0.0, min(_LEASE_CALL_SECONDS, deadline - time.monotonic()))
                slack = self._config.slack_seconds
            body = {"blocking": wait > 0, "timeout": wait, "lease_seconds": transport.LEASE_SECONDS}
            body |= {"fresh_environments": True}  # a server of ours obeys, LeanTree's does not know the field
            retry_seconds = wait + 2 * _ASK_AGAIN_SECONDS
            code, answer = self._transport.post("/process/get", body, wait + slack, retry_seconds=retry_seconds)
            process = answer.get("process_id") if isinstance(answer, dict) else None
            if code == 200 and isinstance(process, int):
                self._take_lease(process, answer)
                return
            is_none_free = code == 200 and isinstance(answer, dict) and transport.error_text(answer) is None
            if code != 429 and not is_none_free:
                reason = transport.error_text(answer) or f"status {code}"
                raise types.ServerUnavailable(f"Lean server {self.address} gives no process: {reason}")
            left = deadline - time.monotonic()
            if left <= 0:
                raise types.ServerBusy(f"Lean server {self.address} had no free process for {timeout:g} s")
            # At random, so that a hundred actors that were refused together do not come back together.
            if code == 429 or wait == 0:
                time.sleep(min(left, _ASK_AGAIN_SECONDS * random.uniform(0.2, 1.0)))

    def _take_lease(self, process: int, answer: dict[str, Any]) -> None:
        """Take the leased process for the session's own, and learn from the answer what the server can do."""
        self._lease = transport.Lease(process, answer.get("lease_seconds"))
        self._features.expires_leases = "lease_seconds" in answer
        if answer.get("fresh_environments") is True:
            self._features.keeps_environment = False
        self._features.splits_goals = answer.get("splits_goals") is True
        self._transport.offer_local(answer.get("local_socket"))
        self._changed_environment = False
        self._keeper.add(self._lease, self)
        self._epoch += 1  # no branch from before is known to this process

    def _release(self) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            self._keeper.give_back(lease)

    def close(self) -> None:
        """Return the process; if the server cannot be reached, a thread retries that later."""
        self._closed = True
        self._release()


def _texts(state: types.ProofState) -> tuple[ReplGoal, ...]:
    """Convert the goals of a state to texts, in which other goals' metavariables can be found.

    Such servers send goals in their structured form, without the ids that the REPL gives to metavariables.
    """
    return tuple(ReplGoal(str(goal)) for goal in state.goals)


def _unsendable(tactic: str) -> str | None:
    """Return why a tactic cannot be put into a request at all; None if it can."""
    if not tactic.strip():
        return "an empty tactic"
    try:
        tactic.encode()
    except UnicodeEncodeError:
        return "not a text"
    return None
