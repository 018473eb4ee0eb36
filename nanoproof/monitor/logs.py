"""The logs of all ranks as one, forwards and backwards, from any place: a few blocks are read, never a whole file."""

import re
from pathlib import Path
from typing import NamedTuple, get_args

from nanoproof.monitor.schema import Level, LogLine, Logs
from nanoproof.monitor.tail import file_stat, read_range

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
