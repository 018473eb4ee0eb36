"""Searches without visit counts: the queue of a best-first search by log-probability (and values), and AO*."""

import heapq
from math import inf
from math import log as ln
from typing import NamedTuple

from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Kind, Node, walk
from nanoproof.search.transpositions import is_repeat

_Indices = tuple[int, ...]  # the index of the child among its siblings, for each edge of a path


class _Entry(NamedTuple):
    """An OR node in the queue: compared by expansions, then cost, then place, which no two share."""

    expansions: int
    cost: float
    indices: _Indices
    minus_logprob: float  # of the tactics on its path
    length: int  # their number


class Frontier:
    """The OR nodes of a tree, in the order in which they are to be expanded.

    The next is that of the least cost; of equals the one further left. One that was expanded comes again when all
    others were expanded as often. The cost is minus the sum of the log-probabilities of the path, divided by
    `length^alpha` (`path_normalization`; GPT-f has 0), and to that comes `value_weight` times the number of tactics
    that the policy expected to be needed at the OR node above: it is asked about a state only when that is expanded.

    With `and_in_order`, of several branches that are all to be solved only the first open one is in the queue. With
    `defer_repeats`, a state that was expanded elsewhere counts as expanded.
    """

    def __init__(self, root: Node, config: SearchConfig, log: SearchLog) -> None:
        self._root, self._config, self._log = root, config, log
        self._heap: list[_Entry] = []
        self._waiting: list[_Entry] = []  # behind a branch that is open
        self._reused = log.counts.reused
        stack: list[tuple[Node, float, int, _Indices]] = [(root, 0.0, 0, ())]
        while stack:
            node, minus_logprob, length, indices = stack.pop()
            self._push(node, minus_logprob, length, indices)
            for i, child in enumerate(node.children):
                deeper = length + (node.kind is Kind.OR)
                stack.append((child, minus_logprob - child.logprob, deeper, (*indices, i)))

    def _push(self, node: Node, minus_logprob: float, length: int, indices: _Indices) -> None:
        if node.kind is Kind.OR:
            cost = minus_logprob
            if self._config.path_normalization:
                cost /= max(1, length) ** self._config.path_normalization
            if self._config.value_weight:
                cost -= self._config.value_weight * node.value_above
            heapq.heappush(self._heap, _Entry(node.expansions, cost, indices, minus_logprob, length))

    def path(self) -> list[Node]:
        """Return the path to the node to expand next; branches that are not open are dropped on the way."""
        while True:
            entry = self._heap[0]
            path = self._path_of(entry)
            if not all(node.open for node in path):
                heapq.heappop(self._heap)
            elif self._config.and_in_order and _waits(path, entry.indices):
                self._waiting.append(heapq.heappop(self._heap))
            elif self._config.defer_repeats and not entry.expansions and is_repeat(path[-1], self._log):
                heapq.heapreplace(self._heap, entry._replace(expansions=1))
            else:
                return path

    def _path_of(self, entry: _Entry) -> list[Node]:
        path = [self._root]
        for index in entry.indices:
            path.append(path[-1].children[index])
        return path

    def expanded(self, num_before: int) -> None:
        """Update the queue after the node of `path()`, which had `num_before` children, was expanded."""
        entry = self._heap[0]
        path = self._path_of(entry)
        node = path[-1]
        heapq.heapreplace(self._heap, entry._replace(expansions=node.expansions))
        for i, child in enumerate(node.children[num_before:], num_before):
            below, at = entry.minus_logprob - child.logprob, (*entry.indices, i)
            self._push(child, below, entry.length + 1, at)
            for j, branch in enumerate(child.children):
                self._push(branch, below, entry.length + 1, (*at, j))
        if self._waiting and (self._reused != self._log.counts.reused or any(one.solved for one in path)):
            self._reused = self._log.counts.reused
            for waiting in self._waiting:
                heapq.heappush(self._heap, waiting)
            self._waiting.clear()


def _waits(path: list[Node], indices: _Indices) -> bool:
    """Tell whether one of the branches on a path stands behind an open one that is to be solved as well."""
    return any(
        not earlier.solved
        for node, index in zip(path, indices)
        if node.kind is Kind.AND
        for earlier in node.children[:index]
    )


LEAST_UNSEEN = 0.01
"""The least probability that the policy is taken to give to tactics which it did not suggest yet."""


class AOStar:
    """Expands the likeliest whole proof that the tree leaves possible (AO*, Nilsson 1980, with costs from the policy).

    The cost of a proof is minus the sum of the log-probabilities of all its tactics, in all its branches. Of what is
    not expanded it is estimated: `value_weight` for each tactic that the policy expects there, by its value at the OR
    node above less one. So an OR node costs what its best child does, and an AND node what its branches do together.

    An OR node can also be expanded again. The tactics to come have the probability that those so far leave over
    (`seen_mass`), and each expansion so far costs `again_cost` more. A state without children is left in this way
    when other proofs have become likelier, and comes again when these have not worked either.

    Of the branches of an AND node the dearest is worked on first: where it fails, the others were not needed.
    """

    def __init__(self, root: Node, config: SearchConfig) -> None:
        self._root, self._config = root, config
        self._costs: dict[Node, float] = {}
        self._path: list[Node] = []
        for node in reversed(list(walk(root))):
            self._costs[node] = self._cost(node)

    def path(self) -> list[Node]:
        """Return the path to the node to expand next."""
        path = [self._root]
        while True:
            node = path[-1]
            able = [child for child in node.children if child.open]
            if node.kind is Kind.AND:
                path.append(max(able, key=self._costs.__getitem__))
                continue
            best = min(able, key=self._through, default=None)
            if best is None or not node.expansions or self._again(node) < self._through(best):
                self._path = path
                return path
            path.append(best)

    def expanded(self, num_before: int) -> None:
        """Update the costs after the node of `path()`, which had `num_before` children, was expanded."""
        for child in self._path[-1].children[num_before:]:
            for node in (*child.children, child):
                self._costs[node] = self._cost(node)
        for node in reversed(self._path):
            self._costs[node] = self._cost(node)

    def _cost(self, node: Node) -> float:
        if node.solved:
            return 0.0
        if not node.open:
            return inf
        if node.kind is Kind.AND:
            return sum([self._costs[child] for child in node.children])
        if not node.expansions:
            return self._config.value_weight * max(0.0, -node.value_above - 1.0)
        return min([self._again(node), *[self._through(child) for child in node.children if child.open]])

    def _through(self, child: Node) -> float:
        return self._costs[child] - child.logprob

    def _again(self, node: Node) -> float:
        unseen = max(LEAST_UNSEEN, 1.0 - node.seen_mass)
        left = self._config.value_weight * max(0.0, -node.policy_value - 1.0)
        return left - ln(unseen) + self._config.again_cost * node.expansions
