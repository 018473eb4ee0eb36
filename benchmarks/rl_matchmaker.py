"""Measure the matchmaker and the replay buffer at the size of real data sets.

    python -m benchmarks.rl_matchmaker [--theorems 1000000] [--attempts 1000000] [--log-mb 200] [--json PATH]

Draws of theorems from the matchmaker against `random.choices` with the same weights, in the same run and in turns; both
draw with the same frequencies (checked). Besides: the cost of an outcome, memory of a theorem, samples of a buffer
against a list made anew, and how fast and in how much memory a log of attempts is learned from again. Times are
processor times.
"""

import json
import random
import resource
import sys
import tempfile
import tracemalloc
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.measurement import Result, plain_parser, processor_seconds, result, write_results
from nanoproof.common.files import json_line
from nanoproof.lean.types import Theorem, Transition
from nanoproof.prover.attempt import Attempt, FailedTactic
from nanoproof.prover.attempt_log import logged_attempts
from nanoproof.prover.check import RUNGS
from nanoproof.rl.batch_sampler import Buffers
from nanoproof.rl.collection import Experience, relearn
from nanoproof.rl.matchmaker import Event, Matchmaker, MatchmakerConfig

EVENTS: tuple[Event, ...] = ("proven", "unproven", "unproven", "unproven", "one tactic", "error", "disproven")


def measure_matchmaker(num_theorems: int, num_attempts: int) -> Result:
    """Draws, outcomes and memory."""
    rng = random.Random(0)
    matchmaker = Matchmaker(num_theorems, MatchmakerConfig.preset("alphaproof"))
    update = processor_seconds(lambda: matchmaker.update(rng.randrange(num_theorems), rng.choice(EVENTS)), num_attempts)
    population = range(num_theorems)
    weights = list(map(matchmaker.weight, population))
    ours, theirs = [], []
    # The plain way adds all weights up for each draw: `choices` does that unless it is given their sums, which are
    # others after every outcome. In turns, so that other work on the machine meets both, and the least counts.
    for _ in range(5):
        ours.append(processor_seconds(lambda: matchmaker.assign(rng), 20_000))
        theirs.append(processor_seconds(lambda: rng.choices(population, weights), 3))
    check_frequencies(matchmaker, weights, rng)
    # Memory in a second one: what is traced takes several times as long.
    tracemalloc.start()
    again = Matchmaker(num_theorems, matchmaker.config)
    for _ in range(min(num_attempts, 200_000)):
        again.update(rng.randrange(num_theorems), rng.choice(EVENTS))
    memory = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    best, baseline = min(ours), min(theirs)
    details = {
        "baseline": "random.choices with the weights as a list",
        "µs each time": [round(value * 1e6, 2) for value in ours],
        "µs for an outcome (with its random choice)": round(update * 1e6, 2),
        "bytes for a theorem": round(memory / num_theorems, 1),
        "attempts": num_attempts,
        "standings": len(matchmaker.distinct_standings()),
    }
    name = f"assignment of one of {num_theorems:,} theorems"
    return result(name, "µs", best * 1e6, baseline * 1e6, baseline / best, details)


def check_frequencies(matchmaker: Matchmaker, weights: list[float], rng: random.Random) -> None:
    """Check that each weight is drawn as often as it should be, within five standard deviations."""
    # A fast draw that draws something else would be no faster way to do the same.
    draws, total, drawn = 200_000, sum(weights), Counter[float]()
    for _ in range(draws):
        task = matchmaker.assign(rng)
        if task is not None:
            drawn[weights[task.index]] += 1
    for weight, count in Counter(weights).items():
        share = weight * count / total
        deviation = (draws * share * (1 - share)) ** 0.5
        assert abs(drawn[weight] - draws * share) <= 5 * deviation + 1e-9, (weight, drawn[weight], draws * share)


