"""What can be switched off, limited or added: merging, values, the algorithm, bytes, disproof."""

from dataclasses import replace

import pytest

from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Node, or_node, walk
from nanoproof.search.search import search
from nanoproof.search.tree_json import tree_to_json
from tests.fakes.lean import ScriptedLean, branch
from tests.fakes.policy import ScriptedDisprover, ScriptedPolicy, suggestion
from tests.fakes.world import RandomLean, RandomPolicy, state

BEST_FIRST = SearchConfig(algorithm="best-first")


def grow(
    lean: ScriptedLean,
    policy: ScriptedPolicy,
    simulations: int,
    config: SearchConfig,
    disprover: ScriptedDisprover | None = None,
) -> tuple[Node, SearchLog]:
    root, log = or_node(branch("A")), SearchLog()
    search(root, policy, lean, config, simulations, log, disprover=disprover)
    return root, log


def test_without_merging_each_tactic_has_its_own_child_of_the_same_state() -> None:
    lean = ScriptedLean({"A": {"a": ["B"], "b": ["B"], "loop": ["A"]}})
    policy = ScriptedPolicy({"A": [suggestion(["a", "b", "a", "loop"])]})
    root, log = grow(lean, policy, 1, SearchConfig(merge_same_state=False))
    assert [(child.tactic, child.state, child.prior) for child in root.children] == [("a", "⊢ B", 2), ("b", "⊢ B", 1)]
    assert (log.counts.merged, log.counts.cycles) == (0, 1)


def test_without_values_every_leaf_is_taken_to_need_one_tactic() -> None:
    lean = ScriptedLean({"A": {"a": ["B"]}})
    root, _ = grow(lean, ScriptedPolicy({"A": [suggestion(["a"], value=30)]}), 1, SearchConfig(use_value=False))
    assert root.value == -1


def test_a_search_ends_when_its_tree_takes_too_many_bytes() -> None:
    lean, log = RandomLean(1, 1_000_000, close=0.0), SearchLog()
    config = SearchConfig(max_tree_mbytes=1)
    assert search(or_node(state(0)), RandomPolicy(1), lean, config, 10_000, log) == "bytes"
    assert 1e6 <= log.counts.tree_bytes < 1.1e6


def test_best_first_expands_the_path_of_largest_log_probability_whatever_its_value() -> None:
    lean = ScriptedLean({"A": {"a": ["B"], "b": ["C"]}, "B": {"c": ["D"]}, "C": {"d": ["E"], "e": ["F"]}})
    policy = ScriptedPolicy(
        {
            "A": [suggestion(["a", "b"], logprobs=[-3, -1])],
            "B": [suggestion(["c"], logprobs=[-1])],
            "C": [suggestion(["d", "e"], value=60, logprobs=[-1, -4])],  # E at -2, F at -5
        },
        default=suggestion(()),
    )
    grow(lean, policy, 6, BEST_FIRST)
    assert list(policy.asked) == ["A", "C", "E", "B", "D", "F"]  # 0, -1, -2, -3, -4, -5


def test_best_first_comes_back_to_what_it_expanded_when_nothing_new_is_left() -> None:
    lean = ScriptedLean({"A": {"a": ["B"], "b": []}})
    policy = ScriptedPolicy({"A": [suggestion(["a"]), suggestion(["b"])]})
    root, log = grow(lean, policy, 10, BEST_FIRST)
    assert root.solved
    assert log.counts.simulations == 3  # A, B, and A again


def test_best_first_leaves_solved_branches_alone() -> None:
    lean = ScriptedLean({"A": {"split": ["B", "C"]}, "B": {"b": [], "x": ["D"]}})
    policy = ScriptedPolicy({"A": [suggestion(["split"])], "B": [suggestion(["b", "x"])]})
    grow(lean, policy, 8, BEST_FIRST)
    assert (policy.asked["B"], policy.asked["D"]) == (1, 0)


def test_best_first_in_two_parts_is_best_first_in_one() -> None:
    lean = RandomLean(3, 40, close=0.0)
    trees = []
    for parts in ((60,), (20, 60)):
        root, log, policy = or_node(state(0)), SearchLog(), RandomPolicy(3)
        for simulations in parts:
            search(root, policy, lean, BEST_FIRST, simulations, log)
        trees.append(tree_to_json(root))
    assert trees[0] == trees[1]


def test_a_tactics_log_probability_is_kept_and_that_of_the_likelier_of_two_that_merge() -> None:
    lean = ScriptedLean({"A": {"a": ["B"], "b": ["B"]}})
    root, _ = grow(lean, ScriptedPolicy({"A": [suggestion(["a", "b"], logprobs=[-3, -2])]}), 1, SearchConfig())
    assert root.children[0].logprob == -2


DISPROVE = SearchConfig(disprove_inner=True, disprove_value=-5.0, disprove_visits=1, disprove_simulations=1)


def test_a_node_all_of_whose_children_are_dead_is_expanded_again() -> None:
    lean = ScriptedLean({"A": {"a": ["B"], "b": []}})
    policy = ScriptedPolicy({"A": [suggestion(["a"]), suggestion(["b"])]})
    root, log = grow(lean, policy, 10, DISPROVE, ScriptedDisprover(["B"]))
    assert root.solved
    assert [child.dead for child in root.children] == [True, False]
    assert log.counts.simulations == 4  # A, B, the try to disprove B, A again


