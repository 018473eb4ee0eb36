"""A scripted Lean: every result is looked up by state and tactic, with refusals, timeouts and crashes on cue."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from nanoproof.lean.declarations import declared_names
from nanoproof.lean.source import name_examples
from nanoproof.lean.types import (
    Branch,
    CheckReport,
    Goal,
    LeanError,
    ProcessLost,
    ProofState,
    TacticApplied,
    TacticFailed,
    Theorem,
    TheoremRejected,
)

# What a tactic does: the branches it leaves, or one of "reject", "timeout", "banned", or an error to raise.
Outcome = Sequence[str] | str | LeanError

CLEAN = CheckReport(errors=(), sorries=0, axioms=())


def branch(text: str) -> Branch:
    """The branch called `text`: its goals separated by " & ", each a target, with "tag:" in front if it has a tag."""
    goals = []
    for part in text.split(" & "):
        tag, _, target = part.rpartition(":")
        goals.append(Goal(target, tag=tag or None))
    return Branch(ProofState(tuple(goals)), handle=text)


def name_of(state: ProofState) -> str:
    return " & ".join(goal.type for goal in state.goals)


class ScriptedLean:
    """A `LeanSession` over `script`: {state name: {tactic: outcome}}; tactics without an entry are refused.

    `start` gives the branch `root` (None: the statement is refused). The n-th call of `apply`, counted from 1, raises
    `crashes[n]`. `report` is what `check` answers, or a function of the source. `applied` records (state, tactic).
    """

    def __init__(
        self,
        script: dict[str, dict[str, Outcome]],
        root: str | None = "A",
        report: CheckReport | Callable[[str], CheckReport] = CLEAN,
        crashes: dict[int, LeanError] | None = None,
    ) -> None:
        self.script = script
        self.root = root
        self.report = report
        self.crashes = crashes or {}
        self.calls = 0
        self.applied: list[tuple[str, str]] = []
        self.checked: list[str] = []
        self.closed = False

    def start(self, theorem: Theorem) -> Branch:
        if self.root is None:
            raise TheoremRejected("scripted refusal of the statement")
        return branch(self.root)

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]:
        self.calls += 1
        if self.calls in self.crashes:
            raise self.crashes[self.calls]
        return [self._run(name_of(branch.state), tactic) for tactic in tactics]

    def _run(self, state: str, tactic: str) -> TacticApplied | TacticFailed:
        self.applied.append((state, tactic))
        outcome = self.script.get(state, {}).get(tactic, "reject")
        if isinstance(outcome, LeanError):
            raise outcome
        if isinstance(outcome, str):
            kinds = {"reject": "rejected", "timeout": "timeout", "banned": "banned"}
            return TacticFailed(kinds[outcome], f"scripted: {outcome}")  # type: ignore[arg-type]
        return TacticApplied(tuple(branch(text) for text in outcome))

    def check(self, source: str, seconds: float | None = None, since: int = 0) -> CheckReport:
        self.checked.append(source)
        report = self.report(source) if callable(self.report) else self.report
        if report.errors or report.statements:
            return report
        names = declared_names(name_examples(source))
        return replace(report, statements=tuple((name, f"{name} : as it stands") for name in names))

    def close(self) -> None:
        self.closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def crash() -> ProcessLost:
    return ProcessLost("scripted crash")
