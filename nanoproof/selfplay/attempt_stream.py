"""The logged attempts of all ranks of a run, read in the order that every rank follows, one at a time."""

import heapq
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nanoproof.common.progress import Progress
from nanoproof.prover.attempt import Attempt, fault_of
from nanoproof.selfplay.records.attempt_index import attempt_logs, whole_lines

log = logging.getLogger(__name__)

LONG_BYTES = 100_000_000
"""A reader of this much shows how far it is."""

Number = tuple[int, int, int]
_FAULTS = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


def number_of(record: dict[str, Any]) -> Number:
    """The attempt's place in the order that every rank follows: (step, rank, sequence)."""
    number = record["number"]
    return number["step"], number["rank"], number["sequence"]


def attempt_of(record: dict[str, Any]) -> Attempt:
    """The attempt in a log record."""
    return Attempt.from_json({name: value for name, value in record.items() if name not in ("number", "time")})


def logged_attempts(run_path: Path, show: bool = False) -> Iterator[tuple[int, Attempt]]:
    """All logged attempts of a run with their steps, in order. At most one of each log is in memory.

    A torn last line is left out, a number that came before (nothing counts twice), and what is no attempt that could
    have been made (`fault_of`): a warning counts them. `show` progress where there is much to read.
    """
    logs = attempt_logs(run_path)
    size = sum(file.stat().st_size for file in logs)
    with Progress(size >> 20, f"attempts of {run_path.name}", "MB", show=show and size >= LONG_BYTES) as progress:
        last, read = (-1, 0, 0), 0
        for number, attempt, length in heapq.merge(*map(_attempts, logs), key=lambda found: found[0]):
            read += length
            progress.update((read >> 20) - progress.count)
            if number > last:
                last = number
                yield number[0], attempt


def _attempts(file: Path) -> Iterator[tuple[Number, Attempt, int]]:
    """The attempts of one log with their numbers, which only ever grow, and the bytes of their lines."""
    last: Number = (-1, 0, 0)
    left_out = faulty = 0
    first = ""
    for at, line in whole_lines(file, 0):
        if not line.strip():
            continue
        try:
            found = _read(line)
        except _FAULTS as error:
            faulty += 1
            first = first or f"the first begins at byte {at}: {str(error) or type(error).__name__}"
            continue
        if found[0] > last:
            last = found[0]
            yield found
        else:
            left_out += 1
    if left_out:
        log.warning("%s: %d attempts are left out, whose numbers came before", file, left_out)
    if faulty:
        log.warning("%s: %d lines are left out that are no attempts to learn from; %s", file, faulty, first)


def _read(line: bytes) -> tuple[Number, Attempt, int]:
    """The attempt of a line, with its number and its bytes; raises one of `_FAULTS` if it is none to learn from."""
    record = json.loads(line)
    number, attempt = number_of(record), attempt_of(record)
    if not all(isinstance(part, int) and part >= 0 for part in number):
        raise ValueError(f"its number is {number}")
    if fault := fault_of(attempt):
        raise ValueError(fault)
    return number, attempt, len(line)
