"""Search, replay, layout and final check on the embedded prover: a real server, a real process, real goals."""

import random

import pytest

from nanolean.tests.each import each
from nanoproof.data.bench.putnambench import with_answers
from nanoproof.lean.lexical import without_header
from nanoproof.lean.types import LeanSession, Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.search.config import SearchConfig
from tests.data.shapes import PUTNAM
from tests.fakes.policy import saying


def attempt(session: LeanSession, source: str, *tactics: str, finishers: tuple[str, ...] = ()) -> Attempt:
    prover = Prover(saying(*tactics), SearchConfig(finishers=finishers), ProverOptions())
    return prover.prove(session, Theorem(source), 400, random.Random(0))


def test_branches_are_laid_out_as_lean_accepts_them(session: LeanSession) -> None:
    source = "theorem swap (p q r : Prop) : (p ∧ q) ∨ r → (q ∧ p) ∨ r := by sorry"
    result = attempt(
        session,
        source,
        "intro h",
        "cases h with | inl h => ?_ | inr h => ?_",
        "left",
        "right",
        "exact h",
        "constructor",
        "exact h.1",
        "exact h.2",
    )
    assert (result.outcome, result.message) == ("proven", "")
    assert result.proof.split("\n") == [
        "intro h",
        "cases h with",
        "| inl h =>",
        "  left",
        "  constructor",
        "  · exact h.2",
        "  · exact h.1",
        "| inr h =>",
        "  right",
        "  exact h",
    ]
    assert [step.depth for step in result.transitions] == [5, 4, 3, 2, 1, 1, 2, 1]
    assert result.transitions[-1].state.endswith("⊢ r")
    assert result.check is not None and result.check["axioms"] == []


def test_the_alternatives_of_an_induction_are_filled_in(session: LeanSession) -> None:
    tactics = ["induction n with | zero => ?_ | succ n ih => ?_", "rfl", "rw [Nat.add_succ, ih]"]
    result = attempt(session, "theorem zero_add' (n : Nat) : 0 + n = n := by sorry", *tactics)
    assert (result.outcome, result.message) == ("proven", "")
    assert result.proof == "induction n with\n| zero => rfl\n| succ n ih => rw [Nat.add_succ, ih]"
    assert [step.tactic for step in result.transitions] == tactics


def test_goals_coupled_by_a_metavariable_are_proved_together(session: LeanSession) -> None:
    result = attempt(session, "example : ∃ n : Nat, n = 3 := by sorry", "apply Exists.intro", "rfl")
    assert (result.outcome, result.message) == ("proven", "")
    assert result.proof == "apply Exists.intro\nrfl"


def test_steps_that_do_nothing_for_the_proof_are_dropped(session: LeanSession) -> None:
    source = "theorem t (p q : Prop) (hp : p) (h : p → q) : q := by sorry"
    result = attempt(session, source, "have h2 : p ∧ p := ⟨hp, hp⟩", "exact h hp")
    assert (result.outcome, result.proof, result.num_tactics) == ("proven", "exact h hp", 1)


def test_a_false_statement_is_unproven_and_refusals_are_kept(session: LeanSession) -> None:
    result = attempt(session, "theorem t (p q : Prop) (h : p) : q := by sorry", "exact h", "rfl")
    assert result.outcome == "unproven"
    assert {tactic for _, tactic in result.failed_tactics} == {"exact h", "rfl"}
    assert result.failed_tactics[0].state == "p q : Prop\nh : p\n⊢ q"


def test_a_statement_that_does_not_elaborate_is_an_error(session: LeanSession) -> None:
    result = attempt(session, "theorem t : no_such_name := by sorry", "rfl")
    assert (result.outcome, result.stop_reason) == ("error", "TheoremRejected")
    assert "no_such_name" in result.message


def test_the_session_serves_the_next_theorem_after_an_error(session: LeanSession) -> None:
    attempt(session, "theorem t : no_such_name := by sorry", "rfl")
    assert attempt(session, "theorem t : 1 = 1 := by sorry", "rfl").outcome == "proven"


