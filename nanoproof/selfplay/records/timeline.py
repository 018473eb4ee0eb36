"""The timeline: what actors, model and phases did when, a line for each second.

Hot threads append to a deque; `Timeline.flush` turns into a line what has come together. Spans are cut at the ends of
the line, so that every line can be read alone, and what goes on for long is seen while it goes on.
"""

import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from nanoproof.selfplay.records.rotating import RotatingJsonl

MAX_BYTES = 64 << 20
"""Of a part of the file, whatever `--timeline-minutes` says."""
MAX_SPANS = 100_000
"""Between two lines; who has more of them loses the oldest."""
IDLE = "idle"


class ActorSpan(NamedTuple):
    """An actor was in a state, from and to readings of `time.monotonic`."""

    actor: int
    state: str
    began: float
    ended: float


class ModelSpan(NamedTuple):
    """The model worked for some `seconds` after `began`, with so many rows and states, while so many states waited."""

    began: float
    seconds: float
    rows: int
    states: int
    waiting: int


def timeline_file(run_path: Path, rank: int) -> Path:
    """Where a rank writes its timeline."""
    return run_path / f"timeline_r{rank}.jsonl"


class Timeline:
    """The timeline of one rank. `actor_spans` and `model_spans` may be appended to by any thread."""

    def __init__(self, run_path: Path, rank: int, minutes: float) -> None:
        """A part of the file is for `minutes`, so that as much as that, and at most twice that, is kept."""
        self._file = RotatingJsonl(timeline_file(run_path, rank), MAX_BYTES, 60 * minutes)
        self.actor_spans: deque[ActorSpan] = deque(maxlen=MAX_SPANS)
        self.model_spans: deque[ModelSpan] = deque(maxlen=MAX_SPANS)
        self._phases: deque[tuple[str, float]] = deque()
        self._phase = ""
        self._from = time.monotonic()

    def phase(self, name: str) -> None:
        """A phase begins, and the one before it ends."""
        self._phases.append((name, time.monotonic()))

    def flush(self, open_spans: Iterable[tuple[int, str, float]]) -> None:
        """Write the line up to now. `open_spans` are the states that actors are in, and since when."""
        now = time.monotonic()
        line = {"from": round(time.time() - (now - self._from), 4), "to": round(time.time(), 4)}
        actors = []
        for actor, state, began, ended in (*_drain(self.actor_spans), *(ActorSpan(*span, now) for span in open_spans)):
            if state != IDLE and ended > self._from:
                actors.append((actor, state, *self._cut(began, ended)))
        steps = [
            [*self._cut(span.began, span.began + span.seconds), span.rows, span.states, span.waiting]
            for span in _drain(self.model_spans)
        ]
        self._file.write([{**line, "actors": actors, "steps": steps, "phases": self._cut_phases(now)}])
        self._from = now

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _cut(self, began: float, ended: float) -> tuple[float, float]:
        """Start and length in milliseconds of what of a span is in the present line."""
        start = began - self._from if began > self._from else 0.0
        return int(10_000 * start) / 10, int(10_000 * max(0.0, ended - self._from - start)) / 10

    def _cut_phases(self, now: float) -> list[list[Any]]:
        spans, began = [], self._from
        for name, moment in _drain(self._phases):
            spans.append((self._phase, began, moment))
            self._phase, began = name, moment
        spans.append((self._phase, began, now))
        return [[name, *self._cut(began, ended)] for name, began, ended in spans if name and ended > began]


def _drain(spans: deque[Any]) -> list[Any]:
    """All that is in a deque, and others may append to meanwhile."""
    return [spans.popleft() for _ in range(len(spans))]
