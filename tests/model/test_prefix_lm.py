"""A model whose states are read both ways: training and inference must see the same."""

from dataclasses import replace

import pytest
import torch

from nanoproof.data.transitions.packing import Continuation, Example, pack
from nanoproof.inference.engine import Engine
from nanoproof.inference.sampling import SamplingOptions
from nanoproof.model.checkpoint import load_model, save_checkpoint
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer
from tests.model.conftest import TEXTS, make_model


@pytest.fixture(params=["L", "SSL"])
def net(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> GPT:
    """With windows of 20 tokens for S, which is less than some of the states."""
    net = make_model(tokenizer, window_pattern=request.param, sequence_len=80, prefix_lm=True)
    with torch.no_grad():
        net.head.weight[tokenizer.eos] *= 3
    return net


def prompts_of(tokenizer: Tokenizer) -> list[list[int]]:
    return [[tokenizer.bos, *tokenizer.encode(text + "\n")] for text in TEXTS]


@torch.no_grad()
def packed_logits(net: GPT, example: Example, prefix_lm: bool) -> torch.Tensor:
    batch = pack([Example([1, 2, 3]), example], 80, 0)
    row, segment = next((r, s) for r in range(batch.segments.shape[0]) for s in (1, 2) if _holds(batch, r, s, example))
    return net(batch.tokens, batch.layout(prefix_lm))[row][batch.segments[row] == segment]


def _holds(batch, row: int, segment: int, example: Example) -> bool:
    return int((batch.segments[row] == segment).sum()) == len(example)


def test_the_engine_says_what_the_training_forward_says(net: GPT, tokenizer: Tokenizer) -> None:
    prompts = prompts_of(tokenizer)
    options = SamplingOptions(num_samples=5, max_new_tokens=12)
    answers = Engine(net, tokenizer).generate(prompts, options, seeds=list(range(len(prompts))))
    finished = 0
    for prompt, answer in zip(prompts, answers):
        for sample in answer.samples:
            tactic = Continuation([tokenizer.tactic, *sample.tokens, tokenizer.eos], "tactic")
            example = Example(prompt, [tactic, Continuation([tokenizer.value, tokenizer.bins[0]], "value")])
            logits = packed_logits(net, example, prefix_lm=True)[len(prompt) :]
            logprobs = logits[: len(sample.tokens) + 1, : tokenizer.eos + 1].log_softmax(dim=-1)
            expected = float(logprobs.gather(1, torch.tensor(tactic.tokens[1:]).unsqueeze(1)).sum())
            assert sample.logprob == pytest.approx(expected, abs=1e-4)
            bins = logits[len(tactic.tokens), list(tokenizer.bins)].softmax(dim=-1)
            assert answer.value_distribution == pytest.approx(bins.tolist(), abs=1e-5)
            finished += 1
    assert finished > 5


def test_an_early_token_of_a_state_sees_a_later_one(net: GPT, tokenizer: Tokenizer) -> None:
    seen = packed_logits(net, Example([5, 6, 7, 8]), True)[0]
    assert not torch.allclose(seen, packed_logits(net, Example([5, 6, 7, 9]), True)[0])
    hidden = packed_logits(net, Example([5, 6, 7, 8]), False)[0]
    assert torch.allclose(hidden, packed_logits(net, Example([5, 6, 7, 9]), False)[0], atol=1e-6)


def test_a_checkpoint_remembers_how_states_are_read(tokenizer: Tokenizer, tmp_path) -> None:
    net = make_model(tokenizer)
    net.config = replace(net.config, prefix_lm=True)
    save_checkpoint(tmp_path, 1, net, tokenizer)
    assert load_model(tmp_path)[0].config.prefix_lm
