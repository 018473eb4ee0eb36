"""Supervised finetuning on transitions: state -> tactic and proof depth.

python -m nanoproof.sft --model-path base --data path/to/leantree_mathlib.jsonl
python -m nanoproof.sft --depth 4 --aspect-ratio 48 --head-dim 32 --data nanolean
torchrun --standalone --nproc_per_node=2 -m nanoproof.sft ...
"""

import argparse

from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.common.dist import cleanup
from nanoproof.common.errors import run_main
from nanoproof.training.finetuning import Finetuning, SFTOptions
from nanoproof.training.options import BatchOptions, ModelOptions, OptimizerOptions, RunOptions
from nanoproof.training.setup import start_ranks, start_stage

GROUPS = (RunOptions, SFTOptions, ModelOptions, BatchOptions, OptimizerOptions)


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = Parser(prog="python -m nanoproof.sft", description=(__doc__ or "").splitlines()[0])
    for group in GROUPS:
        add_flags(parser, group)
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    args = parse_args(argv)
    run_options = from_args(RunOptions, args)
    dist = start_ranks(run_options)
    try:
        loop = Finetuning(
            run_options,
            from_args(SFTOptions, args),
            from_args(ModelOptions, args),
            from_args(BatchOptions, args),
            from_args(OptimizerOptions, args),
            dist,
        )
        stage = start_stage("sft", run_options, vars(args), dist, loop.decisions())
        loop.run(stage)
        stage.tracker.close()
        stage.run.close()
    finally:
        cleanup()
    return 0


if __name__ == "__main__":
    run_main(main)
