"""Reinforcement learning over a Lean that sleeps: how much of network and Lean runs at the same time, and the rest.

    python -m benchmarks.rl [--slots 8 16 32] [--ranks 1 2 4] [--steps 5] [--json PATH]

The ideal of a collection is the larger of what Lean takes (its seconds over the number of processes) and what the
network takes: one of both never rests. The share of the ideal is that over the wall time. The baseline, in the same
run, takes turns: all actors ask, one batch is computed, all run their tactics, and all wait for the slowest. For the
ranks, what counts is the time of a step outside collection and training.

The network is small and real, on the CPU, or one that sleeps 5 ms in each step, as a GPU's steps take the same time
while a batch is small: that shows what the orchestration costs on a busy processor. The ranks have the latter.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks import measurement
from benchmarks.measurement import Result, plain_parser, result, rounded, write_results
from nanoproof.model.checkpoint import save_checkpoint
from tests.training import small

HARDWARE = f"{measurement.HARDWARE}, torch {torch.__version__}"
TACTIC_SECONDS = 0.05
# A learner that is small, no evaluation but at the end, and no end of a collection but by time.
FLAGS = """
    --datasets scripted --eval-datasets scripted --num-simulations-eval 2 --no-eval-start --max-eval-theorems 16
    --target-examples-per-step 16 --row-length 128 --mm-base-simulations 16 --max-gen-tokens 6 --num-sampled-tactics 4
    --eval-every never --save-every never --collect-transitions 1000000
    --monitor-port none --device-type cpu --log-level warning
