"""`if`, instance arguments and `decide` as a term."""

import pytest

from nanolean.tests.each import each
from nanolean.tests.library import errors, run
from nanolean.tests.proving import proves, refusal, start, targets, with_commands

MAX = "def mx (a b : Nat) : Nat := if a ≤ b then b else a\n"

ACCEPTED = {
    "a true condition": "example : (if 2 < 3 then 1 else 0) = 1 := rfl",
    "a false condition": "example : (if 3 < 2 then 1 else 0) = 0 := by decide",
    "a Boolean condition": "example : (if true && false then 1 else 0) = 0 := rfl",
    "connectives": "example : (if 1 = 1 ∧ ¬2 = 3 ∨ False then 1 else 0) = 1 := rfl",
    "the branches see the condition": "example (n : Nat) : n = 0 ∨ n ≠ 0 := if h : n = 0 then .inl h else .inr h",
    "an if inside of an if": "example : (if 1 = 2 then 0 else if 2 = 2 then 5 else 6) = 5 := rfl",
    "if_pos": MAX + "example (a b : Nat) (h : a ≤ b) : mx a b = b := if_pos h",
    "if_neg": MAX + "example (a b : Nat) (h : ¬a ≤ b) : mx a b = a := if_neg h",
    "dif_pos": "example (n : Nat) (h : n = 0) : (if h : n = 0 then 1 else 2) = 1 := dif_pos h",
    "an instance from the context": "example (p : Prop) [Decidable p] (h : p) : (if p then 1 else 2) = 1 := if_pos h",
    "an instance inside of a connective": "example (p : Prop) [Decidable p] : Nat := if p ∧ 1 = 1 then 1 else 2",
    "decidable equality of a type": (
        "def same {α : Type} [DecidableEq α] (a b : α) : Bool := if a = b then true else false\n"
        "example : same 3 3 = true := rfl\nexample : same true false = false := rfl"
    ),
    "an instance is handed on in recursion": (
        "def cnt {α : Type} [DecidableEq α] (a : α) : List α → Nat\n  | [] => 0\n"
        "  | x :: l => if x = a then cnt a l + 1 else cnt a l\nexample : cnt 3 [1, 3, 3] = 2 := by decide"
    ),
    "an instance by its name": "example (p : Prop) (d : Decidable p) (h : p) : @ite Nat p d 1 2 = 1 := if_pos h",
    "decide as a term": "example : decide (2 < 3) = true := rfl",
    "a proposition where a Boolean is expected": "def z (n : Nat) : Bool := n = 0\nexample : z 0 = true := rfl",
    "decide says what it decides": "example (n : Nat) (h : decide (n = 0) = true) : n = 0 := of_decide_eq_true h",
    "a theorem with an instance argument": (
        "theorem t (p : Prop) [Decidable p] : ¬¬p → p := Decidable.of_not_not\nexample : ¬¬(2 = 2) → 2 = 2 := t (2 = 2)"
    ),
    "apply finds instances": "example (a b : Nat) (h : ¬¬a = b) : a = b := by\n  apply Decidable.of_not_not\n  exact h",
    "rw finds instances": "example (a b : Nat) (h : a ≤ b) : (if a ≤ b then 1 else 2) = 1 := by rw [if_pos h]",
}


@each("text", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepted(text: str) -> None:
    assert errors(text) == []


NO_INSTANCE = "failed to synthesize instance of type class\n  Decidable "
REFUSED = {
    "an undecided proposition": ("example (p : Prop) : Nat := if p then 1 else 2", NO_INSTANCE + "p"),
    "an undecided part": ("example (p : Prop) : Nat := if p ∧ 1 = 1 then 1 else 2", NO_INSTANCE + "(p ∧ 1 = 1)"),
    "an equation of functions": ("example (f g : Nat → Nat) : Nat := if f = g then 1 else 2", NO_INSTANCE + "(f = g)"),
    "a quantifier": ("example : Nat := if ∀ n : Nat, n = n then 1 else 2", NO_INSTANCE),
    "an instance of another proposition": (
        "example (p q : Prop) [Decidable q] : Nat := if p then 1 else 2",
        NO_INSTANCE,
    ),
    "branches of different types": ("example : Nat := if 1 = 1 then 1 else true", "mismatch"),
    "a condition that is no proposition": ("example : Nat := if 3 then 1 else 2", "mismatch"),
    "a wrong value": ("example : (if 2 < 3 then 1 else 0) = 0 := rfl", "mismatch"),
}


@each(("text", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(text: str, message: str) -> None:
    assert any(message in error for error in errors(text)), errors(text)


def test_if_prints_as_it_is_written() -> None:
    state = start("(a b : Nat) : (if a ≤ b then b else a) = 3")
    assert state.goal_texts() == ["a b : Nat\n⊢ (if a ≤ b then b else a) = 3"]


def test_a_dependent_if_prints_the_name_of_its_hypothesis() -> None:
    text = "def d (n : Nat) : Nat := if h : n = 0 then 1 else n - 1\n#print d"
    assert run(text).messages[-1].text == "def d : Nat → Nat :=\nfun n => if h : n = 0 then 1 else n - 1"


SIMP = {
    "a condition that a hypothesis proves": "(a b : Nat) (h : a ≤ b) : (if a ≤ b then b else a) + 1 = b + 1",
    "a condition that a hypothesis refutes": "(a b : Nat) (h : ¬a ≤ b) : (if a ≤ b then b else a) + 1 = a + 1",
    "a condition that is computed": "(f : Nat → Nat) (h : f 1 = 2) : f (if 2 < 3 then 1 else 0) = 2",
    "a dependent if": "(a b : Nat) (f : Nat → Nat) (h : a = 0) : f (if k : a = 0 then b else a) = f b",
    "a match on what becomes a constructor": (
        "(n : Nat) (f g : Nat → Nat) (h : g n = 2) : f (match g n with | 0 => 1 | k + 1 => k) = f 1"
    ),
}


@pytest.mark.parametrize("statement", SIMP.values(), ids=SIMP.keys())
def test_simp_decides(statement: str) -> None:
    assert proves(statement, "simp [h]")


def test_simp_rewrites_a_condition_that_stays_open() -> None:
    assert targets("(a b : Nat) (f : Nat → Nat) : f (if a + 0 = b then b else a) = f b", "simp") == [
        "f (if a = b then b else a) = f b"
    ]


def test_simp_unfolds_to_an_if_and_decides_it() -> None:
    assert proves("(a b : Nat) (h : a ≤ b) : mx a b = b", "simp [mx, h]", base=with_commands(MAX))


def test_simp_does_not_decide_by_a_hypothesis_on_something_else() -> None:
    assert "no progress" in refusal("(a b c : Nat) (h : a ≤ c) : (if a ≤ b then 0 else 1) + c = 3", "simp [h]")
