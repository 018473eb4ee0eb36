import random

from hypothesis import given, settings
from hypothesis import strategies as st

from nanoproof.lean.wire import Branch, TacticApplied
from nanoproof.prover.proof import Proof, depths
from nanoproof.prover.replay import replay
from nanoproof.prover.simplify import simplify
from nanoproof.prover.targets import SolvedStates, extract_proof, proof_depths, proof_sizes, value_targets
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Kind, Node, or_node
from nanoproof.search.search import search
from tests.fakes.lean import ScriptedLean, branch
from tests.fakes.policy import ScriptedPolicy, suggestion
from tests.fakes.world import RandomLean, RandomPolicy, state


def solved_tree(script: dict, simulations: int = 64) -> Node:  # type: ignore[type-arg]
    policy = ScriptedPolicy({name: [suggestion(list(tactics), 3.0)] for name, tactics in script.items()})
    root = or_node(branch("A"))
    search(root, policy, ScriptedLean(script), SearchConfig(), simulations, SearchLog())
    assert root.solved
    return root


def test_value_targets_are_closed_0_or_best_and_worst() -> None:
    root = solved_tree({"A": {"s": ["B", "C"]}, "B": {"b": []}, "C": {"c": ["D"]}, "D": {"d": []}})
    targets = {(node.kind, node.state): target for node, target in value_targets(root).items()}
    assert targets[Kind.CLOSED, ""] == 0
    assert targets[Kind.OR, "⊢ B"] == -1
    assert targets[Kind.OR, "⊢ C"] == -2
    assert targets[Kind.AND, ""] == -2
    assert targets[Kind.OR, "⊢ A"] == -3


def test_size_counts_all_branches_and_depth_the_longest() -> None:
    root = solved_tree({"A": {"s": ["B", "C"]}, "B": {"b": []}, "C": {"c": ["D"]}, "D": {"d": []}})
    assert proof_depths(root)[root] == 3
    assert proof_sizes(root)[root] == 4


def test_of_equally_short_ways_the_shorter_text_is_chosen() -> None:
    root = or_node(branch("A"))
    lean = ScriptedLean(
        {"A": {"long": ["B"], "go": ["C"], "far": ["D"]}, "B": {"x": []}, "C": {"x": []}, "D": {"y": ["C"]}}
    )
    policy = ScriptedPolicy({n: [suggestion(list(t))] for n, t in lean.script.items()})
    log = SearchLog()
    search(root, policy, lean, SearchConfig(), 1, log)
    for child in root.children:  # solve every way, which a search would not do
        search(child, policy, lean, SearchConfig(), 99, SearchLog())
    root.solved = True
    assert [step.tactic for step in extract_proof(root, proof_depths(root))] == ["go", "x"]


def proves(lean: RandomLean, start: Branch, steps: Proof) -> bool:
    stack = [start]
    for step in steps:
        result = lean.apply(stack.pop(), [step.tactic])[0]
        if not isinstance(result, TacticApplied) or len(result.branches) != step.branches:
            return False
        stack += reversed(result.branches)
    return not stack


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_simplified_proofs_still_prove_and_are_never_longer(seed: int) -> None:
    rng = random.Random(seed)
    lean = RandomLean(seed, num_states=rng.choice([6, 30]), close=0.08)
    root = or_node(state(0))
    search(root, RandomPolicy(seed), lean, SearchConfig(), 200, SearchLog())
    if not root.solved:
        return
    original = replay(lean, state(0), extract_proof(root, proof_depths(root)))
    assert original is not None
    assert depths(original.steps)[0] == proof_depths(root)[root]
    simplified = simplify(lean, original, SolvedStates(root))
    assert len(simplified.steps) <= len(original.steps)
    assert proves(lean, state(0), simplified.steps)
    assert [b.state.text for b in simplified.branches] == [step.state for step in simplified.steps]
