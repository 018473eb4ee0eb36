"""The tactics `match` and `suffices` as terms, `nomatch` and `nofun` inside of terms."""

import pytest

from nanolean.commands.runner import run_text
from nanolean.tests.proving import goals, library, proves, refusal

TEXTS = [
    "theorem t (p q : Prop) (h : p ∧ q) : q ∧ p := by\n  match h with\n  | ⟨a, b⟩ => exact ⟨b, a⟩",
    "theorem t (p q : Prop) (h : p ∨ q) : q ∨ p := by\n"
    "  match h with\n  | .inl a =>\n    apply Or.inr\n    exact a\n  | .inr b => exact Or.inl b",
    "theorem t (n : Nat) : n = 0 ∨ ∃ m, n = m + 1 := by\n"
    "  match n with\n  | 0 => exact Or.inl rfl\n  | m + 1 => exact Or.inr ⟨m, rfl⟩",
]


@pytest.mark.parametrize("text", TEXTS)
def test_match_runs_a_block_for_each_alternative(text: str) -> None:
    assert run_text(library(), text).messages == []


def test_holes_of_match_are_new_goals() -> None:
    assert goals("(p q : Prop) (h : p ∨ q) : q ∨ p", "match h with\n| .inl a => exact Or.inr a\n| .inr b => ?_") == [
        "p q : Prop\nh : p ∨ q\nb : q\n⊢ q ∨ p"
    ]


def test_a_block_of_match_must_close_its_goal() -> None:
    assert refusal("(p q : Prop) (h : p ∧ q) : q", "match h with\n| ⟨a, b⟩ => skip").startswith("unsolved goals")


def test_nomatch_nofun_and_suffices_as_terms() -> None:
    assert proves("(n : Nat) (h : n < 0) : False", "exact nomatch h")
    assert proves("(n : Nat) : ¬n + 1 = 0", "exact nofun")
    assert proves("(p q : Prop) (h : p ∧ q) : q ∧ p", "exact suffices k : q from ⟨k, h.left⟩; h.right")


def test_match_excludes_equations_of_different_constructors_only():
    assert proves("(x : Nat) (h : x = 0) : x = 0", "exact match x, h with | 0, h => rfl")
    text = "exact match x, h with | 0, h => absurd h (by decide) | 1, h => absurd h (by decide) | 2, h => rfl"
    assert "Missing cases" in refusal("(x : Nat) (h : x * x = 4) : x = 2", text)


def test_fields_of_a_pattern_have_their_plain_types() -> None:
    assert goals("(a b : Nat) (h : ∃ x, x = a) : b = a", "match h with\n| ⟨x, k⟩ => ?_") == [
        "a b : Nat\nh : ∃ x, x = a\nx : Nat\nk : x = a\n⊢ b = a"
    ]
