"""The parts of the inference benchmark, each of which returns results in the form of all benchmarks.

What a device cannot do is a result with its reason.
"""

import gc
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Literal

import torch

from benchmarks import inference_measures as measures
from benchmarks.hardware import measure_peaks
from benchmarks.inference_options import Load, NetworkSize
from benchmarks.inference_work import Network, open_network
from benchmarks.measurement import HARDWARE, Result, result
from nanoproof.common.distributed import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import code_revision
from nanoproof.inference.engine import Engine
from nanoproof.inference.model_options import EngineLimits
from nanoproof.policy.tactic_policy import TacticPolicy


@dataclass(frozen=True)
class Bench:
    """The options that all parts share."""

    load: Load
    size: NetworkSize
    limits: EngineLimits
    dist: DistInfo
    threads: int
    model_path: str | None = None

    def network(self, longest: int | None = None) -> Network:
        """Open the network; a random one takes prompts of up to `longest` tokens."""
        load = self.load
        if longest is not None:
            load = replace(load, min_prompt_tokens=longest, max_prompt_tokens=longest)
        return open_network(self.model_path, self.size, load, self.dist)

    def engine(self, network: Network) -> Engine:
        """Return the engine to measure. Raises UserError if its limits do not suit the device."""
        try:
            return Engine(network.model, network.tokenizer, self.limits)
        except ValueError as error:
            raise UserError(str(error)) from error

    def result(self, name: str, unit: str, ours: float | None, baseline: float | None, **details: Any) -> Result:
        """Return a result in the form of all benchmarks."""
        device = torch.cuda.get_device_name(self.dist.device) if self.dist.device.type == "cuda" else "CPU"
        ratio = None if baseline is None or ours is None else round(ours / baseline, 2)
        details["memory_mbytes"] = measures.memory_mbytes(self.dist.device)
        hardware = f"{device}, {HARDWARE}, torch {torch.__version__}"
        return result(name, unit, ours, baseline, ratio, details, hardware)


def against(bench: Bench, names: tuple[str, ...]) -> list[Result]:
    """Measure the engine beside baselines on the same prompts."""
    network = bench.network()
    engine = bench.engine(network)
    ways = {"ours": measures.our_way(engine, bench.load)}
    if "plain" in names:
        ways["plain"] = measures.plain_way(network, bench.load)
    if "transformers" in names:
        end = bench.size.end_probability
        ways["transformers"] = measures.transformers_way(network, bench.load, end, None)
        # Its best: less padding, though each part is a barrier of its own.
        ways["transformers, sorted, in parts of 16"] = measures.transformers_way(network, bench.load, end, 16)
    before = engine.stats
    turns = measures.compare(ways, network, bench.load)
    ours = measures.Rates.of(turns["ours"])
    shared = {
        "parameters": network.model.num_parameters(),
        "network": network.source,
        **measures.occupancy(engine, before, bench.load),
        "latency": measures.percentiles(measures.latencies_of(turns["ours"])),
        "our_rates": asdict(ours),
        **engine.decisions(),
    }
    results = []
    del turns["ours"]
    for name in turns:
        other = measures.Rates.of(turns[name])
        # The ratio is by the clock. That by processor time holds where others use the cores, but says less of threads.
        processor = round(other.processor_ms / ours.processor_ms, 2)
        details = {**shared, "other_rates": asdict(other), "ratio_of_processor_time": processor}
        results.append(bench.result(f"engine against {name}", "states/s", ours.states, other.states, **details))
    return results


def measure_phases(bench: Bench) -> list[Result]:
    """Measure prefill and decode beside the limits of the machine."""
    network = bench.network()
    peaks = measure_peaks(bench.dist.device, network.model.compute_dtype)
    figures = measures.phases(bench.engine(network), network, bench.load, peaks)
    details = {**figures, "peak_gflops": round(peaks.flops / 1e9, 1), "peak_gbytes": round(peaks.bandwidth / 1e9, 1)}
    results = []
    for name in ("prefill", "decode"):
        # The baseline is the speed at which the machine's arithmetic or its memory would be all that takes time.
        ours, share = figures[f"{name}_tokens_per_second"], figures[f"{name}_share"]
        limit = round(ours / share) if share else None
        reasons = {} if ours is not None else {"error": "its time is not to be told apart from that of other load"}
        title = f"{name} beside the machine's limit"
        results.append(bench.result(title, "tokens/s", ours, limit, **details, **reasons))
    return results


