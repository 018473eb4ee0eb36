"""The questions behind a text, and which answers count."""

from typing import Any

import pytest

from nanolean.tests.each import each
from nanoproof.lean.check_command import CheckCommand
from nanoproof.lean.types import ProtocolError

TEXT = "theorem boom : False := by\n  trivial"
AXIOMS = ("info", 4, "'boom' does not depend on any axioms")
STATEMENT = ("info", 5, "boom : False")


def answer(*messages: tuple[Any, Any, Any], **more: Any) -> dict[str, Any]:
    shown = [{"severity": kind, "pos": {"line": line, "column": 0}, "data": text} for kind, line, text in messages]
    return {"env": 0, "messages": shown, **more}


def test_the_questions_stand_behind_the_text_on_lines_of_their_own() -> None:
    assert CheckCommand.build(TEXT).text.split("\n")[2:] == ["", "#print axioms _root_.boom", "#check _root_.boom"]


def test_a_header_moves_the_questions() -> None:
    command = CheckCommand.build(TEXT, header="import Mathlib")
    assert command.text.split("\n")[command.first_line - 1] == "#print axioms _root_.boom"


def test_of_theorems_before_an_offset_nothing_is_asked() -> None:
    first, example, last = "theorem a : p := q\n", "example : p := q\n", "theorem b : p := q"
    text = first + example + last
    for since, names in ((0, 3), (len(first), 2), (len(first + example), 1), (len(text), 0)):
        command = CheckCommand.build(text, since=since)
        asked = [line.split("_root_.")[1] for line in command.text.split("\n") if line.startswith("#print axioms")]
        assert asked == ["a", "_nanoproof_check_1", "b"][3 - names :] and command.names == tuple(asked)


def test_a_sorry_by_another_name_before_the_theorem_is_none_of_it() -> None:
    text = "theorem a : p := sorryAx p false\n" + TEXT
    command = CheckCommand.build(text, since=text.index("theorem boom"))
    told = answer(("info", 5, AXIOMS[2]), ("info", 6, STATEMENT[2]))
    for line, accepted in ((1, True), (2, False), (3, False), (None, False)):
        place = {"pos": {"line": line, "column": 0}}
        warned = {"severity": "warning", "data": "declaration uses 'sorry'", **place}
        assert command.read_answer({**told, "messages": [*told["messages"], warned]}).accepted == accepted
        assert command.read_answer({**told, "sorries": [{"goal": "⊢ p", **place}]}).accepted == accepted


def test_whole_answers_are_taken() -> None:
    report = CheckCommand.build(TEXT).read_answer(answer(AXIOMS, STATEMENT, ("info", 2, "said by the proof")))
    assert report.accepted and report.axioms == () and report.statements == (("boom", "boom : False"),)


def test_axioms_may_fill_several_lines() -> None:
    told = ("info", 4, "'boom' depends on axioms: [propext,\n Classical.choice,\n Quot.sound]")
    report = CheckCommand.build(TEXT).read_answer(answer(told, STATEMENT))
    assert report.axioms == ("Classical.choice", "Quot.sound", "propext")


def test_names_may_have_quotes_and_namespaces_that_are_open() -> None:
    source = "namespace A\ntheorem «odd name» : p := q"
    told = ("info", 4, "'A.«odd name»' does not depend on any axioms"), ("info", 5, "«odd name» : p")
    assert CheckCommand.build(source).read_answer(answer(*told)).accepted


@pytest.mark.parametrize("module", ["", "_stdin.", "Mathlib.Logic."])
def test_the_name_of_a_private_theorem_may_come_with_its_module(module: str) -> None:
    source = "namespace A\nprivate theorem boom : p := q"
    told = ("info", 4, f"'_private.{module}0.A.boom' depends on axioms: [propext]"), ("info", 5, "A.boom : p")
    assert CheckCommand.build(source).read_answer(answer(*told)).axioms == ("propext",)


