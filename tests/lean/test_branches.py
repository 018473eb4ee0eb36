"""What a REPL's answer means, and how goals become branches."""

from typing import Any

import pytest

from nanoproof.lean.server.branches import Refused, ReplBranch, coupled_ranges, judge, own_goals, split

OPEN, DONE = "Incomplete: open goals remain", "Completed"


def step(goals: list[str], status: str, **more: Any) -> dict[str, Any]:
    return {"proofState": 3, "goals": goals, "proofStatus": status, **more}


@pytest.mark.parametrize(
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
    assert judge(answer) == (3, goals)


@pytest.mark.parametrize(
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
    assert isinstance(judge(answer), Refused)


@pytest.mark.parametrize("answer", [{"message": "Unknown proof state."}, {}, {"env": 0}])
def test_other_answers_are_no_word_of_lean(answer: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="neither"):
        judge(answer)


def test_goals_without_metavariables_are_independent() -> None:
    assert coupled_ranges(["case a\n⊢ p", "case b\n⊢ q", "⊢ xs[0]? = y?"]) == [(0, 1), (1, 2), (2, 3)]


def test_goals_that_mention_one_metavariable_stay_together() -> None:
    assert coupled_ranges(["⊢ p ?m.1", "⊢ q", "⊢ r ?m.1", "⊢ s"]) == [(0, 3), (3, 4)]


def test_a_goal_stays_with_those_that_mention_it_by_its_tag() -> None:
    assert coupled_ranges(["⊢ True", "case h\n⊢ ?w = 2", "case w\n⊢ Nat"]) == [(0, 1), (1, 3)]
    assert coupled_ranges(["case w\n⊢ Nat", "⊢ True", "case h\n⊢ ?w = 2"]) == [(0, 3)]


def test_each_independent_goal_gets_the_others_as_siblings() -> None:
    branches = split(5, ["a", "b"], ["c"])
    assert [(b.goals, b.siblings, b.rotation) for b in branches] == [(("a",), ("b", "c"), 0), (("b",), ("c", "a"), 1)]


def test_no_goals_is_no_branch() -> None:
    assert split(5, [], ["c"]) == []


def test_touched_siblings_are_noticed() -> None:
    branch = ReplBranch(0, ("a",), ("b", "c"))
    assert own_goals(branch, ["b", "c"]) == ()
    assert own_goals(branch, ["x", "y", "b", "c"]) == ("x", "y")
    assert own_goals(branch, ["x", "b", "changed"]) is None
    assert own_goals(branch, ["c"]) is None


def test_a_lone_goal_takes_the_tactic_as_it_is() -> None:
    assert ReplBranch(0, ("a",)).request_for("rfl") == "rfl"


def test_a_goal_among_others_is_focused_with_its_layout_kept() -> None:
    branch = ReplBranch(0, ("a",), ("b",))
    assert branch.request_for("cases h with\n| inl h => rfl") == "focus (cases h with\n       | inl h => rfl)"
    assert branch.request_for("rfl -- done") == "focus (rfl -- done\n)"
