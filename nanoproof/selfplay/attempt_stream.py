"""The logged attempts of all ranks of a run, read in the order that every rank follows, one at a time."""

import heapq
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.progress import Progress
from nanoproof.prover.attempt import Attempt
from nanoproof.selfplay.records.attempt_index import attempt_logs, whole_lines

log = logging.getLogger(__name__)

LONG_BYTES = 100_000_000
"""A reader of this much shows how far it is."""

Number = tuple[int, int, int]


def number_of(record: dict[str, Any]) -> Number:
    """The attempt's place in the order that every rank follows: (step, rank, sequence)."""
    number = record["number"]
    return number["step"], number["rank"], number["sequence"]


def attempt_of(record: dict[str, Any]) -> Attempt:
    """The attempt in a log record."""
    return Attempt.from_json({name: value for name, value in record.items() if name not in ("number", "time")})


def logged_attempts(run_path: Path, show: bool = False) -> Iterator[tuple[int, Attempt]]:
    """All logged attempts of a run with their steps, in order. At most one of each log is in memory.

    A torn last line is left out, and so is a number that came before: nothing counts twice. `show` progress where there
    is much to read. Raises UserError where a line is no attempt.
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
    left_out = 0
    for at, line in whole_lines(file, 0):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            found = number_of(record), attempt_of(record), len(line)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{file}: what begins at byte {at} is no attempt: {error!r}") from error
        if found[0] > last:
            last = found[0]
            yield found
        else:
            left_out += 1
    if left_out:
        log.warning("%s: %d attempts are left out, whose numbers came before", file, left_out)
