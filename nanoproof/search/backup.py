"""Back-up: a new value and the news of solved branches go up to the root."""

from nanoproof.search.config import SearchConfig
from nanoproof.search.node import TACTIC_REWARD, Kind, Node
from nanoproof.search.select import score_of


def back_up(path: list[Node], value: float, config: SearchConfig) -> None:
    """Add a visit of `value` to the last node of `path`, and to those above it what that means for them.

    `value` is minus the number of tactics needed at the expanded node; where no tactic led anywhere `no_legal_value`
    takes its place. An OR node is solved with any of its children, an AND node with all of them.
    """
    leaf = path[-1]
    if leaf.children:
        leaf.solved = any(child.solved for child in leaf.children)
    else:
        value = config.no_legal_value
    _visit(leaf, value)
    for depth in range(len(path) - 1, 0, -1):
        child, parent = path[depth], path[depth - 1]
        if parent.kind is Kind.AND:
            child.score = score_of(child.value, config.gamma)
            parent.solved = all(branch.solved for branch in parent.children)
            value = _worst_value(parent)
        else:
            child.score = score_of(TACTIC_REWARD + child.value, config.gamma)
            parent.solved = parent.solved or child.solved
            value += TACTIC_REWARD
        _visit(parent, value)


def _visit(node: Node, value: float) -> None:
    node.value_sum += value
    node.visits += 1


def _worst_value(node: Node) -> float:
    """Below an AND node: the smallest V of the visited unsolved children; of all visited ones if none is unsolved."""
    visited = [child for child in node.children if child.visits]
    unsolved = [child.value for child in visited if not child.solved]
    return min(unsolved or [child.value for child in visited])
