"""Best-first search by log-probability: what the tree search is compared with.

The branch to expand is the one whose path has the largest sum of log-probabilities, whatever its value is. A branch
that was expanded comes again when all others were expanded as often.
"""

import heapq

from nanoproof.search.node import Kind, Node

_Places = tuple[int, ...]  # the position of a child among its siblings, for each edge of a path


class Frontier:
    """The OR nodes of a tree in the order in which they are to be expanded; of equals the one further left."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self._heap: list[tuple[int, float, _Places]] = []
        stack: list[tuple[Node, float, _Places]] = [(root, 0.0, ())]
        while stack:
            node, minus_logprob, places = stack.pop()
            self._push(node, minus_logprob, places)
            stack += [(child, minus_logprob - child.logprob, (*places, i)) for i, child in enumerate(node.children)]

    def _push(self, node: Node, minus_logprob: float, places: _Places) -> None:
        if node.kind is Kind.OR:
            heapq.heappush(self._heap, (node.expansions, minus_logprob, places))

    def path(self) -> list[Node]:
        """The path to the node to expand next; solved and dead branches are dropped on the way."""
        while True:
            _, _, places = self._heap[0]
            path = [self._root]
            for place in places:
                path.append(path[-1].children[place])
            if not any(node.solved or node.dead for node in path):
                return path
            heapq.heappop(self._heap)

    def expanded(self, num_before: int) -> None:
        """The node of `path()` was expanded; it had `num_before` children before."""
        _, minus_logprob, places = self._heap[0]
        node = self._root
        for place in places:
            node = node.children[place]
        heapq.heapreplace(self._heap, (node.expansions, minus_logprob, places))
        for i, child in enumerate(node.children[num_before:], num_before):
            below, at = minus_logprob - child.logprob, (*places, i)
            self._push(child, below, at)
            for j, branch in enumerate(child.children):
                self._push(branch, below, (*at, j))
