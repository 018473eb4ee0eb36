"""Metrics of a policy equal what decoding and plain arithmetic give, and do not depend on how the work is dealt."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from nanoproof.data.transitions.packing import ExampleLimits
from nanoproof.inference.engine import Engine
from nanoproof.inference.sampling import SamplingOptions
from nanoproof.model.gpt import GPT
from nanoproof.policy.prompt import prompt_tokens
from nanoproof.training.batches import TransitionSet
from nanoproof.training.loss import LossWeights
from nanoproof.training.options import BatchOptions, OptimizerOptions
from nanoproof.training.policy_metrics import PolicyMetrics, policy_metrics
from nanoproof.training.step import StepSettings, build_optimizer, train_step
from tests.training import small

WORDS = small.tokenizer()
BATCH = BatchOptions(device_batch_size=3, row_length=128, value_weight=0.1)
LIMITS = ExampleLimits(sequence=128)


@pytest.fixture(scope="module")
def model() -> GPT:
    """A model that has learned some of the transitions."""
    model = small.model(WORDS)
    optimizer = build_optimizer(model, OptimizerOptions())
    examples, batch = small.examples(WORDS, 30), replace(BATCH, device_batch_size=32)
    for _ in range(45):
        train_step(model, optimizer, examples, 1.0, StepSettings(batch, LossWeights(0.1), 1.0, WORDS.pad), small.ALONE)
    return model


def measure(model: GPT, batch: BatchOptions = BATCH) -> PolicyMetrics:
    metrics = policy_metrics(model, WORDS, TransitionSet(WORDS, small.transitions(), LIMITS), batch, small.ALONE)
    assert metrics is not None
    return metrics


@torch.no_grad()
def plain_greedy(model: GPT, state: str) -> str:
    """The tactic, one token after the other, each by a forward of its own."""
    tokens = [*prompt_tokens(WORDS, state, 128), WORDS.tactic]
    for written in range(20):
        best = int(model(torch.tensor([tokens]))[0, -1, : WORDS.eos + 1].argmax())
        if best == WORDS.eos:
            return WORDS.decode(tokens[-written:]) if written else ""
        tokens.append(best)
    return "no end"


@torch.no_grad()
def value_distributions(model: GPT) -> np.ndarray:
    rows = [[*prompt_tokens(WORDS, item.state, 128), WORDS.value] for item in small.transitions()]
    bins = slice(WORDS.bins[0], WORDS.bins[-1] + 1)
    return np.array([model(torch.tensor([row]))[0, -1, bins].softmax(dim=-1).tolist() for row in rows])


def test_exact_matches_are_those_of_a_plain_greedy_decoder_and_of_the_engine(model: GPT) -> None:
    items = small.transitions()
    plain = [plain_greedy(model, item.state) for item in items]
    prompts = [prompt_tokens(WORDS, item.state, 128) for item in items]
    answers = Engine(model, WORDS).generate(prompts, SamplingOptions(1, 20, temperature=1e-6), [0] * len(items))
    cached = [WORDS.decode(answer.samples[0].tokens) if answer.samples else "no end" for answer in answers]
    assert cached == plain
    matches = sum(text == item.tactic for text, item in zip(plain, items))
    assert 5 < matches < 55, "the test must see hits and misses"
    assert measure(model).tactic_exact_match == pytest.approx(matches / 60)


def test_first_tokens_are_judged_by_what_would_be_sampled_first(model: GPT) -> None:
    hits, entropies = 0, []
    for item in small.transitions():
        with torch.no_grad():
            logits = model(torch.tensor([[*prompt_tokens(WORDS, item.state, 128), WORDS.tactic]]))[
                0, -1, : WORDS.eos + 1
            ]
        hits += int(logits.argmax()) == WORDS.encode(item.tactic)[0]
        entropies.append(float(torch.distributions.Categorical(logits=logits).entropy()))
    metrics = measure(model)
    assert metrics.tactic_first_token_accuracy == pytest.approx(hits / 60)
    assert metrics.tactic_first_token_entropy == pytest.approx(np.mean(entropies), abs=1e-4)


def test_values_are_judged_by_the_likeliest_and_by_the_expected_depth(model: GPT) -> None:
    probabilities = value_distributions(model)
    truth = np.array([item.depth for item in small.transitions()])
    expected = probabilities @ np.arange(1, 65)
    metrics = measure(model)
    assert metrics.value_mse_argmax == pytest.approx(np.square(probabilities.argmax(axis=1) + 1 - truth).mean())
    assert metrics.value_mse_expectation == pytest.approx(np.square(expected - truth).mean(), rel=1e-4)
    groups = [np.flatnonzero(np.rint(expected) == depth) for depth in range(1, 65)]
    error = sum(len(group) * abs(expected[group].mean() - truth[group].mean()) for group in groups if len(group)) / 60
    assert metrics.value_calibration_error == pytest.approx(error, abs=1e-4)
    row = metrics.depths[1]
    assert (row.depth, row.count) == (2, 20)
    assert row.mean_predicted == pytest.approx(expected[truth == 2].mean(), rel=1e-4)
    assert row.mse == pytest.approx(np.square(expected - 2)[truth == 2].mean(), rel=1e-4)
    assert row.mean_error == pytest.approx(expected[truth == 2].mean() - 2, rel=1e-4)
    assert row.mean_absolute_error == pytest.approx(np.abs(expected - 2)[truth == 2].mean(), rel=1e-4)
    assert sum(row.num_predicted for row in metrics.depths) == sum(row.count for row in metrics.depths) == 60


def test_losses_are_those_of_training(model: GPT) -> None:
    frozen = OptimizerOptions(matrix_lr=0, embedding_lr=0, unembedding_lr=0, scalar_lr=0)
    examples = small.examples(WORDS)
    trained = train_step(
        model,
        build_optimizer(model, frozen),
        examples,
        1.0,
        StepSettings(BATCH, LossWeights(0.1), 1.0, WORDS.pad),
        small.ALONE,
    )
    metrics = measure(model)
    assert metrics.tactic_loss == pytest.approx(trained["tactic_loss"], rel=1e-5)
    assert metrics.value_loss == pytest.approx(trained["value_loss"], rel=1e-5)
    assert metrics.tactic_perplexity == pytest.approx(math.exp(trained["tactic_loss"]), rel=1e-4)


def test_metrics_do_not_depend_on_how_many_ranks_share_the_work(model: GPT, monkeypatch) -> None:
    shares: list[list[float]] = []
    module = "nanoproof.training.policy_metrics"

    def collect(values: list[float]) -> list[float]:
        shares.append(values)
        return values

    alone = measure(model)
    items = TransitionSet(WORDS, small.transitions(), LIMITS)
    monkeypatch.setattr(f"{module}.all_reduce_sum", collect)
    for rank in range(3):
        policy_metrics(model, WORDS, items, BATCH, replace(small.ALONE, rank=rank, world_size=3))
    total = np.sum(shares, axis=0).tolist()
    monkeypatch.setattr(f"{module}.all_reduce_sum", lambda values: total)
    assert measure(model).scalars() == pytest.approx(alone.scalars(), rel=1e-5)


def test_nothing_to_look_at_and_a_wish_to_stop_give_nothing(model: GPT) -> None:
    assert policy_metrics(model, WORDS, TransitionSet(WORDS, [], LIMITS), BATCH, small.ALONE) is None
    items = TransitionSet(WORDS, small.transitions(), LIMITS)
    assert policy_metrics(model, WORDS, items, BATCH, small.ALONE, stopped=lambda: True) is None
