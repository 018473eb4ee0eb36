"""What happened in a run: the newest events, and what follows from all of them."""

from collections import deque
from typing import Any

from nanoproof.monitor.schema import Event
from nanoproof.monitor.tail import integer, mapping, real, text_of

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
