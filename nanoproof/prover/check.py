"""The final check: only what Lean accepts as a whole text, in a fresh environment and on allowed axioms, is a proof."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from nanoproof.lean.banned import banned_reason
from nanoproof.lean.lexical import mask
from nanoproof.lean.source import ALLOWED_AXIOMS, splice
from nanoproof.lean.theorem import Theorem
from nanoproof.lean.wire import CheckReport

_COMMAND = re.compile(
    r"(?<![\w.'«])(?:#[a-z]|@\[|(?:theorem|lemma|example|def|abbrev|instance|axiom|opaque|inductive|structure|class|"
    r"macro|macro_rules|notation|infix[lr]?|prefix|postfix|syntax|elab|elab_rules|attribute|namespace|section|end|"
    r"mutual|variable|universe|import|export|initialize|run_cmd)(?![\w.'!?]))"
)
"""Words that begin commands, wherever they stand: a command may follow a tactic on its line."""


class Checker(Protocol):
    """The one thing the final check asks of Lean; every `LeanSession` can do it."""

    def check(self, source: str) -> CheckReport: ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of the final check: `source` is the whole text that was checked, `reason` why it is no proof."""

    source: str
    accepted: bool
    reason: str = ""
    axioms: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"environment": "fresh", "accepted": self.accepted, "reason": self.reason, "axioms": list(self.axioms)}


def check_proof(checker: Checker, theorem: Theorem, proof_text: str) -> Verdict:
    """Put the proof into its theorem and have the whole text checked; LeanError if the server fails.

    The statement cannot change: the proof takes the place of the `sorry` and may hold tactics only, no commands.
    """
    source = splice(theorem, proof_text)
    masked = mask(proof_text)
    if command := _COMMAND.search(masked):
        return Verdict(source, False, f"`{command.group().strip()}` begins a command, which a proof may not hold")
    if reason := banned_reason(proof_text):
        return Verdict(source, False, reason)
    report = checker.check(source)
    return Verdict(source, *_judge(report), axioms=report.axioms)


def _judge(report: CheckReport) -> tuple[bool, str]:
    if report.errors:
        return False, f"Lean refuses the finished text: {_first_line(report.errors)}"
    if report.sorries:
        return False, "the finished text still holds a sorry"
    foreign = sorted(set(report.axioms) - ALLOWED_AXIOMS)
    if foreign:
        return False, f"the proof rests on {', '.join(foreign)}; allowed are {', '.join(sorted(ALLOWED_AXIOMS))}"
    return True, ""


def _first_line(errors: Sequence[str]) -> str:
    return errors[0].strip().split("\n")[0]
