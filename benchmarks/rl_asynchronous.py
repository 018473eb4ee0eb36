"""Inference that goes on while the network trains (`rl --asynchronous`), against the pause, at equal updates.

    python -m benchmarks.rl_asynchronous [--slots 16 32] [--block 5] [--rounds 2] [--seconds 8] [--json PATH]

Lean, network and learner sleep (as in `benchmarks.rl`). One run makes blocks of steps in three ways, in turns, so that
other load meets all of them: without training, which is the ideal; with the pause; and asynchronously. The first block
says how many transitions come in so many seconds; all other steps collect that many, and the learner then sleeps half
as long as that took, so that with the pause training is a third of the time. States per second are compared, over all
steps but the first of each block. The staleness of an attempt is how often the weights changed while it was made.
"""

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import psutil

from benchmarks.measurement import Result, plain_parser, result, write_results
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
    ages: dict[str, Counter[int]] = {mode: Counter() for mode in Alternation.MODES}
    for attempt in read_jsonl(attempts):
        began, ended = attempt["revisions"]
        # What is collected beyond the last step, as the run ends, belongs to none.
        step = attempt["number"]["step"]
        mode = rows[step]["mode"] if step < len(rows) else "ideal"
        ages[mode][ended - began] += 1
    shares = {}
    for mode, counts in ages.items():
        shares[mode] = {age: round(count / counts.total(), 3) for age, count in sorted(counts.items())}
    return shares


def figures_of(mode: str, blocks: list[Rows], seconds: int) -> dict[str, Any]:
    """Return the figures of one way over all its blocks."""
    own = [steps for steps in blocks if steps[0]["mode"] == mode]
    rows = [row for steps in own for row in steps]
    wall = sum(row["ended"] - row["began"] for row in rows)
    by_block = []
    for steps in own:
        answered, passed = sum(row["answered"] for row in steps), steps[-1]["ended"] - steps[0]["began"]
        by_block.append(round(answered / passed, 2))
    return {
        "states_per_second": sum(row["answered"] for row in rows) / wall,
        "by_block": by_block,
        "seconds_per_step": wall / len(rows),
        "transitions_per_step": sum(row["transitions"] for row in rows) / len(rows),
        # An update sleeps, so that it is known without a clock.
        "training": 0.0 if mode == "ideal" else seconds / 2 * len(rows) / wall,
        "stale": sum(row["stale"] for row in rows),
    }


def compare(folder: Path, slots: int, block: int, rounds: int, seconds: int) -> Result:
    """Compare the three ways with so many actors."""
    loads, name = [psutil.getloadavg()[0]], f"run_{slots}"
    steps = block * rounds * len(Alternation.MODES)
    words = ["--asynchronous", "--num-updates-per-step", str(UPDATES)]
    alternate = {"block": block, "seconds": seconds / 2 / UPDATES}
    (report,) = run(folder, name, steps, seconds, more=words, slots=slots, sleeping_network=True, alternate=alternate)
    loads.append(psutil.getloadavg()[0])
    rows = report["alternated"]
    blocks = blocks_of(rows, block)
    ages = staleness(folder / name / "attempts_r0.jsonl", rows)
    ways: dict[str, dict[str, Any]] = {}
    for mode in Alternation.MODES:
        ways[mode] = {**figures_of(mode, blocks, seconds), "staleness": ages[mode]}
        # The ideal comes first. It has no training at all, but is no bound: other load may meet it more than the rest.
        ways[mode]["of_ideal"] = ways[mode]["states_per_second"] / ways["ideal"]["states_per_second"]
    ours, baseline = ways["asynchronous"]["states_per_second"], ways["pause"]["states_per_second"]
    details = {"tactic_seconds": TACTIC_SECONDS, "steps": steps, "load": [round(load, 1) for load in loads], **ways}
    title = f"states per second, asynchronous against pause, {slots} actors"
    ratio = round(ours / baseline, 3)
    return result(title, "states/s", round(ours, 2), round(baseline, 2), ratio, details, HARDWARE)


def main(argv: list[str] | None = None) -> None:
    """Command line."""
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