def test_a_false_state_is_closed_wherever_it_comes_up_and_asked_about_once() -> None:
    lean = ScriptedLean({"A": {"a": ["B"], "c": ["C"]}, "C": {"d": ["B"], "e": ["D"]}})
    policy = ScriptedPolicy(
        {"A": [suggestion(["a", "c"])], "C": [suggestion(["d", "e"])]}, default=suggestion((), value=2)
    )
    disprover = ScriptedDisprover(["B"])
    root, log = grow(lean, policy, 12, DISPROVE, disprover)
    assert disprover.asked.count("B") == 1
    false = [node for node in walk(root) if node.state == "⊢ B"]
    assert [(node.dead, node.visits) for node in false] == [(True, 1), (True, 1)]
    assert log.counts.disproved == 2


def test_nothing_is_disproved_unless_it_is_asked_for() -> None:
    disprover = ScriptedDisprover(["B"])
    grow(ScriptedLean({"A": {"a": ["B"]}}), ScriptedPolicy({"A": [suggestion(["a"])]}), 5, SearchConfig(), disprover)
    assert not disprover.asked


def test_tries_to_disprove_do_not_exceed_the_simulations_that_are_left() -> None:
    lean = ScriptedLean({"A": {"a": ["B"]}})
    policy = ScriptedPolicy({"A": [suggestion(["a"])]})
    disprover = ScriptedDisprover([])
    _, log = grow(lean, policy, 2, DISPROVE, disprover)
    assert (log.counts.simulations, disprover.asked) == (2, [])


@pytest.mark.parametrize("algorithm", ["mcts", "best-first"])
def test_a_dead_node_is_not_visited_again(algorithm: str) -> None:
    lean, policy = RandomLean(5, 40, close=0.0), RandomPolicy(5)
    config = SearchConfig(
        algorithm=algorithm,  # type: ignore[arg-type]
        **{"disprove_inner": True, "disprove_value": -3.0, "disprove_visits": 2},
    )
    disprover = ScriptedDisprover([f"S{number}" for number in range(0, 40, 3)])
    root, log = or_node(state(0)), SearchLog()
    dead: dict[Node, int] = {}
    for simulations in range(10, 121, 10):
        search(root, policy, lean, config, simulations, log, disprover=disprover)
        assert all(node.dead and node.visits == visits for node, visits in dead.items())
        dead = {node: node.visits for node in walk(root) if node.dead}
    assert dead


def order_of(config: SearchConfig, policy: ScriptedPolicy, lean: ScriptedLean, simulations: int) -> list[str]:
    """The states in the order of their first expansion."""
    asked: list[str] = []
    root, log = or_node(branch("A")), SearchLog()
    for number in range(1, simulations + 1):
        search(root, policy, lean, config, number, log)
        asked += [name for name in policy.asked if name not in asked and policy.asked[name]]
    return asked


VALUED = {
    "A": [suggestion(["a", "b"], value=5, logprobs=[-1, -2])],
    "B": [suggestion(["c"], value=9, logprobs=[-2])],  # D at -3
    "C": [suggestion(["d"], value=4, logprobs=[-2])],  # E at -4
}


def test_best_first_adds_values_to_log_probabilities() -> None:
    lean = ScriptedLean({"A": {"a": ["B"], "b": ["C"]}, "B": {"c": ["D"]}, "C": {"d": ["E"]}})
    orders = [
        order_of(replace(BEST_FIRST, value_weight=weight), ScriptedPolicy(VALUED, suggestion(())), lean, 5)
        for weight in (0.0, 0.1, 1.0)
    ]
    assert orders == [
        list("ABCDE"),
        list("ABCDE"),
        list("ABCED"),
    ]  # E is five tactics nearer than D, and costs one more


def test_a_dead_end_is_given_up_after_its_expansions_and_so_is_what_needs_it() -> None:
    lean = ScriptedLean({"A": {"a": ["B"], "split": ["C", "D"]}, "B": {"b": ["E"]}})
    policy = ScriptedPolicy({"A": [suggestion(["a", "split"])], "B": [suggestion(["b"])]}, default=suggestion(()))
    root, _ = grow(lean, policy, 40, SearchConfig(dead_end_expansions=2))
    assert max(policy.asked[name] for name in "BCDE") == 2
    assert all(child.given_up for child in root.children)
    assert root.expansions > 20 and not root.given_up


@pytest.mark.parametrize("algorithm", ["mcts", "best-first"])
def test_what_is_given_up_is_not_visited_again(algorithm: str) -> None:
    config = SearchConfig(algorithm=algorithm, dead_end_expansions=1)  # type: ignore[arg-type]
    given_up = 0
    for seed in range(6):
        lean, policy = RandomLean(seed, 400, close=0.0), RandomPolicy(seed, samples=1)
        root, log = or_node(state(0)), SearchLog()
        visits: dict[Node, int] = {}
        for simulations in range(10, 101, 10):
            search(root, policy, lean, config, simulations, log)
            assert all(node.visits == before for node, before in visits.items())
            visits = {node: node.visits for node in walk(root) if node.given_up}
        given_up += len(visits)
        assert log.counts.given_up == len(visits)
    assert given_up > 10
