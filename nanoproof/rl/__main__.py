"""Reinforcement learning: collect proofs with the current network, train on them, repeat.

python -m nanoproof.rl --model-path sft/<run>
torchrun --standalone --nproc_per_node=2 -m nanoproof.rl -- --model-path sft/<run> --lean-servers host:8000
python -m nanoproof.rl --resume-from rl/<run>
"""

import argparse
import logging
import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from nanoproof.actors.fleet import EMBEDDED_LEAN, Fleet, follow_lean, open_fleet
from nanoproof.common.distributed import DistInfo, cleanup
from nanoproof.common.errors import run_main
from nanoproof.common.process import dump_stacks_on_usr1
from nanoproof.common.rank_watch import RankWatch
from nanoproof.common.terminal import print_lines
from nanoproof.data.sources.catalog import RL_DATA
from nanoproof.rl.options import RLConfig, parse_args
from nanoproof.training.setup import start_ranks, start_stage

# What imports torch comes after the options, which may be mistyped.
if TYPE_CHECKING:
    from nanoproof.rl.learner import Roles
    from nanoproof.rl.loop import ReinforcementLearning

log = logging.getLogger(__name__)


def main(argv: list[str] | None = None) -> int:
    """Run the command. `kill -USR1` prints the stacks of all threads."""
    args = parse_args(argv, (__doc__ or "").splitlines()[0])
    dump_stacks_on_usr1()
    follow_lean(args, RL_DATA)
    config = RLConfig.from_args(args)
    if config.hub.dry_run:
        from nanoproof.rl.hub_memory import memory_lines

        lines = memory_lines(config, int(os.environ.get("WORLD_SIZE", 1)))
        if os.environ.get("RANK", "0") == "0":  # all ranks would say the same
            print_lines(lines)
        return 0
    dist = start_ranks(config.run)
    try:
        with RankWatch.connect(dist) as watch:
            run(args, config, dist, watch)
    finally:
        cleanup()
    return 0


def run(
    args: argparse.Namespace,
    config: RLConfig,
    dist: DistInfo,
    watch: RankWatch,
    make_loop: "Callable[..., ReinforcementLearning] | None" = None,
) -> None:
    """Make fleet, monitor and run directory, then loop until the last step, the time limit, or a signal.

    `make_loop` makes another loop than `ReinforcementLearning`, of the same arguments.
    """
    from nanoproof.rl.loop import ReinforcementLearning, resume_flags

    loop = (make_loop or ReinforcementLearning)(config, dist, watch.check)
    computes = loop.learner.compute_with(config.compute)
    with ExitStack() as stack:
        fleet, hosts = open_provers(stack, config, loop, dist)
        address, monitor = config.rl.monitor, None
        if dist.is_main and address.port is not None:
            from nanoproof.monitor.server import start_monitor_process  # the monitor's server is not for every run

            monitor = start_monitor_process(address.port, address.host, address.token)
        if monitor is not None:
            stack.callback(monitor.close)
        decisions = {**computes, **loop.decisions(), "lean": fleet.description, **hosts}
        resumed = config.start.resume_from is not None
        step: int | None = None
        if resumed:
            step = loop.learner.saved_step
        stage = start_stage(loop.learner.stage_name, config.run, vars(args), dist, decisions, resumed, step)
        if dist.is_main and fleet.is_real:
            lean = "real Lean (they name no NanoLean)"
            if fleet.lean:
                lean = f"Lean {fleet.lean}"
            for flag in config.of_nanolean():
                log.warning("%s nanolean: data of the embedded prover, and the servers run %s", flag, lean)
        if monitor is not None:
            monitor.show(stage.run.path)
            log.info("monitor: %s", monitor.address)
        stack.callback(stage.run.close)
        stack.callback(stage.tracker.close)
        watch.hint = partial(resume_flags, stage.run.path)
        loop.run(stage, fleet)


def open_provers(
    stack: ExitStack, config: RLConfig, loop: "ReinforcementLearning", dist: DistInfo
) -> tuple[Fleet, dict[str, str]]:
    """Open the Lean processes of this rank, or connect rank 0 to its cluster, whose hosts have their own."""
    if config.cluster.cluster is None or not dist.is_main:
        return stack.enter_context(open_provers_of(config, loop.roles)), {}
    from nanoproof.cluster.driver import lean_of_hosts, open_cluster  # needs the extra `cluster`

    described = stack.enter_context(open_cluster(config, loop.collection))
    return stack.enter_context(lean_of_hosts(config.fleet, dist)), {"cluster": described}


def open_provers_of(config: RLConfig, roles: "Roles") -> Fleet:
    """Open the Lean processes of this rank, none if it only learns (a collective)."""
    if roles.serves:
        return open_fleet(config.fleet, roles.provers)
    if not config.fleet.lean.servers:
        return Fleet(
            [],
            None,
            f"embedded NanoLean on each rank that proves, {config.fleet.lean_processes} processes",
            EMBEDDED_LEAN,
        )
    with open_fleet(config.fleet, roles.provers) as fleet:  # which asks the servers together with the other ranks
        return Fleet([], None, fleet.description, fleet.lean, fleet.is_real)


if __name__ == "__main__":
    run_main(main)
