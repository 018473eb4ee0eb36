"""The log of a rank's attempts, which everything is rebuilt from, and its index beside it."""

import logging
import os
import threading
from pathlib import Path
from typing import IO, Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import append_whole, drop_torn_line, json_line
from nanoproof.selfplay.records.attempt_index import (
    IndexEntry,
    attempts_file,
    entry_of,
    index_file,
    last_entry,
    read_record,
    scan,
)

log = logging.getLogger(__name__)


class AttemptLog:
    """Appends attempts to a rank's log, and to its index what `attempt_index` describes; thread-safe.

    A record reaches the operating system before `write` returns. If that fails, nothing of it is left in the log and
    UserError says why: a run must not go on without its log. The index is made up again at the next start.
    """

    def __init__(self, run_path: Path, rank: int) -> None:
        self._file, self._index_file = attempts_file(run_path, rank), index_file(run_path, rank)
        self._lock = threading.Lock()
        try:
            run_path.mkdir(parents=True, exist_ok=True)
            drop_torn_line(self._file)
            self._log = open(self._file, "ab", buffering=0)
            self._size = self._log.seek(0, os.SEEK_END)
        except OSError as error:
            raise UserError(f"{self._file} cannot be written: {error}") from error
        self._index: IO[bytes] | None = None
        try:
            self._index = self._mend(run_path)
        except OSError as error:
            self._give_up_index(error)

    def write(self, record: dict[str, Any], kept_tree: bool = False) -> None:
        """Append one record; `kept_tree` says whether the search tree goes into the tree store."""
        line = json_line(record).encode()
        with self._lock:
            try:
                append_whole(self._log, line)
            except OSError as error:
                raise UserError(f"{self._file} cannot be written, the attempt is lost: {error}") from error
            at, self._size = self._size, self._size + len(line)
            if self._index is not None:
                entry = entry_of(record, at, len(line))
                try:
                    self._index.write(_line(entry._replace(tree=kept_tree or entry.tree)))
                except OSError as error:
                    self._give_up_index(error)

    def close(self) -> None:
        """Close the files; further writes fail."""
        self._log.close()
        if self._index is not None:
            self._index.close()

    def _mend(self, run_path: Path) -> IO[bytes]:
        """Add to the index what the log has besides; make it anew if it is not of this log."""
        drop_torn_line(self._index_file)
        last = last_entry(self._index_file)
        known = last.at + last.size if last is not None and _agrees(run_path, last) else 0
        index = open(self._index_file, "ab" if known else "wb", buffering=0)
        for entry, _ in scan(self._file, known):
            if entry is not None:
                index.write(_line(entry))
        return index

    def _give_up_index(self, error: OSError) -> None:
        log.warning("%s cannot be written: %s; the run goes on without it", self._index_file, error)
        self._index = None


def _line(entry: IndexEntry) -> bytes:
    return json_line(entry.to_json()).encode()


def _agrees(run_path: Path, entry: IndexEntry) -> bool:
    """Whether an entry is about what the log has there."""
    try:
        found = entry_of(read_record(run_path, entry), entry.at, entry.size)
    except (UserError, KeyError, TypeError, AttributeError):
        return False
    return found.number == entry.number and entry.at + entry.size <= attempts_file(run_path, entry.rank).stat().st_size
