import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from nanolean.tests.each import each
from nanoproof.lean.types import CheckReport, LeanError, ProcessLost, ProtocolError, ServerTimeout, Theorem, Transition
from nanoproof.policy.added_tactics import with_added_tactics
from nanoproof.prover.attempt import Attempt, FailedTactic
from nanoproof.prover.check import RUNGS, UNLIMITED
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.repos.project_premises import ProjectPremises
from nanoproof.retrieval.retrieve_options import RetrieveOptions
from nanoproof.search.config import SearchConfig
from nanoproof.search.node import Kind, walk
from nanoproof.search.policy import PolicyTeam
from nanoproof.search.tree_json import tree_from_json
from tests.fakes.lean import Outcome, ScriptedLean, crash
from tests.fakes.policy import ScriptedPolicy, suggestion

THEOREM = Theorem("theorem foo : A := by sorry", "toys", "foo")
Script = dict[str, dict[str, Outcome]]


def policy_of(script: Script, value: float = 3.0, also: tuple[str, ...] = ()) -> ScriptedPolicy:
    """Suggests at each state all that the script knows there, and `also`."""
    return ScriptedPolicy({state: [suggestion([*tactics, *also], value)] for state, tactics in script.items()})


def attempt(
    script: Script,
    lean: ScriptedLean | None = None,
    policy: ScriptedPolicy | None = None,
    search: SearchConfig | None = None,
    options: ProverOptions | None = None,
    should_stop: Callable[[], bool] | None = None,
    theorem: Theorem = THEOREM,
) -> Attempt:
    prover = Prover(policy or policy_of(script), search or SearchConfig(), options or ProverOptions())
    return prover.prove(lean or ScriptedLean(script), theorem, 64, random.Random(0), should_stop)


CHAIN: Script = {"A": {"a": ["B"]}, "B": {"b": ["C"]}, "C": {"c": []}}


def test_a_proof_is_found_laid_out_and_checked() -> None:
    lean = ScriptedLean(CHAIN)
    result = attempt(CHAIN, lean)
    assert result.outcome == "proven"
    assert result.source == "theorem foo : A := by\n  a\n  b\n  c"
    assert lean.checked[0] == result.source
    assert result.num_tactics == 3
    assert result.check == {
        "environment": "fresh",
        "accepted": True,
        "reason": "",
        "axioms": [],
        "rungs": dict.fromkeys(RUNGS, True),
        "statement": "foo : as it stands",
    }


def test_transitions_count_the_tactics_still_needed() -> None:
    assert attempt(CHAIN).transitions == (
        Transition("⊢ A", "a", 3),
        Transition("⊢ B", "b", 2),
        Transition("⊢ C", "c", 1),
    )


def test_depth_of_a_split_is_that_of_its_longest_branch() -> None:
    script: Script = {"A": {"s": ["B", "C"]}, **{k: v for k, v in CHAIN.items() if k != "A"}}
    result = attempt(script)
    assert result.transitions == (
        Transition("⊢ A", "s", 3),
        Transition("⊢ B", "b", 2),
        Transition("⊢ C", "c", 1),
        Transition("⊢ C", "c", 1),
    )
    assert result.proof == "s\n· b\n  c\n· c"


def test_no_proof_is_unproven_with_the_refused_tactics() -> None:
    script: Script = {"A": {"a": ["B"], "slow": "timeout"}}
    result = attempt(script, policy=policy_of(script, also=("bad",)))
    assert (result.outcome, result.stop_reason, result.simulations) == ("unproven", "simulations", 64)
    assert result.failed_tactics == (("⊢ A", "bad"),)
    assert result.counts["timeouts"] > 0
    assert not result.transitions and not result.source


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        (CheckReport(("type mismatch\n more",), 0, ()), "Lean refuses the finished text: type mismatch"),
        (CheckReport((), 1, ("sorryAx",)), "the finished text still holds a sorry"),
        (CheckReport((), 0, ("propext", "cheat")), "the proof rests on cheat"),
        (CheckReport((), 0, ("Lean.ofReduceBool",)), "the proof rests on Lean.ofReduceBool"),
    ],
)
def test_what_the_final_check_refuses_is_not_proven(report: CheckReport, reason: str) -> None:
    result = attempt(CHAIN, ScriptedLean(CHAIN, report=report))
    assert result.outcome == "unproven"
    assert result.message.startswith(reason)
    assert not result.transitions
    assert result.check is not None and not result.check["accepted"]


