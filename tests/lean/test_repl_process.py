"""One REPL subprocess: answers, deadlines, and what happens when it misbehaves."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import psutil
import pytest

from nanolean.tests.each import each
from nanoproof.common import launch
from nanoproof.lean.server.repl_process import ProcessTable, ReplDied, ReplGarbage, ReplProcess, ReplTimeout
from tests.helpers import is_gone, wait_for
from tests.lean.conftest import AND, SCRIPT

Script = Callable[[dict[str, Any]], tuple[str, ...]]
START = {"cmd": "theorem t : p ∧ q := by sorry"}


@pytest.fixture
def process(scripted: Script) -> Iterator[ReplProcess]:
    started = ReplProcess(scripted(SCRIPT))
    yield started
    started.close()


def tactic(text: str) -> dict[str, Any]:
    return {"tactic": text, "proofState": 0}


def test_requests_are_answered_in_order(process: ReplProcess) -> None:
    assert process.request(START, 20)["sorries"][0]["goal"] == AND
    assert process.request(tactic("trivial"), 20)["proofStatus"] == "Completed"
    assert process.alive and process.resident_bytes() > 0


def test_requests_and_answers_larger_than_a_pipe(scripted: Script) -> None:
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


def misbehaving(scripted: Script, behaviour: str, **options: Any) -> ReplProcess:
    return ReplProcess(scripted({"commands": {"theorem": {"do": behaviour}}}), **options)


@pytest.mark.parametrize("behaviour", ["garbage", "chatter"])
def test_answers_out_of_step_kill_the_process(scripted: Script, behaviour: str) -> None:
    process = misbehaving(scripted, behaviour)
    with pytest.raises(ReplGarbage):
        process.request(START, 20)
    assert not process.alive


def test_a_second_answer_that_comes_later_is_not_taken_for_the_next_one(scripted: Script) -> None:
    process = misbehaving(scripted, "late chatter")
    assert process.request(START, 20) == {"env": 0}
    time.sleep(0.5)
    with pytest.raises(ReplGarbage, match="nobody asked for"):
        process.request(START, 20)


def test_half_an_answer_is_quoted(scripted: Script) -> None:
    with pytest.raises(ReplDied, match=r"exit status 3, it wrote half an answer: .*messages"):
        misbehaving(scripted, "half").request(START, 20)
    process = misbehaving(scripted, "stall")
    process.request({"cmd": "def"}, 20)  # it has started
    with pytest.raises(ReplTimeout, match=r"not done after 1 s \(it wrote half an answer: .*messages"):
        process.request(START, 1)


def test_an_answer_without_an_end_is_cut_off(scripted: Script) -> None:
    with pytest.raises(ReplGarbage, match="an answer of more than 1000000 bytes"):
        misbehaving(scripted, "flood", max_answer_bytes=1_000_000).request(START, 20)


def test_a_process_that_fills_its_stderr_still_answers_and_its_last_words_are_kept(scripted: Script) -> None:
    process = misbehaving(scripted, "noise")
    assert process.request(START, 20) == {"env": 0}
    process.kill()
    with pytest.raises(ReplDied, match=r"noise the end of the noise$") as caught:
        process.request({"cmd": "def"}, 20)
    assert len(str(caught.value)) < 3000


def test_a_process_that_stops_reading_is_noticed(scripted: Script) -> None:
    process = misbehaving(scripted, "close input")
    assert process.request(START, 20) == {"env": 0}
    with pytest.raises(ReplDied, match="no longer reads requests"):
        process.request({"cmd": "def"}, 20)


@each(
    "answer",
    ["\xff\xfe\n\n", "[1]\n\n", '"OK"\n\n', "[" * 100_000 + "\n\n", '{"message": "\\ud800"}\n\n', '{"env": 0}}\n\n'],
)
def test_answers_that_are_no_objects_in_utf_8_are_garbage(scripted: Script, answer: str) -> None:
    process = ReplProcess(scripted({"commands": {"theorem": {"write": answer}}}))
    with pytest.raises(ReplGarbage, match="not "):
        process.request(START, 20)


def test_empty_lines_before_an_answer_and_pieces_of_it_are_put_together(scripted: Script) -> None:
    process = ReplProcess(scripted({"commands": {"theorem": {"write": '\n \n{"message":\n "\\ud835\\udd5c"}\n\n\n'}}}))
    assert process.request(START, 20) == {"message": "𝕜"}
    assert process.request({"cmd": "def"}, 20)["env"] == 1
    process.close()


def test_a_request_that_has_no_utf_8_form_never_reaches_the_process(process: ReplProcess) -> None:
    with pytest.raises(ValueError, match="surrogates"):
        process.request({"cmd": "\ud800"}, 20)
    assert process.request(START, 20)["env"] == 0


@pytest.mark.nightly
def test_a_long_answer_takes_time_in_proportion_to_its_length(scripted: Script) -> None:
    process = ReplProcess(scripted({"theorems": {"theorem": "⊢ " + "x" * 40_000_000}}))
    assert len(process.request(START, 50)["sorries"][0]["goal"]) == 40_000_002
    process.close()


def test_a_process_that_wants_more_address_space_than_it_may_have_fails() -> None:
    code = "x = input(); b = bytearray(2_000_000_000); print('{}\\n')"
    process = ReplProcess([sys.executable, "-c", code], address_space_bytes=1_000_000_000)
    with pytest.raises(ReplDied, match="MemoryError"):
        process.request({"cmd": ""}, 20)


@pytest.mark.parametrize(
    ("present", "expected"),
    [((20, 30), (20, 30)), ((30, 30), (30, 30)), ((90, 90), (64, 64)), ((20, 90), (20, 64))],
)
def test_lower_limits_of_the_address_space_stay(present: tuple[int, int], expected: tuple[int, int]) -> None:
    soft, hard = (limit << 30 for limit in present)
    code = "import resource; print(*(limit >> 30 for limit in resource.getrlimit(resource.RLIMIT_AS)))"
    launcher = [sys.executable, "-I", launch.__file__, str(os.getpid()), "SIGKILL", str(64 << 30)]
    launched = [*launcher, sys.executable, "-c", code]
    set_limits = partial(resource.setrlimit, resource.RLIMIT_AS, (soft, hard))
    done = subprocess.run(launched, capture_output=True, text=True, preexec_fn=set_limits)
    assert tuple(map(int, done.stdout.split())) == expected, done.stderr


def test_a_killed_process_is_not_alive_before_and_after_it_is_closed(process: ReplProcess) -> None:
    process.kill()
    with pytest.raises(ReplDied, match="exit status -9"):
        process.request(START, 20)
    assert not process.alive and process.resident_bytes() == 0
    process.kill()


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
    wait_for(lambda: is_gone(child))


def test_closing_leaves_no_open_files(scripted: Script) -> None:
    before = len(os.listdir("/dev/fd"))
    for _ in range(3):
        process = ReplProcess(scripted(SCRIPT))
        process.request(START, 20)
        process.close()
        process.close()
    assert len(os.listdir("/dev/fd")) <= before


def test_what_a_process_has_started_counts_as_soon_as_the_table_is_read_again() -> None:
    table = ProcessTable()
    assert len(table.with_descendants(os.getpid())) >= 1  # read before the processes below are there
    script = "sleep 60 & echo $$ $!; read line; kill $!"
    with subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdin is not None and started.stdout is not None
        pids = set(map(int, started.stdout.readline().split()))
        wait_for(lambda: pids == {process.pid for process in table.with_descendants(started.pid)})
        assert len(pids) == 2 and pids < {process.pid for process in table.with_descendants(os.getpid())}
        started.stdin.close()
    with pytest.raises(psutil.NoSuchProcess):
        table.with_descendants(started.pid)
