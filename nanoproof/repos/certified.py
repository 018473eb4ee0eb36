"""The proofs of a project before a checker from outside: certificates of its files, without what is open.

A certificate is of a whole text, and a file may still hold theorems that nobody has proved. So from what Lean reads of
a file, with the files that it imports, each command with an open `sorry` is left out, and then what cannot be read
without it. A statement that is left keeps its text, and in a text that lacks a library or a part of its own no name
is bound automatically; what fell out with its theorem was not judged, and is counted.
"""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanoproof.common.commands import run
from nanoproof.lean.certificates import NANOLEAN, START_SECONDS, verdicts
from nanoproof.lean.declarations import enclosed, outline
from nanoproof.lean.embedded import write_certificates
from nanoproof.lean.lean_file import LeanFile
from nanoproof.lean.lexical import without_header
from nanoproof.repos.project import EXPLICIT, Project

FOLDER = "certified"
"""Within the folder of the report: the texts that are judged, with their certificates."""
CHECK_SECONDS = 60.0
MOST_ROUNDS = 8
"""How often what cannot be read is left out; in a chain of definitions each round shows the next."""


@dataclass
class _Part:
    """A command of a file, or what stands around one; `proofs` counts those of the file that is judged."""

    text: str
    proofs: int = 0
    left_out: bool = False

    def leave_out(self) -> None:
        """Leave it out; the lines of the others stay where they are."""
        self.text, self.proofs, self.left_out = "\n" * self.text.count("\n"), 0, True


def judge_project(project: Project, files: Mapping[str, LeanFile], folder: Path, checker: str) -> dict[str, Any]:
    """Have NanoLean and a checker judge the proofs in `files`, which are those with `sorry`s by their paths.

    Returns what `verdicts` does, and under `not_judged` how many proofs are in no certificate. Writes the texts and the
    certificates into a folder below `folder`, in place of those of an earlier run.
    """
    target = folder / FOLDER
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    proofs: dict[Path, int] = {}
    total = 0
    for path, file in files.items():
        if not file.filled:
            continue
        total += len(file.filled)
        own = project.file(path)
        # Also `Init` counts here, which `Project.missing_library` lets pass: NanoLean has a part of it only.
        lacks_library = False
        for source in (own, *project.closure(own)):
            lacks_library = lacks_library or bool(project.external_imports(source))
        parts = _readable(_parts(project, path, files), target / "text.lean", lacks_library)
        left = sum(part.proofs for part in parts)
        if left:
            # A file of its own for each, side by side: `A/B.lean` and `A_B.lean` must not become one.
            text = target / f"{len(proofs) + 1:04}_{path.replace('/', '_')}"
            text.write_text(_text(parts), encoding="utf-8")
            proofs[text] = left
    write_certificates(target)
    judged = verdicts(target, checker, CHECK_SECONDS, proofs)
    return {**judged, "not_judged": total - judged["proofs"]}


def _parts(project: Project, path: str, files: Mapping[str, LeanFile]) -> list[_Part]:
    """Return what Lean reads of a file, the imported files first, without the commands that hold an open `sorry`."""
    own = project.file(path)
    parts: list[_Part] = []
    for source in project.closure(own):
        imported = _commands(files.get(source.path) or LeanFile.parse(source.written, path=source.path), counted=False)
        # What `enclosed` puts around the text depends on its scopes only, and a command that is left out opens none.
        text = _text(imported)
        behind = enclosed(text).removeprefix("section\n").removeprefix(text.rstrip())
        parts += [_Part("section\n"), *imported, _Part(behind)]
    return parts + _commands(files[path], counted=True)


def _text(parts: Sequence[_Part]) -> str:
    return "".join(part.text for part in parts)


def _commands(file: LeanFile, counted: bool) -> list[_Part]:
    read = outline(file.text)
    first, *commands = file.pieces()
    # The first piece is what stands before the first command, so that command number n is part number n + 1. Lean takes
    # imports at the beginning of a text only, and here other files may come before this one.
    parts = [_Part(without_header(first)), *map(_Part, commands)]
    if counted:
        for gap, _ in file.filled:
            parts[read.command_at(gap.start) + 1].proofs += 1
    for gap in file.open_gaps:
        parts[read.command_at(gap.start) + 1].leave_out()
    return parts


_EXPLICIT = _Part(EXPLICIT.replace("\n", " "))
"""Before a text that lacks something, which may be what is left out of it. It ends no line: lines stay in place."""


def _readable(parts: list[_Part], scratch: Path, lacks_library: bool) -> list[_Part]:
    """Return the parts without those in which NanoLean finds errors or `sorry`; none if it cannot read the rest."""
    if lacks_library or any(part.left_out for part in parts):
        parts = _explicit(parts)
    for _ in range(MOST_ROUNDS):
        scratch.write_text(_text(parts), encoding="utf-8")
        lines = _faults(scratch)
        scratch.unlink()
        if lines is None:
            return []
        if not lines:
            return parts
        for part in _at_lines(parts, lines):
            part.leave_out()
        # What was just left out may have declared a name that a later statement has: see `_EXPLICIT`.
        parts = _explicit(parts)
    # A text that still has errors gets no certificate at all: one of a part of it would be of another text.
    return []


def _explicit(parts: list[_Part]) -> list[_Part]:
    """Put `_EXPLICIT` first, once."""
    return parts if parts[0] is _EXPLICIT else [_EXPLICIT, *parts]


def _faults(file: Path) -> list[int] | None:
    """Return the lines of a text, from 1, at which NanoLean reports something wrong; None if it does not answer."""
    try:
        _, said = run([*NANOLEAN, "check", str(file), "--json"], None, START_SECONDS)
        messages = json.loads(said)["files"][0]["messages"]
    except (OSError, subprocess.TimeoutExpired, ValueError, LookupError):
        return None
    # A `sorry` is no error to Lean, but what rests on it must not stand in a certificate.
    return [message["line"] for message in messages if message["severity"] in ("error", "sorry")]


def _at_lines(parts: Sequence[_Part], lines: Sequence[int]) -> list[_Part]:
    """Return the parts that lines are of: the one that ends a line, of several on it, has its error."""
    wrong: list[_Part] = []
    for line in lines:
        reached = 1
        for part in parts:
            reached += part.text.count("\n")
            if reached > line or part is parts[-1]:
                wrong.append(part)
                break
    return wrong
