"""The page of the tactics, `docs/tactics.md`, made from the docstrings of the functions that run them.

An entry is a paragraph of such a docstring that begins with the forms of a tactic in backquotes and a colon, and what
follows it. Its examples are fenced Lean text: perhaps commands, then `example .. := by` and tactics. What NanoLean
answers to an example is not written down but computed, so the page cannot show an answer that nobody gets.
"""

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from nanolean.__main__ import with_deep_stack
from nanolean.commands.runner import run_text
from nanolean.data import replay
from nanolean.parser import ParseError, parse_commands
from nanolean.proof_errors import ProofError
from nanolean.syntax import By, Command, ExampleCmd
from nanolean.system import run_main
from nanolean.tactic_state import TacticState, proof_status, run_tactic
from nanolean.tactics import load
from nanolean.tactics.core import tactic_functions

PAGE = Path(__file__).parents[1] / "docs" / "tactics.md"

INTRODUCTION = """\
# The tactics of NanoLean

Every tactic, with examples that you can paste into Lean 4 as they stand. A comment says what NanoLean answers: the
goals that are then open, `no goals` when the kernel has accepted the proof, or `error: ` and a refusal. This page is
made of the docstrings in `nanolean/tactics`: `python -m nanolean.tools.tactics_page --write`.

`case left` above a goal is its tag; then come the hypotheses, then `⊢` and what is to be proved. A name with a dagger,
`n✝`, is *inaccessible*: Lean made it up, and no tactic can mention it before `rename_i` or a pattern names it. A tactic
works on the first goal, and what it leaves takes that goal's place, where nothing else is said. A tactic that is
refused changes nothing.
"""

CHAPTERS = {
    "Introducing and using hypotheses": "intro intros rintro exact refine apply assumption have replace let suffices "
    "show change specialize revert clear rename generalize rename_i",
    "Building a proof": "constructor and_intros left right exists exfalso contradiction nomatch nofun trivial decide",
    "Taking hypotheses apart": "cases induction rcases obtain by_cases if match injection injections subst "
    "subst_vars split",
    "Equations and rewriting": "rfl symm rw simp dsimp simpa simp_all unfold ac_rfl calc conv congr funext ext",
    "Finishers": "omega grind infer_instance",
    "Structure": "· { ( <;> case next all_goals any_goals focus classical first solve try repeat repeat' iterate "
    "rotate_left rotate_right fail_if_success skip trace done sorry",
}
"""The entries of each chapter in their order, by the first name of each."""

SPOKEN = {"·": "bullet", "{": "braces", "(": "parentheses", "<;>": "and then"}
"""Words for headings of tactics without letters, which would have no anchor."""

ENTRY = re.compile(r"(?P<forms>`[^`]+`(?:, `[^`]+`)*): ")
FENCED = re.compile(r"^```lean\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NO_GOALS = "no goals"


class Entry(NamedTuple):
    """The names of a tactic, and the text about it with fenced examples."""

    names: tuple[str, ...]
    text: str

    @property
    def examples(self) -> list[str]:
        return [block.rstrip("\n") for block in FENCED.findall(self.text)]

    @property
    def heading(self) -> str:
        spoken = SPOKEN.get(self.names[0])
        names = " ".join(f"`{name}`" for name in self.names)
        return names if spoken is None else f"{names} {spoken}"


@cache
def entries() -> dict[str, Entry]:
    """Return what the docstrings of the tactics say, by the first name of each entry."""
    load()
    by_name = {}
    for function in tactic_functions():
        for entry in entries_of(function):
            assert entry.names[0] not in by_name, f"two entries for {entry.names[0]}"
            by_name[entry.names[0]] = entry
    return by_name


def entries_of(function: Callable[..., Any]) -> Iterator[Entry]:
    """Split the docstring of a tactic's function into its entries; a form of another tactic has none."""
    names: tuple[str, ...] = ()
    lines: list[str] = []
    in_example = False
    for line in (inspect.getdoc(function) or "").splitlines():
        begins = None if in_example else ENTRY.match(line)
        if line.startswith("```"):
            in_example = not in_example
        if begins is not None and (not lines or not lines[-1]):
            if names:
                yield Entry(names, "\n".join(lines).strip())
            forms = re.findall(r"`([^`]+)`", begins["forms"])
            names = tuple(first_word(form) for form in forms)
            lines = []
        lines.append(line)
    if names:
        yield Entry(names, "\n".join(lines).strip())


def first_word(form: str) -> str:
    """Return the name of a tactic from a form of it: `(t; u)` is `(`."""
    return "(" if form.startswith("(") else form.split()[0]


def page() -> str:
    """Return the page, with the answers that NanoLean gives now."""
    parts = [INTRODUCTION]
    for chapter, names in CHAPTERS.items():
        parts.append(f"## {chapter}\n")
        for name in names.split():
            entry = entries()[name]
            parts.append(f"### {entry.heading}\n")
            parts.append(f"{with_answers(entry.text)}\n")
    return "\n".join(parts)


def with_answers(text: str) -> str:
    """Return the text of an entry in long lines, each example followed by the answer to it."""
    blocks = []
    # `split` with a group gives text, example, text, example, ..., text.
    for number, part in enumerate(FENCED.split(text)):
        if number % 2 == 0:
            paragraphs = part.strip().split("\n\n")
            blocks += [" ".join(paragraph.split("\n")) for paragraph in paragraphs if paragraph]
            continue
        code = part.rstrip("\n")
        answer = answer_to(code)
        one_line = "\n" not in answer and "⊢" not in answer
        comment = f"/- {answer} -/" if one_line else f"/-\n{answer}\n-/"
        blocks.append(f"```lean\n{code}\n{comment}\n```")
    return "\n\n".join(blocks)


def answer_to(example: str) -> str:
    """Run an example; return the goals that it leaves, `no goals`, or `error: ` and the refusal of its last tactic."""
    head, by, tactics = example.partition(" := by\n")
    if not by:
        raise ValueError(f"an example is `example .. := by` and tactics, not {example!r}")
    return run_tactics(state_of(head), tactics)[0]


def state_of(head: str) -> TacticState:
    """Return the state of `example ..` without its proof. Raises ValueError where that is no statement."""
    result = run_text(replay.library(), f"{head} := by sorry")
    problems = [message.text for message in result.messages if message.severity == "error"]
    if problems or len(result.sorries) != 1:
        raise ValueError(f"no statement in {head!r}: {problems}")
    return result.sorries[0].state


def run_tactics(state: TacticState, text: str) -> tuple[str, TacticState]:
    """Return the answer to tactics and the state after them (the old one where one of them is refused)."""
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
    """Split an indented sequence into tactics; what the parser cannot read is left to whoever runs it."""
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


def main(argv: Sequence[str] | None = None) -> int:
    """Print or write the page."""
    parser = argparse.ArgumentParser(prog="python -m nanolean.tools.tactics_page", description=__doc__)
    parser.add_argument("--write", action="store_true", help="Write the page instead of printing it.")
    args = parser.parse_args(argv)
    if args.write:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        sys.stdout.write(page())
    return 0


if __name__ == "__main__":
    run_main(lambda: with_deep_stack(main))
