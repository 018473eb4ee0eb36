"""The contract between whoever proves and whoever runs Lean: branches, results of tactics, and a session."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Protocol, Self

from nanoproof.lean.state import ProofState
from nanoproof.lean.theorem import Theorem


@dataclass(frozen=True, slots=True)
class Branch:
    """Goals that must be worked on together, and a handle that only the session that made it understands."""

    state: ProofState
    handle: object = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TacticApplied:
    """Lean accepted the tactic. The branches are independent subgoals, all to be proved; none means proved."""

    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True)
class TacticFailed:
    """The tactic did not apply. Only `rejected` is Lean's word on it; `timeout` and `banned` are ours."""

    kind: Literal["rejected", "timeout", "banned"]
    message: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What Lean says about a whole text in a fresh environment.

    `errors` are the texts of its error messages, `sorries` the number of gaps it noticed, `axioms` what the theorems of
    the text rest on, sorted, `statements` the name of each theorem and how Lean prints its statement (none where there
    are errors), `places` the line (from 1) and column (from 0) of each error; line 0 where that is not known, and an
    `example` is checked as a theorem, which moves the columns behind it. `accepted` does not look at the axioms:
    that is the caller's policy.
    """

    errors: tuple[str, ...]
    sorries: int
    axioms: tuple[str, ...]
    statements: tuple[tuple[str, str], ...] = ()
    places: tuple[tuple[int, int], ...] = ()

    @property
    def accepted(self) -> bool:
        """True if there is neither an error nor a gap."""
        return not self.errors and self.sorries == 0


class LeanCalls(Protocol):
    """What an attempt asks of Lean; calls come from one thread at a time."""

    def start(self, theorem: Theorem) -> Branch:
        """The branch at the `sorry` of a theorem; `TheoremRejected` if Lean refuses the statement."""
        ...

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]:
        """Try each tactic on the branch on its own; results in the order of `tactics`."""
        ...

    def check(self, source: str) -> CheckReport:
        """Check a whole text in a fresh environment."""
        ...


class LeanSession(LeanCalls, Protocol):
    """One leased Lean process."""

    def close(self) -> None:
        """Give the process back; calling it again does nothing."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
