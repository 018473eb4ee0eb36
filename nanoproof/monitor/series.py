"""A run's metrics by step, in bounded memory, and its events."""

from collections import deque
from typing import Any

from nanoproof.monitor.schema import Event, Series
from nanoproof.monitor.tail import as_dict, as_float, as_floats, as_int, as_text

# -- Events ----------------------------------------------------------------------------------------------------------

MAX_EVENTS = 1000
MAX_CHECKPOINTS = 200
ALL_SERVERS = "all"
"""The address of an event that is about all Lean servers together."""
_MAX_EVENT_TEXT = 300


class EventStore:
    """The events of all ranks, as their files are read."""

    def __init__(self) -> None:
        self.newest: deque[Event] = deque(maxlen=MAX_EVENTS)
        self.checkpoints: deque[int] = deque(maxlen=MAX_CHECKPOINTS)
        self._servers: dict[str, tuple[float, str]] = {}
        self._hosts: dict[str, Event] = {}
        self._resumed = 0.0

    def add(self, record: dict[str, Any], rank: int) -> None:
        """Add a line of an events file."""
        event = parse_event(record, rank)
        if event is None:
            return
        fields, kind = event["fields"], event["kind"]
        if kind == "checkpoint" and isinstance(fields.get("step"), int):
            self.checkpoints.append(fields["step"])
        if kind == "resumed":
            self._resumed = event["time"]
        address = as_text(fields.get("address"))
        if kind == "server" and address not in ("", ALL_SERVERS) and len(self._servers) < 1000:
            self._servers[address] = event["time"], as_text(fields.get("state")) or "up"
        host = as_text(fields.get("host"), 300)
        if kind == "host" and host and (host in self._hosts or len(self._hosts) < 10_000):
            self._hosts[host] = event
        # Phases change several times in a step: they would push out all else that fits into the list.
        if kind != "phase":
            self.newest.append(event)

    @property
    def hosts(self) -> dict[str, Event]:
        """The last event of each host since the run began or was resumed."""
        # Told apart here and not in `add`: the file of another rank may say only later that the run was resumed.
        return {name: event for name, event in self._hosts.items() if event["time"] >= self._resumed}

    @property
    def servers(self) -> dict[str, str]:
        """The last state of each Lean server in events since the run began or was resumed."""
        return {address: state for address, (moment, state) in self._servers.items() if moment >= self._resumed}


def parse_event(record: dict[str, Any], rank: int) -> Event | None:
    """Parse a line of an events file; None if it is not an event."""
    kind = as_text(record.get("kind"), 100)
    if not kind:
        return None
    fields = {name: value for name, value in record.items() if name not in ("time", "kind")}
    rank_of_record, text = as_int(fields.get("rank"), rank), _event_text(kind, fields)
    if len(str(fields)) >= 10_000:  # a page has a thousand events at hand: the line of text has to do
        fields = {}
    return {
        "time": as_float(record.get("time")) or 0.0,
        "kind": kind,
        "rank": rank_of_record,
        "text": text,
        "fields": fields,
    }


def _event_text(kind: str, fields: dict[str, Any]) -> str:
    if kind == "evaluation":
        return f"{fields.get('dataset')} {fields.get('split')}: {fields.get('solved')} of {fields.get('total')} solved"
    if kind == "policy_evaluation":
        return _policy_evaluation_text(fields)
    if kind == "resumed":
        text = f"from step {fields.get('step')}"
        if changed := as_dict(fields.get("changed")):
            text += f", with other {', '.join(changed)}"
        return text[:_MAX_EVENT_TEXT]
    if kind == "checkpoint":
        return f"step {fields.get('step')} saved as {fields.get('path', 'a checkpoint')}"
    if kind == "phase":
        return f"{fields.get('phase')} at step {fields.get('step')}"
    if kind == "server":
        return f"{fields.get('address')} is {fields.get('state')}"
    if kind == "host":
        text = f"{fields.get('host')} joined, with {fields.get('slots')} attempts at a time"
        if fields.get("state") != "joined":
            again = f"{fields.get('given_again')} attempts go to others"
            text = f"{fields.get('host')} is gone, {again}: {fields.get('reason')}"
        return text[:_MAX_EVENT_TEXT]
    message = as_text(fields.get("message"), _MAX_EVENT_TEXT)
    if message:
        return message
    # Kinds that this version does not know are shown too, by what a line has room for.
    plain = (f"{name} {value}" for name, value in fields.items() if isinstance(value, (str, int, float)))
    return ", ".join(plain)[:_MAX_EVENT_TEXT]


def _policy_evaluation_text(fields: dict[str, Any]) -> str:
    """Say what an evaluation on validation data found, in the three figures that say most."""
    parts = [f"step {fields.get('step')}"]
    for name, template in (
        ("tactic_loss", "loss of tactics {:.3f}"),
        ("tactic_exact_match", "tactics exactly right {:.1%}"),
        ("value_loss", "loss of values {:.3f}"),
    ):
        value = as_float(fields.get(name))
        if value is not None:
            parts.append(template.format(value))
    return ", ".join(parts)


