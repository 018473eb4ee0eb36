"""What holds in every tree, on random worlds with merges, cycles, splits, refusals and timeouts."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Kind, Node, or_node, walk
from nanoproof.search.search import search
from nanoproof.search.tree_json import tree_from_json, tree_to_json
from tests.fakes.world import RandomLean, RandomPolicy, state


class World:
    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.lean = RandomLean(seed, num_states=rng.choice([4, 12, 10_000]), close=rng.choice([0.0, 0.02, 0.1]))
        self.policy = RandomPolicy(seed)
        preset = rng.choice(["default", "alphaproof"])
        self.config = SearchConfig.preset(preset, progressive_c=rng.choice([0.01, 0.1, 1.0]))  # type: ignore[arg-type]

    def grown(self, num_simulations: int) -> Node:
        root = or_node(state(0))
        search(root, self.policy.again(), self.lean, self.config, num_simulations, SearchLog())
        return root


worlds = st.integers(0, 10_000).map(World)
in_many_worlds = settings(max_examples=25, deadline=None)


@in_many_worlds
@given(worlds)
def test_visits_add_up(world: World) -> None:
    for node in walk(world.grown(60)):
        below = sum(child.visits for child in node.children)
        own = node.expansions if node.kind is Kind.OR else 0
        assert node.visits == below + own


def solved_by_hand(node: Node) -> bool:
    if node.kind is Kind.AND:
        return all(solved_by_hand(child) for child in node.children)
    return node.kind is Kind.CLOSED or any(solved_by_hand(child) for child in node.children)


@in_many_worlds
@given(worlds)
def test_solved_marks_equal_brute_force(world: World) -> None:
    for node in walk(world.grown(60)):
        assert node.solved == solved_by_hand(node)


@in_many_worlds
@given(worlds)
def test_values_are_finite_and_never_above_minus_one(world: World) -> None:
    longest = 20 + 60  # the largest value of the policy, and the longest path of tactics
    for node in walk(world.grown(60)):
        if node.visits:
            assert -max(longest, -world.config.no_legal_value + 60) <= node.value <= -1


@in_many_worlds
@given(worlds)
def test_expanding_again_never_removes_a_node(world: World) -> None:
    root, policy, log = or_node(state(0)), world.policy.again(), SearchLog()
    kept: set[Node] = {root}
    for simulations in range(1, 61):
        search(root, policy, world.lean, world.config, simulations, log)
        now = set(walk(root))
        assert kept <= now
        kept = now
    assert log.counts.nodes == len(kept)


@in_many_worlds
@given(worlds)
def test_no_state_comes_twice_on_a_path_or_among_siblings(world: World) -> None:
    stack: list[tuple[Node, frozenset[str]]] = [(world.grown(60), frozenset())]
    while stack:
        node, above = stack.pop()
        keys = [child.key for child in node.children]
        if node.kind is Kind.OR:
            assert node.key[0] not in above
            assert len(set(keys)) == len(keys)
            above |= {node.key[0]}
        stack += [(child, above) for child in node.children]


@in_many_worlds
@given(worlds)
def test_search_is_deterministic_for_a_seed(world: World) -> None:
    assert tree_to_json(world.grown(60)) == tree_to_json(world.grown(60))


@in_many_worlds
@given(worlds)
def test_search_in_two_parts_is_the_search_in_one(world: World) -> None:
    root, policy, log = or_node(state(0)), world.policy.again(), SearchLog()
    for num_simulations in (25, 60):
        search(root, policy, world.lean, world.config, num_simulations, log)
    assert tree_to_json(root) == tree_to_json(world.grown(60))


STORED = (
    *("kind", "state", "key", "tactic", "spellings", "finisher", "logprob", "prior"),
    *("visits", "value_sum", "value", "expansions", "solved", "dead", "born"),
)


def stored(root: Node) -> list[tuple[object, ...]]:
    """All that a tree's file has to keep, children and known tactics by their place in the tree."""
    place = {node: i for i, node in enumerate(walk(root))}
    return [
        (
            *(getattr(node, name) for name in STORED),
            [place[child] for child in node.children],
            {tactic: child and place[child] for tactic, child in node.known.items()},
            [(simulation, round(value, 4)) for simulation, value in node.ends],
        )
        for node in walk(root)
    ]


@in_many_worlds
@given(worlds)
def test_a_search_replayed_from_its_file_has_the_same_visits_values_and_solved_nodes(world: World) -> None:
    """By the back-up of SEARCH, written out once more: from the node that each simulation ended in."""
    root = world.grown(60)
    data, nodes = json.loads(json.dumps(tree_to_json(root))), list(walk(root))
    count, solved = len(nodes), [kind == "c" for kind in data["kind"]]
    below = [[child for child in range(count) if data["parent"][child] == node] for node in range(count)]
    visits, sums = [0] * count, [0.0] * count
    for simulation, (end, value) in enumerate(zip(data["ends"], data["values"], strict=True), 1):
        assert data["born"][end] < simulation
        node = end
        while node >= 0:
            there = [child for child in below[node] if data["born"][child] <= simulation]
            if data["kind"][node] == "a":
                solved[node] = all(solved[child] for child in there)
                visited = [child for child in there if visits[child]]
                worst = [child for child in visited if not solved[child]] or visited
                value = min(sums[child] / visits[child] for child in worst)
            else:
                solved[node] = any(solved[child] for child in there)
                value -= node != end
            visits[node], sums[node], node = visits[node] + 1, sums[node] + value, data["parent"][node]
    assert (visits, solved) == ([node.visits for node in nodes], [node.solved for node in nodes])
    assert sums == pytest.approx([node.value_sum for node in nodes], abs=60 * 1e-4)
    assert sorted(data["born"])[:1] == [0] and max(data["born"]) <= len(data["ends"])


@in_many_worlds
@given(worlds)
def test_a_tree_comes_back_from_its_file_with_everything(world: World) -> None:
    root = world.grown(60)
    for number, node in enumerate(walk(root)):  # marks that this world does not set
        node.dead, node.finisher = number % 5 == 3, number % 7 == 2
    assert stored(tree_from_json(json.loads(json.dumps(tree_to_json(root))))) == stored(root)
