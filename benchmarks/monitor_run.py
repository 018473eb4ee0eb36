"""Makes the directory of a large run that never happened, to try the monitor on.

    python -m benchmarks.monitor_run DIR [--attempts 100000] [--evaluations 1000]

Attempts are at a theorem each up to 20,000 theorems; their records are as large as those of real ones (some 1.3 kB).
The last five minutes have timelines and search trees.
"""

import argparse
import json
import shutil
import time
from pathlib import Path
from random import Random

from benchmarks.measurement import first_line, folder_bytes
from nanoproof.prover.attempt_log import AttemptLog
from tests.fakes.simulated_lean import invent_attempt, invent_theorem
from tests.fakes.simulated_run import BENCHMARKS, SimulatedRun, skill_at, write_evaluation, write_history

RANKS, THEOREMS, PER_STEP, STEP_SECONDS, DETAIL_SECONDS = 2, 20_000, 50, 60.0, 300.0


def make_run(path: Path, attempts: int, evaluations: int) -> SimulatedRun:
    """Write the run: its past at once, its end as a simulated run, which may go on."""
    path.mkdir(parents=True)
    steps, now = attempts // PER_STEP, time.time()
    start = now - STEP_SECONDS * steps - DETAIL_SECONDS
    write_attempts(path, attempts, start)
    with open(path / "metrics.jsonl", "w", encoding="utf-8") as metrics:
        for step in range(1, steps + 1):
            values = {"loss": 0.6 + 1.9 / (1 + step / 25), "attempts": PER_STEP, "proofs": PER_STEP // 2}
            metrics.write(json.dumps({"step": step, "time": start + STEP_SECONDS * step, **values}) + "\n")
    with open(path / "events.jsonl", "w", encoding="utf-8") as events:
        for number in range(evaluations):
            step = number * steps // max(1, evaluations)
            moment = start + STEP_SECONDS * step
            fields = write_evaluation(path, BENCHMARKS[number % 2], step, moment, skill_at(step), theorems=64)
            events.write(json.dumps({"time": moment, "kind": "evaluation", **fields}) + "\n")
    return write_history(path, DETAIL_SECONDS, ranks=RANKS, trees=200, num_steps=10 * steps, first_step=steps + 1)


def write_attempts(path: Path, attempts: int, start: float) -> None:
    """Write the logs of attempts and their indexes as a run does."""
    rng = Random(0)
    logs = [AttemptLog(path, rank) for rank in range(RANKS)]
    theorems = list(map(invent_theorem, range(min(THEOREMS, attempts))))
    for number in range(attempts):
        theorem, step, rank = theorems[number % len(theorems)], number // PER_STEP, number % RANKS
        attempt = invent_attempt(theorem, rng, skill_at(step), rng.choice((16, 32, 64, 128)), step)
        name = {"step": step, "rank": rank, "sequence": number // RANKS}
        moment = start + number * STEP_SECONDS / PER_STEP
        logs[rank].write({"number": name, "time": round(moment, 3), **attempt.to_json()})
    for log in logs:
        log.close()


def main(argv: list[str] | None = None) -> None:
    """Write a run directory."""
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("dir", type=Path, help="Directory to make; one that is there is replaced.")
    parser.add_argument("--attempts", type=int, default=100_000)
    parser.add_argument("--evaluations", type=int, default=1000)
    options = parser.parse_args(argv)
    started = time.perf_counter()
    shutil.rmtree(options.dir, ignore_errors=True)
    make_run(options.dir, options.attempts, options.evaluations).close()
    print(f"{options.dir}: {folder_bytes(options.dir) / 1e6:.0f} MB in {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
