"""The nodes of the search tree.

An OR node is one branch of a proof: goals that are worked on together, of whose tactics one has to succeed. An AND node
is the result of a tactic that split its branch into several: all of them have to be solved. A closed node is the result
of a tactic that left nothing to prove.
"""

from collections.abc import Iterator, Mapping
from enum import Enum
from types import MappingProxyType

from nanoproof.lean.types import Branch

TACTIC_REWARD = -1.0  # r of an edge out of an OR node; edges out of an AND node have r = 0

# Most nodes are leaves that were never expanded: they share one empty mapping, which nobody can write to.
_NOTHING_KNOWN: Mapping[str, "Node | None"] = MappingProxyType({})


class Kind(Enum):
    OR = "or"
    AND = "and"
    CLOSED = "closed"


class Node:
    """One node, with the edge that leads to it.

    Statistics: `visits` N, `value_sum` W, `value` V = W/N (minus the number of tactics still needed; 0 without visits),
    `expansions` E, `prior` P (an unnormalised mass), `solved`; `dead` if it was shown that the node cannot be solved;
    `given_up` if it was expanded too often in vain. It is `open` if it is none of these. `children` are never taken
    away.

    The edge: `tactic` is the shortest text known to lead here from an OR parent (None below an AND node and at the
    root), `spellings` are the others, shorter ones first, `finisher` says that no policy suggested any of them, and
    `logprob` is the largest log-probability that the policy gave to one of them.

    `value_above` is the value that the policy gave to the OR node above when this one was added; 0 for the root.

    `born` is the simulation that added this node, counted from 1; 0 for the root. `ends` has the simulations that ended
    here, with the value that each backed up from here: with both, the search can be seen again.

    `known` maps each tactic that was run here and need not be run again to the child it led to; None if it led nowhere.
    """

    # A tree may have 200,000 nodes: without slots each would carry a dictionary of its own.
    __slots__ = (
        "born",
        "branch",
        "children",
        "dead",
        "ends",
        "expansions",
        "finisher",
        "given_up",
        "key",
        "kind",
        "known",
        "logprob",
        "prior",
        "solved",
        "spellings",
        "state",
        "tactic",
        "value_above",
        "value_sum",
        "visits",
    )

    def __init__(self, kind: Kind, state: str, key: tuple[str, ...], branch: Branch | None, prior: float) -> None:
        self.kind = kind
        self.state = state  # what the policy reads; "" for AND and closed nodes
        self.key = key  # merge keys of the branches: one for OR, several for AND, none for closed
        self.branch = branch  # what Lean works on; None for AND and closed nodes and in trees read from a file
        self.prior = prior
        self.logprob = 0.0
        self.tactic: str | None = None
        self.spellings: tuple[str, ...] = ()
        self.finisher = False
        self.visits = 0
        self.value_sum = 0.0
        self.value_above = 0.0
        self.expansions = 0
        self.solved = kind is Kind.CLOSED
        self.dead = False
        self.given_up = False
        self.children: tuple[Node, ...] = ()
        self.known = _NOTHING_KNOWN
        self.born = 0
        self.ends: tuple[tuple[int, float], ...] = ()

    @property
    def value(self) -> float:
        """V, minus the number of tactics still needed; 0 without visits."""
        return self.value_sum / self.visits if self.visits else 0.0

    @property
    def open(self) -> bool:
        """Whether it is worth a simulation."""
        return not (self.solved or self.dead or self.given_up)

    @property
    def prior_sum(self) -> float:
        """The prior mass of all children."""
        return sum(child.prior for child in self.children)


def or_node(branch: Branch, prior: float = 1.0) -> Node:
    """Make an unexpanded OR node; the root of a search is `or_node(session.start(theorem))`."""
    state = branch.state
    return Node(Kind.OR, state.text, (state.merge_key,), branch, prior)


def and_node(branches: tuple[Branch, ...], key: tuple[str, ...], prior: float) -> Node:
    """Make an AND node with one OR child per branch, all of equal prior."""
    node = Node(Kind.AND, "", key, None, prior)
    # Its branches are all there is to try: it counts as expanded from the start, and is never expanded again.
    node.expansions = 1
    share = 1.0 / len(branches)
    node.children = tuple([or_node(branch, share) for branch in branches])
    return node


def walk(root: Node) -> Iterator[Node]:
    """Yield all nodes, parents before children, children in the order they were added."""
    # A proof can be deeper than Python's limit on recursion, hence a stack.
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))
