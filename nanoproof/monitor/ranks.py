"""The present state of the ranks of a run, from their status files."""

import re
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, Literal, get_args

from nanoproof.actors.live_tree import ASKED_SECONDS, live_file, watch_file
from nanoproof.actors.state_questions import answer_file, question_file
from nanoproof.common.files import atomic_write, json_line
from nanoproof.monitor import tail
from nanoproof.monitor.record_schema import LiveSearch, Outcome, StateAnswer
from nanoproof.monitor.records import load_live, to_sample, to_tree
from nanoproof.monitor.schema import Actor, Event, Gpu, Host, LeanServer, RankActors, RankStatus, Remote

STALE_SECONDS = 10.0
"""A rank writes its status once a second."""
MAX_RANKS = 1024
MAX_ACTORS = 4096
MAX_HOSTS = 1000
MAX_GONE = 50
_FILE = re.compile(r"status_r(\d{1,6})\.json")
_STATUS_BYTES = 8 << 20


class RankStore:
    """The newest status of each rank; a file is read again when it has changed."""

    def __init__(self, run_path: Path) -> None:
        self._path = Path(run_path)
        self._stamps: dict[int, tail.Stamp] = {}
        self.statuses: dict[int, dict[str, Any]] = {}

    def poll(self) -> None:
        """Read the status files that have changed."""
        files: dict[int, Path] = {}
        for file in self._path.glob("status_r*.json"):
            match = _FILE.fullmatch(file.name)
            if match:
                files[int(match[1])] = file
        for rank in self.statuses.keys() - files.keys():
            del self.statuses[rank]
            self._stamps.pop(rank, None)
        for rank in sorted(files)[:MAX_RANKS]:
            stamp = tail.file_stamp(files[rank])
            if stamp is None or self._stamps.get(rank) == stamp:
                continue
            status = tail.read_object(files[rank], _STATUS_BYTES)
            self._stamps[rank] = stamp
            self.statuses.pop(rank, None)
            if status is not None:
                self.statuses[rank] = status
        self.statuses = dict(sorted(self.statuses.items()))

    def is_live(self, rank: int, now: float) -> bool:
        """Return whether a rank wrote its status within STALE_SECONDS and has not stopped."""
        status = self.statuses.get(rank, {"phase": "stopped"})
        return status.get("phase") != "stopped" and self.age(rank, now) < STALE_SECONDS

    def answering(self, now: float) -> int | None:
        """Return the first live rank with actors, and so with a policy; None if there is none."""
        for rank, status in self.statuses.items():
            if self.is_live(rank, now) and status.get("actors"):
                return rank
        return None

    def age(self, rank: int, now: float) -> float:
        """Return the seconds since a rank wrote its status."""
        return max(0.0, round(now - (tail.as_float(self.statuses[rank].get("time")) or 0.0), 1))

    def rank_statuses(self, now: float) -> list[RankStatus]:
        """Return the status of each rank."""
        rows: list[RankStatus] = []
        for rank, status in self.statuses.items():
            row: RankStatus = {
                "rank": rank,
                "live": self.is_live(rank, now),
                "age": self.age(rank, now),
                "phase": tail.as_text(status.get("phase")),
                "step": tail.as_optional_int(status.get("step")),
                "pid": tail.as_optional_int(status.get("pid")),
                "memory": tail.as_float(status.get("memory")),
                "gpu": _to_gpu(tail.as_dict(status.get("gpu"))),
                "actors": _state_counts(status),
            }
            rows.append(row)
        return rows

    def actors(self, now: float, most: int) -> list[RankActors]:
        """Return the actors of each rank, at most `most` in all."""
        most_of_rank = max(1, most // max(1, len(self.statuses)))
        ranks: list[RankActors] = []
        for rank, status in self.statuses.items():
            actors = tail.as_dicts(status.get("actors"))
            row: RankActors = {
                "rank": rank,
                "live": self.is_live(rank, now),
                "age": self.age(rank, now),
                "phase": tail.as_text(status.get("phase")),
                "actors": list(map(_to_actor, actors[:most_of_rank])),
                "total": len(actors),
                "states": _state_counts(status),
                "seconds": _state_seconds(actors),
            }
            ranks.append(row)
        return ranks

    def _live_or_all(self, now: float) -> list[dict[str, Any]]:
        """Return the statuses of live ranks, or all if none is live: an earlier part of a run may have had more."""
        live = [status for rank, status in self.statuses.items() if self.is_live(rank, now)]
        return live or list(self.statuses.values())

    def servers(self, events: dict[str, str], now: float) -> list[LeanServer]:
        """Return the Lean servers that actors hold processes of, and those that events name."""
        counts, away = Counter[str](), Counter[str]()
        states: dict[str, str] = {}
        for status in self._live_or_all(now):
            for actor in tail.as_dicts(status.get("actors")):
                counts[tail.as_text(actor.get("server"))] += 1
                away[tail.as_text(actor.get("server"))] += actor.get("state") == "error"
            for server in tail.as_dicts(status.get("servers")):
                states[tail.as_text(server.get("address"))] = tail.as_text(server.get("state"))
        servers: list[LeanServer] = []
        for name in sorted({*counts, *states, *events} - {""})[:1000]:
            state = states.get(name)
            if not state:
                # Who holds its processes knows it best. An event may be older than its return.
                state = "down" if away[name] and away[name] == counts[name] else events.get(name, "up")
            servers.append({"address": name, "actors": counts[name], "errors": away[name], "state": state})
        return servers

    def hosts(self, events: dict[str, Event], now: float) -> list[Host]:
        """Return the hosts that status files tell of, then those that events say are gone."""
        hosts: dict[str, Host] = {}
        for status in self._live_or_all(now):
            for record in tail.as_dicts(status.get("hosts"))[:MAX_HOSTS]:
                name = tail.as_text(record.get("host"), 300)
                hosts[name] = {
                    "name": name,
                    "state": "up",
                    "since": None,
                    "size": tail.as_int(record.get("size")),
                    "under_way": tail.as_int(record.get("under_way")),
                    "attempts": tail.as_int(record.get("attempts")),
                    "attempts_per_minute": tail.as_float(record.get("attempts_per_minute")) or 0.0,
                    "given_again": tail.as_int(record.get("given_again")),
                    "servers": _servers_of(status, name),
                    "reason": "",
                }
                if name in events:
                    hosts[name]["since"] = events[name]["time"]
        gone = [event for name, event in events.items() if name not in hosts and event["fields"].get("state") == "gone"]
        gone.sort(key=lambda event: -event["time"])
        return [*hosts.values(), *map(_gone, gone[:MAX_GONE])]

    def remote(self, now: float) -> Remote | None:
        """Return what became of attempts that are made elsewhere; None if they are not."""
        records = [tail.as_dict(status.get("remote")) for status in self._live_or_all(now) if status.get("remote")]
        if not records:
            return None
        remote: Remote = {"attempts": 0, "stale": 0, "given_again": 0, "revision": 0}
        for counts in records:
            remote["attempts"] += tail.as_int(counts.get("attempts"))
            remote["stale"] += tail.as_int(counts.get("stale"))
            remote["given_again"] += tail.as_int(counts.get("given_again"))
            remote["revision"] = max(remote["revision"], tail.as_int(counts.get("revision")))
        return remote


def _servers_of(status: dict[str, Any], host: str) -> list[str]:
    """Return the Lean servers of a host, with their state where that is not up."""
    servers = [server for server in tail.as_dicts(status.get("servers")) if server.get("host") == host]
    lines: list[str] = []
    for server in servers[:20]:
        address, state = tail.as_text(server.get("address"), 300), tail.as_text(server.get("state"), 50)
        lines.append(address if state in ("", "up") else f"{address} {state}")
    return lines


def _gone(event: Event) -> Host:
    return {
        "name": tail.as_text(event["fields"].get("host"), 300),
        "state": "gone",
        "since": event["time"],
        "size": 0,
        "under_way": 0,
        "attempts": 0,
        "attempts_per_minute": 0.0,
        "given_again": tail.as_int(event["fields"].get("given_again")),
        "servers": [],
        "reason": tail.as_text(event["fields"].get("reason"), 300),
    }


def _state_counts(status: dict[str, Any]) -> dict[str, int]:
    """Return how many actors of a rank are in each state."""
    return dict(Counter(tail.as_text(actor.get("state")) or "idle" for actor in tail.as_dicts(status.get("actors"))))


def _state_seconds(actors: list[dict[str, Any]]) -> dict[str, float]:
    """Return the seconds that actors have spent in each state."""
    sums: dict[str, float] = {}
    for actor in actors:
        for state, seconds in tail.as_floats(actor.get("seconds")).items():
            sums[state] = sums.get(state, 0.0) + seconds
    return sums


def _to_actor(record: dict[str, Any]) -> Actor:
    return {
        "actor": tail.as_int(record.get("actor")),
        "state": tail.as_text(record.get("state")) or "idle",
        "theorem": tail.as_text(record.get("theorem"), 500),
        "simulations": tail.as_int(record.get("simulations")),
        "budget": tail.as_optional_int(record.get("budget")),
        "server": tail.as_text(record.get("server"), 300),
        "state_seconds": tail.as_float(record.get("state_seconds")),
        "seconds": tail.as_floats(record.get("seconds")),
    }


def _to_gpu(data: dict[str, Any]) -> Gpu | None:
    if not data:
        return None
    return {
        "name": tail.as_text(data.get("name")),
        "utilization": tail.as_float(data.get("utilization")),
        "memory": tail.as_float(data.get("memory")),
        "memory_total": tail.as_float(data.get("memory_total")),
    }


# -- The search of an actor while it is under way --------------------------------------------------------------------

ASK_SECONDS = 1.0
"""A question is written anew as often as this while somebody looks."""


_SearchState = Literal["asked", "under way", "over", "taken", "elsewhere", "silent", "refused"]


class Watch:
    """Asks ranks for the search that one of their actors is at: one search of a rank at a time, the first comer's."""

    def __init__(self, run_path: Path) -> None:
        self._path = run_path
        self._lock = threading.Lock()
        self._watched: dict[int, tuple[int, float]] = {}
        """The actor of each rank, and when it was asked about last."""
        self._written: dict[int, tuple[int, int | None, float]] = {}
        self._read: dict[int, tuple[tuple[int, int], LiveSearch | None]] = {}

    def search(self, rank: int, actor: int, after: int | None, live: bool) -> LiveSearch:
        """Return the search of an actor; `after` is one that is over, and whose successor is wanted."""
        with self._lock:
            if not live:
                return _no_search(rank, actor, "silent")
            now = time.monotonic()
            # A rank shows one search at a time: who came first keeps it, until the page is closed and asks no more.
            watched, since = self._watched.get(rank, (actor, now))
            if watched != actor and now - since < ASKED_SECONDS:
                return {**_no_search(rank, actor, "taken"), "watched": watched}
            self._watched[rank] = actor, now
            try:
                self._ask(rank, actor, after, now)
            except OSError:
                return _no_search(rank, actor, "refused")
            shown = self._shown(rank)
            if shown is None or shown["actor"] != actor or (after is not None and after == shown["search"]):
                return _no_search(rank, actor, "asked")
            return shown

    def _ask(self, rank: int, actor: int, after: int | None, now: float) -> None:
        last = self._written.get(rank)
        if last is not None and last[:2] == (actor, after) and now - last[2] < ASK_SECONDS:
            return
        question = json_line({"actor": actor, "after": after}).encode()
        atomic_write(watch_file(self._path, rank), lambda file: file.write(question), sync=False)
        self._written[rank] = actor, after, now

    def _shown(self, rank: int) -> LiveSearch | None:
        file = live_file(self._path, rank)
        status = tail.file_stat(file)
        if status is None:
            return None
        # It is replaced as a whole, twice a second, and maybe by one of the same size: the inode tells.
        stamp = status.st_mtime_ns, status.st_ino
        if rank not in self._read or self._read[rank][0] != stamp:
            data = load_live(file)
            self._read[rank] = stamp, None if data is None else _to_search(rank, data)
        return self._read[rank][1]


# -- What the policy says at a state ---------------------------------------------------------------------------------

GIVEN_UP_SECONDS = 60.0
"""A question that is not answered in this time gives way to the next one: its page may be closed."""


class StateAsker:
    """Asks the policy of a live run about states, one at a time; several pages take turns."""

    def __init__(self, run_path: Path) -> None:
        self._path = run_path
        self._lock = threading.Lock()

    def ask(self, rank: int, id: str, state: str) -> StateAnswer:
        """Return the answer to the question of this `id`, which is put if it is not there yet. Raises OSError if the
        run's folder cannot be written."""
        with self._lock:
            answer = tail.read_object(answer_file(self._path, rank), _STATUS_BYTES) or {}
            if answer.get("id") == id:
                result = no_answer("answered", tail.as_text(answer.get("error"), 2000))
                if answer.get("sample") is not None:
                    result["sample"] = to_sample(tail.as_dict(answer["sample"]))
                return result
            question = question_file(self._path, rank)
            stat = tail.file_stat(question)
            if stat is not None and time.time() - stat.st_mtime < GIVEN_UP_SECONDS:
                is_mine = (tail.read_object(question, _STATUS_BYTES) or {}).get("id") == id
                return no_answer("asked" if is_mine else "taken")
            content = json_line({"id": id, "state": state}).encode("utf-8", "replace")
            # Whole or not at all, since the rank may look at any moment; nothing is lost if the machine goes down.
            atomic_write(question, lambda file: file.write(content), sync=False)
        return no_answer("asked")


def no_answer(
    state: Literal["asked", "taken", "answered", "silent"], error: str = "", command: str = ""
) -> StateAnswer:
    """Return an answer without what the policy says."""
    return {"state": state, "error": error, "sample": None, "command": command}


def _no_search(rank: int, actor: int, state: _SearchState) -> LiveSearch:
    return {
        "rank": rank,
        "actor": actor,
        "state": state,
        "watched": None,
        "search": None,
        "time": None,
        "theorem": "",
        "dataset": "",
        "purpose": "",
        "simulations": 0,
        "budget": None,
        "outcome": None,
        "message": "",
        "attempt": None,
        "nodes": 0,
        "tree": None,
    }


def _to_search(rank: int, shown: dict[str, Any]) -> LiveSearch:
    actor = tail.as_int(shown.get("actor"), -1)
    if shown.get("elsewhere") is True:
        return _no_search(rank, actor, "elsewhere")
    logged, outcome = tail.as_dict(shown.get("attempt")), shown.get("outcome")
    if outcome is not None and outcome not in get_args(Outcome):
        outcome = "error"
    search = _no_search(rank, actor, "under way" if outcome is None else "over")
    search.update(
        {
            "search": tail.as_optional_int(shown.get("search")),
            "time": tail.as_float(shown.get("time")),
            "theorem": tail.as_text(shown.get("theorem"), 500),
            "dataset": tail.as_text(shown.get("dataset"), 500),
            "purpose": tail.as_text(shown.get("purpose"), 50),
            "simulations": tail.as_int(shown.get("simulations")),
            "budget": tail.as_optional_int(shown.get("budget")),
            "outcome": outcome,
            "message": tail.as_text(shown.get("message"), 2000),
            "nodes": tail.as_int(shown.get("nodes")),
        }
    )
    if logged:
        name = {"step": tail.as_int(logged.get("step")), "seq": tail.as_int(logged.get("sequence"))}
        search["attempt"] = {**name, "tree": logged.get("tree") is True}  # type: ignore[typeddict-item]
    if shown.get("tree") is not None:
        search["tree"] = to_tree(shown["tree"])["tree"]
    return search
