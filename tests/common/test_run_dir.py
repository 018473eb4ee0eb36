import json
import logging
import os
import re
import subprocess
import sys

import httpx2
import pytest

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.common.run_dir import (
    RunDir,
    RunLock,
    hide_secrets,
    new_run_path,
    resolve_model_path,
    resolve_run_dir,
    setup_logging,
    versions,
)
from nanoproof.training.options import RunOptions


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    return tmp_path


def test_a_model_path_is_looked_for_under_models_and_under_home(home):
    (home / "models" / "base").mkdir(parents=True)
    (home / "sft" / "run").mkdir(parents=True)
    assert resolve_model_path("base") == home / "models" / "base"
    assert resolve_model_path("sft/run") == home / "sft" / "run"


def test_a_missing_model_names_the_option_and_the_places(home):
    with pytest.raises(UserError, match=r"--model-path nothing.*models/nothing"):
        resolve_model_path("nothing")


def test_a_run_directory_that_is_a_file_is_refused(home):
    (home / "file").write_text("")
    with pytest.raises(UserError, match="not a directory"):
        resolve_run_dir("file")


def test_two_runs_of_one_name_get_two_directories(home):
    first = new_run_path("sft", "same")
    first.mkdir(parents=True)
    assert new_run_path("sft", "same") != first


def test_a_run_name_with_a_slash_is_refused(home):
    with pytest.raises(UserError, match="--run"):
        new_run_path("sft", "../evil")
    with pytest.raises(UserError, match="--run has 260 bytes; a name may have 120"):
        RunOptions(run="ü" * 130)


def test_ranks_write_events_to_files_of_their_own(tmp_path):
    for rank in (0, 1):
        run = RunDir(tmp_path, rank)
        run.event("started", rank=rank)
        run.close()
    assert [record["rank"] for record in read_jsonl(tmp_path / "events.jsonl")] == [0]
    assert [record["rank"] for record in read_jsonl(tmp_path / "events_r1.jsonl")] == [1]


def test_tokens_are_not_written_down(tmp_path):
    run = RunDir(tmp_path)
    run.write_args({"lean_token": "secret", "lean_servers": ["host"]})
    run.close()
    assert read_json(tmp_path / "args.json") == {"lean_servers": ["host"]}
    assert hide_secrets(["rl", "--lean-token", "secret", "--seed", "1"]) == ["rl", "--lean-token", "***", "--seed", "1"]
    assert hide_secrets(["--lean-token=secret"]) == ["--lean-token=***"]


def test_versions_name_python_and_torch():
    assert {"python", "torch", "nanoproof"} <= versions().keys()


def test_log_files_hold_the_date_and_the_terminal_the_time_alone(tmp_path, capsys):
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    root.handlers.clear()
    try:
        setup_logging("info", tmp_path / "log.txt")
        logging.getLogger("a.b").warning("hello")
    finally:
        for handler in root.handlers:
            handler.close()
        root.handlers[:] = before
        root.setLevel(level)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d r0 WARNING a.b: hello\n", (tmp_path / "log.txt").read_text())
    assert re.fullmatch(r"\d\d:\d\d:\d\d warning \(rank 0\): hello\n", capsys.readouterr().err)


def test_requests_of_http_clients_are_logged_when_debugging_alone(capsys):
    root, client = logging.getLogger(), logging.getLogger("httpx2")
    before, level, own = root.handlers[:], root.level, client.level
    root.handlers.clear()
    answered = httpx2.MockTransport(lambda request: httpx2.Response(200))
    try:
        for said, is_shown in (("info", False), ("debug", True), ("info", False)):
            setup_logging(said)
            with httpx2.Client(transport=answered) as session:
                session.get("http://h/v1/models")
            assert ("h/v1/models" in capsys.readouterr().err) == is_shown
    finally:
        root.handlers[:] = before
        root.setLevel(level)
        client.setLevel(own)


# -- the lock of a run -------------------------------------------------------------------------------------------------


def test_a_directory_is_written_by_one_process_at_a_time(tmp_path):
    lock = RunLock(tmp_path)
    with pytest.raises(UserError, match=rf"in use by process {os.getpid()} on .*, started 20.*end it"):
        RunLock(tmp_path, force=True)
    lock.release()
    RunLock(tmp_path).release()
    assert not (tmp_path / "run.lock").exists()


def test_the_lock_of_a_process_that_has_ended_is_taken_over(tmp_path):
    code = f"from pathlib import Path; from nanoproof.common.run_dir import RunLock; RunLock(Path({str(tmp_path)!r}))"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert (tmp_path / "run.lock").exists()
    RunLock(tmp_path).release()


def test_a_number_that_another_process_has_now_is_no_sign_of_life(tmp_path):
    lock = RunLock(tmp_path)
    holder = json.loads(lock.file.read_text())
    lock.file.write_text(json.dumps({**holder, "created": holder["created"] - 3600}))
    RunLock(tmp_path).release()


@pytest.mark.parametrize("content", ['{"host": "far", "pid": 1, "machine": "far", "started": "then"}', "", "[1]"])
def test_the_lock_of_another_machine_is_taken_over_by_force_only(tmp_path, content):
    (tmp_path / "run.lock").write_text(content)
    with pytest.raises(UserError, match=r"last sign of life \d+ s ago; if it is dead, add --force"):
        RunLock(tmp_path, force=False)
    with pytest.raises(UserError, match=r"if it is dead, remove .*/run\.lock$"):
        RunLock(tmp_path)  # of a command without such a flag
    RunLock(tmp_path, force=True).release()


def test_a_lock_that_was_taken_over_is_not_removed_by_its_first_holder(tmp_path):
    first = RunLock(tmp_path)
    (tmp_path / "run.lock").write_text('{"host": "far", "machine": "far"}')
    first.release()
    assert (tmp_path / "run.lock").exists()


def test_a_relative_directory_is_written_where_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for name, place in (("quick/rl", tmp_path / "home" / "quick" / "rl"), ("./quick/rl", tmp_path / "quick" / "rl")):
        path = new_run_path("rl", "x", name)
        assert path == place
        path.mkdir(parents=True)
        assert resolve_run_dir(name).resolve() == path
    assert resolve_run_dir("quick/rl") == tmp_path / "home" / "quick" / "rl"  # the other one does not shadow it


def test_a_name_that_is_nearly_one_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    (tmp_path / "rl" / "first_try").mkdir(parents=True)
    with pytest.raises(UserError, match=r"did you mean rl/first_try[?]"):
        resolve_run_dir("rl/first_tri")
