import math

import pytest
import torch

from nanoproof.common.errors import UserError
from nanoproof.data.packing import ExampleLimits, encode_transition
from nanoproof.data.transitions import Transition
from nanoproof.gpt.model import GPT
from nanoproof.training.loss import LossWeights
from nanoproof.training.options import BatchOptions, OptimizerOptions
from nanoproof.training.step import NonFiniteLoss, build_optimizer, train_step
from tests.training import small

WORDS = small.tokenizer()


def run_step(model, optimizer, examples, rows=4, **weights):
    batch = BatchOptions(device_batch_size=rows, row_length=128, value_weight=0.1)
    loss = LossWeights(0.1, **weights)
    return train_step(model, optimizer, examples, 1.0, batch, loss, 1.0, small.ALONE, WORDS.pad)


def test_training_lowers_tactic_and_value_loss():
    model = small.model(WORDS)
    optimizer = build_optimizer(model, OptimizerOptions())
    examples = small.examples(WORDS)
    first = run_step(model, optimizer, examples)
    for _ in range(30):
        last = run_step(model, optimizer, examples)
    assert last["tactic_loss"] < 0.5 * first["tactic_loss"]
    assert last["value_loss"] < 0.5 * first["value_loss"]


def test_micro_batches_give_the_gradients_of_one_batch():
    results = []
    for rows in (1, 100):
        model = small.model(WORDS)
        optimizer = build_optimizer(model, OptimizerOptions())
        run_step(model, optimizer, small.examples(WORDS), rows)
        results.append(small.gradients(optimizer))
    assert all(torch.allclose(gradient, results[1][name], atol=1e-6) for name, gradient in results[0].items())


def test_unlikelihood_makes_a_failed_tactic_less_likely():
    failed = [encode_transition(WORDS, Transition("⊢ p", "exact h", 1), ExampleLimits(), negative=True)]
    model = small.model(WORDS)
    optimizer = build_optimizer(model, OptimizerOptions())
    examples = small.examples(WORDS) + failed * 4
    first = run_step(model, optimizer, examples, unlikelihood=1.0)
    for _ in range(20):
        last = run_step(model, optimizer, examples, unlikelihood=1.0)
    assert last["unlikelihood_loss"] < first["unlikelihood_loss"]


def test_a_loss_that_is_not_finite_stops_before_the_weights_change():
    model = small.model(WORDS)
    optimizer = build_optimizer(model, OptimizerOptions())
    with torch.no_grad():
        model.head.weight[0, 0] = math.nan
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(NonFiniteLoss):
        run_step(model, optimizer, small.examples(WORDS))
    assert all(torch.equal(value.nan_to_num(), before[name].nan_to_num()) for name, value in model.state_dict().items())


def test_a_gradient_that_is_not_finite_stops_before_the_weights_change():
    model = small.model(WORDS)
    optimizer = build_optimizer(model, OptimizerOptions())
    model.head.weight.register_hook(lambda gradient: gradient * math.inf)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(NonFiniteLoss, match="gradient"):
        run_step(model, optimizer, small.examples(WORDS))
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_training_in_fp16_is_refused():
    config = small.model(WORDS).config
    with pytest.raises(UserError, match=r"NANOPROOF_DTYPE=float16 .* bfloat16 or float32"):
        build_optimizer(GPT.create(config, compute_dtype=torch.float16), OptimizerOptions())
