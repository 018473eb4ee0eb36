"""What the ranks of a run are doing now, of their status files."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

from nanoproof.monitor.schema import Actor, Gpu, LeanServer, RankActors, RankStatus
from nanoproof.monitor.tail import file_stat, integer, mapping, numbers_of, read_object, real, text_of

STALE_SECONDS = 10.0
MAX_RANKS = 1024
MAX_ACTORS = 4096
_FILE = re.compile(r"status_r(\d{1,6})\.json")
_STATUS_BYTES = 8 << 20


class RankStore:
    """The newest status of each rank; a file is read again when it has changed."""

    def __init__(self, run_path: Path) -> None:
        self._path = Path(run_path)
        self._stamps: dict[int, tuple[int, int]] = {}
        self.statuses: dict[int, dict[str, Any]] = {}

    def poll(self) -> None:
        """Look at the files."""
        found = {
            int(match[1]): file for file in self._path.glob("status_r*.json") if (match := _FILE.fullmatch(file.name))
        }
        for rank in [rank for rank in self.statuses if rank not in found]:
            del self.statuses[rank]
            self._stamps.pop(rank, None)
        for rank in sorted(found)[:MAX_RANKS]:
            seen = file_stat(found[rank])
            if seen is None:
                continue
            stamp = (seen.st_mtime_ns, seen.st_size)
            if self._stamps.get(rank) == stamp:
                continue
            status = read_object(found[rank], _STATUS_BYTES)
            self._stamps[rank] = stamp
            if status is not None:
                self.statuses[rank] = status
            else:
                self.statuses.pop(rank, None)
        self.statuses = dict(sorted(self.statuses.items()))

    def live(self, rank: int, now: float) -> bool:
        """Whether a rank has said something within the last seconds, and not that it has stopped."""
        status = self.statuses.get(rank)
        return status is not None and self.age(rank, now) < STALE_SECONDS and status.get("phase") != "stopped"

    def age(self, rank: int, now: float) -> float:
        """How long ago a rank said something."""
        return max(0.0, round(now - (real(self.statuses[rank].get("time")) or 0.0), 1))

    def rank_statuses(self, now: float) -> list[RankStatus]:
        """What each rank is doing."""
        return [
            {
                "rank": rank,
                "live": self.live(rank, now),
                "age": self.age(rank, now),
                "phase": text_of(status.get("phase")),
                "step": _optional(status.get("step")),
                "pid": _optional(status.get("pid")),
                "memory": real(status.get("memory")),
                "gpu": _gpu(status.get("gpu")),
                "actors": _states(status),
            }
            for rank, status in self.statuses.items()
        ]

    def actors(self, now: float, most: int) -> list[RankActors]:
        """The actors of each rank, at most `most` in all."""
        each = max(1, most // max(1, len(self.statuses)))
        return [
            {
                "rank": rank,
                "live": self.live(rank, now),
                "age": self.age(rank, now),
                "phase": text_of(status.get("phase")),
                "actors": [_actor(one) for one in _actors(status)[:each]],
                "total": len(_actors(status)),
                "states": _states(status),
                "seconds": _seconds(status),
            }
            for rank, status in self.statuses.items()
        ]

    def _present(self, now: float) -> list[dict[str, Any]]:
        """The statuses of live ranks, or of all if none is live: an earlier part of the run may have had more ranks."""
        live = [status for rank, status in self.statuses.items() if self.live(rank, now)]
        return live or list(self.statuses.values())

    def servers(self, events: dict[str, str], now: float) -> list[LeanServer]:
        """The Lean servers that actors hold processes of, and those that events tell of."""
        statuses = self._present(now)
        actors = [one for status in statuses for one in _actors(status)]
        counts = Counter(text_of(one.get("server")) for one in actors)
        away = Counter(text_of(one.get("server")) for one in actors if one.get("state") == "error")
        said = {
            text_of(one.get("address")): text_of(one.get("state"))
            for status in statuses
            for one in (status.get("servers") if isinstance(status.get("servers"), list) else ())  # type: ignore[union-attr]
            if isinstance(one, dict)
        }
        names = sorted({*counts, *said, *events} - {""})[:1000]
        return [
            {
                "address": name,
                "actors": counts[name],
                "errors": away[name],
                "state": said.get(name)
                or ("down" if away[name] and away[name] == counts[name] else events.get(name, "up")),
            }
            for name in names
        ]


def _optional(value: Any) -> int | None:
    return None if real(value) is None else integer(value)


def _actors(status: dict[str, Any]) -> list[dict[str, Any]]:
    actors = status.get("actors")
    return [one for one in actors if isinstance(one, dict)] if isinstance(actors, list) else []


def _states(status: dict[str, Any]) -> dict[str, int]:
    """How many actors of a rank are in each state."""
    return dict(Counter(text_of(actor.get("state")) or "idle" for actor in _actors(status)))


def _seconds(status: dict[str, Any]) -> dict[str, float]:
    """What the actors of a rank have spent in each state."""
    sums: dict[str, float] = {}
    for actor in _actors(status):
        for state, seconds in numbers_of(actor.get("seconds")).items():
            sums[state] = sums.get(state, 0.0) + seconds
    return sums


def _actor(record: dict[str, Any]) -> Actor:
    return {
        "actor": integer(record.get("actor")),
        "state": text_of(record.get("state")) or "idle",
        "theorem": text_of(record.get("theorem"), 500),
        "simulations": integer(record.get("simulations")),
        "budget": _optional(record.get("budget")),
        "server": text_of(record.get("server"), 300),
        "state_seconds": real(record.get("state_seconds")),
        "seconds": numbers_of(record.get("seconds")),
    }


def _gpu(value: Any) -> Gpu | None:
    data = mapping(value)
    if not data:
        return None
    return {
        "name": text_of(data.get("name")),
        "utilization": real(data.get("utilization")),
        "memory": real(data.get("memory")),
        "memory_total": real(data.get("memory_total")),
    }
