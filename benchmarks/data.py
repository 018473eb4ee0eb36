"""Measure how fast texts become training data: LeanTree JSONL as transitions, Lean text as GPT-2's tokens.

    python -m benchmarks.data [--megabytes 50] [--steady-megabytes 1000] [--json PATH]

The data is made up (leantree_text.py, math_text.py) in a temporary directory. Transitions: the plain way takes
`json.loads` of all lines and puts plain dataclasses into a list, without looking at shapes; both must give the same
transitions. How much memory what they read takes is measured in processes of their own, and over `--steady-megabytes`
the memory of the stream is watched. Tokens: against the `tokenizers` library on one thread; both must give the same.
Medians of alternating runs count. Rates are per second of the clock; those per second of processor time, over all
threads, are given too, as others may use the machine: on busy cores, threads gain nothing on the clock.
"""

import json
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import tokenizers

from benchmarks.leantree_text import write_leantree
from benchmarks.math_text import MathText
from nanoproof.common.config import Parser, add_flags, from_args, opt, to_dict, validate
from nanoproof.common.errors import run_main
from nanoproof.common.files import atomic_write_json
from nanoproof.data.transitions.leantree import load_split, read_transitions
from nanoproof.lean.types import Transition
from nanoproof.model.tokenizer import TOKENIZER_FILE, Tokenizer, available_cores, gpt2_tokenizer

SAMPLES = 10
DOCUMENT_CHARS = 4000


@dataclass(frozen=True)
class DataBenchmark:
    """Data benchmark."""

    megabytes: float = opt(50.0, "LeanTree JSONL to read.", above=0)
    text_megabytes: float = opt(10.0, "Lean text to encode.", above=0)
    threads: int = opt(2, "Threads that encode.", min=1)
    repeats: int = opt(3, "Runs of each way, alternating.", min=1)
    steady_megabytes: float = opt(0.0, "LeanTree JSONL over which the memory is watched; 0 for none.", min=0)
    seed: int = opt(0, "Seed of the made-up data.", min=0)
    json: str | None = opt(None, "File to write the results to.")

    def __post_init__(self) -> None:
        validate(self, "benchmark")


@dataclass(frozen=True)
class Rate:
    """Megabytes per second of the clock, and of processor time over all threads."""

    clock: float
    processor: float


def timed(size: float, run: Callable[[], object]) -> Rate:
    """Return the rate at which `run` takes `size` megabytes."""
    clock, processor = time.perf_counter(), time.process_time()
    run()
    return Rate(size / (time.perf_counter() - clock), size / (time.process_time() - processor))


def medians(rates: dict[str, list[Rate]], attribute: str) -> dict[str, float]:
    """Return the median of each way."""
    return {name: round(statistics.median(getattr(r, attribute) for r in runs), 2) for name, runs in rates.items()}


def result_of(name: str, rates: dict[str, list[Rate]], details: dict[str, Any]) -> dict[str, Any]:
    """Return a result in the form of all benchmarks; `rates` are those of `ours`, `plain` and perhaps others."""
    clock = medians(rates, "clock")
    return {
        "name": name,
        "ratio": round(clock["ours"] / clock["plain"], 2),
        "ours": clock["ours"],
        "baseline": clock["plain"],
        "unit": "MB/s",
        "hardware": f"{platform.machine()}, {available_cores()} cores, Python {platform.python_version()}",
        "details": {
            **details,
            "clock": clock,
            "best_clock": {way: round(max(rate.clock for rate in runs), 2) for way, runs in rates.items()},
            "per_processor_second": medians(rates, "processor"),
            "load_average": round(psutil.getloadavg()[0], 1),
        },
    }


# ---------------------------------------------------------------------------------------------------------------------
# Transitions


def plain_transitions(path: Path) -> list[Transition]:
    """Read transitions the plain way: everything at once, and a file of another shape ends in some KeyError."""
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    transitions = []
    for theorem in (theorem for record in records for theorem in record["theorems"]):
        for block in theorem["by_blocks"]:
            nodes = {node["id"]: node for node in block["tree"]["nodes"]}
            for node in nodes.values():
                edge = node["tactic"]
                after = "\n\n".join(_plain_state(nodes[child]) for child in edge["children"])
                transitions.append(Transition(_plain_state(node), edge["tactic_string"], node["proof_depth"], after))
    return transitions


def _plain_state(node: dict[str, Any]) -> str:
    goals = []
    for goal in node["state"]["goals"]:
        lines: list[str] = []
        last = None
        for hypothesis in goal["hypotheses"]:
            name, kind = hypothesis["user_name"], hypothesis["type"]
            if kind == last:
                lines[-1] = lines[-1].replace(" : ", f" {name} : ", 1)
            else:
                lines.append(f"{name} : {kind}")
            last = kind
        goals.append("\n".join([*lines, f"⊢ {goal['type']}"]))
    return "\n\n".join(goals)


def resident_mb(way: str, path: Path) -> float:
    """Megabytes of memory that what is read takes. To be run in a process of its own."""
    process = psutil.Process()
    before = process.memory_info().rss
    held: object = load_split(path) if way == "ours" else plain_transitions(path)
    after = process.memory_info().rss
    del held
    return (after - before) / 1e6


