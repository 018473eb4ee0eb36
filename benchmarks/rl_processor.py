"""Processor seconds of an attempt of reinforcement learning: the policy by compiled code and by torch, in pairs.

    python -m benchmarks.rl_processor --model-path quickstart/sft [--pairs 3] [--steps 4] [--json PATH]

Runs `nanoproof.rl` as the quickstart does, one rank with the Lean processes of its own, once by each engine for every
seed. Counted are the run's process, with its training, and all that it starts: the server and all NanoLean processes.
By processor time, which other load changes little. Attempts and proofs of both are printed: a faster engine that proves
something else would have saved nothing.
"""

import argparse
import ctypes
import os
import resource
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measurement import Result, compared, in_turns, plain_parser, result, write_results
from nanoproof.common.files import read_jsonl
from scripts import small_runs

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
ENGINES = ("native", "torch")


def adopt_orphans() -> None:
    """Make this process the parent of descendants whose own parent ended, so that their time is counted here."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children_seconds() -> float:
    """Return the processor seconds of all descendants that ended and were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def reap() -> None:
    """Wait for every descendant that is left, as the kernel adds its time only then."""
    try:
        while True:
            os.wait()
    except ChildProcessError:
        return


def run(engine: str, seed: int, args: argparse.Namespace) -> dict[str, Any]:
    """Run RL once; return its processor seconds, its attempts, and how many of them proved their theorem."""
    before = children_seconds()
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable, "-m", "nanoproof.rl", "--model-path", args.model_path, *small_runs.RL]
        command += ["--engine", engine, "--seed", str(seed), "--num-steps", str(args.steps), "--run-dir", name]
        command += ["--monitor-port", "none", "--log-level", "warning", "--no-eval-start", "--eval-every", "never"]
        command += ["--max-eval-theorems", "1"]  # a run is evaluated at its end all the same
        # A thread for each process, as the actors and Lean fill the other cores.
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", errors="replace")
        if done.returncode:
            sys.exit(f"the run by {engine} failed:\n{done.stderr[-3000:]}")
        attempts = list(read_jsonl(Path(name) / "attempts_r0.jsonl"))
    reap()
    seconds = children_seconds() - before
    proved = sum(attempt["outcome"] == "proven" for attempt in attempts)
    return {"seconds": round(seconds, 1), "attempts": len(attempts), "proved": proved}


def pair(seed: int, args: argparse.Namespace) -> Result:
    """Run both engines with one seed and return the processor seconds of an attempt of each."""
    runs = in_turns({engine: partial(run, engine, seed, args) for engine in ENGINES}, 1)
    details = {engine: answers[0] for engine, answers in runs.items()}
    ours, torch = (details[engine]["seconds"] / details[engine]["attempts"] for engine in ENGINES)
    name = f"RL, seed {seed}"
    return result(
        name, "processor seconds of an attempt", round(ours, 3), round(torch, 3), round(torch / ours, 2), details
    )


def main(argv: list[str] | None = None) -> None:
    """Run the command line."""
    parser = plain_parser(__doc__)
    parser.add_argument("--model-path", required=True, help="a network after finetuning, as of the quickstart")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=4)
    args = parser.parse_args(argv)
    adopt_orphans()
    results = []
    for seed in range(args.pairs):
        results.append(pair(seed, args))
        print(compared(results[-1]), results[-1]["details"], flush=True)
    write_results(args.json, results)


if __name__ == "__main__":
    main()