def measure_buffer(window: int = 250_000) -> Result:
    """Measure a sample of 512 after an addition, against a list of all items made anew."""
    theorem = Theorem("theorem t : True := by sorry", "made", "t")
    buffers, rng = Buffers(window, 0), np.random.default_rng(0)
    for number in range(window):
        attempt = Attempt(theorem, "proven", transitions=(Transition(f"⊢ {number}", "t", 1 + number % 9),))
        buffers.add([attempt], number // 100)
    newest = Attempt(theorem, "proven", transitions=(Transition("⊢ new", "t", 1),))

    # Both after an addition, as a run samples: it is what makes a list that was kept a stale one.
    def sample() -> None:
        buffers.add([newest], window // 100)
        buffers.replay.sample(rng, 512)

    def plain() -> None:
        buffers.add([newest], window // 100)
        items = buffers.replay.items()
        _ = [items[place] for place in rng.integers(len(items), size=512)]

    ours, theirs = processor_seconds(sample, 200), processor_seconds(plain, 5)
    details = {"baseline": "a list of all items", "staleness": buffers.replay.staleness(window // 100)}
    name = f"512 of {window:,} transitions after an addition"
    return result(name, "µs", ours * 1e6, theirs * 1e6, theirs / ours, details)


def write_logs(path: Path, theorems: list[Theorem], megabytes: int) -> int:
    """Write the logs of four ranks with so many megabytes in all; returns how many attempts there are."""
    text, written, number = "x" * 400, 0, 0
    files = [open(path / f"attempts_r{rank}.jsonl", "w", encoding="utf-8") for rank in range(4)]
    while written < megabytes * 1_000_000:
        transitions = tuple(Transition(f"⊢ {text} {number} {depth}", "simp", depth) for depth in range(5, 0, -1))
        failed = tuple(FailedTactic(f"⊢ {text} {number}", f"wrong {other}") for other in range(12))
        attempt = Attempt(
            *(theorems[number % 1000], "proven", "", False, "simp", "the whole text", 5, transitions, failed),
            check={"accepted": True, "rungs": dict.fromkeys(RUNGS, True)},
        )
        rank = number % 4
        record = {"number": {"step": number // 400, "rank": rank, "sequence": number}, **attempt.to_json()}
        written += files[rank].write(json_line(record))
        number += 1
    for file in files:
        file.close()
    return number


def peak_mb() -> float:
    """Return the most memory that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def measure_log(megabytes: int) -> Result:
    """Time learning again from the logs of four ranks, `megabytes` in all, against holding them in a list."""
    theorems = [Theorem(f"theorem t{n} : True := by sorry", "made", f"t{n}") for n in range(1000)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        count = write_logs(path, theorems, megabytes)
        # Peaks never fall: ours is measured before the list, and both before everything else in this process, whose
        # peak would hide them.
        before = peak_mb()
        learned = Experience(theorems, Matchmaker(1000, MatchmakerConfig()), Buffers(1000, 1000))
        seconds = processor_seconds(lambda: relearn(learned, path))
        ours = peak_mb() - before
        assert learned.attempts == count
        kept = list(logged_attempts(path))
        theirs = peak_mb() - before
        assert len(kept) == count
    details = {"baseline": "all attempts in a list", "seconds": round(seconds, 2), "attempts": count}
    return result(f"memory to learn from a log of {megabytes} MB", "MB", ours, theirs, theirs / max(ours, 0.1), details)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and write its results."""
    parser = plain_parser(__doc__)
    parser.add_argument("--theorems", type=int, default=1_000_000)
    parser.add_argument("--attempts", type=int, default=1_000_000)
    parser.add_argument("--log-mb", type=int, default=200)
    args = parser.parse_args(argv)
    results = [measure_log(args.log_mb), measure_matchmaker(args.theorems, args.attempts), measure_buffer()]
    for row in results:
        print(
            f"{row['name']}: {row['ours']:,.1f} {row['unit']}, "
            f"baseline {row['baseline']:,.1f}, ratio {row['ratio']:,.0f}"
        )
        print("   ", json.dumps(row["details"], ensure_ascii=False))
    write_results(args.json, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
