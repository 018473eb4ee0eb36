"""Expansion: the policy's tactics for a leaf are run in Lean, and new results become children.

The tree changes only after Lean has answered: if the policy or the server fails, it is as before.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from math import exp
from typing import NamedTuple, Protocol

from nanoproof.lean.types import Branch, TacticApplied, TacticFailed
from nanoproof.search.config import SearchConfig
from nanoproof.search.equivalence import equivalence_key, only_adds_facts
from nanoproof.search.node import Kind, Node, and_node
from nanoproof.search.policy import Policy, Suggestion

NODE_BYTES = 1000  # of a node, its edge and its branch, strings apart
TACTIC_BYTES = 200  # of a tactic that led nowhere
LETTER_BYTES = 6  # of a letter of a state: in the text, in its goals, and in the key
_OR, _AND = Kind.OR, Kind.AND


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
    facts: int = 0  # tactics that added facts where no more are allowed (`max_facts`)
    merged: int = 0  # tactics that led to the state of a sibling
    given_up: int = 0  # nodes with too many expansions in vain (`dead_end_expansions`)
    reused: int = 0  # nodes that were solved by the proof of another one
    nodes: int = 1
    tree_bytes: int = 0  # an estimate, see NODE_BYTES, TACTIC_BYTES and LETTER_BYTES
    disprove_tries: int = 0
    disproved: int = 0  # nodes closed because their negation was proved

    def to_json(self) -> dict[str, int]:
        return {f.name: getattr(self, f.name) for f in fields(self)}


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
    key whether a state that was tried is false; `timed_out`: tactics that ran out of time, by node and tactic;
    `scores`: the least and the largest score seen (with `normalize_values`);
    `expanded` and `proofs`: for each identity the node that was expanded, and that was solved, first (with
    `defer_repeats`, `reuse_proofs`); `replays`: the nodes at which a proof of `proofs` was tried.
    """

    counts: SearchCounts = field(default_factory=SearchCounts)
    failed_tactics: dict[tuple[str, str], None] = field(default_factory=dict)
    disproofs: dict[str, bool] = field(default_factory=dict)
    scores: tuple[float, float] | None = None
    estimates: list[Estimate] = field(default_factory=list, compare=False)
    timed_out: dict[tuple[Node, str], TimedOut] = field(default_factory=dict, compare=False, repr=False)
    expanded: dict[str, Node] = field(default_factory=dict, compare=False, repr=False)
    proofs: dict[str, Node] = field(default_factory=dict, compare=False, repr=False)
    replays: set[tuple[Node, Node]] = field(default_factory=set, compare=False, repr=False)


Candidate = tuple[str, float, float, bool]
"""A tactic to try, its prior mass, its log-probability, and whether it is a finisher (not the policy's)."""


def evaluate_and_expand(
    path: Sequence[Node], policy: Policy, lean: TacticRunner, config: SearchConfig, log: SearchLog
) -> float:
    """Expand the last node of `path`; returns its value, minus the number of tactics still needed.

    A tactic that is known there is not run again: its mass goes to its child. Existing children stay. A finisher that
    is a candidate weighs as much as one sample of its log-probability, `finisher_logprob`.
    """
    leaf = path[-1]
    tried: dict[str, TacticApplied | TacticFailed] = {}
    if leaf.expansions == 0 and (config.finisher_use == "leaf" or config.finishers_first):
        tried = _try_finishers(leaf, lean, config, log.counts)
        closing = next((tactic for tactic, result in tried.items() if _closes(result)), None)
        if closing is not None:
            _grow(path, [(closing, 1.0, 0.0, True)], tried, config, log)
            return -1.0
        if config.finisher_use == "leaf":  # what finishers do short of that leaves nothing
            tried = {}
    suggestion = policy.suggest(leaf.state)
    log.counts.tactic_samples += suggestion.num_samples
    candidates = candidates_of(suggestion, config)
    if config.finisher_use == "candidate":
        mass = exp(config.finisher_logprob / config.prior_temperature)
        finishers = finishers_at(leaf, config, suggestion.value)
        candidates += [(tactic, mass, config.finisher_logprob, True) for tactic in finishers]
    new = dict.fromkeys([tactic for tactic, *_ in candidates if tactic not in leaf.known and tactic not in tried])
    results = {**tried, **run_tactics(leaf, list(new), lean, log.counts)}
    if config.finisher_keep == "closing":
        candidates = [one for one in candidates if not one[3] or (one[0] in results and _closes(results[one[0]]))]
    num_before, value = len(leaf.children), -suggestion.value if config.use_value else -1.0
    for tactic, logprob in zip(suggestion.tactics, suggestion.logprobs, strict=True):
        if tactic in new:
            leaf.seen_mass += exp(logprob)
    _grow(path, candidates, results, config, log)
    leaf.policy_value = value
    for child in leaf.children[num_before:]:
        for node in (child, *child.children):
            node.value_above = value
    return value


