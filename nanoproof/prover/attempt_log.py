"""The log of attempts that a rank writes, its index, and the logs of all ranks read in one order.

`attempts_r<rank>.index.jsonl` has a line for each line of `attempts_r<rank>.jsonl`, in its order:

    {"n": [step, rank, sequence], "at": 0, "len": 5120,         # the record's name, and where it is in the log
     "d": "nanolean", "id": "lists_17", "o": "proven",          # data set, id, outcome
     "sims": 12, "budget": 64, "tactics": 3, "s": 1.25, "t": 1760000000.0, "tree": true, "dis": false}

`tactics` is the length of the proof, `s` the seconds that the attempt took, `t` when it ended (null in logs of older
runs), `tree` whether its tree was to be kept (`trees/` has the newest ones), `dis` whether the negation was to be
proved. Where a proof was found and lost, `lost` is how (see `Attempt.lost`) and `why` begins the reason.

An index may be missing or short (an older run, a killed one): readers make up what is missing from the log itself.
"""

import heapq
import json
import logging
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from pydantic import BaseModel, ValidationError

from nanoproof.common.errors import UserError, first_problem
from nanoproof.common.files import append_whole, drop_torn_line, json_line
from nanoproof.common.terminal import Progress
from nanoproof.prover.attempt import Attempt, AttemptRecord, Count, fault_of, lost_in

log = logging.getLogger(__name__)

Number = tuple[int, int, int]
"""Step, rank and sequence of an attempt."""
START_STATES = "start-states"
"""The data set of attempts inside of reference proofs (`rl/start_states.py`): they are no theorems of a set, and never
count as such."""

# -- The index -------------------------------------------------------------------------------------------------------

READ_BYTES = 1 << 20
_LOG_NAME = re.compile(r"attempts_r(\d+)\.jsonl")
_PHASES = ("search", "simplify", "check")
"""Of the seconds of an attempt, those that follow each other; others are counted within these."""
_REASON = 300
"""Letters of a reason: an index of all attempts is held in memory."""


class IndexEntry(NamedTuple):
    """An attempt as its index records it."""

    step: int
    rank: int
    sequence: int
    at: int
    size: int
    dataset: str
    id: str
    outcome: str
    simulations: int
    budget: int
    tactics: int
    seconds: float
    time: float | None
    tree: bool
    disproving: bool
    lost: str = ""
    reason: str = ""

    @property
    def number(self) -> tuple[int, int, int]:
        """Position in the order of a run's attempts: (step, rank, sequence)."""
        return self.step, self.rank, self.sequence

    def to_json(self) -> dict[str, Any]:
        """Return the JSON data of its line."""
        data = {"n": list(self.number), "at": self.at, "len": self.size, "d": self.dataset, "id": self.id}
        data |= {"o": self.outcome, "sims": self.simulations, "budget": self.budget, "tactics": self.tactics}
        data |= {"s": self.seconds, "t": self.time, "tree": self.tree, "dis": self.disproving}
        if self.lost:
            data |= {"lost": self.lost, "why": self.reason}
        return data

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "IndexEntry":
        """Read the entry of a line. Raises KeyError, TypeError or ValueError if it is none."""
        step, rank, sequence = data["n"]
        # Interned: a run of a million attempts has a few data sets and outcomes, and a million copies of their names.
        return cls(
            *(step, rank, sequence, data["at"], data["len"]),
            *(sys.intern(data["d"]), data["id"], sys.intern(data["o"])),
            *(data["sims"], data["budget"], data["tactics"], data["s"], data["t"], data["tree"], data["dis"]),
            *(sys.intern(data.get("lost", "")), data.get("why", "")),
        ).checked()

    def checked(self) -> "IndexEntry":
        """Return the entry. Raises TypeError or ValueError if it is none: one damaged line would else end who reads on.

        Readers add its numbers up and sort by them, and its texts are written to the index.
        """
        whole = (self.step, self.rank, self.sequence, self.at, self.size, self.simulations, self.budget, self.tactics)
        if any(type(number) is not int for number in whole):
            raise TypeError("a number of an entry is none")
        if type(self.seconds) not in (int, float) or type(self.time) not in (int, float, type(None)):
            raise TypeError("a time of an entry is none")
        (self.dataset + self.id + self.outcome + self.lost + self.reason).encode()  # half a surrogate pair is no text
        return self


def attempts_file(run_path: Path, rank: int) -> Path:
    """Return the path of the log of a rank."""
    return run_path / f"attempts_r{rank}.jsonl"


def index_file(run_path: Path, rank: int) -> Path:
    """Return the path of the index of that log."""
    return run_path / f"attempts_r{rank}.index.jsonl"


