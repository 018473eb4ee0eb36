"""One REPL subprocess: answers, deadlines, and what happens when it misbehaves."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from nanoproof.lean.server.repl_process import ReplDied, ReplGarbage, ReplProcess, ReplTimeout
from tests.lean.conftest import AND, SCRIPT

START = {"cmd": "theorem t : p ∧ q := by sorry"}


@pytest.fixture
def process(scripted: Callable[[dict[str, Any]], tuple[str, ...]]) -> Iterator[ReplProcess]:
    started = ReplProcess(scripted(SCRIPT))
    yield started
    started.close()


def tactic(text: str) -> dict[str, Any]:
    return {"tactic": text, "proofState": 0}


def test_requests_are_answered_in_order(process: ReplProcess) -> None:
    assert process.request(START, 20)["sorries"][0]["goal"] == AND
    assert process.request(tactic("trivial"), 20)["proofStatus"] == "Completed"
    assert process.alive and process.resident_bytes() > 0


def test_requests_and_answers_larger_than_a_pipe(scripted: Callable[[dict[str, Any]], tuple[str, ...]]) -> None:
    goal = "⊢ " + "x" * 300_000
    process = ReplProcess(scripted({"theorems": {"theorem": goal}}))
    answer = process.request({"cmd": "theorem t : p := sorry -- " + "∀" * 300_000}, 20)
    process.close()
    assert answer["sorries"][0]["goal"] == goal


def test_no_answer_in_time_kills_the_process(process: ReplProcess) -> None:
    process.request(START, 20)
    with pytest.raises(ReplTimeout):
        process.request(tactic("hang"), 0.2)
    assert not process.alive
    assert not psutil.pid_exists(process.pid)


def test_a_crash_is_reported_with_status_and_last_words(process: ReplProcess) -> None:
    process.request(START, 20)
    with pytest.raises(ReplDied, match=r"exit status 7.*scripted process crashes"):
        process.request(tactic("crash"), 20)
    with pytest.raises(ReplDied):
        process.request(START, 20)


@pytest.mark.parametrize("behaviour", ["garbage", "chatter"])
def test_answers_out_of_step_kill_the_process(
    scripted: Callable[[dict[str, Any]], tuple[str, ...]], behaviour: str
) -> None:
    process = ReplProcess(scripted({"commands": {"theorem": {"do": behaviour}}}))
    with pytest.raises(ReplGarbage):
        process.request(START, 20)
    assert not process.alive


def test_a_program_that_cannot_run_says_so() -> None:
    process = ReplProcess(["/no/such/repl"])
    with pytest.raises(ReplDied, match="cannot run /no/such/repl"):
        process.request(START, 20)


def test_killing_ends_what_the_process_started() -> None:
    code = "import subprocess; c = subprocess.Popen(['sleep', '60'])\n"
    code += "print('{\"env\":', c.pid, '}\\n', flush=True); c.wait()"
    process = ReplProcess([sys.executable, "-c", code])
    child = process.request({"cmd": ""}, 20)["env"]
    process.close()
    deadline = time.monotonic() + 10
    while psutil.pid_exists(child) and psutil.Process(child).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_closing_leaves_no_open_files(scripted: Callable[[dict[str, Any]], tuple[str, ...]]) -> None:
    before = len(os.listdir("/dev/fd"))
    for _ in range(3):
        process = ReplProcess(scripted(SCRIPT))
        process.request(START, 20)
        process.close()
        process.close()
    assert len(os.listdir("/dev/fd")) <= before
