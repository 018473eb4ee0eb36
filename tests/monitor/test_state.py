"""How a run fares (running, stalled, died, finished ...), what it is, and the list of the runs in a folder."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanoproof.common.run_dir import FINISHED, LOCK, RunLock
from nanoproof.monitor import identity
from nanoproof.monitor.app import create_app
from nanoproof.monitor.identity import STALLED_SECONDS, ActiveTime, run_state
from nanoproof.monitor.routes import MAX_OPEN_RUNS, CurrentRun
from nanoproof.monitor.runs import RunList, is_run
from tests.helpers import wait_for
from tests.monitor.conftest import Asker, lines

Look = Callable[..., Asker]
HOLD = "import sys, time; from pathlib import Path; from nanoproof.common.run_dir import RunLock; "
HOLD += "lock = RunLock(Path(sys.argv[1])); print('held', flush=True); time.sleep(120)"


def make_run(path: Path, stage: str = "rl", step: int = 3, moment: float = 5000.0, **args: Any) -> Path:
    """A run without a lock, as it was written long ago."""
    path.mkdir(parents=True)
    versions = {"nanoproof": "abcdef0123+", "torch": "2.13"}
    command = [f"/somewhere/nanoproof/{stage}/__main__.py", "--seed", "7", "--run", "a b"]
    decisions = {"ranks": "2 (torchrun)", "steps": "2,094 of 64 examples"}
    meta = {"command": command, "started": "2026-11-24T06:50:58+0000", "versions": versions, "decisions": decisions}
    (path / "meta.json").write_text(json.dumps(meta))
    (path / "args.json").write_text(json.dumps({"seed": 7, "model_path": "sft/one", **args}))
    (path / "metrics.jsonl").write_text(lines({"step": step, "time": moment, "loss": 0.5}))
    return path


# -- how it fares ------------------------------------------------------------------------------------------------------


def test_a_run_that_is_killed_has_died_at_once(look: Look, tmp_path: Path) -> None:
    path = make_run(tmp_path / "run")
    (path / "model_3.json").write_text("{}")
    asker = look(path)
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"held\n"
        overview = asker.get("/api/overview")
        assert (overview["state"]["name"], overview["live"]) == ("running", True)
        process.send_signal(signal.SIGKILL)
        process.wait()
    killed = os.stat(path / LOCK).st_mtime
    wait_for(lambda: not asker.get("/api/overview")["live"])
    overview = asker.get("/api/overview")
    assert overview["state"] == {"name": "died", "since": pytest.approx(killed, abs=0.01)}
    assert overview["resume"] == f"torchrun --standalone --nproc_per_node=2 -m nanoproof.rl --resume-from {path}"


def test_words_for_every_way_to_fare(tmp_path: Path) -> None:
    now = 10_000.0
    assert run_state(tmp_path, None, False, None, now) == {"name": "unknown", "since": None}
    assert run_state(tmp_path, now - 5, False, 9000.0, now) == {"name": "running", "since": None}
    assert run_state(tmp_path, now - 11, False, 9000.0, now) == {"name": "died", "since": now - 11}
    assert run_state(tmp_path, now - 11, True, 9000.0, now) == {"name": "stopped", "since": now - 11}
    assert run_state(tmp_path, None, False, 9000.0, now) == {"name": "stopped", "since": 9000.0}
    (tmp_path / FINISHED).touch()
    assert run_state(tmp_path, now - 11, True, 9000.0, now) == {"name": "finished", "since": now - 11}


def test_a_process_that_lives_and_is_silent_has_stalled(tmp_path: Path) -> None:
    lock = RunLock(tmp_path)
    try:
        now = time.time() + 1000
        quiet = now - STALLED_SECONDS
        assert run_state(tmp_path, quiet, False, None, now) == {"name": "stalled", "since": quiet}
        assert run_state(tmp_path, quiet + 1, False, None, now)["name"] == "running"
        before_it_began = run_state(tmp_path, 1000.0, False, None, now)  # by the part of the run before
        assert before_it_began["name"] == "running"
        assert run_state(tmp_path, None, False, None, now)["name"] == "running"  # a stage that writes no status
    finally:
        lock.release()


def test_a_run_of_another_machine_is_silent_without_a_heartbeat(tmp_path: Path) -> None:
    (tmp_path / LOCK).write_text(json.dumps({"host": "far", "pid": 1, "created": 1.0, "machine": "far away"}))
    beat = os.stat(tmp_path / LOCK).st_mtime
    assert run_state(tmp_path, None, False, 5.0, beat + 59)["name"] == "running"
    assert run_state(tmp_path, None, False, 5.0, beat + 61) == {"name": "silent", "since": 5.0}


def test_time_at_work_leaves_out_pauses_and_never_goes_back() -> None:
    active = ActiveTime()
    assert active.seconds() is None and active.last is None
    for moment in (1000.0, 1100.0):
        active.heard(moment)
    assert active.seconds() == 100.0 and active.seconds(1150.0) == 150.0
    active.resumed(5000.0)
    active.heard(5000.0)
    assert active.seconds() == 100.0
    active.heard(5030.0)
    assert active.seconds() == 130.0 and active.last == 5030.0
    active.heard(1120.0)  # a metric of the first part, read later
    assert active.seconds() == 150.0


def test_the_time_on_the_page_does_not_go_back_after_a_resume(look: Look, tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", moment=1000.0)
    events = [{"time": 900.0, "kind": "checkpoint", "step": 1}, {"time": 1300.0, "kind": "checkpoint", "step": 9}]
    (path / "events.jsonl").write_text(lines(*events, {"time": 9000.0, "kind": "resumed", "step": 9}))
    status = {"time": 9050.0, "phase": "stopped", "seconds": 120.0, "max_seconds": 600.0}
    (path / "status_r0.json").write_text(json.dumps(status))
    overview = look(path).get("/api/overview")
    assert (overview["elapsed"], overview["seconds"], overview["max_seconds"]) == (400.0, 120.0, 600.0)


# -- what it is --------------------------------------------------------------------------------------------------------


def test_a_run_says_what_it_is(look: Look, tmp_path: Path) -> None:
    path = make_run(tmp_path / "run")
    (path / "trees").mkdir()
    (path / "trees" / "a.json.gz").write_bytes(b"x" * 5000)
    about = look(path).get("/api/run")["identity"]
    assert about["command"] == "torchrun --standalone --nproc_per_node=2 -m nanoproof.rl --seed 7 --run 'a b'"
    assert (about["stage"], about["seed"], about["parent"]) == ("rl", 7, "sft/one")
    assert (about["commit"], about["changed"], about["versions"]) == ("abcdef0123", True, {"torch": "2.13"})
    assert about["started"] == 1795503058.0 and about["resume"] == ""
    sizes = {one["name"]: one["bytes"] for one in about["files"]}
    assert next(iter(sizes)) == "trees/" and sizes["trees/"] == 5000
    assert about["bytes"] == sum(sizes.values()) == 5000 + sum(file.stat().st_size for file in path.glob("*.json*"))


def test_commands_are_shown_as_they_are_typed() -> None:
    assert identity.module_of(["/a/nanoproof/nanoproof/sft.py"]) == "nanoproof.sft"
    assert identity.module_of(["/nanoproof/scripts/prover_eval.py", "--x"]) == "scripts.prover_eval"
    assert identity.module_of(["pytest"]) == "pytest" and identity.module_of([]) == ""
    assert identity.shown_command(["/n/nanoproof/sft.py", "--data", "x"], {}) == "python -m nanoproof.sft --data x"
    assert identity.planned_steps({"num_steps": 9}, {"decisions": {"steps": "2,094 of 64"}}) == 2094
    assert identity.planned_steps({"num_steps": 9}, {}) == 9 and identity.planned_steps({}, {}) is None


# -- the runs of a folder ----------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_run(tmp_path / "home" / "rl" / "old", moment=1000.0, max_time="1:00:00")
    scored = make_run(tmp_path / "home" / "sft" / "new", "sft", moment=2000.0)
    event = {"kind": "evaluation", "time": 2100.0, "step": 3, "dataset": "nanolean", "split": "valid"}
    (scored / "events.jsonl").write_text(lines({**event, "solved": 1, "total": 9}, {**event, "solved": 3, "total": 9}))
    evaluation = tmp_path / "home" / "quick" / "eval_sft" / "eval_nanolean_test"
    evaluation.mkdir(parents=True)
    (evaluation / "settings.json").write_text('{"settings": {"dataset": "nanolean"}}')
    summary = {"solved": 5, "total": 10, "settings": {"dataset": "nanolean", "split": "test", "seed": 2}}
    (evaluation / "summary.json").write_text(json.dumps(summary))
    (tmp_path / "home" / "data" / "x").mkdir(parents=True)
    return tmp_path / "home"


def test_all_runs_of_a_folder_are_listed_newest_first(folder: Path) -> None:
    runs = RunList(folder)
    rows = {row["name"]: row for row in runs.runs()["items"]}
    assert list(rows) == ["quick/eval_sft", "sft/new", "rl/old"]
    assert rows["rl/old"]["num_steps"] is None and rows["sft/new"]["num_steps"] == 2094
    score = rows["sft/new"]["score"]
    assert score is not None and (score["dataset"], score["solved"], score["total"]) == ("nanolean/valid", 3, 9)
    assert (round(score["low"], 3), round(score["high"], 3)) == (0.121, 0.646)
    assert [rows[name]["stage"] for name in rows] == ["evaluation", "sft", "rl"]
    assert rows["quick/eval_sft"]["score"] is not None and rows["quick/eval_sft"]["seed"] == 2
    assert rows["rl/old"]["state"] == {"name": "stopped", "since": 1000.0} and rows["rl/old"]["changed"]
    with (folder / "rl" / "old" / "metrics.jsonl").open("a") as file:
        file.write(lines({"step": 4, "time": 3000.0, "loss": 0.25}))
    changed = {row["name"]: row for row in runs.runs()["items"]}["rl/old"]
    assert (changed["step"], changed["loss"], changed["updated"]) == (4, 0.25, 3000.0)
    assert is_run(folder / "rl" / "old") and is_run(folder / "quick" / "eval_sft") and not is_run(folder)


def test_one_monitor_shows_every_run_of_a_folder(folder: Path) -> None:
    current = CurrentRun()
    current.show_runs(folder, every_seconds=0)
    client = create_app(current).test_client()
    try:
        assert client.get("/api/runs").get_json()["total"] == 3
        assert client.get("/api/overview?run=sft/new").get_json()["run"] == "new"
        assert client.get("/api/overview?run=rl/old").get_json()["stage"] == "rl"
        assert client.get("/api/evaluations?run=quick/eval_sft").get_json()["items"][0]["solved"] == 5
        for name in ("", "?run=", "?run=nothing", "?run=../home/rl/old", "?run=data/x", "?run=/etc", "?run=rl/old/.."):
            answer = client.get(f"/api/overview{name}")
            assert answer.status_code == 404 and list(answer.get_json()) == ["error"], name
        make_run(folder / "rl" / "just_begun")
        assert client.get("/api/overview?run=rl/just_begun").status_code == 200
    finally:
        current.close()


def test_only_so_many_runs_are_followed_at_a_time(folder: Path) -> None:
    for number in range(MAX_OPEN_RUNS + 3):
        make_run(folder / "many" / str(number))
    current = CurrentRun()
    current.show_runs(folder, every_seconds=0)
    client = create_app(current).test_client()
    try:
        for number in range(MAX_OPEN_RUNS + 3):
            assert client.get(f"/api/overview?run=many/{number}").get_json()["run"] == str(number)
        assert len(current._open) == MAX_OPEN_RUNS
        assert client.get("/api/overview?run=many/0").status_code == 200  # opened again
    finally:
        current.close()


def test_a_monitor_of_one_run_lists_none(look: Look, run: Path) -> None:
    assert look(run).get("/api/runs") == {"folder": "", "items": [], "total": 0}


def test_evaluations_of_one_directory_are_told_apart(look: Look, tmp_path: Path) -> None:
    for name, path in (("eval_a", "/runs/sft/model_10.pt"), ("eval_b", None)):
        (tmp_path / name).mkdir()
        model = {"path": path, "step": 10} if path else None
        record: dict[str, Any] = {
            "solved": 1,
            "total": 2,
            "policy": "uniform" if path is None else "model",
            "model": model,
        }
        record["settings"] = {"dataset": "nanolean", "seed": 4, "num_sampled_tactics": 6}
        (tmp_path / name / "summary.json").write_text(json.dumps(record))
    rows = {row["name"]: row["about"] for row in look(tmp_path).get("/api/evaluations")["items"]}
    assert rows == {"eval_a": "sft/model_10.pt, seed 4, 6 tactics each", "eval_b": "uniform, seed 4, 6 tactics each"}
