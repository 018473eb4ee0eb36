"""Input of the command line: lines and theorems that a user types, and Lean files whose `sorry`s are to be proved."""

import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Literal

from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import home
from nanoproof.common.terminal import shorten
from nanoproof.lean.declarations import declarations, outline
from nanoproof.lean.lean_file import PLACEHOLDER, Gap, LeanFile
from nanoproof.lean.lexical import CLOSING, OPENING, find_top_level, imported_modules, mask, without_header
from nanoproof.lean.source import ALLOWED_AXIOMS, name_examples, parse_declaration, sorries
from nanoproof.lean.types import CheckReport, LeanCalls, SourceError, Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.check import TrustingSession
from nanoproof.prover.resting import Rest, judge, read_axioms

_HISTORY_LINES = 2000
_NO_PROOF = re.compile(r"\s*:=\s*(?:by\s*)?\Z")
_CONTINUES = re.compile(r"(?:[,:(+*/^=<>≤≥≠∧∨→↔∣∈-]|:=\s*fun.*)\Z")


# -- Lines and theorems that a user types ----------------------------------------------------------------------------


@contextmanager
def line_input(history: str) -> Iterator[Callable[[str], str | None]]:
    """Open line input: a function that shows a prompt and returns the next line, None at its end (Ctrl-D).

    On a terminal, lines can be edited, and those of earlier sessions are in the file `history` of our home. The caller
    handles KeyboardInterrupt (Ctrl-C). No prompt is written where the lines come from a pipe.
    """
    interactive = sys.stdin.isatty()
    readline = None
    if interactive:
        readline = _line_editing(history)

    def ask(prompt: str) -> str | None:
        try:
            return input(prompt if interactive else "")
        except EOFError:
            if interactive:
                print()
            return None

    try:
        yield ask
    finally:
        if readline is not None:
            with suppress(OSError):
                home().mkdir(parents=True, exist_ok=True)
                readline.write_history_file(home() / history)


def _line_editing(history: str) -> ModuleType | None:
    """Set up readline with the lines of earlier sessions; None where Python has none."""
    try:
        import readline
    except ImportError:
        return None
    readline.set_history_length(_HISTORY_LINES)
    readline.clear_history()
    with suppress(OSError):
        readline.read_history_file(home() / history)
    return readline


def parse_theorem(text: str, embedded: bool) -> Theorem:
    """Parse a theorem that a user typed, adding a missing `sorry`; raises UserError if it is not one theorem.

    With `embedded`, its syntax is checked for NanoLean, and a mistake is reported with its position.
    """
    source = text.strip()
    if not sorries(mask(source)):
        if match := _NO_PROOF.search(mask(source)):
            source = source[: match.start()]
        # What comes before the last declaration (a `def` that it uses) has a `:=` of its own.
        declared = outline(source).declarations
        if find_top_level(mask(source), ":=", declared[-1].head_end if declared else 0) >= 0:
            raise UserError("the theorem has a proof already: leave it out, or write `sorry` in its place")
        # Behind a comment on the last line it would be part of that.
        if "--" in source[len(mask(source).rstrip()) :].rpartition("\n")[2]:
            source += "\n  := by sorry"
        else:
            source += " := by sorry"
    if embedded:
        from nanolean.parser import ParseError, parse_commands

        try:
            parse_commands(source)
        except ParseError as error:
            place = f"line {error.line}, column {error.column}"
            raise UserError(f"the theorem has a syntax error at {place}: {error.message}") from error
    parse_declaration(source)
    return Theorem(source, dataset="user", id="user")


def is_unfinished(text: str) -> bool:
    """Tell whether more lines have to come: an open bracket, no claim yet, or an operator at the end of the text."""
    masked = mask(text).rstrip()
    depth = sum((char in OPENING) - (char in CLOSING) for char in masked)
    return depth > 0 or find_top_level(masked, ":") < 0 or _CONTINUES.search(masked) is not None


