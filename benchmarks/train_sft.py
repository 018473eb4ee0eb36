"""Finetuning on a CPU: transitions per second of packed rows against two padded rows for each transition.

The same transitions, weights and optimizer; before anything is timed, losses and gradients of both ways must agree.
Both ways take turns, step by step, and medians count, so that other load on the machine falls on both.
"""

import os
import platform
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from benchmarks.plain_sft import plain_gradients, plain_rows
from nanoproof.common.config import opt, to_dict, validate
from nanoproof.common.distributed import DistInfo, init_distributed
from nanoproof.data.transitions.packing import Continuation, Example, ExampleLimits, encode_transitions, pack
from nanoproof.model.compute import choose_compute
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.tokenizer import Tokenizer, train_tokenizer
from nanoproof.training.loss import LossWeights, Normalizers, transition_loss
from nanoproof.training.named_data import load_transitions
from nanoproof.training.options import BatchOptions, OptimizerOptions
from nanoproof.training.step import StepSettings, build_optimizer, train_step

VOCAB_SIZE = 1024
CONFIG = GPTConfig(VOCAB_SIZE, depth=4, aspect_ratio=48, head_dim=32, sequence_len=768)
BATCH = BatchOptions(device_batch_size=8, row_length=768, value_weight=0.01)
PLAIN_ROWS = 16
"""Rows in a micro-batch of the plain way: two for each of 8 transitions."""
GRADIENT_TOLERANCE = 1e-5
"""Largest difference of a gradient's entry, as a share of the largest entry of that parameter's gradient."""


@dataclass(frozen=True)
class SFTComparison:
    """Comparison on CPU."""

    steps: int = opt(4, "Optimizer steps to time of each way.", min=1)
    examples_per_step: int = opt(32, "Transitions in a step.", min=1)
    threads: int = opt(1, "CPU threads of torch; several crawl where other processes compete for the cores.", min=1)

    def __post_init__(self) -> None:
        validate(self, "comparison")


def leantree_like(tokenizer: Tokenizer, count: int, rng: random.Random) -> list[Example]:
    """Random tokens in lengths as in LeanTree's Mathlib data: states of 100 to 300 tokens, tactics of 10 to 20."""

    def text(low: int, high: int) -> list[int]:
        return [rng.randrange(tokenizer.num_text_tokens) for _ in range(rng.randint(low, high))]

    return [
        Example(
            [tokenizer.bos, *text(100, 300)],
            [
                Continuation([tokenizer.tactic, *text(10, 20), tokenizer.eos], "tactic"),
                Continuation([tokenizer.value, rng.choice(tokenizer.bins)], "value"),
            ],
        )
        for _ in range(count)
    ]


def nanolean_examples() -> tuple[Tokenizer, list[Example]]:
    """Return a tokenizer trained on NanoLean's transitions, and these as examples."""
    transitions, _ = load_transitions("nanolean")
    texts = (text for transition in transitions for text in (transition.state + "\n", transition.tactic))
    tokenizer = train_tokenizer(texts, VOCAB_SIZE)
    examples = encode_transitions(tokenizer, transitions, ExampleLimits())
    return tokenizer, [example for example in examples if example is not None]


def make_model(dist: DistInfo) -> GPT:
    """Make a network whose layers all take part: fresh ones start as the identity, with gradients near zero."""
    torch.manual_seed(0)
    model = GPT.create(CONFIG)
    for name, parameter in model.named_parameters():
        if name.endswith(("attention_out.weight", "down.weight")):
            torch.nn.init.normal_(parameter, std=0.02)
    torch.nn.init.normal_(model.head.weight, std=0.02)
    choose_compute(dist.device, dist.dtype).apply(model)
    return model


def gradients(model: GPT) -> dict[str, torch.Tensor]:
    """Copies of all gradients, which are then forgotten."""
    found = {name: parameter.grad.clone() for name, parameter in model.named_parameters() if parameter.grad is not None}
    model.zero_grad()
    return found


def assert_same(model: GPT, examples: list[Example], dist: DistInfo, pad: int) -> dict[str, float]:
    """Raise AssertionError unless both ways give the same loss and gradients; the differences."""
    batch = pack(examples, BATCH.row_length, pad)
    norms, weights = Normalizers.of(batch), LossWeights(BATCH.value_weight)
    losses = []
    for rows in batch.split(BATCH.device_batch_size):
        loss, _ = transition_loss(model, rows, weights, norms)
        loss.backward()
        losses.append(float(loss.detach()))
    ours = gradients(model)
    plain_loss = plain_gradients(model, examples, PLAIN_ROWS, BATCH.value_weight, pad)["loss"]
    plain = gradients(model)
    assert ours.keys() == plain.keys()
    loss_difference = abs(sum(losses) / plain_loss - 1)
    gradient_difference = max(float((ours[name] - plain[name]).abs().max() / plain[name].abs().max()) for name in ours)
    assert loss_difference < GRADIENT_TOLERANCE, f"losses differ: {sum(losses)} and {plain_loss}"
    assert gradient_difference < GRADIENT_TOLERANCE, f"gradients differ by {gradient_difference}"
    return {"loss": loss_difference, "gradient": gradient_difference}


