"""Reads what others append to files: only what is new, only whole lines, and never much at once.

Only regular files are read. A link in a run's directory may lead to any file of the user, whom a viewer need not be.
"""

import errno
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

MAX_LINE = 16 << 20
"""Longer lines are passed over."""


class Line(NamedTuple):
    """A whole line without its end, and the position it begins at."""

    at: int
    text: bytes


class Tail:
    """The lines of a file from a position on, as they come.

    A file that is not there has no lines. One that became shorter, or that another took the place of, is read from its
    beginning, and `restarts` goes up. What a writer has not ended with a line end yet is left for later.
    """

    def __init__(self, path: Path, position: int = 0) -> None:
        self.path, self.position, self.size, self.restarts = Path(path), position, 0, 0
        self._inode: int | None = None
        self._skipping = False

    @property
    def behind(self) -> int:
        """Bytes that were there at the last look and are not read."""
        return max(0, self.size - self.position)

    def look(self) -> bool:
        """See how large the file is; whether there is something new."""
        found = file_stat(self.path)
        if found is None:
            self._restart(None, 0)
            return False
        if found.st_size < self.position or (self._inode is not None and found.st_ino != self._inode):
            self._restart(found.st_ino, found.st_size)
        self._inode, self.size = found.st_ino, found.st_size
        return self.size > self.position

    def read(self, limit: int = 1 << 20) -> list[Line]:
        """The next lines, of about `limit` bytes at most."""
        if not self.look():
            return []
        block = read_range(self.path, self.position, limit)
        end = block.rfind(b"\n") + 1
        if end == 0 and self.behind > len(block):  # a line that is longer than a block
            block = read_range(self.path, self.position, MAX_LINE)
            end = block.find(b"\n") + 1
            if end == 0 and len(block) == MAX_LINE:
                self.position += len(block)
                self._skipping = True
                return []
        lines = list(_lines(block[:end], self.position))
        self.position += end
        if self._skipping and lines:
            self._skipping = False
            lines = lines[1:]
        return lines

    def skip_to_end(self) -> None:
        """Go to the end of the last whole line."""
        while self.look():
            start = max(self.position, self.size - (1 << 16))
            end = read_range(self.path, start, self.size - start).rfind(b"\n") + 1
            self.position = start + end if end else self.position
            if end or start == self.position:
                return
            self.position = start

    def moved_to(self, path: Path) -> bool:
        """Whether the file that is read has this name by now; it is read on there then."""
        found = file_stat(path)
        moved = found is not None and found.st_ino == self._inode
        if moved:
            self.path = path
        return moved

    def _restart(self, inode: int | None, size: int) -> None:
        if self.position:
            self.restarts += 1
        self.position, self.size, self._inode, self._skipping = 0, size, inode, False


def file_stat(path: Path) -> os.stat_result | None:
    """What the system says of a regular file; None if it is not there, or a link, a pipe, a directory."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def open_file(path: Path) -> BinaryIO:
    """Open a regular file to read it. Raises OSError for anything else, and waits for no writer of a pipe."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(handle, "rb", buffering=0)


def read_range(path: Path, start: int, length: int) -> bytes:
    """A part of a regular file, as far as it is there; nothing of a file that cannot be read."""
    try:
        with open_file(path) as file:
            file.seek(start)
            blocks = []
            while length > 0 and (block := file.read(length)):
                blocks.append(block)
                length -= len(block)
            return b"".join(blocks)
    except OSError:
        return b""


def _lines(block: bytes, position: int) -> Iterator[Line]:
    for text in block.split(b"\n")[:-1]:
        if text.strip():
            yield Line(position, text)
        position += len(text) + 1


def parse_object(text: bytes) -> dict[str, Any] | None:
    """An object of JSON; None if it is no such thing. NaN and infinities, which browsers refuse, become null."""
    try:
        value = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read_object(path: Path, limit: int = MAX_LINE) -> dict[str, Any] | None:
    """The object in a JSON file; None if there is none, or more of it than `limit`."""
    content = read_range(path, 0, limit + 1)
    return parse_object(content) if content and len(content) <= limit else None


def integer(value: Any, default: int = 0) -> int:
    """A whole number of a record that may hold anything; such as fit in 63 bits."""
    if isinstance(value, (bool, int)) or (isinstance(value, float) and value.is_integer()):
        return int(value) if abs(value) < 2**62 else default
    return default


def real(value: Any) -> float | None:
    """A finite number of a record that may hold anything."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) < 1e300 else None


def text_of(value: Any, limit: int = 100_000) -> str:
    """A text of a record that may hold anything."""
    return value[:limit] if isinstance(value, str) else ""


def mapping(value: Any) -> dict[str, Any]:
    """An object of a record that may hold anything."""
    return value if isinstance(value, dict) else {}


def counts_of(value: Any) -> dict[str, int]:
    """The whole numbers in an object."""
    return {name: integer(one) for name, one in mapping(value).items() if isinstance(one, (int, float))}


def numbers_of(value: Any) -> dict[str, float]:
    """The numbers in an object."""
    return {name: number for name, one in mapping(value).items() if (number := real(one)) is not None}
