"""Measure how fast texts become training data: LeanTree JSONL as transitions, Lean text as GPT-2's tokens.

    python -m benchmarks.data [--megabytes 50] [--steady-megabytes 1000] [--json PATH]

The data is made up (leantree_text.py, math_text.py) in a temporary directory. Transitions: the plain way takes
`json.loads` of all lines and puts plain dataclasses into a list, without looking at shapes; both must give the same
transitions. How much memory what they read takes is measured in processes of their own, and over `--steady-megabytes`
the memory of the stream is watched. Tokens: against the `tokenizers` library on one thread; both must give the same.
"""

import json
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import tokenizers

from benchmarks.leantree_text import write_leantree
from benchmarks.math_text import MathText
from benchmarks.measurement import (
    Rate,
    Result,
    compared,
    in_turns,
    parser_of,
    rate,
    result,
    spent,
    typical_rates,
    write_results,
)
from nanoproof.common.config import from_args, opt, to_dict, validated
from nanoproof.common.errors import run_main
from nanoproof.data.transitions.leantree import load_split, read_transitions
from nanoproof.lean.types import Transition
from nanoproof.model.tokenizer import TOKENIZER_FILE, gpt2_tokenizer

SAMPLES = 10
DOCUMENT_CHARS = 4000


@validated("benchmark")
class DataBenchmark:
    """Data benchmark."""

    megabytes: float = opt(50.0, "LeanTree JSONL to read.", above=0)
    text_megabytes: float = opt(10.0, "Lean text to encode.", above=0)
    threads: int = opt(2, "Threads that encode.", min=1)
    repeats: int = opt(3, "Runs of each way, alternating.", min=1)
    steady_megabytes: float = opt(0.0, "LeanTree JSONL over which the memory is watched; 0 for none.", min=0)
    seed: int = opt(0, "Seed of the made-up data.", min=0)
    json: str | None = opt(None, "File to write the results to.")


def result_of(name: str, rates: dict[str, list[Rate]], details: dict[str, Any]) -> Result:
    """Return a result in the form of all benchmarks; `rates` are those of `ours`, `plain` and perhaps others."""
    clock, best, processor = typical_rates(rates, 2)
    # The ratio is by the clock, since that threads work side by side is part of what is claimed. On busy cores they
    # gain nothing there; the rates by processor time then say what the code itself is worth.
    details |= {"clock": clock, "best_clock": best, "per_processor_second": processor}
    details["load_average"] = round(psutil.getloadavg()[0], 1)
    ours, plain = clock["ours"], clock["plain"]
    return result(name, "MB/s", ours, plain, round(ours / plain, 2), details)


# ---------------------------------------------------------------------------------------------------------------------
# Transitions


def plain_transitions(path: Path) -> list[Transition]:
    """Read transitions the plain way: everything at once, and a file of another shape ends in some KeyError."""
    records = list(map(json.loads, path.read_bytes().splitlines()))
    transitions: list[Transition] = []
    for record in records:
        for theorem in record["theorems"]:
            for block in theorem["by_blocks"]:
                _add_plainly(transitions, block["tree"]["nodes"])
    return transitions


def _add_plainly(transitions: list[Transition], listed: list[dict[str, Any]]) -> None:
    nodes = {node["id"]: node for node in listed}
    for node in listed:
        edge = node["tactic"]
        after = "\n\n".join(_plain_state(nodes[child]) for child in edge["children"])
        transitions.append(Transition(_plain_state(node), edge["tactic_string"], node["proof_depth"], after))


def _plain_state(node: dict[str, Any]) -> str:
    goals = []
    for goal in node["state"]["goals"]:
        lines: list[str] = []
        last = None
        for hypothesis in goal["hypotheses"]:
            name, kind = hypothesis["user_name"], hypothesis["type"]
            # As Lean prints them: neighbours of one type share a line, `a b : Nat`.
            if kind == last:
                lines[-1] = lines[-1].replace(" : ", f" {name} : ", 1)
            else:
                lines.append(f"{name} : {kind}")
            last = kind
        goals.append("\n".join([*lines, f"⊢ {goal['type']}"]))
    return "\n\n".join(goals)


def resident_mb(way: str, path: Path) -> float:
    """Measure the megabytes of memory that what is read takes. To be run in a process of its own."""
    process = psutil.Process()
    before = process.memory_info().rss
    kept: object = load_split(path) if way == "ours" else plain_transitions(path)
    after = process.memory_info().rss
    del kept
    return (after - before) / 1e6


