"""Measure the matchmaker and the replay buffer at the size of real data sets.

    python -m benchmarks.rl_matchmaker [--theorems 1000000] [--attempts 1000000] [--log-mb 200] [--json PATH]

Draws of theorems from the matchmaker against `random.choices` with the same weights, in the same run and in turns; both
draw with the same frequencies (checked). Besides: the cost of an outcome, memory of a theorem, samples of a buffer
against a list made anew, and how fast and in how much memory a log of attempts is learned from again. Times are
processor times.
"""

import argparse
import json
import os
import platform
import random
import resource
import sys
import tempfile
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nanoproof.common.files import json_line
from nanoproof.lean.types import Theorem, Transition
from nanoproof.prover.attempt import Attempt, FailedTactic
from nanoproof.prover.attempt_log import logged_attempts
from nanoproof.prover.check import RUNGS
from nanoproof.rl.batch_sampler import Buffers
from nanoproof.rl.collection import Experience, relearn
from nanoproof.rl.matchmaker import Event, Matchmaker, MatchmakerConfig

HARDWARE = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
EVENTS: tuple[Event, ...] = ("proven", "unproven", "unproven", "unproven", "one tactic", "error", "disproven")


def seconds_each(action: Callable[[], object], times: int) -> float:
    """Processor seconds of one call."""
    started = time.process_time()
    for _ in range(times):
        action()
    return (time.process_time() - started) / times


def measure_matchmaker(num_theorems: int, num_attempts: int) -> dict[str, Any]:
    """Draws, outcomes and memory."""
    rng = random.Random(0)
    tracemalloc.start()
    matchmaker = Matchmaker(num_theorems, MatchmakerConfig.preset("alphaproof"))
    tracemalloc.stop()
    started = time.process_time()
    for _ in range(num_attempts):
        matchmaker.update(rng.randrange(num_theorems), rng.choice(EVENTS))
    update = (time.process_time() - started) / num_attempts
    weights = [matchmaker.weight(index) for index in range(num_theorems)]
    population = range(num_theorems)
    ours, theirs = [], []
    for _ in range(5):  # in turns, so that other work on the machine meets both
        ours.append(seconds_each(lambda: matchmaker.assign(rng), 20_000))
        theirs.append(seconds_each(lambda: rng.choices(population, weights), 3))
    check_frequencies(matchmaker, weights, rng)
    tracemalloc.start()
    again = Matchmaker(num_theorems, matchmaker.config)
    for _ in range(min(num_attempts, 200_000)):
        again.update(rng.randrange(num_theorems), rng.choice(EVENTS))
    memory = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    best, baseline = min(ours), min(theirs)
    return {
        **{"name": f"assignment of one of {num_theorems:,} theorems", "ratio": baseline / best},
        **{"ours": best * 1e6, "baseline": baseline * 1e6, "unit": "µs", "hardware": HARDWARE},
        "details": {
            "baseline": "random.choices with the weights as a list",
            "µs each time": [round(value * 1e6, 2) for value in ours],
            "µs for an outcome (with its random choice)": round(update * 1e6, 2),
            "bytes for a theorem": round(memory / num_theorems, 1),
            "attempts": num_attempts,
            "standings": len(matchmaker.distinct_standings()),
        },
    }


def check_frequencies(matchmaker: Matchmaker, weights: list[float], rng: random.Random) -> None:
    """Check that each weight is drawn as often as it should be, within five standard deviations."""
    draws, total = 200_000, sum(weights)
    share = {weight: weight * count / total for weight, count in Counter(weights).items()}
    drawn = Counter(weights[found.index] for _ in range(draws) if (found := matchmaker.assign(rng)) is not None)
    for weight, expected in share.items():
        deviation = (draws * expected * (1 - expected)) ** 0.5
        assert abs(drawn[weight] - draws * expected) <= 5 * deviation + 1e-9, (weight, drawn[weight], draws * expected)