def test_allowed_axioms_are_accepted_and_kept() -> None:
    axioms = ("Classical.choice", "Quot.sound", "propext")
    result = attempt(CHAIN, ScriptedLean(CHAIN, report=CheckReport((), 0, axioms)))
    assert result.outcome == "proven"
    assert result.check is not None and result.check["axioms"] == list(axioms)


@pytest.mark.parametrize("tactic", ["exact sorry", "native_decide", "have h", "rfl\naxiom cheat : False"])
def test_proofs_with_banned_constructs_never_reach_lean(tactic: str) -> None:
    lean = ScriptedLean({"A": {tactic: []}})
    result = attempt(lean.script, lean)
    assert result.outcome == "unproven"
    assert not lean.checked


def test_a_refused_statement_is_an_error() -> None:
    result = attempt(CHAIN, ScriptedLean(CHAIN, root=None))
    assert (result.outcome, result.stop_reason) == ("error", "TheoremRejected")
    assert "scripted refusal" in result.message


@pytest.mark.parametrize("call", [1, 2, 3, 4, 5])
def test_a_lost_server_is_an_error_at_any_time(call: int) -> None:
    result = attempt(CHAIN, ScriptedLean(CHAIN, crashes={call: crash()}))
    assert (result.outcome, result.stop_reason) == ("error", "ProcessLost")
    assert result.message == "scripted crash"
    assert not result.transitions


def test_a_server_lost_during_the_check_is_an_error() -> None:
    def gone(source: str) -> CheckReport:
        raise ProcessLost("gone")

    result = attempt(CHAIN, ScriptedLean(CHAIN, report=gone))
    assert (result.outcome, result.message) == ("error", "gone")
    assert not result.source


DECLARED = "theorem 'foo' has already been declared"


def raising(error: LeanError) -> Callable[[str], CheckReport]:
    def check(source: str) -> CheckReport:
        raise error

    return check


def refusing(what: str, reason: str) -> Callable[[str], CheckReport]:
    """Refuses the texts that hold `what`."""
    return lambda source: CheckReport((reason,) if what in source else (), 0, ())


@each(
    ("report", "outcome", "lost", "by_server"),
    [
        (raising(ProtocolError("the axioms of foo are not reported: []")), "error", "ProtocolError", True),
        (raising(ServerTimeout("no answer")), "error", "ServerTimeout", True),
        (refusing("theorem", DECLARED), "error", "ProtocolError", True),
        (refusing("theorem", "unknown module prefix 'Mathlib'\n\nNo directory"), "error", "ProtocolError", True),
        (refusing("sorry", DECLARED), "error", "ProtocolError", True),
        (refusing("sorry", "expected token"), "error", "ProtocolError", True),
        (refusing("theorem", "(kernel) excessive memory consumption detected"), "error", "ProtocolError", True),
        (refusing("theorem", "(kernel) deep recursion detected"), "unproven", "refused", False),
        (refusing("theorem", "type mismatch"), "unproven", "refused", False),
        (refusing("(by", "unexpected token"), "unproven", "refused", False),
        (CheckReport((), 0, ()), "proven", "", False),
    ],
)
def test_how_a_found_proof_is_lost_is_kept(
    report: CheckReport | Callable[[str], CheckReport], outcome: str, lost: str, by_server: bool
) -> None:
    result = attempt(CHAIN, ScriptedLean(CHAIN, report=report))
    assert (result.outcome, result.lost, result.lost_by_server) == (outcome, lost, by_server)
    assert Attempt.from_json(json.loads(json.dumps(result.to_json()))).lost == lost
    assert result.check is not None and result.check["reason"] == result.message