def measure_policy(bench: Bench) -> list[Result]:
    """Measure a policy that is asked by as many threads as states are in flight."""
    network = bench.network()
    engine = bench.engine(network)
    with TacticPolicy(engine, bench.load.config, threads=bench.threads) as policy:
        measures.ask_with_threads(policy, network, bench.load, 2, 4)
        before = engine.stats
        turns = []
        for _ in range(bench.load.rounds):
            threads, states = bench.load.states, bench.load.per_round
            turns.append(measures.ask_with_threads(policy, network, bench.load, threads, states))
        full = measures.occupancy(engine, before, bench.load)
    rates = measures.Rates.of(turns)
    latency = measures.percentiles(measures.latencies_of(turns))
    name = f"policy, {bench.load.states} threads"
    return [bench.result(name, "states/s", rates.states, None, **asdict(rates), **full, latency=latency)]


def measure_lengths(bench: Bench, lengths: tuple[int, ...]) -> list[Result]:
    """Measure the cost of a state by length of its prompt."""
    network = bench.network(max(lengths))
    engine = bench.engine(network)
    rows = measures.sweep_lengths(engine, network, bench.load, sorted(lengths))
    results = []
    for row in rows:
        name = f"prompts of {row['prompt_tokens']} tokens"
        results.append(bench.result(name, "ms/state", row["processor_ms"], None, **row))
    return results


def measure_waiting(bench: Bench, waiting: tuple[int, ...]) -> list[Result]:
    """Measure the cost of a state by number of waiting threads, beside that of the fewest."""
    network = bench.network()
    engine = bench.engine(network)
    with TacticPolicy(engine, bench.load.config, threads=bench.threads) as policy:
        rows = measures.sweep_waiting(policy, network, bench.load, sorted(waiting))
    first, results = rows[0]["processor_ms"], []
    for row in rows:
        name = f"{row['waiting_threads']} threads wait"
        results.append(bench.result(name, "ms/state", row["processor_ms"], first, **row))
    return results


def measure_device(bench: Bench, names: tuple[str, ...]) -> list[Result]:
    """Measure with CUDA graphs and without: the engine beside baselines, and its phases beside the machine's limits."""
    results = []
    choices: tuple[Literal["on"], Literal["off"]] = ("on", "off")
    for graphs in choices:
        case = replace(bench, limits=replace(bench.limits, cuda_graphs=graphs))
        parts: list[Callable[[Bench], list[Result]]] = [partial(against, names=names), measure_phases]
        for part in parts:
            try:
                measured = part(case)
            # A device without graphs refuses them, one without memory fails later. The other parts are measured.
            except (UserError, RuntimeError) as error:
                reason = (str(error).strip() or type(error).__name__).splitlines()[0]
                measured = [bench.result("not measured", "", None, None, error=reason)]
            release(bench.dist.device)
            for row in measured:
                results.append({**row, "name": f"{row['name']}, CUDA graphs {graphs}"})
    return results


def release(device: torch.device) -> None:
    """Free the memory that a part has taken."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)


def format_result(row: Result) -> str:
    """Format a result as one line."""
    if row["ours"] is None:
        return f"{row['name']}: {row['details']['error']}"
    compared = "" if row["baseline"] is None else f" against {row['baseline']:,}, ratio {row['ratio']}"
    return f"{row['name']}: {row['ours']:,} {row['unit']}{compared} ({more_of(row)})"


def more_of(row: Result) -> str:
    """Format processor time, latency, occupancy and memory, where they were measured."""
    details, more = row["details"], []
    if "ratio_of_processor_time" in details:
        more.append(f"by processor time {details['ratio_of_processor_time']}")
    latency = details.get("latency", details)
    more += [f"{name[:3]} {latency[name]:,} ms" for name in ("p50_ms", "p90_ms", "p99_ms") if name in latency]
    if "occupancy" in details:
        more.append(f"{details['rows_per_step']} rows a step, occupancy {details['occupancy']:.0%}")
    return ", ".join([*more, f"{details['memory_mbytes']:,} MB"])


def table(results: list[Result]) -> str:
    """Format the results for docs/benchmarks.md, with date, revision and device."""
    device = results[0]["hardware"] if results else "nothing ran"
    lines = [
        f"{time.strftime('%Y-%m-%d')}, revision `{code_revision()[:7]}`, `scripts/bench_inference.py`, {device}",
        "",
        "| what | ours | compared with | ratio | more |",
        "|---|---|---|---|---|",
    ]
    for row in results:
        if row["ours"] is None:
            lines.append(f"| {row['name']} | - | - | - | {row['details']['error']} |")
            continue
        compared = ratio = "-"
        if row["baseline"] is not None:
            compared, ratio = f"{row['baseline']:,}", f"{row['ratio']}"
        ours = f"{row['ours']:,} {row['unit']}"
        lines.append(f"| {' | '.join([row['name'], ours, compared, ratio, more_of(row)])} |")
    return "\n".join(lines)
