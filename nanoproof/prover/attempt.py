"""The record of one attempt to prove one theorem, which logs, training and evaluation read."""

import re
from dataclasses import dataclass, field, fields
from functools import lru_cache
from itertools import groupby
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, Field, StrictBool, StrictFloat, StrictInt, ValidationError

from nanoproof.common.errors import first_problem
from nanoproof.lean.forbidden import banned_reason, block_reason
from nanoproof.lean.lexical import ATOM
from nanoproof.lean.types import SourceError, Theorem, TheoremRejected, Transition
from nanoproof.prover.check import RUNGS
from nanoproof.search.expand import Estimate

Outcome = Literal["proven", "disproven", "unproven", "error"]
REFUSED, NOT_REPLAYED = "refused", "not replayed"
"""How a proof is lost by Lean's verdict; all other ways have the name of an exception."""

ON_RETRY = "retry"
"""Why a search ended that found no proof, but lacked only a tactic that had run out of time, and worked later."""

_FIRST_WORD = re.compile(ATOM)
_REFORMATTED = frozenset({"rename_i", "next", "case"})
"""Tactics that the laid-out text of a proof may hold in another form."""


class FailedTactic(NamedTuple):
    """A tactic of the policy that Lean refused in a state (never one that ran out of time)."""

    state: str
    tactic: str


@dataclass(frozen=True)
class Attempt:
    """One attempt; JSON in both directions.

    `proven` and `disproven` are only ever set after the final check of `source`, the whole Lean text; `proof` is the
    tactic block in it and `num_tactics` its number of steps. `message` says why there is no proof, or what failed;
    `stop_reason` why the search ended (the name of the exception if it was one). `disproving` if the negation was to
    be proved: not where the statement has none that Lean accepts, which is tried as it is.

    `check` records the final check; where it `lost` a proof that the search had found, the reason is in it.

    `estimates` say how many tactics seemed to be left after 1, 2, 4, ... simulations without a proof.

    `budget` is the number of simulations allowed and `seed` what the policy's samples came from; `policy` says which
    weights it had in the end. Of an attempt of reinforcement learning, `revisions` are the steps whose weights it was
    begun and ended with. `counts` are those of the search, and for a proof that was found `replay_tactics` and
    `simplification_tactics` run afterwards, and `tactics_found`, its number of steps before it was simplified. Where
    the attempt began inside of a known proof, `given_tactics` of it are in `proof` besides the `num_tactics` steps.
    Where tactics that ran out of time were tried once more, `retried` says how many, `passed_on_retry` how many worked.
    `seconds` is the time of each phase, and in it that spent in Lean and in the policy.

    Of a whole proof, `text` is what the model wrote and `sample` its number among those of its theorem, from 0;
    `premises` are the constants that the proof uses, as `premises_from` says by `lean`, or approximated by the known
    `names` in its text.

    A file's records are read as `AttemptRecord`.
    """

    theorem: Theorem
    outcome: Outcome
    message: str = ""
    disproving: bool = False
    proof: str = ""
    source: str = ""
    num_tactics: int = 0
    transitions: tuple[Transition, ...] = ()
    failed_tactics: tuple[FailedTactic, ...] = ()
    estimates: tuple[Estimate, ...] = ()
    budget: int = 0
    seed: int = 0
    policy: str = ""
    revisions: tuple[int, ...] = ()
    stop_reason: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    check: dict[str, Any] | None = None
    tree: dict[str, Any] | None = None
    sample: int = 0
    text: str = ""
    premises: tuple[str, ...] = ()
    premises_from: Literal["", "lean", "names"] = ""

    @property
    def refused(self) -> bool:
        """Whether Lean refused the statement of the theorem itself (not of its negation)."""
        refusals = (TheoremRejected.__name__, SourceError.__name__)
        return self.outcome == "error" and not self.disproving and self.stop_reason in refusals

    @property
    def lost(self) -> str:
        """How a proof that the search had found came to nothing; empty if none did.

        `refused` by the final check, `not replayed` step by step before it, or else the name of the exception by which
        the server did neither accept nor refuse it.
        """
        return lost_in(self.check)

    @property
    def lost_by_server(self) -> bool:
        """Whether a proof was lost that Lean did not refuse."""
        return self.lost not in ("", REFUSED, NOT_REPLAYED)

    @property
    def simulations(self) -> int:
        """Simulations that the search ran, at most `budget`."""
        return self.counts.get("simulations", 0)

    def to_json(self) -> dict[str, Any]:
        """Convert to plain JSON data; empty fields are left out.

        Failed tactics that follow each other in one state are written with it once: [state, tactic, tactic, ...]. They
        make up most of the record of a long search.
        """
        theorem = {"source": self.theorem.source, "dataset": self.theorem.dataset, "id": self.theorem.id}
        data = {name: value for name, value in vars(self).items() if value or name == "outcome"}
        if self.transitions:
            data["transitions"] = [[step.state, step.tactic, step.depth] for step in self.transitions]
        if self.failed_tactics:
            data["failed_tactics"] = []
            for state, failed in groupby(self.failed_tactics, key=lambda entry: entry.state):
                data["failed_tactics"].append([state, *(entry.tactic for entry in failed)])
        return {**data, "theorem": theorem}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Attempt":
        """Read what `to_json` wrote. Raises ValueError, in one line, for other data."""
        try:
            return AttemptRecord.model_validate(data).attempt()
        except ValidationError as error:
            raise ValueError(first_problem(error)) from error


Count = Annotated[int, Field(strict=True, ge=0)]
"""Strict: to lax readers "3" and true are integers."""


