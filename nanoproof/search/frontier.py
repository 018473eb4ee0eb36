"""The queue of a best-first search by log-probability (and values), the baseline of the tree search."""

import heapq
from typing import NamedTuple

from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Kind, Node
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
