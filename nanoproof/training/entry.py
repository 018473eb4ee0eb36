"""What the commands of pretraining, midtraining and finetuning have in common: from the command line to the loop."""

import argparse
import faulthandler
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.common.dist import cleanup
from nanoproof.common.run_dir import resolve_model_path
from nanoproof.gpt.checkpoint import find_checkpoint
from nanoproof.gpt.compute import choose_compute
from nanoproof.training.loop import TrainingLoop
from nanoproof.training.options import ComputeOptions, RunOptions
from nanoproof.training.resume import parse_resumable
from nanoproof.training.setup import start_ranks, start_stage


def train_main(
    loop_class: type[TrainingLoop],
    groups: Sequence[type],
    description: str,
    argv: list[str] | None,
    defaults: Mapping[str, Any] | None = None,
    choose: Callable[[argparse.Namespace], None] = lambda args: None,
) -> int:
    """Parse, build the loop from one instance of each option group (in the order of its constructor), run it.

    `defaults` are those in which a stage differs from its groups, `choose` puts in what follows from what is here.
    `kill -USR1` prints the stacks of all threads.
    """
    parser = Parser(prog=f"python -m nanoproof.{loop_class.stage_name}", description=description.splitlines()[0])
    for group in (*groups, ComputeOptions):
        add_flags(parser, group)
    parser.set_defaults(**(defaults or {}))
    args = parse_resumable(parser, argv)
    if hasattr(signal, "SIGUSR1"):
        faulthandler.register(signal.SIGUSR1, all_threads=True)
    run_options, wanted = from_args(RunOptions, args), from_args(ComputeOptions, args)
    options: list[Any] = [from_args(group, args) for group in groups]
    if args.model_path is not None:
        find_checkpoint(resolve_model_path(args.model_path))  # before anything that takes long
    choose(args)
    options = [from_args(group, args) for group in groups]
    dist = start_ranks(run_options)
    build: Callable[..., TrainingLoop] = loop_class
    try:
        compute = choose_compute(dist.device, dist.dtype, wanted.attention, wanted.compile, wanted.fp8)
        loop = build(*options, dist)
        with ExitStack() as stack:
            stack.callback(loop.close)
            loop.check_length()
            compute.apply(loop.model)
            decisions = {**compute.decisions(), **loop.decisions()}
            resumed = args.resume_from is not None
            stage = start_stage(loop.stage_name, run_options, vars(args), dist, decisions, resumed)
            stack.callback(stage.run.close)
            stack.callback(stage.tracker.close)
            loop.run(stage)
    finally:
        cleanup()
    return 0
