"""Measure a machine's peaks: arithmetic by a product of matrices, memory bandwidth by a copy.

And what inference needs at least of both, so that a speed can be given as a share of the limit. Left out are
normalisation, softmax, sampling, and the tables of tokens.

Shapes: S states, K samples of a state.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from nanoproof.model.compute import causal_pairs, matrix_parameters
from nanoproof.model.gpt import GPTConfig

MATRIX = {"cpu": 512, "cuda": 8192}
COPY_BYTES = {"cpu": 2**26, "cuda": 2**30}
REPEATS = 40
"""On a CPU a try is short, so that other load leaves some of them alone."""


@dataclass(frozen=True)
class Peaks:
    """Floating-point operations and bytes per second."""

    flops: float
    bandwidth: float

    def seconds(self, work: "Work") -> float:
        """Return the least time that some work takes on this machine."""
        return max(work.flops / self.flops, work.bytes / self.bandwidth)

    def bound(self, work: "Work") -> str:
        """Return which peak limits the work."""
        return "arithmetic" if work.flops / self.flops > work.bytes / self.bandwidth else "memory"


@dataclass(frozen=True)
class Work:
    """Arithmetic and memory traffic."""

    flops: float
    bytes: float


def measure_peaks(device: torch.device, dtype: torch.dtype) -> Peaks:
    """Measure peak arithmetic and bandwidth: the best of several tries, with as many threads as torch uses now."""
    # What a maker's data sheet says is reached by nothing; and a share of what this machine gives now, beside its other
    # load, is one that can be compared with another day's.
    size = MATRIX.get(device.type, MATRIX["cpu"])
    a, b = torch.randn(2, size, size, device=device, dtype=dtype)
    product = torch.empty_like(a)
    source = torch.empty(COPY_BYTES.get(device.type, COPY_BYTES["cpu"]), dtype=torch.uint8, device=device).fill_(1)
    target = torch.empty_like(source)
    return Peaks(
        2 * size**3 / best_seconds(lambda: torch.mm(a, b, out=product), device),
        2 * source.numel() / best_seconds(lambda: target.copy_(source), device),
    )


def reading_bandwidth(size: int) -> float:
    """Measure how many bytes per second a CPU reads of the same `size` bytes, from the cache that they fit in."""
    numbers = torch.randn(size // torch.float32.itemsize)
    cpu = torch.device("cpu")
    return size / min(best_seconds(numbers.sum, cpu), best_seconds(lambda: torch.dot(numbers, numbers), cpu))


def best_seconds(run: Callable[[], object], device: torch.device) -> float:
    """Return the shortest time of a call."""
    times = []
    for _ in range(REPEATS):
        synchronize(device)
        started = time.perf_counter()
        run()
        synchronize(device)
        times.append(time.perf_counter() - started)
    return min(times[1:])  # the first call chooses kernels and takes memory


def synchronize(device: torch.device) -> None:
    """Wait until the device has finished its work."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def prefill_work(config: GPTConfig, lengths: Sequence[int], vocabulary: int, dtype: torch.dtype) -> Work:
    """Count the work of reading prompts and the two markers behind each, all at once, with logits at the markers.

    Of a prompt's last layer nothing but keys and values is needed.
    """
    weights = matrix_parameters(config)
    blocks, kv = weights["attention"] + weights["feed_forward"], 2 * config.width * config.kv_heads * config.head_dim
    tokens, states = sum(lengths), len(lengths)
    last_layer = blocks / config.depth - kv
    # A product of matrices takes two operations for each weight and token: a multiplication and an addition. Logits are
    # those of the vocabulary at one marker, and of the 64 values at the other.
    flops = 2 * (blocks * (tokens + 2 * states) - last_layer * tokens + config.width * (vocabulary + 64) * states)
    for window in config.windows[:-1]:
        flops += 4 * config.num_heads * config.head_dim * sum(causal_pairs(length, window) for length in lengths)
    # Weights are read once for all prompts, and each prompt's keys and values are written.
    cached = 2 * config.depth * config.kv_heads * config.head_dim
    traffic = blocks + config.width * (vocabulary + 64) + cached * tokens
    return Work(flops, traffic * dtype.itemsize)


def decode_work(
    config: GPTConfig,
    lengths: Sequence[int],
    samples: Sequence[Sequence[int]],
    vocabulary: int,
    dtype: torch.dtype,
    begins: Sequence[int] | None = None,
) -> Work:
    """Count the work of all decode steps but a state's first; `samples[state]` are token counts.

    A state's first step is that of `begins`; without these all states are one batch.
    """
    weights = matrix_parameters(config)
    matrices = weights["attention"] + weights["feed_forward"] + config.width * vocabulary
    begins = begins or [0] * len(samples)
    flops = traffic = 0.0
    for step in range(max(begin + max(counts) for begin, counts in zip(begins, samples))):
        rows_of_all = 0
        for begin, counts, length in zip(begins, samples, lengths):
            time = step - begin
            if not 0 < time < max(counts):
                continue
            rows = sum(count > time for count in counts)
            rows_of_all += rows
            for window in config.windows:
                # What a sample wrote is its own; the prompt's keys and values are read once for all samples of a state.
                own, columns = min(time, window), min(length + 1, window)
                flops += 4 * config.num_heads * config.head_dim * rows * (own + columns)
                traffic += 2 * config.kv_heads * config.head_dim * (rows * own + columns)
        flops += 2 * matrices * rows_of_all
        # The weights once for all rows of a step; that is what makes small batches slow on a GPU.
        traffic += matrices * (rows_of_all > 0)
    return Work(flops, traffic * dtype.itemsize)
