"""Inference that goes on while the network trains (`rl --asynchronous`), against the pause, at equal updates.

    python -m benchmarks.rl_asynchronous [--slots 16 32] [--block 5] [--rounds 2] [--seconds 8] [--json PATH]

Lean, network and learner sleep (as in `benchmarks.rl`). One run makes blocks of steps in three ways, in turns, so that
other load meets all of them: without training, which is the ideal; with the pause; and asynchronously. The first block
says how many transitions come in so many seconds; all other steps collect that many, and the learner then sleeps half
as long as that took, so that with the pause training is a third of the time. States per second are compared, over all
steps but the first of each block. The staleness of an attempt is how often the weights changed while it was made.
"""

import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import psutil

from benchmarks.measurement import Result, plain_parser, result, rounded, write_results
from benchmarks.rl import HARDWARE, TACTIC_SECONDS, make_model, run
from benchmarks.rl_scripted import Alternation
from nanoproof.common.files import read_jsonl

UPDATES = 2


Rows = list[dict[str, Any]]
"""Of a run, one for each step: its mode, when it began and ended, how many states were answered, and more."""


def blocks_of(rows: Rows, block: int) -> list[Rows]:
    """Return the blocks of steps, each without its first one, in which there is still work of the mode before."""
    blocks = []
    for start in range(0, len(rows), block):
        blocks.append(rows[start + 1 : start + block])
    return blocks


def staleness(attempts: Path, rows: Rows) -> dict[str, dict[int, float]]:
    """Return for each mode the shares of attempts by how often the weights changed while they were made."""
    ages: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for attempt in read_jsonl(attempts):
        began, ended = attempt["revisions"]
        # What is collected beyond the last step, as the run ends, belongs to none.
        step = attempt["number"]["step"]
        mode = rows[step]["mode"] if step < len(rows) else "ideal"
        ages[mode][ended - began] += 1
    shares = {}
    for mode, counts in ages.items():
        shares[mode] = rounded({age: count / counts.total() for age, count in sorted(counts.items())}, 3)
    return shares


def total(rows: Rows, name: str) -> float:
    """Add up a figure of some steps."""
    return sum(row[name] for row in rows)


def figures_of(mode: str, blocks: list[Rows], seconds: int) -> dict[str, Any]:
    """Return the figures of one way over all its blocks."""
    rows: Rows = []
    by_block = []
    for steps in blocks:
        if steps[0]["mode"] == mode:
            rows += steps
            passed = steps[-1]["ended"] - steps[0]["began"]
            by_block.append(round(total(steps, "answered") / passed, 2))
    wall = total(rows, "ended") - total(rows, "began")
    return {
        "states_per_second": total(rows, "answered") / wall,
        "by_block": by_block,
        "seconds_per_step": wall / len(rows),
        "transitions_per_step": total(rows, "transitions") / len(rows),
        # An update sleeps, so that it is known without a clock.
        "training": 0.0 if mode == "ideal" else seconds / 2 * len(rows) / wall,
        "stale": total(rows, "stale"),
    }


def compare(folder: Path, slots: int, block: int, rounds: int, seconds: int) -> Result:
    """Compare the three ways with so many actors."""
    loads, name = [round(psutil.getloadavg()[0], 1)], f"run_{slots}"
    steps = block * rounds * len(Alternation.MODES)
    flags = ["--asynchronous", "--num-updates-per-step", str(UPDATES)]
    alternate = {"block": block, "seconds": seconds / 2 / UPDATES}
    (report,) = run(folder, name, steps, seconds, more=flags, slots=slots, sleeping_network=True, alternate=alternate)
    loads.append(round(psutil.getloadavg()[0], 1))
    rows = report["alternated"]
    blocks = blocks_of(rows, block)
    ages = staleness(folder / name / "attempts_r0.jsonl", rows)
    ways: dict[str, dict[str, Any]] = {}
    for mode in Alternation.MODES:
        ways[mode] = {**figures_of(mode, blocks, seconds), "staleness": ages.get(mode, {})}
        # The ideal comes first. It has no training at all, but is no bound: other load may meet it more than the rest.
        ways[mode]["of_ideal"] = ways[mode]["states_per_second"] / ways["ideal"]["states_per_second"]
    ours, baseline = ways["asynchronous"]["states_per_second"], ways["pause"]["states_per_second"]
    details = {"tactic_seconds": TACTIC_SECONDS, "steps": steps, "load": loads, **ways}
    title = f"states per second, asynchronous against pause, {slots} actors"
    ratio = round(ours / baseline, 3)
    return result(title, "states/s", round(ours, 2), round(baseline, 2), ratio, details, HARDWARE)


def main(argv: list[str] | None = None) -> None:
    """Run the command line."""
    parser = plain_parser(__doc__, "write the results to this file")
    parser.add_argument("--slots", type=int, nargs="*", default=[16, 32])
    parser.add_argument("--block", type=int, default=5, help="steps in a row that are made in one way")
    parser.add_argument("--rounds", type=int, default=2, help="blocks of each way")
    parser.add_argument("--seconds", type=int, default=8, help="that a collection takes without training")
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
                way = details[mode]
                rates = f"{way['states_per_second']:5.1f} states/s ({way['by_block']})"
                print(
                    f"  {mode:12}  {rates}, {way['of_ideal']:4.0%} of the ideal; a step takes "
                    f"{way['seconds_per_step']:4.1f} s, training {way['training']:4.0%} of that; "
                    f"{way['transitions_per_step']:.0f} transitions a step; staleness {way['staleness']}, "
                    f"{way['stale']:.0f} dropped",
                    flush=True,
                )
    write_results(args.json, results)


if __name__ == "__main__":
    main()
