"""The loop that the stages share, with a stage whose steps do nothing."""

import json
import os
import signal

import pytest
import torch

from nanoproof.common.distributed import StopSignal
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.model.checkpoint_files import read_manifest
from nanoproof.model.optim import NonFiniteLoss
from tests.helpers import as_command, ended, start_forked, start_ranks, wait_for
from tests.training import small, toy_loop

pytestmark = pytest.mark.slow

MODEL = ["--depth", "1", "--aspect-ratio", "16", "--head-dim", "16", "--sequence-len", "32", "--device-type", "cpu"]


@pytest.fixture
def words(tmp_path):
    """Options of a toy run in `tmp_path / "run"`."""
    small.tokenizer().save(tmp_path / "tokenizer")
    return [*MODEL, "--tokenizer", str(tmp_path / "tokenizer"), "--run-dir", str(tmp_path / "run")]


def start(words, said):
    """A toy run in a process of its own, once it has begun a step."""
    process = start_forked(as_command, toy_loop.main, said, words)
    wait_for(lambda: said.exists() and "step " in said.read_text(), "a step", processes=[process])
    return process


def test_evaluations_and_checkpoints_come_when_they_are_due_and_at_the_end(words, tmp_path):
    toy_loop.main([*words, "--num-steps", "5", "--eval-every", "2steps", "--save-every", "3steps"])
    records = list(read_jsonl(tmp_path / "run" / "metrics.jsonl"))
    assert [record["step"] for record in records] == [1, 2, 3, 4, 5]
    assert [record["step"] for record in records if "valid/seen" in record] == [2, 4, 5]
    assert sorted(file.name for file in (tmp_path / "run").glob("model_*.pt")) == ["model_3.pt", "model_5.pt"]
    assert (tmp_path / "run" / "finished").exists()


def test_only_the_newest_checkpoints_are_kept(words, tmp_path):
    toy_loop.main([*words, "--num-steps", "5", "--save-every", "1steps", "--keep-checkpoints", "2"])
    names = [file.name for file in sorted((tmp_path / "run").glob("*_[0-9].*"))]
    assert names == [f"model_{step}.{ending}" for step in (4, 5) for ending in ("json", "pt")] + [
        "optim_4.pt",
        "optim_5.pt",
    ]


def test_a_resumed_run_has_one_record_for_each_step(words, tmp_path):
    run = tmp_path / "run"
    toy_loop.main([*words, "--num-steps", "5", "--save-every", "3steps"])
    for file in run.glob("*_5.*"):
        file.unlink()  # as if the process had been killed after step 5
    toy_loop.main(["--resume-from", str(run), "--num-steps", "6", "--eval-every", "never"])
    records = list(read_jsonl(run / "metrics.jsonl"))
    assert [(record["step"], record["loss"]) for record in records] == [(step, step - 1.0) for step in range(1, 7)]
    assert read_manifest(run)["extra"]["loop"]["data"] == {"seen": 6}
    resumed = [event for event in read_jsonl(run / "events.jsonl") if event["kind"] == "resumed"]
    changed = {"--eval-every": ["200steps", "never"], "--num-steps": [5, 6]}
    assert [(event["step"], event["changed"], event["records_dropped"]) for event in resumed] == [(3, changed, 2)]
    assert "other options than before: --eval-every 200steps -> never" in (run / "log.txt").read_text()


def test_a_run_that_is_longer_than_asked_for_is_not_resumed(words, tmp_path):
    toy_loop.main([*words, "--num-steps", "5"])
    with pytest.raises(UserError, match=r"--resume-from .*: the run has 5 steps already, more than the 4"):
        toy_loop.main(["--resume-from", str(tmp_path / "run"), "--num-steps", "4"])


def test_the_log_says_how_to_go_on(words, tmp_path, monkeypatch):
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    toy_loop.main([*words, "--num-steps", "2"])
    assert "next: look at run" in (tmp_path / "run" / "log.txt").read_text()


def test_a_loss_that_is_not_a_number_names_the_step_and_the_last_checkpoint(words, tmp_path, monkeypatch):
    def broken(self):
        if self.state.step == 3:
            raise NonFiniteLoss("the loss is nan")
        return {"loss": 1.0}

    monkeypatch.setattr(toy_loop.ToyLoop, "train_one", broken)
    with pytest.raises(NonFiniteLoss, match=r"step 4: the loss is nan; .* the last checkpoint is of step 2"):
        toy_loop.main([*words, "--save-every", "2steps"])
    assert read_manifest(tmp_path / "run")["step"] == 2


