"""The nodes of the search tree.

An OR node is one branch of a proof: goals that are worked on together, one of whose tactics has to succeed. An AND node
is what a tactic left when it split its branch in several: all of them have to be solved. A closed node is what a tactic
left when nothing remained to be proved.
"""

from collections.abc import Iterator
from enum import Enum

from nanoproof.lean.wire import Branch

TACTIC_REWARD = -1.0  # r of an edge out of an OR node; edges out of an AND node have r = 0


class Kind(Enum):
    OR = "or"
    AND = "and"
    CLOSED = "closed"


class Node:
    """One node, with the edge that leads to it.

    Statistics: `visits` N, `value_sum` W, `expansions` E, `prior` P (an unnormalised mass), `solved`. So that selection
    adds nothing up, two more are kept up to date: `prior_sum`, the mass of all children, and `score`, what the parent
    takes this node to be worth (set by `backup.py`, without meaning while `visits` is 0).

    The edge: `tactic` is the shortest text known to lead here from an OR parent (None below an AND node and at the
    root), `spellings` are the others, shorter ones first, and `finisher` says that no policy suggested any of them.

    `known` maps each tactic that was run here and need not be run again to the child it led to; None if it led nowhere.
    """

    __slots__ = (
        "branch",
        "children",
        "expansions",
        "finisher",
        "key",
        "kind",
        "known",
        "prior",
        "prior_sum",
        "score",
        "solved",
        "spellings",
        "state",
        "tactic",
        "value_sum",
        "visits",
    )

    def __init__(self, kind: Kind, state: str, key: tuple[str, ...], branch: Branch | None, prior: float) -> None:
        self.kind = kind
        self.state = state  # what the policy reads; "" for AND and closed nodes
        self.key = key  # merge keys of the branches: one for OR, several for AND, none for closed
        self.branch = branch  # what Lean works on; None for AND and closed nodes and in trees read from a file
        self.prior = prior
        self.tactic: str | None = None
        self.spellings: tuple[str, ...] = ()
        self.finisher = False
        self.visits = 0
        self.value_sum = 0.0
        self.expansions = 0
        self.solved = kind is Kind.CLOSED
        self.children: list[Node] = []
        self.prior_sum = 0.0
        self.score = 0.0
        self.known: dict[str, Node | None] = {}

    @property
    def value(self) -> float:
        """V = W/N, minus the number of tactics still needed; 0 for closed and for unvisited nodes."""
        return self.value_sum / self.visits if self.visits else 0.0

    def add_child(self, child: "Node") -> None:
        self.children.append(child)
        self.prior_sum += child.prior

    def add_prior(self, child: "Node", mass: float) -> None:
        child.prior += mass
        self.prior_sum += mass


def or_node(branch: Branch, prior: float = 1.0) -> Node:
    """An unexpanded OR node; the root of a search is `or_node(session.start(theorem))`."""
    return Node(Kind.OR, branch.state.text, (branch.state.merge_key,), branch, prior)


def result_node(branches: tuple[Branch, ...], prior: float) -> Node:
    """The node for what a tactic left: closed, OR, or AND with one OR child of equal prior per branch."""
    if not branches:
        return Node(Kind.CLOSED, "", (), None, prior)
    if len(branches) == 1:
        return or_node(branches[0], prior)
    node = Node(Kind.AND, "", tuple(branch.state.merge_key for branch in branches), None, prior)
    node.expansions = 1
    for branch in branches:
        node.add_child(or_node(branch, 1.0 / len(branches)))
    return node


def walk(root: Node) -> Iterator[Node]:
    """All nodes, parents before children, children in the order they were added."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))
