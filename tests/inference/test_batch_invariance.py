"""Padded float32 batches: bits that do not depend on batch mates, where the processor's products allow it."""

import random

import pytest
import torch
import torch.nn.functional as F

from nanoproof.common.distributed import init_distributed
from nanoproof.evaluation import command
from nanoproof.inference import batch_invariance
from nanoproof.inference.batch_invariance import COLUMNS, ROWS, attend_padded, check_rows
from nanoproof.inference.engine import Engine
from nanoproof.inference.model_options import EngineLimits
from nanoproof.model.attention import causal_mask
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer
from tests.inference.test_engine_batching import OPTIONS, lively, some_prompts

PADDED = EngineLimits(batch_invariant=True)


def answers(engine: Engine, prompts: list[list[int]], in_flight: int, order: int) -> dict[int, object]:
    """Answer the prompts in some order, with so many under way at a time."""
    todo, active, found = list(range(len(prompts))), {}, {}
    random.Random(order).shuffle(todo)
    while todo or active:
        while todo and len(active) < in_flight:
            number = todo.pop()
            active[engine.submit(prompts[number], OPTIONS, seed=number)] = number
        for request in engine.step():
            found[active.pop(request)] = request.completion
    return found


@pytest.fixture(scope="module")
def net(tokenizer: Tokenizer) -> GPT:
    return lively(tokenizer, sequence_len=128)


@pytest.mark.usefixtures("backend")
def test_answers_have_the_same_bits_in_every_batch(net: GPT, tokenizer: Tokenizer) -> None:
    if problem := check_rows(net, tokenizer.eos + 1):
        pytest.skip(f"products of this processor depend on the batch: {problem}")
    prompts = some_prompts(tokenizer, random.Random(0), 20)
    alone = {number: answers(Engine(net, tokenizer, PADDED), [p], 1, 0)[0] for number, p in enumerate(prompts[:1])}
    together = answers(Engine(net, tokenizer, PADDED), prompts, 20, 0)
    assert together[0] == alone[0]
    for in_flight, order in ((7, 1), (1, 2)):
        assert answers(Engine(net, tokenizer, PADDED), prompts, in_flight, order) == together


@pytest.mark.usefixtures("by_torch")
def test_padded_answers_are_those_of_plain_batches_up_to_rounding(net: GPT, tokenizer: Tokenizer) -> None:
    prompts = some_prompts(tokenizer, random.Random(1), 8)
    padded, plain = (answers(Engine(net, tokenizer, limits), prompts, 8, 0) for limits in (PADDED, EngineLimits()))
    for number, answer in plain.items():
        assert [sample.tokens for sample in padded[number].samples] == [sample.tokens for sample in answer.samples]
        logprobs = [sample.logprob for sample in answer.samples]
        assert [sample.logprob for sample in padded[number].samples] == pytest.approx(logprobs, abs=1e-4)
        assert padded[number].value == pytest.approx(answer.value, abs=1e-4)


@pytest.mark.usefixtures("by_torch")
def test_every_product_has_padded_sizes(net: GPT, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(net, tokenizer, PADDED)
    rows, columns = set(), set()
    linear, bmm = F.linear, torch.bmm

    def seen_linear(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        rows.add(x.numel() // x.shape[-1])
        return linear(x, weight)

    def seen_bmm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        columns.update({b.shape[1], b.shape[2]} - {net.config.head_dim})
        return bmm(a, b)

    monkeypatch.setattr(F, "linear", seen_linear)
    monkeypatch.setattr(torch, "bmm", seen_bmm)
    answers(engine, some_prompts(tokenizer, random.Random(2), 9), 3, 0)
    last_layer_of_prompts = 1  # computed and not read
    assert rows and all(number % ROWS == 0 for number in rows - {last_layer_of_prompts})
    assert columns and all(number % COLUMNS == 0 for number in columns)


def test_attention_of_a_prompt_is_that_of_torch() -> None:
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(150, heads, 16, generator=generator) for heads in (4, 2, 2))
    mask = causal_mask(150, torch.device("cpu"))[0]
    whole = F.scaled_dot_product_attention(*(x.transpose(0, 1) for x in (q, k, v)), is_causal=True, enable_gqa=True)
    assert torch.allclose(attend_padded(q, k, v, mask), whole.transpose(0, 1), atol=1e-5)
    assert torch.allclose(attend_padded(q[140:], k, v, mask[140:]), whole.transpose(0, 1)[140:], atol=1e-5)


@pytest.mark.usefixtures("by_torch")
def test_products_that_depend_on_the_batch_are_found(
    net: GPT, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    linear = F.linear
    monkeypatch.setattr(batch_invariance.F, "linear", lambda x, weight: linear(x, weight) + 1e-6 * (len(x) > 100))
    assert "rows by a matrix" in check_rows(net, tokenizer.eos + 1)
    with pytest.raises(ValueError, match="float64"):
        Engine(net, tokenizer, PADDED)


@pytest.mark.parametrize(("problem", "dtype"), [("", torch.float32), ("2 rows by a matrix", torch.float64)])
def test_an_evaluation_takes_float32_where_the_processor_allows_it(
    problem: str, dtype: torch.dtype, net: GPT, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NANOPROOF_DTYPE", raising=False)
    monkeypatch.setattr(command, "load_network", lambda policy, path, dist: (net, tokenizer))
    monkeypatch.setattr(command, "check_rows", lambda network, tokens: problem)
    options = command.EvalOptions(policy="uniform", cpu_dtype="auto")
    by_torch = EngineLimits(backend="torch")
    dist, limits = command.repeatable(init_distributed("cpu"), options, by_torch, "model")
    assert (dist.dtype, limits.batch_invariant) == (dtype, not problem)
    monkeypatch.setattr(command, "missing_for_native", lambda network, limits: None)  # compiled code needs no padding
    assert command.repeatable(init_distributed("cpu"), options, EngineLimits(), "model")[1].batch_invariant
    assert command.repeatable(init_distributed("cpu"), options)[0].dtype == torch.float64  # the policy has no network


def test_other_types_are_refused(tokenizer: Tokenizer) -> None:
    net = lively(tokenizer)
    net.compute_dtype = torch.float64
    with pytest.raises(ValueError, match="float32 on a CPU"):
        Engine(net, tokenizer, PADDED)
