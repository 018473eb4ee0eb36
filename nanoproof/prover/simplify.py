"""Making a proof shorter: leave out steps it does not need, take shorter ways that the search found elsewhere.

A shorter proof is a better lesson: its values are smaller, and tactics that did nothing are not learned.
"""

from collections.abc import Callable, Iterator

from nanoproof.prover.proof import Proof, end_of, shortest, subproofs
from nanoproof.prover.replay import Replayed, replay
from nanoproof.prover.targets import SolvedStates
from nanoproof.search.expand import TacticRunner


def simplify(
    lean: TacticRunner, proof: Replayed, solved: SolvedStates, may_continue: Callable[[], bool] = lambda: True
) -> Replayed:
    """A proof of the same branch, never longer, all of whose steps were run.

    From the root on, each part of the proof is replaced by the first shorter one that still works when it is replayed.
    `may_continue` is asked before each replay.
    """
    position = 0
    while position < len(proof.steps):
        shorter = _shorten_at(lean, proof, position, solved, may_continue)
        if shorter is None:
            position += 1
        else:
            proof = shorter
    return proof


def _shorten_at(
    lean: TacticRunner, proof: Replayed, position: int, solved: SolvedStates, may_continue: Callable[[], bool]
) -> Replayed | None:
    """The proof with a shorter part from step `position` on; None if no candidate works."""
    end = end_of(proof.steps, position)
    for candidate in _candidates(proof, position, end, solved):
        if not may_continue():
            return None
        part = replay(lean, proof.branches[position], candidate)
        if part is not None:
            return Replayed(
                proof.steps[:position] + part.steps + proof.steps[end:],
                proof.branches[:position] + part.branches + proof.branches[end:],
            )
    return None


def _candidates(proof: Replayed, position: int, end: int, solved: SolvedStates) -> Iterator[Proof]:
    """Shorter proofs to try for the branch of step `position`: what the tree knows, then the rest without the step."""
    known = solved.proof_of(proof.branches[position].state.merge_key)
    if known is not None and len(known) < end - position:
        yield known
    yield from shortest(subproofs(proof.steps, position))
