"""What a rank is doing right now: `status_r<rank>.json`, for whoever watches.

    {"time": ..., "pid": 4711, "rank": 0, "phase": "collect", "step": 12, "num_steps": 1000,
     "seconds": 812.4, "remaining": 3600.0,          # of the whole run so far, and to its end at the present pace
     "collected": 57, "collect_transitions": 100,    # transitions of this step so far, and how many it is to have
     "attempts": 9000, "proofs": 4100, "theorems_proven": 700, "theorems": 2000,
     "replay": 5000, "negative": 250000, "staleness": {"replay": 3.2, "negative": 1.0},
     "memory": 1200000000, "gpu": {"name": ..., "utilization": 0.9, "memory": ..., "memory_total": ...},
     "servers": [{"address": "host:8000", "state": "up", "actors": 16}],
     "actors": [{"actor": 0, "state": "lean", "state_seconds": 0.1, "theorem": "lists_17", "simulations": 12,
                 "budget": 64, "server": "host:8000", "seconds": {"model": 1.0, "lean": 7.5, "idle": 0.2, "error": 0}}]}

A run that was killed leaves its last status; `time` says how old it is. The last phase of one that ended is `stopped`.
"""

import logging
import os
import time
from collections import deque
from pathlib import Path
from typing import Any

from nanoproof.common.files import atomic_write, json_line
from nanoproof.selfplay.records.machine import resident_bytes

log = logging.getLogger(__name__)

PACE_STEPS = 20
"""The pace is that of so many of the newest steps."""


def status_file(run_path: Path, rank: int) -> Path:
    """Where a rank writes its status."""
    return run_path / f"status_r{rank}.json"


class StatusFile:
    """Writes the status. If it cannot, it says so once."""

    def __init__(self, run_path: Path, rank: int) -> None:
        self._path = status_file(run_path, rank)
        self._pace = Pace()
        self._failed = False

    def write(self, snapshot: dict[str, Any]) -> None:
        """Write what is known now."""
        remaining = self._pace.remaining(**{name: snapshot.get(name) for name in _PACE_OF})
        status = {"time": round(time.time(), 3), "pid": os.getpid(), **snapshot, "remaining": remaining}
        status["memory"] = resident_bytes()
        try:
            atomic_write(self._path, lambda file: file.write(json_line(status).encode()), sync=False)
        except OSError as error:
            if not self._failed:
                log.warning("cannot write %s: %s; the run goes on without it", self._path, error)
            self._failed = True


_PACE_OF = ("step", "seconds", "num_steps", "max_seconds")


class Pace:
    """How long a run will take, of how long its newest steps took."""

    def __init__(self) -> None:
        self._steps: deque[tuple[int, float]] = deque(maxlen=PACE_STEPS + 1)

    def remaining(
        self, step: int | None, seconds: float | None, num_steps: int | None, max_seconds: float | None
    ) -> float | None:
        """Seconds to the last step or to the time limit, whichever is first; None if that is not known yet."""
        if step is None or seconds is None:
            return None
        if not self._steps or step != self._steps[-1][0]:
            self._steps.append((step, seconds))
        (first, began), (last, ended) = self._steps[0], self._steps[-1]
        ends = [] if max_seconds is None else [max(0.0, max_seconds - seconds)]
        if last > first and num_steps is not None:
            ends.append(max(0.0, (num_steps - step) * (ended - began) / (last - first) - (seconds - ended)))
        return round(min(ends), 1) if ends else None
