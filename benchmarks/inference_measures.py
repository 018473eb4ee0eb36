"""Measures of the inference benchmark: the engine against baselines, its phases against the machine, many threads.

All ways take turns on the same prompts, and medians count, so that other load on the machine falls on all of them.
"""

import itertools
import random
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import psutil
import torch

from benchmarks.hardware import Peaks, decode_work, prefill_work
from benchmarks.hf_inference import TransformersEngine
from benchmarks.inference_options import Load
from benchmarks.inference_work import (
    Network,
    Stopwatch,
    Turn,
    keep_in_flight,
    random_prompts,
    random_states,
    sample_lengths,
)
from benchmarks.measurement import in_threads
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
        states, tokens, processor = [], [], []
        for turn in turns:
            states.append(turn.states / turn.seconds)
            tokens.append(turn.tokens / turn.seconds)
            processor.append(1000 * turn.processor_seconds / turn.states)
        # Each by itself: the middle round by states need not be that by processor time.
        median = statistics.median
        return cls(round(median(states), 2), round(median(tokens), 1), round(median(processor), 2))


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Return percentiles of latencies in milliseconds."""
    if len(seconds) < 2:  # which `quantiles` refuses
        seconds = [*seconds, *seconds]
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return {f"p{p}_ms": round(1000 * cuts[p - 1], 1) for p in PERCENTILES}


def memory_mbytes(device: torch.device) -> float:
    """Return the most that tensors took on a GPU, else the process's resident memory."""
    if device.type == "cuda":
        # The most and not what is left: a batch that does not fit is what ends a run.
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
            # All states of a batch are answered when the last one is: that is what a barrier costs who waits.
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
        # A row is filled up with ends; the first of them is the sample's own.
        tokens = 0
        for samples in rows:
            for row in samples:
                tokens += min(len(row), len(row) - row.count(network.tokenizer.eos) + 1)
        return tokens

    return barrier(answer, load.states, network.model.device)


def transformers_way(network: Network, load: Load, end_probability: float, sort_into: int | None) -> Way:
    """Measure `transformers` with batches of `load.states`, without values: what who writes no engine has."""
    engine = TransformersEngine(network.model, network.tokenizer, end_probability, sort_into)

    def answer(prompts: list[list[int]]) -> int:
        return engine.generate(prompts, load.samples, load.max_new_tokens)

    return barrier(answer, load.states, network.model.device)


def compare(ways: dict[str, Way], network: Network, load: Load) -> dict[str, list[Turn]]:
    """Time rounds in which every way answers the same prompts, after a first one that captures CUDA graphs."""
    rng = random.Random(1)
    turns: defaultdict[str, list[Turn]] = defaultdict(list)
    # On a GPU graphs are captured, for each number of rows that comes.
    warm_up = load.per_round if network.model.device.type == "cuda" else 2
    for way in ways.values():
        way(random_prompts(load, network.tokenizer, rng, warm_up))
    for _ in range(load.rounds):
        prompts = random_prompts(load, network.tokenizer, rng, load.per_round)
        for name, way in ways.items():
            turns[name].append(way(prompts))
    return turns


def occupancy(engine: Engine, before: Any, load: Load) -> dict[str, float]:
    """Return the samples of a decoding step since `before` (earlier statistics), and their share of the rows."""
    steps = engine.stats.decode_steps - before.decode_steps
    rows = (engine.stats.sampled_tokens - before.sampled_tokens) / max(1, steps)
    return {
        "rows_per_step": round(rows, 1),
        "occupancy": round(rows / min(engine.max_rows, load.states * load.samples), 3),
    }


