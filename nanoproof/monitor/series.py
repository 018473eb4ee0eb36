"""The numbers of a run's steps, in bounded memory: of a long run, old steps are put together."""

from collections import deque
from typing import Any

from nanoproof.monitor.schema import Series
from nanoproof.monitor.tail import integer, real

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
