"""Ranks that die, freeze, fail or get stuck are named; those that end in good order are not."""

import os
import signal
import subprocess
import threading
import time

import pytest
import torch
import torch.distributed as dist

from nanoproof.common import distributed, rank_watch
from nanoproof.common.distributed import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.common.rank_watch import RankLost, RankWatch
from tests.helpers import wait_for


@pytest.fixture
def store():
    return dist.HashStore()


def watch_of(store, rank, world_size=2, **options):
    info = DistInfo(rank, rank, world_size, torch.device("cpu"), "test", torch.float32, "test")
    return RankWatch(info, store, **{"silent_seconds": 30.0, "beat_seconds": 0.02, **options})


def message_of(watch):
    """What the watch says in the end."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            watch.check()
        except RankLost as lost:
            return str(lost)
        time.sleep(0.01)
    raise AssertionError("nothing was noticed")


def test_a_rank_that_ends_in_good_order_is_not_missed(store):
    with watch_of(store, 1):
        pass
    with watch_of(store, 0, silent_seconds=0.2) as watch:
        time.sleep(0.5)
        watch.check()


def test_a_silent_rank_is_named_with_its_last_place_and_how_to_go_on(store):
    with watch_of(store, 0, silent_seconds=0.2) as watch:
        watch.hint = lambda: "--resume-from rl/x"
        watch_of(store, 1)._publish("alive", "loop.py:7 in step")
        text = message_of(watch)
    assert text.startswith("rank 1 (process ") and "no sign of life for " in text
    assert text.endswith("it was at loop.py:7 in step; the run ends here, resume with --resume-from rl/x")


def test_a_dead_process_of_the_same_machine_is_noticed_at_once(store):
    process = subprocess.Popen(["true"])
    process.wait()
    with watch_of(store, 0) as watch:
        other = watch_of(store, 1)
        other._about["pid"] = process.pid
        other._beat()
        assert f"rank 1 (process {process.pid} on " in message_of(watch)


def test_the_error_of_another_rank_is_told(store):
    with watch_of(store, 0) as watch:
        with pytest.raises(UserError, match="the disk is full"), watch_of(store, 1):
            raise UserError("the disk is full")
        assert message_of(watch) == "rank 1 failed: the disk is full; the run ends here"


def test_a_collective_that_fails_with_a_rank_names_the_rank(store):
    with pytest.raises(RankLost, match="rank 1 failed: boom"), watch_of(store, 0):
        with pytest.raises(UserError), watch_of(store, 1):
            raise UserError("boom")
        raise RuntimeError("Connection closed by peer")


def test_an_error_of_our_own_stays_what_it_is(store):
    watch_of(store, 1)._beat()
    with pytest.raises(RuntimeError, match="our own"), watch_of(store, 0):
        raise RuntimeError("our own")


def test_a_rank_that_keeps_the_others_waiting_is_named(store):
    with watch_of(store, 0, stuck_seconds=0.1) as watch, watch_of(store, 1) as other:
        watch._main_thread = lambda: ("loop.py:9 in step", True)
        other._main_thread = lambda: ("mixing.py:3 in draw", False)
        text = message_of(watch)
        assert "rank 1 " in text and "keeps the others waiting for 0 s; it is at mixing.py:3 in draw" in text
        other.check()


def test_a_main_thread_in_a_collective_is_seen_there(store, monkeypatch):
    watch = watch_of(store, 0)
    assert watch._main_thread()[1] is False
    code = compile("def wait(go):\n    go()", "/site-packages/torch/distributed/c10d.py", "exec")
    scope: dict = {}
    exec(code, scope)
    inside, leave = threading.Event(), threading.Event()
    waiting = threading.Thread(target=scope["wait"], args=(lambda: (inside.set(), leave.wait(20)),))
    waiting.start()
    assert inside.wait(20)
    monkeypatch.setattr(watch, "_main", waiting)
    wait_for(lambda: watch._main_thread()[1])  # beside other processes the thread may not have come to its wait
    leave.set()
    waiting.join()


def test_a_main_thread_in_a_collective_of_ours_is_shown_where_it_was_called(store, monkeypatch):
    inside, leave = threading.Event(), threading.Event()
    monkeypatch.setattr(distributed.dist, "is_initialized", lambda: inside.set() or not leave.wait(20))
    path = os.path.join(rank_watch._PACKAGE, "rl", "loop.py")
    scope: dict = {}
    exec(compile("def step(collective):\n    collective()", path, "exec"), scope)
    waiting = threading.Thread(target=scope["step"], args=(distributed.barrier,))
    waiting.start()
    assert inside.wait(20)
    watch = watch_of(store, 0)
    monkeypatch.setattr(watch, "_main", waiting)
    wait_for(lambda: watch._main_thread() == (f"{os.path.join('rl', 'loop.py')}:2 in step", True))
    leave.set()
    waiting.join()


def test_a_main_thread_that_is_stuck_does_not_keep_the_process_alive(store, monkeypatch, capsys):
    codes = []
    monkeypatch.setattr(rank_watch, "GRACE_SECONDS", 0.1)
    monkeypatch.setattr(rank_watch.os, "_exit", codes.append)
    watch_of(store, 1)._publish("alive", "here")
    with watch_of(store, 0, silent_seconds=0.1):
        wait_for(lambda: codes)
    assert codes == [2]
    assert capsys.readouterr().err.count("error: rank 1 (process ") == 1


@pytest.fixture
def terminations():
    """The signals that ask this process to end, in place of its end."""
    heard = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    yield heard
    signal.signal(signal.SIGTERM, before)


def test_the_signal_that_a_launcher_sends_after_a_death_ends_nobody_who_has_to_tell_of_it(store, terminations):
    watch_of(store, 1)._publish("alive", "here")
    with watch_of(store, 0, silent_seconds=0.04, beat_seconds=0.2) as watch:
        os.kill(os.getpid(), signal.SIGTERM)
        assert "rank 1 (process " in message_of(watch)
    assert terminations == []


def test_a_signal_to_end_counts_while_all_ranks_live(store, terminations):
    with watch_of(store, 0):
        os.kill(os.getpid(), signal.SIGTERM)
    assert terminations == [signal.SIGTERM]


def test_a_rank_alone_watches_nobody():
    info = DistInfo(0, 0, 1, torch.device("cpu"), "test", torch.float32, "test")
    with RankWatch.connect(info) as watch:
        watch.check()