def read_theorems(ask: Callable[[str], str | None], embedded: bool) -> Iterator[Theorem]:
    """Read theorems as they are typed, each on one line or several, until the end of the input or `:quit`.

    For what is no theorem the error is printed. Ctrl-C drops the lines of an incomplete theorem.
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
            yield parse_theorem(text, embedded)
        except (UserError, SourceError) as error:
            print(f"error: {error}")


# -- Files with `sorry`s ---------------------------------------------------------------------------------------------


def read_lean_file(path: Path) -> LeanFile:
    """Read a file with `sorry`s; raises UserError if it cannot be read or holds none."""
    try:
        # As it is, line ends too, but for the mark that editors of Windows put first.
        file = LeanFile.parse(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text: byte {error.start} cannot be read") from error
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except SourceError as error:
        raise UserError(f"{path}: {error}") from error
    if not file.gaps:
        raise UserError(f"{path} holds no sorry: there is nothing to prove")
    return file


# What servers and the REPL put around Lean's own words.
_FRAMES = re.compile(r"^(?:(?:Could not apply tactic|REPL returned error|Lean error):\s*)+")
_ERROR_WIDTH = 160
"""Columns of an error that explains why something else was not tried."""


def lean_words(message: str) -> str:
    """Return Lean's message without the prefixes that servers add."""
    return _FRAMES.sub("", message).strip()


def first_error(report: CheckReport, source: str, lines_before: int = 0) -> str:
    """Describe the first error that Lean found in a text, with its position, on one line; empty if there is none.

    Lines are counted from behind the first `lines_before`: an error in those has no position.
    """
    if not report.errors:
        return ""
    positions = report.error_positions
    first = min(range(len(report.errors)), key=lambda i: positions[i] if i < len(positions) else (0, 0))
    message = _one_line(report.errors[first])
    line, column = 0, 0
    if first < len(positions):
        line, column = positions[first]
    if not lines_before < line <= source.count("\n") + 1:
        return message
    # Lean reads `theorem NAME` where the file says `example`, which moves what follows on that line to the right.
    width_as_checked = len(name_examples(source).split("\n")[line - 1])
    width_as_given = len(source.split("\n")[line - 1])
    column -= max(0, width_as_checked - width_as_given)
    return f"line {line - lines_before}, column {max(0, column)}: {message}"


_UNKNOWN = re.compile(r"[Uu]nknown (?:identifier|constant|namespace|attribute)(?: `(?P<name>[^`]*)`)?|unknown tactic")
_NO_COMMAND = re.compile(r"expected command|Unknown option")


def with_what_lacks(message: str, text: str, library: str | None = None) -> str:
    """Add to what NanoLean says of a text that real Lean may know what it does not, where that can be the reason.

    `library` is a module of a library that the text's project imports, "" if it imports none; None if there is no
    project, so that the text's own imports are of libraries.
    """
    if library is None:
        modules = [name for name in imported_modules(text) if name.partition(".")[0] not in ("Init", "Lean", "Std")]
        library = modules[0] if modules else ""
    unknown = _UNKNOWN.search(message)
    # A library may have commands and options of its own.
    if unknown is None and not (library and _NO_COMMAND.search(message)):
        return message
    declared = {declaration.name for declaration in declarations(text)}
    if unknown is not None and unknown["name"] and unknown["name"] in declared:
        return message  # the text declares it further down, or it is the theorem itself: no library has it
    lacking = f"{library}, which the file imports" if library else "Mathlib (no reals, sets, ...)"
    return f"{message}: NanoLean has no {lacking}; --lean-servers names a real Lean"


Prove = Callable[[LeanCalls, Theorem], Attempt]


@dataclass(frozen=True)
class Filled:
    """The outcome of one `sorry`: proved, tried in vain (for the reason `message`), or left alone.

    It is `conditional` if the proof holds only if something does that is open; `rest` says what the proof rests on.
    """

    gap: Gap
    outcome: Literal["proved", "conditional", "not proved", "left alone"]
    message: str = ""
    attempt: Attempt | None = None
    rest: Rest = Rest()


