"""The command that judges checkpoints on transitions."""

from dataclasses import replace

import pytest

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json
from nanoproof.data.transitions.packing import ExampleLimits
from nanoproof.model.checkpoint import save_checkpoint
from nanoproof.training.batches import TransitionSet
from nanoproof.training.options import BatchOptions
from nanoproof.training.policy_metrics import policy_metrics
from scripts import policy_eval
from tests.training import small

WORDS = small.tokenizer()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Checkpoints of the steps 5 and 10 in `run`, and 60 transitions, 4 of them for validation."""
    path = tmp_path_factory.mktemp("eval")
    small.write_leantree(path / "data.jsonl", small.transitions())
    for step in (5, 10):
        save_checkpoint(path / "run", step, small.model(WORDS, seed=step), WORDS)
    return path


def words(folder, *more):
    return ["--data", str(folder / "data.jsonl"), "--device-type", "cpu", "--log-level", "warning", *map(str, more)]


def test_all_checkpoints_of_a_run_are_judged_in_their_order(folder, capsys):
    out = folder / "out.json"
    assert policy_eval.main(words(folder, "--model-path", folder / "run", "--json", out)) == 0
    rows = read_json(out)["checkpoints"]
    assert [row["step"] for row in rows] == [5, 10]
    made = TransitionSet(WORDS, small.transitions()[-4:], ExampleLimits(sequence=128))
    expected = policy_metrics(small.model(WORDS, seed=10), WORDS, made, BatchOptions(), small.ALONE)
    assert rows[1]["tactic_loss"] == pytest.approx(expected.tactic_loss, rel=1e-5)
    assert sum(row["count"] for row in rows[1]["depths"]) == rows[1]["transitions"] == 4
    printed = capsys.readouterr().out
    assert "run/5" in printed and "run/10" in printed
    assert f"{100 * expected.tactic_first_token_accuracy:.2f}%" in printed


def test_one_checkpoint_is_judged_on_training_data_and_shown_at_work(folder, capsys):
    out = folder / "one.json"
    more = ["--model-path", folder / "run" / "model_5.pt", "--split", "train", "--max-examples", 14, "--show", 2]
    assert policy_eval.main(words(folder, *more, "--json", out)) == 0
    rows = read_json(out)["checkpoints"]
    assert [(row["step"], row["transitions"]) for row in rows] == [(5, 14)]
    printed = capsys.readouterr().out
    first = small.transitions()[0]
    assert printed.count("  model: ") == 2 and f"{first.state}\n  data:  {first.tactic}" in printed


@pytest.mark.parametrize(("rank", "times"), [(0, 1), (1, 0)])
def test_one_of_several_ranks_tells_what_is_left_out(folder, rank, times, capsys, monkeypatch):
    monkeypatch.setattr(policy_eval, "start_ranks", lambda options: replace(small.ALONE, rank=rank))
    lengths = sorted(len(example) for example in small.examples(WORDS))
    more = ["--model-path", folder / "run" / "model_5.pt", "--split", "train", "--row-length", lengths[-1] - 1]
    policy_eval.main([*words(folder, *more), "--log-level", "info"])
    assert capsys.readouterr().err.count("transitions left out as too long") == times


def test_what_cannot_be_judged_is_named(folder, tmp_path):
    with pytest.raises(UserError, match="give --model-path"):
        policy_eval.main(words(folder))
    with pytest.raises(UserError, match="no checkpoint"):
        policy_eval.main(words(folder, "--model-path", tmp_path))
    with pytest.raises(UserError, match="no valid transition of at most 16 tokens"):
        policy_eval.main(words(folder, "--model-path", folder / "run", "--row-length", 16))


def test_a_model_of_few_positions_is_shown_at_work_too():
    lines = list(policy_eval.shown(small.model(WORDS, sequence_len=32), WORDS, small.transitions()[:1]))
    assert lines[1].startswith("  model: ")
