"""The Triton kernels of the inference engine, in Triton's interpreter, against the operators they stand for.

Tolerances: 1e-5 in fp32 (sums in another order), 2e-2 in bf16 (a product more or less that is rounded).
"""

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from nanoproof.inference.decode import DecodeAttention, GroupInfo, SequenceGroups, fused_or_not, plan_step
from nanoproof.inference.engine import Engine
from nanoproof.inference.fused import FusedNetwork
from nanoproof.inference.kv_cache import SLOT_POSITION, SlotPool, SlotSize
from nanoproof.inference.model_options import EngineLimits
from nanoproof.inference.sampling import EngineRequest, SamplingOptions, next_tokens, shaped_logits
from nanoproof.model.gpt import GPT, LOGIT_SOFTCAP
from nanoproof.model.tokenizer import Tokenizer, train_tokenizer
from tests.fake_cuda.harness import Pretend  # which asks for Triton's interpreter before Triton is imported
from tests.inference.test_engine_batching import Replayed, texts, training_view
from tests.model.conftest import TEXTS, make_model

triton_kernels = pytest.importorskip(
    "nanoproof.inference.triton_kernels", reason="Triton is not installed", exc_type=ImportError
)
pytestmark = pytest.mark.skipif(not triton_kernels.interpreted(), reason="Triton was imported without its interpreter")


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train_tokenizer(TEXTS * 3, 520)


def network(tokenizer: Tokenizer, dtype: torch.dtype = torch.float32, **shape: object) -> GPT:
    """A small network whose weights have that dtype, as the engine's have."""
    net = make_model(tokenizer, **shape).requires_grad_(False)
    net.compute_dtype = dtype
    for parameter in net.parameters():
        parameter.data = parameter.data.to(dtype)
    return net


def close(ours: torch.Tensor, wanted: torch.Tensor) -> None:
    tolerance = 1e-5 if wanted.dtype == torch.float32 else 2e-2
    error = float((ours.float() - wanted.float()).norm() / wanted.float().norm())
    assert error <= tolerance, f"{error:.1e}"


# heads, key/value heads, head size, longest sequence (windows are a quarter of it, and all), slots' columns, dtype
SHAPES = [
    (2, 2, 16, 480, 128, torch.float32),
    (4, 2, 24, 160, 192, torch.float32),
    (6, 1, 8, 260, 256, torch.bfloat16),
]


