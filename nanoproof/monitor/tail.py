"""Reads what others append to files: only what is new, only whole lines; and the logs of all ranks as one.

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

# -- Reads what others append to files: only what is new, only whole lines, and never much at once -------------------

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
    """The log of each rank."""
    matches = [(_FILE.fullmatch(file.name), file) for file in sorted(run_path.glob("log*.txt"))]
    return {int(match[1] or 0): file for match, file in matches if match and file_stat(file)}


def records_in(block: bytes, start: int, rank: int, whole_start: bool = True) -> list[Record]:
    """The records in a block that begins at `start`; what is before the first head only if it is the start."""
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
        """Where the last whole line of each log ends."""
        found = {}
        for rank, file in self._files.items():
            size = _size(file)
            start = max(0, size - _BLOCK)
            found[rank] = start + read_range(file, start, size - start).rfind(b"\n") + 1
        return found

    def before(self, places: dict[int, int], count: int) -> Logs:
        """The last records before these places."""
        stacks, begins = {}, {}
        for rank, file in self._files.items():
            stacks[rank], begins[rank] = self._back(rank, min(places.get(rank, 0), _size(file)), count)
        left = {rank: places.get(rank, 0) for rank in self._files}
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
        return {"items": items, "next": _cursor(places), "previous": _cursor(left) if any(left.values()) else None}

    def after(self, places: dict[int, int], count: int) -> Logs:
        """The first records from these places on."""
        queues, ends = {}, {}
        for rank, file in self._files.items():
            start = places.get(rank, 0)
            queues[rank], ends[rank] = self._forth(rank, start if start <= _size(file) else 0, count)
        done = {rank: places.get(rank, 0) for rank in self._files}
        chosen: list[LogLine] = []
        while len(chosen) < count and any(queues.values()):
            rank = _earliest({rank: queue[0] for rank, queue in queues.items() if queue})
            record = queues[rank].pop(0)
            done[rank] = record.end
            chosen.append(record.line)
        for rank, queue in queues.items():
            if not queue:
                done[rank] = ends[rank]
        return {"items": chosen, "next": _cursor(done), "previous": _cursor(places) if any(places.values()) else None}

    def _wanted(self, records: list[Record]) -> list[Record]:
        return [record for record in records if record.line["level"] in self._levels]

    def _back(self, rank: int, end: int, count: int) -> tuple[list[Record], int]:
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

    def _forth(self, rank: int, start: int, count: int) -> tuple[list[Record], int]:
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
    """The places in a cursor; None if it is none."""
    if not re.fullmatch(r"(?:\d{1,4}:\d{1,15}(?:,|$)){1,2048}", text):
        return None
    return {int(rank): int(place) for rank, _, place in (part.partition(":") for part in text.split(",") if part)}


def _cursor(places: dict[int, int]) -> str:
    return ",".join(f"{rank}:{place}" for rank, place in sorted(places.items())) or "0:0"


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
