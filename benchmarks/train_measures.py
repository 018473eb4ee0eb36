"""What `train_device.py` measures, one case after the other: speed, share of the peak, and memory of training.

Data are random tokens: speed does not depend on what is read. The first steps (compilation among them) do not count.

Shapes: B rows, T tokens of a row, H query heads, D head size.
"""

import gc
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import torch

from benchmarks.hardware import synchronize
from benchmarks.plain_sft import plain_gradients
from benchmarks.train_sft import leantree_like
from nanoproof.common.config import change, group, opt, validated
from nanoproof.common.distributed import DistInfo, choose_device, choose_dtype
from nanoproof.data.text.token_loader import TokenBatch
from nanoproof.data.transitions.packing import Example, pack
from nanoproof.model.compute import (
    Compute,
    choose_compute,
    device_peak_flops,
    flops_per_token,
    layout_pairs,
    mfu,
    training_flops,
)
from nanoproof.model.flash_attention import make_path
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.tokenizer import Tokenizer, train_tokenizer
from nanoproof.training.loss import LossWeights
from nanoproof.training.options import BatchOptions, OptimizerOptions
from nanoproof.training.step import StepSettings, build_optimizer, token_step, train_step

WARM_UP = 3
VALUE_WEIGHT = 0.01
SMALLEST_VOCABULARY = 448
"""Bytes, symbols and markers."""


@validated("device")
class DeviceOptions:
    """Stages on a device."""

    network: GPTConfig = group(
        GPTConfig,
        without=("num_kv_heads", "window_pattern", "value_embedding", "prefix_lm"),
        vocab_size=change(50_441, min=SMALLEST_VOCABULARY, help="Size of the vocabulary (default: that of tok_build)."),
        depth=change(20),
        sequence_len=change(2048, min=16, help="Tokens in a row."),
    )
    device_batch_size: int = opt(32, "Rows in a forward pass; halved until it fits into memory.", min=1)
    accumulation: int = opt(2, "Forward passes in an optimizer step of pretraining.", min=1)
    transitions: int = opt(512, "Transitions in an optimizer step of finetuning.", min=1)
    timed_steps: int = opt(5, "Steps to time, after three that do not count.", min=1)


@dataclass(frozen=True)
class Case:
    """One line of the table: what is run, and how."""

    part: Literal["pretrain", "sft", "plain sft", "attention"]
    attention: str = "auto"
    compiled: str = "auto"
    fp8: bool = False


def measure(case: Case, device_type: str, options: DeviceOptions) -> dict[str, Any]:
    """Run a case; its figures. Raises UserError if the device cannot do it, torch's error if memory is too small."""
    torch.manual_seed(0)
    device, reason = choose_device(device_type)
    dist = DistInfo(0, 0, 1, device, reason, *choose_dtype(device))
    compute = choose_compute(dist.device, dist.dtype, case.attention, case.compiled, case.fp8)
    measures = {"pretrain": pretrain, "sft": finetune, "plain sft": finetune_plainly, "attention": attention_alone}
    rows = options.device_batch_size
    while True:
        try:
            figures = measures[case.part](compute, dist, replace(options, device_batch_size=rows))
            break
        except torch.OutOfMemoryError:
            if rows == 1:
                raise
        release(device)
        rows //= 2
    peak = torch.cuda.max_memory_allocated(device) / 2**30 if device.type == "cuda" else None
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
    release(device)
    return {"device": name, "rows": rows, "peak_gib": peak, **compute.decisions(), **figures}


def release(device: torch.device) -> None:
    """Give back what a case has taken, compiled code included."""
    torch.compiler.reset()
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()


def make_model(compute: Compute, dist: DistInfo, options: DeviceOptions) -> GPT:
    """Make a network with fresh weights."""
    model = GPT.create(options.network, dist.device, dist.dtype)
    compute.apply(model)
    return model


def seconds_of(step: Callable[[int], object], device: torch.device, count: int) -> float:
    """Return the mean seconds of a step, after the warm-up; memory is counted from there."""
    for index in range(WARM_UP):
        step(index)
    synchronize(device)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    # Over all steps and not one by one: a device works on while the next step is launched, as in a run.
    started = time.perf_counter()
    for index in range(count):
        step(WARM_UP + index)
    synchronize(device)
    return (time.perf_counter() - started) / count


def pretrain(compute: Compute, dist: DistInfo, options: DeviceOptions) -> dict[str, Any]:
    """Time optimizer steps on rows of text."""
    model = make_model(compute, dist, options)
    optimizer = build_optimizer(model, OptimizerOptions())
    shape = (options.device_batch_size, options.network.sequence_len)

    def step(index: int) -> None:
        # Made within the step: a loader's threads make batches beside it, and random tokens cost next to nothing.
        batches = []
        for _ in range(options.accumulation):
            tokens_BT = torch.randint(options.network.vocab_size, shape)
            batches.append(TokenBatch(tokens_BT, tokens_BT.roll(-1, dims=1)))
        token_step(model, optimizer, batches, 0.1, 1.0, dist)

    seconds = seconds_of(step, dist.device, options.timed_steps)
    tokens = options.accumulation * options.device_batch_size * options.network.sequence_len
    flops = flops_per_token(model.config) * tokens
    return {
        "parameters": model.num_parameters(),
        "rate": tokens / seconds,
        "unit": "tokens/s",
        "mfu": mfu(flops, seconds, device_peak_flops(dist.device)),
    }


