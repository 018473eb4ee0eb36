"""Follow append-only files: only what is new, only whole lines; and the logs of all ranks merged by time.

Only regular files are read. A link in a run's directory may lead to any file of the user, whom a viewer need not be.
"""

import errno
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
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


Stamp = tuple[int, int] | None
"""When a file was last written (ns) and its size: it is read again if this changes. None: there is no such file."""


class Tail:
    """The lines of a file from a position on, as they come.

    A file that is not there has no lines. One that became shorter, or was replaced, is read from its
    beginning, and `restarts` goes up. What a writer has not ended with a line end yet is left for later.
    """

    def __init__(self, path: Path, position: int = 0) -> None:
        self.path, self.position, self.size, self.restarts = Path(path), position, 0, 0
        self._inode: int | None = None
        # Whether `position` is inside of a line that is passed over: what is left of it is no line of its own.
        self._skipping = False

    @property
    def behind(self) -> int:
        """Bytes that were there at the last look and are not read."""
        return max(0, self.size - self.position)

    def update_size(self) -> bool:
        """Update the file's size; return whether there is something new."""
        status = file_stat(self.path)
        if status is None:
            self._restart(None, 0)
            return False
        # A run that is made anew in the same folder may have written more than was read before: only the inode says so.
        if status.st_size < self.position or (self._inode is not None and status.st_ino != self._inode):
            self._restart(status.st_ino, status.st_size)
        self._inode, self.size = status.st_ino, status.st_size
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
                # Too long even so. Without this step the reader would stay before such a line forever.
                self.position += len(block)
                self._skipping = True
                return []
        lines = list(_lines(block[:end], self.position))
        self.position += end
        if self._skipping and lines:
            self._skipping = False
            lines = lines[1:]
        return lines

    def records(self) -> Iterator[dict[str, Any]]:
        """Read the next lines, and yield those that are JSON objects."""
        for line in self.read():
            record = parse_object(line.text)
            if record is not None:
                yield record

    def skip_to_end(self) -> None:
        """Move to the end of the last whole line."""
        while self.update_size():
            start = max(self.position, self.size - (1 << 16))
            end = read_range(self.path, start, self.size - start).rfind(b"\n") + 1
            if end:
                self.position = start + end
                return
            if start == self.position:
                return
            # No line ends in the last 64 kB, so that all before them belongs to lines that nobody waits for.
            self.position = start

    def follow_rename(self, path: Path) -> bool:
        """Continue in the file of this name if it is the one that was read; return whether it is."""
        status = file_stat(path)
        moved = status is not None and status.st_ino == self._inode
        if moved:
            self.path = path
        return moved

    def _restart(self, inode: int | None, size: int) -> None:
        # A file of which nothing was read yet cannot have been replaced: nobody has to forget anything.
        if self.position:
            self.restarts += 1
        self.position, self.size, self._inode, self._skipping = 0, size, inode, False


# -- Regular files, and values of records that may hold anything -----------------------------------------------------


def file_stat(path: Path) -> os.stat_result | None:
    """Return the status of a regular file; None if there is none (a link, a pipe, a directory)."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def file_stamp(path: Path) -> Stamp:
    """Return the stamp of a regular file; None if there is none."""
    status = file_stat(path)
    return None if status is None else (status.st_mtime_ns, status.st_size)


def file_size(path: Path) -> int:
    """Return the bytes of a regular file; 0 if there is none."""
    status = file_stat(path)
    return 0 if status is None else status.st_size


def newest_change(files: Iterable[Path]) -> float | None:
    """Return when the newest of some files was written, in seconds since the epoch; None if there is none of them."""
    statuses = filter(None, map(file_stat, files))
    return max((status.st_mtime for status in statuses), default=None)


def folders_in(path: Path) -> list[Path]:
    """Return the folders in a folder, by name, links left out; none if it cannot be read."""
    try:
        with os.scandir(path) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def open_file(path: Path) -> BinaryIO:
    """Open a regular file to read it. Raises OSError for anything else, and waits for no writer of a pipe."""
    # A log that was a link to /etc/passwd was served once; and to open a pipe blocks until somebody writes it.
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
            while length > 0:
                block = file.read(length)  # unbuffered: it may be less than what was asked for
                if not block:
                    break
                blocks.append(block)
                length -= len(block)
            return b"".join(blocks)
    except OSError:
        # The file may go while it is read, as old search trees of a live run do.
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
    except (ValueError, RecursionError):  # a line of 100,000 brackets is no reason to stop reading
        return None
    return value if isinstance(value, dict) else None


def read_object(path: Path, limit: int = MAX_LINE) -> dict[str, Any] | None:
    """Read a JSON object from a file; None if there is none, or if it is longer than `limit` bytes."""
    content = read_range(path, 0, limit + 1)
    return parse_object(content) if content and len(content) <= limit else None


def as_int(value: Any, default: int = 0) -> int:
    """Return an untrusted value as a whole number below 2**62 in size, else `default`."""
    is_whole = isinstance(value, (bool, int)) or (isinstance(value, float) and value.is_integer())
    # Larger ones fit into no column of the index of attempts.
    if is_whole and abs(value) < 2**62:
        return int(value)
    return default


def as_optional_int(value: Any) -> int | None:
    """Return an untrusted number as a whole one; None if it is no number."""
    return None if as_float(value) is None else as_int(value)


def int_or_none(value: Any) -> int | None:
    """Return a whole number as it is, and None for anything else."""
    return value if isinstance(value, int) else None


def without_none(values: Iterable[float | None]) -> list[float]:
    """Return the values that are known."""
    return [value for value in values if value is not None]


def as_float(value: Any) -> float | None:
    """Return an untrusted value as a finite number, else None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # Also far from infinity: sums and squares of such values still have to be JSON.
    return float(value) if abs(value) < 1e300 else None


