import pytest
import torch

from nanoproof.training.loss import tactic_logprobs
from nanoproof.training.options import BatchOptions
from tests.training import small

WORDS = small.tokenizer()


def plain(model, example):
    """The sum over the tokens of the tactic, from the network's answer to this example alone."""
    tactic = example.continuations[0].tokens
    tokens = torch.tensor([example.prefix + tactic])
    logprobs = model(tokens).float().log_softmax(-1)[0]
    places = range(len(example.prefix), len(example.prefix) + len(tactic) - 1)
    return sum(float(logprobs[place, tokens[0, place + 1]]) for place in places)


def test_logprobs_are_those_of_each_tactic_alone_in_the_order_of_the_examples():
    model, examples = small.model(WORDS), small.examples(WORDS, 30)
    options = BatchOptions(row_length=128, device_batch_size=2, target_examples_per_step=8)
    with torch.no_grad():
        expected = [plain(model, example) for example in examples]
        found = tactic_logprobs(model, WORDS.pad, examples, options)
    assert found == pytest.approx(expected, rel=1e-4)
    assert len({round(value, 3) for value in expected}) > 5


def test_no_examples_have_no_logprobs():
    assert tactic_logprobs(small.model(WORDS), WORDS.pad, [], BatchOptions()) == []
