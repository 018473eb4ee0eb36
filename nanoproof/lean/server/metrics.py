"""What a server counts, and how it is written for Prometheus (text exposition format 0.0.4)."""

import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_TACTIC_BUCKETS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Gauge:
    """Values at this moment: one for each set of labels."""

    name: str
    help: str
    values: Mapping[Labels, float]

    def lines(self) -> Iterator[str]:
        """The metric as Prometheus reads it."""
        yield from _head(self.name, self.help, "gauge")
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


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self.requests = Counter(
            "nanoproof_lean_requests_total", "HTTP requests answered, by route and status.", ("route", "status")
        )
        self.tactics = Counter("nanoproof_lean_tactics_total", "Tactics tried, by how they ended.", ("outcome",))
        self.starts = Counter("nanoproof_lean_starts_total", "Lean processes started, by how it went.", ("outcome",))
        self.ends = Counter(
            "nanoproof_lean_restarts_total", "Lean processes that ended or were replaced, by reason.", ("reason",)
        )
        self.leases = Counter("nanoproof_lean_leases_total", "Events in the life of leases.", ("event",))
        self.tactic_seconds = Histogram(
            "nanoproof_lean_tactic_seconds", "Seconds that a tactic took, refused ones included.", _TACTIC_BUCKETS
        )

    def tactic(self, outcome: str, seconds: float) -> None:
        """Count one tactic."""
        self.tactics.add(outcome)
        self.tactic_seconds.observe(seconds)

    def render(self, gauges: Iterable[Gauge]) -> str:
        """All metrics as one text."""
        metrics: list[Counter | Histogram | Gauge] = [self.requests, self.tactics, self.tactic_seconds]
        metrics += [self.starts, self.ends, self.leases, *gauges]
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
