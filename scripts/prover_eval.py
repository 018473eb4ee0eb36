"""Score checkpoints, or a policy without a network, on benchmarks.

python -m scripts.prover_eval --model-path sft/<run> --datasets nanolean --split valid --num-simulations 32
python -m scripts.prover_eval --run-dir rl/<run> --datasets minif2f,proofnet --lean-servers host:8000 --continue
python -m scripts.prover_eval --policy solver-only --datasets nanolean --split test
python -m scripts.prover_eval --policy uniform --datasets mine.lean --html report.html
python -m scripts.prover_eval --model hf:FOLDER --prompt-format bfs-prover --datasets nanolean
python -m scripts.prover_eval --model-path rl/<run> --lean-servers host:8000 --recheck-with other:8000

Works under torchrun: all ranks take theorems from one list.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanoproof.actors.fleet import EARLIER_FLAGS_OF_CLUSTERS
from nanoproof.actors.tasks import Interrupted
from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json
from nanoproof.evaluation.plan import EvalOptions, Job, Target, add_eval_flags, parse_eval_args, plan
from nanoproof.evaluation.results import PROOFS, RESULTS, SUMMARY
from nanoproof.evaluation.sample_files import WholeProofOptions
from nanoproof.evaluation.summary import report
from nanoproof.lean.certificates import require_checker, verdicts
from nanoproof.monitor.export import ExportOptions, export_evaluations
from nanoproof.policy.factory import follow_network
from nanoproof.rl.options import SpreadOptions
from scripts import check_with_lean
from scripts.lean_command import open_reader

if TYPE_CHECKING:
    from nanoproof.evaluation.command import EvalCommand

RECHECK = "recheck.json"
REPORT_TREES = 60
TRIAL_SECONDS = 60.0
VERDICT_SECONDS = 60.0
"""Time for a checker with one certificate."""


def add_recheck_flags(parser: Parser) -> None:
    """Add the flags that name who is to confirm the proofs of a finished evaluation."""
    text = "Whoever is to check the proofs again when all is done: a Lean server's host:port, a command, or nanolean."
    parser.add_argument("--recheck-with", metavar="SERVER|COMMAND", help=text)
    folder = parser.add_argument("--recheck-cwd", metavar="DIR", help="Folder to run that command in.")
    parser.add_advanced(folder)
    text = "Text that it is to put before each proof, such as `import Mathlib`."
    header = parser.add_argument("--recheck-header", metavar="TEXT", default="", help=text)
    parser.add_advanced(header)


def try_recheck(args: argparse.Namespace) -> None:
    """Raise UserError now, and not after hours, if whoever is to confirm the proofs is not there."""
    # One rank is enough, the one that will check: torchrun numbers them in RANK before there is a process group.
    if args.recheck_with is not None and os.environ.get("RANK", "0") == "0":
        open_reader(args.recheck_with, args.recheck_cwd, args.recheck_header, TRIAL_SECONDS, "auto").close()


def recheck(path: Path, args: argparse.Namespace) -> int:
    """Have the proofs of an evaluation confirmed; 1 if some are not, 0 if all are or there are none."""
    print(f"{path}: {args.recheck_with} checks the proofs again", flush=True)
    if not any((path / PROOFS).glob("*.lean")):
        print("there are none")
        return 0
    # With the record, each file must be the proof of its theorem; without, of any.
    arguments = [str(path / PROOFS), "--results", str(path / RESULTS), "--json", str(path / RECHECK)]
    arguments += ["--lean", args.recheck_with, "--header", args.recheck_header]
    if args.recheck_cwd is not None:
        arguments += ["--cwd", args.recheck_cwd]
    return check_with_lean.main(arguments)


def show(job: Job, summary: dict[str, Any], checker: str = "none") -> None:
    """Print the score of one evaluation, once a checker has judged the certificates of its proofs."""
    if "certificates" in summary:
        # The summary is there without them already: a checker that takes long, or dies, costs no score.
        summary["verdicts"] = verdicts(job.files.path / PROOFS, checker, VERDICT_SECONDS)
        atomic_write_json(job.files.path / SUMMARY, summary)
    model = summary.get("model")
    if model is not None:
        # Networks of others were not trained here, and have no step.
        step = ""
        if model.get("step") is not None:
            step = f" (step {model['step']})"
        print(f"{model['path']}{step}")
    print(f"{report(summary)}\n  -> {job.files.path}", flush=True)


def table(summaries: list[dict[str, Any]]) -> str:
    """Format the scores of several checkpoints, by data set and step."""

    def dataset_and_step(summary: dict[str, Any]) -> tuple[str, int]:
        model = summary["model"] or {}
        return summary["dataset"], model.get("step") or 0

    lines = [f"{'data set':<20}{'step':>10}{'solved':>12}{'95% interval':>18}{'errors':>8}"]
    for summary in sorted(summaries, key=dataset_and_step):
        dataset, step = dataset_and_step(summary)
        interval = f"{100 * summary['low']:.1f} - {100 * summary['high']:.1f}%"
        solved = f"{summary['solved']}/{summary['total']}"
        lines.append(f"{dataset:<20}{step:>10}{solved:>12}{interval:>18}{summary['errors']:>8}")
    return "\n".join(lines)


def targets_of(args: argparse.Namespace) -> list[Target]:
    """List the evaluations to do. Raises UserError where whole proofs are asked of what cannot write them."""
    options = from_args(EvalOptions, args)
    if not from_args(WholeProofOptions, args).whole_proofs:
        return plan(options)
    asked = None
    if options.server.server is not None:
        asked = "--policy-server"
    elif options.policy != "model":
        asked = f"--policy {options.policy}"
    if asked is not None:
        raise UserError(f"--whole-proofs needs a model that writes text (--model-path); {asked} suggests tactics only")
    return plan(options, "whole")


def open_command(args: argparse.Namespace, targets: Sequence[Target]) -> AbstractContextManager["EvalCommand"]:
    """Open the command, over a cluster if one is named."""
    options = from_args(SpreadOptions, args).cluster
    if options.cluster is None:
        from nanoproof.evaluation.command import (
            opened,  # what imports torch comes after the options, which may be mistyped
        )

        return opened(args, targets)
    from nanoproof.cluster.driver import opened_over_hosts  # needs the extra `cluster`

    return opened_over_hosts(options, args, targets)


def main(argv: list[str] | None = None) -> int:
    """Run the evaluations and print the scores."""
    parser = Parser(prog="python -m scripts.prover_eval", description=(__doc__ or "").splitlines()[0])
    add_eval_flags(parser)
    parser.add_earlier(EARLIER_FLAGS_OF_CLUSTERS)
    add_flags(parser, WholeProofOptions)
    add_flags(parser, SpreadOptions)
    add_recheck_flags(parser)
    text = "Who judges the proofs besides NanoLean: lean-kernel[:PATH], a command, none; auto: Lean's where installed."
    parser.add_argument("--checker", default="auto", metavar="CHECKER", help=text)
    text = "Write a report too, as one file to send: scores, curve, proofs, trees of failures, settings."
    parser.add_argument("--html", metavar="FILE", help=text)
    args = parse_eval_args(parser, argv)
    follow_network(args)
    targets = targets_of(args)
    try_recheck(args)
    require_checker(args.checker)
    try:
        with open_command(args, targets) as command:
            show_judged = partial(show, checker=args.checker)
            summaries = command.run(targets, [args.seed] * len(targets), show_judged)
            if command.dist.is_main and len(summaries) > 1:
                print(f"\n{table(summaries)}")
            is_main = command.dist.is_main
    except Interrupted as error:
        print(error, file=sys.stderr)
        return 130
    if args.html is not None and is_main:
        folders = [target.path for target in targets]
        print(export_evaluations(folders, ExportOptions(out=args.html, trees=REPORT_TREES)))
    if args.recheck_with is None or not is_main:
        return 0
    # All of them, whatever the first ones say: each report is a file of its own.
    return max(recheck(target.path, args) for target in targets)


if __name__ == "__main__":
    run_main(main)
