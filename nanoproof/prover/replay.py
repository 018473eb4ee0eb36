"""After the search: replay of the proof in a solved tree, its simplification, and retries of tactics that timed out."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from nanoproof.lean.lexical import CLOSING, OPENING
from nanoproof.lean.types import Branch, TacticApplied, TacticFailed
from nanoproof.prover.proof import (
    Proof,
    SolvedStates,
    Step,
    chosen_edges,
    edge_step,
    ends_of,
    extract_proof,
    proof_depths,
    shortest,
    subproofs,
)
from nanoproof.search.expand import SearchLog, TacticRunner, TimedOut
from nanoproof.search.node import Kind, Node

# -- Replay ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Replayed:
    """A proof that worked, its steps as they were run, and the branch that each of them worked on."""

    steps: Proof
    branches: tuple[Branch, ...]


class MemoizedLean:
    """Lean with memory: a tactic is not run twice on a branch.

    If it is `patient`, a tactic that ran out of time is run once more: the machine may have been busy.
    """

    def __init__(self, lean: TacticRunner, patient: bool = False) -> None:
        self._lean, self._patient = lean, patient
        self._known: dict[tuple[int, str], tuple[Branch, TacticApplied | TacticFailed]] = {}

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]:
        """Return the results of tactics on a branch; only those not run there before are run."""
        new = [tactic for tactic in dict.fromkeys(tactics) if (id(branch), tactic) not in self._known]
        if new:
            for tactic, result in zip(new, self._lean.apply(branch, new), strict=True):
                if self._patient and isinstance(result, TacticFailed) and result.kind == "timeout":
                    result = self._lean.apply(branch, [tactic])[0]
                self._known[id(branch), tactic] = (branch, result)  # with the branch, whose id stays taken
        return [self._known[id(branch), tactic][1] for tactic in tactics]


def replay_tree(lean: TacticRunner, branch: Branch, root: Node) -> Replayed | None:
    """Replay the proof of a solved tree from `branch`: of least depth, then shortest text, among those that work.

    The search saw every edge work, but Lean may have changed since (another process; a tree that was read from a file)
    and may be slower now. An edge that no longer works is given up, and the best proof without it is tried.
    """
    memoized = MemoizedLean(lean, patient=True)
    broken: set[Node] = set()
    while root in (costs := proof_depths(root, without=broken)):
        replayed, position = _replay(memoized, branch, extract_proof(root, costs))
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
    """Replay as `replay` does; returns also the step that it stopped at."""
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
        other_spellings = tuple(spelling for spelling in (step.tactic, *step.spellings) if spelling != tactic)
        # The state as it is now: `case` tags may differ from those of the tree, and layout goes by them.
        done.append(
            replace(
                step,
                tactic=tactic,
                branches=len(result.branches),
                state=current.state.text,
                goals=len(current.state.goals),
                spellings=other_spellings,
            )
        )
        branches.append(current)
        stack.extend(reversed(result.branches))
        if result.branches:
            position += 1
        else:
            position = ends[position]  # for a step that closes, that is the next one as well
    return Replayed(tuple(done), tuple(branches)), position


def _run(lean: TacticRunner, branch: Branch, step: Step, below: list[str]) -> tuple[str, TacticApplied] | None:
    """Run the first spelling that leaves the states `below`; if none does or the branch differs, the first to work."""
    first: tuple[str, TacticApplied] | None = None
    for tactic in (step.tactic, *step.spellings):
        result = lean.apply(branch, [tactic])[0]
        if isinstance(result, TacticApplied) and len(result.branches) in (0, step.branches):
            states = [child.state.text for child in result.branches]
            if states in ([], below) or branch.state.text != step.state:
                return tactic, result
            first = first or (tactic, result)
    return first


def _states_below(steps: Proof, ends: list[int], position: int) -> list[str]:
    """Return the states of the branches that a step leaves."""
    states, start = [], position + 1
    for _ in range(steps[position].branches):
        states.append(steps[start].state)
        start = ends[start]
    return states


# -- Simplification --------------------------------------------------------------------------------------------------
# A shorter proof is better training data: its values are smaller, and tactics that did nothing are not learned.

Candidates = Callable[[Replayed, int, int], Iterator[Proof]]
"""Yields shorter proofs to try for the branch of the step at the first position, whose proof ends before the second."""


def simplify(
    lean: TacticRunner, proof: Replayed, solved: SolvedStates, may_continue: Callable[[], bool] = lambda: True
) -> Replayed:
    """Simplify a proof; returns one of the same branch, never longer, all of whose steps were run.

    From the root on, each subproof is replaced by the first shorter one that still works when it is replayed:
    a proof that the tree holds for the same state; what followed the step, without it (also the proof of one of the
    branches of a split, instead of all); and in a second round what followed later, without all that came before.
    This is repeated until nothing changes. In the end a step that lists several ways to close its branch, such as
    `induction n <;> first | omega | grind`, says the one that does. `may_continue` is asked before each replay.
    """
    lean = MemoizedLean(lean)

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
    return _pass(lean, proof, _one_way, may_continue)


def _later_parts(proof: Replayed, start: int, end: int) -> Iterator[Proof]:
    """Yield every subproof below a step; among them the tactics that close a branch, which may close this one."""
    ends = ends_of(proof.steps)
    yield from shortest([proof.steps[later : ends[later]] for later in range(start + 1, end)])


def _one_way(proof: Replayed, start: int, end: int) -> Iterator[Proof]:
    """Yield the proof with one of the ways that its step lists, the shortest first: what a reader wants to see."""
    step = proof.steps[start]
    for tactic in sorted(ways(step.tactic), key=len):
        yield (replace(step, tactic=tactic, spellings=()), *proof.steps[start + 1 : end])


_ATTEMPT = re.compile(r" <;> \((?:try|repeat') [^()]*\)")


def ways(tactic: str) -> list[str]:
    """List what a tactic may be shortened to: one way of its outermost `first | a | b`, or without it or an attempt."""
    plain = []
    for attempt in _ATTEMPT.finditer(tactic):
        plain.append(tactic[: attempt.start()] + tactic[attempt.end() :])
    before, first, listed = tactic.partition("first | ")
    if not first:
        return plain
    alternatives, after = _alternatives(listed)
    for alternative in alternatives:
        is_last = not after and before.endswith("<;> ")
        if is_last and alternative.startswith("(") and alternative.endswith(")"):
            alternative = alternative[1:-1]  # `a <;> (b <;> c)` closes what `a <;> b <;> c` does
        plain.append(before + alternative + after)
    if before.endswith(" <;> "):
        plain.append(before.removesuffix(" <;> ") + after)
    return plain


def _alternatives(listed: str) -> tuple[list[str], str]:
    """Split `a | b) <;> c` into its alternatives `a` and `b` and what follows from the closing bracket on."""
    alternatives: list[str] = []
    start = depth = 0
    for place, character in enumerate(listed):
        depth += (character in OPENING) - (character in CLOSING)
        if depth < 0:
            return [*alternatives, listed[start:place]], listed[place:]
        if depth == 0 and listed.startswith(" | ", place):
            alternatives.append(listed[start:place])
            start = place + len(" | ")
    return [*alternatives, listed[start:]], ""


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
    """Return the proof with a shorter subproof from step `position` on; None if no candidate works."""
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


# -- Second tries of tactics that ran out of time --------------------------------------------------------------------
# The simulations of the search are spent, and none is added: a tactic that works now is only counted, unless it closes
# its branch and nothing else was missing. Then there is a proof that the search would have found with a faster answer.

MAX_TRIES = 4
"""Most tactics of a theorem that are tried once more."""


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
    """The result of second tries: how many were made, how many tactics worked, and a proof if there is one now."""

    retried: int
    passed: int
    proof: Replayed | None


def second_tries(log: SearchLog) -> tuple[SecondTry, ...]:
    """Collect what to try once more after a search without success: what may finish the proof first, then by prior."""
    waiting: dict[tuple[tuple[str, ...], str], TimedOut] = {}
    for (node, tactic), timed_out in log.timed_out.items():
        # Known: it was sampled again in a later expansion, and was fast enough then.
        if tactic not in node.known and not any(above.solved or above.dead for above in timed_out.path):
            waiting.setdefault((node.key, tactic), timed_out)
    ordered = sorted(waiting.values(), key=lambda timed_out: (not _finishes(timed_out.path), -timed_out.prior))
    tries = []
    for timed_out in ordered[:MAX_TRIES]:
        proof: Proof = ()
        if _finishes(timed_out.path):
            proof = _proof(timed_out)
        tries.append(SecondTry(timed_out.tactic, timed_out.prior, _way(timed_out.path), proof))
    return tuple(tries)


def run_second_tries(lean: TacticRunner, start: Branch, tries: Iterable[SecondTry]) -> SecondTries:
    """Try the tactics one at a time, until there is a proof. Raises LeanError if the server fails."""
    lean = MemoizedLean(lean)
    retried = passed = 0
    for second_try in tries:
        branch = _follow(lean, start, second_try.way)
        if branch is None:
            continue
        retried += 1
        result = lean.apply(branch, [second_try.tactic])[0]
        if not isinstance(result, TacticApplied):
            continue
        passed += 1
        if result.branches or not second_try.proof:
            continue
        proof = replay(lean, start, second_try.proof)
        if proof is not None:
            return SecondTries(retried, passed, proof)
    return SecondTries(retried, passed, None)


def _finishes(path: Sequence[Node]) -> bool:
    """Tell whether the root is solved once the last node of a path is."""
    for node, below in pairwise(path):
        if node.kind is not Kind.AND:
            continue
        if not all(sibling.solved for sibling in node.children if sibling is not below):
            return False
    return True


def _way(path: Sequence[Node]) -> tuple[tuple[str, int], ...]:
    way: list[tuple[str, int]] = []
    for node, below in pairwise(path):
        # An AND node stands below the edge of its tactic: it says which of the branches that this left is the next.
        if node.kind is Kind.AND:
            way[-1] = way[-1][0], node.children.index(below)
        else:
            way.append((below.tactic or "", 0))
    return tuple(way)


def _proof(timed_out: TimedOut) -> Proof:
    """Build the proof of the root in which the tactic closes the last node of its path."""
    # In the order of the text: what the branches to the left of the path need comes before the tactic, what those to
    # the right need after it, the innermost first.
    before: list[Step] = []
    after: list[Step] = []
    for node, below in pairwise(timed_out.path):
        if node.kind is not Kind.AND:
            before.append(edge_step(node, below))
            continue
        index = node.children.index(below)
        before += _proofs_of(node.children[:index])
        after = [*_proofs_of(node.children[index + 1 :]), *after]
    state = timed_out.path[-1].state
    closing = Step(timed_out.tactic, 0, state, state.count("\n\n") + 1, timed_out.finisher)
    return (*before, closing, *after)


def _proofs_of(nodes: Sequence[Node]) -> list[Step]:
    steps: list[Step] = []
    for node in nodes:
        steps += extract_proof(node, proof_depths(node))
    return steps


def _follow(lean: TacticRunner, start: Branch, way: Sequence[tuple[str, int]]) -> Branch | None:
    """Run a way; returns the branch at its end, None if a tactic no longer works."""
    branch = start
    for tactic, position in way:
        result = lean.apply(branch, [tactic])[0]
        if not isinstance(result, TacticApplied) or position >= len(result.branches):
            return None
        branch = result.branches[position]
    return branch
