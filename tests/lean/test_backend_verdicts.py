"""What a REPL's answer means: applied, refused, out of time, or nothing that Lean has said."""

from typing import Any

import pytest

from nanolean.tests.each import each
from nanoproof.lean.repl_goals import OutOfTime, Refused, ReplGoal, Step, read_statement_answer, read_tactic_answer

OPEN, DONE = "Incomplete: open goals remain", "Completed"


def step(goals: list[str], status: str, **more: Any) -> dict[str, Any]:
    return {"proofState": 3, "goals": goals, "proofStatus": status, **more}


@each(
    ("answer", "goals"),
    [
        (step([], DONE), ()),
        (step(["⊢ p"], OPEN), ("⊢ p",)),
        (step(["⊢ p"], OPEN, messages=[{"severity": "warning", "data": "unused"}]), ("⊢ p",)),
        (step(["⊢ p"], "Incomplete: contains metavariable(s)"), ("⊢ p",)),
        (step([], "Not verified: more than one initial goal"), ()),
        (step([], "N/A", stepVerification="OK"), ()),
    ],
)
def test_steps_that_count_as_applied(answer: dict[str, Any], goals: tuple[str, ...]) -> None:
    assert read_tactic_answer(answer) == Step(3, tuple(map(ReplGoal, goals)))


@each(
    "answer",
    [
        {"message": "Lean error:\nunknown tactic"},
        step([], "Incomplete: contains sorry", messages=[{"severity": "error", "data": "Unknown identifier"}]),
        step(["⊢ p"], OPEN, messages=[{"severity": "error", "data": "unsolved goals"}]),
        step(["⊢ p"], OPEN, sorries=[{"proofState": 2, "goal": "⊢ q"}]),
        step([], "Incomplete: contains sorry"),
        step([], "Incomplete: contains metavariable(s)"),
        step([], "Error: kernel type check failed"),
        step([], "N/A", stepVerification="Error: no"),
    ],
)
def test_steps_that_are_refused(answer: dict[str, Any]) -> None:
    assert isinstance(read_tactic_answer(answer), Refused)


BROKEN: list[dict[str, Any]] = [
    {},
    {"message": "Unknown proof state."},
    {"message": 3},
    {"proofState": "3", "goals": []},
    {"proofState": True, "goals": []},
    {"proofState": -1, "goals": []},
    step("⊢ p", OPEN),  # type: ignore[arg-type]
    step([None], OPEN),  # type: ignore[list-item]
    step([], DONE, messages=["error"]),
    step([], DONE, messages={"severity": "error"}),
]


@each("answer", [*BROKEN, {"env": 0}], ids=str)
def test_other_answers_are_no_word_of_lean(answer: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"neither|number|no list"):
        read_tactic_answer(answer)


@pytest.mark.parametrize(
    "message",
    [
        "Tactic timed out after 1000ms",
        "Lean error:\ntimeout",
        "Lean error:\nelaboration interrupted",
        "Lean error:\n(kernel) interrupted",
        "Lean error:\n(kernel) excessive memory consumption detected",
        "Lean error:\nexcessive memory consumption detected at 'interpreter' (potential solution: increase it)",
    ],
)
def test_a_repl_that_gives_up_by_itself_is_out_of_time(message: str) -> None:
    assert read_tactic_answer({"message": message}) == OutOfTime()
    assert read_statement_answer({"message": message}) == OutOfTime()


@pytest.mark.parametrize(
    "message",
    [
        "(deterministic) timeout at `whnf`, maximum number of heartbeats (200000) has been reached",
        "unknown identifier `timeout`",
        "unknown identifier 'timeout'",
        "(kernel) deterministic timeout",
        "type mismatch\n  timeout : Nat",
    ],
)
def test_lean_s_own_limits_and_names_are_refusals(message: str) -> None:
    assert isinstance(read_tactic_answer({"message": f"Lean error:\n{message}"}), Refused)


def gap(goal: str = "⊢ p", proof_state: Any = 7) -> dict[str, Any]:
    return {"proofState": proof_state, "goal": goal, "pos": {"line": 1, "column": 3}}


def test_a_statement_starts_at_its_only_gap() -> None:
    warning = {"severity": "warning", "data": "declaration uses `sorry`"}
    assert read_statement_answer({"env": 1, "sorries": [gap()], "messages": [warning]}) == Step(7, (ReplGoal("⊢ p"),))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"env": 0, "messages": [{"severity": "error", "data": "unknown identifier"}], "sorries": [gap()]}, "unknown"),
        ({"env": 0}, "found 0"),
        ({"env": 0, "sorries": [gap(), gap()]}, "found 2"),
        ({"message": "Lean error:\nno such thing"}, "no such thing"),
    ],
)
def test_statements_that_are_refused(answer: dict[str, Any], reason: str) -> None:
    outcome = read_statement_answer(answer)
    assert isinstance(outcome, Refused) and reason in outcome.message


@pytest.mark.parametrize(
    "answer",
    [
        {"message": "Unknown environment."},
        {"env": 0, "sorries": "many"},
        {"env": 0, "sorries": [3]},
        {"env": 0, "sorries": [gap(proof_state=None)]},
        {"env": 0, "sorries": [{"proofState": 0}]},
    ],
    ids=str,
)
def test_other_answers_to_a_statement_are_no_word_of_lean(answer: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"neither|number|no list"):
        read_statement_answer(answer)
