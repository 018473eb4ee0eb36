"""`calc` as a tactic and as a term."""

import pytest

from nanolean.tests.each import each
from nanolean.tests.proving import goals, proves, refusal, targets

ORDER = "(a b c d : Nat) (h : a = b) (k : b ≤ c) (l : c < d)"
LOGIC = "(p q r : Prop) (h : p ↔ q) (k : q = r)"


@each(
    ("statement", "tactic"),
    [
        (f"{ORDER} : a < d", "calc a = b := h\n  _ ≤ c := k\n  _ < d := l"),
        (f"{ORDER} : a < d", "exact calc\n  a = b := h\n  _ ≤ c := k\n  _ < d := by\n    exact l"),
        (f"{ORDER} : a ≤ c", "calc a\n  _ = b := h\n  _ ≤ c := k"),
        (f"{ORDER} : a ≤ c", "calc a = b := h\n  b ≤ c := k"),
        ("(a b c : Nat) (h : a < b) (k : b < c) : a < c", "calc a < b := h\n  _ < c := k"),
        ("(a b c : Nat) (h : a < b) (k : b ≤ c) : a < c", "calc a < b := h\n  _ ≤ c := k"),
        ("(a b c : Nat) (h : a ∣ b) (k : b = c) : a ∣ c", "calc a ∣ b := h\n  _ = c := k"),
        ("(a b c : Nat) (h : a ≠ b) (k : b = c) : a ≠ c", "calc a ≠ b := h\n  _ = c := k"),
        (f"{LOGIC} : p ↔ r", "calc p ↔ q := h\n  _ = r := k"),
        ("(f : Nat → Nat) (h : ∀ n, f n = n) : f (f 0) = 0", "calc f (f 0) = f 0 := by rw [h (f 0)]\n  _ = 0 := h 0"),
    ],
)
def test_a_chain_of_relations_proves_the_goal(statement: str, tactic: str) -> None:
    assert proves(statement, tactic)


def test_holes_of_a_step_become_goals() -> None:
    assert targets(f"{ORDER} : a < d", "calc a = b := h\n  _ ≤ c := ?first\n  _ < d := ?second") == ["b ≤ c", "c < d"]


def test_a_chain_that_ends_early_leaves_the_rest() -> None:
    assert goals("(a b c : Nat) (h : a = b) : a ≤ c", "calc a = b := h") == [
        "case calc.step\na b c : Nat\nh : a = b\n⊢ b ≤ c"
    ]


@pytest.mark.parametrize(
    ("tactic", "message"),
    [
        (
            "calc a = b := h\n  c < d := l",
            "invalid 'calc' step, left-hand side is\n  c : Nat\nprevious right-hand side is\n  b : Nat",
        ),
        (
            "calc a = b := h\n  _ ≤ d := k",
            "Type mismatch\n  k\nhas type\n  b ≤ c\nbut is expected to have type\n  b ≤ d",
        ),
        ("calc True := trivial", "invalid 'calc' step, relation expected\n  True"),
    ],
)
def test_what_does_not_fit_is_refused(tactic: str, message: str) -> None:
    assert refusal(f"{ORDER} : a < d", tactic) == message


def test_relations_that_do_not_go_together_are_refused() -> None:
    text = refusal("(a b c : Nat) (h : a ∣ b) (k : b < c) : a < c", "calc a ∣ b := h\n  _ < c := k")
    assert text.startswith("invalid 'calc' step, failed to synthesize `Trans` instance")


def test_a_chain_for_something_else_is_refused() -> None:
    assert "is expected to prove\n  c = a" in refusal(
        "(a b c : Nat) (h : a = b) (k : b = c) : c = a", "calc a = b := h\n  _ = c := k"
    )