# -- Metrics by step; in a long run, old steps are merged --------------------------------------------------------------

MAX_ROWS = 6000
MAX_NAMES = 200
_PACE_STEPS = 50
_MAX_CACHED_SIZES = 8


class Row:
    """One step, or several merged: mean, lowest and highest value of each metric."""

    __slots__ = ("count", "high", "low", "mean", "step", "time")

    def __init__(self, step: int, time: float | None, values: dict[str, float]) -> None:
        self.step, self.time, self.count = step, time, 1
        self.mean = self.low = self.high = values

    def merged(self, later: "Row") -> "Row":
        """Merge two rows: means weighted by their step counts."""
        row = Row(later.step, later.time, {**self.mean, **later.mean})
        row.count = self.count + later.count
        # Lowest and highest values are kept beside the mean, which hides the peak of a loss.
        row.low, row.high = {**self.low, **later.low}, {**self.high, **later.high}
        for name in row.mean:
            # Steps without this metric have no weight: validation is measured now and then only.
            before, after = self.count * (name in self.mean), later.count * (name in later.mean)
            total = self.mean.get(name, 0.0) * before + later.mean.get(name, 0.0) * after
            row.mean[name] = total / (before + after)
            if before and after:
                row.low[name] = min(self.low[name], later.low[name])
                row.high[name] = max(self.high[name], later.high[name])
        return row


def _merged_pairs(rows: list[Row]) -> list[Row]:
    return [first.merged(second) for first, second in zip(rows[::2], rows[1::2], strict=True)]


class MetricStore:
    """Metrics by step; steps that a resumed run repeats replace the earlier ones."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.total = 0
        self.latest: dict[str, float | None] = {}
        self.previous: dict[str, float | None] = {}
        self._names: dict[str, None] = {}
        self._pace: deque[tuple[int, float]] = deque(maxlen=_PACE_STEPS)
        self._cache: dict[int, list[Row]] = {}

    def add(self, record: dict[str, Any]) -> None:
        """Add a line of metrics.jsonl; rows of this step and later ones are replaced."""
        if isinstance(record.get("step"), bool) or not isinstance(record.get("step"), int):
            return
        step, time = as_int(record["step"]), as_float(record.get("time"))
        values = as_floats(record)
        values.pop("step", None)
        values.pop("time", None)
        if len(self._names) < MAX_NAMES:
            self._names.update(dict.fromkeys(values))
        # A run that was resumed goes back to its checkpoint: what came after that is another line of history.
        while self.rows and self.rows[-1].step >= step:
            self.total -= self.rows.pop().count
        if self._pace and self._pace[-1][0] >= step:
            self._pace.clear()
        if time is not None:
            self._pace.append((step, time))
        self.rows.append(Row(step, time, values))
        self.total += 1
        self._cache.clear()
        self.previous = {name: self.latest.get(name) for name in values}
        self.latest = {**values}
        # The older half alone, so that the newest steps stay as they were measured, in a run of any length.
        if len(self.rows) > MAX_ROWS:
            half = MAX_ROWS // 2
            self.rows[:half] = _merged_pairs(self.rows[:half])

    def seconds_per_step(self) -> float | None:
        """Return the mean duration of the newest steps; None if unknown."""
        if len(self._pace) < 2:
            return None
        (first, begin), (last, end) = self._pace[0], self._pace[-1]
        if end <= begin:  # a clock that was set back
            return None
        return (end - begin) / (last - first)

    def _merge_rows(self, max_points: int) -> list[Row]:
        rows = self.rows
        while len(rows) > max_points:
            even = len(rows) // 2 * 2  # of an odd number the last row stays as it is
            rows = _merged_pairs(rows[:even]) + rows[even:]
        return rows

    def series(self, names: list[str] | None, max_points: int, full_step: float | None = None) -> Series:
        """Return columns of at most `max_points` rows; of all metrics if `names` is None.

        `full_step` is how many transitions a step is to collect.
        """
        chosen = list(self._names)
        if names is not None:
            chosen = [name for name in names if name in self._names]
        # All viewers of a run ask for the same points: rows are merged for the first of them.
        if max_points not in self._cache:
            if len(self._cache) >= _MAX_CACHED_SIZES:
                self._cache.clear()
            self._cache[max_points] = self._merge_rows(max_points)
        rows = self._cache[max_points]
        # A step that a time limit ends counts fewer transitions: on a chart it would look like a fall of everything.
        newest = self.latest.get("transitions")
        partial = full_step is not None and newest is not None and newest < full_step
        values, low, high = {}, {}, {}
        for name in chosen:
            values[name] = [row.mean.get(name) for row in rows]
            low[name] = [row.low.get(name) for row in rows]
            high[name] = [row.high.get(name) for row in rows]
        return {
            "names": list(self._names),
            "steps": [row.step for row in rows],
            "times": [row.time for row in rows],
            "values": values,
            "low": low,
            "high": high,
            "total": self.total,
            "thinned": len(rows) < self.total,
            "partial": partial,
        }