def _with_named_axioms(check: dict[str, Any]) -> dict[str, Any]:
    axioms = check.get("axioms", [])
    if not isinstance(axioms, list | tuple) or not all(isinstance(axiom, str) for axiom in axioms):
        raise ValueError("`axioms` should be a list of names")
    return check


class AttemptRecord(BaseModel, extra="forbid"):
    """The JSON data of an attempt, as `Attempt.to_json` writes it: what may be in which field.

    Python's dataclasses take any value, and a file may hold any in any place. All fields but two may be missing.
    """

    theorem: Theorem
    outcome: Outcome
    message: str = ""
    disproving: StrictBool = False
    proof: str = ""
    source: str = ""
    num_tactics: Count = 0
    # Depths are `fault_of`'s to judge, by the proof that they are of.
    transitions: tuple[tuple[str, str, Any], ...] = ()
    failed_tactics: tuple[tuple[str, ...], ...] = ()
    estimates: tuple[tuple[Any, Any, Any], ...] = ()
    budget: Count = 0
    seed: Count = 0
    policy: str = ""
    revisions: tuple[Count, ...] = ()
    stop_reason: str = ""
    counts: dict[str, Count] = Field(default_factory=dict)
    seconds: dict[str, StrictInt | StrictFloat] = Field(default_factory=dict)
    check: Annotated[dict[str, Any], AfterValidator(_with_named_axioms)] | None = None
    tree: dict[str, Any] | None = None
    sample: Count = 0
    text: str = ""
    premises: tuple[str, ...] = ()
    premises_from: Literal["", "lean", "names"] = ""
    # Of experiments that gained nothing (docs/experiments.md): logs that hold them are still read.
    solved_states: Any = None
    hindsight: Any = None
    origin: Any = None
    unsolved_states: Any = None

    def attempt(self) -> Attempt:
        """Return the attempt."""
        values = {name: value for name, value in self.__dict__.items() if name in _FIELDS}
        values["transitions"] = tuple(Transition(*step) for step in self.transitions)
        failed_tactics = []
        for state, *tactics in self.failed_tactics:
            for tactic in tactics:
                failed_tactics.append(FailedTactic(state, tactic))
        values["failed_tactics"] = tuple(failed_tactics)
        values["estimates"] = tuple(Estimate(*estimate) for estimate in self.estimates)
        return Attempt(**values)


_FIELDS = frozenset(field.name for field in fields(Attempt))


def lost_in(check: dict[str, Any] | None) -> str:
    """Return how a proof was lost, by the record of its check; older records hold only what was refused."""
    if check is None or check.get("accepted", True):
        return ""
    return str(check.get("lost", REFUSED))


def fault_of(attempt: Attempt) -> str:
    """Return why a record cannot be that of a real attempt; empty for one that may be learned from.

    It is for records that come from a file. Only what was proved and passed every rung of the final check teaches
    anything, and its steps must be those of its proof. That the check was made is the record's own claim:
    `scripts.check_with_lean` checks the proofs of a file again.
    """
    if attempt.outcome in ("proven", "disproven"):
        if attempt.outcome == "disproven" and not attempt.disproving:
            return "it is disproven, and the negation was not what was to be proved"
        return _unchecked(attempt) or _misfitting_steps(attempt)
    if attempt.transitions:
        return f"it is {attempt.outcome} and has steps of a proof"
    return ""


def _is_count(value: object) -> bool:
    # To Python true and false are integers.
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _unchecked(proved: Attempt) -> str:
    """Return why the proof has not passed the final check; empty if it has."""
    # Every rung that the record holds, and those that every proof passes: whole proofs are not replayed step by step.
    check = proved.check or {}
    rungs = check.get("rungs")
    if check.get("accepted") is not True or not proved.proof or not proved.source:
        return "its proof was not checked"
    if not isinstance(rungs, dict) or any(rungs.get(rung) is not True for rung in {*RUNGS[1:], *rungs}):
        return "its proof has not passed every rung of the check"
    return _no_proof(proved.proof)


@lru_cache(10_000)
def _no_proof(text: str) -> str:
    """Return why a proof, or one tactic, would not be sent to Lean. Cached: runs repeat the same ones."""
    return block_reason(text) or banned_reason(text) or ""


def _misfitting_steps(proved: Attempt) -> str:
    """Return why the steps are not those of the proof; empty if they are."""
    steps, number = proved.transitions, proved.num_tactics
    # Fewer steps are fine: those of finishers are in the proof and teach nothing.
    if len(steps) > number:
        return f"it has {len(steps)} steps, and a proof of {number} tactics"
    words_of_proof = set(_FIRST_WORD.findall(proved.proof))
    for position, step in enumerate(steps):
        tactic, depth = step.tactic, step.depth
        if not _is_count(depth) or not 1 <= depth <= number:
            return f"depth {str(depth)[:80]!r} in a proof of {number} tactics"
        if reason := _no_proof(tactic):
            return reason
        word = _FIRST_WORD.match(tactic.lstrip())
        # By its first word only, as layout may put the rest elsewhere (`have h : p := ?_`, alternatives of `cases`).
        if word is not None and word.group() not in words_of_proof | _REFORMATTED:
            return f"`{word.group()}` is a step, and not in the proof"
        # With steps left out, those that make the depth may be among them.
        if len(steps) == number and not _leads_to_less(steps, position):
            return f"no step follows that makes depth {depth} of step {position + 1}"
    return ""


def _leads_to_less(steps: tuple[Transition, ...], position: int) -> bool:
    """Tell whether one of the steps below this one needs one tactic less, and none more (or nothing is left to do)."""
    depth = steps[position].depth
    for below in steps[position + 1 :]:
        if depth == 1 or below.depth >= depth:
            break
        if below.depth == depth - 1:
            return True
    return depth == 1
