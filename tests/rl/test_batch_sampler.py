"""What a step trains on, with the options that choose among the transitions, and a learner that begins anew."""

import math
from collections import Counter

import pytest
import torch

from nanoproof.common.errors import UserError
from nanoproof.lean.types import Transition
from nanoproof.prover.attempt import Attempt, FailedTactic
from nanoproof.rl.batch_sampler import DRAWS, BatchSampler, Buffers
from nanoproof.rl.learner import Learner
from nanoproof.rl.options import RLConfig, parse_args
from nanoproof.training.batches import balanced_depth_weights
from nanoproof.training.loss import tactic_logprobs
from tests.rl.small import theorems
from tests.training import small

FOUND = [Transition(f"⊢ p{n % 3}", f"exact h{'x' * n}", 1 + (n > 7)) for n in range(10)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model")
    small.save_model(path)
    return path


def config_of(model, *more):
    line = ["--model-path", str(model), "--sft-data", str(model / "data.jsonl"), "--row-length", "128"]
    return RLConfig.from_args(parse_args([*line, "--target-examples-per-step", "40", "--fraction-sft", "0.25", *more]))


def mixture_of(model, *more, sft_position=None):
    config = config_of(model, *more)
    learner, buffers = Learner(config, small.ALONE), Buffers(500, config.rl.negative_window)
    attempt = Attempt(
        theorems(1)[0], "proven", transitions=tuple(FOUND), failed_tactics=(FailedTactic("⊢ p0", "simp"),)
    )
    buffers.add([attempt], 0)
    learner.state.sft_position = sft_position or {}
    return BatchSampler(config, learner, buffers, small.ALONE), learner, config


def replayed(mixture):
    batch = mixture.batch(0, 0)
    return batch.examples[batch.num_sft :]


def test_a_batch_has_its_part_of_sft_data_and_the_rest_from_proofs(model):
    batch = mixture_of(model)[0].batch(0, 0)
    assert (len(batch.examples), batch.num_sft) == (40, 10)
    assert {example.continuations[0].kind for example in batch.examples[10:]} == {"tactic"}


def test_failed_tactics_take_their_part_of_the_rest_unless_they_weigh_nothing(model):
    kinds = Counter(item.continuations[0].kind for item in replayed(mixture_of(model, "--negative-fraction", "0.5")[0]))
    assert 5 <= kinds["negative"] <= 25 and kinds.total() == 30
    without = mixture_of(model, "--negative-fraction", "0.5", "--unlikelihood-weight", "0")[0]
    assert {item.continuations[0].kind for item in replayed(without)} == {"tactic"}


def test_depths_are_balanced_over_the_replay_buffer(model):
    weights = balanced_depth_weights({1: 8, 2: 2})
    mixture, learner, _ = mixture_of(model, "--balance-value-by-depth")
    bins = learner.tokenizer.bins
    seen = {
        (bins.index(item.continuations[1].tokens[1]) + 1, item.continuations[1].weight) for item in replayed(mixture)
    }
    assert seen == {(1, weights[0]), (2, weights[1])}


def test_values_that_are_not_learned_cannot_be_balanced(model):
    with pytest.raises(UserError, match="--balance-value-by-depth weighs a loss"):
        mixture_of(model, "--balance-value-by-depth", "--value-weight", "0")


def test_only_tactics_within_the_limits_are_replayed(model):
    mixture, learner, config = mixture_of(model)
    every = replayed(mixture)
    logprobs = sorted(set(tactic_logprobs(learner.model, learner.tokenizer.pad, every, config.batch)))
    low, high = (logprobs[2] + logprobs[3]) / 2, (logprobs[-3] + logprobs[-2]) / 2
    mixture, learner, config = mixture_of(model, f"--replay-logprob-min={low}", f"--replay-logprob-max={high}")
    batch = mixture.batch(0, 0)
    chosen = batch.examples[batch.num_sft :]
    assert len(chosen) == 30
    assert all(
        low <= value <= high for value in tactic_logprobs(learner.model, learner.tokenizer.pad, chosen, config.batch)
    )
    assert 0.2 < batch.metrics["replay_within_logprobs"] < 0.9


def test_where_no_tactic_is_within_the_limits_there_is_still_a_batch(model):
    batch = mixture_of(model, "--replay-logprob-max", "-10000")[0].batch(0, 0)
    assert len(batch.examples) == batch.num_sft == 10
    assert batch.metrics["replay_within_logprobs"] == 0
    mixture, _, _ = mixture_of(model, "--replay-logprob-max", "-10000", "--fraction-sft", "0")
    assert len(replayed(mixture)) == 40


def test_where_few_tactics_can_be_used_the_batch_is_smaller_and_its_proportions_stay(model):
    mixture, _, _ = mixture_of(model, "--negative-fraction", "0.5")
    long = [Transition("⊢ " + "p ∧ " * 200 + f"q{n}", "exact h", 1) for n in range(400)]
    mixture._buffers.add([Attempt(theorems(1)[0], "proven", transitions=tuple(long))], 1)
    mixture._buffers.add([Attempt(theorems(1)[0], "proven", transitions=tuple(FOUND))], 2)
    batch = mixture.batch(0, 0)
    kinds = Counter(item.continuations[0].kind for item in batch.examples[batch.num_sft :])
    wanted = round(kinds["tactic"] / (1 - batch.metrics["replay_too_long"]) / DRAWS)  # of 30, by the draw's binomial
    assert 0 < kinds["tactic"] < wanted < 30
    assert batch.num_sft == math.ceil(10 * kinds["tactic"] / wanted)
    assert kinds["negative"] == math.ceil((30 - wanted) * kinds["tactic"] / wanted)


def test_sft_data_that_changed_begin_anew(model, caplog):
    mixture, _, _ = mixture_of(model)
    mixture.batch(0, 0)
    position = mixture.position()
    same, _, _ = mixture_of(model, sft_position=position)
    assert same.position() == position and "begin anew" not in caplog.text
    other, _, _ = mixture_of(model, sft_position={**position, "size": 1})
    assert other.position()["offset"] == 0 and "the SFT data begin anew" in caplog.text


def test_solvers_that_are_left_to_the_search_are_not_learned(model, tmp_path):
    path = tmp_path / "data.jsonl"
    tactics = ["simp", "exact grindstone", "grind", "first | grind | rfl"]
    small.write_leantree(path, [Transition("⊢ p", tactic, 1) for tactic in tactics])
    counts = [len(mixture_of(model, "--sft-data", str(path), *more)[0].sft) for more in ([], ["--disable-solvers"])]
    assert counts == [4, 2]


def test_limits_are_looked_at_in_smaller_pieces_where_memory_is_short(model, monkeypatch):
    mixture, _, _ = mixture_of(model, "--replay-logprob-min=-1000", "--device-batch-size", "4")
    rows = []

    def short_of_memory(*args):
        rows.append(args[-1].device_batch_size)
        if rows[-1] > 1:
            raise torch.OutOfMemoryError("scripted")
        return tactic_logprobs(*args)

    monkeypatch.setattr("nanoproof.rl.learner.tactic_logprobs", short_of_memory)
    assert len(replayed(mixture)) == 30
    assert rows == [4, 2, 1]


def test_limits_that_leave_nothing_are_refused(model):
    with pytest.raises(UserError, match="--replay-logprob-min must be less than"):
        config_of(model, "--replay-logprob-min", "-1", "--replay-logprob-max", "-2")


def weights_of(learner):
    return torch.cat([parameter.detach().flatten() for parameter in learner.model.parameters()])


def test_who_collects_nothing_needs_something_to_learn_from() -> None:
    line = ["--model-path", "sft/run", "--fraction-sft", "0.25", "--collect-transitions", "0"]
    with pytest.raises(UserError, match="--load-buffer or --fraction-sft 1"):
        RLConfig.from_args(parse_args(line))
    assert RLConfig.from_args(parse_args([*line, "--load-buffer", "rl/run"])).rl.load_buffer == "rl/run"
