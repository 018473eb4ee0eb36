"""Finetuning on a CPU: transitions per second of packed rows against two padded rows for each transition.

The same transitions, weights and optimizer; before anything is timed, losses and gradients of both ways must agree.
Both ways take turns, step by step, and medians count, so that other load on the machine falls on both.
"""

import random
import statistics
from functools import partial

import torch

from benchmarks import measurement
from benchmarks.measurement import Result, Spent, in_turns, result, rounded, spent
from benchmarks.plain_sft import plain_gradients, plain_rows
from nanoproof.common.config import opt, to_dict, validated
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


@validated("comparison")
class SFTComparison:
    """Comparison on CPU."""

    steps: int = opt(4, "Optimizer steps to time of each way.", min=1)
    examples_per_step: int = opt(32, "Transitions in a step.", min=1)
    threads: int = opt(1, "CPU threads of torch; several crawl where other processes compete for the cores.", min=1)


def leantree_like(tokenizer: Tokenizer, count: int, rng: random.Random) -> list[Example]:
    """Make random tokens in the lengths of LeanTree's Mathlib data: states of 100 to 300, tactics of 10 to 20."""

    def text(low: int, high: int) -> list[int]:
        return [rng.randrange(tokenizer.num_text_tokens) for _ in range(rng.randint(low, high))]

    examples = []
    for _ in range(count):
        state = [tokenizer.bos, *text(100, 300)]
        tactic = Continuation([tokenizer.tactic, *text(10, 20), tokenizer.eos], "tactic")
        value = Continuation([tokenizer.value, rng.choice(tokenizer.bins)], "value")
        examples.append(Example(state, [tactic, value]))
    return examples


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
    """Return copies of all gradients, which are then forgotten."""
    copies = {}
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            copies[name] = parameter.grad.clone()
    model.zero_grad()
    return copies


def assert_same(model: GPT, examples: list[Example], dist: DistInfo, pad: int) -> dict[str, float]:
    """Raise AssertionError unless both ways give the same loss and gradients; the differences."""
    # A fast way that learns something else would be no faster way to do the same.
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
    gradient_difference = 0.0
    for name, gradient in plain.items():
        largest = (ours[name] - gradient).abs().max() / gradient.abs().max()
        gradient_difference = max(gradient_difference, float(largest))
    assert loss_difference < GRADIENT_TOLERANCE, f"losses differ: {sum(losses)} and {plain_loss}"
    assert gradient_difference < GRADIENT_TOLERANCE, f"gradients differ by {gradient_difference}"
    return {"loss": loss_difference, "gradient": gradient_difference}


def computed_tokens(examples: list[Example], pad: int) -> dict[str, int]:
    """Return how many tokens both ways compute for some examples, padding included: what the ratio comes from."""
    rows, plain = plain_rows(examples), 0
    for start in range(0, len(rows), PLAIN_ROWS):
        part = rows[start : start + PLAIN_ROWS]
        plain += len(part) * max(len(row.tokens) for row in part)
    return {"ours": pack(examples, BATCH.row_length, pad).tokens.numel(), "plain": plain}


def time_steps(
    dist: DistInfo, model: GPT, steps: list[list[Example]], options: SFTComparison, pad: int
) -> dict[str, list[Spent]]:
    """Time optimizer steps of both ways in turns, on the same examples, each with weights of its own."""
    optim = OptimizerOptions()
    plain_model = make_model(dist)
    our_optimizer, plain_optimizer = build_optimizer(model, optim), build_optimizer(plain_model, optim)
    settings = StepSettings(BATCH, LossWeights(BATCH.value_weight), optim.max_grad_norm, pad)

    def plain(batch: list[Example]) -> None:
        plain_optimizer.zero_grad()
        plain_gradients(plain_model, batch, PLAIN_ROWS, BATCH.value_weight, pad)
        plain_optimizer.set_lr_factor(0.1)
        plain_optimizer.step(optim.max_grad_norm)

    times: dict[str, list[Spent]] = {"ours": [], "plain": [], "plain_sorted": []}
    for index in range(options.steps + 1):
        batch = steps[index % len(steps)]
        # Packing is timed, and sorting is not. Rows of like lengths are the harder baseline: they have little padding,
        # and what is left is that states are read twice.
        ways = {
            "ours": partial(spent, partial(train_step, model, our_optimizer, batch, 0.1, settings, dist)),
            "plain": partial(spent, partial(plain, batch)),
            "plain_sorted": partial(spent, partial(plain, sorted(batch, key=len))),
        }
        for way, seconds in in_turns(ways, 1).items():
            times[way] += seconds
    # The first step is warm-up.
    return {way: seconds[1:] for way, seconds in times.items()}


def compare(name: str, tokenizer: Tokenizer, examples: list[Example], options: SFTComparison) -> Result:
    """Check that both ways agree on one step's examples, then time steps of both."""
    torch.set_num_threads(options.threads)
    dist = init_distributed("cpu")
    model = make_model(dist)
    count, pad = options.examples_per_step, tokenizer.pad
    steps = [examples[start : start + count] for start in range(0, len(examples), count)]
    differences = assert_same(model, steps[0], dist, pad)
    rates, processor = {}, {}
    for way, seconds in time_steps(dist, model, steps, options, pad).items():
        rates[way] = count / statistics.median(step.clock for step in seconds)
        processor[way] = count / statistics.median(step.processor for step in seconds)
    details = {
        **to_dict(options),
        "model": to_dict(CONFIG),
        "parameters": model.num_parameters(),
        "row_length": BATCH.row_length,
        "tokens_per_transition": round(sum(map(len, steps[0])) / count, 1),
        "tokens_computed": computed_tokens(steps[0], pad),
        "largest_difference": differences,
        "plain_rows_sorted_by_length": round(rates["plain_sorted"], 1),
        "ratio_to_sorted": round(rates["ours"] / rates["plain_sorted"], 2),
        "per_processor_second": rounded(processor, 1),
        "ratio_of_processor_time": round(processor["ours"] / processor["plain"], 2),
        "ratio_of_processor_time_to_sorted": round(processor["ours"] / processor["plain_sorted"], 2),
    }
    ours, plain = rates["ours"], rates["plain"]
    hardware = f"{measurement.HARDWARE}, torch {torch.__version__}"
    ratio = round(ours / plain, 2)
    return result(f"sft ({name})", "transitions/s", round(ours, 1), round(plain, 1), ratio, details, hardware)


def compare_all(options: SFTComparison) -> list[Result]:
    """Compare on transitions as long as LeanTree's, and on NanoLean's own."""
    rng = random.Random(0)
    needed = options.examples_per_step * (options.steps + 1)
    tokenizer, transitions = nanolean_examples()
    synthetic = leantree_like(tokenizer, needed, rng)
    return [
        compare("lengths as in LeanTree", tokenizer, synthetic, options),
        compare("NanoLean", tokenizer, rng.sample(transitions, min(needed, len(transitions))), options),
    ]
