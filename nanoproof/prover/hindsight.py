"""Hindsight: subgoals that a failed search solved, each proved once more as a theorem of its own.

A search that fails at a theorem may have solved some of the branches that its tactics left. HyperTree Proof Search
(Lample et al. 2022) trains on such subgoals; the word is from Andrychowicz et al. 2017. A subgoal stands alone if its
text says all of it: its hypotheses become binders and its target the claim. What is learned is not what the search saw,
but the proof of that theorem, which Lean runs from the start and which passes the same final check as any other.

Counted are, in `Attempt.counts` with `hindsight_` before the name:

    found         solved subgoals, those inside of others left out
    subgoals      those that were proved as theorems
    transitions   what they give
    tactics       tactics that were run for it
    coupled, metavariable, inaccessible, let    left out because they do not stand alone
    finisher      left out since finishers alone proved them
    one_tactic    left out since there were enough proofs of a single tactic
    repeated      left out since an earlier attempt had them, with as short a proof
    over_limit    left out by the limits on the work
    misread       Lean refuses the text as a statement, or reads another goal in it
    refused       the proof did not replay, or did not pass the final check
    lost          the server did neither accept nor refuse it; the others were left
"""

import hashlib
import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from nanoproof.common.config import opt, validate
from nanoproof.lean.repl_goals import metavariables
from nanoproof.lean.source import restate
from nanoproof.lean.types import Branch, Goal, LeanCalls, LeanError, ProofState, TacticResult, Theorem, TheoremRejected
from nanoproof.prover.attempt import SolvedSubgoal
from nanoproof.prover.check import check_proof
from nanoproof.prover.linearize import layouts
from nanoproof.prover.proof import Proof, SolvedStates, chosen_edges, extract_proof, proof_sizes, transitions_of
from nanoproof.prover.replay import replay_tree, simplify
from nanoproof.search.node import Kind, Node

MAX_ONE_TACTIC_SHARE = 0.25
"""Proofs of a single tactic give at most this part of the transitions of an attempt: most states teach that anyway."""
MAX_REMEMBERED = 100_000
_INSTANCE = re.compile(r"inst✝[⁰¹²³⁴⁵⁶⁷⁸⁹]*")

# -- Which subgoals, and what they say -------------------------------------------------------------------------------


def solved_subgoals(root: Node) -> tuple[list[tuple[Node, Proof]], Counter[str]]:
    """Find the solved subgoals of an unsolved tree that stand alone, with their proofs; long proofs come first.

    A subgoal inside the proof of another is found only if the outer one does not stand alone. Of equal subgoals it is
    the one of the shortest proof. Returns also the counts of what was found and left out.
    """
    sizes = proof_sizes(root)
    counts: Counter[str] = Counter()
    found: dict[str, Node] = {}
    outermost: set[str] = set()
    stack = [(root, False)]
    while stack:
        node, inside = stack.pop()
        if not node.solved or node.kind is not Kind.OR:
            stack += [(child, inside) for child in reversed(node.children)]
            continue
        is_new = not inside and node.key[0] not in outermost
        outermost.update(() if inside else node.key)
        counts["found"] += is_new
        reason = why_not_alone(node)
        if reason is None:
            best = found.setdefault(node.key[0], node)
            if sizes[node] < sizes[best]:
                found[node.key[0]] = node
        else:
            counts[reason] += is_new
            stack.append((chosen_edges(node, sizes)[0], True))
    longest = sorted(found.values(), key=lambda node: -sizes[node])
    return [(node, extract_proof(node, sizes)) for node in longest], counts


def why_not_alone(node: Node) -> str | None:
    """Return why the text of an OR node's state is no statement of its own; None if it is one."""
    assert node.branch is not None, "only nodes of a running search have their goals"
    return why_no_statement(node.branch.state)


def why_no_statement(state: ProofState) -> str | None:
    """Return why the text of a state is no statement of its own; None if it is one."""
    if len(state.goals) != 1:
        return "coupled"
    if metavariables(state.text):
        return "metavariable"
    (goal,) = state.goals
    if any(hypothesis.value is not None for hypothesis in goal.hypotheses):
        return "let"
    names = [hypothesis.user_name for hypothesis in goal.hypotheses if not _INSTANCE.fullmatch(hypothesis.user_name)]
    texts = [*names, goal.type, *(hypothesis.type for hypothesis in goal.hypotheses)]
    return "inaccessible" if any("✝" in text for text in texts) else None


def statement_of_goal(goal: Goal) -> str:
    """Write a goal as a statement, `(x : ℕ) (h : 0 < x) : 1 ≤ x`; instances without a name become `[C]`."""
    binders = []
    for (kind, is_instance), group in groupby(
        goal.hypotheses, lambda hypothesis: (hypothesis.type, _INSTANCE.fullmatch(hypothesis.user_name) is not None)
    ):
        names = [hypothesis.user_name for hypothesis in group]
        binders += [f"[{kind}]"] * len(names) if is_instance else [f"({' '.join(names)} : {kind})"]
    return " ".join([*binders, ":", goal.type])


def theorem_of_subgoal(theorem: Theorem, goal: Goal) -> Theorem:
    """State a subgoal as a theorem, in place of the one whose search met it. Raises SourceError as `restate` does."""
    statement = statement_of_goal(goal)
    digest = hashlib.sha256(statement.encode("utf-8", "surrogatepass")).hexdigest()
    return Theorem(restate(theorem.source, f"subgoal_{digest[:16]}", statement), theorem.dataset, theorem.id)


