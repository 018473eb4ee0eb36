"""What one tactic without arguments proves is no question, unless it is asked for."""

import json

import pytest

from nanolean.data.families import family_problems
from nanolean.data.make import Quota, make_family
from nanolean.data.replay import FINISHERS, finisher_of, is_trivial, start
from nanolean.tactic_state import run_tactic
from nanoproof.data import nanolean as data
from nanoproof.data.transitions.leantree import goal_object


@pytest.mark.nightly
@pytest.mark.parametrize(
    "statement",
    [
        "(a b : Nat) (h : a < b) : a + 1 ≤ b",
        "(p q : Prop) (h : p ∨ q) (h1 : ¬p) : q",
        "(a b : Nat) : a + 0 = a",
        ": 2 + 2 = 4",
    ],
)
def test_linear_arithmetic_propositional_logic_and_computation_are_trivial(statement: str) -> None:
    source = f"theorem t {statement} := by\n  sorry"
    assert is_trivial(source)
    finisher = finisher_of(start(source))
    assert finisher in FINISHERS
    assert not run_tactic(start(source), finisher).state.goals


@pytest.mark.parametrize(
    "statement",
    [
        "(a b c : Nat) (h : a ∣ b) : a ∣ b * c",
        "(f : Nat → Nat) (h : f 0 = 0) (h1 : ∀ n, f (n + 1) = f n + 2) (n : Nat) : f n = 2 * n",
        "(α : Type) (s : List α → Nat) (h : s [] = 0) (h1 : ∀ x t, s (x :: t) = s t + 1) (l : List α) : s l = l.length",
    ],
)
def test_what_needs_a_lemma_or_induction_is_not_trivial(statement: str) -> None:
    assert not is_trivial(f"theorem t {statement} := by\n  sorry")


def test_a_family_leaves_out_what_the_filter_names_and_goes_on_looking() -> None:
    plain = family_problems("order", 5, {2: 6}, frozenset())
    unwanted = {named.source().removeprefix(f"theorem {named.id}") for named in plain[::2]}
    # A name is given to what is kept, so the filter sees the unwanted ones under other names.
    kept = family_problems("order", 5, {2: 6}, frozenset(), lambda source: source.endswith(tuple(unwanted)))
    assert len(kept) == 6
    assert not {named.key for named in plain[::2]} & {named.key for named in kept}


def test_statements_to_be_proved_are_not_trivial_unless_asked_for() -> None:
    quota = Quota((), (3, 3))
    asked = make_family("cancel", 5, quota, frozenset(), goal_object).statements
    assert asked and not any(is_trivial(row["source"]) for row in asked)
    everything = family_problems("cancel", 5, {1: 3, 2: 3}, frozenset())
    assert any(is_trivial(named.source()) for named in everything)


@pytest.mark.usefixtures("held_out")
def test_generate_prints_problems_with_their_proofs(capsys: pytest.CaptureFixture[str]) -> None:
    data.main(["generate", "--family", "divides", "--level", "3", "--count", "2", "--keep-trivial"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 2
    for row in rows:
        assert row["family"] == "divides" and row["level"] == 3 and row["source"].endswith("sorry") and row["proof"]
