"""Attempts to prove that a statement is false, at the root and inside of the tree."""

import pytest

from nanoproof.lean.types import Branch, Theorem, TheoremRejected, parse_goal
from nanoproof.prover.disprove import negating_tactic, negation
from nanoproof.prover.prover import ProverOptions
from nanoproof.search.config import SearchConfig
from tests.fakes.lean import ScriptedLean, branch
from tests.prover.test_prover import CHAIN, Script, attempt, policy_of

ALWAYS = ProverOptions(disprove_fraction=1.0)


class NoNegation(ScriptedLean):
    """Refuses every negated statement."""

    def start(self, theorem: Theorem) -> Branch:
        if "_negated" in theorem.source:
            raise TheoremRejected("unknown identifier")
        return super().start(theorem)


@pytest.mark.parametrize(
    "source", ["variable (p : Prop)\ntheorem foo : A := by sorry", "theorem foo : A := by\n  exact (sorry)"]
)
def test_what_cannot_be_negated_is_tried_as_it_stands(source: str) -> None:
    result = attempt(CHAIN, NoNegation(CHAIN), options=ALWAYS, theorem=Theorem(source))
    assert (result.outcome, result.disproving) == ("proven", False)


def test_a_negation_that_lean_refuses_leaves_the_statement_to_be_proved() -> None:
    result = attempt(CHAIN, NoNegation(CHAIN), options=ALWAYS)
    assert (result.outcome, result.disproving) == ("proven", False)
    assert result.source == "theorem foo : A := by\n  a\n  b\n  c"


def test_a_refused_statement_is_refused_whichever_way_it_was_tried() -> None:
    result = attempt(CHAIN, ScriptedLean(CHAIN, root=None), options=ALWAYS)
    assert (result.outcome, result.disproving, result.refused) == ("error", False, True)


def test_the_checked_text_of_a_disproof_states_the_negation() -> None:
    lean = ScriptedLean(CHAIN)
    result = attempt(CHAIN, lean, options=ALWAYS)
    assert result.outcome == "disproven"
    assert result.source in lean.checked
    assert "theorem foo_negated : ¬ (A) := by\n  a\n" in result.source
    assert result.check is not None and result.check["accepted"]


# Inside of the tree

INNER = SearchConfig(disprove_inner=True, disprove_value=0, disprove_visits=1, disprove_simulations=4)
NEGATED = "¬∀ x, B"


def negating(state: str) -> str:
    return negating_tactic(branch(state).state.goals[0])


def wide(script: Script) -> Script:
    """At `A` a way to `B`, which cannot be proved, and the long way that can."""
    return {"A": {"wrong": ["B"], "right": ["C"]}, "C": {"c": ["D"]}, "D": {"d": ["E"]}, "E": {"e": []}, **script}


def test_the_negation_of_a_state_is_asked_of_lean_in_the_same_session() -> None:
    lean = ScriptedLean({"B": {negating("B"): ["not needed", NEGATED]}})
    found = negation(lean, branch("B"))
    assert found is not None and found.state.text == f"⊢ {NEGATED}"


@pytest.mark.parametrize("left", [["only"], ["not needed", "∀ x, B"], ["x", "y", NEGATED]])
def test_what_is_no_negation_is_not_taken_for_one(left: list[str]) -> None:
    assert negation(ScriptedLean({"B": {negating("B"): left}}), branch("B")) is None


@pytest.mark.parametrize("state", ["B & C", "?m.3 = x"])
def test_states_of_coupled_goals_have_no_negation(state: str) -> None:
    lean = ScriptedLean({})
    assert negation(lean, branch(state)) is None
    assert not lean.applied


def test_hypotheses_go_back_into_the_goal_with_names_for_those_that_have_none() -> None:
    goal = parse_goal("x0 : Nat\nh✝ : p\nh : q\na✝ : r\n⊢ p")
    assert negating_tactic(goal).startswith("(rename_i x1 x2; revert x0 x1 h x2; refine (fun {g : Prop}")
    assert negating_tactic(parse_goal("⊢ p")).startswith("refine (fun {g : Prop}")


def test_a_state_that_is_disproved_is_closed_and_the_proof_goes_round_it() -> None:
    script = wide({"B": {"b": ["B1"], negating("B"): ["not needed", NEGATED]}, NEGATED: {"n": []}})
    result = attempt(script, search=INNER)
    assert (result.outcome, result.proof) == ("proven", "right\nc\nd\ne")
    assert result.counts["disproved"] == 1
    assert result.counts["disprove_tries"] >= 1


def test_a_state_whose_negation_is_not_found_stays_open() -> None:
    result = attempt(wide({"B": {"b": ["B1"], negating("B"): ["not needed", NEGATED]}}), search=INNER)
    assert result.outcome == "proven"
    assert result.counts["disproved"] == 0


def test_samples_of_a_disproof_are_counted() -> None:
    script: Script = {"A": {"wrong": ["B"]}, "B": {"b": ["B1"], negating("B"): ["x", NEGATED]}, NEGATED: {"n": []}}
    asked = policy_of(script)
    result = attempt(script, policy=asked, search=INNER)
    assert result.outcome == "unproven" and result.counts["disproved"] == 1
    samples = sum(len(script.get(state, {})) * times for state, times in asked.asked.items())
    assert result.counts["tactic_samples"] == samples
