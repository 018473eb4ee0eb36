import math

import pytest
import torch

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json
from nanoproof.data.transitions.packing import ExampleLimits, encode_transition
from nanoproof.lean.types import Transition
from nanoproof.model.gpt import GPT
from nanoproof.training import step
from nanoproof.training.loss import LossWeights
from nanoproof.training.options import BatchOptions, OptimizerOptions
from nanoproof.training.step import FailedStep, MicroBatches, NonFiniteLoss, StepSettings, build_optimizer, train_step
from tests.training import small

WORDS = small.tokenizer()


def run_step(model, optimizer, examples, rows=4, pieces=None, **weights):
    batch = BatchOptions(device_batch_size=rows, row_length=128, value_weight=0.1)
    loss = LossWeights(0.1, **weights)
    return train_step(model, optimizer, examples, 1.0, StepSettings(batch, loss, 1.0, WORDS.pad), small.ALONE, pieces)


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
    for _ in range(30):
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


def test_a_batch_that_does_not_fit_is_tried_in_smaller_pieces_with_the_same_gradient(monkeypatch):
    real, sizes, snapshots = step.transition_loss, [], []

    def small_memory(model, batch, *rest):
        sizes.append(len(batch.tokens))
        if len(batch.tokens) > 1 and len(sizes) != 1:  # the first piece fits, the second does not: nothing of it counts
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(model, batch, *rest)

    examples, results = small.examples(WORDS) * 3, []
    for loss in (real, small_memory):
        monkeypatch.setattr(step, "transition_loss", loss)
        model, pieces = small.model(WORDS), MicroBatches(4, lambda: snapshots.append(len(sizes)))
        optimizer = build_optimizer(model, OptimizerOptions())
        run_step(model, optimizer, examples, pieces=pieces)
        results.append(small.gradients(optimizer))
    assert all(torch.allclose(gradient, results[1][name], atol=1e-6) for name, gradient in results[0].items())
    assert sizes[0] == 4 and pieces.rows == 1 and snapshots == [2]
    run_step(model, optimizer, examples, pieces=pieces)
    assert sizes[-1] == 1 and len(snapshots) == 1


def test_a_row_that_does_not_fit_alone_is_an_error():
    def compute(rows):
        raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(torch.OutOfMemoryError):
        MicroBatches(3).run(compute)


def test_a_step_that_failed_tells_what_was_not_finite(tmp_path):
    model = small.model(WORDS)
    with torch.no_grad():
        model.head.weight[0, 0] = math.nan
    with pytest.raises(FailedStep) as failure:
        run_step(model, build_optimizer(model, OptimizerOptions()), small.examples(WORDS))
    failure.value.write(tmp_path / "failed.json", model, {"step": 7})
    told = read_json(tmp_path / "failed.json")
    assert told["step"] == 7 and told["pieces"][0]["loss"] == "nan"
    assert told["weight_norms"]["head.weight"] == "nan" and told["weight_norms"]["embedding.weight"] > 0
    assert torch.load(tmp_path / "failed.pt")["tokens"].shape[1] == 128
