"""What a solved tree says: how many tactics each solved node needs, and the proofs that are in it."""

from collections.abc import Callable, Iterable, Mapping

from nanoproof.prover.proof import Proof, Step
from nanoproof.search.node import Kind, Node, walk


def value_targets(root: Node) -> dict[Node, int]:
    """The value that each solved node should have had: closed 0, OR -1 + its best solved child, AND its worst child."""
    return {node: -cost for node, cost in proof_depths(root).items()}


def proof_depths(root: Node) -> dict[Node, int]:
    """For each solved node the tactics that its proof needs, counted along its longest branch."""
    return _solved_costs(root, max)


def proof_sizes(root: Node) -> dict[Node, int]:
    """For each solved node the tactics that its proof needs in all."""
    return _solved_costs(root, sum)


def _solved_costs(root: Node, combine: Callable[[Iterable[int]], int]) -> dict[Node, int]:
    costs: dict[Node, int] = {}
    for node in reversed(list(walk(root))):
        if not node.solved:
            continue
        if node.kind is Kind.CLOSED:
            costs[node] = 0
        elif node.kind is Kind.AND:
            costs[node] = combine(costs[child] for child in node.children)
        else:
            costs[node] = 1 + min(costs[child] for child in node.children if child.solved)
    return costs


def extract_proof(root: Node, costs: Mapping[Node, int]) -> Proof:
    """The proof below a solved OR node that takes the edge of least cost everywhere; of equals the shortest text."""
    steps: list[Step] = []
    stack = [root]
    while stack:
        node = stack.pop()
        solved = (child for child in node.children if child.solved)
        child = min(solved, key=lambda candidate: (costs[candidate], len(candidate.tactic or "")))
        branches = {Kind.CLOSED: [], Kind.OR: [child], Kind.AND: child.children}[child.kind]
        assert child.tactic is not None and node.branch is not None
        goals = len(node.branch.state.goals)
        steps.append(Step(child.tactic, len(branches), node.state, goals, child.finisher, child.spellings))
        stack.extend(reversed(branches))
    return tuple(steps)


class SolvedStates:
    """The smallest proof that the tree holds for each state solved somewhere in it."""

    def __init__(self, root: Node) -> None:
        self._sizes = proof_sizes(root)
        self._nodes: dict[str, Node] = {}
        for node, size in self._sizes.items():
            if node.kind is Kind.OR:
                best = self._nodes.get(node.key[0])
                if best is None or size < self._sizes[best]:
                    self._nodes[node.key[0]] = node

    def proof_of(self, merge_key: str) -> Proof | None:
        """The proof with the fewest tactics in all; None if the tree has none for this state."""
        node = self._nodes.get(merge_key)
        return None if node is None else extract_proof(node, self._sizes)
