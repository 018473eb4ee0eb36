"""`funext`, `ext`, `congr`, and `rw` at chosen places."""

import pytest

from nanolean.tests.proving import goals, proves, refusal, targets

FUNCTIONS = "(f g : Nat → Nat → Nat) (h : ∀ x y, f x y = g x y) : f = g"


def test_funext_introduces_as_many_arguments_as_named() -> None:
    assert goals("(f g : Nat → Nat → Nat) : f = g", "funext x") == [
        "case h\nf g : Nat → Nat → Nat\nx : Nat\n⊢ f x = g x"
    ]
    assert proves(FUNCTIONS, "funext x y", "exact h x y")


def test_ext_goes_on_with_inaccessible_names() -> None:
    assert goals("(f g : Nat → Nat → Nat) : f = g", "ext x") == [
        "case h.h\nf g : Nat → Nat → Nat\nx x✝ : Nat\n⊢ f x x✝ = g x x✝"
    ]
    assert proves(FUNCTIONS, "ext", "exact h _ _")


def test_ext1_stops_after_one_lemma() -> None:
    assert targets("(f g : Nat → Nat → Nat) : f = g", "ext1 x") == ["f x = g x"]


def test_ext_turns_equal_propositions_into_equivalent_ones() -> None:
    assert goals("(p q : Nat → Prop) : p = q", "ext x") == ["case h.a\np q : Nat → Prop\nx : Nat\n⊢ p x ↔ q x"]


def test_ext_needs_a_lemma() -> None:
    assert refusal("(a b : Nat) : a = b", "ext") == "No applicable extensionality theorem found for type\n  Nat"


@pytest.mark.parametrize(
    ("tactic", "expected"),
    [("congr", ["a = c", "b = d"]), ("congr 1", ["a + b = c + d"]), ("congr 2", ["a = c", "b = d"])],
)
def test_congr_compares_arguments(tactic: str, expected: list[str]) -> None:
    assert targets("(f : Nat → Nat) (a b c d : Nat) : f (a + b) = f (c + d)", tactic) == expected


def test_congr_names_its_goals_after_the_arguments() -> None:
    tags = [text.split("\n")[0] for text in goals("(a b : Nat) (l m : List Nat) : a :: l = b :: m", "congr")]
    assert tags == ["case e_head", "case e_tail"]
    assert goals("(a b c : Nat) : a + b = c + b", "congr")[0].startswith("case e_a\n")


def test_congr_closes_what_is_known() -> None:
    assert proves("(f : Nat → Nat) (a b c : Nat) (h : a = c) : f (a + b) = f (c + b)", "congr")


def test_congr_needs_applications_of_one_function() -> None:
    assert "congr" in refusal("(a b : Nat) : a = b", "congr")


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        (".pos [2]", "a + b = a + c"),
        (".pos [1, 3]", "b + a = b + c"),
        (".neg [2]", "b + a = b + c"),
        (".neg []", "b + b = b + c"),
    ],
)
def test_rw_at_chosen_occurrences(places: str, expected: str) -> None:
    assert targets("(a b c : Nat) (h : a = b) : a + a = a + c", f"rw (occs := {places}) [h]") == [expected]


def test_an_occurrence_that_is_left_out_does_not_fix_the_rule() -> None:
    statement = "(a b c : Nat) (h : ∀ x y : Nat, x + y = y + x) : a + b + c = c"
    assert targets(statement, "rw (occs := .pos [2]) [h]") == ["b + a + c = c"]
    assert "Did not find an occurrence" in refusal(statement, "rw (occs := .pos [4]) [h]")


def test_rewriting_at_places_is_checked_by_the_kernel() -> None:
    assert proves("(a b : Nat) (h : a = b) : a + a = a + b", "rw (occs := .pos [2]) [h]")
