"""What people type or name on a command line becomes theorems, and files whose `sorry`s are proved one by one."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from nanoproof.common.errors import UserError
from nanoproof.lean.lean_file import PLACEHOLDER, Gap, LeanFile
from nanoproof.lean.lexical import CLOSING, OPENING, find_top_level, mask, without_header
from nanoproof.lean.source import ALLOWED_AXIOMS, SORRY, name_examples, parts
from nanoproof.lean.types import CheckReport, LeanCalls, SourceError, Theorem
from nanoproof.prover.attempt import Attempt

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


Prove = Callable[[LeanCalls, Theorem], Attempt]


@dataclass(frozen=True)
class Filled:
    """What became of one `sorry`: proved, tried in vain (`message` says why), or left alone."""

    gap: Gap
    outcome: Literal["proved", "not proved", "left alone"]
    message: str = ""
    attempt: Attempt | None = None


class SorryFiller:
    """Tries the `sorry`s of one file with one session; `file` holds the proofs found so far."""

    def __init__(self, file: LeanFile, session: LeanCalls, prove: Prove) -> None:
        """Raises `SourceError` if Lean refuses the file as it is."""
        self.file = file
        self._session = session
        self._trusting = TrustingSession(session, file.axioms)
        self._prove = prove
        self._report = self._check(file)
        if self._report.errors:
            raise SourceError(f"Lean refuses the file: {first_error(self._report, without_header(file.text))}")
        self._without_stand_in: dict[Gap, str] = {}
        self._settle(file.gaps)

    def fill(self, gap: Gap) -> Filled:
        """Try one `sorry`; its proof is kept if the whole file holds with it. LeanError if the server fails."""
        if gap.left_alone:
            return Filled(gap, "left alone", gap.left_alone)
        attempt = self._prove(
            self._trusting, self.file.theorem(gap, "file", f"{gap.name}, line {gap.line}, column {gap.column}")
        )
        if attempt.outcome != "proven":
            reason = _one_line(attempt.message)
            if attempt.refused:
                reason = self._missing_before(gap) or reason
            return Filled(gap, "not proved", reason, attempt)
        if PLACEHOLDER in attempt.proof:
            return Filled(gap, "not proved", "the proof names what stands for a sorry", attempt)
        file = self.file.with_proof(gap, attempt.proof)
        report = self._check(file)
        if report.errors:
            reason = f"the proof does not fit into the file: {_one_line(report.errors[0])}"
            return Filled(gap, "not proved", reason, attempt)
        self.file, self._report = file, report
        return Filled(gap, "proved", attempt=attempt)

    @property
    def complete(self) -> bool:
        """Whether the file as it is now holds no `sorry` and rests on nothing that it does not declare itself."""
        return self._report.accepted and not self.file.open_gaps and not self.foreign_axioms

    @property
    def foreign_axioms(self) -> tuple[str, ...]:
        """The axioms that the theorems of the file rest on, without the usual three and those it declares."""
        found = (axiom for axiom in self._report.axioms if axiom not in ALLOWED_AXIOMS)
        return tuple(axiom for axiom in found if axiom.rpartition(".")[2] not in self.file.axioms)

    def _missing_before(self, gap: Gap) -> str:
        """Which `sorry` before a theorem makes Lean refuse what is given of the file; empty if none does."""
        for other, said in self._without_stand_in.items():
            if other.start < gap.start and other in self.file.open_gaps:
                return f"nothing can stand in for the sorry of line {other.line}, column {other.column}: {said}"
        return ""

    def _settle(self, gaps: Sequence[Gap]) -> None:
        """Find the `sorry`s that were taken for a tactic and are a term, or the other way round: Lean refuses those.

        What it refuses as both stays as it is; a theorem behind it cannot be tried.
        """
        report = self._session.check(self.file.supposing(gaps))
        if report.errors and len(gaps) > 1:
            self._settle(gaps[: len(gaps) // 2])
            self._settle(gaps[len(gaps) // 2 :])
        elif report.errors:
            flipped = self.file.with_flipped(gaps[0])
            if self._session.check(flipped.supposing(gaps)).errors:
                self._without_stand_in[gaps[0]] = _one_line(report.errors[0])
            else:
                self.file = flipped

    def _check(self, file: LeanFile) -> CheckReport:
        return self._session.check(without_header(file.proved()))


class TrustingSession:
    """A session whose checks do not mind the axioms that stand in the file, and what stands there for a `sorry`."""

    def __init__(self, session: LeanCalls, axioms: frozenset[str]) -> None:
        self._session = session
        self._trusted = axioms | {PLACEHOLDER}
        self.start, self.apply = session.start, session.apply

    def check(self, source: str) -> CheckReport:
        report = self._session.check(source)
        axioms = tuple(axiom for axiom in report.axioms if axiom.rpartition(".")[2] not in self._trusted)
        return replace(report, axioms=axioms)


def _one_line(text: str) -> str:
    return " ".join(text.split())
