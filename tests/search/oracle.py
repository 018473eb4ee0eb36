"""A slow search that keeps nothing but history: what the fast one has to agree with, also in what is beside the page.

A node is known by its address, the positions of the children on the way to it. Of each node the values that came up to
it are kept, and everything else - visits, means, what is solved, what is dead - is worked out from the whole history
whenever it is asked for.
"""

from dataclasses import dataclass, field
from math import exp, log, sqrt
from typing import Any

from nanoproof.common.suggestion import Policy
from nanoproof.lean.wire import Branch, TacticApplied
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import TacticRunner
from nanoproof.search.node import Kind, Node

Address = tuple[int, ...]


@dataclass
class Entry:
    kind: str
    key: tuple[str, ...]
    mass: float
    branch: Branch | None = None
    texts: list[str] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    expansions: int = 0
    width: int = 0
    false: bool = False


class Oracle:
    """The tree after each `simulate`; `false` are the merge keys of states that a disprover would disprove."""

    def __init__(
        self,
        branch: Branch,
        policy: Policy,
        lean: TacticRunner,
        config: SearchConfig,
        false: frozenset[str] = frozenset(),
    ) -> None:
        self.policy, self.lean, self.config, self.false = policy, lean, config, false
        self.tree: dict[Address, Entry] = {(): Entry("or", (branch.state.merge_key,), 1.0, branch)}
        self.tried: set[str] = set()
        self.simulations = 0

    # -- what follows from the history -------------------------------------------------------------------------------

    def below(self, address: Address) -> list[Address]:
        return [(*address, i) for i in range(self.tree[address].width)]

    def visits(self, address: Address) -> int:
        return len(self.tree[address].values)

    def mean(self, address: Address) -> float:
        values = self.tree[address].values
        return sum(values) / len(values) if values else 0.0

    def solved(self, address: Address) -> bool:
        kind = self.tree[address].kind
        if kind == "and":
            return all(self.solved(child) for child in self.below(address))
        return kind == "closed" or any(self.solved(child) for child in self.below(address))

    def dead(self, address: Address) -> bool:
        entry = self.tree[address]
        return entry.false or (entry.kind == "and" and any(self.dead(child) for child in self.below(address)))

    def open(self, address: Address) -> list[Address]:
        return [child for child in self.below(address) if not self.solved(child) and not self.dead(child)]

    # -- one simulation ----------------------------------------------------------------------------------------------

    def simulate(self) -> None:
        address: Address = ()
        while not self.ends_at(address):
            address = max(self.open(address), key=lambda child: self.upper_bound(child[:-1], child))
        value = self.expand(address)
        if not any(not self.dead(child) for child in self.below(address)):
            value = self.config.no_legal_value
        self.tree[address].values.append(value)
        for length in range(len(address) - 1, -1, -1):
            parent = address[:length]
            if self.tree[parent].kind == "or":
                value -= 1
            else:
                visited = [child for child in self.below(parent) if self.visits(child)]
                unsolved = [child for child in visited if not self.solved(child)]
                value = min(self.mean(child) for child in unsolved or visited)
            self.tree[parent].values.append(value)
        self.simulations += 1
        if self.config.disprove_inner:
            self.disprove(address)

    def ends_at(self, address: Address) -> bool:
        entry = self.tree[address]
        asks = entry.expansions <= self.config.progressive_c * self.visits(address) ** self.config.progressive_alpha
        return not self.open(address) or (entry.kind == "or" and asks)

    def upper_bound(self, parent: Address, child: Address) -> float:
        config, count = self.config, self.visits(parent)
        is_and = self.tree[parent].kind == "and"
        reward = 0 if is_and else -1
        x = reward + self.mean(child) if self.visits(child) else self.mean(parent) - config.unvisited_penalty
        score = min(1.0, config.gamma ** (-1 - x))
        share = self.tree[child].mass / sum(self.tree[sibling].mass for sibling in self.below(parent))
        c = config.c_init + log((count + config.c_base + 1) / config.c_base)
        exploration = c * share * sqrt(count) / (1 + self.visits(child))
        return (1 - score) + config.c_and * exploration if is_and else score + exploration

    def expand(self, address: Address) -> float:
        entry = self.tree[address]
        assert entry.branch is not None
        suggestion = self.policy.suggest(entry.branch.state.text)
        entry.expansions += 1
        above = {self.tree[address[:n]].key[0] for n in range(len(address) + 1) if self.tree[address[:n]].kind == "or"}
        for tactic, logprob, count in zip(suggestion.tactics, suggestion.logprobs, suggestion.counts, strict=True):
            result = self.lean.apply(entry.branch, [tactic])[0]
            if not isinstance(result, TacticApplied):
                continue
            key = tuple(branch.state.merge_key for branch in result.branches)
            if above & set(key):
                continue
            self.add(address, tactic, count * exp(logprob / self.config.prior_temperature), key, result.branches)
        return -suggestion.value if self.config.use_value else -1.0

    def add(
        self, address: Address, tactic: str, mass: float, key: tuple[str, ...], branches: tuple[Branch, ...]
    ) -> None:
        for child in map(self.tree.__getitem__, self.below(address)):
            if tactic in child.texts or (self.config.merge_same_state and child.key == key):
                child.mass += mass
                child.texts += [] if tactic in child.texts else [tactic]
                return
        at = (*address, self.tree[address].width)
        self.tree[address].width += 1
        kind = ("closed", "or", "and")[min(len(branches), 2)]
        self.tree[at] = Entry(kind, key, mass, branches[0] if len(branches) == 1 else None, [tactic])
        if kind == "and":
            self.tree[at].expansions, self.tree[at].width = 1, len(branches)
            for i, branch in enumerate(branches):
                self.tree[*at, i] = Entry("or", (branch.state.merge_key,), 1 / len(branches), branch)

    def disprove(self, path: Address) -> None:
        for length in range(1, len(path) + 1):
            address = path[:length]
            entry = self.tree[address]
            if self.solved(address):
                return
            key = entry.key[0]
            if entry.kind != "or":
                continue
            poor = (
                self.visits(address) >= self.config.disprove_visits and self.mean(address) <= self.config.disprove_value
            )
            asked = key not in self.tried and poor
            if asked:
                self.tried.add(key)
                self.simulations += 1
            if key in self.tried and key in self.false:
                entry.false = True
            if asked or entry.false:
                return

    # -- the result --------------------------------------------------------------------------------------------------

    def describe(self, address: Address = ()) -> dict[str, Any]:
        entry = self.tree[address]
        return {
            "kind": entry.kind,
            "key": entry.key,
            "tactic": min(entry.texts, key=len, default=None),
            "N": len(entry.values),
            "W": sum(entry.values),
            "E": entry.expansions,
            "P": entry.mass,
            "solved": self.solved(address),
            "dead": self.dead(address),
            "children": [self.describe(child) for child in self.below(address)],
        }


def described(node: Node) -> dict[str, Any]:
    """What `Oracle.describe` says of its tree, of a tree of the search."""
    return {
        "kind": {Kind.OR: "or", Kind.AND: "and", Kind.CLOSED: "closed"}[node.kind],
        "key": node.key,
        "tactic": node.tactic,
        "N": node.visits,
        "W": node.value_sum,
        "E": node.expansions,
        "P": node.prior,
        "solved": node.solved,
        "dead": node.dead,
        "children": [described(child) for child in node.children],
    }
