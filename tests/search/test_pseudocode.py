"""The preset `alphaproof-pseudocode` against AlphaProof's published pseudocode, written down again from what it does.

`Pseudocode` shares nothing with the search and its plain reference but the world's answers. Where several children have
the same score it takes the one that was added first, as the search does; the pseudocode compares the texts of tactics
there. The trees of all worlds are kept as digests in `pseudocode_trees.json`, and some of them whole.
`python -m tests.search.test_pseudocode` writes the file anew.
"""

import hashlib
import json
import random
from dataclasses import replace
from functools import cache
from math import exp, log, sqrt
from pathlib import Path
from typing import Any

import pytest

from nanoproof.lean.types import Branch, TacticApplied
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Kind, Node, or_node
from nanoproof.search.policy import Suggestion
from nanoproof.search.reference import PlainNode, plain_search
from nanoproof.search.search import search
from tests.fakes.lean import ScriptedLean, branch
from tests.fakes.policy import ScriptedPolicy, suggestion
from tests.fakes.world import RandomLean, RandomPolicy, state
from tests.helpers import NIGHTLY

WORLDS = range(200)
WHOLE = (25, 91, 105)
SIMULATIONS = 100
KEPT = Path(__file__).with_name("pseudocode_trees.json")


class OnceEach(RandomPolicy):
    """A random policy that names every tactic once: the pseudocode's network returns one number for each."""

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        answer = super().suggest(state_text, seed)
        return replace(answer, counts=(1,) * len(answer.tactics))


class PseudoNode:
    def __init__(self, branch: Branch | None, prior: float, reward: float, is_and: bool, terminal: bool) -> None:
        self.branch, self.prior, self.reward = branch, prior, reward
        self.is_and, self.optimal = is_and, terminal
        self.visit_count, self.evaluations, self.value_sum = 0, 0, 0.0
        self.children: dict[str, PseudoNode] = {}

    def value(self) -> float:
        return self.value_sum / self.visit_count if self.visit_count else 0.0


class Pseudocode:
    """The published search, with its published constants; `ps_c` alone is varied, to expand nodes again early."""

    pb_c_base, pb_c_init, discount, temperature, no_legal_actions, ps_alpha = 3200, 0.001, 0.99, 200, -40, 0.6

    def __init__(self, lean: RandomLean, policy: RandomPolicy, ps_c: float) -> None:
        self.lean, self.policy, self.ps_c = lean, policy, ps_c

    def run(self, start: Branch, simulations: int) -> PseudoNode:
        root = PseudoNode(start, 1.0, 0.0, False, False)
        for _ in range(simulations):
            path = [root]
            while path[-1].children and not self.samples_again(path[-1]):
                path.append(self.select(path[-1]))
            assert path[-1].branch is not None
            answer = self.policy.suggest(path[-1].branch.state.text)
            self.expand(path[-1], dict(zip(answer.tactics, answer.logprobs, strict=True)))
            self.back_up(path, -answer.value)
            if root.optimal:
                break
        return root

    def samples_again(self, node: PseudoNode) -> bool:
        return not node.is_and and node.evaluations <= self.ps_c * node.visit_count**self.ps_alpha

    def select(self, node: PseudoNode) -> PseudoNode:
        return max(node.children.values(), key=lambda child: self.ucb(node, child))

    def ucb(self, parent: PseudoNode, child: PseudoNode) -> float:
        c = log((parent.visit_count + self.pb_c_base + 1) / self.pb_c_base) + self.pb_c_init
        c *= sqrt(parent.visit_count) / (child.visit_count + 1)
        exploration = c * child.prior / sum(sibling.prior for sibling in parent.children.values())
        score = 0.0
        if child.visit_count > 0:
            score = self.discount ** (-1 - (child.reward + child.value()))
        if parent.is_and:
            score = -1e9 if child.optimal else 1 - score
        return exploration + score

    def expand(self, node: PseudoNode, logprobs: dict[str, float]) -> None:
        node.evaluations += 1
        for tactic, logprob in logprobs.items():
            prior = exp(logprob / self.temperature)
            if tactic in node.children:
                node.children[tactic].prior += prior
                continue
            assert node.branch is not None
            (result,) = self.lean.apply(node.branch, [tactic])
            if not isinstance(result, TacticApplied):
                continue
            left = result.branches
            child = PseudoNode(left[0] if len(left) == 1 else None, prior, -1.0, len(left) > 1, not left)
            node.children[tactic] = child
            node.optimal |= not left
            if len(left) > 1:
                child.evaluations += 1
                for number, goal in enumerate(left):
                    child.children[f"focus {number}"] = PseudoNode(goal, 1 / len(left), 0.0, False, False)

    def back_up(self, path: list[PseudoNode], value: float) -> None:
        if not path[-1].children:
            value = self.no_legal_actions
        optimal = False
        for depth in reversed(range(len(path))):
            node = path[depth]
            node.value_sum += value
            node.visit_count += 1
            if node.is_and:
                optimal = all(child.optimal for child in node.children.values())
            else:
                optimal = optimal or node.optimal
            node.optimal = optimal
            if depth > 0 and path[depth - 1].is_and:
                siblings = path[depth - 1].children.values()
                value = min([1.0, *(c.value() for c in siblings if not c.optimal and c.visit_count > 0)])
            else:
                value = node.reward + value


