"""The manual is true: every example gives the answer it shows, and every tactic has an entry with examples."""

import re
from functools import cache
from pathlib import Path

import pytest

from nanolean.__main__ import main
from nanolean.commands.runner import run_text
from nanolean.parser.parse_commands import _TACTICS
from nanolean.tests import docs_examples
from nanolean.tests.docs_examples import ANSWER, DOC, MANUAL, Example, examples, headings, run_example
from nanolean.tests.library import base
from nanolean.tools.terminal import Session

COMBINATORS = {"<;>"}
"""Forms of tactics that begin with another tactic."""


@cache
def tactic_examples() -> list[Example]:
    return examples(DOC.read_text(encoding="utf-8"))


def fenced(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)\n```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("example", tactic_examples(), ids=lambda example: example.title)
def test_an_example_of_a_tactic_gives_what_it_shows(example: Example):
    assert run_example(example) == [step.answer for step in example.steps]


def test_no_example_shows_what_is_no_answer_to_a_tactic():
    answers = [step.answer for example in tactic_examples() for step in example.steps]
    assert not [answer for answer in answers if "not available" in answer or answer.startswith("no statement")]


def test_every_tactic_has_an_entry_of_its_own():
    names = [name for entry in headings(DOC.read_text(encoding="utf-8")) for name in entry]
    assert sorted(names) == sorted(_TACTICS.keys() | COMBINATORS)


@pytest.mark.parametrize("name", sorted(_TACTICS.keys() | COMBINATORS))
def test_a_tactic_has_two_examples_that_use_it(name: str):
    used = [example for example in tactic_examples() if name in example.entry and _uses(example, name)]
    assert len(used) >= 2


def _uses(example: Example, name: str) -> bool:
    word = re.compile(rf"(?<![\w'?]){re.escape(name)}(?![\w'?])" if name[0].isalpha() else re.escape(name))
    return any(word.search(step.text) for step in example.steps)


def test_refreshing_changes_nothing():
    text = DOC.read_text(encoding="utf-8")
    found = examples(text)
    lines = text.splitlines()
    for example, (_, first, last, _) in zip(found, docs_examples.blocks(text), strict=True):
        shown = [step.answer for step in example.steps]
        assert docs_examples.write_example(example, shown) == "\n".join(lines[first:last])


@pytest.mark.parametrize("block", fenced(MANUAL, "lean"))
def test_a_text_of_the_manual_gives_the_messages_it_shows(block: str):
    result = run_text(base(), ANSWER.sub("", block))
    told = [f"{message.severity}: {message.text}" for message in result.messages]
    assert told == [answer.strip("\n ") for answer in ANSWER.findall(block)]


def test_the_manual_links_to_every_entry():
    assert docs_examples.index(DOC.read_text(encoding="utf-8")) in MANUAL.read_text(encoding="utf-8")


def test_a_session_of_the_manual_gives_what_it_shows():
    (transcript,) = fenced(MANUAL, "console")
    session, lines = Session(base()), transcript.splitlines()
    while lines:
        line = lines.pop(0)
        assert line.startswith(session.prompt)
        told = session.enter(line.removeprefix(session.prompt)).splitlines()
        assert lines[: len(told)] == told
        del lines[: len(told)]


def test_the_commands_of_the_manual_exist(capsys: pytest.CaptureFixture[str]):
    commands = re.findall(r"`python -m nanolean (\w+)([^`]*)`", MANUAL.read_text(encoding="utf-8"))
    assert commands
    for command, rest in commands:
        with pytest.raises(SystemExit) as stop:
            main([command, "--help"])
        assert stop.value.code == 0
        told = capsys.readouterr().out
        assert all(flag in told for flag in re.findall(r"(?<!\w)--?\w+", rest))
