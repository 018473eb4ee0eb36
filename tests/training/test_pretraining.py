"""Pretraining and midtraining end to end on a small text, alone and on two ranks; resuming; what is refused."""

import json
import shutil

import pytest

from nanoproof import midtrain, pretrain, sft
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_jsonl
from nanoproof.model.checkpoint_files import read_manifest
from nanoproof.training.pretraining import Pretraining
from tests.helpers import run_ranks
from tests.training import small

pytestmark = pytest.mark.slow

MODEL = ["--depth", "2", "--aspect-ratio", "16", "--head-dim", "16", "--sequence-len", "32"]
COMMON = ["--device-type", "cpu", "--device-batch-size", "2", "--total-batch-size", "256", "--eval-tokens", "500"]
STEPS = ["--num-steps", "8", "--eval-every", "4steps", "--save-every", "4steps"]


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A folder with `text.jsonl`, `tokenizer/` and `base/`, a run of 8 steps on one rank that was saved after 4 too."""
    folder = tmp_path_factory.mktemp("pretraining")
    states = [item.state + "\n" + item.tactic for item in small.transitions(36)]
    documents = ["\n\n".join(states[(7 * i + j) % 36] for j in range(1 + i % 5)) for i in range(120)]
    (folder / "text.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in documents))
    small.tokenizer().save(folder / "tokenizer")
    pretrain.main([*words(folder, "base"), *STEPS])
    return folder


def words(folder, run, *more):
    data = ["--data", str(folder / "text.jsonl"), "--tokenizer", str(folder / "tokenizer")]
    return [*MODEL, *COMMON, *data, "--run-dir", str(folder / run), *more]


def curve(folder, run, name="loss"):
    return [record[name] for record in read_jsonl(folder / run / "metrics.jsonl") if name in record]


def cut_back(folder, run, name):
    """A copy of a run as if it had been killed after its last step: the checkpoint of step 4 is the last."""
    shutil.copytree(folder / run, folder / name)
    for file in (folder / name).glob("*_8*"):
        file.unlink()


# -- training ----------------------------------------------------------------------------------------------------------


def test_pretraining_lowers_loss_and_bits_per_byte(here):
    losses, validation = curve(here, "base"), curve(here, "base", "valid/bits_per_byte")
    assert losses[-1] < losses[0] - 1 and validation[1] < validation[0]
    assert read_manifest(here / "base")["step"] == 8


def test_the_log_says_what_was_decided_and_what_comes_next(here):
    log = (here / "base" / "log.txt").read_text()
    assert "batch: 256 tokens a step (asked for) = 4 x 2 rows x 32 tokens on 1 rank" in log
    assert "steps: 8 (asked for) = 2.05k tokens" in log
    assert "attention: " in log and "schedule: " in log
    assert f"next: python -m nanoproof.midtrain --model-path {here / 'base'}" in log


def test_samples_are_written_at_the_end(here):
    samples = [event for event in read_jsonl(here / "base" / "events.jsonl") if event["kind"] == "samples"]
    assert [event["step"] for event in samples] == [8] and len(samples[0]["samples"]) > 2


def test_a_run_that_is_resumed_for_its_last_evaluation_makes_it(here, monkeypatch):
    def stopped(self):
        self.stop.received = True
        return {}

    with monkeypatch.context() as patch:
        patch.setattr(Pretraining, "evaluate", stopped)
        pretrain.main([*words(here, "unevaluated"), "--num-steps", "1"])
    pretrain.main(["--resume-from", str(here / "unevaluated")])
    assert "step 1: validation " in (here / "unevaluated" / "log.txt").read_text()
    assert (here / "unevaluated" / "finished").exists()


def test_how_a_step_is_cut_into_micro_batches_does_not_matter(here):
    pretrain.main([*words(here, "rows"), *STEPS, "--num-steps", "3", "--device-batch-size", "8"])
    pretrain.main([*words(here, "few"), *STEPS, "--num-steps", "3"])
    assert curve(here, "rows") == pytest.approx(curve(here, "few"), rel=1e-5)


@pytest.mark.nightly
def test_midtraining_reads_the_text_once_from_a_pretrained_model(here):
    argv = ["--model-path", str(here / "base"), "--data", str(here / "text.jsonl"), "--run-dir", str(here / "mid")]
    midtrain.main([*argv, "--device-type", "cpu", "--device-batch-size", "4", "--sample-every", "never"])
    log = (here / "mid" / "log.txt").read_text()
    assert "steps: 23 (--epochs 1) = 5.89k tokens = 1.03 epochs" in log
    losses = curve(here, "mid")
    assert losses[0] < curve(here, "base")[0] - 0.5, "it does not begin from scratch"
    assert sum(losses[-5:]) < sum(losses[:5])


def test_midtraining_goes_from_scratch_too(here):
    midtrain.main([*words(here, "mid_scratch"), "--num-steps", "2", "--sample-every", "never"])
    assert len(curve(here, "mid_scratch")) == 2


# -- resuming ----------------------------------------------------------------------------------------------------------


def test_a_resumed_run_has_the_loss_curve_of_the_uninterrupted_one(here):
    cut_back(here, "base", "resumed")
    pretrain.main(["--resume-from", str(here / "resumed")])
    for name in ("loss", "grad_norm", "lr_factor", "valid/bits_per_byte"):
        assert curve(here, "resumed", name) == pytest.approx(curve(here, "base", name), rel=1e-6)


@pytest.mark.nightly
def test_two_ranks_have_the_loss_curve_of_one_and_one_goes_on_where_they_stopped(here):
    run_ranks(2, pretrain.main, [*words(here, "two"), *STEPS])
    base, validation = curve(here, "base"), curve(here, "base", "valid/bits_per_byte")
    assert curve(here, "two") == pytest.approx(base, rel=1e-4)
    assert curve(here, "two", "valid/bits_per_byte") == pytest.approx(validation, rel=1e-4)
    cut_back(here, "two", "two_then_one")
    pretrain.main(["--resume-from", str(here / "two_then_one")])
    assert curve(here, "two_then_one") == pytest.approx(base, rel=1e-4)
    assert "ranks 2 -> 1" in (here / "two_then_one" / "log.txt").read_text()


def test_a_resumed_run_keeps_its_batch_where_none_was_asked_for(here):
    argv = [*words(here, "derived"), "--total-batch-size", "none", "--tokens-per-parameter", "0.03"]
    pretrain.main([*argv, "--save-every", "1steps"])
    for file in (here / "derived").glob("*_2*"):
        file.unlink()
    pretrain.main(["--resume-from", str(here / "derived"), "--device-batch-size", "1"])
    tokens = read_manifest(here / "derived")["extra"]["loop"]["data"]["total_batch_size"]
    assert tokens == 32 * 32
    assert "1,024 tokens a step (as before) = 32 x 1 rows" in (here / "derived" / "log.txt").read_text()


def test_steps_of_a_resumed_run_do_not_change_their_size(here):
    cut_back(here, "base", "other_size")
    with pytest.raises(UserError, match=r"--total-batch-size 512 clashes with --resume-from .* have 256 tokens"):
        pretrain.main(["--resume-from", str(here / "other_size"), "--total-batch-size", "512"])


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--data", "nowhere.jsonl"], "no text corpus nowhere.jsonl"),
        (["--data", "nemotron"], r"the data set nemotron is not .*get it with"),
        (["--tokenizer", "nowhere"], "no tokenizer at nowhere"),
        (["--total-batch-size", "100"], r"--total-batch-size 100 .*--device-batch-size 2 x 32 .*--sequence-len"),
        (["--num-steps", "3", "--tokens-per-parameter", "2"], "--num-steps and --tokens-per-parameter .* clash"),
        (["--sample-every", "often"], "--sample-every must look like"),
        (["--depth", "0"], "--depth must be >= 1"),
    ],
)
def test_bad_options_are_named_and_nothing_is_written(here, more, message, monkeypatch, tmp_path):
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    with pytest.raises(UserError, match=message):
        pretrain.main([*words(here, "refused"), *more])
    assert not (here / "refused").exists() and not list(tmp_path.iterdir())


def test_a_run_does_not_go_on_with_other_text(here, tmp_path):
    cut_back(here, "base", "other_text")
    (tmp_path / "other.jsonl").write_text('{"text": "a"}\n' * 40)
    with pytest.raises(UserError, match="the saved position is of other documents"):
        pretrain.main(["--resume-from", str(here / "other_text"), "--data", str(tmp_path / "other.jsonl")])


def test_a_run_of_another_stage_is_refused(here):
    with pytest.raises(UserError, match="is a run of pretrain, not of sft"):  # before its data, which are no proofs
        sft.main(["--resume-from", str(here / "base")])
    with pytest.raises(UserError, match="is a run of pretrain, not of midtrain"):
        midtrain.main(["--resume-from", str(here / "base")])
