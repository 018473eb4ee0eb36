"""The Prometheus metrics of a Lean server."""

from prometheus_client import CollectorRegistry, Counter, Histogram

_TACTIC_BUCKETS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


class Metrics:
    """The counters of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = self._counter("requests", "HTTP requests answered, by route and status.", "route", "status")
        self.tactics = self._counter("tactics", "Tactics tried, by how they ended.", "outcome")
        self.tactic_seconds = Histogram(
            "nanoproof_lean_tactic_seconds",
            "Seconds that a tactic took, refused ones included.",
            buckets=_TACTIC_BUCKETS,
            registry=self.registry,
        )
        self.starts = self._counter("starts", "Lean processes started, by how it went.", "outcome")
        self.ends = self._counter("restarts", "Lean processes that ended or were replaced, by reason.", "reason")
        self.leases = self._counter("leases", "Events in the life of leases.", "event")

    def _counter(self, name: str, help: str, *labels: str) -> Counter:
        return Counter(f"nanoproof_lean_{name}_total", help, labels, registry=self.registry)

    def tactic(self, outcome: str, seconds: float) -> None:
        """Count one tactic."""
        self.tactics.labels(outcome).inc()
        self.tactic_seconds.observe(seconds)