def logged_ranks(run_path: Path) -> list[int]:
    """List the ranks that have a log of attempts in a run."""
    matches = (_LOG_NAME.fullmatch(file.name) for file in run_path.glob("attempts_r*.jsonl"))
    return sorted(int(match[1]) for match in matches if match)


def attempt_logs(run_path: Path) -> list[Path]:
    """List the logs of attempts of all ranks of a run."""
    return [attempts_file(run_path, rank) for rank in logged_ranks(run_path)]


def entry_of(record: dict[str, Any], at: int, size: int) -> IndexEntry:
    """Make the entry of a record of the log. Raises KeyError, TypeError, ValueError or AttributeError if it is none."""
    number, theorem = record["number"], record["theorem"]
    phases = record.get("seconds", {})
    check = record.get("check")
    if not isinstance(check, dict):
        check = {}
    lost = lost_in(check)
    return IndexEntry(
        step=number["step"],
        rank=number["rank"],
        sequence=number["sequence"],
        at=at,
        size=size,
        dataset=sys.intern(theorem["dataset"]),
        id=theorem["id"],
        outcome=sys.intern(record["outcome"]),
        simulations=record.get("counts", {}).get("simulations", 0),
        budget=record.get("budget", 0),
        tactics=record.get("num_tactics", 0),
        seconds=round(sum(phases.get(phase, 0.0) for phase in _PHASES), 3),
        time=record.get("time"),
        tree=bool(record.get("tree")),
        disproving=bool(record.get("disproving")),
        lost=lost,
        reason=str(check.get("reason", ""))[:_REASON] if lost else "",
    ).checked()


def read_record(run_path: Path, entry: IndexEntry) -> dict[str, Any]:
    """Read the record that an entry is about. Raises UserError if it is not there."""
    file = attempts_file(run_path, entry.rank)
    try:
        with open(file, "rb") as log:
            log.seek(entry.at)
            record = json.loads(log.read(entry.size))
    except (OSError, ValueError) as error:
        raise UserError(f"{file} has no record at byte {entry.at}: {error}") from error
    if not isinstance(record, dict):
        raise UserError(f"{file} has no record at byte {entry.at}")
    return record


def last_entry(index: Path) -> IndexEntry | None:
    """Read the last entry of an index; None if there is none, or if that line is damaged."""
    end = _last_line_end(index)
    if not end:
        return None
    start = _last_line_end(index, end - 1)
    for _, line in whole_lines(index, start, end):
        return _parse(line)
    return None


def whole_lines(file: Path, start: int, max_bytes: float = float("inf")) -> Iterator[tuple[int, bytes]]:
    """Read the ended lines of a file from byte `start` on, with their offsets; about `max_bytes` of them at most."""
    try:
        source = open(file, "rb")
    except OSError:
        return
    with source:
        source.seek(start)
        at = start
        while at - start < max_bytes:
            line = source.readline()
            if not line.endswith(b"\n"):
                return
            yield at, line
            at += len(line)


def scan(log: Path, start: int, max_bytes: float = float("inf")) -> Iterator[tuple[IndexEntry | None, int]]:
    """Make the entries of a log from byte `start` on, each with the offset of the next line.

    A line that is no attempt has no entry.
    """
    for at, line in whole_lines(log, start, max_bytes):
        entry: IndexEntry | None = None
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            entry = entry_of(json.loads(line), at, len(line))
        yield entry, at + len(line)


class IndexReader:
    """Follows the index of one rank, while it is written and afterwards; writes nothing."""

    def __init__(self, run_path: Path, rank: int) -> None:
        self._log, self._index = attempts_file(run_path, rank), index_file(run_path, rank)
        self.covered = self._position = 0
        """Bytes of the log whose attempts `poll` has returned."""
        self.resets = 0
        """How often the log was found to be another one than before, so that all was read anew."""

    @property
    def size(self) -> int:
        """Bytes of the log."""
        return _size(self._log)

    def poll(self, max_bytes: float = float("inf")) -> list[IndexEntry]:
        """Return the entries since the last call, of about `max_bytes` of index, and of log where it lacks an index.

        Who gets none and finds `covered` short of `size` has met a line that is not written to its end.
        """
        size = self.size
        if size < self.covered:  # the run was made anew in the same place: the log only ever grows
            self.resets += 1
            self.covered = self._position = 0
        elif _size(self._index) < self._position:  # a resumed run has made its index anew
            self._position = 0
        entries: list[IndexEntry] = []
        budget = max_bytes
        lines = list(whole_lines(self._index, self._position, max_bytes))
        for (at, line), entry in zip(lines, _parse_all([line for _, line in lines]), strict=True):
            self._position = at + len(line)
            budget -= len(line)
            # Damaged, or of what was read from the log itself while the index was behind.
            if entry is None or entry.at < self.covered:
                continue
            if entry.at + entry.size > size:  # of another log
                break
            if entry.at > self.covered:  # attempts between this one and the last have no line in the index
                entries += self._scan(entry.at - self.covered)
                budget -= entry.at - self.covered
            if entry.at == self.covered:
                entries.append(entry)
                self.covered = entry.at + entry.size
        # Only behind the last line of the index: listing a log by its index takes a sixth of the time of listing it by
        # its records (experiments.md, logs, indexes and sampled trees).
        if budget > 0 and self.covered < size and self._position >= _last_line_end(self._index):
            entries += self._scan(min(budget, size - self.covered))
        return entries

    def _scan(self, max_bytes: float) -> list[IndexEntry]:
        entries = []
        for entry, end in scan(self._log, self.covered, max_bytes):
            self.covered = end
            if entry is not None:
                entries.append(entry)
        return entries


