"""What cannot be: `nomatch nofun contradiction`, and equations that are used up: `injections subst_vars`."""

import pytest

from nanolean.tests.each import each
from nanolean.tests.proving import goals, proves, refusal


@pytest.mark.parametrize("hyp", ["False", "n + 1 = 0", "n < 0", "n + 1 ≤ 0", "[n] = []"])
def test_an_impossible_hypothesis_closes_any_goal(hyp: str) -> None:
    assert proves(f"(n : Nat) (h : {hyp}) : n = n + 1", "nomatch h")
    assert proves(f"(n : Nat) (h : {hyp}) : n = n + 1", "contradiction")
    assert proves(f"(n : Nat) : ¬({hyp})", "nofun")


@each("step", ["contradiction", "nomatch h", "injection h", "cases h", "simp at h", "simp_all"])
def test_the_type_of_an_impossible_equation_need_not_be_reduced(step: str) -> None:
    # The argument of the redex was taken for an index, and the kernel refused the proof.
    assert proves("(a : Nat) (h : @Eq ((fun _ => Bool) a) true false) : False", step)


def test_possible_cases_are_missing() -> None:
    assert refusal("(n : Nat) (h : n < 1) : False", "nomatch h").startswith("Missing cases")
    assert refusal("(n : Nat) : ¬n = 1", "nofun").startswith("Missing cases")


def test_nomatch_takes_several_terms() -> None:
    assert proves("(n : Nat) (k : n = n) (h : n < 0) : False", "nomatch k, h")


def test_injections_take_equations_apart_to_the_end() -> None:
    statement = "(a b c d : Nat) (l m : List Nat) (h : a :: b :: l = c :: d :: m) : a + b = c"
    assert goals(statement, "injections h₁ h₂ h₃ h₄")[0].split("\n")[2:5] == ["h₁ : a = c", "h₃ : b = d", "h₄ : l = m"]


def test_injections_close_the_goal_when_they_can() -> None:
    assert proves("(a b : Nat) (l m : List Nat) (h : a :: l = b :: m) : l = m", "injections")
    assert proves("(a : Nat) (h : [a] = []) : a = 0", "injections")


def test_subst_vars_uses_all_equations() -> None:
    assert goals("(a b c : Nat) (h : a = b) (k : b = c) (p : Nat → Prop) : p c", "subst_vars") == [
        "a : Nat\np : Nat → Prop\n⊢ p a"
    ]