def resident_mb_in_new_process(way: str, path: Path) -> float:
    """`resident_mb` in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return round(pool.submit(resident_mb, way, path).result(), 1)


def watch_stream(path: Path, size: float) -> dict[str, Any]:
    """Resident memory, in MB, at even distances in a file that is streamed, and the speed over all of it."""
    process = psutil.Process()
    samples = [round(process.memory_info().rss / 1e6)]
    seen, count = 0.0, 0
    clock, processor = time.perf_counter(), time.process_time()
    for transition in read_transitions(path):
        count += 1
        seen += len(transition.state) + len(transition.tactic)
        if count % 1000 == 0:
            samples.append(round(process.memory_info().rss / 1e6))
    rate = Rate(size / (time.perf_counter() - clock), size / (time.process_time() - processor))
    step = max(1, len(samples) // SAMPLES)
    return {
        "megabytes": round(size),
        "transitions": count,
        "resident_mb": [*samples[::step], samples[-1]],
        "peak_resident_mb": max(samples),
        "mb_per_second": round(rate.clock, 1),
        "mb_per_processor_second": round(rate.processor, 1),
    }


def measure_transitions(options: DataBenchmark, directory: Path) -> dict[str, Any]:
    """Check that both ways give the same, time them in turns, look at memory."""
    steady: dict[str, Any] = {}
    if options.steady_megabytes:  # before this process has held anything large
        path = directory / "steady.jsonl"
        size = write_leantree(path, int(options.steady_megabytes * 1e6), options.seed) / 1e6
        steady = watch_stream(path, size)
        path.unlink()
    path = directory / "transitions.jsonl"
    size = write_leantree(path, int(options.megabytes * 1e6), options.seed) / 1e6
    resident = {way: resident_mb_in_new_process(way, path) for way in ("ours", "plain")}
    plain = plain_transitions(path)
    count = len(plain)
    assert all(ours == other for ours, other in zip(read_transitions(path), plain, strict=True)), "they differ"
    train, valid = load_split(path)
    assert [*train, *valid] == plain, "what is kept differs from what is read"
    del plain, train, valid
    rates: dict[str, list[Rate]] = {"ours": [], "plain": [], "ours_kept": []}
    for _ in range(options.repeats):
        rates["ours"].append(timed(size, lambda: sum(1 for _ in read_transitions(path))))
        rates["plain"].append(timed(size, lambda: plain_transitions(path)))
        rates["ours_kept"].append(timed(size, lambda: load_split(path)))
    details = {**to_dict(options), "transitions": count, "resident_mb_of_all": resident, "steady": steady}
    return result_of("LeanTree to transitions", rates, details)


# ---------------------------------------------------------------------------------------------------------------------
# Tokens


def lean_documents(options: DataBenchmark) -> Iterator[str]:
    """Made-up Lean code."""
    source, characters = MathText(options.seed), 0
    while characters < options.text_megabytes * 1e6:
        yield (text := source.lean(DOCUMENT_CHARS))
        characters += len(text)


def measure_tokens(options: DataBenchmark, directory: Path) -> dict[str, Any]:
    """Check that both ways give the same tokens, time them in turns."""
    tokenizer = gpt2_tokenizer()
    tokenizer.save(directory)
    library = tokenizers.Tokenizer.from_file(str(directory / TOKENIZER_FILE))
    texts = list(lean_documents(options))
    size = sum(len(text.encode("utf-8")) for text in texts) / 1e6

    def encode_plainly() -> list[list[int]]:
        return [library.encode(text).ids for text in texts]

    plain = encode_plainly()
    ours = tokenizer.encode_arrays(texts, options.threads)
    assert len(plain) == len(ours) and all(map(np.array_equal, plain, ours)), "they give different tokens"
    tokens = sum(map(len, plain))
    del plain, ours
    rates = token_rates(options, tokenizer, texts, size, encode_plainly)
    return result_of("GPT-2 tokens of Lean text", rates, {**to_dict(options), "tokens": tokens})


def token_rates(
    options: DataBenchmark, tokenizer: Tokenizer, texts: list[str], size: float, plain: Callable[[], object]
) -> dict[str, list[Rate]]:
    """Time the threads, the plain way, and one thread of ours, in turns."""
    rates: dict[str, list[Rate]] = {"ours": [], "plain": [], "ours_on_one_thread": []}
    for _ in range(options.repeats):
        rates["ours"].append(timed(size, lambda: tokenizer.encode_arrays(texts, options.threads)))
        rates["plain"].append(timed(size, plain))
        rates["ours_on_one_thread"].append(timed(size, lambda: tokenizer.encode_arrays(texts, 1)))
    return rates


def report(result: dict[str, Any]) -> None:
    """Print a result."""
    details = result["details"]
    print(
        f"{result['name']}: {result['ours']} against {result['baseline']} MB/s, {result['ratio']}x "
        f"({result['hardware']}, load average {details['load_average']})"
    )
    print(f"  MB per second of the clock: {details['clock']}, best runs: {details['best_clock']}")
    print(f"  MB per second of processor time: {details['per_processor_second']}")
    if "resident_mb_of_all" in details:
        print(f"  MB of memory for all {details['transitions']:,} transitions: {details['resident_mb_of_all']}")
    if details.get("steady"):
        print(f"  streamed: {details['steady']}")


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark and write its results."""
    parser = Parser(prog="python -m benchmarks.data", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, DataBenchmark)
    options = from_args(DataBenchmark, parser.parse_args(argv))
    with tempfile.TemporaryDirectory() as directory:
        results = [measure(options, Path(directory)) for measure in (measure_transitions, measure_tokens)]
    for result in results:
        report(result)
    if options.json is not None:
        atomic_write_json(Path(options.json), results)
    return 0


if __name__ == "__main__":
    run_main(main)