def finishers_at(leaf: Node, config: SearchConfig, needed: float) -> tuple[str, ...]:
    """Return the finishers to try at a node where `needed` tactics are expected to be needed."""
    once = config.finisher_where == "new" or config.finisher_keep == "closing"
    if (once and leaf.expansions) or (config.finisher_where == "value" and needed > config.finisher_value):
        return ()
    return config.finishers


def _try_finishers(
    leaf: Node, lean: TacticRunner, config: SearchConfig, counts: SearchCounts
) -> dict[str, TacticApplied | TacticFailed]:
    """Run the finishers at a new node before the policy is asked: all at once, or (`finishers_first`) until one closes.

    What is expected to be needed there is one tactic less than at the node above.
    """
    finishers = finishers_at(leaf, config, -leaf.value_above - 1.0)
    if not config.finishers_first:
        return run_tactics(leaf, finishers, lean, counts)
    tried: dict[str, TacticApplied | TacticFailed] = {}
    for tactic in finishers:
        tried |= run_tactics(leaf, [tactic], lean, counts)
        if _closes(tried[tactic]):
            break
    return tried


def candidates_of(suggestion: Suggestion, config: SearchConfig) -> list[Candidate]:
    """Return the tactics of a suggestion with their prior masses, without those that `disable_solvers` leaves out."""
    samples = zip(suggestion.tactics, prior_masses(suggestion, config), suggestion.logprobs, strict=True)
    candidates = [(tactic, mass, logprob, False) for tactic, mass, logprob in samples]
    if config.disable_solvers:
        solver = solver_pattern(config.solver_tactics)
        candidates = [candidate for candidate in candidates if not solver.search(candidate[0])]
    return candidates


def prior_masses(suggestion: Suggestion, config: SearchConfig) -> list[float]:
    """Compute the prior mass of each tactic: count * exp(logprob / tau), the prior of Hubert et al. 2021.

    `length-normalized` divides the log-probability by the letters of the tactic, so that long ones are not less likely
    for their length alone; `rank` gives 1/k to the k-th likeliest, whatever the log-probabilities are.
    """
    tactics, logprobs = suggestion.tactics, suggestion.logprobs
    if config.prior == "rank":
        order = sorted(range(len(tactics)), key=lambda i: -logprobs[i])
        rank = {i: place for place, i in enumerate(order, 1)}
        return [1.0 / rank[i] for i in range(len(tactics))]
    tau = config.prior_temperature
    by_letter = config.prior == "length-normalized"
    return [
        count * exp((logprob / max(1, len(tactic)) if by_letter else logprob) / tau)
        for tactic, logprob, count in zip(tactics, logprobs, suggestion.counts, strict=True)
    ]


def run_tactics(
    node: Node, tactics: Sequence[str], lean: TacticRunner, counts: SearchCounts
) -> dict[str, TacticApplied | TacticFailed]:
    """Run tactics at a node in one call; raises LeanError if the server fails."""
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


