"""A Lean file of a project: its text with places in it, what it declares and imports, or why it cannot be read."""

import os
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nanoproof.common.files import read_regular
from nanoproof.lean import lexical
from nanoproof.lean.declarations import Declaration, declarations
from nanoproof.lean.lean_file import BYTE_ORDER_MARK, LeanFile
from nanoproof.lean.types import SourceError
from nanoproof.repos.traced_files import Position, Premise

MAX_BYTES = 16_000_000
"""Larger files are not read. The largest of Mathlib is below 0.5 MB; a generated one of some MB is thinkable."""


def without_comments(text: str) -> str:
    """Remove the comments of a text, and lines that are empty then."""
    pieces, position = [], 0
    for kind, start, end in lexical.spans(text):
        if kind in ("line", "block"):
            pieces.append(text[position:start])
            position = end
    lines = "".join([*pieces, text[position:]]).split("\n")
    return "\n".join(line.rstrip() for line in lines if line.strip())


def as_sent(written: str) -> str:
    """Return the text of a file as Lean is sent it: without the mark that editors of Windows put first."""
    return written.removeprefix(BYTE_ORDER_MARK).replace("\r\n", "\n")


class Places:
    """Offsets of a text as positions, and the other way round."""

    def __init__(self, text: str) -> None:
        # Not by `splitlines`, for which Unicode has line breaks that are none to Lean.
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def position(self, offset: int) -> Position:
        """Return the position of an offset, from 1 on."""
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line (from 1) and column (from 0), as Lean gives them."""
        return self._starts[min(max(line, 1), len(self._starts)) - 1] + column


@dataclass(frozen=True)
class SourceFile:
    """A file of a project: path from the root with `/`, module, bytes, and the modules it imports.

    `error` is why it cannot be read, or that it imports itself; then `imports` is empty.
    """

    path: str
    module: str
    data: bytes
    imports: tuple[str, ...] = ()
    error: str = ""
    aliases: tuple[str, ...] = ()
    """Modules that are this file by symbolic links to it."""

    @cached_property
    def written(self) -> str:
        """Its text as it stands in the file; empty if it cannot be read."""
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError:
            return ""

    @cached_property
    def text(self) -> str:
        """Its text as Lean is sent it."""
        return as_sent(self.written)

    @cached_property
    def fault(self) -> str:
        """Why no proof can be put into it: its error, or a name that is ours; empty if one can."""
        try:
            LeanFile.parse(self.written)
        except SourceError as error:
            return self.error or str(error)
        return self.error

    @cached_property
    def sorries(self) -> int:
        """The number of `sorry`s in it."""
        return 0 if self.fault else len(LeanFile.parse(self.written).gaps)

    @cached_property
    def declarations(self) -> tuple[Declaration, ...]:
        """What it declares under a name."""
        return tuple(declarations(self.text))

    @cached_property
    def places(self) -> Places:
        """Offsets and positions of its text."""
        return Places(self.text)

    @property
    def is_module(self) -> bool:
        """Whether its header begins with `module`."""
        return any(match["words"] == "module" for match in lexical.header(lexical.mask(self.text)))

    def premises(self) -> tuple[Premise, ...]:
        """Return its declarations as premises: of theorems the statement, of others all, without comments."""
        premises = []
        for declared in self.declarations:
            end = declared.end
            # The proof of a theorem says nothing about what it is for; what a definition is, its body says.
            if declared.keyword in ("theorem", "lemma"):
                end = declared.statement_end
            code = without_comments(self.text[declared.start : end]).rstrip()
            span = self.places.position(declared.start), self.places.position(declared.end)
            premises.append(Premise(declared.full_name, code, *span, declared.keyword))
        return tuple(premises)


def read_source(root: Path, path: Path, module: str) -> SourceFile:
    """Read a file; one that cannot be read has an `error` and no text."""
    name = path.relative_to(root).as_posix()
    if not _is_unicode(name):
        shown = os.fsencode(name).decode("utf-8", "backslashreplace")
        return SourceFile(shown, shown, b"", error="has a name that is not UTF-8, which no module has")
    try:
        data = read_regular(path, MAX_BYTES)
        text = data.decode("utf-8")
    except OSError as error:
        return SourceFile(name, module, b"", error=f"cannot be read: {error.strerror}")
    except UnicodeDecodeError as error:
        return SourceFile(name, module, data, error=f"is not UTF-8 text: byte {error.start} cannot be read")
    return SourceFile(name, module, data, tuple(dict.fromkeys(lexical.imported_modules(as_sent(text)))))


def _is_unicode(name: str) -> bool:
    """Tell whether a name of the file system is text: Python has other bytes as lone surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