@pytest.mark.parametrize(("call", "lost"), [(3, ""), (4, "ProcessLost")])
def test_a_server_that_is_lost_costs_a_proof_only_once_one_is_found(call: int, lost: str) -> None:
    assert attempt(CHAIN, ScriptedLean(CHAIN, crashes={call: crash()})).lost == lost


@pytest.mark.parametrize(("check", "lost"), [({"accepted": False}, "refused"), ({"accepted": True}, ""), (None, "")])
def test_older_records_tell_of_refused_proofs_alone(check: dict[str, bool] | None, lost: str) -> None:
    record = {"theorem": {"source": "", "dataset": "", "id": ""}, "outcome": "unproven"}
    assert Attempt.from_json({**record, "check": check} if check else record).lost == lost


def test_a_bug_is_not_swallowed() -> None:
    def broken(source: str) -> CheckReport:
        raise KeyError("bug")

    with pytest.raises(KeyError):
        attempt(CHAIN, ScriptedLean(CHAIN, report=broken))


def test_should_stop_ends_the_search() -> None:
    result = attempt(CHAIN, should_stop=lambda: True)
    assert (result.outcome, result.stop_reason, result.simulations) == ("unproven", "stopped", 0)


# Simplification

DETOUR: Script = {"A": {"a": ["A1"]}, "A1": {"b": ["B"]}, "B": {"c": []}}


def test_a_step_that_is_not_needed_is_dropped() -> None:
    lean = ScriptedLean({**DETOUR, "A": {"a": ["A1"], "b": ["B"]}})
    result = attempt(DETOUR, lean)
    assert result.proof == "b\nc"
    assert result.transitions == (Transition("⊢ A", "b", 2), Transition("⊢ B", "c", 1))


def test_a_split_that_is_not_needed_is_dropped() -> None:
    script: Script = {"A": {"cut": ["B", "C"]}, "B": {"b": []}, "C": {"c": []}}
    lean = ScriptedLean({**script, "A": {"cut": ["B", "C"], "c": []}})
    assert attempt(script, lean).proof == "c"


def test_without_simplification_the_proof_of_the_tree_is_kept() -> None:
    lean = ScriptedLean({**DETOUR, "A": {"a": ["A1"], "b": ["B"]}})
    assert attempt(DETOUR, lean, options=ProverOptions(proof_simplification=False)).proof == "a\nb\nc"


def test_simplification_stops_at_its_limit_of_tactics() -> None:
    lean = ScriptedLean({**DETOUR, "A": {"a": ["A1"], "b": ["B"]}})
    assert attempt(DETOUR, lean, options=ProverOptions(simplification_tactics=0)).proof == "a\nb\nc"


def test_the_proof_of_the_tree_is_the_fallback_if_the_shorter_one_fails_the_check() -> None:
    lean = ScriptedLean(
        {**DETOUR, "A": {"a": ["A1"], "b": ["B"]}},
        report=lambda source: CheckReport(() if "  a\n" in source or "sorry" in source else ("no",), 0, ()),
    )
    result = attempt(DETOUR, lean)
    assert (result.outcome, result.proof) == ("proven", "a\nb\nc")
    assert [text.split(":= by\n")[-1] for text in lean.checked[:2]] == ["  b\n  c", "  a\n  b\n  c"]


def test_what_the_search_solved_elsewhere_shortens_a_proof() -> None:
    # By depth both ways from A need 3 tactics, and the first has the shorter text; below `s`, D is solved by `ddd` in
    # two steps in one branch and in one step in the other.
    script: Script = {
        "A": {"s": ["C", "D"]},
        "C": {"c": ["D"]},
        "D": {"d": ["E"], "finish": []},
        "E": {"e": []},
    }
    policy = policy_of(script)
    policy.script["D"] = (suggestion(["d"]), suggestion(["finish"]))
    result = attempt(script, policy=policy)
    assert result.proof == "s\n· c\n  finish\n· finish"


