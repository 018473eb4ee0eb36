import json
from dataclasses import replace

import pytest

from nanoproof.lean.types import ProcessLost
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Kind, Node, or_node, walk
from nanoproof.search.render import render_tree
from nanoproof.search.search import least_left, search
from nanoproof.search.tree_json import tree_from_json, tree_to_json
from tests.fakes.lean import ScriptedLean, branch, crash
from tests.fakes.policy import ScriptedPolicy, suggestion

DEFAULT = SearchConfig()


def grow(
    lean: ScriptedLean, policy: ScriptedPolicy, simulations: int = 1, config: SearchConfig = DEFAULT
) -> tuple[Node, SearchLog]:
    root, log = or_node(branch("A")), SearchLog()
    search(root, policy, lean, config, simulations, log)
    return root, log


def tactics(node: Node) -> list[str | None]:
    return [child.tactic for child in node.children]


def test_tactics_of_one_expansion_run_in_a_single_call() -> None:
    lean = ScriptedLean({"A": {"a": ["B"], "b": ["C"]}})
    grow(lean, ScriptedPolicy({"A": [suggestion(["a", "b", "c"])]}))
    assert lean.calls == 1
    assert lean.applied == [("A", "a"), ("A", "b"), ("A", "c")]


def test_refused_tactics_leave_nothing_and_are_reported_once() -> None:
    root, log = grow(ScriptedLean({}), ScriptedPolicy({"A": [suggestion(["a", "b"])]}), simulations=3)
    assert not root.children
    assert list(log.failed_tactics) == [("⊢ A", "a"), ("⊢ A", "b")]
    assert log.counts.rejected == 2


def test_timeouts_and_banned_tactics_are_no_refusals() -> None:
    lean = ScriptedLean({"A": {"slow": "timeout", "sorry": "banned"}})
    root, log = grow(lean, ScriptedPolicy({"A": [suggestion(["slow", "sorry"])]}))
    assert not root.children
    assert not log.failed_tactics
    assert (log.counts.timeouts, log.counts.banned, log.counts.rejected) == (1, 1, 0)


def test_a_tactic_that_ran_out_of_time_may_be_run_again() -> None:
    lean = ScriptedLean({"A": {"slow": "timeout"}})
    policy = ScriptedPolicy({"A": [suggestion(["slow"])]})
    root, log = or_node(branch("A")), SearchLog()
    search(root, policy, lean, DEFAULT, 1, log)
    lean.script["A"]["slow"] = []
    assert search(root, policy, lean, DEFAULT, 2, log) == "solved"


def test_a_lost_server_leaves_the_tree_as_it_was_and_the_search_can_go_on() -> None:
    lean = ScriptedLean({"A": {"a": ["B"]}, "B": {"b": []}}, crashes={2: crash()})
    policy = ScriptedPolicy({"A": [suggestion(["a"])], "B": [suggestion(["b"])]})
    root, log = or_node(branch("A")), SearchLog()
    search(root, policy, lean, DEFAULT, 1, log)
    before, counts = tree_to_json(root), log.counts.simulations
    with pytest.raises(ProcessLost):
        search(root, policy, lean, DEFAULT, 2, log)
    assert tree_to_json(root) == before
    assert log.counts.simulations == counts
    assert search(root, policy, lean, DEFAULT, 2, log) == "solved"


def test_a_state_with_other_case_tags_is_the_same_state() -> None:
    lean = ScriptedLean({"A": {"longer": ["x:B"], "short": ["y:B"], "loop": ["z:A"]}})
    root, log = grow(lean, ScriptedPolicy({"A": [suggestion(["longer", "short", "loop"])]}))
    assert tactics(root) == ["short"]
    assert root.children[0].spellings == ("longer",)
    assert root.children[0].prior == 2
    assert (log.counts.merged, log.counts.cycles) == (1, 1)


def test_two_tactics_that_close_a_branch_are_one_edge_with_the_shorter_text() -> None:
    lean = ScriptedLean({"A": {"exact foo": [], "rfl": []}})
    root, _ = grow(lean, ScriptedPolicy({"A": [suggestion(["exact foo", "rfl"])]}))
    assert tactics(root) == ["rfl"]


def test_a_split_that_needs_its_own_starting_point_is_a_cycle() -> None:
    lean = ScriptedLean({"A": {"cut": ["B", "A"]}})
    root, log = grow(lean, ScriptedPolicy({"A": [suggestion(["cut"])]}))
    assert not root.children
    assert log.counts.cycles == 1


def test_coupled_goals_stay_in_one_branch() -> None:
    lean = ScriptedLean({"A": {"a": ["P ?x & Nat", "C"]}})
    policy = ScriptedPolicy({"A": [suggestion(["a"])]})
    root, _ = grow(lean, policy, simulations=2)
    split = root.children[0]
    assert split.kind is Kind.AND
    assert [child.state for child in split.children] == ["⊢ P ?x\n\n⊢ Nat", "⊢ C"]
    assert policy.asked["P ?x & Nat"] == 1


