"""Steps about numbers that are computed: what they say is proved by NanoLean, in the proofs that need them."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanolean.data.replay import start
from nanolean.tactic_state import run_tactic
from nanoproof.policy.number_steps import polynomial
from nanoproof.policy.printed_types import tokens_of
from nanoproof.policy.statement_definitions import Definitions
from nanoproof.policy.step_tactics import steps

LISTS = """def total : List Nat → Nat
  | [] => 0
  | x :: xs => x + total xs
def snoc : List Nat → Nat → List Nat
  | [], a => [a]
  | x :: xs, a => x :: snoc xs a
def back : List Nat → List Nat
  | [] => []
  | x :: xs => snoc (back xs) x
"""
REPEATED = """def repeated (f : Nat → Nat) : Nat → Nat → Nat
  | 0, x => x
  | n + 1, x => f (repeated f n x)
"""
BELOW = """inductive Below : Nat → Nat → Prop where
  | same : ∀ n, Below n n
  | next : ∀ m n, Below m n → Below m (n + 1)
"""
LARGER = """def larger : Nat → Nat → Nat
  | 0, m => m
  | n + 1, 0 => n + 1
  | n + 1, m + 1 => larger n m + 1
"""


@pytest.mark.parametrize(
    ("definitions", "statement", "proof"),
    [
        (
            "",
            "(n : Nat) (h : n % 3 = 2) : n * n % 3 = 1",
            ["obtain ⟨k, rfl⟩ : ∃ k, n = 3 * k + 2 := ⟨n / 3, by omega⟩", "solver grind"],
        ),
        (
            "",
            "(n : Nat) : n ^ 2 % 4 = 0 ∨ n ^ 2 % 4 = 1",
            [
                "obtain ⟨k, rfl | rfl | rfl | rfl⟩ : ∃ k, n = 4 * k ∨ n = 4 * k + 1 ∨ n = 4 * k + 2 ∨ n = 4 * k + 3 := "
                "⟨n / 4, by omega⟩ <;> grind"
            ],
        ),
        (
            "",
            "(f : Nat → Nat) (m n : Nat) (h : m < n) : f (m + (n - m)) = f n",
            ["obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_lt h", "solver grind"],
        ),
        ("", "(a b c : Nat) (h : a ∣ b) (h2 : a ∣ b + c) : a ∣ c", ["exact (Nat.dvd_add_right h).mp h2"]),
        (
            BELOW,  # whose first index Lean makes a parameter: no case has it
            "(a b c : Nat) (h : Below a b) (h2 : Below b c) : Below a c",
            [
                "induction h2 with | same => ?_ | next n h2 ih => ?_",
                "solver grind",
                "apply Below.next",
                "solver grind",
            ],
        ),
        (
            "",
            "(n k : Nat) (h : n = 2 * k + 1) : ∃ j, n * n = 4 * j + 1",
            ["rw [h]", "exact ⟨k * k + k, by grind⟩"],
        ),
        ("", "(a k l : Nat) : a ∣ 3 * (a * k) + 2 * (a * l)", ["exact ⟨3 * k + 2 * l, by grind⟩"]),
        ("", "(n : Nat) : ∃ m, n < m ∧ 5 ∣ m", ["refine ⟨5 * (n + 1), ?_⟩", "solver omega"]),
        (
            "",
            "(n : Nat) (h : 1 < n) (h2 : n ∣ 6) (h3 : n ≠ 6) : n = 2 ∨ n = 3",
            ["have h1 := Nat.le_of_dvd (by omega) h2", "rcases (by omega : n = 0 ∨ n = 1 ∨ n = 2"],
        ),
        (
            LARGER,
            "(n m : Nat) : n ≤ larger n m",
            ["induction n generalizing m <;> cases m <;> simp_all [larger] <;> omega"],
        ),
        (
            REPEATED,
            "(f : Nat → Nat) (m n x : Nat) : repeated f (m + n) x = repeated f m (repeated f n x)",
            [
                "induction m with | zero => ?_ | succ m ih => ?_",
                "solver simp [repeated]",
                "rw [Nat.add_right_comm m 1 n]",
                "simp_all [repeated]",
            ],
        ),
        (
            LISTS,
            "(xs : List Nat) : total (back xs) = total xs",
            [
                "induction xs with | nil => ?_ | cons x xs ih => ?_",
                "rw [back]",
                "simp only [total, back]",
                "rw [← ih]",
                "generalize back xs = t <;> induction t <;> simp_all [total, snoc, back] <;> omega",
            ],
        ),
    ],
)
def test_a_theorem_is_proved_by_steps_that_its_states_suggest(
    definitions: str, statement: str, proof: list[str]
) -> None:
    """Each of the proof's tactics, by how it begins, is suggested where it is run, but for those of solvers."""
    source = f"{definitions}theorem t {statement} := by\n  sorry"
    state = start(source)
    for wanted in proof:
        tactic = wanted.removeprefix("solver ")
        if tactic == wanted:
            suggested = steps(state.goal_texts()[0], Definitions.of(source), most=40)
            tactic = next((step for step in suggested if step.startswith(wanted)), "")
            assert tactic, f"{wanted} is not among {suggested}"
        state = run_tactic(state, tactic).state
    assert not state.goals


@pytest.mark.parametrize(
    "state",
    [
        "n : Nat\nh : n % 7 = 1 ∨ n % 7 = 2\n⊢ n ≠ 0",  # as many cases as nobody writes
        "n : Nat\nh : n < 100\n⊢ n * n < 10000",
        "x✝ : Nat\nh : x✝ < 3\n⊢ x✝ * x✝ < 9",
        "m : Int\nh : m < 3\n⊢ m ≤ 2",
    ],
)
def test_no_cases_are_made_of_what_is_large_or_has_no_name_or_is_no_natural_number(state: str) -> None:
    assert not [step for step in steps(state, most=60) if step.startswith(("rcases (by omega", "obtain ⟨k, rfl"))]


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 5), st.integers(0, 3))
def test_a_polynomial_has_the_value_of_its_term(x: int, y: int, number: int, exponent: int) -> None:
    text = f"(x + {number} * y) ^ {exponent} * (x + 1) + {number} * (y * x) + f y"
    expanded = polynomial(tokens_of(text))
    assert expanded is not None
    values = {"x": x, "y": y, "(f y)": 7}
    total = 0
    for monomial, times in expanded.items():
        for factor in monomial:
            times *= values[factor]
        total += times
    assert total == (x + number * y) ** exponent * (x + 1) + number * y * x + 7


@pytest.mark.parametrize(
    "text", ["a - b", "a / 2", "(a + b) ^ n", "a ^ 9", "xs ++ ys", "", "(a + b + c) ^ 4 * (d + e + f) ^ 4"]
)
def test_what_is_no_sum_of_few_products_is_none(text: str) -> None:
    assert polynomial(tokens_of(text)) is None


def test_a_number_is_a_polynomial() -> None:
    assert polynomial(tokens_of("2 * 3 + 0")) == Counter({(): 6})