def _grow(
    path: Sequence[Node],
    candidates: Sequence[Candidate],
    results: dict[str, TacticApplied | TacticFailed],
    config: SearchConfig,
    log: SearchLog,
) -> None:
    """Add to the last node of `path` what candidates led to; `results` has an entry for each that is not known.

    Refused tactics, tactics that ran out of time, and tactics that lead back to a state on the path leave nothing; nor
    do those that add facts once more than `max_facts` tactics in a row may.
    """
    leaf, counts = path[-1], log.counts
    known = dict(leaf.known)
    above = {node.identity[0] for node in path if node.kind is _OR}
    if config.rules == "pseudocode":  # it does not look for cycles
        above = set()
    no_more_facts = config.max_facts is not None and _facts_in_a_row(path) >= config.max_facts
    merge = config.merge_same_state
    siblings = {child.identity: child for child in leaf.children} if merge else {}
    new: list[Node] = []
    for candidate in candidates:
        tactic = candidate[0]
        if tactic in known:
            child = known[tactic]
            if child is not None:
                same_text = config.merge_states == "same-text" or tactic in (child.tactic, *child.spellings)
                _merge(child, candidate, same_text)
            continue
        result = results[tactic]
        if isinstance(result, TacticApplied):
            key, identity = keys_of(result.branches, config)
            if not above.isdisjoint(identity):
                counts.cycles += 1
                known[tactic] = None
            elif no_more_facts and any(_adds_facts(leaf, branch) for branch in result.branches):
                counts.facts += 1
                known[tactic] = None
            elif identity in siblings:
                counts.merged += 1
                child = known[tactic] = siblings[identity]
                _merge(child, candidate, key == child.key)
            else:
                child = known[tactic] = new_child(result.branches, key, identity, candidate, counts)
                new.append(child)
                if merge:
                    siblings[identity] = child
        elif result.kind == "rejected":
            known[tactic] = None
            counts.tree_bytes += TACTIC_BYTES
            if not candidate[3]:
                log.failed_tactics[leaf.state, tactic] = None
        elif result.kind == "timeout":
            log.timed_out.setdefault((leaf, tactic), TimedOut(tuple(path), tactic, candidate[1], candidate[3]))
    leaf.known = known
    leaf.children += tuple(new)
    leaf.expansions += 1
    counts.expansions += 1


def _facts_in_a_row(path: Sequence[Node]) -> int:
    """Count how many of the last tactics of a path only added facts."""
    states = [node for node in path if node.kind is _OR]
    count = 0
    for above, below in zip(reversed(states[:-1]), reversed(states), strict=False):
        if below.branch is None or not _adds_facts(above, below.branch):
            break
        count += 1
    return count


def _adds_facts(node: Node, branch: Branch) -> bool:
    return node.branch is not None and only_adds_facts(node.branch.state, branch.state)


def keys_of(branches: Sequence[Branch], config: SearchConfig) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the `key` and the `identity` of what a tactic left, which `merge_states` says."""
    key = tuple([branch.state.merge_key for branch in branches])
    if config.merge_states == "same-text":
        return key, key
    return key, tuple([equivalence_key(branch.state) for branch in branches])


def new_child(
    branches: tuple[Branch, ...],
    key: tuple[str, ...],
    identity: tuple[str, ...],
    candidate: Candidate,
    counts: SearchCounts,
) -> Node:
    """Make the node for what a tactic left, closed, OR, or AND, with the edge to it, and count it."""
    tactic, mass, logprob, finisher = candidate
    if len(branches) == 1:
        child = Node(_OR, branches[0].state.text, key, branches[0], mass, identity)
    elif branches:
        child = and_node(branches, key, mass, identity)
    else:
        child = Node(Kind.CLOSED, "", key, None, mass)
    child.tactic, child.logprob, child.finisher = tactic, logprob, finisher
    for node in (child, *child.children):
        node.born = counts.simulations + 1
    counts.nodes += 1 + len(child.children)
    counts.tree_bytes += _size(child)
    return child


def _size(node: Node) -> int:
    """About how many bytes a new node and its children take."""
    size = NODE_BYTES + LETTER_BYTES * len(node.state)
    for child in node.children:
        size += NODE_BYTES + LETTER_BYTES * len(child.state)
    return size


def _merge(child: Node, candidate: Candidate, same_text: bool) -> None:
    """The candidate leads to `child` too: masses add, the shortest text is kept, a policy's before a finisher's.

    Texts that lead to a state which is equivalent, but not the `same_text`, are not kept: what works below `child` was
    found for its own state.
    """
    tactic, mass, logprob, finisher = candidate
    child.prior += mass
    assert child.tactic is not None
    if not same_text:
        child.logprob = max(child.logprob, logprob)
    elif child.finisher and not finisher:
        child.tactic, child.spellings, child.finisher, child.logprob = tactic, (), False, logprob
    elif child.finisher == finisher:
        child.logprob = max(child.logprob, logprob)
        texts = (child.tactic, *child.spellings)
        if tactic not in texts:
            child.tactic, *others = sorted((*texts, tactic), key=len)
            child.spellings = tuple(others)


def _closes(result: TacticApplied | TacticFailed) -> bool:
    return isinstance(result, TacticApplied) and not result.branches


@cache
def solver_pattern(solvers: tuple[str, ...]) -> re.Pattern[str]:
    """Compile a pattern of a solver used as a tactic or a modifier's argument, not as part of a longer name."""
    names = "|".join(re.escape(solver) for solver in solvers)
    return re.compile(rf"(?<![\w.'])(?:{names})(?![\w'])")