def test_solved_branches_are_not_entered_again() -> None:
    lean = ScriptedLean({"A": {"split": ["B", "C"]}, "B": {"b": []}})
    policy = ScriptedPolicy({"A": [suggestion(["split"])], "B": [suggestion(["b"])]})
    grow(lean, policy, simulations=20)
    assert policy.asked["B"] == 1


def test_search_stops_at_the_first_proof() -> None:
    lean = ScriptedLean({"A": {"a": []}})
    root, log = grow(lean, ScriptedPolicy({"A": [suggestion(["a"])]}), simulations=50)
    assert root.solved
    assert log.counts.simulations == 1


def test_search_stops_at_the_node_limit() -> None:
    lean = ScriptedLean({"A": {"a": ["B"], "b": ["C"]}, "B": {"c": ["D"]}})
    policy = ScriptedPolicy({"A": [suggestion(["a", "b"])], "B": [suggestion(["c"])]})
    root, log = or_node(branch("A")), SearchLog()
    assert search(root, policy, lean, SearchConfig(max_nodes=3), 50, log) == "nodes"
    assert log.counts.simulations == 1


def test_search_stops_when_told_to_before_the_next_simulation() -> None:
    answers = iter([False, False, True])
    root, log = or_node(branch("A")), SearchLog()
    assert search(root, ScriptedPolicy({}), ScriptedLean({}), DEFAULT, 50, log, lambda: next(answers)) == "stopped"
    assert log.counts.simulations == 2


def test_tactic_samples_count_duplicates_and_useless_samples() -> None:
    drawn = replace(suggestion(["a", "b"], counts=[4, 2]), num_dropped=3)
    _, log = grow(ScriptedLean({}), ScriptedPolicy({"A": [drawn]}))
    assert (log.counts.tactic_samples, log.counts.tactics_run) == (9, 2)


LEAF = SearchConfig(finishers=("fin", "fin2"))
OFFERED = SearchConfig(finishers=("fin",), finisher_use="candidate")


def test_a_finisher_closes_a_new_leaf_before_the_policy_is_asked() -> None:
    lean = ScriptedLean({"A": {"fin2": [], "p": []}})
    policy = ScriptedPolicy({"A": [suggestion(["p"])]})
    root, log = grow(lean, policy, config=LEAF)
    assert root.solved
    assert [(child.tactic, child.finisher) for child in root.children] == [("fin2", True)]
    assert root.value == -1
    assert not policy.asked
    assert not log.failed_tactics


def test_a_finisher_that_leaves_goals_leaves_no_trace_on_a_leaf() -> None:
    lean = ScriptedLean({"A": {"fin": ["B"], "p": ["C"]}})
    root, _ = grow(lean, ScriptedPolicy({"A": [suggestion(["p"])]}), config=LEAF)
    assert tactics(root) == ["p"]


def test_finishers_are_tried_on_a_leaf_only_the_first_time() -> None:
    lean = ScriptedLean({})
    grow(lean, ScriptedPolicy({}), simulations=4, config=LEAF)
    assert lean.applied == [("A", "fin"), ("A", "fin2")]


def test_offered_finishers_are_candidates_like_the_policys() -> None:
    lean = ScriptedLean({"A": {"fin": ["B"], "p": ["C"]}})
    root, log = grow(lean, ScriptedPolicy({"A": [suggestion(["p", "q"])]}), config=OFFERED)
    assert [(child.tactic, child.finisher) for child in root.children] == [("p", False), ("fin", True)]
    assert list(log.failed_tactics) == [("⊢ A", "q")]


def test_refused_finishers_are_not_the_policys_failures() -> None:
    _, log = grow(ScriptedLean({}), ScriptedPolicy({}), config=OFFERED)
    assert log.counts.rejected == 1
    assert not log.failed_tactics


def test_an_offered_finisher_has_the_log_probability_that_it_is_given() -> None:
    config = replace(OFFERED, finisher_logprob=-3.0, prior_temperature=1.0)
    root, _ = grow(ScriptedLean({"A": {"fin": ["B"]}}), ScriptedPolicy({}), 1, config)
    (child,) = root.children
    assert child.logprob == -3.0 and child.prior == pytest.approx(0.0498, abs=1e-4)


def test_what_the_policy_says_too_is_not_marked_as_a_finishers() -> None:
    lean = ScriptedLean({"A": {"fin": [], "exact h": []}})
    root, _ = grow(lean, ScriptedPolicy({"A": [suggestion(["exact h"])]}), config=OFFERED)
    assert [(child.tactic, child.finisher) for child in root.children] == [("exact h", False)]


def test_solvers_are_stripped_from_what_the_policy_says_but_not_from_the_finishers() -> None:
    said = ["grind", "intro h; grind [h]", "exact grind_lemma", "exact Foo.lia", "(aesop)", "simp"]
    config = SearchConfig(disable_solvers=True, finishers=("grind",), finisher_use="candidate")
    lean = ScriptedLean({})
    grow(lean, ScriptedPolicy({"A": [suggestion(said)]}), config=config)
    assert [tactic for _, tactic in lean.applied] == ["exact grind_lemma", "exact Foo.lia", "simp", "grind"]


