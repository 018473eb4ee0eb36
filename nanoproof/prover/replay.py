"""Replaying: does a list of tactics prove a branch, and which proof in a solved tree does?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nanoproof.lean.wire import Branch, TacticApplied, TacticFailed
from nanoproof.prover.proof import Proof, Step, ends_of
from nanoproof.prover.targets import chosen_edges, extract_proof, proof_depths
from nanoproof.search.expand import TacticRunner
from nanoproof.search.node import Node


@dataclass(frozen=True, slots=True)
class Replayed:
    """A proof that worked, its steps as they were run, and the branch that each of them worked on."""

    steps: Proof
    branches: tuple[Branch, ...]


class Remembering:
    """Lean, asked no question twice: what a tactic did to a branch is known when it is run there again.

    If it is `patient`, a tactic that ran out of time is run once more: what worked before may have met a busy machine.
    """

    def __init__(self, lean: TacticRunner, patient: bool = False) -> None:
        self._lean, self._patient = lean, patient
        self._known: dict[tuple[int, str], tuple[Branch, TacticApplied | TacticFailed]] = {}

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]:
        new = [tactic for tactic in dict.fromkeys(tactics) if (id(branch), tactic) not in self._known]
        if new:
            for tactic, result in zip(new, self._lean.apply(branch, new), strict=True):
                if self._patient and isinstance(result, TacticFailed) and result.kind == "timeout":
                    result = self._lean.apply(branch, [tactic])[0]
                self._known[id(branch), tactic] = (branch, result)  # with the branch, whose id stays taken
        return [self._known[id(branch), tactic][1] for tactic in tactics]


def replay_tree(lean: TacticRunner, branch: Branch, root: Node) -> Replayed | None:
    """The proof of a solved tree, run from `branch`; of least depth, then shortest text, among those that still work.

    The search saw every edge work, but Lean may have changed since (another process; a tree that was read from a file)
    and may be slower now. An edge that no longer works is given up, and the best proof without it is tried.
    """
    remembering = Remembering(lean, patient=True)
    broken: set[Node] = set()
    while root in (costs := proof_depths(root, without=broken)):
        replayed, position = _replay(remembering, branch, extract_proof(root, costs))
        if replayed is not None:
            return replayed
        broken.add(chosen_edges(root, costs)[position])
    return None


def replay(lean: TacticRunner, branch: Branch, steps: Proof) -> Replayed | None:
    """Run a proof from `branch`; None if a tactic fails or leaves another number of branches than it should.

    Where a tactic fails its other spellings are tried, and where it leaves other texts than those that the steps below
    were found for (`case` tags differ, say): one that leaves these is taken first. Steps below one that already closes
    its branch are left out.
    """
    return _replay(lean, branch, steps)[0]


def _replay(lean: TacticRunner, branch: Branch, steps: Proof) -> tuple[Replayed | None, int]:
    """What `replay` says, and the step that it stopped at."""
    done: list[Step] = []
    branches: list[Branch] = []
    stack = [branch]
    ends = ends_of(steps)
    position = 0
    while position < len(steps):
        current, step = stack.pop(), steps[position]
        ran = _run(lean, current, step, _states_below(steps, ends, position))
        if ran is None:
            return None, position
        tactic, result = ran
        done.append(
            replace(
                step,
                tactic=tactic,
                branches=len(result.branches),
                state=current.state.text,
                goals=len(current.state.goals),
                spellings=tuple(s for s in (step.tactic, *step.spellings) if s != tactic),
            )
        )
        branches.append(current)
        stack.extend(reversed(result.branches))
        position = position + 1 if result.branches else ends[position]
    return Replayed(tuple(done), tuple(branches)), position


def _run(lean: TacticRunner, branch: Branch, step: Step, below: list[str]) -> tuple[str, TacticApplied] | None:
    """The first spelling that leaves the states `below`; if none does or the branch is another, the first to work."""
    first: tuple[str, TacticApplied] | None = None
    for tactic in (step.tactic, *step.spellings):
        result = lean.apply(branch, [tactic])[0]
        if isinstance(result, TacticApplied) and len(result.branches) in (0, step.branches):
            states = [one.state.text for one in result.branches]
            if states in ([], below) or branch.state.text != step.state:
                return tactic, result
            first = first or (tactic, result)
    return first


def _states_below(steps: Proof, ends: list[int], position: int) -> list[str]:
    """The states of the branches that a step leaves."""
    states, start = [], position + 1
    for _ in range(steps[position].branches):
        states.append(steps[start].state)
        start = ends[start]
    return states
