"""A search that is watched while it is under way: what is shown, to whom, and that the search does not notice."""

import gzip
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nanoproof.actors import live_tree
from nanoproof.actors.live_tree import LiveTree, live_file, watch_file
from nanoproof.monitor import ranks
from nanoproof.monitor.ranks import Watch
from nanoproof.prover.prover import NULL_ATTEMPT_OBSERVER
from nanoproof.rl.records import Trace, kept_trees
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import or_node
from nanoproof.search.search import search
from nanoproof.search.tree_json import tree_to_json
from tests.fakes.watched_run import watched_run
from tests.fakes.world import RandomLean, RandomPolicy, state


def an_actor(number: int = 3) -> Any:
    """What an actor shows, at its eighth attempt."""
    about = {"theorem": "t", "dataset": "random", "purpose": "collect", "budget": 12, "attempts": 8}
    return SimpleNamespace(
        number=number, viewer=None, root=None, search=SearchLog(), trace=NULL_ATTEMPT_OBSERVER, **about
    )


def ask(path: Path, actor: int, after: int | None = None) -> None:
    """As the monitor asks: a new file each time."""
    watch_file(path, 0).unlink(missing_ok=True)
    watch_file(path, 0).write_text(json.dumps({"actor": actor, "after": after}))


def shown(path: Path) -> Any:
    return json.loads(gzip.decompress(live_file(path, 0).read_bytes()))


def grow(actor: Any, should_stop: Callable[[], bool], simulations: int = 12) -> Any:
    actor.root, actor.search = or_node(state(0)), SearchLog()
    search(
        actor.root, RandomPolicy(1), RandomLean(1, 1000, 0.0), SearchConfig(), simulations, actor.search, should_stop
    )
    return tree_to_json(actor.root)


def test_each_snapshot_is_the_whole_tree_after_a_simulation_and_the_search_does_not_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_tree, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(live_tree, "SHARE", float("inf"))
    actor, live, seen = an_actor(), LiveTree(tmp_path, 0), []
    ask(tmp_path, 3)
    live.poll([an_actor(2), actor])

    def look() -> bool:
        live.between(actor)
        live.poll([actor])
        seen.append(shown(tmp_path))
        assert seen[-1]["tree"] == tree_to_json(actor.root)
        return False

    watched = grow(actor, look)
    assert watched == grow(an_actor(), lambda: False)
    assert [one["simulations"] for one in seen] == list(range(12))
    assert [len(one["tree"]["ends"]) for one in seen] == list(range(12))
    assert [one["nodes"] for one in seen] == [len(one["tree"]["kind"]) for one in seen]
    assert (seen[0]["nodes"], seen[-1]["search"], seen[-1]["budget"]) == (1, 8, 12)
    live.ended(actor, SimpleNamespace(outcome="unproven", message="no proof found"))  # type: ignore[arg-type]
    live.poll([actor])
    last = shown(tmp_path)
    assert (last["outcome"], last["tree"]) == ("unproven", watched)


def test_snapshots_take_a_bounded_share_of_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=100.0, used=0.0)
    times = {"monotonic": lambda: clock.now, "thread_time": lambda: clock.used, "time": lambda: clock.now}
    monkeypatch.setattr(live_tree, "time", SimpleNamespace(**times))
    taken = []

    def convert(root: Any) -> Any:
        taken.append(clock.now)
        clock.used += 0.06
        return {"kind": "o"}

    monkeypatch.setattr(live_tree, "tree_to_json", convert)
    actor, live = an_actor(), LiveTree(tmp_path, 0)
    actor.root = or_node(state(0))
    ask(tmp_path, 3)
    live.poll([actor])
    for _ in range(40):
        live.between(actor)
        clock.now += 0.125
    assert [round(moment - 100.0, 1) for moment in taken] == [0.0, 2.0, 4.0]  # 0.06 s are 3% of 2 s


def test_nothing_is_taken_or_written_unless_somebody_asks_and_nothing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(tmp_path, 3)  # of an earlier process
    actor, live = an_actor(), LiveTree(tmp_path, 0)
    live.poll([actor])
    assert actor.viewer is None and not live_file(tmp_path, 0).exists()
    ask(tmp_path, 3)
    live.poll([actor])
    assert actor.viewer is live
    actor.root = or_node(state(0))
    live.between(actor)
    live.poll([actor])
    assert shown(tmp_path)["nodes"] == 1
    monkeypatch.setattr(live_tree, "ASKED_SECONDS", -1.0)
    live.poll([actor])
    assert actor.viewer is None and list(tmp_path.iterdir()) == []


