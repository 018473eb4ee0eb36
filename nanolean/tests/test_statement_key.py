"""Statement keys: what counts as the same statement."""

import random

import pytest

from nanolean.data.families import FAMILIES, _renamed_apart, family_problems, used_names
from nanolean.data.statement_key import StatementError, statement_key
from nanolean.tests.each import each


def key(statement: str) -> str:
    return statement_key(f"theorem t {statement} := by\n  sorry")


@each(
    ("one", "other"),
    [
        ("(a b : Nat) : a + b = b + a", "(x y : Nat) : x + y = y + x"),
        ("(a b : Nat) : a + b = b + a", "(b a : Nat) : a + b = b + a"),
        ("(a : Nat) (b : Nat) : a + b = b + a", ": ∀ n m : Nat, n + m = m + n"),
        ("(p q : Prop) (h : p ∧ q) : q", "(r s : Prop) : r ∧ s → s"),
        ("(p q r : Prop) (h : p ∧ q) : q", "(p q : Prop) (h0 : p ∧ q) : q"),
        ("(p : Prop) (h : ¬¬p) : ¬p", "(p : Prop) (h : (p → False) → False) : p → False"),
        ("(a b : Nat) (h : a > b) : b ≠ a", "(a b : Nat) (h : b < a) (h1 : b = a) : False"),
        ("(P : Nat → Prop) : (∃ x, P x) → ∃ y, P y", "(Q : Nat → Prop) (h : ∃ n : Nat, Q n) : ∃ n : Nat, Q n"),
        ("{p q : Prop} (h : p → q) (hp : p) : q", "(p q : Prop) : (p → q) → (p → q)"),
        (
            "(α : Type) (l : List α) : (l ++ []).length = l.length",
            "{β : Type} (m : List β) : List.length (m ++ []) = m.length",
        ),
        ("(a : Nat) (l : List Nat) : a :: l = [a] ++ l", ": ∀ (m : List Nat) (b : Nat), b :: m = [b] ++ m"),
    ],
)
def test_renamed_and_differently_bound_statements_have_one_key(one: str, other: str) -> None:
    assert key(one) == key(other)


@each(
    ("one", "other"),
    [
        ("(a b : Nat) : a + b = b + a", "(a b : Nat) : a + b = a + b"),
        ("(a b : Nat) : a * b = b * a", "(a b : Nat) : a + b = b + a"),
        ("(p q : Prop) (h : p ∧ q) : q", "(p q : Prop) (h : p ∧ q) : p"),
        (
            "(P : Nat → Prop) (h : ∀ x : Nat, P x) : ∃ x : Nat, P x",
            "(P : Nat → Prop) (h : ∃ x : Nat, P x) : ∃ x : Nat, P x",
        ),
        ("(R : Nat → Nat → Prop) : ∀ x y : Nat, R x y", "(R : Nat → Nat → Prop) : ∀ x : Nat, R x x"),
        ("(a : Nat) : a + 1 = a + 1", "(a : Nat) : a + 2 = a + 2"),
        ("(p : Nat → Prop) : p 0 → p 0", "(p : Prop) : p → p"),
        ("(l m : List Nat) : l ++ m = l", "(l m : List Nat) : l ++ m = m ++ l"),
        ("(α : Type) (l : List α) : l = l", "(l : List Nat) : l = l"),
    ],
)
def test_different_statements_have_different_keys(one: str, other: str) -> None:
    assert key(one) != key(other)


def test_generated_problems_keep_their_key_under_renaming() -> None:
    changed = 0
    for family in FAMILIES:
        for named in family_problems(family, 5, {1: 3, 2: 3, 3: 3}, frozenset()):
            renamed = _renamed_apart(named.problem, used_names(named.problem))
            changed += renamed.source("t") != named.problem.source("t")
            assert statement_key(renamed.source("t")) == named.key
    assert changed > 40


def test_hypotheses_in_another_order_are_another_statement() -> None:
    assert key("(p q : Prop) (h : p) (h1 : ¬q) : p") != key("(p q : Prop) (h : ¬q) (h1 : p) : p")


def test_text_without_a_theorem_is_refused() -> None:
    with pytest.raises(StatementError, match="no theorem"):
        statement_key("def x : Nat := 3")
    with pytest.raises(StatementError, match="line 1"):
        statement_key("theorem t (a : Nat : a = a := by\n  sorry")


def test_shuffled_variable_declarations_do_not_matter() -> None:
    names = ["a", "b", "c", "d"]
    keys = set()
    for seed in range(6):
        random.Random(seed).shuffle(names)
        keys.add(key(f"({' '.join(names)} : Nat) (h : a ≤ b) (h1 : b ≤ c) : a + d ≤ c + d"))
    assert len(keys) == 1
