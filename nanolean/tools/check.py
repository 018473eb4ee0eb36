"""`check FILE.lean ...`: run files over the library and report whether all is proved; `build`: the library itself."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanolean.commands.messages import CommandResult, LineMap
from nanolean.commands.runner import run_text
from nanolean.env_state import EnvState
from nanolean.kernel.env import axioms_of
from nanolean.library.loader import (
    DIGEST,
    Library,
    LibraryError,
    build_library,
    library_files,
    open_library,
    save_library,
)
from nanolean.library.texts import declarations, plural
from nanolean.system import UserError

USES_SORRY = "declaration uses `sorry`"


@dataclass(frozen=True)
class Finding:
    """Something to say about a place in a file."""

    file: Path
    line: int
    column: int
    severity: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.severity}: {self.text}"


@dataclass(frozen=True)
class FileReport:
    """What one file holds: findings in the order of the text, and the theorems with the axioms they rest on.

    `declared` is the kind and the name of every constant that it adds, those that come along with others too.
    """

    file: Path
    findings: tuple[Finding, ...]
    counts: dict[str, int]
    axioms: dict[str, tuple[str, ...]]
    declared: tuple[tuple[str, str], ...]

    @property
    def ok(self) -> bool:
        """Whether every declaration is checked and none rests on `sorry`."""
        return all(f.severity not in ("error", "sorry") and f.text != USES_SORRY for f in self.findings)

    def as_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return {
            "file": str(self.file),
            "ok": self.ok,
            "messages": [
                {"line": f.line, "column": f.column, "severity": f.severity, "text": f.text} for f in self.findings
            ],
            "counts": self.counts,
            "axioms": {name: list(axioms) for name, axioms in self.axioms.items()},
        }


def check_files(
    files: Sequence[Path],
    axioms: bool = False,
    as_json: bool = False,
    as_messages: bool = False,
    recheck: bool = False,
) -> int:
    """Check files, each over the library alone, and print what is to be said; 0 if all is proved, else 1.

    With `as_messages` each message is a line of JSON as `lean --json` writes it, then one line for each file with what
    it declares, and nothing else is printed. `recheck` has the kernel check the library's own proofs again.

    Raises UserError for a file that cannot be read.
    """
    for file in files:  # before the library is read, which may take a minute
        read_text(file)
    library = open_library(distrust=recheck)
    reports = []
    for file in files:
        report = check_file(library.state, file)
        reports.append(report)
        if as_messages:
            print_messages(report)
        elif not as_json:
            print_report(report, axioms)
    ok = all(report.ok for report in reports)
    if as_json:
        found = [report.as_json() for report in reports]
        print(json.dumps({"ok": ok, "library": _trusted(library), "files": found}, ensure_ascii=False))
    elif not as_messages:
        print(summary(reports))
        print(f"trusted: NanoLean's code; its library: {library.description}")
    return 0 if ok else 1


def _trusted(library: Library) -> dict[str, Any]:
    """What was trusted beside NanoLean's code, for programs."""
    cache = None if library.cache is None else str(library.cache)
    return {"cache": cache, **{name: getattr(library, name) for name in ("digest", "recorded", "rechecked")}}


def check_file(base: EnvState, file: Path) -> FileReport:
    """Check one file. Raises UserError if it cannot be read."""
    text = read_text(file)
    result = run_text(base, text, header=True)
    lines = LineMap(text)
    new = declarations(result.state, base)
    theorems = [info.name for info in new if info.kind == "theorem"]
    counts = {kind: sum(info.kind == kind for info in new) for kind in ("theorem", "def", "inductive", "axiom")}
    found = {name: tuple(sorted(axioms_of(result.state.env, name))) for name in theorems}
    declared = tuple((info.kind, info.name) for info in result.state.env if info.name not in base.env)
    return FileReport(file, tuple(_findings(file, result, lines)), counts, found, declared)


