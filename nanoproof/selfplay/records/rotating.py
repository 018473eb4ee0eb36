"""JSONL of bounded size for what is good to have: the newest part and the one before it, nothing older."""

import json
import logging
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from nanoproof.common.files import append_whole, drop_torn_line, json_line

log = logging.getLogger(__name__)


def older_part(path: Path) -> Path:
    """Where the part before the newest one is."""
    return path.with_name(f"{path.stem}.old{path.suffix}")


def both_parts(path: Path) -> Iterator[Any]:
    """The records of both parts, oldest first; lines that are torn or damaged are left out."""
    for part in (older_part(path), path):
        try:
            lines = part.read_bytes().split(b"\n")[:-1]
        except OSError:
            continue
        for line in lines:
            try:
                yield json.loads(line)
            except ValueError:
                continue


class RotatingJsonl:
    """Appends records; a part that has become too large or too old gives way to a new one. For one thread.

    If that fails, it says so once, and what would have been written is lost.
    """

    def __init__(self, path: Path, max_bytes: int, max_seconds: float = float("inf")) -> None:
        self._path, self._max_bytes, self._max_seconds = path, max_bytes, max_seconds
        self._file: IO[bytes] | None = None
        self._size, self._since = 0, time.monotonic()
        self._failed = False

    def write(self, records: Sequence[Any]) -> None:
        """Append records, all in one go."""
        content = "".join(json_line(record) for record in records).encode()
        if not content or self._failed:
            return
        try:
            file = self._ready()
            append_whole(file, content)
            self._size += len(content)
        except OSError as error:
            self._failed = True
            log.warning("%s cannot be written: %s; the run goes on without it", self._path, error)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _ready(self) -> IO[bytes]:
        """The file to append to."""
        if self._file is not None and self._is_full():
            self._file.close()
            self._file = None
            self._path.replace(older_part(self._path))
        if self._file is None:
            drop_torn_line(self._path)
            self._file = open(self._path, "ab", buffering=0)
            self._size, self._since = self._path.stat().st_size, time.monotonic()
        return self._file

    def _is_full(self) -> bool:
        return self._size >= self._max_bytes or time.monotonic() - self._since >= self._max_seconds