def test_a_step_whose_shorter_text_no_longer_works_is_replayed_with_the_other() -> None:
    lean = ScriptedLean({"A": {"long one": ["B"], "short": ["B"]}, "B": {"b": []}})
    policy = policy_of(lean.script)
    real_suggest = policy.suggest

    def suggest(state: str, seed: int):  # type: ignore[no-untyped-def]
        if state == "⊢ B":
            lean.script["A"]["short"] = "reject"
        return real_suggest(state, seed)

    policy.suggest = suggest  # type: ignore[method-assign]
    assert attempt(lean.script, lean, policy).proof == "long one\nb"


def test_a_proof_that_does_not_replay_is_no_proof() -> None:
    lean = ScriptedLean({"A": {"a": ["B"]}, "B": {"b": []}})
    policy = policy_of(lean.script)
    original = lean.apply

    def apply(branch, tactics):  # type: ignore[no-untyped-def]
        results = original(branch, tactics)
        if lean.calls == 2:  # the search is over
            lean.script["A"] = {}
        return results

    lean.apply = apply  # type: ignore[method-assign]
    result = attempt(lean.script, lean, policy)
    assert (result.outcome, result.message) == ("unproven", "the proof in the tree did not replay")
    assert (result.lost, result.lost_by_server) == ("not replayed", False)


# Finishers, disproving, storage


def test_what_a_finisher_did_is_in_the_proof_and_the_tree_but_teaches_nothing() -> None:
    lean = ScriptedLean({"A": {"a": ["B"]}, "B": {"grind": []}})
    result = attempt(lean.script, lean, policy_of({"A": {"a": ["B"]}}), SearchConfig(finishers=("grind",)))
    assert result.proof == "a\ngrind"
    assert result.num_tactics == 2
    assert result.transitions == (Transition("⊢ A", "a", 2),)
    assert result.tree is not None
    assert [node.tactic for node in walk(tree_from_json(result.tree)) if node.finisher] == ["grind"]
    assert not result.failed_tactics


def test_a_solver_only_search_needs_no_model() -> None:
    lean = ScriptedLean({"A": {"simp": ["B"]}, "B": {"omega": []}})
    policy = ScriptedPolicy({}, default=suggestion(["omega", "simp"]))
    assert attempt(lean.script, lean, policy).proof == "simp\nomega"


def test_disproving_proves_the_negated_statement() -> None:
    lean = ScriptedLean(CHAIN)
    result = attempt(CHAIN, lean, options=ProverOptions(disprove_fraction=1.0))
    assert (result.outcome, result.disproving) == ("disproven", True)
    assert result.source.endswith("in\ntheorem foo_negated : ¬ (A) := by\n  a\n  b\n  c")
    assert result.theorem == THEOREM


def test_what_may_not_be_disproved_is_proved() -> None:
    prover = Prover(policy_of(CHAIN), SearchConfig(), ProverOptions(disprove_fraction=1.0))
    result = prover.prove(ScriptedLean(CHAIN), THEOREM, 64, random.Random(0), may_disprove=False)
    assert (result.outcome, result.disproving) == ("proven", False)


def test_an_attempt_to_disprove_that_finds_nothing_is_unproven() -> None:
    result = attempt({"A": {}}, options=ProverOptions(disprove_fraction=1.0))
    assert (result.outcome, result.disproving) == ("unproven", True)


def test_failed_tactics_are_written_with_their_state_once_and_come_back_in_their_order() -> None:
    failed = tuple(FailedTactic(*each) for each in ("ax", "ay", "bx", "az"))
    attempt = Attempt(Theorem("theorem t : True := by sorry", "made", "t"), "unproven", failed_tactics=failed)
    data = json.loads(json.dumps(attempt.to_json()))
    assert data["failed_tactics"] == [["a", "x", "y"], ["b", "x"], ["a", "z"]]
    assert Attempt.from_json(data) == attempt
    older = {**data, "failed_tactics": [list(each) for each in failed]}
    assert Attempt.from_json(older) == attempt


