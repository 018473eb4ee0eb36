"""What a server says about itself: `/status` for people and clients, gauges for `/metrics`."""

import os
import platform
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil
from prometheus_client import Counter
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from nanoproof.common.errors import UserError
from nanoproof.lean.project.layout import EMBEDDED_LEAN, lean_version
from nanoproof.lean.server.pool import Pool
from nanoproof.lean.server.settings import ServerSettings

_STATES = ("available", "used", "starting", "stopping")


def status(settings: ServerSettings, pool: Pool, active_requests: list[dict[str, Any]]) -> dict[str, Any]:
    """The answer to `GET /status`: the fields of LeanTree servers, and ours."""
    counts, processes = pool.census()
    metrics = pool.metrics
    memory = psutil.virtual_memory()
    ram = {"total_bytes": memory.total, "available_bytes": memory.available, "used_bytes": memory.used}
    return {
        **counts,
        "processes": [
            {
                "pid": process.pid,
                "state": state,
                "resident_bytes": process.resident_bytes(),
                "uses": process.uses,
                "soft_limits": process.limits.names,
            }
            for process, state in processes
        ],
        "totals": {"starts": _by(metrics.starts), "leases": _by(metrics.leases), "restarts": _by(metrics.ends)},
        "backend": settings.backend,
        "imports": list(settings.imports),
        "versions": versions(settings),
        "lease_seconds": settings.lease_seconds,
        "active_requests": active_requests,
        "cpu_percent_per_core": psutil.cpu_percent(percpu=True),
        "ram": {**ram, "percent": memory.percent},
    }


def versions(settings: ServerSettings) -> dict[str, str | None]:
    """Versions of what runs here; Lean's is None where it is not known."""
    try:
        ours = version("nanoproof")
    except PackageNotFoundError:
        ours = "unknown"
    return {"nanoproof": ours, "python": platform.python_version(), "lean": _lean_version(settings)}


class Gauges(Collector):
    """What is the case at the moment of a scrape."""

    def __init__(
        self, settings: ServerSettings, pool: Pool, active_requests: Callable[[], list[dict[str, Any]]]
    ) -> None:
        self._settings, self._pool, self._active_requests = settings, pool, active_requests

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Take the census of the pool and yield each gauge."""
        counts, processes = self._pool.census()
        resident = dict.fromkeys(_STATES, 0)
        largest = 0
        for process, state in processes:
            size = process.resident_bytes()
            resident[state] += size
            largest = max(largest, size)
        own = psutil.Process(os.getpid())
        yield _by_state("processes", "Lean processes, by state.", {s: counts[f"{s}_processes"] for s in _STATES})
        yield _by_state("resident_bytes", "Unshared resident memory of Lean processes, by state.", resident)
        yield _single("largest_resident_bytes", "Unshared resident memory of the largest Lean process.", largest)
        most = self._settings.max_processes
        yield _single("processes_max", "How many Lean processes may be leased at the same time.", most)
        yield _single("queue_length", "Callers that wait for a free Lean process.", counts["waiting_requests"])
        yield _single("active_requests", "HTTP requests under way.", len(self._active_requests()))
        yield _single("ready", "1 if the server can serve.", counts["ready"])
        yield _single("server_resident_bytes", "Resident memory of the server itself.", own.memory_info().rss)
        yield _single("start_time_seconds", "When the server started, in seconds since 1970.", own.create_time())
        build = {"backend": self._settings.backend, **versions(self._settings)}
        info = GaugeMetricFamily("nanoproof_lean_build_info", "What runs here, as labels.", labels=list(build))
        info.add_metric([text or "" for text in build.values()], 1)
        yield info


def _by(counter: Counter) -> dict[str, int]:
    """How often a counter with one label was raised, by the label's values."""
    return {
        value: int(sample.value)
        for family in counter.collect()
        for sample in family.samples
        for value in sample.labels.values()
    }


def _single(name: str, help: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"nanoproof_lean_{name}", help, value)


def _by_state(name: str, help: str, values: dict[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"nanoproof_lean_{name}", help, labels=["state"])
    for state, value in values.items():
        family.add_metric([state], value)
    return family


def _lean_version(settings: ServerSettings) -> str | None:
    """The version that the project's `lean-toolchain` names, such as v4.27.0; whitelists go by it."""
    if settings.backend == "nanolean":
        return EMBEDDED_LEAN
    try:
        return lean_version(Path(settings.project_path).expanduser()) if settings.project_path else None
    except UserError:
        return None
