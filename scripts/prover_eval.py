"""Score checkpoints, or a policy without a network, on benchmarks.

python -m scripts.prover_eval --model-path sft/<run> --datasets nanolean --split valid --num-simulations 32
python -m scripts.prover_eval --run-dir rl/<run> --datasets minif2f,proofnet --lean-servers host:8000 --continue
python -m scripts.prover_eval --policy solver-only --datasets nanolean --split test

Works under torchrun: all ranks take theorems from one list.
"""

import sys
from typing import Any

from nanoproof.common.config import Parser, from_args
from nanoproof.common.errors import run_main
from nanoproof.selfplay.eval_command import Job, add_eval_flags, opened, parse_eval_args
from nanoproof.selfplay.eval_plan import EvalOptions, plan
from nanoproof.selfplay.eval_summary import report
from nanoproof.selfplay.tasks import Interrupted


def show(job: Job, summary: dict[str, Any]) -> None:
    """Print the score of one evaluation."""
    model = summary.get("model")
    if model is not None:
        print(f"{model['path']} (step {model['step']})")
    print(f"{report(summary)}\n  -> {job.files.path}", flush=True)


def table(summaries: list[dict[str, Any]]) -> str:
    """The scores of several checkpoints, by data set and step."""
    keyed = [(summary["dataset"], (summary["model"] or {}).get("step") or 0, summary) for summary in summaries]
    lines = [f"{'data set':<20}{'step':>10}{'solved':>12}{'95% interval':>18}{'errors':>8}"]
    for dataset, step, summary in sorted(keyed, key=lambda row: row[:2]):
        interval = f"{100 * summary['low']:.1f} - {100 * summary['high']:.1f}%"
        solved = f"{summary['solved']}/{summary['total']}"
        lines.append(f"{dataset:<20}{step:>10}{solved:>12}{interval:>18}{summary['errors']:>8}")
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    parser = Parser(prog="python -m scripts.prover_eval", description=(__doc__ or "").splitlines()[0])
    add_eval_flags(parser)
    args = parse_eval_args(parser, argv)
    targets = plan(from_args(EvalOptions, args))
    try:
        with opened(args, targets) as command:
            summaries = command.run(targets, [args.seed] * len(targets), show)
            if command.dist.is_main and len(summaries) > 1:
                print(f"\n{table(summaries)}")
    except Interrupted as error:
        print(error, file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    run_main(main)