@pytest.mark.parametrize("error", [None, crash()])
def test_attempts_survive_json(error: LeanError | None) -> None:
    lean = ScriptedLean(CHAIN, crashes={3: error} if error else None)
    result = attempt(CHAIN, lean, policy_of(CHAIN, also=("bad",)))
    assert Attempt.from_json(json.loads(json.dumps(result.to_json()))) == result


def test_trees_are_left_out_on_request() -> None:
    assert attempt(CHAIN, options=ProverOptions(keep_tree=False)).tree is None
    tree = attempt(CHAIN).tree
    assert tree is not None and tree_from_json(tree).kind is Kind.OR


def test_times_of_all_phases_are_kept() -> None:
    assert set(attempt(CHAIN).seconds) == {"search", "simplify", "check", "lean", "policy"}


def test_an_example_is_proved_as_it_stands() -> None:
    result = attempt(CHAIN, theorem=Theorem("-- by us\nexample : A := sorry"))
    assert result.source == "-- by us\nexample : A := by\n  a\n  b\n  c"


@pytest.mark.parametrize("before", ["", "Tactic `simp` failed with a nested error:\n"])
def test_a_proof_that_needs_more_work_than_lean_allows_is_checked_without_that_limit(before):
    told = f"{before}(deterministic) timeout at `whnf`, maximum number of heartbeats (200000)"

    def report(source):
        if source.startswith(UNLIMITED):
            return CheckReport((), 0, ())
        return CheckReport((told,), 0, ())

    lean = ScriptedLean(CHAIN, report=report)
    result = attempt(CHAIN, lean)
    assert result.outcome == "proven" and result.source.startswith(UNLIMITED)
    assert [source.startswith(UNLIMITED) for source in lean.checked] == [False, True, True, True]


def test_policies_of_a_team_share_the_simulations_one_after_the_other() -> None:
    script: Script = {"A": {"a": ["B"], "loop": ["A2"]}, "B": {"b": []}, "A2": {"loop": ["A3"]}, "A3": {}}
    first = ScriptedPolicy(
        {"A": [suggestion(["loop"], 3.0)], "A2": [suggestion(["loop"], 3.0)], "A3": [suggestion([], 3.0)]}
    )
    second = policy_of({"A": {"a": ["B"]}, "B": {"b": []}})
    lean = ScriptedLean(script)
    prover = Prover(PolicyTeam([first, second]), SearchConfig(), ProverOptions())
    result = prover.prove(lean, THEOREM, 16, random.Random(0))
    assert result.outcome == "proven" and result.proof == "a\nb"
    assert result.counts["simulations"] == 8 + 2, "half of them for the first, and what the second needs"
    alone = Prover(PolicyTeam([second, first]), SearchConfig(), ProverOptions()).prove(
        ScriptedLean(script), THEOREM, 16, random.Random(0)
    )
    assert alone.counts["simulations"] == 2, "nobody else is asked once there is a proof"


def test_tactics_beside_those_of_a_team_leave_all_of_it_at_work(tmp_path: Path) -> None:
    script: Script = {"A": {"a": []}}
    team = PolicyTeam([policy_of({"A": {"loop": ["A"]}}), policy_of(script)])
    (tmp_path / "Own.lean").write_text("theorem own : True := trivial\n")
    options = RetrieveOptions(premise_tactics=1, step_tactics=1, retriever="words")
    premises = ProjectPremises(tmp_path, options, "cpu", with_nanolean=False)
    beside = with_added_tactics(team, RetrieveOptions(step_tactics=1))
    for policy in (beside, premises.around(team)):
        prover = Prover(policy, SearchConfig(), ProverOptions())
        result = prover.prove(ScriptedLean(script), THEOREM, 8, random.Random(0))
        assert result.outcome == "proven" and result.proof == "a", "only the second one knows it"
