"""What ranks say of themselves, their actors and the Lean servers; ranks that are gone say nothing any more."""

import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nanoproof.actors.live_tree import live_file
from nanoproof.prover.attempt_log import AttemptLog
from tests.monitor.conftest import Asker, attempt, lines

Look = Callable[..., Asker]


def write_status(path: Path, rank: int, actors: list[dict[str, Any]], age: float = 0.0, **more: Any) -> None:
    status = {"rank": rank, "time": time.time() - age, "phase": "collect", "actors": actors, **more}
    (path / f"status_r{rank}.json").write_text(json.dumps(status))


def servers(asker: Asker) -> list[tuple[str, str, int]]:
    """Address, state and actors of each."""
    return [(one["address"], one["state"], one["actors"]) for one in asker.get("/api/overview")["servers"]]


def test_all_actors_are_counted_though_few_are_listed(look: Look, tmp_path: Path) -> None:
    states = ["lean"] * 6 + ["model"] * 3
    actors = [{"actor": n, "state": state, "seconds": {"lean": 2.0, "idle": 0.5}} for n, state in enumerate(states)]
    for rank in (0, 1):
        write_status(tmp_path, rank, actors)
    for rank in look(tmp_path).current.reader.actors(most=4)["ranks"]:
        assert (len(rank["actors"]), rank["total"]) == (2, 9)
        assert rank["states"] == {"lean": 6, "model": 3} and rank["seconds"] == {"lean": 18.0, "idle": 4.5}


def test_a_search_that_is_over_leads_to_its_attempt_as_soon_as_that_is_found(look: Look, tmp_path: Path) -> None:
    write_status(tmp_path, 0, [{"actor": 3}])
    search = {"actor": 3, "search": 8, "outcome": "unproven", "attempt": {"step": 0, "sequence": 7, "tree": True}}
    live_file(tmp_path, 0).write_bytes(gzip.compress(json.dumps(search).encode()))
    asker = look(tmp_path)
    assert asker.get("/api/actors/0/3/tree")["attempt"] is None
    log = AttemptLog(tmp_path, 0)
    log.write(attempt(7))
    log.close()
    found = asker.get("/api/actors/0/3/tree")
    assert (found["state"], found["attempt"]) == ("over", {"step": 0, "seq": 7, "tree": True})


def test_ranks_of_an_earlier_part_say_nothing_of_the_servers(look: Look, tmp_path: Path) -> None:
    here = {"actor": 0, "state": "lean", "server": "a:1"}
    write_status(tmp_path, 0, [here], servers=[{"address": "a:1", "state": "up"}])
    gone = [here, {"actor": 1, "state": "error", "server": "b:1"}]
    write_status(tmp_path, 1, gone, age=1000.0, servers=[{"address": "a:1", "state": "down"}])
    asker = look(tmp_path)
    assert servers(asker) == [("a:1", "up", 1)]
    write_status(tmp_path, 0, [here], age=1000.0, servers=[{"address": "a:1", "state": "up"}])
    assert servers(asker) == [("a:1", "down", 2), ("b:1", "down", 1)]  # the run is over: that is how it ended


def test_servers_that_events_tell_of_are_those_since_the_run_was_resumed(look: Look, tmp_path: Path) -> None:
    def said(moment: float, address: str, state: str) -> dict[str, Any]:
        return {"kind": "server", "time": moment, "address": address, "state": state}

    resumed = {"kind": "resumed", "time": 2.0, "step": 5}
    last = [said(3.0, "new:1", "down"), said(3.0, "all", "gone")]
    (tmp_path / "events.jsonl").write_text(lines(said(1.0, "old:1", "down"), resumed, *last))
    (tmp_path / "events_r1.jsonl").write_text(lines(said(1.0, "old:2", "down"), said(3.0, "other:1", "up")))
    assert servers(look(tmp_path)) == [("new:1", "down", 0), ("other:1", "up", 0)]


def test_hosts_that_work_and_hosts_that_are_gone_are_told_apart(look: Callable[..., Asker], tmp_path: Path) -> None:
    joined = {"kind": "host", "state": "joined", "slots": 2}
    events = [
        {**joined, "time": 10.0, "host": "10.0.0.1 a"},
        {**joined, "time": 11.0, "host": "10.0.0.2 b"},
        {"kind": "host", "state": "gone", "time": 12.0, "host": "10.0.0.2 b", "given_again": 3, "reason": "killed"},
        {"kind": "host", "state": "gone", "time": 13.0, "host": "10.0.0.1 a", "given_again": 1, "reason": "left"},
        {**joined, "time": 14.0, "host": "10.0.0.1 a"},
    ]
    (tmp_path / "events.jsonl").write_text(lines(*events))
    host = {"host": "10.0.0.1 a", "size": 2, "under_way": 1, "attempts": 30, "attempts_per_minute": 4.5}
    servers = [
        {"address": "h:1", "state": "up", "host": "10.0.0.1 a"},
        {"address": "h:2", "state": "down", "host": "10.0.0.1 a"},
    ]
    counts = {"attempts": 37, "stale": 2, "given_again": 4, "revision": 9}
    write_status(tmp_path, 0, [], hosts=[{**host, "given_again": 0}, "torn"], servers=servers, remote=counts)
    overview = look(tmp_path).get("/api/overview")
    up, gone = overview["hosts"]
    assert (up["name"], up["state"], up["since"], up["attempts_per_minute"]) == ("10.0.0.1 a", "up", 14.0, 4.5)
    assert up["servers"] == ["h:1", "h:2 down"]
    assert (gone["name"], gone["state"], gone["reason"], gone["given_again"]) == ("10.0.0.2 b", "gone", "killed", 3)
    assert overview["remote"] == counts
    assert overview["events"][1]["text"] == "10.0.0.1 a is gone, 1 attempts go to others: left"
