"""The examples of `nanolean/docs/tactics.md` as data; `python -m nanolean.tests.docs_examples --write` refreshes their
answers and the index in `nanolean/docs/manual.md`.

An example is a fenced block of Lean text: perhaps commands, then `example .. := by` and tactics. A comment says what
NanoLean answers to the tactics above it: the goals, `no goals`, or `error: ` and the message of a refusal.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from nanolean.__main__ import with_deep_stack
from nanolean.commands.runner import run_text
from nanolean.parser import ParseError, parse_commands
from nanolean.proof_errors import ProofError
from nanolean.syntax import By, Command, ExampleCmd
from nanolean.system import run_main
from nanolean.tactic_state import TacticState, proof_status, run_tactic
from nanolean.tests.library import base

DOC = Path(__file__).parents[1] / "docs" / "tactics.md"
MANUAL = DOC.with_name("manual.md")
INDEX = re.compile(r"^\| what for \|.*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)

HEADING = re.compile(r"^### (.+)$")
ANSWER = re.compile(r"^/-(.*?)-/$", re.MULTILINE | re.DOTALL)
NO_GOALS = "no goals"


class Step(NamedTuple):
    """Tactics, indented as in a proof, and the answer that the document gives to them."""

    text: str
    answer: str


class Example(NamedTuple):
    """The names of the entry it stands in, its line, the commands with the statement, and its steps."""

    entry: tuple[str, ...]
    line: int
    head: str
    steps: tuple[Step, ...]

    @property
    def title(self) -> str:
        return f"{self.entry[0]} in line {self.line}" if self.entry else f"line {self.line}"


def entry_names(heading: str) -> tuple[str, ...]:
    """The tactics that a heading is about: everything in backquotes."""
    return tuple(re.findall(r"`([^`]+)`", heading))


def headings(text: str) -> list[tuple[str, ...]]:
    """The entries of the document in order."""
    return [entry_names(match[1]) for match in map(HEADING.match, text.splitlines()) if match]


def blocks(text: str) -> Iterator[tuple[tuple[str, ...], int, int, str]]:
    """Every fenced block: the entry it stands in, its first and its last line, and its language."""
    entry: tuple[str, ...] = ()
    opened: tuple[int, str] | None = None
    for number, line in enumerate(text.splitlines()):
        if line.startswith("```"):
            if opened is None:
                opened = (number, line[3:].strip())
            else:
                yield entry, opened[0] + 1, number, opened[1]
                opened = None
        elif opened is None and (match := HEADING.match(line)):
            entry = entry_names(match[1])


def examples(text: str) -> list[Example]:
    """The examples of the document; raises `ValueError` for a block of another form."""
    lines = text.splitlines()
    found = []
    for entry, first, last, language in blocks(text):
        if language != "lean":
            raise ValueError(f"line {first}: a block of language {language!r}")
        found.append(read_example(entry, first + 1, "\n".join(lines[first:last])))
    return found


def read_example(entry: tuple[str, ...], line: int, block: str) -> Example:
    """One block as an example."""
    head, by, rest = block.partition(" := by\n")
    parts = ANSWER.split(rest)
    if not by or len(parts) < 3 or parts[-1].strip():
        raise ValueError(f"line {line}: an example is `example .. := by`, tactics and, in a comment, the answer")
    steps = tuple(Step(parts[i].strip("\n"), parts[i + 1].strip("\n ")) for i in range(0, len(parts) - 1, 2))
    return Example(entry, line, head, steps)


def write_example(example: Example, answers: Sequence[str]) -> str:
    """The block of an example with other answers."""
    text = f"{example.head} := by\n"
    for step, answer in zip(example.steps, answers, strict=True):
        single = "\n" not in answer and "⊢" not in answer
        text += f"{step.text}\n" + (f"/- {answer} -/\n" if single else f"/-\n{answer}\n-/\n")
    return text.rstrip("\n")


def run_example(example: Example) -> list[str]:
    """What NanoLean answers to each step."""
    result = run_text(base(), f"{example.head} := by sorry")
    problems = [message.text for message in result.messages if message.severity == "error"]
    if problems or len(result.sorries) != 1:
        return [f"no statement: {problems}"] * len(example.steps)
    state = result.sorries[0].state
    answers = []
    for step in example.steps:
        answer, state = run_step(state, step.text)
        answers.append(answer)
    return answers


def run_step(state: TacticState, text: str) -> tuple[str, TacticState]:
    """The answer to some tactics, and the state after them (the old one, if one of them is refused)."""
    before = state
    try:
        for tactic in tactics_of(text):
            result = run_tactic(state, tactic)
            problems = [note.text for note in result.notes if note.severity == "error"]
            if problems:
                return "error: " + "\n".join(problems), before
            state = result.state
    except ProofError as error:
        return f"error: {error.message}", before
    if state.goals:
        return "\n\n".join(state.goal_texts()), state
    status = proof_status(state)
    return NO_GOALS if status == "Completed" else f"error: {status}", state


def tactics_of(text: str) -> list[str]:
    """The tactics of an indented sequence; what the parser cannot read is left to whoever runs it."""
    source = f"example : True := by\n{text}"
    commands: tuple[Command, ...] = ()
    with suppress(ParseError):
        commands = parse_commands(source)
    if len(commands) != 1 or not isinstance(commands[0], ExampleCmd) or not isinstance(commands[0].value, By):
        return [text.strip()]
    tactics = commands[0].value.tactics.tactics
    return [" " * _column(source, tactic.pos) + source[tactic.pos : tactic.end] for tactic in tactics]


def _column(text: str, offset: int) -> int:
    return offset - text.rfind("\n", 0, offset) - 1


def refreshed(text: str) -> str:
    """The document with the answers that NanoLean gives now."""
    lines = text.splitlines()
    found = examples(text)
    for example, (_, first, last, _) in reversed(list(zip(found, blocks(text), strict=True))):
        lines[first:last] = write_example(example, run_example(example)).splitlines()
    return "\n".join(lines) + "\n"


def index(text: str) -> str:
    """The entries of the document by chapter, as a table of links."""
    rows: list[list[str]] = []
    seen: Counter[str] = Counter()
    for level, title in re.findall(r"^(##|###) (.+)$", text, re.MULTILINE):
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        number = f"-{seen[anchor]}" if seen[anchor] else ""
        seen[anchor] += 1
        if level == "##":
            rows.append([title])
        else:
            rows[-1] += [f"[`{name}`]({DOC.name}#{anchor}{number})" for name in entry_names(title)]
    lines = [f"| {chapter} | {' '.join(links)} |" for chapter, *links in rows]
    return "\n".join(["| what for | tactics |", "|---|---|", *lines])


def main(argv: Sequence[str] | None = None) -> int:
    """Print or write the document with fresh answers."""
    parser = argparse.ArgumentParser(prog="python -m nanolean.tests.docs_examples", description=__doc__)
    parser.add_argument("--write", action="store_true", help="Write the document instead of printing it.")
    args = parser.parse_args(argv)
    text = refreshed(DOC.read_text(encoding="utf-8"))
    if args.write:
        DOC.write_text(text, encoding="utf-8")
        manual = MANUAL.read_text(encoding="utf-8")
        MANUAL.write_text(INDEX.sub(lambda _: index(text), manual).rstrip() + "\n", encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    run_main(lambda: with_deep_stack(main))