def timed(run: Callable[[], object]) -> tuple[float, float]:
    """Seconds that `run` takes, and seconds of processor time, which other load on the machine does not lengthen."""
    started, used = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - started, time.process_time() - used


def compare(name: str, tokenizer: Tokenizer, examples: list[Example], options: SFTComparison) -> dict[str, object]:
    """Check that both ways agree on one step's examples, then time steps of both."""
    torch.set_num_threads(options.threads)
    dist = init_distributed("cpu")
    model = make_model(dist)
    count, pad = options.examples_per_step, tokenizer.pad
    steps = [examples[start : start + count] for start in range(0, len(examples), count)]
    differences = assert_same(model, steps[0], dist, pad)
    optim = OptimizerOptions()
    # Each way trains weights of its own, from the same start.
    plain_model = make_model(dist)
    our_optimizer, plain_optimizer = build_optimizer(model, optim), build_optimizer(plain_model, optim)

    def ours(batch: list[Example]) -> None:
        weights = LossWeights(BATCH.value_weight)
        train_step(model, our_optimizer, batch, 0.1, StepSettings(BATCH, weights, optim.max_grad_norm, pad), dist)

    def plain(batch: list[Example]) -> None:
        plain_optimizer.zero_grad()
        plain_gradients(plain_model, batch, PLAIN_ROWS, BATCH.value_weight, pad)
        plain_optimizer.set_lr_factor(0.1)
        plain_optimizer.step(optim.max_grad_norm)

    ways = {"ours": ours, "plain": plain, "plain_sorted": lambda batch: plain(sorted(batch, key=len))}
    times: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for index in range(options.steps + 1):
        for way, run in ways.items():
            seconds = timed(lambda: run(steps[index % len(steps)]))  # noqa: B023
            if index > 0:  # the first step is warm-up
                times[way].append(seconds)
    rates, processor = (
        {way: count / statistics.median(each[kind] for each in seconds) for way, seconds in times.items()}
        for kind in (0, 1)
    )
    packed = pack(examples[:count], BATCH.row_length, pad)
    rows = [plain_rows(steps[0])[start : start + PLAIN_ROWS] for start in range(0, 2 * count, PLAIN_ROWS)]
    return {
        "name": f"sft ({name})",
        "ratio": round(rates["ours"] / rates["plain"], 2),
        "ours": round(rates["ours"], 1),
        "baseline": round(rates["plain"], 1),
        "unit": "transitions/s",
        "hardware": f"{platform.machine()}, {os.cpu_count()} cores, torch {torch.__version__}",
        "details": {
            **to_dict(options),
            "model": to_dict(CONFIG),
            "parameters": model.num_parameters(),
            "row_length": BATCH.row_length,
            "tokens_per_transition": round(sum(map(len, steps[0])) / count, 1),
            "tokens_computed": {
                "ours": packed.tokens.numel(),
                "plain": sum(len(part) * max(len(row.tokens) for row in part) for part in rows),
            },
            "largest_difference": differences,
            "plain_rows_sorted_by_length": round(rates["plain_sorted"], 1),
            "ratio_to_sorted": round(rates["ours"] / rates["plain_sorted"], 2),
            "per_processor_second": {way: round(rate, 1) for way, rate in processor.items()},
            "ratio_of_processor_time": round(processor["ours"] / processor["plain"], 2),
            "ratio_of_processor_time_to_sorted": round(processor["ours"] / processor["plain_sorted"], 2),
        },
    }


def compare_all(options: SFTComparison) -> list[dict[str, object]]:
    """Compare on transitions as long as LeanTree's, and on NanoLean's own."""
    rng = random.Random(0)
    needed = options.examples_per_step * (options.steps + 1)
    tokenizer, transitions = nanolean_examples()
    synthetic = leantree_like(tokenizer, needed, rng)
    return [
        compare("lengths as in LeanTree", tokenizer, synthetic, options),
        compare("NanoLean", tokenizer, rng.sample(transitions, min(needed, len(transitions))), options),
    ]