def as_text(value: Any, limit: int = 100_000) -> str:
    """Return an untrusted value as a text cut to `limit` characters; empty if it is not a string."""
    return value[:limit] if isinstance(value, str) else ""


def as_dict(value: Any) -> dict[str, Any]:
    """Return an untrusted value as a dict; empty if it is none."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return an untrusted value as a list; empty if it is none."""
    return value if isinstance(value, list) else []


def as_dicts(value: Any) -> list[dict[str, Any]]:
    """Return the dicts in an untrusted list."""
    return [item for item in as_list(value) if isinstance(item, dict)]


def as_counts(value: Any) -> dict[str, int]:
    """Return the whole numbers in an untrusted dict."""
    return {name: as_int(count) for name, count in as_dict(value).items() if isinstance(count, (int, float))}


def as_floats(value: Any) -> dict[str, float]:
    """Return the finite numbers in an untrusted dict."""
    floats: dict[str, float] = {}
    for name, item in as_dict(value).items():
        number = as_float(item)
        if number is not None:
            floats[name] = number
    return floats


# -- Logs of all ranks, merged by time -------------------------------------------------------------------------------

LEVELS: tuple[str, ...] = get_args(Level)
_BLOCK = 128 << 10
# So that a page of ERROR in a log of gigabytes of DEBUG is an answer of 4 MB read; the cursor then leads on.
_MAX_BLOCKS = 32
_MAX_MESSAGE = 20_000
# The date came later than the rest: logs of older runs have the time of day alone.
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
    files: dict[int, Path] = {}
    for file in sorted(run_path.glob("log*.txt")):
        match = _FILE.fullmatch(file.name)
        if match and file_stat(file):
            files[int(match[1] or 0)] = file
    return files


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
            # A line without a head, as those of a traceback, is part of the message before it.
            last = records[-1]
            if len(last.line["message"]) < _MAX_MESSAGE:
                last.line["message"] += "\n" + text[:_MAX_MESSAGE].decode("utf-8", "replace")
            records[-1] = last._replace(end=end)
        elif whole_start and text.strip():
            # In the middle of a log such lines belong to a record of the block before, which is read with that.
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
        self._files = log_files(run_path)
        if rank is not None:
            self._files = {number: file for number, file in self._files.items() if number == rank}
        self._levels = LEVELS[LEVELS.index(level) :]

    def ends(self) -> dict[int, int]:
        """Return the end of the last whole line of each log."""
        positions = {}
        for rank, file in self._files.items():
            size = file_size(file)
            start = max(0, size - _BLOCK)
            positions[rank] = start + read_range(file, start, size - start).rfind(b"\n") + 1
        return positions

    def before(self, positions: dict[int, int], count: int) -> Logs:
        """Return the last `count` records before these positions."""
        stacks, begins = {}, {}
        for rank, file in self._files.items():
            stacks[rank], begins[rank] = self._read_back(rank, min(positions.get(rank, 0), file_size(file)), count)
        left = {rank: positions.get(rank, 0) for rank in self._files}
        chosen: list[Record] = []
        # Each log is in order by itself: the newest record of all is the last one of some rank.
        while len(chosen) < count and any(stacks.values()):
            rank = _first_by({rank: stack[-1] for rank, stack in stacks.items() if stack}, _later)
            record = stacks[rank].pop()
            left[rank] = record.start
            chosen.append(record)
        # Where none is left, the cursor passes over records of lower levels too: each page would read them again.
        for rank, stack in stacks.items():
            if not stack:
                left[rank] = begins[rank]
        items = [record.line for record in reversed(chosen)]
        return {"items": items, "next": _cursor(positions), "previous": _cursor_unless_at_start(left)}

    def after(self, positions: dict[int, int], count: int) -> Logs:
        """Return the first `count` records from these positions on."""
        queues, ends = {}, {}
        for rank, file in self._files.items():
            start = positions.get(rank, 0)
            if start > file_size(file):  # the log was written anew
                start = 0
            queues[rank], ends[rank] = self._read_forward(rank, start, count)
        done = {rank: positions.get(rank, 0) for rank in self._files}
        chosen: list[LogLine] = []
        while len(chosen) < count and any(queues.values()):
            rank = _first_by({rank: queue[0] for rank, queue in queues.items() if queue}, _earlier)
            record = queues[rank].pop(0)
            done[rank] = record.end
            chosen.append(record.line)
        for rank, queue in queues.items():
            if not queue:
                done[rank] = ends[rank]
        return {"items": chosen, "next": _cursor(done), "previous": _cursor_unless_at_start(positions)}

    def _of_levels(self, records: list[Record]) -> list[Record]:
        return [record for record in records if record.line["level"] in self._levels]

    def _read_back(self, rank: int, end: int, count: int) -> tuple[list[Record], int]:
        """Read about `count` records before `end`; return them, and where the first one that was read begins."""
        chosen: list[Record] = []
        for _ in range(_MAX_BLOCKS):
            if end <= 0 or len(chosen) >= count:
                break
            start = max(0, end - _BLOCK)
            block = read_range(self._files[rank], start, end - start)
            skip = 0
            if start > 0:  # the block begins in the middle of a line
                skip = block.find(b"\n") + 1
            records = records_in(block[skip:], start + skip, rank, whole_start=start == 0)
            chosen = self._of_levels(records) + chosen
            # What stands before the first head of the block is the rest of a record that begins in the one before.
            end = start
            if records and start:
                end = records[0].start
        return chosen, end

    def _read_forward(self, rank: int, start: int, count: int) -> tuple[list[Record], int]:
        """Read about `count` records from `start` on; return them, and where the last line that was read ends."""
        chosen: list[Record] = []
        for _ in range(_MAX_BLOCKS):
            block = read_range(self._files[rank], start, _BLOCK)
            end = block.rfind(b"\n") + 1
            if end == 0:
                break
            chosen += self._of_levels(records_in(block[:end], start, rank))
            start += end
            if len(chosen) >= count:
                break
        return chosen, start


