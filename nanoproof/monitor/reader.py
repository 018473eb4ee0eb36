"""Reads what a run has written about itself. Works the same while it runs and afterwards.

Whoever watches must see what there is: missing files are empty, and a line that is torn or damaged hides no other.
"""

import json
import time
from pathlib import Path
from typing import Any

MAX_POINTS = 600
STALE_SECONDS = 10.0


class RunReader:
    """The state of one run directory as JSON data of bounded size."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path)

    def overview(self) -> dict[str, Any]:
        """Everything the page shows: who runs, metrics by step, evaluations, actors of all ranks."""
        ranks = [status for file in sorted(self.path.glob("status_r*.json")) if (status := _read_json(file))]
        now = time.time()
        for status in ranks:
            status["live"] = now - (status.get("time") or 0) < STALE_SECONDS and status.get("phase") != "stopped"
        events = self._records("events.jsonl")
        return {
            "run": self.path.name,
            "time": now,
            "ranks": ranks,
            "metrics": _thin(_last_per_step(self._records("metrics.jsonl"))),
            "evaluations": [event for event in events if event.get("kind") == "evaluation"][-200:],
            "checkpoints": [event.get("step") for event in events if event.get("kind") == "checkpoint"][-200:],
            "meta": _read_json(self.path / "meta.json") or {},
        }

    def _records(self, name: str) -> list[dict[str, Any]]:
        try:
            content = (self.path / name).read_bytes()
        except OSError:
            return []
        return [record for line in content.split(b"\n") if (record := _parse(line)) is not None]


def _last_per_step(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One record per step; after a resumed run a later record of a step replaces the earlier one."""
    by_step = {record["step"]: record for record in records if isinstance(record.get("step"), int)}
    return [record for _, record in sorted(by_step.items())]


def _thin(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    stride = max(1, -(-len(records) // MAX_POINTS))
    return records[::-1][::stride][::-1]


def _read_json(file: Path) -> dict[str, Any] | None:
    try:
        return _parse(file.read_bytes())
    except OSError:
        return None


def _parse(text: bytes) -> dict[str, Any] | None:
    """An object of JSON, None if it is no such thing. NaN and infinities, which browsers refuse, become null."""
    try:
        value = json.loads(text, parse_constant=lambda _: None)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
