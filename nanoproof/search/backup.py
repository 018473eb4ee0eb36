"""Back-up: a new value, and the news of what is solved or dead, go up to the root."""

from collections.abc import Sequence

from nanoproof.search.formulas import Formulas
from nanoproof.search.node import TACTIC_REWARD, Kind, Node
from nanoproof.search.select import choose, regroup

_AND = Kind.AND


def back_up(path: Sequence[Node], value: float, formulas: Formulas) -> None:
    """Add a visit of `value` to the last node of `path`, and to those above it what that means for them.

    `value` is minus the number of tactics needed at the expanded node; where no tactic led anywhere (or only where it
    is known that no proof is) `no_legal_value` takes its place. An OR node is solved with any of its children, an AND
    node with all of them. Each node settles where the next simulation goes.
    """
    formulas.cover(path[0].visits + 1)
    gamma = formulas.config.gamma
    node = path[-1]
    node.solved = any(child.solved for child in node.children)
    if all(child.dead for child in node.children):
        value = formulas.config.no_legal_value
    above = iter(path[-2::-1])
    while True:
        visits = node.visits = node.visits + 1
        total = node.value_sum = node.value_sum + value
        mean = node.value = total / visits
        discount = gamma**-mean
        node.next = choose(node, discount, formulas)
        parent = next(above, None)
        if parent is None:
            return
        node.weight = node.prior / (1 + visits)
        is_and = parent.kind is _AND
        if is_and:
            score = discount / gamma
            node.score = 1.0 - score if score < 1.0 else 0.0
        else:
            node.score = discount if discount < 1.0 else 1.0
        if node.solved:
            parent.solved = not is_and or all(branch.solved for branch in parent.children)
            regroup(parent, formulas)
        elif visits == 1:
            regroup(parent, formulas)
        value = _worst_value(parent) if is_and else value + TACTIC_REWARD
        node = parent


def bury(path: Sequence[Node], formulas: Formulas) -> None:
    """Close the last node of `path` for good: it was shown that it has no proof.

    With it dies an AND node above it, which needs all its branches. An OR node above it loses one tactic only; it lives
    on, and is expanded again if that was its last one.
    """
    path[-1].dead = True
    for parent in path[-2::-1]:
        regroup(parent, formulas)
        if parent.kind is not _AND:
            parent.next = choose(parent, formulas.config.gamma**-parent.value, formulas)
            return
        parent.dead = True
        parent.next = None


def _worst_value(node: Node) -> float:
    """Below an AND node: the smallest V of the visited unsolved children; of all visited ones if none is unsolved."""
    children = node.tried or [child for child in node.children if child.visits]
    worst = children[0].value
    for child in children:
        if child.value < worst:
            worst = child.value
    return worst
