"""What a server counts, and how it is written for Prometheus (text exposition format 0.0.4)."""

import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Gauge:
    """Values at this moment, one for each set of labels; as a counter, of something that is counted elsewhere."""

    name: str
    help: str
    values: Mapping[Labels, float]
    kind: Literal["gauge", "counter"] = "gauge"

    def lines(self) -> Iterator[str]:
        """The metric as Prometheus reads it."""
        yield from _head(self.name, self.help, self.kind)
        for labels, value in self.values.items():
            yield _sample(self.name, labels, value)


class Counter:
    """A number that only grows, one for each combination of label values. Safe for several threads."""

    def __init__(self, name: str, help: str, labels: Sequence[str]) -> None:
        self.name = name
        self._help = help
        self._labels = tuple(labels)
        self._lock = threading.Lock()
        self._values: dict[tuple[str, ...], int] = {}

    def add(self, *values: str) -> None:
        """Count one event with these label values."""
        assert len(values) == len(self._labels)
        with self._lock:
            self._values[values] = self._values.get(values, 0) + 1

    def counts(self) -> dict[tuple[str, ...], int]:
        """What has been counted so far, by label values."""
        with self._lock:
            return dict(self._values)

    def lines(self) -> Iterator[str]:
        """The metric as Prometheus reads it."""
        yield from _head(self.name, self._help, "counter")
        for values, count in sorted(self.counts().items()):
            yield _sample(self.name, tuple(zip(self._labels, values)), count)


class Histogram:
    """How often a value fell below each of some bounds. Safe for several threads."""

    def __init__(self, name: str, help: str, bounds: Sequence[float]) -> None:
        self.name = name
        self._help = help
        self._bounds = tuple(bounds)
        self._lock = threading.Lock()
        self._counts = [0] * (len(self._bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        """Count one value."""
        with self._lock:
            self._counts[bisect_left(self._bounds, value)] += 1
            self._sum += value

    def lines(self) -> Iterator[str]:
        """The metric as Prometheus reads it: buckets are cumulative and the last one holds everything."""
        with self._lock:
            counts, total = list(self._counts), self._sum
        yield from _head(self.name, self._help, "histogram")
        below = 0
        for bound, count in zip((*map(_number, self._bounds), "+Inf"), counts):
            below += count
            yield _sample(f"{self.name}_bucket", (("le", bound),), below)
        yield _sample(f"{self.name}_sum", (), total)
        yield _sample(f"{self.name}_count", (), below)


def render(metrics: Iterable[Counter | Histogram | Gauge]) -> str:
    """All metrics as one text."""
    return "".join(f"{line}\n" for metric in metrics for line in metric.lines())


def _head(name: str, help: str, kind: str) -> Iterator[str]:
    yield f"# HELP {name} " + help.replace("\\", "\\\\").replace("\n", "\\n")
    yield f"# TYPE {name} {kind}"


def _sample(name: str, labels: Labels, value: float) -> str:
    pairs = ",".join(f'{key}="{_escape(text)}"' for key, text in labels)
    return f"{name}{{{pairs}}} {_number(value)}" if pairs else f"{name} {_number(value)}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