def test_weights_that_are_not_finite_are_not_saved(words, tmp_path, monkeypatch):
    def diverged(self):
        if self.state.step == 3:
            next(self.model.parameters()).data[0] = float("nan")
        return {"loss": 1.0}

    monkeypatch.setattr(toy_loop.ToyLoop, "train_one", diverged)
    with pytest.raises(
        NonFiniteLoss, match=r"step 4 left weights that are not finite.* the last checkpoint is of step 2"
    ):
        toy_loop.main([*words, "--save-every", "2steps", "--keep-checkpoints", "1"])
    assert read_manifest(tmp_path / "run")["step"] == 2
    assert not (tmp_path / "run" / "finished").exists()


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you"),
    ],
)
def test_a_device_without_memory_left_names_the_option_that_helps(words, monkeypatch, error):
    def too_much(self):
        raise error

    monkeypatch.setattr(toy_loop.ToyLoop, "train_one", too_much)
    with pytest.raises(UserError, match=r"step 1: out of memory on cpu .* try a smaller --device-batch-size"):
        toy_loop.main(words)


def test_the_time_since_the_last_evaluation_survives_a_resume(words, tmp_path):
    toy_loop.main([*words, "--num-steps", "1", "--eval-every", "1:00:00"])
    path = tmp_path / "run" / "model_1.json"
    state = read_json(path)
    assert 0 <= state["extra"]["loop"]["since_evaluation"] < 60
    state["extra"]["loop"]["since_evaluation"] = 3601
    path.write_text(json.dumps(state))
    toy_loop.main(["--resume-from", str(tmp_path / "run"), "--num-steps", "3"])
    records = list(read_jsonl(tmp_path / "run" / "metrics.jsonl"))
    assert ["valid/seen" in record for record in records] == [
        True,
        True,
        True,
    ]  # the last of each part, and what was due


def test_a_signal_ends_a_run_after_the_step_with_a_checkpoint(words, tmp_path):
    process = start([*words, "--num-steps", "100000", "--step-seconds", "0.05"], tmp_path / "said")
    os.kill(process.pid, signal.SIGINT)
    os.kill(process.pid, signal.SIGTERM)  # launchers pass on what the whole group has got: not a second one
    codes, said = ended([process]), (tmp_path / "said").read_text()
    assert codes == [0], said
    manifest = read_manifest(tmp_path / "run")
    assert manifest["step"] == list(read_jsonl(tmp_path / "run" / "metrics.jsonl"))[-1]["step"]
    assert "to resume: python -m nanoproof.toy --resume-from" in said
    assert not (tmp_path / "run" / "finished").exists()


def test_a_signal_in_the_last_evaluation_leaves_it_to_the_resumption(words, tmp_path, monkeypatch):
    evaluate = toy_loop.ToyLoop.evaluate

    def interrupted(self):
        os.kill(os.getpid(), signal.SIGTERM)
        return {}

    monkeypatch.setattr(toy_loop.ToyLoop, "evaluate", interrupted)
    run = tmp_path / "run"
    assert toy_loop.main([*words, "--num-steps", "3"]) == 0
    assert read_manifest(run)["step"] == 3 and not (run / "finished").exists()
    monkeypatch.setattr(toy_loop.ToyLoop, "evaluate", evaluate)
    for _ in range(2):
        assert toy_loop.main(["--resume-from", str(run)]) == 0
        assert (run / "finished").exists()
        assert list(read_jsonl(run / "metrics.jsonl"))[-1]["valid/seen"] == 3


def test_an_evaluation_that_was_due_where_a_signal_came_is_made_on_resuming(words, tmp_path):
    run = tmp_path / "run"
    toy_loop.main([*words, "--num-steps", "5", "--eval-every", "2steps", "--signal-at", "2"])
    assert read_manifest(run)["step"] == 2
    toy_loop.main(["--resume-from", str(run), "--signal-at", "none"])
    records = list(read_jsonl(run / "metrics.jsonl"))
    assert [record["step"] for record in records if "valid/seen" in record] == [2, 4, 5]


def test_a_second_signal_ends_a_run_at_once(words, tmp_path):
    process = start([*words, "--step-seconds", "60"], tmp_path / "said")
    for _ in range(9):  # two are enough where the first is read within a moment
        if process.exitcode is None:
            os.kill(process.pid, signal.SIGTERM)
            process.join(1.2)
    assert ended([process]) == [128 + signal.SIGTERM]
    assert not list((tmp_path / "run").glob("model_*"))


def test_a_signal_to_one_of_two_ranks_stops_both_after_the_same_step(words, tmp_path):
    line = [*words, "--run", "name", "--num-steps", "50", "--signal-at", "3"]
    codes = ended(start_ranks(2, as_command, toy_loop.main, tmp_path / "said", line))
    assert codes == [0, 0], (tmp_path / "said").read_text()
    assert read_manifest(tmp_path / "run")["step"] == 3


def test_a_signal_is_known_as_soon_as_it_comes():
    with StopSignal() as stop:
        signal.raise_signal(signal.SIGTERM)
        assert stop.received


def test_handlers_are_given_back(words):
    before = signal.getsignal(signal.SIGINT)
    toy_loop.main([*words, "--num-steps", "1"])
    assert signal.getsignal(signal.SIGINT) is before
