import pytest
import torch

from nanoproof.data.transitions.packing import ExampleLimits, encode_transition, pack
from nanoproof.lean.types import Transition
from nanoproof.training.loss import LossWeights, Normalizers, token_losses, transition_loss
from nanoproof.training.options import BatchOptions
from tests.training import small

WORDS = small.tokenizer()
BATCH = BatchOptions(device_batch_size=4, row_length=128)


def example(transition, negative=False):
    return encode_transition(WORDS, transition, ExampleLimits(sequence=128), negative)


def test_each_token_that_is_learned_has_its_loss_and_they_are_those_of_training():
    model = small.model(WORDS)
    examples = small.examples(WORDS, 3)
    shown = token_losses(model, WORDS, examples, BATCH)
    for one, item in zip(shown, examples, strict=True):
        assert len(one["tokens"]) == len(one["losses"]) == len(item)
        assert one["losses"][: len(item.prefix) + 1] == [None] * (len(item.prefix) + 1)
        text = "".join(token for token, loss in zip(one["tokens"], one["losses"]) if loss is not None)
        assert text.startswith(WORDS.decode(item.continuations[0].tokens))
        batch = pack([item], 128, WORDS.pad)
        norms = Normalizers(1.0, 1.0, 1.0)
        with torch.no_grad():
            total, _ = transition_loss(model, batch, LossWeights(value=1.0), norms)
        assert sum(loss for loss in one["losses"] if loss is not None) == pytest.approx(float(total), abs=1e-2)


def test_a_failed_tactic_loses_by_its_probability():
    model = small.model(WORDS)
    state = "p : Prop\n⊢ p"
    wrong = Transition(state, "exact h", 1)
    liked, failed = token_losses(model, WORDS, [example(wrong), example(wrong, negative=True)], BATCH)
    pairs = [(a, b) for a, b in zip(liked["losses"], failed["losses"]) if b is not None]
    assert pairs
    for nll, penalty in pairs:
        assert penalty == pytest.approx(-torch.log1p(-torch.exp(torch.tensor(-nll))).item(), abs=1e-3)
