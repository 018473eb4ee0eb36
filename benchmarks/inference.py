"""States answered per second (six tactic samples and a value each) by the engine and by plain batched decoding.

python -m benchmarks.inference --json inference.json
"""

import os
import platform
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks.plain_inference import PlainEngine
from nanoproof.common.config import Parser, add_flags, from_args, opt, to_dict, validate
from nanoproof.common.errors import run_main
from nanoproof.common.files import atomic_write_json
from nanoproof.gpt.engine import Engine
from nanoproof.gpt.model import GPT, GPTConfig
from nanoproof.gpt.sampling import SamplingOptions
from nanoproof.gpt.tokenizer import Tokenizer, train_tokenizer


@dataclass(frozen=True)
class InferenceBenchmark:
    """Inference benchmark."""

    depth: int = opt(4, "Layers.", min=1)
    aspect_ratio: int = opt(48, "Width per layer.", min=1)
    head_dim: int = opt(32, "Size of an attention head.", min=2)
    num_kv_heads: int | None = opt(None, "Key/value heads; none means as many as query heads.", min=1)
    states: int = opt(16, "States in a batch.", min=1)
    samples: int = opt(6, "Samples of each state.", min=1)
    max_new_tokens: int = opt(24, "Longest sample.", min=1)
    prompt_tokens: int = opt(80, "Mean length of a prompt; lengths are uniform between half and one and a half.", min=4)
    end_probability: float = opt(0.12, "Probability that a sample ends at each token.", min=0, max=0.9)
    batches: int = opt(20, "Batches to time, alternating between both engines.", min=1)
    threads: int = opt(2, "CPU threads of torch.", min=1)
    json: str | None = opt(None, "File to write the result to.")

    def __post_init__(self) -> None:
        validate(self, "benchmark")


def make_model(options: InferenceBenchmark, tokenizer: Tokenizer) -> GPT:
    """Random weights, except that one feature is constant and makes the end of a sample as likely as asked for."""
    torch.manual_seed(0)
    config = GPTConfig(
        vocab_size=tokenizer.vocab_size,
        depth=options.depth,
        aspect_ratio=options.aspect_ratio,
        head_dim=options.head_dim,
        num_kv_heads=options.num_kv_heads,
        sequence_len=2 * options.prompt_tokens + options.max_new_tokens,
        window_pattern="L",
    )
    model = GPT.create(config)
    odds = options.end_probability / (1 - options.end_probability) * tokenizer.eos
    with torch.no_grad():
        model.embedding.weight[:, 0] = 1.0
        model.head.weight[tokenizer.eos, 0] = torch.tensor(max(odds, 1e-6)).log()
    return model


def make_prompts(options: InferenceBenchmark, tokenizer: Tokenizer, rng: random.Random) -> list[list[int]]:
    """Random prompts of one batch."""
    low, high = options.prompt_tokens // 2, options.prompt_tokens * 3 // 2
    return [
        [tokenizer.bos, *(rng.randrange(tokenizer.num_text_tokens) for _ in range(rng.randint(low, high) - 1))]
        for _ in range(options.states)
    ]


def timed(run: Callable[[], object]) -> float:
    """Seconds that `run` takes."""
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def run_benchmark(options: InferenceBenchmark) -> dict[str, object]:
    """Time both engines on the same prompts, batch by batch in turns; medians count."""
    torch.set_num_threads(options.threads)
    rng = random.Random(0)
    words = [f"lemma_{rng.randrange(10**6)} {rng.random()}" for _ in range(4000)]
    tokenizer = train_tokenizer(words, 1024)
    model = make_model(options, tokenizer)
    ours, plain = Engine(model, tokenizer), PlainEngine(model, tokenizer)
    sampling = SamplingOptions(options.samples, options.max_new_tokens, first_token_cap=2)
    generator = torch.Generator().manual_seed(0)
    times: dict[str, list[float]] = {"ours": [], "plain": []}
    for index in range(options.batches + 2):
        prompts = make_prompts(options, tokenizer, rng)
        seeds = [rng.getrandbits(60) for _ in prompts]
        mine = timed(lambda: ours.generate(prompts, sampling, seeds))  # noqa: B023
        other = timed(lambda: plain.generate(prompts, options.samples, options.max_new_tokens, generator))  # noqa: B023
        if index >= 2:  # the first are warm-up
            times["ours"].append(mine)
            times["plain"].append(other)
    rates = {name: options.states / statistics.median(seconds) for name, seconds in times.items()}
    return {
        "name": "inference",
        "ratio": round(rates["ours"] / rates["plain"], 2),
        "ours": round(rates["ours"], 1),
        "baseline": round(rates["plain"], 1),
        "unit": "states/s",
        "hardware": f"{platform.machine()}, {os.cpu_count()} cores, torch {torch.__version__}",
        "details": {
            **to_dict(options),
            "vocab_size": tokenizer.vocab_size,
            "parameters": model.num_parameters(),
            "best": {name: round(options.states / min(seconds), 1) for name, seconds in times.items()},
        },
    }


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    parser = Parser(prog="python -m benchmarks.inference", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, InferenceBenchmark)
    options = from_args(InferenceBenchmark, parser.parse_args(argv))
    result = run_benchmark(options)
    print(
        f"{result['name']}: {result['ours']} {result['unit']} against {result['baseline']} plain, "
        f"ratio {result['ratio']} ({result['hardware']})"
    )
    if options.json is not None:
        atomic_write_json(Path(options.json), result)
    return 0


if __name__ == "__main__":
    run_main(main)
