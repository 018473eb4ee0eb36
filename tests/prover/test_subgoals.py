"""Proof states as statements of their own."""

import pytest

from nanoproof.lean.types import Goal, Hypothesis, ProofState
from nanoproof.prover.subgoals import statement_of_goal, why_no_statement


def goal(target: str, *hypotheses: tuple[str, str], value: str | None = None) -> Goal:
    return Goal(target, tuple(Hypothesis(name, kind, value) for name, kind in hypotheses))


def test_hypotheses_of_one_type_share_a_binder_and_instances_lose_their_names() -> None:
    shown = goal("x + y = y + x", ("x", "ℕ"), ("y", "ℕ"), ("h", "0 < x"), ("inst✝¹", "Ring R"), ("inst✝", "Ring R"))
    assert statement_of_goal(shown) == "(x y : ℕ) (h : 0 < x) [Ring R] [Ring R] : x + y = y + x"


@pytest.mark.parametrize(
    ("goals", "reason"),
    [
        ((goal("p"), goal("q")), "coupled"),
        ((goal("?a = 3"),), "metavariable"),
        ((goal("x = 1", ("x", "ℕ"), value="1"),), "let"),
        ((goal("x✝ = 1", ("x✝", "ℕ")),), "inaccessible"),
        ((goal("x = 1", ("x", "ℕ"), ("inst✝", "Ring R")),), None),
    ],
)
def test_a_state_that_its_text_does_not_say_all_of_is_no_statement(goals: tuple[Goal, ...], reason: str | None) -> None:
    assert why_no_statement(ProofState(goals)) == reason
