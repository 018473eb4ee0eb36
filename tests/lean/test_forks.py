"""REPL processes that are forks of one: each its own, with the limits of started ones, and gone with their parent."""

import os
import signal
import sys
from collections.abc import Iterator

import psutil
import pytest

from nanoproof.lean.server.forks import ForkServer, can_fork
from nanoproof.lean.server.repl_process import ReplDied, ReplProcess, ReplTimeout
from tests.helpers import wait_for

pytestmark = pytest.mark.skipif(not can_fork(), reason="forks are used on Linux")
COMMAND = (sys.executable, "-m", "nanolean", "repl", "--forks")
HOLDS = {"cmd": "theorem t (a b : Nat) (h : a = b) : a + 0 = b := by\n  sorry"}
LONG = {"cmd": "theorem u : 2 ^ 4000 % 7 = 2 ^ 4000 % 7 := by\n" + "  skip\n" * 200_000 + "  rfl"}


@pytest.fixture(scope="module")
def shared() -> Iterator[ForkServer]:
    """The limit of address space is that of a fork: the stack of half a gigabyte has to fit."""
    server = ForkServer(COMMAND, 4 << 30)
    yield server
    server.close()


def fork(server: ForkServer) -> ReplProcess:
    return ReplProcess((), forked=server.fork(60.0))


def test_forks_answer_and_know_nothing_of_each_other(shared: ForkServer) -> None:
    first, second = fork(shared), fork(shared)
    try:
        assert first.pid != second.pid and os.getpgid(first.pid) == first.pid
        assert first.request(HOLDS, 20)["env"] == 0
        assert "Unknown" in second.request({"cmd": "#check t", "env": 0}, 20)["message"]
        step = first.request({"tactic": "grind", "proofState": 0}, 20)
        assert step["proofStatus"] == "Completed"
    finally:
        first.close()
        second.close()


def test_a_fork_that_is_killed_says_by_what_and_leaves_no_zombie(shared: ForkServer) -> None:
    process = fork(shared)
    os.kill(process.pid, signal.SIGTERM)
    with pytest.raises(ReplDied, match="exit status -15"):
        process.request(HOLDS, 20)
    assert not psutil.pid_exists(process.pid)


def test_a_fork_that_is_out_of_time_is_killed(shared: ForkServer) -> None:
    process = fork(shared)
    with pytest.raises(ReplTimeout):
        process.request(LONG, 0.05)
    assert not process.alive and not psutil.pid_exists(process.pid)


def test_the_limit_of_address_space_is_that_of_each_fork(shared: ForkServer) -> None:
    process = fork(shared)
    try:
        assert psutil.Process(process.pid).rlimit(psutil.RLIMIT_AS) == (4 << 30, 4 << 30)
    finally:
        process.close()


def test_forks_end_with_the_process_that_was_forked_and_another_one_is_started() -> None:
    server = ForkServer(COMMAND)
    process = fork(server)
    parent = psutil.Process(process.pid).parent()
    assert parent is not None
    parent.kill()
    wait_for(lambda: not process.alive)
    with pytest.raises(ReplDied, match="exit status -9"):
        process.request(HOLDS, 20)
    other = fork(server)
    assert other.request(HOLDS, 20)["env"] == 0
    server.close()
    wait_for(lambda: not psutil.pid_exists(other.pid))
    other.close()
    with pytest.raises(OSError, match="shutting down"):
        server.fork(5.0)


def test_a_command_that_forks_nothing_is_named_with_its_last_words() -> None:
    server = ForkServer((sys.executable, "-c", "import sys; sys.exit('no library here')"))
    with pytest.raises(OSError, match=r"exit status 1; its last words: no library here"):
        server.fork(20.0)
    server.close()
