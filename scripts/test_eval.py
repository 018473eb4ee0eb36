"""Repeat an evaluation with different seeds: mean and spread of the score, solve rates by theorem, pass@k.

python -m scripts.test_eval --model-path rl/<run> --num-runs 5 --lean-servers host:8000
python -m scripts.test_eval --model-path rl/<run> --datasets nanolean --num-runs 3 --continue

Run number i has the seed `--seed` + i; each is an evaluation as of scripts.prover_eval, in a directory of its own.
"""

import sys
from pathlib import Path
from typing import Any

from nanoproof.actors.tasks import Interrupted
from nanoproof.common.config import Parser, add_flags, from_args, opt, validated
from nanoproof.common.errors import run_main
from nanoproof.common.files import atomic_write_json
from nanoproof.evaluation.plan import EvalOptions, Job, Target, add_eval_flags, parse_eval_args, plan
from nanoproof.evaluation.summary import checked_by, headline, repeats_report, summarize_repeats

__test__ = False  # a command, not a test: pytest leaves it alone

ALL_RUNS = "repeats.json"
OF_ALL_RUNS = ("dataset", "split", "simulations", "policy", "model", "versions")
"""What the summaries of all runs have in common."""


@validated("test_eval")
class RepeatOptions:
    """Repetition."""

    num_runs: int = opt(3, "How often to evaluate.", min=1)


class Repeats:
    """Collects the runs on each target and writes what they come to."""

    def __init__(self, num_runs: int) -> None:
        self.num_runs = num_runs
        self._jobs: dict[Path, list[Job]] = {}

    def done(self, job: Job, summary: dict[str, Any]) -> None:
        """Record that a run is over; after the last one of its target, write and print the summary of all."""
        path = job.target.path.parent
        jobs = self._jobs.setdefault(path, [])
        jobs.append(job)
        print(f"run {len(jobs)} of {self.num_runs}, seed {summary['seed']}: {headline(summary)}", flush=True)
        if len(jobs) == self.num_runs:
            # All runs have the same settings but for their seeds, so those of the last one say what was done.
            settings = dict(summary["settings"])
            settings.pop("seed", None)
            repeats = {name: summary[name] for name in OF_ALL_RUNS}
            repeats |= summarize_repeats([finished.files.attempts() for finished in jobs])
            repeats["seeds"] = [finished.files.settings.seed for finished in jobs]
            repeats["settings"] = settings
            atomic_write_json(path / ALL_RUNS, repeats)
            print("\n".join(filter(None, [repeats_report(repeats), checked_by(summary), f"  -> {path}"])), flush=True)


def main(argv: list[str] | None = None) -> int:
    """Run the evaluations and summarize them."""
    parser = Parser(prog="python -m scripts.test_eval", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, RepeatOptions)
    add_eval_flags(parser)
    parser.set_defaults(split="test")
    args = parse_eval_args(parser, argv)
    runs = Repeats(from_args(RepeatOptions, args).num_runs)
    targets: list[Target] = []
    seeds: list[int] = []
    for target in plan(from_args(EvalOptions, args), kind="repeats"):
        for number in range(runs.num_runs):
            targets.append(Target(target.model, target.dataset, target.path / f"run_{number}"))
            seeds.append(args.seed + number)
    from nanoproof.evaluation.command import opened  # what imports torch comes after the options, which may be mistyped

    try:
        with opened(args, targets) as command:
            command.run(targets, seeds, runs.done)
    except Interrupted as error:
        print(error, file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    run_main(main)
