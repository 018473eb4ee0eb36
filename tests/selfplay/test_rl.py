"""Reinforcement learning from end to end, with embedded servers, on a data set that is learned in seconds."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import torch

from nanoproof import rl
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.gpt.checkpoint import finished_steps, load_model
from nanoproof.selfplay.attempt_stream import logged_attempts
from tests.selfplay import tiny


@pytest.fixture(scope="module")
def run_path(folder):
    """A run of two steps."""
    path = folder / "rl"
    assert rl.main(["--model-path", str(folder / "sft"), *tiny.rl_words(folder, path, 2)]) == 0
    return path


def test_a_run_collects_trains_evaluates_and_saves(run_path):
    metrics = list(read_jsonl(run_path / "metrics.jsonl"))
    assert [record["step"] for record in metrics] == [1, 2]
    assert all(record["proofs"] > 0 and record["transitions"] >= 8 for record in metrics)
    events = [event for event in read_jsonl(run_path / "events.jsonl") if event["kind"] == "evaluation"]
    assert [event["step"] for event in events] == [0, 2]
    assert events[-1]["solved"] > 0
    assert load_model(run_path)[2]["step"] == 2
    assert load_model(run_path / "model_0.pt")[2]["extra"]["loop"]["step"] == 0


def test_a_run_directory_says_how_it_was_made(run_path):
    assert read_json(run_path / "args.json")["num_steps"] == 2
    assert "device" in read_json(run_path / "meta.json")["decisions"]
    assert read_json(run_path / "status_r0.json")["phase"] == "stopped"
    assert list((run_path / "evals").glob("*/proofs/*.lean"))


def test_a_stopped_run_goes_on_from_its_checkpoint_with_its_attempts(run_path, folder):
    before = [attempt for _, attempt in logged_attempts(run_path)]
    assert rl.main(["--resume-from", str(run_path), "--num-steps", "3"]) == 0
    steps = [step for step, _ in logged_attempts(run_path)]
    assert len(steps) > len(before) and steps == sorted(steps)
    manifest = load_model(run_path)[2]
    assert manifest["step"] == 3
    last = list(read_jsonl(run_path / "metrics.jsonl"))[-1]
    assert last["step"] == 3 and last["theorems_proven"] >= len({a.theorem.id for a in before if a.outcome == "proven"})


def test_a_resumed_run_keeps_its_options_and_the_buffer_it_began_with(tmp_path):
    saved = {"model_path": "sft/x", "resume_from": None, "load_buffer": "rl/other", "seed": 7, "run_dir": None}
    (tmp_path / "args.json").write_text(json.dumps(saved))
    args = rl.parse_args(["--resume-from", str(tmp_path)])
    assert (args.model_path, args.load_buffer, args.seed, args.run_dir) == (None, "rl/other", 7, str(tmp_path))


def test_another_run_can_start_with_the_attempts_of_one(run_path, folder):
    words = tiny.rl_words(folder, folder / "loaded", 0)
    assert rl.main(["--model-path", str(folder / "sft"), "--load-buffer", str(run_path), *words]) == 0
    assert read_json(folder / "loaded" / "status_r0.json")["attempts"] >= len(list(logged_attempts(run_path)))


def test_two_ranks_collect_and_keep_equal_weights(folder):
    path = folder / "two_ranks"
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    words = ["--model-path", str(folder / "sft"), *tiny.rl_words(folder, path, 2), "--check-ranks"]
    words += ["--keep-checkpoints", "1"]
    done = subprocess.run([*command, "-m", "tests.selfplay.tiny", *words], timeout=200, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all((path / f"attempts_r{rank}.jsonl").stat().st_size > 0 for rank in (0, 1))
    digests = [
        [event["digest"] for event in read_jsonl(path / name) if event["kind"] == "weights"]
        for name in ("events.jsonl", "events_r1.jsonl")
    ]
    assert digests[0] == digests[1] and len(digests[0]) == 2
    assert digests[0][0] != digests[0][1]
    assert finished_steps(path) == [0, 2]  # the last one, and the one that was best when it was saved


def test_a_signal_saves_the_run_and_ends_it_with_0(folder):
    path = folder / "signal"
    words = ["--model-path", str(folder / "sft"), *tiny.rl_words(folder, path, 1000)]
    process = subprocess.Popen([sys.executable, "-m", "tests.selfplay.tiny", *words], env={**os.environ})
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and not list(path.glob("model_*.json")):
            time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
    state = torch.load(next(path.glob("model_*.pt")), weights_only=True)
    assert state and json.loads((path / "status_r0.json").read_text())["phase"] == "stopped"
