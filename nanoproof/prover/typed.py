"""What people type or name on a command line becomes theorems: with a `sorry`, or with one line on what is wrong."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from nanoproof.common.errors import UserError
from nanoproof.lean.errors import SourceError
from nanoproof.lean.gaps import SORRY
from nanoproof.lean.lean_file import LeanFile
from nanoproof.lean.lexical import CLOSING, OPENING, find_top_level, mask
from nanoproof.lean.source import name_examples, parts
from nanoproof.lean.theorem import Theorem
from nanoproof.lean.wire import CheckReport

_NO_PROOF = re.compile(r"\s*:=\s*(?:by\s*)?\Z")
_CONTINUES = re.compile(r"(?:[,:(+*/^=<>≤≥≠∧∨→↔∣∈-]|:=\s*fun.*)\Z")


def theorem_of(text: str, embedded: bool) -> Theorem:
    """The theorem that a user typed, with its `sorry` added if it is missing; UserError if it is not one theorem.

    If the embedded prover is to read it, a mistake in its syntax is found here already, with its place.
    """
    source = text.strip()
    if SORRY.search(mask(source)) is None:
        if match := _NO_PROOF.search(mask(source)):
            source = source[: match.start()]
        if find_top_level(mask(source), ":=") >= 0:
            raise UserError("the theorem has a proof already: leave it out, or write `sorry` in its place")
        commented = "--" in source[len(mask(source).rstrip()) :].rpartition("\n")[2]
        source += "\n  := by sorry" if commented else " := by sorry"
    if embedded:
        from nanolean.parser import ParseError, parse_commands

        try:
            parse_commands(source)
        except ParseError as error:
            place = f"line {error.line}, column {error.column}"
            raise UserError(f"the theorem has a syntax error at {place}: {error.message}") from error
    parts(source)
    return Theorem(source, dataset="user", id="user")


def is_unfinished(text: str) -> bool:
    """Whether more lines have to come: an open bracket, no claim yet, or a sign at the end of the text."""
    masked = mask(text).rstrip()
    depth = sum((char in OPENING) - (char in CLOSING) for char in masked)
    return depth > 0 or find_top_level(masked, ":") < 0 or _CONTINUES.search(masked) is not None


def theorems_typed(ask: Callable[[str], str | None], embedded: bool) -> Iterator[Theorem]:
    """Theorems as they are typed, each on one line or several, until the end of the input or `:quit`.

    What is no theorem is answered with one line. Ctrl-C forgets the lines of what is not complete yet.
    """
    lines: list[str] = []
    while True:
        try:
            line = ask("... " if lines else "theorem> ")
        except KeyboardInterrupt:
            print()
            lines = []
            continue
        if line is None or line.strip() in (":quit", ":q"):
            return
        if line.strip() or lines:
            lines.append(line)
        text = "\n".join(lines)
        if not text.strip() or (line.strip() and is_unfinished(text)):
            continue
        lines = []
        try:
            yield theorem_of(text, embedded)
        except (UserError, SourceError) as error:
            print(f"error: {error}")


def read_lean_file(path: Path) -> LeanFile:
    """A file with `sorry`s; UserError if it cannot be read or holds none."""
    try:
        file = LeanFile.parse(path.read_bytes().decode("utf-8"))  # as it is, line ends too
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text: byte {error.start} cannot be read") from error
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except SourceError as error:
        raise UserError(f"{path}: {error}") from error
    if not file.gaps:
        raise UserError(f"{path} holds no sorry: there is nothing to prove")
    return file


def first_error(report: CheckReport, source: str) -> str:
    """The first mistake that Lean found in a text, with its place, on one line; empty if it found none."""
    if not report.errors:
        return ""
    first = min(range(len(report.errors)), key=lambda i: report.places[i] if i < len(report.places) else (0, 0))
    said = " ".join(report.errors[first].split())
    line, column = report.places[first] if first < len(report.places) else (0, 0)
    if not 1 <= line <= source.count("\n") + 1:
        return said
    as_checked, as_given = (len(text.split("\n")[line - 1]) for text in (name_examples(source), source))
    return f"line {line}, column {max(0, column - max(0, as_checked - as_given))}: {said}"
