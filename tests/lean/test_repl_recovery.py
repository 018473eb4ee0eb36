"""Errors as Lean's REPL reports them: how much of a text is still read after one, and where each of them is."""

import pytest

from nanolean.repl import Repl
from nanolean.tests.each import each
from nanolean.tests.library import base
from nanoproof.lean.repl_goals import Refused, read_tactic_answer


@pytest.fixture
def repl() -> Repl:
    return Repl(base())


def errors(repl: Repl, text: str) -> list[tuple[tuple[int, int], tuple[int, int], str]]:
    """Start, end and first line of every error of a text."""
    found = [message for message in repl.answer({"cmd": text}).get("messages", []) if message["severity"] == "error"]
    return [(place(message["pos"]), place(message["endPos"]), message["data"].splitlines()[0]) for message in found]


def place(pos: dict) -> tuple[int, int]:
    return pos["line"], pos["column"]


def start(repl: Repl, statement: str) -> int:
    return repl.answer({"cmd": f"example {statement} := by sorry"})["sorries"][0]["proofState"]


def step(repl: Repl, state: int, tactic: str) -> dict:
    return repl.answer({"tactic": tactic, "proofState": state})


# --- several errors in one text


def test_a_block_that_leaves_goals_is_blamed_as_a_whole(repl: Repl):
    text = "example (p q : Prop) (h : p) : p ∧ q := by\n  constructor\n  exact h"
    assert errors(repl, text) == [((1, 40), (3, 9), "unsolved goals")]


def test_braces_are_blamed_at_the_closing_one_and_the_proof_goes_on(repl: Repl):
    text = "example (p q : Prop) : p ∧ q := by\n  constructor\n  { skip }\n  { skip; skip }"
    assert errors(repl, text) == [((3, 9), (3, 10), "unsolved goals"), ((4, 15), (4, 16), "unsolved goals")]


def test_a_failing_bullet_does_not_hide_the_next_one(repl: Repl):
    text = "example (p q : Prop) : p ∧ q := by\n  constructor\n  · exact foo\n  · assumption"
    assert errors(repl, text) == [
        ((3, 10), (3, 13), "Unknown identifier `foo`"),
        ((4, 4), (4, 14), "Tactic `assumption` failed"),
    ]


def test_a_failing_nested_block_does_not_hide_what_follows(repl: Repl):
    text = "example (p q : Prop) : q := by\n  have h : p := by\n    assumption\n  exact h"
    assert errors(repl, text) == [((3, 4), (3, 14), "Tactic `assumption` failed"), ((4, 8), (4, 9), "Type mismatch")]


def test_a_failing_alternative_does_not_hide_the_next_one(repl: Repl):
    text = "example (n : Nat) : n = 1 := by\n  cases n with\n  | zero => exact a\n  | succ n => exact b"
    assert [error[2] for error in errors(repl, text)] == ["Unknown identifier `a`", "Unknown identifier `b`"]


def test_an_alternative_that_leaves_its_goal_is_reported(repl: Repl):
    text = "example (n : Nat) : n = n := by\n  cases n with\n  | zero => skip\n  | succ n => rfl"
    assert [error[2] for error in errors(repl, text)] == ["unsolved goals"]


def test_a_case_that_fails_does_not_hide_the_next_one(repl: Repl):
    text = "example (p q : Prop) : p ∧ q := by\n  constructor\n  case left => exact a\n  case right => exact b"
    assert [error[2] for error in errors(repl, text)] == ["Unknown identifier `a`", "Unknown identifier `b`"]


def test_the_parts_of_a_term_fail_one_by_one(repl: Repl):
    text = "example (p q : Prop) : p ∧ q := ⟨foo, bar⟩"
    assert [error[2] for error in errors(repl, text)] == ["Unknown identifier `foo`", "Unknown identifier `bar`"]


def test_a_failing_tactic_ends_its_own_block(repl: Repl):
    text = "example (p : Prop) : p := by\n  assumption\n  exact foo"
    assert [error[2] for error in errors(repl, text)] == ["Tactic `assumption` failed"]


def test_an_unknown_term_is_taken_for_proved(repl: Repl):
    text = "example (p : Prop) : p ∧ p := by\n  refine ⟨foo, ?_⟩\n  exact bar"
    assert [error[2] for error in errors(repl, text)] == ["Unknown identifier `foo`", "Unknown identifier `bar`"]


def test_errors_that_follow_from_others_are_not_reported(repl: Repl):
    text = "example (p : Prop) : p := by\n  have h := foo\n  exact h.bar"
    assert [error[2] for error in errors(repl, text)] == ["Unknown identifier `foo`"]


def test_a_sorry_beside_an_error_gives_no_warning(repl: Repl):
    answer = repl.answer({"cmd": "example (p q : Prop) : p ∧ q := ⟨sorry, foo⟩"})
    assert [message["severity"] for message in answer["messages"]] == ["error"]
    assert len(answer["sorries"]) == 1


def test_every_goal_is_tried_before_all_goals_gives_up(repl: Repl):
    text = "example (p q : Prop) : p ∧ q := by\n  constructor\n  all_goals assumption\n  exact foo"
    assert [error[2] for error in errors(repl, text)] == ["Tactic `assumption` failed"] * 2