def _findings(file: Path, result: CommandResult, lines: LineMap) -> list[Finding]:
    """Messages and every `sorry`, in the order of the text."""
    found = [(sorry.pos, "sorry", sorry.goal.partition("⊢ ")[2]) for sorry in result.sorries]
    found += [(message.pos, message.severity, message.text) for message in result.messages]
    found.sort(key=lambda item: item[0])
    return [Finding(file, *lines.place(pos), severity, text) for pos, severity, text in found]


def print_report(report: FileReport, axioms: bool) -> None:
    """Print the findings, what rests on axioms of the file, and all axioms of each theorem if asked for."""
    for finding in report.findings:
        print(finding)
    own = [name for kind, name in report.declared if kind == "axiom"]
    for name, used in report.axioms.items():
        if axioms:
            print(f"{report.file}: {name}: {', '.join(used) if used else 'no axioms'}")
        elif taken := [axiom for axiom in used if axiom in own]:
            print(f"{report.file}: {name} holds if {', '.join(taken)} does, which the file takes for granted")


def print_messages(report: FileReport) -> None:
    """Print the messages as `lean --json` does, a `sorry` by its warning, and then what the file declares."""
    for finding in report.findings:
        if finding.severity != "sorry":
            severity = "information" if finding.severity == "info" else finding.severity
            place = {"line": finding.line, "column": finding.column}
            message = {"severity": severity, "pos": place, "fileName": str(finding.file), "data": finding.text}
            print(json.dumps(message, ensure_ascii=False))
    print(json.dumps({"fileName": str(report.file), "declared": report.declared}, ensure_ascii=False))


def summary(reports: Sequence[FileReport]) -> str:
    """Summarize all files in one line."""
    totals = {kind: sum(report.counts[kind] for report in reports) for kind in reports[0].counts}
    bad = sum(not report.ok for report in reports)
    what = ", ".join(plural(count, kind) for kind, count in totals.items() if count) or "no declarations"
    verdict = "all checked by the kernel" if not bad else f"{plural(bad, 'file')} not proved"
    return f"{plural(len(reports), 'file')}: {what}; {verdict}"


def read_text(file: Path) -> str:
    """Read a file; UserError if it cannot be read."""
    try:
        return file.read_bytes().decode("utf-8")  # as it is: a lone carriage return ends no line, nor a comment
    except FileNotFoundError:
        problem = "there is no such file"
    except IsADirectoryError:
        problem = f"it is a folder; give files, {file}/*.lean say"
    except UnicodeDecodeError as error:
        problem = f"it is not UTF-8 (byte {error.start})"
    except OSError as error:
        problem = error.strerror or str(error)
    raise UserError(f"cannot read {file}: {problem}")


def build(quiet: bool = False, record: bool = False) -> int:
    """Build the library from text, every proof checked by the kernel, and put it into the cache; 1 on errors.

    It must come to what is recorded beside the text, else 1 too; `record` writes that down anew, after a change.
    Raises UserError if that cannot be written.
    """
    start = last = time.perf_counter()
    known = 0

    def report(file: Path, state: EnvState) -> None:
        nonlocal last, known
        now, count = time.perf_counter(), sum(info.kind == "theorem" for info in declarations(state))
        if not quiet:
            print(f"{file.name}: {plural(count - known, 'theorem')}, {now - last:.2f} s", flush=True)
        last, known = now, count

    try:
        state = build_library(library_files(), report)
    except LibraryError as error:
        print(error)
        return 1
    try:
        saved = save_library(state, record)
    except OSError as error:
        raise UserError(f"--record: cannot write {DIGEST}: {error.strerror}") from error
    print(f"{plural(known, 'theorem')} checked in {time.perf_counter() - start:.1f} s")
    if not saved:
        print(f"this is not the library that {DIGEST} records; if its text or its elaborator was changed: --record")
    return 0 if saved else 1
