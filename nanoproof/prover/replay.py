"""Replaying: does a list of tactics prove a branch?"""

from dataclasses import dataclass, replace

from nanoproof.lean.wire import Branch, TacticApplied
from nanoproof.prover.proof import Proof, Step, end_of
from nanoproof.search.expand import TacticRunner


@dataclass(frozen=True, slots=True)
class Replayed:
    """A proof that worked, its steps as they were run, and the branch that each of them worked on."""

    steps: Proof
    branches: tuple[Branch, ...]


def replay(lean: TacticRunner, branch: Branch, steps: Proof) -> Replayed | None:
    """Run a proof from `branch`; None if a tactic fails or leaves another number of branches than it should.

    Where a tactic fails its other spellings are tried. Steps below one that already closes its branch are left out.
    """
    done: list[Step] = []
    branches: list[Branch] = []
    stack = [branch]
    position = 0
    while position < len(steps):
        current, step = stack.pop(), steps[position]
        ran = _run(lean, current, step)
        if ran is None:
            return None
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
        position = position + 1 if result.branches else end_of(steps, position)
    return Replayed(tuple(done), tuple(branches))


def _run(lean: TacticRunner, branch: Branch, step: Step) -> tuple[str, TacticApplied] | None:
    for tactic in (step.tactic, *step.spellings):
        result = lean.apply(branch, [tactic])[0]
        if isinstance(result, TacticApplied) and len(result.branches) in (0, step.branches):
            return tactic, result
    return None
