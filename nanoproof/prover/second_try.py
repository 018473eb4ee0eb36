"""Tactics that ran out of time in a search that found no proof, tried once more where nothing else keeps Lean busy.

The simulations of the search are spent, and none is added: a tactic that works now only counts, unless it closes its
branch and nothing else was missing. Then there is a proof, which the search would have found with a faster answer.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nanoproof.lean.wire import Branch, TacticApplied
from nanoproof.prover.proof import Proof, Step
from nanoproof.prover.replay import Remembering, Replayed, replay
from nanoproof.prover.targets import edge_step, extract_proof, proof_depths
from nanoproof.search.expand import SearchLog, TacticRunner, TimedOut
from nanoproof.search.node import Kind, Node

MAX_TRIES = 4
"""So many tactics of a theorem are tried once more."""


@dataclass(frozen=True, slots=True)
class SecondTry:
    """A tactic to try once more. No node of the tree is kept.

    `way` leads to its branch: the tactics from the start on, and which of the branches that each leaves is the next.
    `proof` is that of the theorem if the tactic closes its branch; empty if more is missing.
    """

    tactic: str
    prior: float
    way: tuple[tuple[str, int], ...]
    proof: Proof


@dataclass(frozen=True, slots=True)
class SecondTries:
    """What came of second tries: how many were made, how many tactics worked, and a proof if there is one now."""

    retried: int
    passed: int
    proof: Replayed | None


def second_tries(log: SearchLog) -> tuple[SecondTry, ...]:
    """What to try once more after a search without success: what may finish the proof first, then by prior."""
    waiting: dict[tuple[tuple[str, ...], str], TimedOut] = {}
    for (node, tactic), one in log.timed_out.items():
        if tactic not in node.known and not any(above.solved or above.dead for above in one.path):
            waiting.setdefault((node.key, tactic), one)
    ordered = sorted(waiting.values(), key=lambda one: (not _finishes(one.path), -one.prior))
    return tuple(
        SecondTry(one.tactic, one.prior, _way(one.path), _proof(one) if _finishes(one.path) else ())
        for one in ordered[:MAX_TRIES]
    )


def run_second_tries(lean: TacticRunner, start: Branch, tries: Iterable[SecondTry]) -> SecondTries:
    """Try the tactics one at a time, until there is a proof. LeanError if the server fails."""
    lean = Remembering(lean)
    retried = passed = 0
    for one in tries:
        branch = _follow(lean, start, one.way)
        if branch is None:
            continue
        retried += 1
        result = lean.apply(branch, [one.tactic])[0]
        if not isinstance(result, TacticApplied):
            continue
        passed += 1
        if not result.branches and one.proof and (proof := replay(lean, start, one.proof)) is not None:
            return SecondTries(retried, passed, proof)
    return SecondTries(retried, passed, None)


def _finishes(path: Sequence[Node]) -> bool:
    """Whether the root is solved once the last node of a path is."""
    return all(
        other.solved
        for node, below in pairwise(path)
        if node.kind is Kind.AND
        for other in node.children
        if other is not below
    )


def _way(path: Sequence[Node]) -> tuple[tuple[str, int], ...]:
    way: list[tuple[str, int]] = []
    for node, below in pairwise(path):
        if node.kind is Kind.AND:
            way[-1] = way[-1][0], node.children.index(below)
        else:
            way.append((below.tactic or "", 0))
    return tuple(way)


def _proof(one: TimedOut) -> Proof:
    """The proof of the root in which the tactic closes the last node of its path."""
    before: list[Step] = []
    behind: list[Step] = []
    for node, below in pairwise(one.path):
        if node.kind is not Kind.AND:
            before.append(edge_step(node, below))
            continue
        place = node.children.index(below)
        before += _proofs_of(node.children[:place])
        behind = [*_proofs_of(node.children[place + 1 :]), *behind]
    state = one.path[-1].state
    return (*before, Step(one.tactic, 0, state, state.count("\n\n") + 1, one.finisher), *behind)


def _proofs_of(nodes: Sequence[Node]) -> list[Step]:
    return [step for node in nodes for step in extract_proof(node, proof_depths(node))]


def _follow(lean: TacticRunner, start: Branch, way: Sequence[tuple[str, int]]) -> Branch | None:
    """The branch at the end of a way; None if the way is not there any more."""
    branch = start
    for tactic, position in way:
        result = lean.apply(branch, [tactic])[0]
        if not isinstance(result, TacticApplied) or position >= len(result.branches):
            return None
        branch = result.branches[position]
    return branch
