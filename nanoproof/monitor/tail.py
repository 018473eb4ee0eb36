"""Follow append-only files: only what is new, only whole lines; and the logs of all ranks merged by time.

Only regular files are read. A link in a run's directory may lead to any file of the user, whom a viewer need not be.
"""

import errno
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, get_args

from nanoproof.monitor.schema import Level, LogLine, Logs

# -- Follow an append-only file -------------------------------------------------------------------------------------

MAX_LINE = 16 << 20
"""Longer lines are passed over."""


class Line(NamedTuple):
    """A whole line without its end, and the position it begins at."""

    at: int
    text: bytes


class Tail:
    """The lines of a file from a position on, as they come.

    A file that is not there has no lines. One that became shorter, or was replaced, is read from its
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

    def update_size(self) -> bool:
        """Update the file's size; return whether there is something new."""
        found = file_stat(self.path)
        if found is None:
            self._restart(None, 0)
            return False
        if found.st_size < self.position or (self._inode is not None and found.st_ino != self._inode):
            self._restart(found.st_ino, found.st_size)
        self._inode, self.size = found.st_ino, found.st_size
        return self.size > self.position

    def read(self, limit: int = 1 << 20) -> list[Line]:
        """Read the next lines, of about `limit` bytes at most."""
        if not self.update_size():
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
        """Move to the end of the last whole line."""
        while self.update_size():
            start = max(self.position, self.size - (1 << 16))
            end = read_range(self.path, start, self.size - start).rfind(b"\n") + 1
            self.position = start + end if end else self.position
            if end or start == self.position:
                return
            self.position = start

    def follow_rename(self, path: Path) -> bool:
        """Continue in the file of this name if it is the one that was read; return whether it is."""
        found = file_stat(path)
        moved = found is not None and found.st_ino == self._inode
        if moved:
            self.path = path
        return moved

    def _restart(self, inode: int | None, size: int) -> None:
        if self.position:
            self.restarts += 1
        self.position, self.size, self._inode, self._skipping = 0, size, inode, False


# -- Regular files, and values of records that may hold anything -----------------------------------------------------


def file_stat(path: Path) -> os.stat_result | None:
    """Return the status of a regular file; None if there is none (a link, a pipe, a directory)."""
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
    """Read a range of a regular file, as far as it exists; empty if the file cannot be read."""
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
    """Parse a JSON object; None if it is none. NaN and infinities, which browsers refuse, become null."""
    try:
        value = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read_object(path: Path, limit: int = MAX_LINE) -> dict[str, Any] | None:
    """Read a JSON object from a file; None if there is none, or if it is longer than `limit` bytes."""
    content = read_range(path, 0, limit + 1)
    return parse_object(content) if content and len(content) <= limit else None


def as_int(value: Any, default: int = 0) -> int:
    """Return an untrusted value as a whole number below 2**62 in size, else `default`."""
    if isinstance(value, (bool, int)) or (isinstance(value, float) and value.is_integer()):
        return int(value) if abs(value) < 2**62 else default
    return default