def test_a_theorem_outside_of_the_namespace_that_is_open_is_asked_for_by_its_full_name() -> None:
    source = "namespace A\ntheorem _root_.boom : p := q\ntheorem boom : p := q"
    questions = CheckCommand.build(source).text.split("\n")[4:]
    assert questions == [
        "#print axioms _root_.boom",
        "#check _root_.boom",
        "#print axioms _root_.A.boom",
        "#check _root_.A.boom",
    ]


BROKEN: dict[str, Any] = {
    "nothing at all": {},
    "not an object": [],
    "no environment": {"messages": answer(AXIOMS, STATEMENT)["messages"]},
    "an environment that is no number": answer(AXIOMS, STATEMENT, env="0"),
    "a failure beside an environment": answer(AXIOMS, STATEMENT, message="Lean error:\nno"),
    "messages that are none": {"env": 0, "messages": ["fine"]},
    "messages that are no list": {"env": 0, "messages": {"severity": "info"}},
    "no messages": {"env": 0},
    "no report on axioms": answer(STATEMENT),
    "no statement": answer(AXIOMS),
    "a report by the text itself": answer(("info", 2, AXIOMS[2]), STATEMENT),
    "a report without a place": answer(("info", None, AXIOMS[2]), STATEMENT),
    "a report on another theorem": answer(("info", 4, "'other' does not depend on any axioms"), STATEMENT),
    "a statement of another theorem": answer(AXIOMS, ("info", 5, "other : False")),
    "two reports that differ": answer(AXIOMS, STATEMENT, ("info", 4, "'boom' depends on axioms: [lie]")),
    "a report with more behind it": answer(("info", 4, AXIOMS[2] + " or so"), STATEMENT),
    "a report with more before it": answer(("info", 4, "indeed " + AXIOMS[2]), STATEMENT),
    "a report that is a warning": answer(("warning", 4, AXIOMS[2]), STATEMENT),
    "an unknown severity": answer(AXIOMS, STATEMENT, ("fatal", 1, "no")),
    "a severity that is no text": answer(AXIOMS, STATEMENT, ([], 1, "no")),
    "a message without a text": answer(AXIOMS, STATEMENT, ("info", 1, None)),
    "sorries that are a number": answer(AXIOMS, STATEMENT, sorries=1),
}


@each("broken", BROKEN.values(), ids=BROKEN.keys())
def test_an_answer_that_is_not_whole_is_a_protocol_error(broken: Any) -> None:
    with pytest.raises(ProtocolError):
        CheckCommand.build(TEXT).read_answer(broken)


GAPS: dict[str, Any] = {
    "an error after the reports": answer(AXIOMS, STATEMENT, ("error", 9, "(deterministic) timeout at `whnf`")),
    "a sorry without a warning": answer(AXIOMS, STATEMENT, sorries=[{"goal": "⊢ False", "proofState": 0}]),
    "the warning of a sorry": answer(AXIOMS, STATEMENT, ("warning", 1, "declaration uses `sorry`")),
    "the warning of older versions": answer(AXIOMS, STATEMENT, ("warning", 1, "declaration uses 'sorry'")),
    "a warning in other words": answer(AXIOMS, STATEMENT, ("warning", 1, "a proof of `boom` is left to sorry")),
    "only the axiom of it": answer(("info", 4, "'boom' depends on axioms: [propext, sorryAx]"), STATEMENT),
}


@each("told", GAPS.values(), ids=GAPS.keys())
def test_an_error_or_a_sorry_anywhere_is_no_acceptance(told: Any) -> None:
    assert not CheckCommand.build(TEXT).read_answer(told).accepted


def test_warnings_about_names_that_hold_sorry_are_no_gaps() -> None:
    told = answer(
        AXIOMS,
        STATEMENT,
        ("warning", 1, "unused variable `not_sorry`"),
        ("warning", 1, "`a.sorry` and `sorry'` are old"),
    )
    assert CheckCommand.build(TEXT).read_answer(told).accepted