def test_a_declaration_with_errors_is_known_but_not_proved(repl: Repl):
    answer = repl.answer({"cmd": "theorem t : 1 = 2 := by\n  exact foo\n\n#print axioms t"})
    assert answer["messages"][-1]["data"] == "'t' depends on axioms: [sorryAx]"


def test_the_type_of_a_have_with_errors_ends_the_block(repl: Repl):
    text = "example : True := by\n  have h : foo := by trivial\n  exact bar"
    assert errors(repl, text) == [
        ((2, 11), (2, 14), "Unknown identifier `foo`"),
        ((2, 18), (2, 20), "Case tag `body` not found."),
    ]


def test_a_block_may_stand_in_the_first_column_and_ends_where_a_command_begins(repl: Repl):
    assert errors(repl, "example : 1 = 1 := by\nrfl") == []
    assert errors(repl, "example : 1 = 1 := by\ntheorem t : True := trivial") == [((1, 19), (1, 21), "unsolved goals")]


# --- what tries and falls back does not recover


@pytest.mark.parametrize(
    "tactic",
    [
        "first | exact foo | rfl",
        "((try exact foo); rfl)",
        "first | (have h : 1 = 2 := by exact foo); rfl | rfl",
        "((repeat exact foo); rfl)",
        "first | { skip } | rfl",
    ],
)
def test_errors_in_what_is_only_tried_are_none(repl: Repl, tactic: str):
    answer = step(repl, start(repl, ": 1 = 1"), tactic)
    assert answer["proofStatus"] == "Completed" and "messages" not in answer


def test_the_last_alternative_of_first_is_not_only_tried(repl: Repl):
    text = "example (p q : Prop) : p ∧ q := by\n  constructor\n  · first | assumption | exact foo\n  · exact bar"
    assert [error[2] for error in errors(repl, text)] == ["Unknown identifier `foo`", "Unknown identifier `bar`"]


# --- single tactics


def test_a_term_with_an_error_closes_the_goal_but_proves_nothing(repl: Repl):
    answer = step(repl, start(repl, "(n : Nat) : n = n"), "exact nobody_knows")
    nowhere = {"line": 0, "column": 0}
    assert answer == {
        "proofStatus": "Incomplete: contains sorry",
        "proofState": 1,
        "goals": [],
        "messages": [
            {"severity": "error", "pos": nowhere, "endPos": nowhere, "data": "Unknown identifier `nobody_knows`"}
        ],
    }


@pytest.mark.parametrize(
    "tactic", ["apply nobody_knows", "rw [nobody_knows]", "exact h", "assumption", "simp only [nobody_knows]", "rfl"]
)
def test_a_tactic_that_fails_answers_a_message_alone(repl: Repl, tactic: str):
    answer = step(repl, start(repl, "(p q : Prop) (h : p) : q"), tactic)
    assert list(answer) == ["message"] and answer["message"].startswith("Lean error:\n")


@each(
    "tactic",
    [
        "exact nobody_knows",
        "refine ⟨nobody_knows, ?_⟩",
        "have h : p := by assumption",
        "constructor <;> exact nobody_knows",
        "{ skip }",
        "sorry",
        "exact sorry",
        "apply ?_",
        "exact ⟨sorry, sorry⟩",
        "constructor; all_goals sorry",
    ],
)
def test_no_recovered_step_counts_as_applied(repl: Repl, tactic: str):
    answer = step(repl, start(repl, "(p q : Prop) : p ∧ q"), f"({tactic})")
    applied = answer.get("goals") == ["p q : Prop\n⊢ p ∧ q"]
    assert applied or isinstance(read_tactic_answer(answer), Refused), answer


def test_a_recovered_error_can_never_become_a_proof(repl: Repl):
    state = start(repl, "(p q : Prop) (hq : q) : p ∧ q")
    after = step(repl, state, "refine ⟨nobody_knows, ?_⟩")
    assert step(repl, after["proofState"], "exact hq")["proofStatus"] == "Incomplete: contains sorry"


def test_a_tactic_that_is_none_is_placed_in_lines_and_columns_from_one(repl: Repl):
    state = start(repl, ": 1 = 1")
    assert step(repl, state, "nonsense 3") == {"message": "Lean error:\n<input>:1:1: unknown tactic"}


# --- holes with names


def test_a_goal_given_as_its_own_proof_leaves_a_metavariable(repl: Repl):
    state = start(repl, "(p q : Prop) : p ∧ q")
    state = step(repl, state, "constructor")["proofState"]
    answer = step(repl, step(repl, state, "rotate_left")["proofState"], "apply ?right")
    assert len(answer["goals"]) == 1
    text = "example (p : Prop) (h : p) : p ∧ p := by\n  refine ⟨h, ?right⟩\n  apply ?right"
    assert errors(repl, text) == [((1, 0), (1, 7), "(kernel) declaration has metavariables '_example'")]


def test_the_name_of_an_earlier_goal_is_not_used_for_a_new_one(repl: Repl):
    state = start(repl, "(p : Prop) (h : p) : p ∧ p ∧ p")
    state = step(repl, state, "refine ⟨?a, ?b⟩")["proofState"]
    state = step(repl, state, "exact h")["proofState"]
    assert "`?a` has the name of an earlier goal" in step(repl, state, "refine ⟨?a, h⟩")["messages"][0]["data"]
