"""Reinforcement learning over a Lean that sleeps: how much of network and Lean runs at the same time, and the rest.

    python -m benchmarks.rl [--slots 8 16 32] [--ranks 1 2 4] [--steps 5] [--json PATH]

The ideal of a collection is the larger of what Lean takes (its seconds over the number of processes) and what the
network takes: one of both never rests. The share of the ideal is that over the wall time. The baseline, in the same
run, takes turns: all actors ask, one batch is computed, all run their tactics, and all wait for the slowest. For the
ranks, what counts is the time of a step outside collection and training.

The network is small and real, on the CPU, or one that sleeps 5 ms in each step, as a GPU's steps take the same time
while a batch is small: that shows what the orchestration costs on a busy processor. The ranks have the latter.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from nanoproof.model.checkpoint import save_checkpoint
from tests.training import small

HARDWARE = (
    f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, torch {torch.__version__}"
)
TACTIC_SECONDS = 0.05


def make_model(folder: Path) -> None:
    """Make a small network with random weights, and supervised data for its batches."""
    tokenizer = small.tokenizer()
    small.write_leantree(folder / "data.jsonl", small.transitions())
    save_checkpoint(folder, 0, small.model(tokenizer), tokenizer, extra={"stage": "sft"})


def run(
    folder: Path, name: str, steps: int, seconds: int, ranks: int = 1, more: Sequence[str] = (), **script: Any
) -> list[dict[str, Any]]:
    """Run `nanoproof.rl` over the script, with so many seconds of collection in each step; the reports of its ranks."""
    report = folder / f"report_{name}"
    words = ["--model-path", str(folder), "--run-dir", str(folder / name), "--sft-data", str(folder / "data.jsonl")]
    words += ["--datasets", "scripted", "--eval-datasets", "scripted", "--num-simulations-eval", "2", "--no-eval-start"]
    words += ["--max-eval-theorems", "16", "--target-examples-per-step", "16", "--row-length", "128"]
    words += [
        "--mm-base-simulations",
        "16",
        "--max-gen-tokens",
        "6",
        "--num-sampled-tactics",
        "4",
        "--eval-every",
        "never",
        "--save-every",
        "never",
    ]
    words += ["--collect-transitions", "1000000", "--collect-max-time", f"0:00:{seconds:02}", "--num-steps", str(steps)]
    words += ["--monitor-port", "none", "--device-type", "cpu", "--log-level", "warning", *more]
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={ranks}"] if ranks > 1 else []
    command = [sys.executable, *launcher, "-m", "benchmarks.rl_scripted", *(["--"] if launcher else []), *words]
    wanted = {"tactic_seconds": TACTIC_SECONDS, "report": str(report), **script}
    environment = {**os.environ, "SCRIPTED_RL": json.dumps(wanted), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode:
        sys.exit(f"the run `{name}` failed:\n{done.stderr[-3000:]}")
    return [json.loads(Path(f"{report}_r{rank}.json").read_text()) for rank in range(ranks)]


def overlap(report: dict[str, Any]) -> dict[str, float]:
    """Shares of the wall time of collection."""
    spent, actors = report["collect"], report["actors"]
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


def compare(folder: Path, slots: int, steps: int, seconds: int, sleeping: bool) -> dict[str, Any]:
    """Overlap with so many actors, and in lockstep."""
    ours, baseline = (
        overlap(
            run(
                folder,
                f"{name}_{slots}_{sleeping}",
                steps,
                seconds,
                slots=slots,
                lockstep=name == "lockstep",
                sleeping_network=sleeping,
            )[0]
        )
        for name in ("ours", "lockstep")
    )
    return {
        "name": f"share of the ideal overlap, {slots} actors, {'sleeping' if sleeping else 'small'} network",
        "ratio": round(ours["of_ideal"] / baseline["of_ideal"], 2),
        "ours": round(ours["of_ideal"], 3),
        "baseline": round(baseline["of_ideal"], 3),
        "unit": "share",
        "hardware": HARDWARE,
        "details": {
            "tactic_seconds": TACTIC_SECONDS,
            "steps": steps,
            "seconds": seconds,
            **{
                name: {key: round(value, 3) for key, value in of.items()}
                for name, of in (("ours", ours), ("lockstep", baseline))
            },
        },
    }


def scaling(folder: Path, ranks: list[int], slots: int, steps: int, seconds: int) -> list[dict[str, Any]]:
    """Measure where the time of a step is spent as ranks are added, each with its own actors."""
    rows = []
    for count in ranks:
        reports = run(folder, f"ranks_{count}", steps, seconds, count, slots=slots, sleeping_network=True)
        phases = reports[0]["phases"]
        step = {name: phases.get(name, 0.0) / steps for name in ("step", "collect", "train", "exchange")}
        row = {"ranks": count, **step, "save": phases.get("save", 0.0) / 2, "evaluate": phases.get("evaluate", 0.0)}
        row["outside"] = step["step"] - step["collect"] - step["train"]
        rows.append({name: round(value, 4) for name, value in row.items()})
    return rows


def main(argv: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--slots", type=int, nargs="*", default=[8, 16, 32])
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5, help="of collection in each step")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_model(folder)
        results = []
        for slots in args.slots:
            for sleeping in (True, False):
                results.append(compare(folder, slots, args.steps, args.seconds, sleeping))
                print_comparison(results[-1])
        rows = scaling(folder, args.ranks, 8, args.steps, args.seconds) if args.ranks else []
    if rows:
        print("seconds of a step      " + "  ".join(f"{name:>8}" for name in rows[0]))
        for row in rows:
            print("                       " + "  ".join(f"{value:8.3f}" for value in row.values()))
        found = {"name": "a step outside collection and training", "unit": "s", "hardware": HARDWARE, "details": rows}
        results.append({**found, "ours": rows[-1]["outside"], "baseline": rows[0]["outside"]})
        results[-1]["ratio"] = round(rows[-1]["outside"] / max(1e-9, rows[0]["outside"]), 2)
    if args.json:
        args.json.write_text(json.dumps(results, indent=2) + "\n")


def print_comparison(result: dict[str, Any]) -> None:
    """Two lines, under a title."""
    print(result["name"])
    for name in ("ours", "lockstep"):
        of = result["details"][name]
        print(
            f"  {name:8}  {of['of_ideal']:4.0%} of the ideal, {of['states_per_second']:5.1f} states/s; "
            f"Lean {of['lean']:4.0%} and network "
            f"{of['network']:4.0%} of the time, actors wait for the network {of['actors_wait_for_network']:4.0%} and "
            f"spend {of['actors_otherwise']:4.0%} otherwise ({of['seconds']:.1f} s)",
            flush=True,
        )


if __name__ == "__main__":
    main()
