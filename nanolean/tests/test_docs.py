"""The manual is true: the page of the tactics is the command's, every example gives the answer it shows."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from nanolean.__main__ import main
from nanolean.commands.runner import run_text
from nanolean.parser.parse_commands import _TACTICS
from nanolean.tests.each import each
from nanolean.tests.library import base
from nanolean.tools.tactics_page import CHAPTERS, PAGE, Entry, entries, page, run_tactics, state_of
from nanolean.tools.terminal import Session

COMBINATORS = {"<;>"}
"""Forms of tactics that begin with another tactic."""

ANSWER = re.compile(r"^/-(.*?)-/$", re.MULTILINE | re.DOTALL)
MANUAL = PAGE.with_name("manual.md")
EXAMPLES = Path(__file__).with_name("tactic_examples.lean")


class Example(NamedTuple):
    """The tactics it is about, the commands with the statement, and pairs of tactics and the answer to them."""

    names: tuple[str, ...]
    head: str
    steps: tuple[tuple[str, str], ...]


@cache
def tactic_examples() -> list[Example]:
    examples = []
    for block in EXAMPLES.read_text(encoding="utf-8").split("\n--- ")[1:]:
        names, _, text = block.partition("\n")
        head, _, rest = text.partition(" := by\n")
        parts = ANSWER.split(rest)
        steps = [(parts[i].strip("\n"), parts[i + 1].strip("\n ")) for i in range(0, len(parts) - 1, 2)]
        examples.append(Example(tuple(names.split()), head, tuple(steps)))
    return examples


def fenced(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)\n```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@each("example", tactic_examples(), ids=lambda example: example.head.replace("\n", " "))
def test_an_example_of_a_tactic_gives_what_it_shows(example: Example):
    state = state_of(example.head)
    for tactics, answer in example.steps:
        given, state = run_tactics(state, tactics)
        assert given == answer


def test_the_page_of_the_tactics_is_what_the_command_makes_of_the_docstrings():
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_tactic_has_an_entry_in_one_chapter():
    first_names = [name for chapter in CHAPTERS.values() for name in chapter.split()]
    assert sorted(first_names) == sorted(entries())
    names = [name for entry in entries().values() for name in entry.names]
    assert sorted(names) == sorted(_TACTICS.keys() | COMBINATORS)


@each("entry", entries().values(), ids=lambda entry: entry.names[0])
def test_a_tactic_has_an_example_that_uses_it(entry: Entry):
    for name in entry.names:
        assert any(_uses(example, name) for example in entry.examples), name


def _uses(example: str, name: str) -> bool:
    word = re.compile(rf"(?<![\w'?]){re.escape(name)}(?![\w'?])" if name[0].isalpha() else re.escape(name))
    return word.search(example) is not None


def test_no_example_shows_what_is_no_answer_to_a_tactic():
    answers = ANSWER.findall(PAGE.read_text(encoding="utf-8"))
    assert answers and not [answer for answer in answers if "not available" in answer]


@pytest.mark.parametrize("block", fenced(MANUAL, "lean"))
def test_a_text_of_the_manual_gives_the_messages_it_shows(block: str):
    result = run_text(base(), ANSWER.sub("", block))
    told = [f"{message.severity}: {message.text}" for message in result.messages]
    assert told == [answer.strip("\n ") for answer in ANSWER.findall(block)]


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
