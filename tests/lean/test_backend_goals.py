"""Goals as a REPL answers them, with what forks say beside the text."""

from typing import Any

from nanoproof.lean.repl_goals import ReplGoal, coupled_ranges, read_goals
from nanoproof.lean.types import Goal, Hypothesis

TEXTS = ["case left\nx : Nat\nh : x = 1\n⊢ p\n    x", "⊢ q"]


def info(kind: str, name: str = "[anonymous]", metavariable: str = "m", **more: Any) -> dict[str, Any]:
    return {"username": name, "type": kind, "hyps": [], "id": metavariable, **more}


INFOS = [
    info("p x", "left", "m1", hyps=[{"username": "x", "type": "Nat", "id": "f1"}, {"username": "h", "type": "x = 1"}]),
    info("q", metavariable="m2"),
]


def ranges(infos: Any, **mentions: list[str]) -> list[tuple[int, int]]:
    decls = [{"mvarId": name, "mvarsInType": others} for name, others in mentions.items()]
    return coupled_ranges(read_goals({"goals": TEXTS, "goalInfos": infos, "mctxAfter": {"decls": decls}}))


def test_the_official_repl_gives_texts_only() -> None:
    first, second = read_goals({"goals": TEXTS})
    assert (first.info, second.info) == (None, None)
    assert first.parsed() == Goal("p\n  x", (Hypothesis("x", "Nat"), Hypothesis("h", "x = 1")), "left")


def test_structured_goals_of_a_fork_are_taken() -> None:
    first, second = read_goals({"goals": TEXTS, "goalInfos": INFOS})
    assert first.parsed() == Goal("p x", (Hypothesis("x", "Nat"), Hypothesis("h", "x = 1")), "left")
    assert second.parsed() == Goal("q")


def test_goals_are_compared_by_their_texts() -> None:
    assert read_goals({"goals": TEXTS, "goalInfos": INFOS}) == tuple(map(ReplGoal, TEXTS))


def test_information_that_does_not_fit_the_text_is_left_alone() -> None:
    for infos in [
        INFOS[:1],
        "none",
        [None, 3],
        list(reversed(INFOS)),
        [{**INFOS[0], "hyps": [{"username": "x"}]}, {"type": "q"}],
        [{**INFOS[0], "hyps": ["x : Nat"]}, {"type": "q", "hyps": 1}],
    ]:
        assert [goal.info for goal in read_goals({"goals": TEXTS, "goalInfos": infos})] == [None, None]


def test_goals_are_coupled_by_the_metavariables_in_their_types() -> None:
    assert ranges(INFOS) == [(0, 1), (1, 2)]
    assert ranges(INFOS, m1=["m9"], m2=["m9"]) == [(0, 2)]
    assert ranges(INFOS, m1=["m2"]) == [(0, 2)]
    assert ranges(INFOS, m1=["m8"], m2=["m9"]) == [(0, 1), (1, 2)]


def test_goals_are_coupled_through_the_types_of_what_they_mention() -> None:
    assert ranges(INFOS, m1=["m8"], m8=["m9"], m9=["m8"], m2=["m9"]) == [(0, 2)]


def test_a_broken_context_couples_nothing() -> None:
    for context in [None, 3, {"decls": 3}, {"decls": [None, {"mvarId": 3}, {"mvarId": "m1", "mvarsInType": 3}]}]:
        goals = read_goals({"goals": TEXTS, "goalInfos": INFOS, "mctxAfter": context})
        assert coupled_ranges(goals) == [(0, 1), (1, 2)]