def random_tokenizer(rng: random.Random) -> Tokenizer:
    """Train a tokenizer on random digits, for its markers; they lie below the model's vocabulary size."""
    return train_tokenizer([f"{rng.random()}" for _ in range(10)], SMALLEST_VOCABULARY)


def random_steps(options: DeviceOptions, tokenizer: Tokenizer, rng: random.Random) -> list[list[Example]]:
    """Return transitions as long as LeanTree's for a few steps."""
    return [leantree_like(tokenizer, options.transitions, rng) for _ in range(2)]


def finetune(compute: Compute, dist: DistInfo, options: DeviceOptions) -> dict[str, Any]:
    """Time optimizer steps on packed transitions."""
    rng = random.Random(0)
    tokenizer = random_tokenizer(rng)
    steps = random_steps(options, tokenizer, rng)
    model = make_model(compute, dist, options)
    optimizer = build_optimizer(model, OptimizerOptions())
    batch_options = BatchOptions(
        target_examples_per_step=options.transitions,
        device_batch_size=options.device_batch_size,
        row_length=options.network.sequence_len,
    )
    settings = StepSettings(batch_options, LossWeights(VALUE_WEIGHT), 1.0, tokenizer.pad)

    def step(index: int) -> None:
        batch = steps[index % len(steps)]
        train_step(model, optimizer, batch, 0.1, settings, dist)

    seconds = seconds_of(step, dist.device, options.timed_steps)
    # By the pairs of positions that see each other and by the targets that have logits: padding and what is masked is
    # no work that was wanted, so that a path that computes it anyway has the smaller share.
    packed = pack(steps[0], options.network.sequence_len, tokenizer.pad)
    layers = [0] * options.network.depth
    for row in packed.split(1):
        layers = [sum(pair) for pair in zip(layers, layout_pairs(row.layout(), model.config.windows))]
    tokens, logits = int((packed.segments > 0).sum()), int((packed.kinds > 0).sum())
    flops = training_flops(model.config, tokens, logits, layers)
    return {
        "parameters": model.num_parameters(),
        "rate": options.transitions / seconds,
        "unit": "transitions/s",
        "mfu": mfu(flops, seconds, device_peak_flops(dist.device)),
    }


def finetune_plainly(compute: Compute, dist: DistInfo, options: DeviceOptions) -> dict[str, Any]:
    """Time optimizer steps on two padded rows for each transition."""
    rng = random.Random(0)
    tokenizer = random_tokenizer(rng)
    steps = random_steps(options, tokenizer, rng)
    model = make_model(compute, dist, options)
    optimizer = build_optimizer(model, OptimizerOptions())
    # As many tokens in a forward pass as the packed way has.
    rows = max(2, options.device_batch_size * options.network.sequence_len // 320)

    def step(index: int) -> None:
        optimizer.zero_grad()
        plain_gradients(model, steps[index % len(steps)], rows, VALUE_WEIGHT, tokenizer.pad)
        optimizer.step(1.0)

    seconds = seconds_of(step, dist.device, options.timed_steps)
    return {"parameters": model.num_parameters(), "rate": options.transitions / seconds, "unit": "transitions/s"}


def attention_alone(compute: Compute, dist: DistInfo, options: DeviceOptions) -> dict[str, Any]:
    """Time forward and backward of attention in one layer that sees everything, on packed rows."""
    rng = random.Random(0)
    tokenizer = random_tokenizer(rng)
    config, rows = options.network, options.device_batch_size
    packed = pack(leantree_like(tokenizer, 12 * rows, rng), options.network.sequence_len, tokenizer.pad).rows(0, rows)
    layout = packed.to(dist.device).layout()
    rows = packed.tokens.shape[0]
    length = options.network.sequence_len
    shape = (rows, length, config.num_heads, config.head_dim)
    make = partial(torch.randn, shape, device=dist.device, dtype=dist.dtype, requires_grad=True)
    q_BTHD, k_BTHD, v_BTHD = make(), make(), make()
    attend = make_path(compute.attention).open([length], layout, (rows, length), dist.device)

    def step(index: int) -> None:
        attend(0, q_BTHD, k_BTHD, v_BTHD).sum().backward()

    seconds = seconds_of(step, dist.device, options.timed_steps)
    return {"rate": rows * options.network.sequence_len / seconds, "unit": "tokens/s"}