def read_cursor(text: str) -> dict[int, int] | None:
    """Parse the positions of a cursor; None if it is malformed."""
    if not re.fullmatch(r"(?:\d{1,4}:\d{1,15}(?:,|$)){1,2048}", text):
        return None
    positions: dict[int, int] = {}
    for part in filter(None, text.split(",")):
        rank, _, position = part.partition(":")
        positions[int(rank)] = int(position)
    return positions


def encode_positions(positions: dict[int, int] | dict[str, int]) -> str:
    """Write how far files were read, for an address or a header."""
    return ",".join(f"{name}:{position}" for name, position in sorted(positions.items()))


def _cursor(positions: dict[int, int]) -> str:
    return encode_positions(positions) or "0:0"


def _cursor_unless_at_start(positions: dict[int, int]) -> str | None:
    return _cursor(positions) if any(positions.values()) else None


def _earlier(first: Record, second: Record) -> bool:
    """Tell whether a record is earlier than another; of two without dates by the shorter way around the clock.

    One that has no date is from before logs had them, and so earlier than one that has.
    """
    dates = first.line["date"], second.line["date"]
    if any(dates):
        return (dates[0], first.second) < (dates[1], second.second)
    # 23:59:58 is before 00:00:02: logs of ranks that write at the same time are never half a day apart.
    return 0 < (second.second - first.second) % _DAY < _DAY // 2


def _later(first: Record, second: Record) -> bool:
    return _earlier(second, first)


def _first_by(records: dict[int, Record], comes_before: Callable[[Record, Record], bool]) -> int:
    """Return the rank whose record comes before those of all others; of equals the first rank."""
    # No key to sort by: without dates, times of day form a circle.
    best = next(iter(records))
    for rank in records:
        if comes_before(records[rank], records[best]):
            best = rank
    return best
