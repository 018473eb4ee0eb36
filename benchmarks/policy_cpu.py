"""Measure the policy on a CPU: processor time of a state by engine, rows in flight and size of the network.

Beside it `generate` of transformers (a GPT-2 of the same size, without a value) and what the machine's arithmetic and
caches allow. Weights are random: speed does not depend on what is read.

python -m benchmarks.policy_cpu --json policy.json
"""

import heapq
import random
import time
from collections import defaultdict
from dataclasses import dataclass, replace

import torch

from benchmarks.hardware import decode_work, measure_peaks, prefill_work, reading_bandwidth
from benchmarks.hf_inference import missing_for_transformers
from benchmarks.inference_measures import our_way, transformers_way
from benchmarks.inference_options import Load, NetworkSize
from benchmarks.inference_work import Network, random_network, random_prompts, sample_lengths
from benchmarks.measurement import medians, plain_parser, write_results
from nanoproof.common.distributed import init_distributed
from nanoproof.common.process import freeze_gc
from nanoproof.inference.engine import Engine
from nanoproof.inference.model_options import EngineLimits
from nanoproof.model.gpt import GPT

SAMPLES = 6
ENDS = 0.12
LOAD = Load(samples=SAMPLES, max_new_tokens=32, min_prompt_tokens=30, max_prompt_tokens=90)
"""As the quickstart asks: states of NanoLean's theorems have 30 to 90 tokens."""
SHAPES = {"quickstart": (4, 32), "2.5 times as large": (5, 38)}
"""Depth and aspect ratio; the first is that of `scripts/small_runs.py`."""


@dataclass(frozen=True)
class Row:
    """Processor milliseconds of a state by way, and the least that the machine allows."""

    size: str
    parameters: int
    rows: int
    milliseconds: dict[str, float]
    arithmetic: float
    limit: float
    """Of arithmetic and of reading the weights from the cache that they are in."""

    def __str__(self) -> str:
        times = ", ".join(f"{way} {time:.2f}" for way, time in self.milliseconds.items())
        native = self.milliseconds["native"]  # the limits are of its 32 bits
        return (
            f"{self.size} ({self.parameters / 1e6:.2f} million parameters), {self.rows} rows in flight: "
            f"ms a state {times}; the limit {self.limit:.2f} ({self.limit / native:.0%} of native), "
            f"of arithmetic alone {self.arithmetic:.2f} ({self.arithmetic / native:.0%})"
        )


def in_bfloat16(network: Network) -> GPT:
    """Return the same weights, to be computed in bfloat16."""
    rough = GPT.allocate(network.model.config, compute_dtype=torch.bfloat16)
    rough.load_state_dict(network.model.state_dict())
    return rough


def turns_of(samples: list[list[int]], in_flight: int) -> list[int]:
    """Return the step at which each state begins, where one begins as soon as another of those in flight ends."""
    free = [0] * in_flight
    begins = []
    for counts in samples:
        begins.append(heapq.heappop(free))
        heapq.heappush(free, begins[-1] + max(counts))
    return begins


def least_seconds(network: Network, prompts: list[list[int]], answers: Engine, load: Load) -> tuple[float, float]:
    """Return what the answers to prompts take at least: by arithmetic alone, and with the weights read in each step.

    A network of a million parameters is larger than the L2 cache of most processors: for a few rows it is read for
    longer than is computed with it.
    """
    config, vocabulary = network.model.config, network.tokenizer.eos + 1
    lengths = list(map(len, prompts))
    # Samples end by chance: what was asked for is known when they are written.
    completions = answers.generate(prompts, load.options, range(len(prompts)))
    written = [sample_lengths(completion, load.options) for completion in completions]
    prefill = prefill_work(config, lengths, vocabulary, torch.float32)
    decode = decode_work(config, lengths, written, vocabulary, torch.float32, turns_of(written, load.states))
    peaks = measure_peaks(torch.device("cpu"), torch.float32)
    of_weights = replace(peaks, bandwidth=reading_bandwidth(torch.float32.itemsize * network.model.num_parameters()))
    return (prefill.flops + decode.flops) / peaks.flops, of_weights.seconds(prefill) + of_weights.seconds(decode)


def measure(name: str, rows: int, rounds: int, with_transformers: bool) -> Row:
    """Time all ways on the same prompts, in turns."""
    depth, aspect_ratio = SHAPES[name]
    plain = NetworkSize()
    size = NetworkSize(1120, replace(plain.network, depth=depth, aspect_ratio=aspect_ratio), ENDS)
    load = replace(LOAD, states=max(1, rows // SAMPLES))
    positions = load.max_prompt_tokens + load.max_new_tokens + 2
    network = random_network(size, positions, init_distributed("cpu"))
    native, by_torch = EngineLimits(backend="native"), EngineLimits(backend="torch")
    engine = Engine(network.model, network.tokenizer, native)
    ways = {
        "torch": our_way(Engine(network.model, network.tokenizer, by_torch), load),
        "native": our_way(engine, load),
        "native, bfloat16 weights": our_way(Engine(in_bfloat16(network), network.tokenizer, native), load),
    }
    if with_transformers:
        ways["transformers"] = transformers_way(network, load, ENDS, None)
    rng = random.Random(0)
    freeze_gc()  # as runs do
    for way in ways.values():
        way(random_prompts(load, network.tokenizer, rng, 2))
    count = max(48, 4 * load.states)  # with a few, the last state, which is alone, is a part of it
    used: defaultdict[str, list[float]] = defaultdict(list)
    arithmetic, both = [], []
    for _ in range(rounds):
        prompts = random_prompts(load, network.tokenizer, rng, count)
        # By processor time: threads gain nothing here, and other load would be in the clock's.
        for label, way in ways.items():
            used[label].append(1000 * way(prompts).processor_seconds / count)
        # Beside the others in time: other load slows the machine's limits down as it does them.
        by_arithmetic, by_both = least_seconds(network, prompts, engine, load)
        arithmetic.append(1000 * by_arithmetic / count)
        both.append(1000 * by_both / count)
    # The least of the limits, which are by the clock: a peak that other load has lowered is none.
    limits = round(min(arithmetic), 3), round(min(both), 3)
    return Row(name, network.model.num_parameters(), rows, medians(used, 3), *limits)


def main(argv: list[str] | None = None) -> int:
    """Measure, print each row as soon as it is there, and write them."""
    parser = plain_parser(__doc__, "file to write the results to")
    parser.add_argument("--rows", type=int, nargs="+", default=[6, 12, 48, 96], help="samples that are in flight")
    parser.add_argument("--sizes", nargs="+", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args(argv)
    # Threads that wait for each other use the processor, too, and there is not enough to do for two.
    torch.set_num_threads(1)
    missing = missing_for_transformers()
    if missing is not None:
        print(f"transformers: skipped ({missing})")
    results = []
    started = time.strftime("%Y-%m-%d %H:%M")
    for name in args.sizes:
        for rows in args.rows:
            results.append(measure(name, rows, args.rounds, missing is None))
            print(results[-1], flush=True)
    write_results(args.json, {"started": started, "results": list(map(vars, results))})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
