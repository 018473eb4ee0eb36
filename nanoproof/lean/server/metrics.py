"""What a Lean server counts."""

from collections.abc import Iterable

from nanoproof.common.web.metrics import Counter, Gauge, Histogram, render

_TACTIC_BUCKETS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


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
        counted = (self.requests, self.tactics, self.tactic_seconds, self.starts, self.ends, self.leases)
        return render([*counted, *gauges])