# -- Proving them again ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HindsightLimits:
    """Hindsight"""

    subgoals: int = opt(
        8, "With hindsight: so many solved subgoals of a failed search are proved again, at most.", min=1, advanced=True
    )
    tactics: int = opt(
        100, "With hindsight: tactics that may be run for that after a failed search.", min=1, advanced=True
    )

    def __post_init__(self) -> None:
        validate(self, "hindsight")


class Hindsight:
    """Collects the solved subgoals of failed searches. Safe to use from many threads.

    It remembers the newest `MAX_REMEMBERED` statements with the size of their shortest proof: the next attempt at a
    theorem tends to solve the same subgoals.
    """

    def __init__(self, limits: HindsightLimits) -> None:
        self.limits = limits
        self._lock = threading.Lock()
        self._sizes: OrderedDict[bytes, int] = OrderedDict()

    def collect(
        self,
        lean: LeanCalls,
        root: Node,
        theorem: Theorem,
        simplifying: bool,
        may_continue: Callable[[], bool] = lambda: True,
    ) -> tuple[tuple[SolvedSubgoal, ...], dict[str, int]]:
        """Prove the solved subgoals of an unsolved tree as theorems; returns these, and the counts.

        `theorem` is what the search was to prove. Never raises for what Lean or its servers do.
        """
        work = _Collecting(self, lean, root, theorem, simplifying, may_continue)
        try:
            work.run()
        except LeanError:
            work.counts["lost"] += 1
        counts = work.counts
        counts.update(
            subgoals=len(work.proved),
            transitions=sum(len(subgoal.transitions) for subgoal in work.proved),
            tactics=work.tactics,
        )
        return tuple(work.proved), {f"hindsight_{name}": count for name, count in counts.items() if count}

    def knows(self, source: str, size: int) -> bool:
        """Return whether a statement was dealt with when its proof was as short."""
        with self._lock:
            return self._sizes.get(_digest(source), size + 1) <= size

    def remember(self, source: str, size: int) -> None:
        """Note that a statement with a proof of this size was dealt with."""
        with self._lock:
            self._sizes[_digest(source)] = size
            if len(self._sizes) > MAX_REMEMBERED:
                self._sizes.popitem(last=False)


def _digest(source: str) -> bytes:
    return hashlib.blake2b(source.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class _Collecting:
    """The work after one failed search: a runner of tactics that counts them, and what came of it so far."""

    def __init__(
        self,
        hindsight: Hindsight,
        lean: LeanCalls,
        root: Node,
        theorem: Theorem,
        simplifying: bool,
        may_continue: Callable[[], bool],
    ) -> None:
        self._hindsight, self._lean, self._theorem = hindsight, lean, theorem
        self._simplifying, self._may_continue = simplifying, may_continue
        self._solved = SolvedStates(root)
        self._nodes, self.counts = solved_subgoals(root)
        self.proved: list[SolvedSubgoal] = []
        self.tactics = 0

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticResult]:
        self.tactics += len(tactics)
        return self._lean.apply(branch, tactics)

    def run(self) -> None:
        limits, begun = self._hindsight.limits, 0
        for node, proof in self._nodes:
            if not self._may_continue():
                return
            if begun >= limits.subgoals or self.tactics + len(proof) > limits.tactics:
                self.counts["over_limit"] += 1
            elif reason := self._useless(proof):
                self.counts[reason] += 1
            else:
                begun += self._is_dealt_with(node, proof, limits.tactics // limits.subgoals)

    def _is_dealt_with(self, node: Node, found: Proof, simplification_tactics: int) -> bool:
        """Prove a subgoal as a theorem; returns whether that took any work."""
        assert node.branch is not None, "only nodes of a running search have their goals"
        stated = theorem_of_subgoal(self._theorem, node.branch.state.goals[0])
        if self._hindsight.knows(stated.source, len(found)):
            self.counts["repeated"] += 1
            return False
        proof = self._replayed(stated, node, simplification_tactics)
        if isinstance(proof, str):
            self.counts[proof] += 1
            self._hindsight.remember(stated.source, len(found))
        elif reason := self._useless(proof):
            self.counts[reason] += 1
        else:
            self.counts["refused"] += not self._accepts(stated, proof)
            self._hindsight.remember(stated.source, len(proof))
        return True

    def _useless(self, proof: Proof) -> str | None:
        """Return why there is no use for a proof; None if there is."""
        if all(step.finisher for step in proof):
            return "finisher"
        transitions = sum(len(subgoal.transitions) for subgoal in self.proved)
        short = sum(subgoal.num_tactics == 1 for subgoal in self.proved)
        too_many = short + 1 > MAX_ONE_TACTIC_SHARE * (transitions + 1)
        return "one_tactic" if len(proof) == 1 and too_many else None

    def _replayed(self, stated: Theorem, node: Node, simplification_tactics: int) -> Proof | str:
        """Run the proof of a node as that of its theorem, and shorten it; returns else why that is not possible."""
        try:
            start = self._lean.start(stated)
        except TheoremRejected:
            return "misread"
        if (start.state.merge_key,) != node.key:
            return "misread"
        replayed = replay_tree(self, start, node)
        if replayed is None:
            return "refused"
        if not self._simplifying:
            return replayed.steps
        limit = self.tactics + simplification_tactics
        return simplify(self, replayed, self._solved, lambda: self.tactics < limit and self._may_continue()).steps

    def _accepts(self, stated: Theorem, proof: Proof) -> bool:
        """Put a proof through the final check, and keep it if it passes."""
        for text in layouts(proof):
            verdict = check_proof(self._lean, stated, text, replayed=True)
            if verdict.accepted:
                kept = SolvedSubgoal(verdict.source, text, len(proof), transitions_of(proof), verdict.to_json())
                self.proved.append(kept)
                return True
        return False
