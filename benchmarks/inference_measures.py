"""Measures of the inference benchmark: the engine against baselines, its phases against the machine, many threads.

All ways take turns on the same prompts, and medians count, so that other load on the machine falls on all of them.
"""

import random
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import psutil
import torch

from benchmarks.hardware import Peaks, decode_work, prefill_work
from benchmarks.hf_inference import TransformersEngine
from benchmarks.inference_options import Load
from benchmarks.inference_work import Network, Stopwatch, Turn, keep_in_flight, random_prompts, random_states
from benchmarks.plain_inference import PlainEngine
from nanoproof.inference.engine import Engine
from nanoproof.policy.tactic_policy import TacticPolicy

PERCENTILES = (50, 90, 99)


@dataclass(frozen=True)
class Rates:
    """The medians of several turns."""

    states: float
    """Answered per second."""
    tokens: float
    """Written per second."""
    processor_ms: float
    """Processor time of a state, in milliseconds."""

    @classmethod
    def of(cls, turns: Sequence[Turn]) -> "Rates":
        return cls(
            round(statistics.median(turn.states / turn.seconds for turn in turns), 2),
            round(statistics.median(turn.tokens / turn.seconds for turn in turns), 1),
            round(1000 * statistics.median(turn.processor_seconds / turn.states for turn in turns), 2),
        )


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Return percentiles of latencies in milliseconds."""
    if len(seconds) < 2:
        return {f"p{p}_ms": round(1000 * value, 1) for p in PERCENTILES for value in seconds}
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return {f"p{p}_ms": round(1000 * cuts[p - 1], 1) for p in PERCENTILES}


def memory_mbytes(device: torch.device) -> float:
    """On a GPU the most that tensors took, else the process's resident memory."""
    if device.type == "cuda":
        return round(torch.cuda.max_memory_allocated(device) / 1e6, 1)
    return round(psutil.Process().memory_info().rss / 1e6, 1)


Way = Callable[[list[list[int]]], Turn]


def barrier(answer: Callable[[list[list[int]]], int], batch: int, device: torch.device) -> Way:
    """Return a way that answers batch after batch and starts none before the last has ended; `answer` counts tokens."""

    def run(prompts: list[list[int]]) -> Turn:
        stopwatch = Stopwatch(device)
        tokens, latencies = 0, []
        for start in range(0, len(prompts), batch):
            part = prompts[start : start + batch]
            began = time.perf_counter()
            tokens += answer(part)
            latencies += [time.perf_counter() - began] * len(part)
        return Turn(len(prompts), tokens, *stopwatch.read(), latencies)

    return run


def our_way(engine: Engine, load: Load) -> Way:
    """Return the engine's way, with `load.states` in flight."""
    return lambda prompts: keep_in_flight(engine, prompts, load.options, load.states)


def plain_way(network: Network, load: Load) -> Way:
    """Return the plain engine's way, with batches of `load.states`."""
    engine = PlainEngine(network.model, network.tokenizer)
    generator = torch.Generator(device=network.model.device).manual_seed(0)

    def answer(prompts: list[list[int]]) -> int:
        rows, _ = engine.generate(prompts, load.samples, load.max_new_tokens, generator)
        eos = network.tokenizer.eos
        return sum(row.index(eos) + 1 if eos in row else len(row) for samples in rows for row in samples)

    return barrier(answer, load.states, network.model.device)


def transformers_way(network: Network, load: Load, end_probability: float, sort_into: int | None, value: bool) -> Way:
    """`transformers` with batches of `load.states`; with `value` it reads the prompts again for the value."""
    model = network.model
    engine = TransformersEngine(
        model.config, network.tokenizer, model.device, model.compute_dtype, end_probability, sort_into
    )

    def answer(prompts: list[list[int]]) -> int:
        if value:
            engine.read_values(prompts)
        return engine.generate(prompts, load.samples, load.max_new_tokens)

    return barrier(answer, load.states, model.device)


def compare(ways: dict[str, Way], network: Network, load: Load) -> dict[str, list[Turn]]:
    """Time rounds in which every way answers the same prompts, after a first one that captures CUDA graphs."""
    rng = random.Random(1)
    turns: dict[str, list[Turn]] = {name: [] for name in ways}
    on_gpu = network.model.device.type == "cuda"
    for way in ways.values():
        way(random_prompts(load, network.tokenizer, rng, load.per_round if on_gpu else 2))
    for _ in range(load.rounds):
        prompts = random_prompts(load, network.tokenizer, rng, load.per_round)
        for name, way in ways.items():
            turns[name].append(way(prompts))
    return turns


def occupancy(engine: Engine, before: Any, load: Load) -> dict[str, float]:
    """Samples in a decoding step since `before` (earlier statistics), and their share of those there is room for."""
    steps = engine.stats.decode_steps - before.decode_steps
    rows = (engine.stats.sampled_tokens - before.sampled_tokens) / max(1, steps)
    return {
        "rows_per_step": round(rows, 1),
        "occupancy": round(rows / min(engine.max_rows, load.states * load.samples), 3),
    }


