"""A proof as a flat list of steps.

Steps stand in the order in which the finished text has them: a step, then the proof of its first branch, then that of
its second. The number of branches that each step leaves is enough to find the structure again, so nothing here is
recursive and a part of a proof is a slice.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """One tactic of a proof.

    `state` is the text of the branch it works on, which holds `goals` goals; `branches` is the number of branches it
    leaves (0 closes). `spellings` are other tactics known to do the same; `finisher` if no policy suggested it.
    """

    tactic: str
    branches: int
    state: str
    goals: int
    finisher: bool = False
    spellings: tuple[str, ...] = ()

    @property
    def tag(self) -> str | None:
        """The case tag of the first goal of its branch, None if that has none."""
        first = self.state.split("\n", 1)[0]
        return first.removeprefix("case ") if first.startswith("case ") else None


Proof = tuple[Step, ...]


def end_of(steps: Sequence[Step], start: int) -> int:
    """Where the part that begins with step `start` ends: the index after the last step that works below it."""
    open_branches = 1
    while open_branches:
        open_branches += steps[start].branches - 1
        start += 1
    return start


def ends_of(steps: Sequence[Step]) -> list[int]:
    """For each step where the part that begins with it ends (`end_of`), for all steps at once."""
    ends = [0] * len(steps)
    for start in range(len(steps) - 1, -1, -1):
        end = start + 1
        for _ in range(steps[start].branches):
            end = ends[end]
        ends[start] = end
    return ends


def subproofs(steps: Proof, start: int) -> list[Proof]:
    """The proofs of the branches that step `start` leaves."""
    found = []
    position = start + 1
    for _ in range(steps[start].branches):
        end = end_of(steps, position)
        found.append(steps[position:end])
        position = end
    return found


def depths(steps: Sequence[Step]) -> list[int]:
    """For each step how many tactics are still needed with it, along the longest of its branches (at least 1)."""
    result = [0] * len(steps)
    below: list[int] = []
    for i in range(len(steps) - 1, -1, -1):
        count = steps[i].branches
        result[i] = 1 + max(below[len(below) - count :], default=0)
        del below[len(below) - count :]
        below.append(result[i])
    return result


def shortest(proofs: Sequence[Proof]) -> list[Proof]:
    """Sorted by number of steps, then by length of text."""
    return sorted(proofs, key=lambda steps: (len(steps), sum(len(step.tactic) for step in steps)))