"""


def make_model(folder: Path) -> None:
    """Make a small network with random weights, and supervised data for its batches."""
    tokenizer = small.tokenizer()
    small.write_leantree(folder / "data.jsonl", small.transitions())
    save_checkpoint(folder, 0, small.model(tokenizer), tokenizer, extra={"stage": "sft"})


def run_flags(folder: Path, name: str, steps: int, seconds: int) -> list[str]:
    """Return the flags of a run with the model of a folder, with so many seconds of collection in each step."""
    flags = ["--model-path", str(folder), "--run-dir", str(folder / name), "--sft-data", str(folder / "data.jsonl")]
    return [*flags, *FLAGS.split(), "--collect-max-time", f"0:00:{seconds:02}", "--num-steps", str(steps)]


def run(
    folder: Path, name: str, steps: int, seconds: int, ranks: int = 1, more: Sequence[str] = (), **script: Any
) -> list[dict[str, Any]]:
    """Run `nanoproof.rl` over the script, and `more` flags; returns the reports of its ranks."""
    report = folder / f"report_{name}"
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={ranks}"] if ranks > 1 else []
    command = [sys.executable, *launcher, "-m", "benchmarks.rl_scripted", *(["--"] if launcher else [])]
    wanted = {"tactic_seconds": TACTIC_SECONDS, "report": str(report), **script}
    # One thread of torch: several would take the cores from the actors, which is not what is asked.
    environment = {**os.environ, "SCRIPTED_RL": json.dumps(wanted), "OMP_NUM_THREADS": "1"}
    command += [*run_flags(folder, name, steps, seconds), *more]
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode:
        sys.exit(f"the run `{name}` failed:\n{done.stderr[-3000:]}")
    return [json.loads(Path(f"{report}_r{rank}.json").read_text()) for rank in range(ranks)]


def overlap(report: dict[str, Any]) -> dict[str, float]:
    """Return the shares of the wall time of collection."""
    spent, actors = report["collect"], report["actors"]
    # Each actor has a Lean process: the seconds of all of them by their number are what Lean takes at the least.
    wall, lean, network = spent["wall"], spent.get("lean", 0.0) / actors, spent["network"]
    return {
        "of_ideal": max(lean, network) / wall,
        "lean": lean / wall,
        "network": network / wall,
        "actors_wait_for_network": spent.get("model", 0.0) / actors / wall,
        "actors_otherwise": spent.get("idle", 0.0) / actors / wall,
        "network_waits_for_actors": 1 - network / wall,
        "states_per_second": spent["answered"] / wall,
        "seconds": wall,
    }


def compare(folder: Path, slots: int, steps: int, seconds: int, sleeping: bool) -> Result:
    """Measure the overlap with so many actors, and in lockstep."""
    details: dict[str, Any] = {"tactic_seconds": TACTIC_SECONDS, "steps": steps, "seconds": seconds}
    shares = {}
    for name in ("ours", "lockstep"):
        script: dict[str, Any] = {"slots": slots, "lockstep": name == "lockstep", "sleeping_network": sleeping}
        (report,) = run(folder, f"{name}_{slots}_{sleeping}", steps, seconds, **script)
        figures = overlap(report)
        shares[name] = figures["of_ideal"]
        details[name] = rounded(figures, 3)
    ours, baseline = shares["ours"], shares["lockstep"]
    network = "sleeping" if sleeping else "small"
    # By the share of its own ideal and not by states per second: in lockstep the network gets other batches, and an
    # ideal of its own.
    name = f"share of the ideal overlap, {slots} actors, {network} network"
    return result(name, "share", round(ours, 3), round(baseline, 3), round(ours / baseline, 2), details, HARDWARE)


def scaling(folder: Path, ranks: list[int], slots: int, steps: int, seconds: int) -> list[dict[str, Any]]:
    """Measure where the time of a step is spent as ranks are added, each with its own actors."""
    rows = []
    for count in ranks:
        reports = run(folder, f"ranks_{count}", steps, seconds, count, slots=slots, sleeping_network=True)
        phases = reports[0]["phases"]
        step = {name: phases.get(name, 0.0) / steps for name in ("step", "collect", "train", "exchange")}
        # Such a run saves twice, before its first step and in the end.
        row = {"ranks": count, **step, "save": phases.get("save", 0.0) / 2, "evaluate": phases.get("evaluate", 0.0)}
        # What is left of a step: the ranks' exchange of attempts, what is learned of them, the log.
        row["outside"] = step["step"] - step["collect"] - step["train"]
        rows.append(rounded(row, 4))
    return rows


def main(argv: list[str] | None = None) -> None:
    """Run the command line."""
    parser = plain_parser(__doc__, "write the results to this file")
    parser.add_argument("--slots", type=int, nargs="*", default=[8, 16, 32])
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5, help="of collection in each step")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_model(folder)
        results = []
        for slots in args.slots:
            for sleeping in (True, False):
                results.append(compare(folder, slots, args.steps, args.seconds, sleeping))
                print_comparison(results[-1])
        rows = scaling(folder, args.ranks, 8, args.steps, args.seconds)
    if rows:
        print("seconds of a step      " + "  ".join(f"{name:>8}" for name in rows[0]))
        for row in rows:
            print("                       " + "  ".join(f"{value:8.3f}" for value in row.values()))
        # Of the most ranks against the fewest: how much a step grows as ranks are added, so that less is better.
        few, many = rows[0]["outside"], rows[-1]["outside"]
        ratio = round(many / max(1e-9, few), 2)
        results.append(result("a step outside collection and training", "s", many, few, ratio, rows, HARDWARE))
    write_results(args.json, results)


def print_comparison(comparison: Result) -> None:
    """Print two lines, under a title."""
    print(comparison["name"])
    for name in ("ours", "lockstep"):
        way = comparison["details"][name]
        print(
            f"  {name:8}  {way['of_ideal']:4.0%} of the ideal, {way['states_per_second']:5.1f} states/s; "
            f"Lean {way['lean']:4.0%} and network "
            f"{way['network']:4.0%} of the time, actors wait for the network {way['actors_wait_for_network']:4.0%} and "
            f"spend {way['actors_otherwise']:4.0%} otherwise ({way['seconds']:.1f} s)",
            flush=True,
        )


if __name__ == "__main__":
    main()