@pytest.mark.parametrize(("heads", "kv_heads", "size", "longest", "columns", "dtype"), SHAPES)
def test_attention_reads_appends_and_marks_as_the_plain_way(
    tokenizer: Tokenizer, heads: int, kv_heads: int, size: int, longest: int, columns: int, dtype: torch.dtype
) -> None:
    rng, torch_rng, cpu = random.Random(heads), torch.Generator().manual_seed(heads), torch.device("cpu")
    shape = {"depth": 2, "aspect_ratio": heads * size // 2, "head_dim": size, "num_kv_heads": kv_heads}
    net = network(tokenizer, dtype, sequence_len=longest, window_pattern="SL", **shape)
    assert net.config.num_heads == heads
    fused, groups, sizes = FusedNetwork(net), SequenceGroups(cpu), [SlotSize(columns, 3), SlotSize(columns - 16, 2)]
    plain_pools, our_pools = ([SlotPool(net.config, one, 5, dtype, cpu) for one in sizes] for _ in range(2))
    members: list[np.ndarray] = []
    for one, other in zip(plain_pools, our_pools, strict=True):
        mine = []
        for slot in sorted(rng.sample(range(5), 3)):
            length = rng.choice([3, 63, 64, 65, min(columns, longest) - 40])
            request = EngineRequest([0] * length, SamplingOptions(one.size.sequences, 8), slot)
            mine.append(groups.open(GroupInfo(request, 0, one.size.sequences, one.size), slot, 8, [1, 2]))
            for pool in (one, other):
                pool._in_use[slot] = True
                pool.open(slot, length, with_value=True)
        members.append(np.array(mine))
        for name in ("keys_LSJDC", "values_LSJCD"):
            filling = torch.randn(getattr(one, name).shape, generator=torch_rng).to(dtype)
            getattr(one, name).copy_(filling)
            getattr(other, name).copy_(filling)
    every, where = np.concatenate(members), (groups.slot, groups.position)
    for step in range(3):
        plan = plan_step(groups, list(zip(plain_pools, members, strict=True)), net.config.windows)
        rows_5N, slots_4S = torch.from_numpy(plan.rows_5N), torch.from_numpy(plan.slots_4S)
        plain = DecodeAttention(net.config.windows, plain_pools, plan.shape, rows_5N, slots_4S[SLOT_POSITION])
        ours = fused.decode_attend(our_pools, [pool.slots for pool in plan.shape.pools], rows_5N, slots_4S)
        for layer in range(2):
            qkv = torch.randn(plan.shape.rows, (heads + 2 * kv_heads) * size, generator=torch_rng).to(dtype)
            values = torch.randn(plan.shape.rows, kv_heads * size, generator=torch_rng).to(dtype)
            q, k, v = triton_kernels.project(
                qkv, values, net.value_scale, fused._rope, rows_5N[0], layer, heads, kv_heads
            )
            found = ours(layer, qkv, values)
            assert found is not None
            close(found, plain(layer, q[None], k[None], v[None])[0].flatten(1))
        for one, other in zip(plain_pools, our_pools, strict=True):
            close(other.keys_LSJDC, one.keys_LSJDC)
            close(other.values_LSJCD, one.values_LSJCD)
            assert torch.equal(other.bias_SQC[:5], one.bias_SQC[:5])
            assert torch.equal(other.positions_SC, one.positions_SC) or not one.windowed
        groups.filled[every] += plan.counts_G
        groups.position[every] += plan.counts_G > 0
        if step == 0:  # markers become samples
            groups.filled[every] = groups.position[every]
            for mine, *both in zip(members, plain_pools, our_pools, strict=True):
                groups.running[mine, : both[0].size.sequences] = True
                for pool in both:
                    pool.drop_value(torch.from_numpy(where[0][mine]), torch.from_numpy(where[1][mine] - 1))
        groups.running[every[0], 1] = False  # a sample that ended, and a slot without any
        groups.running[every[-1]] &= step != 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_prompt_goes_through_the_network_as_by_its_blocks(tokenizer: Tokenizer, dtype: torch.dtype) -> None:
    for shape in ({}, {"num_kv_heads": 1, "aspect_ratio": 24, "head_dim": 24}, {"value_embedding": False}):
        net = network(tokenizer, dtype, **shape)
        fused, seen = FusedNetwork(net), []
        tokens_N, positions_N = torch.randint(0, 500, (9,)), torch.arange(3, 12)

        def attend(layer: int, *qkv: torch.Tensor, seen: list = seen) -> torch.Tensor:
            seen.append(qkv)
            return qkv[0]

        net.trunk(tokens_N[None], positions_N[None], attend)
        assert fused.trunk(tokens_N, fused.split_attend(positions_N, attend)) is None
        assert len(seen) == 2 * net.config.depth
        for wanted, ours in zip(seen[: net.config.depth], seen[net.config.depth :]):
            for a, b in zip(ours, wanted):
                close(a, b)


@pytest.mark.parametrize("shaped", [False, True])
def test_sampled_tokens_are_those_of_the_plain_way(shaped: bool) -> None:
    rng, num_tokens, rows = torch.Generator().manual_seed(0), 5000, 24
    raw = 30 * torch.randn(rows, 5056, generator=rng)
    logits = LOGIT_SOFTCAP * torch.tanh(raw[:, :num_tokens] / LOGIT_SOFTCAP)
    noise, shaping = torch.rand(9, 4, 2, generator=rng), torch.tensor([[1.0, 1.0], [0.5, 1.0], [2.0, 1.0]]).repeat(4, 1)
    last, rows_5N = torch.zeros(12, 2, dtype=torch.long), torch.zeros(5, rows, dtype=torch.long)
    rows_5N[3], rows_5N[4] = torch.arange(rows), torch.randperm(72, generator=rng)[:rows]
    tokens, logprobs = triton_kernels.sample(raw, num_tokens, rows_5N, noise, shaping, last, shaped)
    drawn_from = logits
    if shaped:
        drawn_from = shaped_logits(logits, shaping[rows_5N[3] // 2].T.unsqueeze(-1), False)
    wanted = next_tokens(drawn_from.softmax(dim=-1), noise.flatten()[rows_5N[4]])
    assert len(set(wanted.tolist())) > 12 and tokens.tolist() == wanted.tolist() == last.flatten().tolist()
    expected = logits.log_softmax(dim=-1).gather(1, wanted[:, None])[:, 0]
    torch.testing.assert_close(logprobs, expected, rtol=0, atol=2e-5)


def test_no_other_token_is_drawn_at_the_ends_and_what_is_not_finite_shows() -> None:
    raw = torch.full((4, 128), -40.0)
    raw[0, 0], raw[1, 99], raw[2, 3] = 40.0, 40.0, 40.0
    raw[3, 5] = torch.nan
    rows_5N, last = torch.zeros(5, 4, dtype=torch.long), torch.zeros(5, 1, dtype=torch.long)
    rows_5N[3] = rows_5N[4] = torch.arange(4)
    noise = torch.tensor([0.0, 1 - 2**-24, 0.5, 0.5]).view(4, 1, 1)
    tokens, logprobs = triton_kernels.sample(raw, 100, rows_5N, noise, torch.ones(5, 2), last, False)
    assert tokens[:3].tolist() == [0, 99, 3]
    assert not torch.isfinite(logprobs[3]) and torch.isfinite(logprobs[:3]).all() and 0 <= tokens[3] < 100


@pytest.mark.parametrize(
    "shape", [{"window_pattern": "SL", "sequence_len": 80, "num_kv_heads": 1, "aspect_ratio": 32}, {"depth": 1}]
)
def test_the_engine_answers_over_kernels_as_a_full_forward_and_as_without(tokenizer: Tokenizer, shape: dict) -> None:
    rng = random.Random(3)
    net = network(tokenizer, **({"depth": 2} | shape))
    prompts = [[tokenizer.bos, *rng.choices(range(tokenizer.num_text_tokens), k=n)] for n in (3, 16, 40, 16, 51)]
    prompts.append([*prompts[2], 7, 8])
    kinds = [SamplingOptions(3, 5), SamplingOptions(2, 6, first_token_cap=1, temperature=0.7)]
    kinds.append(SamplingOptions(2, 4, top_p=0.9))
    answers = []
    for kernels in ("on", "off"):
        limits = EngineLimits(cache_mbytes=3.0, max_rows=7, kernels=kernels)  # type: ignore[arg-type]
        engine = Engine(net, tokenizer, limits, recorder=Replayed(), read_late=True)
        requests = [engine.submit(p, kinds[i % 3], i) for i, p in enumerate(prompts)]
        while not engine.idle:
            engine.step()
        assert engine.stats.replayed_steps > 0
        answers.append([request.completion for request in requests])
    assert (
        Engine(net, tokenizer, EngineLimits(backend="torch", kernels="on")).decisions()["engine_kernels"]
        == "on (asked for)"
    )
    for prompt, answer, plain in zip(prompts, *answers, strict=True):
        assert texts(answer) == texts(plain)
        logprobs, bins = training_view(net, tokenizer, prompt, answer)
        assert [sample.logprob for sample in answer.samples] == pytest.approx(logprobs, abs=1e-4)
        assert answer.value_distribution == pytest.approx(bins, abs=1e-5)
        unfinished = [[sample.tokens for sample in one.unfinished] for one in (answer, plain)]
        assert unfinished[0] == unfinished[1]


def test_kernels_that_differ_or_fail_are_not_used(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    net = network(tokenizer)
    with Pretend() as device:
        device.move(net)
        launched = triton_kernels.launch
        fused, reason = fused_or_not(net, 512, "auto")
        assert fused is not None and reason == "CUDA device"

        def wrong(kernel: object, grid: tuple, *args: object, **constants: object) -> None:
            launched(kernel, grid, *args, **constants)
            if kernel is triton_kernels._square_relu:
                args[0].neg_()  # type: ignore[attr-defined]

        monkeypatch.setattr(triton_kernels, "launch", wrong)
        fused, reason = fused_or_not(net, 512, "auto")
        assert fused is None and "other results" in reason and reason in caplog.text

        def broken(*args: object, **constants: object) -> None:
            raise RuntimeError("no kernel image is available\nfor this device")

        monkeypatch.setattr(triton_kernels, "launch", broken)
        assert fused_or_not(net, 512, "auto") == (None, "RuntimeError: no kernel image is available")
        with pytest.raises(ValueError, match=r"engine\.kernels: RuntimeError: no kernel image"):
            fused_or_not(net, 512, "on")
        monkeypatch.undo()


def test_kernels_compile_for_an_h100_without_spilling() -> None:
    environment = {**os.environ, "TRITON_INTERPRET": "0"}
    command = [sys.executable, "-m", "tests.fake_cuda.compile_kernels"]
    result = subprocess.run(
        command, env=environment, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=280
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("sm_90") == 7