class AttemptIndex:
    """The attempts of a run over all ranks, page by page, while it runs and afterwards."""

    def __init__(self, run_path: Path) -> None:
        self._path = Path(run_path)
        self._readers: dict[int, IndexReader] = {}
        self.entries: list[IndexEntry] = []
        """In the order in which they were read: of each rank in the order of its log."""

    def poll(self, max_bytes: float = float("inf")) -> int:
        """Take in new attempts; returns how many there were. `max_bytes` is for each rank."""
        before = len(self.entries)
        for rank in logged_ranks(self._path):
            reader = self._readers.setdefault(rank, IndexReader(self._path, rank))
            resets = reader.resets
            new = reader.poll(max_bytes)
            if reader.resets > resets:
                self.entries = [entry for entry in self.entries if entry.rank != rank]
                before = min(before, len(self.entries))  # what is returned is never negative
            self.entries += new
        return len(self.entries) - before

    def page(
        self, number: int, size: int, wants: Callable[[IndexEntry], bool] = lambda entry: True
    ) -> tuple[list[IndexEntry], int]:
        """Return a page (from 1 on) of the wanted attempts, last ones first, and how many are wanted in all."""
        chosen = [entry for entry in self.entries if wants(entry)]
        chosen.sort(key=lambda entry: entry.number, reverse=True)
        return chosen[(number - 1) * size : number * size], len(chosen)

    def record(self, entry: IndexEntry) -> dict[str, Any]:
        """Read the whole record of an attempt. Raises UserError if it is gone."""
        return read_record(self._path, entry)


def _parse(line: bytes) -> IndexEntry | None:
    with suppress(ValueError):
        return _of_record(json.loads(line))
    return None


def _parse_all(lines: list[bytes]) -> Iterator[IndexEntry | None]:
    """Parse the entries of lines, all in one JSON list where none is damaged: the calls cost more than the parsing."""
    with suppress(ValueError):
        records = json.loads(b"[%s]" % b",".join(lines))
        if len(records) == len(lines):
            return map(_of_record, records)
    return map(_parse, lines)


def _of_record(record: Any) -> IndexEntry | None:
    try:
        return IndexEntry.from_json(record)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _last_line_end(file: Path, before: int | None = None) -> int:
    """Find where the last ended line of a file ends, of those that end at byte `before` or earlier (default: all)."""
    try:
        with open(file, "rb") as source:
            end = source.seek(0, os.SEEK_END)
            if before is not None:
                end = before
            while end > 0:
                start = max(0, end - READ_BYTES)
                source.seek(start)
                newline = source.read(end - start).rfind(b"\n")
                if newline >= 0:
                    return start + newline + 1
                end = start
    except OSError:
        pass
    return 0


# -- Writing a log and its index -------------------------------------------------------------------------------------


class AttemptLog:
    """Appends attempts to a rank's log, and their entries to its index; thread-safe.

    A record reaches the operating system before `write` returns. If that fails, nothing of it is left in the log and
    UserError says why: a run must not continue without its log. The index is made up again at the next start.
    """

    def __init__(self, run_path: Path, rank: int) -> None:
        self._file, self._index_file = attempts_file(run_path, rank), index_file(run_path, rank)
        self._lock = threading.Lock()
        try:
            run_path.mkdir(parents=True, exist_ok=True)
            # Of a run that was killed while it wrote; the next record would become a part of that line.
            drop_torn_line(self._file)
            # Not buffered: what is in a buffer is lost with the process, and the attempt has counted by then.
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
        """Append one record; with `kept_tree` its search tree goes into the tree store."""
        line = json_line(record).encode()
        with self._lock:
            try:
                append_whole(self._log, line)
            except OSError as error:
                raise UserError(f"{self._file} cannot be written, the attempt is lost: {error}") from error
            at, self._size = self._size, self._size + len(line)
            # After the log: an entry of a record that is not there would be wrong, a record without one is read itself.
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
        covered, mode = 0, "wb"
        if last is not None and _agrees(run_path, last):
            covered, mode = last.at + last.size, "ab"
        elif last is not None:
            # The log is written first: a machine that lost power, or a disk, has left a part of it or nothing.
            log.warning("%s lacks attempts that its index lists; what is left of it counts", self._file)
        index: IO[bytes] = open(self._index_file, mode, buffering=0)
        for entry, _ in scan(self._file, covered):
            if entry is not None:
                index.write(_line(entry))
        return index

    def _give_up_index(self, error: OSError) -> None:
        log.warning("%s cannot be written: %s; the run continues without it", self._index_file, error)
        self._index = None


