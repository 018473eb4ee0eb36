"""Selection: from the root down to the node that is to be expanded next."""

from math import log, sqrt

from nanoproof.search.config import SearchConfig
from nanoproof.search.node import Kind, Node


def score_of(value: float, gamma: float) -> float:
    """`q(x) = gamma^(-1-x)` clipped to [0, 1]: 1 where one tactic finishes, less the more tactics are needed."""
    return min(1.0, gamma ** (-1.0 - value))


def select_path(root: Node, config: SearchConfig) -> list[Node]:
    """The nodes from the root down to the OR node to expand; no solved node is entered below the root."""
    node = root
    path = [root]
    while node.children and not wants_expansion(node, config):
        node = select_child(node, config)
        path.append(node)
    return path


def wants_expansion(node: Node, config: SearchConfig) -> bool:
    """Progressive sampling: an OR node is (re-)expanded while E <= C * N^alpha, and the first time in any case."""
    if node.kind is Kind.AND:
        return False
    return node.expansions == 0 or node.expansions <= config.progressive_c * node.visits**config.progressive_alpha


def select_child(node: Node, config: SearchConfig) -> Node:
    """The child of highest `U = value + c(N) * P/sum(P) * sqrt(N) / (1 + N(child))`; of equals the one added first.

    The value of a child is its `score` if it was visited. Below an AND node, exploration weighs `c_and` times as much,
    the child that is worth least goes first (value 1 - score), and solved children are passed over.
    """
    visits = node.visits
    exploration = config.c_init + log((visits + config.c_base + 1) / config.c_base)
    exploration *= sqrt(visits) / node.prior_sum if node.prior_sum else 0.0
    unvisited = score_of(node.value - config.unvisited_penalty, config.gamma)
    best, best_u = node.children[0], float("-inf")
    if node.kind is Kind.AND:
        exploration *= config.c_and
        for child in node.children:
            if not child.solved:
                n = child.visits
                u = 1.0 - (child.score if n else unvisited) + exploration * child.prior / (1 + n)
                if u > best_u:
                    best, best_u = child, u
    else:
        for child in node.children:
            n = child.visits
            u = (child.score if n else unvisited) + exploration * child.prior / (1 + n)
            if u > best_u:
                best, best_u = child, u
    return best