def test_finishers_close_leaves_and_teach_nothing(session: LeanSession) -> None:
    source = "theorem t (p q : Prop) (hp : p) (hq : q) : p ∧ q := by sorry"
    result = attempt(session, source, "constructor", finishers=("assumption",))
    assert result.proof == "constructor\n· assumption\n· assumption"
    assert [step.tactic for step in result.transitions] == ["constructor"]


def disprove(session: LeanSession, source: str, *tactics: str) -> Attempt:
    prover = Prover(saying(*tactics), SearchConfig(), ProverOptions(disprove_fraction=1.0))
    return prover.prove(session, Theorem(source), 400, random.Random(0))


@each(
    ("source", "tactics"),
    [
        (
            "theorem t (n : Nat) (h : 0 < n) : n = 1 := by sorry",
            ["intro h", "exact absurd (h 2 (by decide)) (by decide)"],
        ),
        ("theorem t : ∀ {p q : Prop}, p ∨ q → p := by sorry", ["intro h", "exact h (p := False) (Or.inr trivial)"]),
        ("theorem t {p : Prop} ⦃q : Prop⦄ (_ : p) : q := by sorry", ["intro h", "exact h (p := True) trivial"]),
        ("theorem t [Decidable True] : 1 = 2 -- no\n := by sorry", ["intro h", "exact absurd h (by decide)"]),
        ("universe u\ntheorem t (α : Sort u) (p : Prop) : p := by sorry", ["intro h", "exact h PUnit False"]),
        ("theorem t.{u} (α : Sort u) (p : Prop) : p := by sorry", ["intro h", "exact h PUnit False"]),
        ("/-- It is not. -/\n@[simp] theorem t (x : Nat) : x ≠ x := by sorry", ["intro h", "exact h 0 rfl"]),
        ("namespace A\ntheorem t : 1 = 2 := by sorry\nend A", ["decide"]),
    ],
)
def test_false_statements_are_disproven_whatever_their_binders(
    session: LeanSession, source: str, tactics: list[str]
) -> None:
    result = disprove(session, source, *tactics)
    assert (result.outcome, result.disproving, result.message) == ("disproven", True, "")
    assert "theorem t_negated" in result.source and ": ¬ (" in result.source


@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ("variable (p : Prop)\ntheorem t (h : p) : p := by sorry", "proven"),
        ("theorem t (h : no.such = 1) : 1 = no.such := by sorry", "error"),
        ("def t : 1 = 1 := by sorry", "proven"),
    ],
)
def test_statements_without_a_negation_are_proved_as_they_stand(
    session: LeanSession, source: str, outcome: str
) -> None:
    result = disprove(session, source, "rfl", "exact h")
    assert (result.outcome, result.disproving) == (outcome, False)
    assert result.refused == (outcome == "error")


def test_a_false_state_inside_of_the_tree_is_disproved(session: LeanSession) -> None:
    config = SearchConfig(disprove_inner=True, disprove_value=0, disprove_visits=1, disprove_simulations=16)
    prover = Prover(
        saying("left", "right", "intro h", "exact absurd (h 0 1) (by decide)", "rfl"), config, ProverOptions()
    )
    source = "theorem t (a b : Nat) : a = b ∨ b = b := by sorry"
    result = prover.prove(session, Theorem(source), 64, random.Random(0))
    assert (result.outcome, result.proof, result.counts["disproved"]) == ("proven", "right\nrfl", 1)


def test_statements_of_putnambench_are_proved_with_their_answers_before_them(session: LeanSession) -> None:
    for text in PUTNAM.values():
        source = with_answers(without_header(text).strip(), "here")
        result = attempt(session, source, "rfl", "exact ⟨fun _ => trivial, fun _ _ => rfl⟩", "exact id")
        assert result.outcome == "proven", (source, result.stop_reason)
        assert "sorry" not in result.source.replace("`sorry`", "").replace("False := sorry", "")
