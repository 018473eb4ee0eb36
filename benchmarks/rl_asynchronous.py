"""Inference that goes on while the network trains (`rl --asynchronous`), against the pause, at equal updates.

    python -m benchmarks.rl_asynchronous [--slots 16 32] [--steps 8] [--seconds 8] [--tactic-seconds 0.05] [--json PATH]

Lean, network and learner sleep (as in `benchmarks.rl`). A run without training says how many transitions come in
so many seconds, and how many states are answered in each when nothing stops: the ideal. Then two runs collect that many
transitions in each step, and their learner sleeps half as long as that takes: with the pause, training is a third of
the time. What is compared is states per second, over all steps but the first; the share is that of the ideal. The
staleness of an attempt is how often the weights changed while it was made.

Searches compute: on cores that others have most of, they and not the sleeps decide how many states a second there are.
Longer tactics then show what is to be seen.
"""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from benchmarks.rl import HARDWARE, TACTIC_SECONDS, make_model, run
from nanoproof.common.files import read_jsonl

UPDATES = 2
LONGEST = "1:00:00"


def measured(
    folder: Path, name: str, slots: int, tactic: float, steps: int, seconds: int, train: float, more: Sequence[str]
) -> dict[str, Any]:
    """Run with tactics that take so long, and a learner that sleeps `train` seconds in a step; figures of all steps but
    the first."""
    words = ["--num-updates-per-step", str(UPDATES), *more]
    script = {"sleeping_network": True, "tactic_seconds": tactic, "train_seconds": train / UPDATES}
    (report,) = run(folder, name, steps, seconds, more=words, slots=slots, **script)
    first, *_, last = report["rows"]
    wall = last["time"] - first["time"]
    metrics = [record for record in read_jsonl(folder / name / "metrics.jsonl") if record["step"] > 1]
    attempts = list(read_jsonl(folder / name / "attempts_r0.jsonl"))
    ages = Counter(one["revisions"][1] - one["revisions"][0] for one in attempts if one["number"]["step"] > 0)
    return {
        "states_per_second": (last["answered"] - first["answered"]) / wall,
        "seconds_per_step": wall / (steps - 1),
        "training": sum(record["seconds/train"] for record in metrics) / wall,
        "transitions_per_step": sum(record["transitions"] for record in metrics) / (steps - 1),
        "attempts": sum(ages.values()),
        "stale": sum(record.get("stale", 0) for record in metrics),
        "staleness": {str(age): round(count / sum(ages.values()), 3) for age, count in sorted(ages.items())},
    }


def compare(folder: Path, slots: int, tactic: float, steps: int, seconds: int) -> dict[str, Any]:
    """Compare both ways with so many actors."""
    load = psutil.getloadavg()[0]
    ideal = measured(folder, f"ideal_{slots}", slots, tactic, 4, seconds, 0.0, [])
    wanted = ["--collect-transitions", str(round(ideal["transitions_per_step"])), "--collect-max-time", LONGEST]
    found = {"ideal": ideal}
    for name, flags in (("pause", []), ("asynchronous", ["--asynchronous"])):
        more = [*wanted, *flags]
        found[name] = measured(folder, f"{name}_{slots}", slots, tactic, steps, seconds, seconds / 2, more)
        found[name]["of_ideal"] = found[name]["states_per_second"] / ideal["states_per_second"]
    ours, baseline = found["asynchronous"]["states_per_second"], found["pause"]["states_per_second"]
    return {
        "name": f"states per second, asynchronous against pause, {slots} actors",
        "ratio": round(ours / baseline, 3),
        "ours": round(ours, 2),
        "baseline": round(baseline, 2),
        "unit": "states/s",
        "hardware": HARDWARE,
        "details": {"tactic_seconds": tactic, "steps": steps, "load_before": round(load, 1), **found},
    }


def main(argv: list[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--slots", type=int, nargs="*", default=[16, 32])
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=8, help="that a collection takes without training")
    parser.add_argument("--tactic-seconds", type=float, default=TACTIC_SECONDS)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    args = parser.parse_args(argv)
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_model(folder)
        for slots in args.slots:
            results.append(compare(folder, slots, args.tactic_seconds, args.steps, args.seconds))
            print(f"{results[-1]['name']}: {results[-1]['ratio']:.2f}x")
            for way in ("pause", "asynchronous"):
                of = results[-1]["details"][way]
                print(
                    f"  {way:12}  {of['states_per_second']:5.1f} states/s, {of['of_ideal']:4.0%} of the ideal; a step "
                    f"takes {of['seconds_per_step']:4.1f} s, training {of['training']:4.0%} of that; "
                    f"{of['transitions_per_step']:.0f} transitions a step; staleness {of['staleness']}, "
                    f"{of['stale']:.0f} dropped",
                    flush=True,
                )
    if args.json:
        args.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