class SorryFiller:
    """Fills the `sorry`s of one file; `file` holds the proofs found so far.

    Sessions are arguments, so that several `sorry`s can be worked on at once; `accept` is for one thread at a time.
    """

    def __init__(self, file: LeanFile, session: LeanCalls, tolerant: bool = False) -> None:
        """Check the file; raises SourceError if Lean refuses it as it is, unless `tolerant`: then its errors stay."""
        self.file = file
        self._report = session.check(file.checked())
        self._as_given = self._report
        self.is_read = True
        """Whether Lean has read the whole file with all proofs that are in it."""
        self.first_error = first_error(self._report, file.checked(), _lines_before(file))
        if self.errors and not tolerant:
            raise SourceError(f"Lean refuses the file: {self.first_error}")
        self._without_stand_in: dict[Gap, str] = {}
        self._rests: dict[Gap, Rest] = {}
        """What the final check of each proof has found that it rests on."""
        self.conditional: dict[Gap, Rest] = {}
        """The proofs in the file that rest on something open, so far as that is known."""
        if file.gaps:
            self._correct_kinds(session, file.gaps)

    @property
    def errors(self) -> tuple[str, ...]:
        """The errors of the file as it was given."""
        return self._as_given.errors

    def theorem(self, gap: Gap) -> Theorem:
        """Return the theorem to prove for a `sorry`."""
        return self.file.theorem(gap, "file", f"{gap.name}, line {gap.line}, column {gap.column}")

    def trusting(self, session: LeanCalls) -> TrustingSession:
        """Return the session with which to prove the theorem of a `sorry`."""
        return TrustingSession(session, self.file.axioms)

    def fill(self, session: LeanCalls, gap: Gap, prove: Prove) -> Filled:
        """Try one `sorry`; its proof is kept if Lean accepts the file up to there, until `judge` has read all of it.

        Raises LeanError if the server fails.
        """
        if gap.skip_reason:
            return Filled(gap, "left alone", gap.skip_reason)
        attempt = prove(self.trusting(session), self.theorem(gap))
        if attempt.outcome != "proven":
            return Filled(gap, "not proved", self.explain(gap, attempt), attempt)
        if reason := self.accept(session, gap, attempt.proof, whole=False):
            return Filled(gap, "not proved", reason, attempt)
        rest = self.rest_of(gap, (attempt.check or {}).get("rests_on", ()))
        return Filled(gap, "conditional" if rest.is_conditional else "proved", "", attempt, rest)

    def explain(self, gap: Gap, attempt: Attempt) -> str:
        """Say why an attempt has no proof, on one line."""
        missing = ""
        if attempt.refused:
            # Errors come first: what they leave undeclared makes most of what is said of later places.
            missing = self._error_before(gap) or self._missing_before(gap)
        return missing or self._in_words(lean_words(attempt.message))

    def _error_before(self, gap: Gap) -> str:
        """Describe the first error of the file as it was given if it is before the theorem of a `sorry`; else empty."""
        lines = [line for line, _ in self._as_given.error_positions if line > 0]
        if not lines or min(lines) - _lines_before(self.file) >= (gap.head_line or gap.line):
            return ""
        return f"what comes before it has errors ({shorten(self.first_error, _ERROR_WIDTH)})"

    def _in_words(self, message: str) -> str:
        """Write a message on one line, with the `sorry`s themselves for the names of the axioms that stand for them."""
        message = _one_line(message)
        # From the longest on: that of the first `sorry` begins that of the tenth.
        for axiom, place in sorted(self.file.places.items(), key=lambda item: -len(item[0])):
            message = message.replace(f"`{axiom}`", axiom).replace(axiom, place.described(self.file.path))
        return message

    def accept(self, session: LeanCalls, gap: Gap, proof: str, whole: bool = True) -> str:
        """Keep a proof if Lean accepts the file with it; returns why not. Raises LeanError if the server fails.

        If not `whole`, the file is read up to its theorem only, and as a whole once for all proofs, by `judge`.
        """
        if PLACEHOLDER in proof:
            return "the proof names what stands for a sorry"
        file = self.file.with_proof(gap, proof)
        text = file.checked(None if whole else gap)
        # Up to the theorem only errors are new: the final check of the proof has asked for its axioms.
        report = session.check(text, since=0 if whole else len(text))
        if news := self._news(report):
            return f"the proof does not fit into the file: {self._in_words(news[0])}"
        self.file, self._report, self.is_read = file, report, whole
        return ""

    def _read_whole(self, session: LeanCalls) -> None:
        """Check the file as a whole, with all proofs, and take out those that do not fit."""
        self._report, self.is_read = session.check(self.file.checked()), True
        if self._news(self._report):
            # What stands further down depends on a proof, as a `#guard_msgs` may. Each alone shows on which.
            filled, self.file, self._report = self.file.filled, self.file.without(self.file.gaps), self._as_given
            for gap, proof in filled:
                self.accept(session, gap, proof)

    def rest_of(self, gap: Gap, axioms: Collection[str]) -> Rest:
        """Tell what a proof rests on by the axioms that its final check has found; what stands for a `sorry` is one."""
        rest = self._rests[gap] = read_axioms(axioms, self.file, gap, self._numbers)
        if rest.is_conditional:
            self.conditional[gap] = rest
        return rest

    def judge(self, session: LeanCalls) -> dict[Gap, Rest]:
        """Ask Lean what each proof in the file rests on, and note those that are `conditional`.

        A proof counts as proved only if Lean says so of the file without the conditional ones, as it will be written;
        where it says nothing, as in a file with errors, what the proof's own final check has found counts. Raises
        LeanError if the server fails.
        """
        if not self.is_read:
            self._read_whole(session)
        rests = self._judge(self.file, session)
        self.conditional = {gap: rest for gap, rest in rests.items() if rest.is_conditional}
        # A proof that rests on a conditional one rests on what is open once that one is taken out.
        while self.conditional:
            settled = self._judge(self.settled, session)
            more = {gap: rest for gap, rest in settled.items() if rest.is_conditional}
            if not more:
                break
            self.conditional |= more
        return {**rests, **self.conditional}

    def _judge(self, file: LeanFile, session: LeanCalls) -> dict[Gap, Rest]:
        by_lean = judge(file, session, self._without_stand_in)
        unknown = Rest(unknown="what Lean cannot check")
        return {gap: by_lean.get(gap) or self._rests.get(gap, unknown) for gap, _ in file.filled}

    @property
    def settled(self) -> LeanFile:
        """The file with the proofs that rest on nothing that is open: what is written."""
        return self.file.without(self.conditional)

    @cached_property
    def _numbers(self) -> dict[Gap, int]:
        return self.file.declaration_numbers()

    @property
    def complete(self) -> bool:
        """Whether the file as it is now holds no `sorry` and rests on nothing that it does not declare itself."""
        return self._report.accepted and not self.file.open_gaps and not self.foreign_axioms and not self.conditional

    @property
    def foreign_axioms(self) -> tuple[str, ...]:
        """The axioms that the theorems of the file rest on, without the usual three and those it declares."""
        foreign = []
        for axiom in self._report.axioms:
            if axiom not in ALLOWED_AXIOMS and axiom.rpartition(".")[2] not in self.file.axioms:
                foreign.append(axiom)
        return tuple(foreign)

    def _missing_before(self, gap: Gap) -> str:
        """Describe the `sorry` before a theorem for which Lean refuses the file up to there; empty if there is none."""
        for other, reason in self._without_stand_in.items():
            if other.start < gap.start and other in self.file.open_gaps:
                place = f"line {other.line}, column {other.column}"
                return f"nothing can stand in for the sorry of {place}: {shorten(reason, _ERROR_WIDTH)}"
        return ""

    def _correct_kinds(self, session: LeanCalls, gaps: Sequence[Gap]) -> None:
        """Correct the `sorry`s that were taken for a tactic and are a term, or vice versa: Lean refuses those.

        One that it refuses as both stays as it is; theorems after it cannot be tried.
        """
        # By halves: mostly none is wrong, which takes one check, and a wrong one a few, however many there are.
        news = self._news(session.check(self.file.assuming(gaps)))
        if news and len(gaps) > 1:
            self._correct_kinds(session, gaps[: len(gaps) // 2])
            self._correct_kinds(session, gaps[len(gaps) // 2 :])
        elif news:
            flipped = self.file.with_flipped(gaps[0])
            if self._news(session.check(flipped.assuming(gaps))):
                self._without_stand_in[gaps[0]] = _one_line(news[0])
            else:
                self.file = flipped

    def _news(self, report: CheckReport) -> list[str]:
        """Return the errors that the file did not have as it was given."""
        return report.errors_beyond(self._as_given)


def _lines_before(file: LeanFile) -> int:
    """Count the lines of what Lean checks come before the file."""
    return file.checked().count("\n") - without_header(file.proved()).count("\n")


def _one_line(text: str) -> str:
    """Put a message on one line, without Lean's hints: several sentences on how to edit the text."""
    return " ".join(text.partition("\n\nHint:")[0].split())