def as_float(value: Any) -> float | None:
    """Return an untrusted value as a finite number, else None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) < 1e300 else None


def as_text(value: Any, limit: int = 100_000) -> str:
    """Return an untrusted value as a text cut to `limit` characters; empty if it is not a string."""
    return value[:limit] if isinstance(value, str) else ""


def as_dict(value: Any) -> dict[str, Any]:
    """Return an untrusted value as a dict; empty if it is none."""
    return value if isinstance(value, dict) else {}


def as_counts(value: Any) -> dict[str, int]:
    """Return the whole numbers in an untrusted dict."""
    return {name: as_int(one) for name, one in as_dict(value).items() if isinstance(one, (int, float))}


def as_floats(value: Any) -> dict[str, float]:
    """Return the finite numbers in an untrusted dict."""
    return {name: number for name, one in as_dict(value).items() if (number := as_float(one)) is not None}


# -- Logs of all ranks, merged by time -------------------------------------------------------------------------------

LEVELS: tuple[str, ...] = get_args(Level)
_BLOCK = 128 << 10
_MAX_BLOCKS = 32
_MAX_MESSAGE = 20_000
_HEAD = re.compile(rb"(?:(\d{4}-\d\d-\d\d) )?(\d\d):(\d\d):(\d\d) r(\d+) ([A-Z]+) ([\w.\-]*): ?(.*)", re.DOTALL)
_FILE = re.compile(r"log(?:_r(\d+))?\.txt")
_DAY = 86400


class Record(NamedTuple):
    """A record of one log, from `start` to `end`."""

    start: int
    end: int
    second: int
    """Of the day."""
    line: LogLine


def log_files(run_path: Path) -> dict[int, Path]:
    """Return the log file of each rank."""
    matches = [(_FILE.fullmatch(file.name), file) for file in sorted(run_path.glob("log*.txt"))]
    return {int(match[1] or 0): file for match, file in matches if match and file_stat(file)}


def records_in(block: bytes, start: int, rank: int, whole_start: bool = True) -> list[Record]:
    """Parse the log records of a block at offset `start`; lines before the first header only if `whole_start`."""
    records: list[Record] = []
    position = start
    for text in block.split(b"\n")[:-1]:
        end = position + len(text) + 1
        match = _HEAD.fullmatch(text)
        if match and match[6].decode() in LEVELS:
            second = int(match[2]) * 3600 + int(match[3]) * 60 + int(match[4])
            date, clock = (match[1] or b"").decode(), b":".join(match.group(2, 3, 4)).decode()
            message = match[8][:_MAX_MESSAGE].decode("utf-8", "replace")
            line = _line(rank, date, clock, match[6].decode(), match[7].decode(), message)
            records.append(Record(position, end, second, line))
        elif records:
            last = records[-1]
            if len(last.line["message"]) < _MAX_MESSAGE:
                last.line["message"] += "\n" + text[:_MAX_MESSAGE].decode("utf-8", "replace")
            records[-1] = last._replace(end=end)
        elif whole_start and text.strip():
            loose = _line(rank, "", "", "INFO", "", text[:_MAX_MESSAGE].decode("utf-8", "replace"))
            records.append(Record(position, end, 0, loose))
        position = end
    return records


def _line(rank: int, date: str, clock: str, level: str, logger: str, message: str) -> LogLine:
    return {
        "rank": rank,
        "date": date,
        "time": clock,
        "level": level,  # type: ignore[typeddict-item]
        "logger": logger,
        "message": message,
    }


class LogReader:
    """Pages of the logs of a run."""

    def __init__(self, run_path: Path, level: str, rank: int | None) -> None:
        files = log_files(run_path)
        self._files = {number: file for number, file in files.items() if rank is None or number == rank}
        self._levels = LEVELS[LEVELS.index(level) :]

    def ends(self) -> dict[int, int]:
        """Return the end of the last whole line of each log."""
        found = {}
        for rank, file in self._files.items():
            size = _size(file)
            start = max(0, size - _BLOCK)
            found[rank] = start + read_range(file, start, size - start).rfind(b"\n") + 1
        return found

    def before(self, positions: dict[int, int], count: int) -> Logs:
        """Return the last `count` records before these positions."""
        stacks, begins = {}, {}
        for rank, file in self._files.items():
            stacks[rank], begins[rank] = self._read_back(rank, min(positions.get(rank, 0), _size(file)), count)
        left = {rank: positions.get(rank, 0) for rank in self._files}
        chosen: list[Record] = []
        while len(chosen) < count and any(stacks.values()):
            rank = _latest({rank: stack[-1] for rank, stack in stacks.items() if stack})
            record = stacks[rank].pop()
            left[rank] = record.start
            chosen.append(record)
        for rank, stack in stacks.items():
            if not stack:
                left[rank] = begins[rank]
        items = [record.line for record in reversed(chosen)]
        return {"items": items, "next": _cursor(positions), "previous": _cursor(left) if any(left.values()) else None}

    def after(self, positions: dict[int, int], count: int) -> Logs:
        """Return the first `count` records from these positions on."""
        queues, ends = {}, {}
        for rank, file in self._files.items():
            start = positions.get(rank, 0)
            queues[rank], ends[rank] = self._read_forward(rank, start if start <= _size(file) else 0, count)
        done = {rank: positions.get(rank, 0) for rank in self._files}
        chosen: list[LogLine] = []
        while len(chosen) < count and any(queues.values()):
            rank = _earliest({rank: queue[0] for rank, queue in queues.items() if queue})
            record = queues[rank].pop(0)
            done[rank] = record.end
            chosen.append(record.line)
        for rank, queue in queues.items():
            if not queue:
                done[rank] = ends[rank]
        previous = _cursor(positions) if any(positions.values()) else None
        return {"items": chosen, "next": _cursor(done), "previous": previous}

    def _wanted(self, records: list[Record]) -> list[Record]:
        return [record for record in records if record.line["level"] in self._levels]

    def _read_back(self, rank: int, end: int, count: int) -> tuple[list[Record], int]:
        found: list[Record] = []
        for _ in range(_MAX_BLOCKS):
            if end <= 0 or len(found) >= count:
                break
            start = max(0, end - _BLOCK)
            block = read_range(self._files[rank], start, end - start)
            skip = 0 if start == 0 else block.find(b"\n") + 1
            records = records_in(block[skip:], start + skip, rank, whole_start=start == 0)
            found = self._wanted(records) + found
            end = records[0].start if records and start else start
        return found, end

    def _read_forward(self, rank: int, start: int, count: int) -> tuple[list[Record], int]:
        found: list[Record] = []
        for _ in range(_MAX_BLOCKS):
            block = read_range(self._files[rank], start, _BLOCK)
            end = block.rfind(b"\n") + 1
            if end == 0:
                break
            found += self._wanted(records_in(block[:end], start, rank))
            start += end
            if len(found) >= count:
                break
        return found, start


def read_cursor(text: str) -> dict[int, int] | None:
    """Parse the positions of a cursor; None if it is malformed."""
    if not re.fullmatch(r"(?:\d{1,4}:\d{1,15}(?:,|$)){1,2048}", text):
        return None
    return {int(rank): int(position) for rank, _, position in (part.partition(":") for part in text.split(",") if part)}


def _cursor(positions: dict[int, int]) -> str:
    return ",".join(f"{rank}:{position}" for rank, position in sorted(positions.items())) or "0:0"


def _size(file: Path) -> int:
    found = file_stat(file)
    return 0 if found is None else found.st_size


def _earlier(first: Record, second: Record) -> bool:
    """Whether a record is earlier than another; of two without dates by the shorter way around the clock.

    One that has no date is from before logs had them, and so earlier than one that has.
    """
    dates = first.line["date"], second.line["date"]
    if any(dates):
        return (dates[0], first.second) < (dates[1], second.second)
    return 0 < (second.second - first.second) % _DAY < _DAY // 2


def _latest(records: dict[int, Record]) -> int:
    best = next(iter(records))
    for rank in records:
        if _earlier(records[best], records[rank]):
            best = rank
    return best


def _earliest(records: dict[int, Record]) -> int:
    best = next(iter(records))
    for rank in records:
        if _earlier(records[rank], records[best]):
            best = rank
    return best
