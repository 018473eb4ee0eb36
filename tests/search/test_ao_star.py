"""AO*: the likeliest whole proof is worked on, and all its branches count."""

from itertools import pairwise
from math import inf, log

import pytest

from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.frontier import LEAST_UNSEEN, AOStar
from nanoproof.search.node import Kind, Node, or_node, walk
from nanoproof.search.search import search
from tests.fakes.lean import ScriptedLean, branch
from tests.fakes.policy import ScriptedPolicy, suggestion
from tests.fakes.world import RandomLean, RandomPolicy, state

AO_STAR = SearchConfig(algorithm="ao-star", value_weight=1.0)


def grow(lean: ScriptedLean, policy: ScriptedPolicy, simulations: int, config: SearchConfig = AO_STAR) -> Node:
    root = or_node(branch("A"))
    search(root, policy, lean, config, simulations, SearchLog())
    return root


def test_all_branches_of_a_proof_count() -> None:
    """`split` is likelier than `step`, but its two branches together are not."""
    lean = ScriptedLean({"A": {"split": ["B", "C"], "step": ["D"]}})
    policy = ScriptedPolicy(
        {"A": [suggestion(["split", "step"], value=4.0, logprobs=[-0.5, -1.2])]}, default=suggestion((), value=9.0)
    )
    grow(lean, policy, 2)
    assert list(policy.asked) == ["A", "D"]  # 0.5 + 3 + 3 against 1.2 + 3


def test_the_dearest_branch_comes_first_and_where_it_fails_the_others_are_left() -> None:
    lean = ScriptedLean({"A": {"split": ["B", "C"], "step": ["D"]}, "B": {"b": ["B2"]}})
    policy = ScriptedPolicy(
        {
            "A": [suggestion(["split", "step"], value=2.0, logprobs=[-0.1, -2.0])],
            "B": [suggestion(["b"], value=5.0, logprobs=[-1.0])],  # more than was expected: now B is the dearer one
        },
        default=suggestion((), value=1.0),
    )
    grow(lean, policy, 3)
    assert list(policy.asked) == ["A", "B", "D"]
    assert policy.asked["C"] == 0


def test_a_state_without_children_is_left_and_comes_again() -> None:
    lean = ScriptedLean({"A": {"a": ["B"], "b": ["C"]}, "B": {"late": []}})
    policy = ScriptedPolicy(
        {
            "A": [suggestion(["a", "b"], value=2.0, logprobs=[-0.7, -0.8])],
            "B": [suggestion(["no"], logprobs=[-0.5]), suggestion(["late"], logprobs=[-2.0])],
        },
        default=suggestion(["no"], logprobs=[-0.1]),
    )
    root = grow(lean, policy, 10)
    assert root.solved
    assert list(policy.asked)[:3] == ["A", "B", "C"]
    assert policy.asked["B"] == 2


def test_what_was_suggested_already_makes_another_expansion_less_likely() -> None:
    root = or_node(branch("A"))
    lean = ScriptedLean({"A": {"a": ["B"]}})
    policy = ScriptedPolicy({"A": [suggestion(["a", "refused"], value=3.0, logprobs=[log(0.5), log(0.3)])]})
    search(root, policy, lean, AO_STAR, 1, SearchLog())
    assert root.seen_mass == pytest.approx(0.8)
    order = AOStar(root, AO_STAR)
    assert order._again(root) == pytest.approx(2.0 - log(0.2) + 1.0)
    root.seen_mass = 1.0
    assert order._again(root) == pytest.approx(2.0 - log(LEAST_UNSEEN) + 1.0)


@pytest.mark.parametrize("seed", range(20))
def test_the_costs_kept_are_those_of_the_whole_tree(seed: int) -> None:
    """A search in two parts (the second computes all costs anew) grows the tree that one in one part does."""
    trees = []
    for parts in ((60,), (1, 7, 23, 60)):
        root, log_, policy = or_node(state(0)), SearchLog(), RandomPolicy(seed)
        for simulations in parts:
            search(root, policy, RandomLean(seed, 1_000, close=0.02), AO_STAR, simulations, log_)
        trees.append([(node.kind, node.state, node.tactic, node.expansions, node.solved) for node in walk(root)])
    assert trees[0] == trees[1]


@pytest.mark.parametrize("seed", range(20))
def test_what_is_expanded_next_is_part_of_the_cheapest_proof(seed: int) -> None:
    root, log_, lean, policy = or_node(state(0)), SearchLog(), RandomLean(seed, 1_000, close=0.05), RandomPolicy(seed)
    for simulations in range(1, 40):
        search(root, policy, lean, AO_STAR, simulations, log_)
        if root.solved:
            return
        path = AOStar(root, AO_STAR).path()
        for node, below in pairwise(path):
            if node.kind is Kind.OR:
                assert price(below) - below.logprob == pytest.approx(price(node))
            else:
                assert price(below) == max(price(child) for child in node.children if not child.solved)


def price(node: Node) -> float:
    """Compute the cost of a node from its definition alone."""
    if node.solved:
        return 0.0
    if node.dead:
        return inf
    if node.kind is Kind.AND:
        return sum(price(child) for child in node.children)
    if not node.expansions:
        return max(0.0, -node.value_above - 1)
    again = max(0.0, -node.policy_value - 1) - log(max(LEAST_UNSEEN, 1 - node.seen_mass)) + node.expansions
    return min([again, *(price(child) - child.logprob for child in node.children)])