def phases(engine: Engine, network: Network, load: Load, peaks: Peaks) -> dict[str, Any]:
    """Measure prefill and decode apart, of `load.states` prompts at once; each beside what the machine allows.

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
        lengths = list(map(len, prompts))
        stopwatch = Stopwatch(model.device)
        engine.generate(prompts, short.options, range(load.states))
        first = stopwatch.read()[clock]
        # Others of the same lengths: what was read once may be kept.
        others = [[prompt[0], *rng.sample(prompt[1:], len(prompt) - 1)] for prompt in prompts]
        stopwatch = Stopwatch(model.device)
        answers = engine.generate(others, load.options, range(load.states))
        rest = stopwatch.read()[clock] - first
        samples = [sample_lengths(answer, load.options) for answer in answers]
        prefill = prefill_work(model.config, lengths, vocabulary, model.compute_dtype)
        decode = decode_work(model.config, lengths, samples, vocabulary, model.compute_dtype)
        limits = [peaks.bound(prefill), peaks.bound(decode)]
        reading.append((sum(lengths), peaks.seconds(prefill), first))
        # The first token of each sample was part of reading.
        written = sum(map(sum, samples)) - load.states * load.samples
        decoding.append((written, peaks.seconds(decode), rest))
    figures: dict[str, Any] = {}
    for name, rounds, limit in (("prefill", reading, limits[0]), ("decode", decoding, limits[1])):
        tokens, least_seconds, seconds = map(sum, zip(*rounds))
        # Of all rounds together: beside load the time of decoding, a difference of two, can be negative in one. Where
        # it is so in all of them together, nothing was measured.
        measured = seconds > 0
        figures[f"{name}_tokens_per_second"] = round(tokens / seconds) if measured else None
        figures[f"{name}_share"] = round(least_seconds / seconds, 3) if measured else None
        figures[f"{name}_limit"] = limit
    return {**figures, "decode_rows": load.states * load.samples}


def ask_with_threads(policy: TacticPolicy, network: Network, load: Load, waiting: int, states: int) -> Turn:
    """Have `waiting` threads ask the policy for states of their own, `states` in all."""
    rng = random.Random(3)
    source = random_states(load, network.tokenizer, rng)
    texts = list(itertools.islice(source, states))
    latencies: list[float] = []
    tokens = policy.engine.stats.sampled_tokens
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                if not texts:
                    return
                text = texts.pop()
            # As an actor asks: for one state, and then it waits.
            began = time.perf_counter()
            policy.suggest(text, seed=hash(text) & 0xFFFF)
            latencies.append(time.perf_counter() - began)

    stopwatch = Stopwatch(network.model.device)
    in_threads([work] * waiting)
    seconds = stopwatch.read()
    return Turn(states, policy.engine.stats.sampled_tokens - tokens, *seconds, latencies)


def sweep_lengths(engine: Engine, network: Network, load: Load, lengths: Sequence[int]) -> list[dict[str, Any]]:
    """Measure a state's cost by the length of its prompt, in turns, so that other load falls on all lengths."""
    rng = random.Random(4)
    turns: defaultdict[int, list[Turn]] = defaultdict(list)
    loads = {length: replace(load, min_prompt_tokens=length, max_prompt_tokens=length) for length in lengths}
    for own in loads.values():  # a first small round, which does not count
        keep_in_flight(engine, random_prompts(own, network.tokenizer, rng, 2), load.options, load.states)
    for _ in range(load.rounds):
        for length, own in loads.items():
            prompts = random_prompts(own, network.tokenizer, rng, load.per_round)
            turns[length].append(keep_in_flight(engine, prompts, load.options, load.states))
    return [{"prompt_tokens": length, **asdict(Rates.of(turns[length]))} for length in lengths]


def sweep_waiting(policy: TacticPolicy, network: Network, load: Load, counts: Sequence[int]) -> list[dict[str, Any]]:
    """Measure a state's cost by the number of threads that wait; the same number of states whatever that is."""
    ask_with_threads(policy, network, load, 4, 8)
    turns: defaultdict[int, list[Turn]] = defaultdict(list)
    for _ in range(load.rounds):
        for count in counts:
            turns[count].append(ask_with_threads(policy, network, load, count, max(counts)))
    rows = []
    for count in counts:
        # Latency grows with the threads, as they share the engine: it is the rate that tells what they cost.
        rates = asdict(Rates.of(turns[count]))
        rows.append({"waiting_threads": count, **rates, **percentiles(latencies_of(turns[count]))})
    return rows


def latencies_of(turns: Sequence[Turn]) -> list[float]:
    """Return the latencies of several turns."""
    return [seconds for turn in turns for seconds in turn.latencies]