def test_a_search_that_is_over_stays_until_the_next_is_asked_for(tmp_path: Path) -> None:
    actor, live = an_actor(), LiveTree(tmp_path, 0)
    actor.root = or_node(state(0))
    ask(tmp_path, 3)
    live.poll([actor])
    live.ended(actor, SimpleNamespace(outcome="error", message="gone"))  # type: ignore[arg-type]
    live.poll([actor])
    actor.attempts = 9
    live.between(actor)
    live.poll([actor])
    assert (shown(tmp_path)["search"], shown(tmp_path)["outcome"]) == (8, "error")
    ask(tmp_path, 3, after=8)
    live.poll([actor])
    live._not_before = 0.0
    live.between(actor)
    live.poll([actor])
    assert (shown(tmp_path)["search"], shown(tmp_path)["outcome"]) == (9, None)


def test_an_attempt_is_named_only_where_its_search_is_still_shown(tmp_path: Path) -> None:
    actor, live = an_actor(), LiveTree(tmp_path, 0)
    actor.root, actor.trace = or_node(state(0)), Trace()
    ask(tmp_path, 3)
    live.poll([actor])
    live.ended(actor, SimpleNamespace(outcome="unproven", message=""))  # type: ignore[arg-type]
    for trace, named in ((Trace(), None), (actor.trace, {"step": 1, "sequence": 2, "tree": True})):
        live.logged(trace, 1, 2, tree=True)
        live.poll([actor])
        assert shown(tmp_path)["attempt"] == named


def test_a_tree_that_is_too_large_is_counted_and_one_in_another_process_is_said_to_be_elsewhere(tmp_path: Path) -> None:
    actor, live = an_actor(), LiveTree(tmp_path, 0)
    actor.root = or_node(state(0))
    actor.search.counts.nodes = live_tree.MAX_NODES + 1
    ask(tmp_path, 3)
    live.poll([actor])
    live.between(actor)
    live.poll([actor])
    assert (shown(tmp_path)["tree"], shown(tmp_path)["nodes"]) == (None, live_tree.MAX_NODES + 1)
    ask(tmp_path, 5)
    live.poll([actor, SimpleNamespace(number=5)])
    assert actor.viewer is None
    assert Watch(tmp_path).search(0, 5, None, live=True)["state"] == "elsewhere"


# -- With real actors, a recorder, and the monitor's side ------------------------------------------------------------


class Gate:
    """Lets Lean answer so many times."""

    def __init__(self) -> None:
        self.free, self.answers = False, threading.Semaphore(0)

    def __call__(self) -> None:
        while not self.free and not self.answers.acquire(timeout=0.02):
            pass


def until(
    watch: Watch, state: str, after: int | None = None, nodes: int = 0, each: Callable[[], object] = lambda: None
) -> Any:
    """Ask as a page does, until the answer is of this state and has a tree of so many nodes."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        answer = watch.search(0, 0, after, live=True)
        if answer["state"] in state.split(" or ") and answer["nodes"] >= nodes:
            return answer
        each()
        time.sleep(0.02)
    raise AssertionError(answer)


def test_a_search_is_watched_from_its_beginning_to_its_kept_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_tree, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(live_tree, "SHARE", float("inf"))
    monkeypatch.setattr(ranks, "ASK_SECONDS", 0.1)
    gate, watch = Gate(), Watch(tmp_path)
    with watched_run(tmp_path, gate, budget=6, actors=1) as pool:
        try:
            assert watch.search(0, 0, None, live=False)["state"] == "silent"
            assert pool.actors[0].viewer is None and not watch_file(tmp_path, 0).exists()
            until(watch, "asked")
            while pool.actors[0].viewer is None:
                until(watch, "asked")
                time.sleep(0.02)
            gate.answers.release()
            early = until(watch, "under way", nodes=2)
            other = watch.search(0, 1, None, live=True)
            assert (other["state"], other["watched"]) == ("taken", 0)
            gate.answers.release(3)
            later = until(watch, "under way", nodes=early["nodes"] + 1)
            assert (later["search"], later["budget"], later["theorem"]) == (early["search"], 6, early["theorem"])
            assert later["tree"]["states"][0] == "⊢ S0"
            over = until(watch, "over", each=gate.answers.release)
            while over["attempt"] is None:
                over = until(watch, "over")
            assert (over["outcome"], over["simulations"], len(over["tree"]["ends"])) == ("unproven", 6, 6)
            attempt = over["attempt"]
            assert attempt["tree"] and (attempt["step"], 0, attempt["seq"]) in kept_trees(tmp_path)
            following = until(watch, "under way or over", after=over["search"], each=gate.answers.release)
            assert following["search"] > over["search"]
        finally:
            gate.free = True
    assert not live_file(tmp_path, 0).exists() and not watch_file(tmp_path, 0).exists()
