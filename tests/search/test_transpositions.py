"""States that come up in several places of a tree."""

from collections.abc import Sequence
from typing import Any

import pytest

from nanoproof.lean.types import Branch, TacticApplied, TacticFailed
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Kind, Node, or_node, walk
from nanoproof.search.search import search
from nanoproof.search.transpositions import branches_of
from nanoproof.search.tree_json import tree_to_json
from tests.fakes.lean import ScriptedLean, branch
from tests.fakes.policy import ScriptedPolicy, suggestion
from tests.fakes.world import RandomLean, RandomPolicy, state

REUSE: dict[str, dict[str, Any]] = {
    "mcts": {"reuse_proofs": True},
    "best-first": {"reuse_proofs": True, "algorithm": "best-first"},
    "equivalent": {"reuse_proofs": True, "merge_states": "equivalent"},
    "all": {"reuse_proofs": True, "merge_states": "equivalent", "defer_repeats": True},
}


def grown(seed: int, options: dict[str, Any], budgets: tuple[int, ...] = (80,)) -> tuple[Node, SearchLog, RandomLean]:
    """The tree of a world in which few states are met again and again."""
    lean = RandomLean(seed, 15, 0.03, copies=options.get("merge_states") == "equivalent")
    root, log, policy = or_node(state(0)), SearchLog(), RandomPolicy(seed)
    for budget in budgets:
        search(root, policy, lean, SearchConfig(**options), budget, log)
    return root, log, lean


def open_nodes(root: Node) -> list[Node]:
    stack, found = [root], []
    while stack:
        node = stack.pop()
        if not node.solved:
            found.append(node)
            stack += node.children
    return found


@pytest.mark.parametrize("name", REUSE)
def test_a_proof_that_is_reused_was_run_where_it_stands(name: str) -> None:
    reused = 0
    for seed in range(12):
        root, log, lean = grown(seed, REUSE[name])
        reused += log.counts.reused
        for node in walk(root):
            assert node.kind is Kind.CLOSED or node.solved == (all if node.kind is Kind.AND else any)(
                child.solved for child in node.children
            )
            for child in node.children if node.kind is Kind.OR else ():
                assert node.branch is not None and child.tactic is not None
                (result,) = lean.apply(node.branch, [child.tactic])
                assert isinstance(result, TacticApplied)
                assert result.branches == tuple(below.branch for below in branches_of(child))
        assert log.counts.nodes == sum(1 for _ in walk(root))
    assert reused > 5


@pytest.mark.parametrize("name", ["mcts", "best-first"])
def test_a_state_that_was_proved_is_open_nowhere(name: str) -> None:
    for seed in range(12):
        root, _, _ = grown(seed, REUSE[name])
        proved = {node.key for node in walk(root) if node.solved and node.kind is Kind.OR}
        assert proved.isdisjoint(node.key for node in open_nodes(root))


class LeanWithTags(ScriptedLean):
    """Looks results up by the state and its tags."""

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]:
        return [self._run(str(branch.handle), tactic) for tactic in tactics]


def test_a_proof_that_does_not_work_at_a_state_of_the_same_key_solves_nothing_there() -> None:
    lean = LeanWithTags({"A": {"split": ["B", "C"]}, "B": {"x": []}, "C": {"c": ["tag:B"]}})
    policy = ScriptedPolicy(
        {"A": [suggestion(["split"])], "B": [suggestion(["x"])], "C": [suggestion(["c"])]}, default=suggestion(())
    )
    root, log = or_node(branch("A")), SearchLog()
    search(root, policy, lean, SearchConfig(reuse_proofs=True), 12, log)
    assert lean.applied.count(("tag:B", "x")) == 2  # the replay, and the policy's suggestion
    assert not root.solved and log.counts.reused == 0
    lean.script["tag:B"] = {"x": []}
    root, log = or_node(branch("A")), SearchLog()
    assert search(root, policy, lean, SearchConfig(reuse_proofs=True), 12, log) == "solved"
    assert log.counts.reused == 1


def test_best_first_takes_a_state_up_again_only_when_nothing_new_is_left() -> None:
    lean = ScriptedLean({"A": {"a": ["B"], "b": ["C"]}, "C": {"c": ["B"], "d": ["D"]}})
    policy = ScriptedPolicy(
        {
            "A": [suggestion(["a", "b"], logprobs=[-1, -2])],
            "C": [suggestion(["c", "d"], logprobs=[-1, -9])],
        },
        default=suggestion(()),
    )
    orders = []
    for defer in (False, True):
        policy.asked.clear()
        asked: list[str] = []
        root, log = or_node(branch("A")), SearchLog()
        for simulations in range(1, 6):
            before = dict(policy.asked)
            search(root, policy, lean, SearchConfig(algorithm="best-first", defer_repeats=defer), simulations, log)
            asked += [name for name, times in policy.asked.items() if times > before.get(name, 0)]
        orders.append("".join(asked))
    assert orders == ["ABCBD", "ABCDA"]


@pytest.mark.parametrize("algorithm", ["mcts", "best-first"])
def test_a_search_in_two_parts_is_the_search_in_one(algorithm: str) -> None:
    for seed in range(6):
        options = {**REUSE["all"], "algorithm": algorithm}
        parts, whole = (tree_to_json(grown(seed, options, budgets)[0]) for budgets in ((30, 80), (80,)))
        assert parts == whole
