"""The engine says what the network says: with cache and without, alone and in company."""

import math
from collections import Counter

import pytest
import torch

from nanoproof.inference.engine import Completion, Engine
from nanoproof.inference.sampling import SamplingOptions
from nanoproof.model.attention import DenseAttention
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer
from tests.model.conftest import TEXTS, make_model

pytestmark = pytest.mark.usefixtures("backend")
OPTIONS = SamplingOptions(num_samples=5, max_new_tokens=12, first_token_cap=2)


def prompts_of(tokenizer: Tokenizer, texts: list[str]) -> list[list[int]]:
    return [[tokenizer.bos, *tokenizer.encode(text + "\n")] for text in texts]


@torch.no_grad()
def eager_eos(model: GPT, tokenizer: Tokenizer, logit: float) -> GPT:
    """The same network with a head that likes to end: on average over a text, EOS has this logit (others about 0)."""
    tokens = torch.tensor([[tokenizer.bos, *tokenizer.encode("\n".join(TEXTS))][:70]])
    positions = torch.arange(tokens.shape[1]).unsqueeze(0)
    attention = DenseAttention(model.config.windows, None, tokens.shape[1], model.device)
    mean = model.trunk(tokens, positions, attention).mean(dim=(0, 1))
    model.head.weight[tokenizer.eos] = logit * mean / mean.square().sum()
    return model


def full_logprob(model: GPT, tokenizer: Tokenizer, prompt: list[int], tokens: list[int]) -> float:
    """log p of a tactic by one plain causal forward, over text tokens and EOS."""
    whole = torch.tensor([[*prompt, tokenizer.tactic, *tokens]])
    logprobs = model(whole)[0, len(prompt) :, : tokenizer.eos + 1].log_softmax(dim=-1)
    targets = torch.tensor([*tokens, tokenizer.eos])
    return float(logprobs.gather(1, targets.unsqueeze(1)).sum())


def full_value(model: GPT, tokenizer: Tokenizer, prompt: list[int]) -> list[float]:
    logits = model(torch.tensor([[*prompt, tokenizer.value]]))[0, -1, list(tokenizer.bins)]
    return logits.softmax(dim=-1).tolist()


