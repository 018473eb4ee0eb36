"""Making a proof shorter: leave out steps it does not need, take shorter ways that the search found elsewhere.

A shorter proof is a better lesson: its values are smaller, and tactics that did nothing are not learned.
"""

from collections.abc import Callable, Iterator

from nanoproof.prover.proof import Proof, ends_of, shortest, subproofs
from nanoproof.prover.replay import Remembering, Replayed, replay
from nanoproof.prover.targets import SolvedStates
from nanoproof.search.expand import TacticRunner

Candidates = Callable[[Replayed, int, int], Iterator[Proof]]
"""Shorter proofs to try for the branch of the step at the first position, whose proof ends before the second."""


def simplify(
    lean: TacticRunner, proof: Replayed, solved: SolvedStates, may_continue: Callable[[], bool] = lambda: True
) -> Replayed:
    """A proof of the same branch, never longer, all of whose steps were run.

    From the root on, each part of the proof is replaced by the first shorter one that still works when it is replayed:
    a proof that the tree holds for the same state; what followed the step, without it (also the proof of one of the
    branches of a split, instead of all); and in a second round what followed later, without all that came before.
    This is repeated until nothing changes. `may_continue` is asked before each replay.
    """
    lean = Remembering(lean)

    def known_or_next(proof: Replayed, start: int, end: int) -> Iterator[Proof]:
        known = solved.proof_of(proof.steps[start].state, shorter_than=end - start)
        if known is not None:
            yield known
        yield from shortest(subproofs(proof.steps, start))

    for candidates in (known_or_next, _later_parts):
        before = 0
        while before != len(proof.steps):
            before = len(proof.steps)
            proof = _pass(lean, proof, candidates, may_continue)
    return proof


def _later_parts(proof: Replayed, start: int, end: int) -> Iterator[Proof]:
    """Every part of the proof below a step; among them the tactics that close a branch, which may close this one."""
    ends = ends_of(proof.steps)
    yield from shortest([proof.steps[later : ends[later]] for later in range(start + 1, end)])


def _pass(lean: TacticRunner, proof: Replayed, candidates: Candidates, may_continue: Callable[[], bool]) -> Replayed:
    position = 0
    while position < len(proof.steps) and may_continue():
        shorter = _shorten_at(lean, proof, position, candidates, may_continue)
        if shorter is None:
            position += 1
        else:
            proof = shorter
    return proof


def _shorten_at(
    lean: TacticRunner, proof: Replayed, position: int, candidates: Candidates, may_continue: Callable[[], bool]
) -> Replayed | None:
    """The proof with a shorter part from step `position` on; None if no candidate works."""
    end = ends_of(proof.steps)[position]
    for candidate in candidates(proof, position, end):
        if not may_continue():
            return None
        part = replay(lean, proof.branches[position], candidate)
        if part is not None:
            return Replayed(
                proof.steps[:position] + part.steps + proof.steps[end:],
                proof.branches[:position] + part.branches + proof.branches[end:],
            )
    return None
