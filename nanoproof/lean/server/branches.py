"""What a REPL's answer means, and how the goals of a REPL proof state become independent branches.

A REPL proof state is a list of goals. Goals that share a metavariable must be worked on together; all others are
independent and become branches of their own. A branch keeps its own goals first in its REPL state and the goals of the
other branches behind them as siblings, which no tactic of this branch may touch.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nanoproof.lean.state import Goal, parse_goal

_METAVARIABLE = re.compile(r"(?<![\w\])}?!'.])\?([^\W\d][\w.'✝]*)")


@dataclass(slots=True)
class ReplBranch:
    """Goals of one branch in a REPL proof state, as texts that the REPL printed.

    `rotation` is how many goals still have to be rotated to the back before the branch's own goals are in front;
    `siblings` are the other goals in the order they have after that.
    """

    proof_state: int
    goals: tuple[str, ...]
    siblings: tuple[str, ...] = ()
    rotation: int = 0

    def parsed_goals(self) -> list[Goal]:
        """The branch's own goals in structured form; raises `ProtocolError` if they are not as Lean prints them."""
        return [parse_goal(text) for text in self.goals]

    def request_for(self, tactic: str) -> str:
        """The text that runs `tactic` on this branch, once it has been rotated to the front.

        A single goal among siblings is focused. Coupled goals are not: solving one may assign what another is about.
        """
        if not self.siblings or len(self.goals) > 1:
            return tactic
        return "focus (" + tactic.replace("\n", "\n       ") + ("\n)" if "--" in tactic else ")")


@dataclass(frozen=True, slots=True)
class Refused:
    """Lean did not apply the tactic, and what it said."""

    message: str


def judge(answer: dict[str, Any]) -> tuple[int, tuple[str, ...]] | Refused:
    """The new proof state and its goals, or why the step does not count as applied.

    No goals is not success: see the rules for `proofStatus` in the REPL's protocol. Raises ValueError if the answer is
    neither a step nor a refusal.
    """
    if "proofState" not in answer:
        message = answer.get("message")
        if isinstance(message, str) and message.startswith("Lean error"):
            return Refused(message)
        raise ValueError(f"neither a proof state nor a Lean error: {str(answer)[:300]}")
    goals, status = tuple(answer.get("goals", ())), str(answer.get("proofStatus", ""))
    if errors := [m.get("data", "") for m in answer.get("messages", ()) if m.get("severity") == "error"]:
        return Refused("\n".join(errors))
    verification = answer.get("stepVerification")
    if isinstance(verification, str) and verification.startswith("Error"):
        return Refused(f"Step verification error: {verification}")
    if status.startswith("Error"):
        return Refused(status)
    if answer.get("sorries") or "contains sorry" in status:
        return Refused("the tactic leaves a sorry")
    if not goals and "contains metavariable" in status:
        return Refused("the tactic leaves a metavariable without a goal")
    return answer["proofState"], goals


def own_goals(branch: ReplBranch, goals: Sequence[str]) -> tuple[str, ...] | None:
    """The goals that a step on `branch` left of its own; None if it touched, removed or reordered a sibling."""
    kept = len(goals) - len(branch.siblings)
    if kept < 0 or tuple(goals[kept:]) != branch.siblings:
        return None
    return tuple(goals[:kept])


def split(proof_state: int, own: Sequence[str], siblings: Sequence[str]) -> list[ReplBranch]:
    """One branch for each group of coupled goals among `own`, in order; `siblings` follow `own` in the REPL's state."""
    return [
        ReplBranch(proof_state, tuple(own[start:stop]), (*own[stop:], *siblings, *own[:start]), rotation=start)
        for start, stop in coupled_ranges(own)
    ]


def coupled_ranges(goals: Sequence[str]) -> list[tuple[int, int]]:
    """Split positions into the smallest contiguous ranges such that no two ranges share a metavariable."""
    first_use: dict[str, int] = {}
    last_use: dict[str, int] = {}
    for position, text in enumerate(goals):
        for name in metavariables(text):
            first_use.setdefault(name, position)
            last_use[name] = position
        # A goal's own tag names the metavariable that it is to assign; it couples only where another goal mentions it.
    tags = {tag: position for position, text in enumerate(goals) if (tag := _tag(text))}
    for name in first_use.keys() & tags.keys():
        first_use[name] = min(first_use[name], tags[name])
        last_use[name] = max(last_use[name], tags[name])
    reach: dict[int, int] = {}
    for name, start in first_use.items():
        reach[start] = max(reach.get(start, start), last_use[name])
    ranges: list[tuple[int, int]] = []
    start = 0
    while start < len(goals):
        end = position = start
        while position <= end:
            end = max(end, reach.get(position, position))
            position += 1
        ranges.append((start, end + 1))
        start = end + 1
    return ranges


def metavariables(text: str) -> set[str]:
    """Names of the metavariables (`?x`, `?m.12`) that a goal's text mentions."""
    return set(_METAVARIABLE.findall(text))


def _tag(text: str) -> str:
    first = text.split("\n", 1)[0]
    return first[5:].strip() if first.startswith("case ") else ""