def test_priors_too_small_for_a_float_do_not_stop_the_search() -> None:
    lean = ScriptedLean({"A": {"a": ["B"]}, "B": {"b": []}})
    policy = ScriptedPolicy({"A": [suggestion(["a"], logprobs=[-1e6])], "B": [suggestion(["b"])]})
    root, _ = grow(lean, policy, simulations=5, config=SearchConfig(prior_temperature=1.0))
    assert root.solved


def test_stored_tree_is_plain_json_and_reads_as_text() -> None:
    lean = ScriptedLean({"A": {"split": ["B", "C"]}, "B": {"b": []}, "C": {"c": ["D"]}})
    policy = ScriptedPolicy({"A": [suggestion(["split"])], "B": [suggestion(["b"])], "C": [suggestion(["c"])]})
    root, _ = grow(lean, policy, simulations=3)
    stored = json.loads(json.dumps(tree_to_json(root)))
    text = render_tree(tree_from_json(stored))
    assert text == render_tree(root)
    lines = text.splitlines()
    assert lines[0].startswith("· ⊢ A") and "N=3" in lines[0]
    assert "split → all 2 branches" in lines[1]
    assert "✓ branch 1 ⊢ B" in lines[2]
    assert "✓ b → closed" in lines[3]
    assert "untried" in lines[4]
    for name in ("born", "ends", "values"):  # a file of an earlier version has none of them
        del stored[name]
    assert render_tree(tree_from_json(stored)) == text


def test_long_trees_are_cut_with_a_count_of_what_is_left_out() -> None:
    lean = ScriptedLean({"A": {"split": ["B", "C"]}})
    root, _ = grow(lean, ScriptedPolicy({"A": [suggestion(["split"])]}), simulations=3)
    assert render_tree(root, max_nodes=3).splitlines()[-1] == "... and 1 more branches of the tree"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"gamma": 1.5}, r"search\.gamma must be <= 1, got 1\.5"),
        ({"prior_temperature": 0.0}, r"search\.prior_temperature must be > 0, got 0\.0"),
        ({"no_legal_value": 1.0}, r"search\.no_legal_value must be <= 0, got 1\.0"),
        ({"finishers": (" ",)}, r"must not hold empty tactics"),
    ],
)
def test_constants_out_of_range_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SearchConfig(**wrong)  # type: ignore[arg-type]


def test_presets_have_the_published_constants() -> None:
    alphaproof = SearchConfig.preset("alphaproof")
    assert (alphaproof.c_base, alphaproof.gamma, alphaproof.no_legal_value) == (3200, 0.99, -40)
    assert (alphaproof.unvisited_penalty, alphaproof.c_and, alphaproof.progressive_c) == (32, 64, 0.01)
    pseudocode = SearchConfig.preset("alphaproof-pseudocode")
    assert (pseudocode.c_base, pseudocode.c_and, pseudocode.rules) == (3200, 1, "pseudocode")
    with pytest.raises(ValueError, match="preset must be one of"):
        SearchConfig.preset("other")  # type: ignore[arg-type]


def test_what_seems_to_be_left_is_recorded_at_powers_of_two() -> None:
    """A chain of states, each six tactics away: one tactic more with each step that did not help."""
    chain = {f"{letter}": {f"to {after}": [after]} for letter, after in zip("ABCDEFGHI", "BCDEFGHIJ", strict=True)}
    policy = ScriptedPolicy({name: [suggestion(list(tactics), 6.0)] for name, tactics in chain.items()})
    _, log = grow(ScriptedLean(chain), policy, 8, replace(DEFAULT, algorithm="best-first"))
    assert [(estimate.simulations, estimate.best) for estimate in log.estimates] == [(1, 6), (2, 7), (4, 9), (8, 13)]
    assert log.estimates[1].mean == (6 + 7) / 2


def test_what_is_left_by_the_best_way_is_counted_from_the_root() -> None:
    script = {"A": {"s": ["B", "C"], "t": ["D"]}, "B": {"b": ["B2"]}, "C": {"c": ["C2"]}, "D": {"d": ["D2"]}}
    policy = ScriptedPolicy(
        {name: [suggestion(list(script.get(name, {})), 4.0)] for name in (*script, "B2", "C2", "D2")}
    )
    root, log = grow(ScriptedLean(script), policy, 1)
    assert least_left(root) == 4.0, "only the root was asked"
    root, _ = grow(ScriptedLean(script), policy, 4, replace(DEFAULT, algorithm="best-first"))
    values = {node.state: -node.value for node in walk(root) if node.visits and not node.children}
    assert least_left(root) == 1 + min(least_left(child) for child in root.children if child.visits)
    assert log.estimates[0].best == 4.0 and values is not None
