"""Proofs as flat lists of steps, and their extraction from a solved tree, with value targets.

Steps are in the order of the finished text: a step, then the proof of its first branch, then that of
its second. The number of branches that each step leaves is enough to find the structure again, so nothing here is
recursive and a subproof is a slice.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from nanoproof.lean.types import Transition
from nanoproof.search.node import Kind, Node, walk

# -- A proof as a flat list of steps ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """One tactic of a proof.

    `state` is the text of the branch it works on, which holds `goals` goals; `branches` is the number of branches it
    leaves (0 closes). `spellings` are other tactics known to do the same; `finisher` if no policy suggested it.
    """

    tactic: str
    branches: int
    state: str
    goals: int
    finisher: bool = False
    spellings: tuple[str, ...] = ()

    @property
    def tag(self) -> str | None:
        """The case tag of the first goal of its branch, None if that has none."""
        first = self.state.split("\n", 1)[0]
        return first.removeprefix("case ") if first.startswith("case ") else None


Proof = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """A known proof of a theorem, and the step of it at which an attempt begins: all other steps are given.

    What the attempt finds takes the place of the subproof from that step on, so that it ends in a proof of the theorem.
    """

    steps: Proof
    position: int

    @property
    def others(self) -> int:
        """How many steps are given."""
        return len(self.steps) - (end_of(self.steps, self.position) - self.position)

    def completed(self, subproof: Proof) -> Proof:
        """Put a subproof in place of that from the position on."""
        return self.steps[: self.position] + subproof + self.steps[end_of(self.steps, self.position) :]

    def to_json(self) -> dict[str, Any]:
        """Convert to plain JSON data."""
        rows = [[step.tactic, step.branches, step.state, step.goals] for step in self.steps]
        return {"position": self.position, "steps": rows}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote."""
        return cls(tuple(Step(*row) for row in data["steps"]), data["position"])


def end_of(steps: Sequence[Step], start: int) -> int:
    """Return where the subproof that begins with step `start` ends: the index after its last step."""
    open_branches = 1
    while open_branches:
        open_branches += steps[start].branches - 1
        start += 1
    return start


def ends_of(steps: Sequence[Step]) -> list[int]:
    """Return `end_of` for all steps at once."""
    ends = [0] * len(steps)
    for start in range(len(steps) - 1, -1, -1):
        end = start + 1
        for _ in range(steps[start].branches):
            end = ends[end]
        ends[start] = end
    return ends


def subproofs(steps: Proof, start: int) -> list[Proof]:
    """Split off the proofs of the branches that step `start` leaves."""
    found = []
    position = start + 1
    for _ in range(steps[start].branches):
        end = end_of(steps, position)
        found.append(steps[position:end])
        position = end
    return found


def depths(steps: Sequence[Step]) -> list[int]:
    """Count for each step the tactics still needed, this one included, along the longest of its branches."""
    result = [0] * len(steps)
    # Backwards, so that the depths of the branches that a step leaves are the last ones; they give way to its own.
    below: list[int] = []
    for i in range(len(steps) - 1, -1, -1):
        count = steps[i].branches
        result[i] = 1 + max(below[len(below) - count :], default=0)
        del below[len(below) - count :]
        below.append(result[i])
    return result


def transitions_of(steps: Proof) -> tuple[Transition, ...]:
    """Return the training data of a checked proof: (state, tactic, tactics still needed), without finishers."""
    # Finishers count in the depths, as tactics of the proof; but no policy has said them, and none is to learn them.
    return tuple(
        Transition(step.state, step.tactic, depth)
        for step, depth in zip(steps, depths(steps), strict=True)
        if not step.finisher
    )


def shortest(proofs: Sequence[Proof]) -> list[Proof]:
    """Sort by number of steps, then by length of text."""
    return sorted(proofs, key=lambda steps: (len(steps), sum(len(step.tactic) for step in steps)))


# -- Proofs in a solved tree -----------------------------------------------------------------------------------------

_TAG = re.compile(r"^case .*\n", re.MULTILINE)


def proof_depths(root: Node, without: Collection[Node] = ()) -> dict[Node, int]:
    """Count for each solved node the tactics that its proof needs along its longest branch: minus its value target.

    A closed node needs none, an OR node one more than its best solved child, an AND node as many as its worst. Edges
    that lead to the nodes `without` are not used; what cannot be proved any other way has no entry.
    """
    return _solved_costs(root, max, without)


def proof_sizes(root: Node) -> dict[Node, int]:
    """Count for each solved node the tactics that its proof needs in all."""
    return _solved_costs(root, sum, ())


def _solved_costs(root: Node, combine: Callable[[Iterable[int]], int], without: Collection[Node]) -> dict[Node, int]:
    costs: dict[Node, int] = {}
    for node in reversed(list(walk(root))):  # children before their parents
        if not node.solved or node in without:
            continue
        if node.kind is Kind.CLOSED:
            costs[node] = 0
        elif node.kind is Kind.AND:
            if all(child in costs for child in node.children):
                costs[node] = combine(costs[child] for child in node.children)
        elif ways := [costs[child] for child in node.children if child in costs]:
            costs[node] = 1 + min(ways)
    return costs


def chosen_edges(root: Node, costs: Mapping[Node, int]) -> list[Node]:
    """Choose the proof below a solved OR node; returns the nodes that its steps lead to, in their order.

    Everywhere the edge of least cost is taken, of equals the one of the shortest text.
    """
    edges: list[Node] = []
    stack = [root]
    while stack:
        ways = (child for child in stack.pop().children if child in costs)
        child = min(ways, key=lambda candidate: (costs[candidate], len(candidate.tactic or "")))
        edges.append(child)
        stack.extend(reversed(_branches(child)))
    return edges


def extract_proof(root: Node, costs: Mapping[Node, int]) -> Proof:
    """Extract the proof that takes the edges of least cost."""
    steps: list[Step] = []
    stack = [root]
    for child in chosen_edges(root, costs):
        steps.append(edge_step(stack.pop(), child))
        stack.extend(reversed(_branches(child)))
    return tuple(steps)


def edge_step(node: Node, child: Node) -> Step:
    """Make the step of the edge from an OR node to a child."""
    assert child.tactic is not None, "an edge out of an OR node has a tactic"
    # Goals of one state stand with an empty line between them, as Lean prints them.
    state, branches = node.state, len(_branches(child))
    return Step(child.tactic, branches, state, state.count("\n\n") + 1, child.finisher, child.spellings)


def _branches(child: Node) -> Sequence[Node]:
    """Return the OR nodes that have to be solved where an edge led to `child`."""
    return {Kind.CLOSED: (), Kind.OR: (child,), Kind.AND: child.children}[child.kind]


class SolvedStates:
    """The smallest proof that the tree holds for each state solved somewhere in it."""

    def __init__(self, root: Node) -> None:
        self._sizes = proof_sizes(root)
        self._nodes: dict[str, Node] = {}
        for node, size in self._sizes.items():
            if node.kind is Kind.OR:
                best = self._nodes.setdefault(untagged(node.state), node)
                if size < self._sizes[best]:
                    self._nodes[untagged(node.state)] = node

    def proof_of(self, state: str, shorter_than: int) -> Proof | None:
        """Return the proof of a state with the fewest tactics in all; None if none has fewer than `shorter_than`."""
        node = self._nodes.get(untagged(state))
        return None if node is None or self._sizes[node] >= shorter_than else extract_proof(node, self._sizes)


def untagged(state: str) -> str:
    """Return a state without its case tags: states that differ in nothing else have the same proofs."""
    return _TAG.sub("", state)
