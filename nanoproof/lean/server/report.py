"""What a server says about itself: `/status` for people and clients, gauges for `/metrics`."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

from nanoproof.common.errors import UserError
from nanoproof.common.web.metrics import Counter, Gauge, Labels
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


def gauges(settings: ServerSettings, pool: Pool, num_active: int) -> list[Gauge]:
    """What is the case at this moment, for Prometheus."""
    counts, processes = pool.census()
    known = versions(settings)
    build: Labels = (("backend", settings.backend), *((name, text or "") for name, text in known.items()))
    resident = dict.fromkeys(_STATES, 0)
    largest = 0
    for process, state in processes:
        size = process.resident_bytes()
        resident[state] += size
        largest = max(largest, size)
    own = psutil.Process(os.getpid())
    return [
        _by_state("processes", "Lean processes, by state.", {s: counts[f"{s}_processes"] for s in _STATES}),
        _by_state("resident_bytes", "Unshared resident memory of Lean processes, by state.", resident),
        _single("largest_resident_bytes", "Unshared resident memory of the largest Lean process.", largest),
        _single("processes_max", "How many Lean processes may be leased at the same time.", settings.max_processes),
        _single("queue_length", "Callers that wait for a free Lean process.", counts["waiting_requests"]),
        _single("active_requests", "HTTP requests under way.", num_active),
        _single("ready", "1 if the server can serve.", float(counts["ready"])),
        _single("server_resident_bytes", "Resident memory of the server itself.", own.memory_info().rss),
        _single("start_time_seconds", "When the server started, in seconds since 1970.", own.create_time()),
        Gauge("nanoproof_lean_build_info", "What runs here, as labels.", {build: 1}),
    ]


def _by(counter: Counter) -> dict[str, int]:
    return {values[0]: count for values, count in counter.counts().items()}


def _single(name: str, help: str, value: float) -> Gauge:
    return Gauge(f"nanoproof_lean_{name}", help, {(): value})


def _by_state(name: str, help: str, values: dict[str, int]) -> Gauge:
    return Gauge(f"nanoproof_lean_{name}", help, {(("state", state),): value for state, value in values.items()})


def _lean_version(settings: ServerSettings) -> str | None:
    """The version that the project's `lean-toolchain` names, such as v4.27.0; whitelists go by it."""
    if settings.backend == "nanolean":
        return EMBEDDED_LEAN
    try:
        return lean_version(Path(settings.project_path).expanduser()) if settings.project_path else None
    except UserError:
        return None
