"""Reads what a run has written about itself. Works the same while it runs and afterwards; missing files are empty."""

import json
import time
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_jsonl

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
            status["live"] = now - status.get("time", 0) < STALE_SECONDS and status.get("phase") != "stopped"
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
        file = self.path / name
        if not file.exists():
            return []
        try:
            return list(read_jsonl(file))
        except UserError:
            return []


def _last_per_step(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One record per step; after a resumed run a later record of a step replaces the earlier one."""
    return [record for _, record in sorted({record["step"]: record for record in records}.items())]


def _thin(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    stride = max(1, -(-len(records) // MAX_POINTS))
    return records[::-1][::stride][::-1]


def _read_json(file: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
