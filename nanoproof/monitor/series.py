"""The numbers of a run's steps in bounded memory, and its events."""

from collections import deque
from typing import Any

from nanoproof.monitor.schema import Event, Series
from nanoproof.monitor.tail import integer, mapping, real, text_of

# -- What happened in a run: the newest events, and what follows from all of them ------------------------------------

MAX_EVENTS = 1000
MAX_CHECKPOINTS = 200
ALL_SERVERS = "all"
"""The address of an event that is about all Lean servers together."""
_SHOWN = 300


class EventStore:
    """The events of all ranks, as their files are read."""

    def __init__(self) -> None:
        self.newest: deque[Event] = deque(maxlen=MAX_EVENTS)
        self.checkpoints: deque[int] = deque(maxlen=MAX_CHECKPOINTS)
        self._servers: dict[str, tuple[float, str]] = {}
        self._resumed = 0.0
        self.evaluated: dict[tuple[int | None, str], float] = {}
        """When the evaluation of a step and data set was over."""

    def add(self, record: dict[str, Any], rank: int) -> None:
        """Take in a line of an events file."""
        event = event_of(record, rank)
        if event is None:
            return
        fields, kind = event["fields"], event["kind"]
        if kind == "checkpoint" and isinstance(fields.get("step"), int):
            self.checkpoints.append(fields["step"])
        if kind == "evaluation" and len(self.evaluated) < 100_000:
            self.evaluated[fields.get("step"), text_of(fields.get("dataset"))] = event["time"]
        if kind == "resumed":
            self._resumed = event["time"]
        address = text_of(fields.get("address"))
        if kind == "server" and address not in ("", ALL_SERVERS) and len(self._servers) < 1000:
            self._servers[address] = event["time"], text_of(fields.get("state")) or "up"
        if kind != "phase":
            self.newest.append(event)

    @property
    def servers(self) -> dict[str, str]:
        """What was said last of each Lean server since the run began or was resumed."""
        return {address: state for address, (moment, state) in self._servers.items() if moment >= self._resumed}


def event_of(record: dict[str, Any], rank: int) -> Event | None:
    """A line of an events file as the page gets it; None if it is none."""
    kind = text_of(record.get("kind"), 100)
    if not kind:
        return None
    fields = {name: value for name, value in record.items() if name not in ("time", "kind")}
    said = integer(fields.get("rank"), rank)
    return {
        "time": real(record.get("time")) or 0.0,
        "kind": kind,
        "rank": said,
        "text": _text(kind, fields),
        "fields": fields if len(str(fields)) < 10_000 else {},
    }


def _text(kind: str, fields: dict[str, Any]) -> str:
    if kind == "evaluation":
        return f"{fields.get('dataset')} {fields.get('split')}: {fields.get('solved')} of {fields.get('total')} solved"
    if kind == "checkpoint":
        return f"step {fields.get('step')} saved as {fields.get('path', 'a checkpoint')}"
    if kind == "phase":
        return f"{fields.get('phase')} at step {fields.get('step')}"
    if kind == "server":
        return f"{fields.get('address')} is {fields.get('state')}"
    message = text_of(fields.get("message"), _SHOWN)
    if message:
        return message
    plain = {name: value for name, value in fields.items() if isinstance(value, (str, int, float))}
    return ", ".join(f"{name} {value}" for name, value in mapping(plain).items())[:_SHOWN]


# -- The numbers of a run's steps, in bounded memory: of a long run, old steps are put together ----------------------

MAX_ROWS = 20_000
MAX_NAMES = 200
_PACE_STEPS = 50
_KEPT_THINNED = 8


class Row:
    """One step, or several: mean, lowest and highest value of each number."""

    __slots__ = ("count", "high", "low", "mean", "step", "time")

    def __init__(self, step: int, time: float | None, values: dict[str, float]) -> None:
        self.step, self.time, self.count = step, time, 1
        self.mean = self.low = self.high = values

    def joined(self, later: "Row") -> "Row":
        """Both in one."""
        row = Row(later.step, later.time, {})
        row.count = self.count + later.count
        names = {**self.mean, **later.mean}
        row.mean = {name: _mean(self, later, name) for name in names}
        row.low = {name: min(one.low[name] for one in (self, later) if name in one.low) for name in names}
        row.high = {name: max(one.high[name] for one in (self, later) if name in one.high) for name in names}
        return row


def _mean(first: Row, second: Row, name: str) -> float:
    parts = [(row.mean[name], row.count) for row in (first, second) if name in row.mean]
    return sum(value * count for value, count in parts) / sum(count for _, count in parts)


class MetricStore:
    """Metrics by step; after a resumed run the steps that are done again replace the earlier ones."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.total = 0
        self.latest: dict[str, float | None] = {}
        self.previous: dict[str, float | None] = {}
        self._names: dict[str, None] = {}
        self._pace: deque[tuple[int, float]] = deque(maxlen=_PACE_STEPS)
        self._thinned: dict[int, list[Row]] = {}

    def add(self, record: dict[str, Any]) -> None:
        """Take in a line of metrics.jsonl."""
        if isinstance(record.get("step"), bool) or not isinstance(record.get("step"), int):
            return
        step, time = integer(record["step"]), real(record.get("time"))
        values = {name: number for name, one in record.items() if (number := real(one)) is not None}
        values.pop("step", None)
        values.pop("time", None)
        self._names.update(dict.fromkeys(name for name in values if len(self._names) < MAX_NAMES))
        while self.rows and self.rows[-1].step >= step:
            self.total -= self.rows.pop().count
        if self._pace and self._pace[-1][0] >= step:
            self._pace.clear()
        if time is not None:
            self._pace.append((step, time))
        self.rows.append(Row(step, time, values))
        self.total += 1
        self._thinned.clear()
        self.previous = {name: self.latest.get(name) for name in values}
        self.latest = {**values}
        if len(self.rows) > MAX_ROWS:
            half = MAX_ROWS // 2
            self.rows[:half] = [a.joined(b) for a, b in zip(self.rows[:half:2], self.rows[1:half:2], strict=True)]

    def seconds_per_step(self) -> float | None:
        """Of the newest steps."""
        if len(self._pace) < 2:
            return None
        (first, begin), (last, end) = self._pace[0], self._pace[-1]
        return (end - begin) / (last - first) if end > begin else None

    def _thin(self, max_points: int) -> list[Row]:
        rows = self.rows
        while len(rows) > max_points:
            even = rows[:-1] if len(rows) % 2 else rows
            rows = [a.joined(b) for a, b in zip(even[::2], even[1::2], strict=True)] + rows[len(even) :]
        return rows

    def series(self, names: list[str] | None, max_points: int) -> Series:
        """Columns of at most `max_points` rows; all numbers if none is named."""
        chosen = [name for name in (names if names is not None else self._names) if name in self._names]
        if max_points not in self._thinned:
            if len(self._thinned) >= _KEPT_THINNED:
                self._thinned.clear()
            self._thinned[max_points] = self._thin(max_points)
        rows = self._thinned[max_points]
        return {
            "names": list(self._names),
            "steps": [row.step for row in rows],
            "times": [row.time for row in rows],
            "values": {name: [row.mean.get(name) for row in rows] for name in chosen},
            "low": {name: [row.low.get(name) for row in rows] for name in chosen},
            "high": {name: [row.high.get(name) for row in rows] for name in chosen},
            "total": self.total,
            "thinned": len(rows) < self.total,
        }