def world(seed: int) -> tuple[RandomLean, RandomPolicy, float]:
    rng = random.Random(f"pseudocode {seed}")
    lean = RandomLean(seed, rng.choice([12, 40, 400]), close=rng.choice([0.0, 0.01, 0.04]), coupled=True)
    return lean, OnceEach(seed), rng.choice([0.01, 0.3])


def published(seed: int) -> PseudoNode:
    lean, policy, ps_c = world(seed)
    return Pseudocode(lean, policy, ps_c).run(state(0), SIMULATIONS)


def ours(seed: int) -> Node:
    lean, policy, ps_c = world(seed)
    root = or_node(state(0))
    config = SearchConfig.preset("alphaproof-pseudocode", progressive_c=ps_c)
    search(root, policy, lean, config, SIMULATIONS, SearchLog())
    return root


Described = list[Any]
"""N, W, E, the share of its siblings' priors, solved, and the children with their tactics (None for a branch)."""


def described(root: PseudoNode) -> Described:
    def of(node: PseudoNode, mass: float) -> Described:
        below = sum(child.prior for child in node.children.values())
        children = [[None if node.is_and else tactic, of(child, below)] for tactic, child in node.children.items()]
        numbers = [node.visit_count, round(node.value_sum, 6), node.evaluations, round(node.prior / mass, 6)]
        return [*numbers, int(node.optimal), children]

    return of(root, 1.0)


def described_ours(root: Node) -> Described:
    def of(node: Node, mass: float) -> Described:
        children = [[child.tactic, of(child, node.prior_sum)] for child in node.children]
        numbers = [node.visits, round(node.value_sum, 6), node.expansions, round(node.prior / mass, 6)]
        return [*numbers, int(node.solved), children]

    return of(root, 1.0)


def described_plain(root: PlainNode) -> Described:
    def of(node: PlainNode, mass: float) -> Described:
        below = sum(child["P"] for child in node["children"])
        children = [[child["tactic"], of(child, below)] for child in node["children"]]
        numbers = [node["N"], round(node["W"], 6), node["E"], round(node["P"] / mass, 6)]
        return [*numbers, int(node["solved"]), children]

    return of(root, 1.0)


def digest(tree: Described) -> str:
    return hashlib.sha256(json.dumps(tree).encode()).hexdigest()[:16]


@cache
def kept() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(KEPT.read_text())
    return data


def test_trees_are_those_of_the_pseudocode() -> None:
    """A third of the worlds, nightly all: any one difference of the rules changes a fifth of the trees."""
    digests = kept()["digests"]
    others = [s for s in (WORLDS if NIGHTLY > 1 else WORLDS[::3]) if digest(described_ours(ours(s))) != digests[s]]
    assert others == []


def test_what_is_kept_are_trees_of_the_pseudocode() -> None:
    for seed in WORLDS if NIGHTLY > 1 else WORLDS[::16]:
        assert digest(described(published(seed))) == kept()["digests"][seed], seed


@pytest.mark.parametrize("seed", WHOLE)
def test_a_tree_is_the_one_that_was_kept(seed: int) -> None:
    assert described_ours(ours(seed)) == kept()["trees"][str(seed)]


def test_the_plain_reference_knows_the_rules_too() -> None:
    for seed in WORLDS[::16]:
        lean, policy, ps_c = world(seed)
        config = SearchConfig.preset("alphaproof-pseudocode", progressive_c=ps_c)
        tree = described_plain(plain_search(state(0), policy, lean, config, SIMULATIONS))
        assert digest(tree) == kept()["digests"][seed], seed


def test_the_worlds_hold_every_difference() -> None:
    """With any one of the rules as in the paper, many of the trees are others."""
    for changed in ({"rules": "paper"}, {"merge_same_state": True}, {"c_and": 64.0}):
        others = 0
        for seed in range(20):
            lean, policy, ps_c = world(seed)
            config = SearchConfig.preset("alphaproof-pseudocode", **{"progressive_c": ps_c, **changed})
            root = or_node(state(0))
            search(root, policy, lean, config, SIMULATIONS, SearchLog())
            others += digest(described_ours(root)) != kept()["digests"][seed]
        assert others >= 4, changed


def grown(simulations: int) -> Node:
    """`split` leaves B and C; B has a proof of one tactic, C none."""
    lean = ScriptedLean({"A": {"split": ["B", "C"], "back": ["A"]}, "B": {"b": []}, "C": {"c": ["C"]}})
    policy = ScriptedPolicy(
        {"A": [suggestion(["split", "back"], value=9)], "B": [suggestion(["b"], value=2)]}, suggestion(["c"], value=6)
    )
    root = or_node(branch("A"))
    search(root, policy, lean, SearchConfig.preset("alphaproof-pseudocode"), simulations, SearchLog())
    return root


def test_an_and_node_whose_visited_branches_are_solved_passes_on_plus_one() -> None:
    split = grown(2).children[0]
    assert split.kind is Kind.AND and [child.solved for child in split.children] == [True, False]
    assert (split.visits, split.value_sum) == (1, 1.0)
    assert grown(3).value_sum == -9 + (-1 + 1) + (-6 - 1), "its own value, then +1 and -6 with a tactic more"


def test_a_state_on_the_path_is_a_child_like_any_other() -> None:
    assert [child.state for child in grown(1).children] == ["", "⊢ A"]


def write() -> None:
    trees = [described(published(seed)) for seed in WORLDS]
    data = {"digests": [digest(tree) for tree in trees], "trees": {str(seed): trees[seed] for seed in WHOLE}}
    KEPT.write_text(json.dumps(data) + "\n")


if __name__ == "__main__":
    write()