def phases(engine: Engine, network: Network, load: Load, peaks: Peaks) -> dict[str, Any]:
    """Prefill and decode apart, of `load.states` prompts that begin together; each beside what the machine allows.

    Reading is what it takes to sample one token, decoding is what longer samples take more. With one thread of a CPU
    it is processor time that counts.
    """
    clock = int(network.model.device.type == "cpu" and torch.get_num_threads() == 1)
    rng = random.Random(2)
    model, vocabulary = network.model, network.tokenizer.eos + 1
    short = replace(load, max_new_tokens=1)
    reading, decoding, limits = [], [], []
    # On a GPU kernels are compiled at first, for samples of one token too, and steps are recorded when they come again:
    # without these rounds an H200 read 1,900 tokens a second in the first round, and nothing was left for decoding.
    for _ in range(3 if model.device.type == "cuda" else 1):
        for options in (short.options, load.options):
            engine.generate(random_prompts(load, network.tokenizer, rng, load.states), options, range(load.states))
    for _ in range(load.rounds):
        prompts = random_prompts(load, network.tokenizer, rng, load.states)
        lengths = [len(prompt) for prompt in prompts]
        stopwatch = Stopwatch(model.device)
        engine.generate(prompts, short.options, range(load.states))
        first = stopwatch.read()[clock]
        # Others of the same lengths: what was read once may be kept.
        others = [[prompt[0], *rng.sample(prompt[1:], len(prompt) - 1)] for prompt in prompts]
        stopwatch = Stopwatch(model.device)
        answers = engine.generate(others, load.options, range(load.states))
        rest = max(1e-9, stopwatch.read()[clock] - first)
        samples = [
            [len(s.tokens) + 1 for s in answer.samples] + [load.max_new_tokens] * answer.num_unfinished
            for answer in answers
        ]
        prefill = prefill_work(model.config, lengths, vocabulary, model.compute_dtype)
        decode = decode_work(model.config, lengths, samples, vocabulary, model.compute_dtype)
        limits = [peaks.bound(prefill), peaks.bound(decode)]
        reading.append((sum(lengths) / first, peaks.seconds(prefill) / first))
        decoding.append(
            (sum(map(sum, samples)) / rest - load.states * load.samples / rest, peaks.seconds(decode) / rest)
        )
    return {
        "prefill_tokens_per_second": round(statistics.median(rate for rate, _ in reading)),
        "prefill_share": round(statistics.median(share for _, share in reading), 3),
        "prefill_limit": limits[0],
        "decode_tokens_per_second": round(statistics.median(rate for rate, _ in decoding)),
        "decode_share": round(statistics.median(share for _, share in decoding), 3),
        "decode_limit": limits[1],
        "decode_rows": load.states * load.samples,
    }


def ask_with_threads(policy: TacticPolicy, network: Network, load: Load, waiting: int, states: int) -> Turn:
    """`waiting` threads that ask the policy for states of their own, `states` in all."""
    rng = random.Random(3)
    source = random_states(load, network.tokenizer, rng)
    texts = [next(source) for _ in range(states)]
    latencies: list[float] = []
    tokens = policy.engine.stats.sampled_tokens
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                if not texts:
                    return
                text = texts.pop()
            began = time.perf_counter()
            policy.suggest(text, seed=hash(text) & 0xFFFF)
            latencies.append(time.perf_counter() - began)

    threads = [threading.Thread(target=work) for _ in range(waiting)]
    stopwatch = Stopwatch(network.model.device)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = stopwatch.read()
    return Turn(states, policy.engine.stats.sampled_tokens - tokens, *seconds, latencies)


def sweep_lengths(engine: Engine, network: Network, load: Load, lengths: Sequence[int]) -> list[dict[str, Any]]:
    """Cost of a state by length of its prompt; the turns go round, so that other load falls on all lengths."""
    rng = random.Random(4)
    turns: dict[int, list[Turn]] = {length: [] for length in lengths}
    loads = {length: replace(load, min_prompt_tokens=length, max_prompt_tokens=length) for length in lengths}
    for index in range(load.rounds + 1):
        for length, own in loads.items():
            prompts = random_prompts(own, network.tokenizer, rng, load.per_round if index else 2)
            turn = keep_in_flight(engine, prompts, load.options, load.states)
            turns[length] += [turn] if index else []
    return [{"prompt_tokens": length, **asdict(Rates.of(turns[length]))} for length in lengths]


def sweep_waiting(
    policy: TacticPolicy, network: Network, load: Load, counts: Sequence[int], per_thread: int
) -> list[dict[str, Any]]:
    """Cost of a state by number of threads that wait, each of which asks several times."""
    total = max(counts) * per_thread
    ask_with_threads(policy, network, load, 4, 8)
    turns: dict[int, list[Turn]] = {count: [] for count in counts}
    for _ in range(load.rounds):
        for count in counts:
            turns[count].append(ask_with_threads(policy, network, load, count, total))
    return [
        {
            "waiting_threads": count,
            **asdict(Rates.of(turns[count])),
            **percentiles([seconds for turn in turns[count] for seconds in turn.latencies]),
        }
        for count in counts
    ]
