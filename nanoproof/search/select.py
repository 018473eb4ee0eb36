"""Selection: from the root down to the node that is to be expanded next.

Whatever a simulation changes lies on its path, so each node on it settles on the way back where the next simulation
goes (`choose`), and selection itself only follows `Node.next`.
"""

from math import inf

from nanoproof.search.formulas import Formulas
from nanoproof.search.node import Kind, Node, walk

_AND = Kind.AND


def select_path(root: Node) -> list[Node]:
    """The nodes from the root down to the OR node to expand; no solved or dead node is entered below the root."""
    path = [root]
    node = root.next
    while node is not None:
        path.append(node)
        node = node.next
    return path


def choose(node: Node, discount: float, formulas: Formulas) -> Node | None:
    """Where a simulation that comes to `node` goes on; None if it ends here, with an expansion.

    Progressive sampling asks for another expansion of an OR node while `E <= C * N^alpha`. Otherwise it is the child of
    highest `U = value + c(N) * P/sum(P) * sqrt(N) / (1 + N(child))`; of equals the one added first. Below an AND node
    exploration weighs `c_and` times as much, and the child that is worth least goes first. Of the children without
    visits, which are all worth the same, only the one of highest prior has to be looked at. `discount` is
    gamma^(-V) of the node.
    """
    if node.visits >= node.expand_at:
        return None
    tried, fresh = node.tried, node.fresh
    if not tried:
        return fresh
    exploration = formulas.exploration[node.visits] * node.exploration
    best, best_u = fresh, -1.0
    for child in tried:
        u = child.score + exploration * child.weight
        if u > best_u:
            best, best_u = child, u
    if fresh is not None:
        score = discount * formulas.fresh_discount
        if score > 1.0:
            score = 1.0
        u = (1.0 - score if node.kind is _AND else score) + exploration * fresh.prior
        if u > best_u or (u == best_u and _comes_before(fresh, best, node)):
            return fresh
    return best


def _comes_before(child: Node, other: Node | None, parent: Node) -> bool:
    return other is None or parent.children.index(child) < parent.children.index(other)


def regroup(node: Node, formulas: Formulas) -> None:
    """Sort the children of `node` anew: after an expansion, a child's first visit, or the end of one."""
    tried: list[Node] = []
    fresh: Node | None = None
    mass = 0.0
    for child in node.children:
        mass += child.prior
        if child.solved or child.dead:
            continue
        if child.visits:
            tried.append(child)
        elif fresh is None or child.prior > fresh.prior:
            fresh = child
    node.tried, node.fresh = tuple(tried), fresh
    if mass:
        node.exploration = (formulas.config.c_and if node.kind is _AND else 1.0) / mass
    else:
        node.exploration = 0.0


def prepare(root: Node, formulas: Formulas) -> None:
    """Work out for a whole tree what selection keeps in its nodes: it may have been grown with other constants."""
    formulas.cover(root.visits)
    gamma = formulas.config.gamma
    for node in reversed(list(walk(root))):
        for child in node.children:
            child.weight = child.prior / (1 + child.visits)
            discount = gamma**-child.value
            child.score = 1.0 - min(1.0, discount / gamma) if node.kind is _AND else min(1.0, discount)
        node.expand_at = inf if node.kind is _AND else formulas.expand_at(node.expansions)
        regroup(node, formulas)
        node.next = choose(node, gamma**-node.value, formulas)