@pytest.fixture(params=["plain", "windows", "grouped"])
def net(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> GPT:
    options = {
        "plain": {"window_pattern": "L"},
        "windows": {"window_pattern": "SSL", "sequence_len": 80},  # windows of 20 tokens
        "grouped": {"num_kv_heads": 1},
    }[request.param]
    return eager_eos(make_model(tokenizer, **options), tokenizer, 5.0)


@torch.no_grad()
def test_cached_and_batched_logprobs_equal_a_full_forward(net: GPT, tokenizer: Tokenizer) -> None:
    prompts = prompts_of(tokenizer, TEXTS)
    answers = Engine(net, tokenizer).generate(prompts, OPTIONS, seeds=list(range(len(prompts))))
    finished = 0
    lengths = Counter[int]()
    for prompt, answer in zip(prompts, answers):
        for sample in answer.samples:
            finished += 1
            lengths[len(sample.tokens)] += 1
            assert sample.logprob == pytest.approx(full_logprob(net, tokenizer, prompt, sample.tokens), abs=1e-4)
        assert answer.value_distribution == pytest.approx(full_value(net, tokenizer, prompt), abs=1e-5)
    assert finished > 10 and len(lengths) > 4, "the test must see samples that end at different times"


def test_an_answer_does_not_depend_on_its_neighbours(net: GPT, tokenizer: Tokenizer) -> None:
    prompts = prompts_of(tokenizer, TEXTS)
    engine = Engine(net, tokenizer)
    together = engine.generate(prompts, OPTIONS, seeds=list(range(len(prompts))))
    for index, prompt in enumerate(prompts):
        alone = engine.generate([prompt], OPTIONS, seeds=[index])[0]
        assert [s.tokens for s in alone.samples] == [s.tokens for s in together[index].samples]
        assert [s.logprob for s in alone.samples] == pytest.approx(
            [s.logprob for s in together[index].samples], rel=1e-6, abs=1e-5
        )
        assert alone.value_distribution == pytest.approx(together[index].value_distribution, abs=1e-5)


@torch.no_grad()
def test_bfloat16_samples_have_nearly_the_fp32_probabilities(net: GPT, tokenizer: Tokenizer) -> None:
    rough = GPT.allocate(net.config, compute_dtype=torch.bfloat16)
    rough.load_state_dict(net.state_dict())
    prompts = prompts_of(tokenizer, TEXTS)
    answers = Engine(rough, tokenizer).generate(prompts, OPTIONS, seeds=list(range(len(prompts))))
    for prompt, answer in zip(prompts, answers):
        assert answer.value_distribution == pytest.approx(full_value(net, tokenizer, prompt), abs=0.05)
        for sample in answer.samples:
            expected = full_logprob(net, tokenizer, prompt, sample.tokens)
            assert sample.logprob == pytest.approx(expected, rel=0.02, abs=0.2)


def test_answers_come_in_the_order_of_the_prompts(model: GPT, tokenizer: Tokenizer) -> None:
    prompts = prompts_of(tokenizer, TEXTS)
    engine = Engine(model, tokenizer)
    forward = engine.generate(prompts, OPTIONS, seeds=[7] * len(prompts))
    backward = engine.generate(prompts[::-1], OPTIONS, seeds=[7] * len(prompts))
    for first, second in zip(forward, backward[::-1]):
        assert first.value == pytest.approx(second.value, abs=1e-4)


def test_seeds_decide_the_samples(model: GPT, tokenizer: Tokenizer) -> None:
    engine = Engine(eager_eos(make_model(tokenizer), tokenizer, 5.0), tokenizer)
    prompt = prompts_of(tokenizer, TEXTS[:1])

    def tokens(seed: int) -> list[list[int]]:
        return [sample.tokens for sample in engine.generate(prompt, OPTIONS, seeds=[seed])[0].samples]

    assert tokens(1) == tokens(1)
    assert tokens(1) != tokens(2)


def first_token_counts(answer: Completion, eos: int) -> Counter[int]:
    return Counter((sample.tokens or [eos])[0] for sample in answer.samples)


@pytest.mark.parametrize("cap", [1, 2, 3])
def test_no_more_samples_than_the_cap_share_a_first_token(tokenizer: Tokenizer, cap: int) -> None:
    sure = eager_eos(make_model(tokenizer), tokenizer, 60.0)  # all but certain to answer EOS at once
    options = SamplingOptions(num_samples=6, max_new_tokens=20, first_token_cap=cap)
    answers = Engine(sure, tokenizer).generate(prompts_of(tokenizer, TEXTS), options, seeds=list(range(len(TEXTS))))
    counts = [first_token_counts(answer, tokenizer.eos) for answer in answers]
    assert all(max(count.values()) <= cap for count in counts)
    assert any(max(count.values()) == cap for count in counts)


def test_without_a_cap_samples_may_all_begin_alike(tokenizer: Tokenizer) -> None:
    sure = eager_eos(make_model(tokenizer), tokenizer, 60.0)
    options = SamplingOptions(num_samples=6, max_new_tokens=4, first_token_cap=None)
    answer = Engine(sure, tokenizer).generate(prompts_of(tokenizer, TEXTS[:1]), options, seeds=[0])[0]
    assert first_token_counts(answer, tokenizer.eos) == {tokenizer.eos: 6}


def test_samples_that_do_not_end_are_dropped_and_counted(model: GPT, tokenizer: Tokenizer) -> None:
    options = SamplingOptions(num_samples=6, max_new_tokens=3)
    answers = Engine(model, tokenizer).generate(prompts_of(tokenizer, TEXTS), options, seeds=list(range(len(TEXTS))))
    assert all(len(answer.samples) + answer.num_unfinished == 6 for answer in answers)
    assert all(len(sample.tokens) < 3 for answer in answers for sample in answer.samples)
    assert sum(answer.num_unfinished for answer in answers) > 0


def test_markers_are_never_sampled(model: GPT, tokenizer: Tokenizer) -> None:
    eager = make_model(tokenizer)
    with torch.no_grad():
        eager.head.weight[tokenizer.eos + 1 :] = eager.head.weight[tokenizer.eos] = 0.0
        eager.head.weight[: tokenizer.eos] = 0.0  # all tokens are equally likely, a sixth of them markers
    options = SamplingOptions(num_samples=20, max_new_tokens=24)
    answers = Engine(eager, tokenizer).generate(prompts_of(tokenizer, TEXTS), options, seeds=list(range(len(TEXTS))))
    samples = [sample for answer in answers for sample in answer.samples]
    assert samples
    assert all(token < tokenizer.num_text_tokens for sample in samples for token in sample.tokens)


def test_temperature_changes_the_choice_but_not_the_reported_probability(tokenizer: Tokenizer) -> None:
    net = eager_eos(make_model(tokenizer), tokenizer, 5.0)
    prompt = prompts_of(tokenizer, TEXTS[:1])
    cold = SamplingOptions(num_samples=8, max_new_tokens=16, temperature=0.05)
    samples = Engine(net, tokenizer).generate(prompt, cold, seeds=[3])[0].samples
    for sample in samples:
        with torch.no_grad():
            assert sample.logprob == pytest.approx(full_logprob(net, tokenizer, prompt[0], sample.tokens), abs=1e-4)
    hot = Engine(net, tokenizer).generate(prompt, SamplingOptions(8, 16, None, 1.0), seeds=[3])[0].samples
    assert len({tuple(sample.tokens) for sample in samples}) < len({tuple(sample.tokens) for sample in hot}) or not hot


def test_sampled_frequencies_follow_the_reported_probabilities(tokenizer: Tokenizer) -> None:
    net = eager_eos(make_model(tokenizer, depth=1), tokenizer, 5.0)
    prompt = prompts_of(tokenizer, TEXTS[:1])
    options = SamplingOptions(num_samples=2000, max_new_tokens=2)
    samples = Engine(net, tokenizer).generate(prompt, options, seeds=[11])[0].samples
    ended_at_once = [sample for sample in samples if not sample.tokens]
    expected = math.exp(ended_at_once[0].logprob)
    assert len(ended_at_once) / 2000 == pytest.approx(expected, abs=4 * math.sqrt(expected / 2000))


def test_value_is_the_mean_of_the_bins() -> None:
    distribution = [0.0] * 64
    distribution[0], distribution[63] = 0.5, 0.5
    assert Completion([], 0, distribution).value == pytest.approx(32.5)


def test_too_long_prompts_are_refused(model: GPT, tokenizer: Tokenizer) -> None:
    with pytest.raises(ValueError, match="1 to 116 tokens, got 117"):
        Engine(model, tokenizer).generate([[tokenizer.bos] * 117], OPTIONS, seeds=[0])


def test_a_broken_model_is_an_error_and_leaves_no_trace(tokenizer: Tokenizer) -> None:
    net = make_model(tokenizer)
    engine = Engine(net, tokenizer)
    prompts = prompts_of(tokenizer, TEXTS)
    before = engine.generate(prompts, OPTIONS, seeds=[0] * len(prompts))
    weight = net.layers[0].qkv.weight.detach().clone()
    with torch.no_grad():
        net.layers[0].qkv.weight.fill_(math.nan)
        engine.refresh()
        with pytest.raises(FloatingPointError):
            engine.generate(prompts, OPTIONS, seeds=[0] * len(prompts))
        net.layers[0].qkv.weight.copy_(weight)
    engine.refresh()
    assert engine.generate(prompts, OPTIONS, seeds=[0] * len(prompts)) == before


def test_memory_that_is_given_back_is_taken_again_with_the_same_answers(net: GPT, tokenizer: Tokenizer) -> None:
    prompts = prompts_of(tokenizer, TEXTS[:3])
    engine = Engine(net, tokenizer)
    before = engine.generate(prompts, OPTIONS, seeds=[0, 1, 2])
    assert engine.stats.cache_bytes > 0
    engine.release()
    assert engine.stats.cache_bytes == 0
    assert engine.generate(prompts, OPTIONS, seeds=[0, 1, 2]) == before