def _line(entry: IndexEntry) -> bytes:
    return json_line(entry.to_json()).encode()


def _agrees(run_path: Path, entry: IndexEntry) -> bool:
    """Tell whether an entry is about what the log has there."""
    try:
        logged = entry_of(read_record(run_path, entry), entry.at, entry.size)
    except (UserError, KeyError, TypeError, ValueError, AttributeError):
        return False
    log_size = attempts_file(run_path, entry.rank).stat().st_size
    return logged.number == entry.number and entry.at + entry.size <= log_size


# -- Reading the logs of all ranks -----------------------------------------------------------------------------------

LONG_BYTES = 100_000_000
"""A reader of this much shows how far it is."""


class _Place(BaseModel, extra="forbid"):
    step: Count
    rank: Count
    sequence: Count


class LogRecord(AttemptRecord):
    """A line of the log: an attempt with its number, and when it ended."""

    number: _Place
    time: float | None = None

    @property
    def position(self) -> Number:
        """Its place in the order that every rank follows."""
        return self.number.step, self.number.rank, self.number.sequence


def number_of(record: dict[str, Any]) -> Number:
    """Return the number of a record that this process has made."""
    number = record["number"]
    return number["step"], number["rank"], number["sequence"]


def attempt_of(record: dict[str, Any]) -> Attempt:
    """Read the attempt in a log record. Raises ValueError, in one line, if it is none."""
    try:
        return LogRecord.model_validate(record).attempt()
    except ValidationError as error:
        raise ValueError(first_problem(error)) from error


def logged_attempts(run_path: Path, show: bool = False) -> Iterator[tuple[int, Attempt]]:
    """Read all logged attempts of a run with their steps, in order. At most one of each log is in memory.

    A torn last line is left out, a number that came before (nothing counts twice), and what is no attempt that could
    have been made (`fault_of`): a warning counts them. `show` progress where there is much to read.
    """
    logs = attempt_logs(run_path)
    size = sum(file.stat().st_size for file in logs)
    with Progress(size >> 20, f"attempts of {run_path.name}", "MB", show=show and size >= LONG_BYTES) as progress:
        last, num_bytes = (-1, 0, 0), 0
        # Merged, not one log after another: what a matchmaker and buffers come to depends on the order of attempts.
        for logged in heapq.merge(*map(_attempts, logs), key=lambda logged: logged.number):
            num_bytes += logged.num_bytes
            progress.update((num_bytes >> 20) - progress.count)
            if logged.number > last:
                last = logged.number
                yield logged.number[0], logged.attempt


class _Logged(NamedTuple):
    """An attempt of a log, and the bytes of its line."""

    number: Number
    attempt: Attempt
    num_bytes: int


def _attempts(file: Path) -> Iterator[_Logged]:
    """Yield the attempts of one log, whose numbers only ever grow."""
    last: Number = (-1, 0, 0)
    num_repeated = num_faulty = 0
    first_fault = ""
    for at, line in whole_lines(file, 0):
        if not line.strip():
            continue
        try:
            logged = _read(line)
        except ValueError as error:
            num_faulty += 1
            first_fault = first_fault or f"the first begins at byte {at}: {error}"
            continue
        if logged.number > last:
            last = logged.number
            yield logged
        else:
            num_repeated += 1
    if num_repeated:
        log.warning("%s: %d attempts are left out, whose numbers came before", file, num_repeated)
    if num_faulty:
        log.warning("%s: %d lines are left out that are no attempts to learn from; %s", file, num_faulty, first_fault)


def _read(line: bytes) -> _Logged:
    """Read the attempt of a line. Raises ValueError, in one line, if it is none to learn from."""
    try:
        # From the bytes: parsed and checked at once, this takes less time than Python's json alone.
        record = LogRecord.model_validate_json(line)
    except ValidationError as error:
        raise ValueError(first_problem(error)) from error
    attempt = record.attempt()
    fault = fault_of(attempt)
    if fault:
        raise ValueError(fault)
    return _Logged(record.position, attempt, len(line))
