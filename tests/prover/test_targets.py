from nanoproof.prover.proof import extract_proof, proof_depths, proof_sizes
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Kind, Node, or_node
from nanoproof.search.search import search
from tests.fakes.lean import ScriptedLean, branch
from tests.fakes.policy import ScriptedPolicy, suggestion


def solved_tree(script: dict, simulations: int = 64) -> Node:  # type: ignore[type-arg]
    policy = ScriptedPolicy({name: [suggestion(list(tactics), 3.0)] for name, tactics in script.items()})
    root = or_node(branch("A"))
    search(root, policy, ScriptedLean(script), SearchConfig(), simulations, SearchLog())
    assert root.solved
    return root


def test_closed_needs_nothing_or_one_more_than_its_best_and_and_as_much_as_its_worst() -> None:
    root = solved_tree({"A": {"s": ["B", "C"]}, "B": {"b": []}, "C": {"c": ["D"]}, "D": {"d": []}})
    needed = {(node.kind, node.state): depth for node, depth in proof_depths(root).items()}
    assert needed[Kind.CLOSED, ""] == 0
    assert needed[Kind.OR, "⊢ B"] == 1
    assert needed[Kind.OR, "⊢ C"] == 2
    assert needed[Kind.AND, ""] == 2
    assert needed[Kind.OR, "⊢ A"] == 3


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
