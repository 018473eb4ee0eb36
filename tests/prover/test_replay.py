"""The proof of a solved tree, found again in a Lean that is not quite the one of the search."""

from collections.abc import Sequence

from nanoproof.lean.types import Branch, TacticApplied, TacticFailed
from nanoproof.prover.replay import MemoizedLean, replay_tree
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Node, or_node
from nanoproof.search.search import search
from nanoproof.search.tree_json import tree_from_json, tree_to_json
from tests.fakes.lean import Outcome, ScriptedLean, branch
from tests.fakes.policy import ScriptedPolicy, suggestion

Script = dict[str, dict[str, Outcome]]

# From A two ways lead to the end, of which the first is shorter; C below has two ways too.
SCRIPT: Script = {
    "A": {"go": ["B"], "split": ["C", "D"]},
    "B": {"b": []},
    "C": {"c": [], "cc": ["E"]},
    "D": {"d": ["B"]},
    "E": {"e": []},
}


def solved_everywhere(script: Script = SCRIPT) -> Node:
    """The tree of the script with every state solved in every way, which a search that stops early would not give."""
    policy = ScriptedPolicy({name: [suggestion(list(options), 3.0)] for name, options in script.items()})
    root = or_node(branch("A"))
    log = SearchLog()
    stack = [root]
    while stack:
        node = stack.pop()
        if node.branch is not None:
            node.solved = False
            search(node, policy, ScriptedLean(script), SearchConfig(), log.counts.simulations + 1, log)
        stack += node.children
        node.solved = True
    return root


def proof(script: Script, root: Node | None = None) -> list[str] | None:
    replayed = replay_tree(ScriptedLean(script), branch("A"), root or solved_everywhere())
    return None if replayed is None else [step.tactic for step in replayed.steps]


def without(state: str, *tactics: str) -> Script:
    options = {tactic: result for tactic, result in SCRIPT[state].items() if tactic not in tactics}
    return {**SCRIPT, state: options}


def test_the_shortest_proof_is_taken_where_all_of_them_work() -> None:
    assert proof(SCRIPT) == ["go", "b"]


def test_where_an_edge_is_broken_another_solved_one_is_taken() -> None:
    assert proof(without("A", "go")) == ["split", "c", "d", "b"]


def test_where_an_edge_below_a_split_is_broken_only_that_one_is_replaced() -> None:
    script = {**without("A", "go"), "C": {"cc": ["E"]}}
    assert proof(script) == ["split", "cc", "e", "d", "b"]


def test_where_nothing_below_an_edge_works_the_edge_itself_is_given_up() -> None:
    nothing_below: Script = {**SCRIPT, "C": {}, "A": {"split": ["C", "D"], "go": ["B"]}}
    assert proof(nothing_below) == ["go", "b"]
    assert proof({**nothing_below, "A": {"split": ["C", "D"]}}) is None


def test_an_edge_that_leaves_more_branches_than_it_did_is_broken() -> None:
    assert proof({**SCRIPT, "A": {**SCRIPT["A"], "go": ["B", "E"]}}) == ["split", "c", "d", "b"]


def test_an_edge_that_now_closes_its_branch_is_all_of_its_proof() -> None:
    assert proof({**SCRIPT, "A": {**SCRIPT["A"], "go": []}}) == ["go"]


def test_a_tree_from_a_file_is_replayed_around_broken_edges_too() -> None:
    read = tree_from_json(tree_to_json(solved_everywhere()))
    assert proof(SCRIPT, read) == ["go", "b"]
    assert proof(without("A", "go"), read) == ["split", "c", "d", "b"]


class SlowAtFirst(ScriptedLean):
    """Every tactic runs out of time the first time it is run."""

    def _run(self, state: str, tactic: str) -> TacticApplied | TacticFailed:
        result = super()._run(state, tactic)
        if self.applied.count((state, tactic)) == 1:
            return TacticFailed("timeout", "scripted")
        return result


def test_a_tactic_that_runs_out_of_time_is_given_a_second_try() -> None:
    replayed = replay_tree(SlowAtFirst(SCRIPT), branch("A"), solved_everywhere())
    assert replayed is not None and [step.tactic for step in replayed.steps] == ["go", "b"]


def test_what_was_run_before_an_edge_turned_out_broken_is_not_run_again() -> None:
    lean = ScriptedLean({**without("A", "go"), "D": {"d": ["B"]}, "C": {"cc": ["E"]}})
    assert replay_tree(lean, branch("A"), solved_everywhere()) is not None
    assert len(lean.applied) == len(set(lean.applied))


def test_only_what_is_new_is_asked() -> None:
    lean = ScriptedLean(SCRIPT)
    asked = MemoizedLean(lean)
    start = branch("A")
    first = asked.apply(start, ["go", "no", "go"])
    assert asked.apply(start, ["split", "no"])[1] is first[1] and first[0] is first[2]
    assert [tactic for _, tactic in lean.applied] == ["go", "no", "split"]
    asked.apply(branch("A"), ["go"])  # another branch, although of the same state
    assert [tactic for _, tactic in lean.applied][3:] == ["go"]


class Tagged(ScriptedLean):
    """Case tags are part of the states that the script names."""

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]:
        return [self._run(str(branch.handle), tactic) for tactic in tactics]


def test_that_spelling_is_taken_for_whose_goals_the_rest_was_found() -> None:
    """Two tactics leave the same goals but for tags: one node, called by the shorter text, found with the other."""
    script: Script = {
        "A": {"refine both": ["x:C", "y:D"], "split": ["l:C", "r:D"]},
        "x:C": {"case x": []},
        "y:D": {"case y": []},
    }
    tactics = {"A": ["refine both", "split"], "C": ["case x"], "D": ["case y"]}
    root = or_node(branch("A"))
    policy = ScriptedPolicy({state: [suggestion(found)] for state, found in tactics.items()})
    assert search(root, policy, Tagged(script), SearchConfig(), 8, SearchLog()) == "solved"
    assert (root.children[0].tactic, root.children[0].spellings) == ("split", ("refine both",))
    replayed = replay_tree(Tagged(script), branch("A"), root)
    assert replayed is not None and [step.tactic for step in replayed.steps] == ["refine both", "case x", "case y"]
