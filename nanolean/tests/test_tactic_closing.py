"""`rfl assumption exfalso contradiction trivial symm decide`."""

import pytest

from nanolean.tests.each import each
from nanolean.tests.proving import goals, proves, refusal, targets


@pytest.mark.parametrize(
    "statement",
    [
        "(a : Nat) : a = a",
        "(a b : Nat) : a + (b + 1) = a + b + 1",
        ": 2 ^ 20 * 3 + 1 = 3145729",
        "(p : Prop) : p ↔ p",
        "(a : Nat) : a ≤ a + 0",
    ],
)
def test_rfl_proves(statement):
    assert proves(statement, "rfl")


def test_rfl_shows_the_sides():
    assert refusal("(a b : Nat) : a = b", "rfl") == (
        "Tactic `rfl` failed: The left-hand side\n  a\nis not definitionally equal to the right-hand side\n  b\n\n"
        "a b : Nat\n⊢ a = b"
    )
    assert refusal("(p : Prop) : p", "rfl").startswith("The rfl tactic failed. Possible reasons:")


def test_assumption():
    assert proves("(p q : Prop) (hp : p) (hq : q) : q", "assumption")
    assert proves("(a b : Nat) (h : a + 1 ≤ b) : a < b", "assumption")
    assert refusal("(p q : Prop) (hp : p) : q", "assumption") == (
        "Tactic `assumption` failed\n\np q : Prop\nhp : p\n⊢ q"
    )


def test_exfalso():
    assert goals("(p : Prop) : p", "exfalso") == ["p : Prop\n⊢ False"]
    assert proves("(p : Prop) (h : False) : p", "exfalso", "exact h")


@each(
    "statement",
    [
        "(p : Prop) (h : False) : p",
        "(p q : Prop) (h : p) (h2 : ¬p) : q",
        "(a : Nat) (h : a ≠ a) : a = 3",
        "(a : Nat) (h : a + 1 = 0) : a = 3",
        "(h : 3 = 5) : 1 = 2",
        "(h : 5 ≤ 2) : 1 = 2",
        "(h : true = false) : 1 = 2",
        "(α : Type) (a : α) (l : List α) (h : a :: l = []) : 1 = 2",
    ],
)
def test_contradiction_proves(statement):
    assert proves(statement, "contradiction")


def test_contradiction_needs_one():
    assert refusal("(p q : Prop) (h : p) : q", "contradiction").startswith("Tactic `contradiction` failed")


def test_trivial():
    assert proves(": True", "trivial")
    assert proves("(p q : Prop) (hp : p) (hq : q) : p ∧ q ∧ True", "trivial")
    assert proves(": 3 < 5", "trivial")
    assert refusal("(p : Prop) : p", "trivial").startswith("Tactic `trivial` failed")


def test_symm():
    assert targets("(a b : Nat) : a = b", "symm") == ["b = a"]
    assert targets("(a b : Nat) : a ≠ b", "symm") == ["b ≠ a"]
    assert targets("(p q : Prop) : p ↔ q", "symm") == ["q ↔ p"]
    assert goals("(a b : Nat) (h : a = b) : b = a", "symm at h") == ["a b : Nat\nh : b = a\n⊢ b = a"]
    assert proves("(a b : Nat) (h : a = b) : b = a", "symm", "exact h")
    assert proves("(a b : Nat) (h : a = b) : b = a", "symm at h", "exact h")
    assert "Tactic `symm` failed" in refusal("(a b : Nat) : a ≤ b", "symm")


@each(
    "statement",
    [
        ": 2 + 2 = 4",
        ": 1000000 < 1000001 ∧ ¬7 ≤ 6",
        ": 2 = 3 ∨ 3 ≠ 4",
        ": 1 = 2 → 3 = 4",
        ": (1 < 2) ↔ (3 < 4)",
        ": true ≠ false",
        ": True ∧ ¬False",
    ],
)
def test_decide_proves(statement):
    assert proves(statement, "decide")


def test_decide_says_what_is_false():
    assert refusal(": 2 + 2 = 5", "decide") == "Tactic `decide` proved that the proposition\n  2 + 2 = 5\nis false"


def test_decide_needs_closed_decidable_propositions():
    assert "must not contain free variables\n  a = a" in refusal("(a : Nat) : a = a", "decide")
    assert refusal(": ∀ n : Nat, n = n", "decide").startswith("failed to synthesize\n  Decidable")


def test_ac_rfl_sorts_sums_products_and_connectives():
    assert proves("(a b c d : Nat) : (a + b) * c + d = d + c * (b + a)", "ac_rfl")
    assert proves("(p q r : Prop) : (p ∧ (q ∧ r)) = ((r ∧ p) ∧ q)", "ac_rfl")
    assert refusal("(a b : Nat) : a + b = a + a", "ac_rfl").startswith("Tactic `ac_rfl` failed")
