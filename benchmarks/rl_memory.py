"""Measure whether RL leaks: resident memory over many steps with a Lean and a network that only sleep.

    python -m benchmarks.rl_memory [--steps 2000] [--json PATH]

Every step collects, trains, and logs; every 20th saves, every 50th evaluates. Prints a table, and fails if memory grew
in the second half of the run by more than a share of it, `--tolerance`, or the number of threads grew at all.
"""

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measurement import plain_parser, write_results
from benchmarks.rl import HARDWARE, make_model, run

MB = 1e6
# Saves and evaluates often, so that a leak there shows too. Buffers, trees and checkpoints are few: what they hold
# grows until they are full, and that is no leak.
FLAGS = """
    --save-every 20steps --eval-every 50steps --replay-buffer-window-size 300 --negative-fraction 0.1
    --negative-buffer-window-size 300 --keep-checkpoints 2 --keep-trees 20 --collect-transitions 8
"""


def column(rows: list[dict[str, float]], name: str) -> list[float]:
    """Return one figure of all steps."""
    return [row[name] for row in rows]


def slope(rows: list[dict[str, float]]) -> float:
    """Return the bytes for each step, by the least squares."""
    return statistics.linear_regression(column(rows, "step"), column(rows, "rss")).slope


def table(rows: list[dict[str, float]], parts: int = 10) -> str:
    """Return the medians of so many parts of the run."""
    size = max(1, len(rows) // parts)
    lines = ["     steps      resident MB   threads"]
    for start in range(0, len(rows) - size + 1, size):
        part = rows[start : start + size]
        memory, threads = statistics.median(column(part, "rss")) / MB, max(column(part, "threads"))
        lines.append(f"{part[0]['step']:5.0f}-{part[-1]['step']:<5.0f} {memory:12.1f} {threads:9.0f}")
    return "\n".join(lines)


def judge(rows: list[dict[str, float]]) -> dict[str, Any]:
    """Judge growth in the second half, by the line through it: a share, MB for each thousand steps, and threads."""
    # The first half does not count: caches fill, and the allocator takes what it then keeps. A line and not two ends,
    # as resident memory goes up and down from step to step.
    first, second = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    threads = max(column(second, "threads")) - max(column(first, "threads"))
    share = slope(second) * len(second) / second[0]["rss"]
    memory = {"mb_per_1000_steps": slope(second) * 1000 / MB, "last_mb": rows[-1]["rss"] / MB}
    return {"share": share, "threads": threads, **memory}


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 1 if memory grows."""
    parser = plain_parser(__doc__)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--tolerance", type=float, default=0.01, help="share of the memory")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_model(folder)
        # A Lean that takes no time: as many steps in an hour as can be.
        options = {"slots": args.slots, "tactic_seconds": 0.0, "sleeping_network": True}
        rows = run(folder, "memory", args.steps, 30, more=FLAGS.split(), **options)[0]["rows"]
    verdict = judge(rows)
    print(table(rows))
    growth = f"{verdict['share']:+.2%}, {verdict['mb_per_1000_steps']:+.2f} MB for each thousand steps"
    print(f"second half: {growth}, {verdict['threads']:+.0f} threads")
    # Without a baseline: there is no second way to run, and the tolerance is its bound.
    details = {"steps": args.steps, "tolerance": args.tolerance, **verdict}
    share = {"name": "growth of resident memory", "ours": round(verdict["share"], 4), "unit": "share"}
    write_results(args.json, [{**share, "hardware": HARDWARE, "details": details}])
    return int(verdict["share"] > args.tolerance or verdict["threads"] > 0)


if __name__ == "__main__":
    sys.exit(main())
