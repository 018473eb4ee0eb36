"""Best-first search: a queue by the log-probability of the path (and values), in place of visit counts."""

import heapq
from typing import NamedTuple

from nanoproof.search.config import SearchConfig
from nanoproof.search.node import Kind, Node

_Indices = tuple[int, ...]  # the index of the child among its siblings, for each edge of a path


class _Entry(NamedTuple):
    """An OR node in the queue: compared by expansions, then cost, then place, which no two share."""

    expansions: int
    cost: float
    indices: _Indices
    minus_logprob: float  # of the tactics on its path


class Frontier:
    """The OR nodes of a tree, in the order in which they are to be expanded.

    The next is that of the least cost; of equals the one further left. One that was expanded comes again when all
    others were expanded as often. The cost is minus the sum of the log-probabilities of the path, as in GPT-f (Polu and
    Sutskever 2020), and to that comes `value_weight` times the number of tactics that the policy expected to be needed
    at the OR node above: it is asked about a state only when that is expanded.
    """

    def __init__(self, root: Node, config: SearchConfig) -> None:
        self._root, self._config = root, config
        self._heap: list[_Entry] = []
        # A search that is continued begins with a tree: all that is kept of the queue is in the nodes.
        stack: list[tuple[Node, float, _Indices]] = [(root, 0.0, ())]
        while stack:
            node, minus_logprob, indices = stack.pop()
            self._push(node, minus_logprob, indices)
            for i, child in enumerate(node.children):
                stack.append((child, minus_logprob - child.logprob, (*indices, i)))

    def _push(self, node: Node, minus_logprob: float, indices: _Indices) -> None:
        if node.kind is not Kind.OR:
            return
        cost = minus_logprob
        if self._config.value_weight:
            cost -= self._config.value_weight * node.value_above
        heapq.heappush(self._heap, _Entry(node.expansions, cost, indices, minus_logprob))

    def path(self) -> list[Node]:
        """Return the path to the node to expand next; branches that are not open are dropped on the way."""
        while True:
            path = self._path_of(self._heap[0])
            # Any node on the way may have been solved (or closed) since: then what is below it is not needed.
            if all(node.open for node in path):
                return path
            heapq.heappop(self._heap)

    def _path_of(self, entry: _Entry) -> list[Node]:
        path = [self._root]
        for index in entry.indices:
            path.append(path[-1].children[index])
        return path

    def expanded(self, num_before: int) -> None:
        """Update the queue after the node of `path()`, which had `num_before` children, was expanded."""
        entry = self._heap[0]
        node = self._path_of(entry)[-1]
        heapq.heapreplace(self._heap, entry._replace(expansions=node.expansions))
        for i, child in enumerate(node.children[num_before:], num_before):
            minus_logprob, indices = entry.minus_logprob - child.logprob, (*entry.indices, i)
            self._push(child, minus_logprob, indices)
            # The branches of an AND node cost what the tactic that made them did: all of them have to be worked on.
            for j, branch in enumerate(child.children):
                self._push(branch, minus_logprob, (*indices, j))