def resident_mb_in_new_process(way: str, path: Path) -> float:
    """Measure `resident_mb` in a fresh process."""
    # In one that has held as much before, the allocator would take memory that it has kept, and nothing would show.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return round(pool.submit(resident_mb, way, path).result(), 1)


def watch_stream(path: Path, size: float) -> dict[str, Any]:
    """Measure memory (resident, MB) at even distances in a file that is streamed, and the speed over all of it."""
    process = psutil.Process()
    samples = [round(process.memory_info().rss / 1e6)]
    count = 0

    def stream() -> None:
        nonlocal count
        for _ in read_transitions(path):
            count += 1
            if count % 1000 == 0:
                samples.append(round(process.memory_info().rss / 1e6))

    seconds = spent(stream)
    step = max(1, len(samples) // SAMPLES)
    return {
        "megabytes": round(size),
        "transitions": count,
        "resident_mb": [*samples[::step], samples[-1]],
        "peak_resident_mb": max(samples),
        "mb_per_second": round(size / seconds.clock, 1),
        "mb_per_processor_second": round(size / seconds.processor, 1),
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
    assert list(read_transitions(path)) == plain, "they differ"
    train, valid = load_split(path)
    assert [*train, *valid] == plain, "what is kept differs from what is read"
    # What a list of all of them holds would be in the way of the collector while others are timed.
    del plain, train, valid
    # Ours streams, as training reads it; `ours_kept` puts all into lists as the plain way does.
    ways: dict[str, Callable[[], Rate]] = {
        "ours": lambda: rate(lambda: deque(read_transitions(path), maxlen=0), size),
        "plain": lambda: rate(lambda: plain_transitions(path), size),
        "ours_kept": lambda: rate(lambda: load_split(path), size),
    }
    details = {**to_dict(options), "transitions": count, "resident_mb_of_all": resident, "steady": steady}
    return result_of("LeanTree to transitions", in_turns(ways, options.repeats), details)


# ---------------------------------------------------------------------------------------------------------------------
# Tokens


def lean_documents(options: DataBenchmark) -> Iterator[str]:
    """Yield made-up Lean code."""
    source, characters = MathText(options.seed), 0
    while characters < options.text_megabytes * 1e6:
        text = source.lean(DOCUMENT_CHARS)
        yield text
        characters += len(text)


def measure_tokens(options: DataBenchmark, directory: Path) -> dict[str, Any]:
    """Check that both ways give the same tokens, time them in turns."""
    tokenizer = gpt2_tokenizer()
    tokenizer.save(directory)
    library = tokenizers.Tokenizer.from_file(str(directory / TOKENIZER_FILE))
    texts = list(lean_documents(options))
    size = len("".join(texts).encode("utf-8")) / 1e6

    # One document after the other on one thread, as a loop over documents uses the library.
    def encode_plainly() -> list[list[int]]:
        return [library.encode(text).ids for text in texts]

    plain = encode_plainly()
    ours = tokenizer.encode_arrays(texts, options.threads)
    assert len(plain) == len(ours) and all(map(np.array_equal, plain, ours)), "they give different tokens"
    tokens = sum(map(len, plain))
    del plain, ours
    ways: dict[str, Callable[[], Rate]] = {
        "ours": lambda: rate(lambda: tokenizer.encode_arrays(texts, options.threads), size),
        "plain": lambda: rate(encode_plainly, size),
        "ours_on_one_thread": lambda: rate(lambda: tokenizer.encode_arrays(texts, 1), size),
    }
    rates = in_turns(ways, options.repeats)
    return result_of("GPT-2 tokens of Lean text", rates, {**to_dict(options), "tokens": tokens})


def report(row: Result) -> None:
    """Print a result."""
    details = row["details"]
    print(f"{compared(row)} ({row['hardware']}, load average {details['load_average']})")
    print(f"  MB per second of the clock: {details['clock']}, best runs: {details['best_clock']}")
    print(f"  MB per second of processor time: {details['per_processor_second']}")
    if "resident_mb_of_all" in details:
        print(f"  MB of memory for all {details['transitions']:,} transitions: {details['resident_mb_of_all']}")
    if details.get("steady"):
        print(f"  streamed: {details['steady']}")


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark and write its results."""
    options = from_args(DataBenchmark, parser_of("data", __doc__, DataBenchmark).parse_args(argv))
    with tempfile.TemporaryDirectory() as directory:
        results = [measure_transitions(options, Path(directory)), measure_tokens(options, Path(directory))]
    for row in results:
        report(row)
    write_results(options.json, results)
    return 0


if __name__ == "__main__":
    run_main(main)
