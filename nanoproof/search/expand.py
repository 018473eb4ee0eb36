"""Expansion: the policy's tactics for a leaf are run in Lean, and new results become children.

The tree changes only after Lean has answered: if the policy or the server fails, it is as before.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from math import exp
from typing import NamedTuple, Protocol

from nanoproof.lean.types import Branch, TacticApplied, TacticFailed
from nanoproof.search.config import SearchConfig
from nanoproof.search.node import Kind, Node, and_node
from nanoproof.search.policy import Policy, Suggestion

# What a tree takes in memory is estimated, as asking for the true size of its objects would take longer than a search.
NODE_BYTES = 1000  # of a node, its edge and its branch, strings apart
TACTIC_BYTES = 200  # of a tactic that led nowhere
LETTER_BYTES = 6  # of a letter of a state: in the text, in its goals, and in the key


class TacticRunner(Protocol):
    """What the search needs of Lean; every `LeanSession` has it."""

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
    given_up: int = 0  # nodes with too many expansions in vain (`dead_end_expansions`)
    nodes: int = 1
    tree_bytes: int = 0  # an estimate, see NODE_BYTES, TACTIC_BYTES and LETTER_BYTES
    disprove_tries: int = 0
    disproved: int = 0  # nodes closed because their negation was proved

    def to_json(self) -> dict[str, int]:
        """Return the counts by name, for the record of an attempt."""
        return asdict(self)


class TimedOut(NamedTuple):
    """A tactic that ran out of time at the last node of `path`, which begins at the root, and its prior mass there."""

    path: tuple[Node, ...]
    tactic: str
    prior: float
    finisher: bool


class Estimate(NamedTuple):
    """How many tactics seemed to be left for the root after so many simulations.

    `mean` is minus the root's V, `best` the number by the best way in the tree (`search.least_left`).
    """

    simulations: int
    mean: float
    best: float


@dataclass
class SearchLog:
    """What a search records besides its tree.

    `estimates` are those after 1, 2, 4, 8, ... simulations (or the next one that ended) without a proof.
    `failed_tactics`: the policy's tactics that Lean refused, as keys (state, tactic) in order; `disproofs`: by merge
    key whether a state that was tried is false; `timed_out`: tactics that ran out of time, by node and tactic.
    """

    counts: SearchCounts = field(default_factory=SearchCounts)
    # A dictionary as a set that keeps its order, so that the records of equal searches are equal.
    failed_tactics: dict[tuple[str, str], None] = field(default_factory=dict)
    disproofs: dict[str, bool] = field(default_factory=dict)
    estimates: list[Estimate] = field(default_factory=list, compare=False)
    timed_out: dict[tuple[Node, str], TimedOut] = field(default_factory=dict, compare=False, repr=False)


class Candidate(NamedTuple):
    """A tactic to try at a node, with its prior mass there."""

    tactic: str
    mass: float
    logprob: float
    finisher: bool  # not the policy's


# -- Evaluate and expand -----------------------------------------------------------------------------------------------


def evaluate_and_expand(
    path: Sequence[Node], policy: Policy, lean: TacticRunner, config: SearchConfig, log: SearchLog
) -> float:
    """Expand the last node of `path`; returns its value, minus the number of tactics still needed.

    A tactic that is known there is not run again: its mass goes to its child. Existing children stay. A finisher that
    is a candidate weighs as much as one sample of its log-probability, `finisher_logprob`.
    """
    leaf = path[-1]
    # Solvers answer in milliseconds where the network takes a forward pass for each token: at a new leaf they go first,
    # and a leaf that one closes is never shown to the policy. What they do short of closing it leaves nothing.
    if config.finisher_use == "leaf" and leaf.expansions == 0:
        results = run_tactics(leaf, config.finishers, lean, log.counts)
        for tactic, result in results.items():
            if isinstance(result, TacticApplied) and not result.branches:
                _grow(path, [Candidate(tactic, 1.0, 0.0, finisher=True)], results, config, log)
                return -1.0

    suggestion = policy.suggest(leaf.state)
    log.counts.tactic_samples += suggestion.num_samples
    candidates = candidates_of(suggestion, config)
    if config.finisher_use == "candidate":
        mass = exp(config.finisher_logprob / config.prior_temperature)
        for tactic in config.finishers:
            candidates.append(Candidate(tactic, mass, config.finisher_logprob, finisher=True))

    new = []
    for candidate in candidates:
        # Each text once: a finisher may be one of the policy's tactics, too.
        if candidate.tactic not in leaf.known and candidate.tactic not in new:
            new.append(candidate.tactic)
    results = run_tactics(leaf, new, lean, log.counts)
    num_before = len(leaf.children)
    _grow(path, candidates, results, config, log)

    value = -suggestion.value if config.use_value else -1.0
    for child in leaf.children[num_before:]:
        child.value_above = value
        for branch in child.children:
            branch.value_above = value
    return value


def candidates_of(suggestion: Suggestion, config: SearchConfig) -> list[Candidate]:
    """Return the tactics of a suggestion with their prior masses, without those that `disable_solvers` leaves out."""
    solver = solver_pattern(config.solver_tactics)
    candidates = []
    for tactic, logprob, mass in zip(
        suggestion.tactics, suggestion.logprobs, prior_masses(suggestion, config), strict=True
    ):
        if not (config.disable_solvers and solver.search(tactic)):
            candidates.append(Candidate(tactic, mass, logprob, finisher=False))
    return candidates


def prior_masses(suggestion: Suggestion, config: SearchConfig) -> list[float]:
    """Compute the prior mass of each tactic: count * exp(logprob / tau).

    It is the prior of sampled actions (Hubert et al. 2021): the empirical distribution of the samples, weighted by the
    policy's flattened probability. Masses are normalised where they are compared, as expanding again adds to them.
    """
    masses = []
    for logprob, count in zip(suggestion.logprobs, suggestion.counts, strict=True):
        masses.append(count * exp(logprob / config.prior_temperature))
    return masses


def run_tactics(
    node: Node, tactics: Sequence[str], lean: TacticRunner, counts: SearchCounts
) -> dict[str, TacticApplied | TacticFailed]:
    """Run tactics at a node in one call, as a round trip to a server costs more than most tactics.

    Raises LeanError if the server fails.
    """
    if not tactics:
        return {}
    assert node.branch is not None, "only a node of a running search can be expanded"
    results = dict(zip(tactics, lean.apply(node.branch, tactics), strict=True))
    counts.tactics_run += len(results)
    for result in results.values():
        if isinstance(result, TacticFailed):
            if result.kind == "rejected":
                counts.rejected += 1
            elif result.kind == "timeout":
                counts.timeouts += 1
            else:
                counts.banned += 1
    return results


# -- What Lean's answers leave in the tree -----------------------------------------------------------------------------


def _grow(
    path: Sequence[Node],
    candidates: Sequence[Candidate],
    results: dict[str, TacticApplied | TacticFailed],
    config: SearchConfig,
    log: SearchLog,
) -> None:
    """Add to the last node of `path` what candidates led to; `results` has an entry for each that is not known.

    Refused tactics, tactics that ran out of time, and tactics that lead back to a state on the path leave nothing.
    """
    leaf, counts = path[-1], log.counts
    known = dict(leaf.known)
    # A state above on the path: a proof that comes back to it is longer than one that does not. AND nodes have no state
    # of their own. The published pseudocode does not look for cycles.
    above: set[str] = set()
    if config.rules == "paper":
        above = {node.key[0] for node in path if node.kind is Kind.OR}
    siblings: dict[tuple[str, ...], Node] = {}
    if config.merge_same_state:
        for sibling in leaf.children:
            siblings[sibling.key] = sibling
    new: list[Node] = []
    for candidate in candidates:
        tactic = candidate.tactic
        if tactic in known:
            child = known[tactic]
            if child is not None:
                _merge(child, candidate)
            continue
        result = results[tactic]
        if isinstance(result, TacticApplied):
            key = tuple([branch.state.merge_key for branch in result.branches])
            if not above.isdisjoint(key):
                counts.cycles += 1
                known[tactic] = None
            elif key in siblings:
                counts.merged += 1
                known[tactic] = siblings[key]
                _merge(siblings[key], candidate)
            else:
                child = known[tactic] = _new_child(result.branches, key, candidate, counts)
                new.append(child)
                if config.merge_same_state:
                    siblings[key] = child
        elif result.kind == "rejected":
            known[tactic] = None
            counts.tree_bytes += TACTIC_BYTES
            # Training may lower the probability of what the policy said in vain; a finisher was not its idea.
            if not candidate.finisher:
                log.failed_tactics[leaf.state, tactic] = None
        elif result.kind == "timeout":
            # Not known: a busy server may have been the reason, and a later sample tries it once more.
            timed_out = TimedOut(tuple(path), tactic, candidate.mass, candidate.finisher)
            log.timed_out.setdefault((leaf, tactic), timed_out)
    leaf.known = known
    leaf.children += tuple(new)
    leaf.expansions += 1
    counts.expansions += 1


def _new_child(branches: tuple[Branch, ...], key: tuple[str, ...], candidate: Candidate, counts: SearchCounts) -> Node:
    """Make the node for what a tactic left (closed, OR, or AND) with the edge to it, and count it."""
    if len(branches) == 1:
        child = Node(Kind.OR, branches[0].state.text, key, branches[0], candidate.mass)
    elif branches:
        child = and_node(branches, key, candidate.mass)
    else:
        child = Node(Kind.CLOSED, "", key, None, candidate.mass)
    child.tactic, child.logprob, child.finisher = candidate.tactic, candidate.logprob, candidate.finisher
    for node in (child, *child.children):
        node.born = counts.simulations + 1
        counts.nodes += 1
        counts.tree_bytes += NODE_BYTES + LETTER_BYTES * len(node.state)
    return child


def _merge(child: Node, candidate: Candidate) -> None:
    """Merge a candidate into `child`: masses add, the shortest text is kept, a policy's before a finisher's."""
    child.prior += candidate.mass
    assert child.tactic is not None
    if child.finisher and not candidate.finisher:
        # What the policy says itself is learned from; the finisher's text is not, and would be lost work beside it.
        child.tactic, child.spellings, child.finisher = candidate.tactic, (), False
        child.logprob = candidate.logprob
    elif child.finisher == candidate.finisher:
        child.logprob = max(child.logprob, candidate.logprob)
        texts = (child.tactic, *child.spellings)
        if candidate.tactic not in texts:
            # `sorted` is stable: of texts of one length the one that came first stays.
            child.tactic, *others = sorted((*texts, candidate.tactic), key=len)
            child.spellings = tuple(others)


@cache
def solver_pattern(solvers: tuple[str, ...]) -> re.Pattern[str]:
    """Compile a pattern of a solver used as a tactic or a modifier's argument, not as part of a longer name."""
    names = "|".join(re.escape(solver) for solver in solvers)
    return re.compile(rf"(?<![\w.'])(?:{names})(?![\w'])")
