"""Expansion: what the policy suggests for a leaf is tried in Lean, and what is new becomes children.

Nothing is changed before Lean has answered: if the policy or the server fails, the tree is as it was.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from math import exp
from typing import Protocol

from nanoproof.common.suggestion import Policy, Suggestion
from nanoproof.lean.wire import Branch, TacticApplied, TacticFailed
from nanoproof.search.config import SearchConfig
from nanoproof.search.node import Kind, Node, result_node


class TacticRunner(Protocol):
    """The one thing the search asks of Lean; every `LeanSession` can do it."""

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]: ...


@dataclass
class SearchCounts:
    """What a search has done so far."""

    simulations: int = 0
    expansions: int = 0
    tactic_samples: int = 0  # samples drawn from the policy, duplicates and useless ones counted
    tactics_run: int = 0
    rejected: int = 0
    timeouts: int = 0
    banned: int = 0
    cycles: int = 0
    merged: int = 0  # tactics that led to the state of a sibling
    nodes: int = 1

    def to_json(self) -> dict[str, int]:
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass
class SearchLog:
    """Counts, and the policy's tactics that Lean refused: keys (state, tactic), in the order they came."""

    counts: SearchCounts = field(default_factory=SearchCounts)
    failed_tactics: dict[tuple[str, str], None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tactic to try, with its prior mass; `finisher` if the policy did not suggest it."""

    tactic: str
    mass: float
    finisher: bool = False


def evaluate_and_expand(
    path: Sequence[Node], policy: Policy, lean: TacticRunner, config: SearchConfig, log: SearchLog
) -> float:
    """Expand the last node of `path`; returns its value, minus the number of tactics still needed."""
    leaf = path[-1]
    if leaf.expansions == 0 and config.finisher_use == "leaf" and _close_by_finisher(leaf, lean, config, log):
        return -1.0
    suggestion = policy.suggest(leaf.state)
    log.counts.tactic_samples += suggestion.num_samples
    expand(path, candidates_of(suggestion, config), lean, log)
    return -suggestion.value


def candidates_of(suggestion: Suggestion, config: SearchConfig) -> list[Candidate]:
    """The tactics of a suggestion with mass count * exp(logprob / tau), and the finishers where they are candidates.

    A finisher weighs as much as one sample of probability 1. With `disable_solvers`, suggestions that use a solver are
    left out.
    """
    solver = _solver_pattern(config.solver_tactics) if config.disable_solvers else None
    candidates = [
        Candidate(tactic, count * exp(logprob / config.prior_temperature))
        for tactic, logprob, count in zip(suggestion.tactics, suggestion.logprobs, suggestion.counts, strict=True)
        if solver is None or not solver.search(tactic)
    ]
    if config.finisher_use == "candidate":
        candidates += [Candidate(tactic, 1.0, finisher=True) for tactic in config.finishers]
    return candidates


def expand(path: Sequence[Node], candidates: Sequence[Candidate], lean: TacticRunner, log: SearchLog) -> None:
    """Try the candidates at the last node of `path` and add what they lead to; existing children stay.

    A tactic that is known here is not run again: its mass goes to its child. Refused tactics, tactics that ran out of
    time, and tactics that lead back to a state on the path leave nothing.
    """
    leaf = path[-1]
    counts = log.counts
    tactics = list(dict.fromkeys(c.tactic for c in candidates if c.tactic not in leaf.known))
    results = run_tactics(leaf, tactics, lean, counts)
    seen = {node.key[0] for node in path if node.kind is Kind.OR}
    leaf.expansions += 1
    counts.expansions += 1
    for candidate in candidates:
        tactic = candidate.tactic
        if tactic in leaf.known:
            _add_mass(leaf, candidate)
            continue
        result = results[tactic]
        if isinstance(result, TacticFailed):
            if result.kind == "rejected":
                leaf.known[tactic] = None
                if not candidate.finisher:
                    log.failed_tactics[leaf.state, tactic] = None
        else:
            leaf.known[tactic] = _add_result(leaf, candidate, result, seen, counts)


def run_tactics(
    node: Node, tactics: Sequence[str], lean: TacticRunner, counts: SearchCounts
) -> dict[str, TacticApplied | TacticFailed]:
    """Run tactics at a node in one call and count how that went; LeanError if the server fails."""
    if not tactics:
        return {}
    assert node.branch is not None, "only a node of a running search can be expanded"
    results = lean.apply(node.branch, tactics)
    counts.tactics_run += len(tactics)
    for result in results:
        if isinstance(result, TacticFailed):
            counts.rejected += result.kind == "rejected"
            counts.timeouts += result.kind == "timeout"
            counts.banned += result.kind == "banned"
    return dict(zip(tactics, results, strict=True))


def _close_by_finisher(leaf: Node, lean: TacticRunner, config: SearchConfig, log: SearchLog) -> bool:
    """Solve a new leaf by the first finisher that closes it; what finishers do short of that leaves nothing."""
    for tactic, result in run_tactics(leaf, config.finishers, lean, log.counts).items():
        if isinstance(result, TacticApplied) and not result.branches:
            leaf.expansions += 1
            log.counts.expansions += 1
            candidate = Candidate(tactic, 1.0, finisher=True)
            leaf.known[tactic] = _add_result(leaf, candidate, result, set(), log.counts)
            return True
    return False


def _add_mass(leaf: Node, candidate: Candidate) -> None:
    """A tactic that is known here was suggested again."""
    child = leaf.known[candidate.tactic]
    if child is not None:
        _merge(leaf, child, candidate)


def _add_result(
    leaf: Node, candidate: Candidate, result: TacticApplied, seen: set[str], counts: SearchCounts
) -> Node | None:
    """The child that a tactic leads to: a new one, a sibling of the same state, or None for a cycle."""
    key = tuple(branch.state.merge_key for branch in result.branches)
    if not seen.isdisjoint(key):
        counts.cycles += 1
        return None
    sibling = next((child for child in leaf.children if child.key == key), None)
    if sibling is not None:
        counts.merged += 1
        _merge(leaf, sibling, candidate)
        return sibling
    child = result_node(result.branches, candidate.mass)
    child.tactic = candidate.tactic
    child.finisher = candidate.finisher
    leaf.add_child(child)
    counts.nodes += 1 + len(child.children)
    return child


def _merge(leaf: Node, child: Node, candidate: Candidate) -> None:
    """The candidate leads to `child` too: masses add, the shortest text is kept, a policy's before a finisher's."""
    leaf.add_prior(child, candidate.mass)
    assert child.tactic is not None
    texts = (child.tactic, *child.spellings)
    if child.finisher and not candidate.finisher:
        child.tactic, child.spellings, child.finisher = candidate.tactic, (), False
    elif child.finisher == candidate.finisher and candidate.tactic not in texts:
        child.tactic, *others = sorted((*texts, candidate.tactic), key=len)
        child.spellings = tuple(others)


def _solver_pattern(solvers: Sequence[str]) -> re.Pattern[str]:
    """Matches a solver used as a tactic or a modifier's argument, not as part of a longer name."""
    names = "|".join(re.escape(solver) for solver in solvers)
    return re.compile(rf"(?<![\w.'])(?:{names})(?![\w'])")
