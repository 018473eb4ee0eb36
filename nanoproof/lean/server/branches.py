"""How the goals of a REPL proof state become independent branches.

A REPL proof state is a list of goals. Goals that share a metavariable must be worked on together; all others are
independent and become branches of their own. A branch keeps its own goals first in its REPL state and the goals of the
other branches behind them as siblings, which no tactic of this branch may touch.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nanoproof.lean.lexical import mask
from nanoproof.lean.server.repl_goals import ReplGoal, metavariables
from nanoproof.lean.server.verdicts import Refused
from nanoproof.lean.state import Goal

_PARENTHESIS = re.compile(r"'[()]'|[()]")
_NUMBERED = re.compile(r"m\.\d+")


@dataclass(slots=True)
class ReplBranch:
    """Goals of one branch in a REPL proof state.

    `rotation` is how many goals still have to be rotated to the back before the branch's own goals are in front;
    `siblings` are the other goals in the order they have after that.
    """

    proof_state: int
    goals: tuple[ReplGoal, ...]
    siblings: tuple[ReplGoal, ...] = ()
    rotation: int = 0

    def parsed_goals(self) -> list[Goal]:
        """The branch's own goals in structured form; raises `ProtocolError` if they are not as Lean prints them."""
        return [goal.parsed() for goal in self.goals]

    def request_for(self, tactic: str) -> str | Refused:
        """The text that runs `tactic` on this branch, once it has been rotated to the front.

        A single goal among siblings is focused. Coupled goals are not: solving one may assign what another is about.
        A tactic that would close the parenthesis of its focus is refused, and so is one that names the goal itself: it
        can leave the goal without a proof, which the REPL tells only of a state without goals.
        """
        if not self.siblings or len(self.goals) > 1:
            return tactic
        if _closes_too_much(tactic):
            return Refused("unexpected `)`")
        if own := metavariables(mask(tactic)) & self.goals[0].names:
            return Refused(f"`?{min(own)}` is the goal itself")
        return "focus (" + tactic.replace("\n", "\n       ") + ("\n)" if "--" in tactic else ")")


def own_goals(branch: ReplBranch, goals: Sequence[ReplGoal]) -> tuple[ReplGoal, ...] | None:
    """The goals that a step on `branch` left of its own; None if it touched, removed or reordered a sibling."""
    kept = len(goals) - len(branch.siblings)
    if kept < 0 or tuple(goals[kept:]) != branch.siblings:
        return None
    return tuple(goals[:kept])


def split(proof_state: int, own: Sequence[ReplGoal], siblings: Sequence[ReplGoal]) -> list[ReplBranch]:
    """One branch for each group of coupled goals among `own`, in order; `siblings` follow `own` in the REPL's state."""
    return [
        ReplBranch(proof_state, tuple(own[start:stop]), (*own[stop:], *siblings, *own[:start]), rotation=start)
        for start, stop in coupled_ranges(own)
    ]


def coupled_ranges(goals: Sequence[ReplGoal]) -> list[tuple[int, int]]:
    """Split positions into the smallest contiguous ranges such that no two ranges share a metavariable.

    Two goals are coupled if both mention a metavariable, or if one mentions the other. Ranges are contiguous, because
    goals can be rotated but not sorted.
    """
    first: dict[str, int] = {}
    last: dict[str, int] = {}

    def use(name: str, position: int) -> None:
        first[name] = min(first.get(name, position), position)
        last[name] = max(last.get(name, position), position)

    for position, goal in enumerate(goals):
        for name in goal.mentions:
            use(name, position)
    # A goal's own names count only where another goal mentions them, and it may be called by a number that its text
    # does not tell, unless it has a tag.
    numbered = next((name for name in first if _NUMBERED.fullmatch(name)), None)
    for position, goal in enumerate(goals):
        for name in goal.names & first.keys():
            use(name, position)
        if numbered and not goal.names:
            use(numbered, position)
    reach: dict[int, int] = {}
    for name, start in first.items():
        reach[start] = max(reach.get(start, start), last[name])
    return _ranges(len(goals), reach)


def _ranges(length: int, reach: dict[int, int]) -> list[tuple[int, int]]:
    """The finest ranges such that each position lies in one with the position that it reaches."""
    ranges: list[tuple[int, int]] = []
    start = 0
    while start < length:
        end = position = start
        while position <= end:
            end = max(end, reach.get(position, position))
            position += 1
        ranges.append((start, end + 1))
        start = end + 1
    return ranges


def _closes_too_much(tactic: str) -> bool:
    depth = 0
    for found in _PARENTHESIS.findall(mask(tactic)):
        depth += {"(": 1, ")": -1}.get(found, 0)
        if depth < 0:
            return True
    return False
