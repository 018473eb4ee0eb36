"""Inference that goes on while the network trains (`rl --asynchronous`), against the pause, at equal updates.

    python -m benchmarks.rl_asynchronous [--slots 16 32] [--block 5] [--rounds 2] [--seconds 8] [--json PATH]

Lean, network and learner sleep (as in `benchmarks.rl`). One run makes blocks of steps in three ways, in turns, so that
other load meets all of them: without training, which is the ideal; with the pause; and asynchronously. The first block
says how many transitions come in so many seconds; all other steps collect that many, and the learner then sleeps half
as long as that took, so that with the pause training is a third of the time. States per second are compared, over all
steps but the first of each block. The staleness of an attempt is how often the weights changed while it was made.
"""

import argparse
import json
import tempfile
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import psutil

from benchmarks.rl import HARDWARE, TACTIC_SECONDS, make_model, run
from benchmarks.rl_scripted import Alternation
from nanoproof.common.files import read_jsonl

UPDATES = 2


def compare(folder: Path, slots: int, block: int, rounds: int, seconds: int) -> dict[str, Any]:
    """Compare the three ways with so many actors."""
    loads, name = [psutil.getloadavg()[0]], f"run_{slots}"
    steps = block * rounds * len(Alternation.MODES)
    words = ["--asynchronous", "--num-updates-per-step", str(UPDATES)]
    alternate = {"block": block, "seconds": seconds / 2 / UPDATES}
    (report,) = run(folder, name, steps, seconds, more=words, slots=slots, sleeping_network=True, alternate=alternate)
    loads.append(psutil.getloadavg()[0])
    rows = report["alternated"]
    modes = {number: row["mode"] for number, row in enumerate(rows)}
    blocks = [list(of_block)[1:] for _, of_block in groupby(rows, key=lambda row: row["mode"])]
    ages: dict[str, Counter[int]] = {mode: Counter() for mode in Alternation.MODES}
    for attempt in read_jsonl(folder / name / "attempts_r0.jsonl"):
        began, ended = attempt["revisions"]
        ages[modes.get(attempt["number"]["step"], "ideal")][ended - began] += 1
    found: dict[str, dict[str, Any]] = {}
    for mode in Alternation.MODES:
        mine = [row for of_block in blocks for row in of_block if row["mode"] == mode]
        wall = sum(row["ended"] - row["began"] for row in mine)
        found[mode] = {
            "states_per_second": sum(row["answered"] for row in mine) / wall,
            "by_block": [
                round(sum(row["answered"] for row in one) / (one[-1]["ended"] - one[0]["began"]), 2)
                for one in blocks
                if one[0]["mode"] == mode
            ],
            "seconds_per_step": wall / len(mine),
            "transitions_per_step": sum(row["transitions"] for row in mine) / len(mine),
            "training": 0.0 if mode == "ideal" else seconds / 2 * len(mine) / wall,
            "stale": sum(row["stale"] for row in mine),
            "staleness": {age: round(count / ages[mode].total(), 3) for age, count in sorted(ages[mode].items())},
        }
    for of in found.values():
        of["of_ideal"] = of["states_per_second"] / found["ideal"]["states_per_second"]
    ours, baseline = found["asynchronous"]["states_per_second"], found["pause"]["states_per_second"]
    details = {
        "tactic_seconds": TACTIC_SECONDS,
        "steps": steps,
        "load": [round(load, 1) for load in loads],
    }
    return {
        "name": f"states per second, asynchronous against pause, {slots} actors",
        "ratio": round(ours / baseline, 3),
        "ours": round(ours, 2),
        "baseline": round(baseline, 2),
        "unit": "states/s",
        "hardware": HARDWARE,
        "details": {**details, **found},
    }


def main(argv: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--slots", type=int, nargs="*", default=[16, 32])
    parser.add_argument("--block", type=int, default=5, help="steps in a row that are made in one way")
    parser.add_argument("--rounds", type=int, default=2, help="blocks of each way")
    parser.add_argument("--seconds", type=int, default=8, help="that a collection takes without training")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    args = parser.parse_args(argv)
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_model(folder)
        for slots in args.slots:
            results.append(compare(folder, slots, args.block, args.rounds, args.seconds))
            details = results[-1]["details"]
            print(f"{results[-1]['name']}: {results[-1]['ratio']:.2f}x (load {details['load']})")
            for mode in Alternation.MODES:
                of = details[mode]
                print(
                    f"  {mode:12}  {of['states_per_second']:5.1f} states/s ({of['by_block']}), {of['of_ideal']:4.0%} "
                    f"of the ideal; a step takes {of['seconds_per_step']:4.1f} s, training {of['training']:4.0%} of "
                    f"that; {of['transitions_per_step']:.0f} transitions a step; staleness {of['staleness']}, "
                    f"{of['stale']:.0f} dropped",
                    flush=True,
                )
    if args.json:
        args.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