def measure_buffer(window: int = 250_000) -> dict[str, Any]:
    """Measure a sample of 512 after an addition, against a list of all items made anew."""
    theorem = Theorem("theorem t : True := by sorry", "made", "t")
    buffers, rng = Buffers(window, 0), np.random.default_rng(0)
    for number in range(window):
        attempt = Attempt(theorem, "proven", transitions=(Transition(f"⊢ {number}", "t", 1 + number % 9),))
        buffers.add([attempt], number // 100)
    newest = Attempt(theorem, "proven", transitions=(Transition("⊢ new", "t", 1),))

    def sample() -> None:
        buffers.add([newest], window // 100)
        buffers.replay.sample(rng, 512)

    def plain() -> None:
        buffers.add([newest], window // 100)
        items = buffers.replay.items()
        _ = [items[place] for place in rng.integers(len(items), size=512)]

    ours, theirs = seconds_each(sample, 200), seconds_each(plain, 5)
    return {
        **{"name": f"512 of {window:,} transitions after an addition", "ratio": theirs / ours},
        **{"ours": ours * 1e6, "baseline": theirs * 1e6, "unit": "µs", "hardware": HARDWARE},
        "details": {"baseline": "a list of all items", "staleness": buffers.replay.staleness(window // 100)},
    }


def measure_log(megabytes: int) -> dict[str, Any]:
    """Learning again from the logs of four ranks with so many megabytes in all, against holding them in a list."""
    text, theorems = "x" * 400, [Theorem(f"theorem t{n} : True := by sorry", "made", f"t{n}") for n in range(1000)]
    with tempfile.TemporaryDirectory() as folder:
        path, written, number = Path(folder), 0, 0
        files = [open(path / f"attempts_r{rank}.jsonl", "w", encoding="utf-8") for rank in range(4)]
        while written < megabytes * 1_000_000:
            transitions = tuple(Transition(f"⊢ {text} {number} {depth}", "simp", depth) for depth in range(5, 0, -1))
            failed = tuple(FailedTactic(f"⊢ {text} {number}", f"wrong {other}") for other in range(12))
            found = Attempt(
                *(theorems[number % 1000], "proven", "", False, "simp", "the whole text", 5, transitions, failed),
                check={"accepted": True, "rungs": dict.fromkeys(RUNGS, True)},
            )
            rank = number % 4
            record = {"number": {"step": number // 400, "rank": rank, "sequence": number}, **found.to_json()}
            written += files[rank].write(json_line(record))
            number += 1
        for file in files:
            file.close()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        learned = Experience(theorems, Matchmaker(1000, MatchmakerConfig()), Buffers(1000, 1000))
        started = time.process_time()
        relearn(learned, path)
        seconds = time.process_time() - started
        ours = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
        assert learned.attempts == number
        held = list(logged_attempts(path))
        theirs = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
        assert len(held) == number
    return {
        **{"name": f"memory to learn from a log of {megabytes} MB", "ratio": theirs / max(ours, 0.1)},
        **{"ours": ours, "baseline": theirs, "unit": "MB", "hardware": HARDWARE},
        "details": {"baseline": "all attempts in a list", "seconds": round(seconds, 2), "attempts": number},
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and write its results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--theorems", type=int, default=1_000_000)
    parser.add_argument("--attempts", type=int, default=1_000_000)
    parser.add_argument("--log-mb", type=int, default=200)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args(argv)
    results = [measure_log(args.log_mb), measure_matchmaker(args.theorems, args.attempts), measure_buffer()]
    for result in results:
        print(
            f"{result['name']}: {result['ours']:,.1f} {result['unit']}, "
            f"baseline {result['baseline']:,.1f}, ratio {result['ratio']:,.0f}"
        )
        print("   ", json.dumps(result["details"], ensure_ascii=False))
    if args.json:
        args.json.write_text(json.dumps(results, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
