"""Reinforcement learning: collect proofs with the current network, train on them, repeat.

python -m nanoproof.rl --model-path sft/<run>
torchrun --standalone --nproc_per_node=2 -m nanoproof.rl -- --model-path sft/<run> --lean-servers host:8000
python -m nanoproof.rl --resume-from rl/<run>
"""

import argparse
import faulthandler
import logging
import signal
from contextlib import ExitStack

from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.common.dist import DistInfo, cleanup
from nanoproof.common.errors import run_main
from nanoproof.data.whitelist import choose_lean
from nanoproof.gpt.compute import choose_compute
from nanoproof.monitor.server import start_monitor
from nanoproof.policy.sampling import SamplingConfig
from nanoproof.search.config import SearchConfig
from nanoproof.selfplay.fleet import open_fleet
from nanoproof.selfplay.loop import ReinforcementLearning
from nanoproof.selfplay.matchmaker import MatchmakerConfig
from nanoproof.selfplay.options import FleetOptions, RLOptions
from nanoproof.training.options import (
    BatchOptions,
    CadenceOptions,
    ComputeOptions,
    OptimizerOptions,
    RunOptions,
    StartOptions,
)
from nanoproof.training.resume import parse_resumable
from nanoproof.training.setup import start_ranks, start_stage

log = logging.getLogger(__name__)

GROUPS = {
    "": (
        *(RunOptions, StartOptions, CadenceOptions, RLOptions, FleetOptions),
        *(SamplingConfig, BatchOptions, OptimizerOptions, ComputeOptions),
    ),
    "search-": (SearchConfig,),
    "mm-": (MatchmakerConfig,),
}
SET_BY_PURPOSE = {"finisher_use"}  # collection and evaluation differ in it
OWN_DEFAULTS = {
    **{"embedding_lr": 0.2, "init_lr_frac": 0.02, "warmdown_frac": 0.0},
    **{"eval_every": "2:00:00", "save_every": "2:00:00"},
}


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = Parser(prog="python -m nanoproof.rl", description=(__doc__ or "").splitlines()[0])
    for prefix, groups in GROUPS.items():
        for group in groups:
            add_flags(parser, group, prefix, skip=SET_BY_PURPOSE)
    parser.set_defaults(**OWN_DEFAULTS)
    return parse_resumable(parser, argv)


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    args = parse_args(argv)
    if hasattr(signal, "SIGUSR1"):
        faulthandler.register(signal.SIGUSR1, all_threads=True)
    run_options = from_args(RunOptions, args)
    dist = start_ranks(run_options)
    try:
        run(args, run_options, dist)
    finally:
        cleanup()
    return 0


def run(args: argparse.Namespace, run_options: RunOptions, dist: DistInfo) -> None:
    """Wire the parts together, then loop until the last step, the time limit, or a signal."""
    wanted, fleet_options = from_args(ComputeOptions, args), from_args(FleetOptions, args)
    compute = choose_compute(dist.device, dist.dtype, wanted.attention, wanted.compile, wanted.fp8)
    loop = ReinforcementLearning(
        run_options,
        from_args(StartOptions, args),
        from_args(CadenceOptions, args),
        from_args(RLOptions, args),
        from_args(SearchConfig, args, "search_"),
        from_args(SamplingConfig, args),
        from_args(MatchmakerConfig, args, "mm_"),
        from_args(BatchOptions, args),
        from_args(OptimizerOptions, args),
        choose_lean(fleet_options.lean_project, embedded=not fleet_options.lean_servers),
        dist,
    )
    compute.apply(loop.model)
    with ExitStack() as stack:
        fleet = stack.enter_context(open_fleet(fleet_options, dist))
        port = loop.options.monitor_port if dist.is_main else None
        monitor = start_monitor(port) if port is not None else None
        if monitor is not None:
            stack.callback(monitor.close)
        decisions = {**compute.decisions(), **loop.decisions(), "lean": fleet.description}
        resumed = loop.start.resume_from is not None
        stage = start_stage("rl", run_options, vars(args), dist, decisions, resumed)
        if monitor is not None:
            monitor.show(stage.run.path)
            log.info("dashboard: %s", monitor.address)
        stack.callback(stage.run.close)
        stack.callback(stage.tracker.close)
        stack.enter_context(loop.working(stage, fleet))
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: loop.interrupt())
        loop.run()


if __name__ == "__main__":
    run_main(main)
