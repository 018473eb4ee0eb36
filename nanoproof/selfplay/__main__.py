"""Self-play of a model that writes whole proofs: it states conjectures, proves what it can, and learns from that.
`report DIR` prints what each round came to.

python -m nanoproof.selfplay --model-path sft/<run> --dataset-config F.json --exp-dir D --rounds 12
python -m nanoproof.selfplay --model-path hf:FOLDER --dataset-config F.json --exp-dir D --lora 16 --lean-servers H:8000
python -m nanoproof.selfplay --final --merge D:12 --base sft/<run> --dataset-config F.json --exp-dir E

The same command goes on with an experiment that was cut off. Exit code 1 if a round finds nothing to learn from.
With --cluster ADDRESS the hosts of a Ray cluster verify the proofs, and with --policy-replicas N replicas of the model
on its nodes write them, and the conjectures; with --policy-endpoint vLLM's servers do that for models hf:.
"""

import os
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nanoproof import sft
from nanoproof.actors.tasks import Interrupted
from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import read_object
from nanoproof.common.run_dir import resolve_run_dir, setup_logging
from nanoproof.rl.options import ClusterOptions, SpreadOptions
from nanoproof.selfplay.files import SETTINGS_FILE, finished_rounds, load_problems, report
from nanoproof.selfplay.selfplay_options import RoundEndpointOptions, SelfPlayOptions

# What imports torch comes after the options, which may be mistyped.
if TYPE_CHECKING:
    from nanoproof.selfplay.rounds import OpenCommand, Spread


def openers(
    selfplay: SelfPlayOptions, endpoints: RoundEndpointOptions, options: ClusterOptions
) -> "tuple[OpenCommand, Spread]":
    """Return what opens the evaluation of a round, and what spreads the writing of conjectures: over endpoints or a
    cluster if such are named.
    """
    from nanoproof.evaluation.command import opened
    from nanoproof.selfplay.endpoints import RoundEndpoints, opened_over_endpoints

    if endpoints.policy_endpoint:
        if options.cluster is not None:
            raise UserError("give either --policy-endpoint or --cluster")
        trains_whole = selfplay.lora is None and selfplay.sampler != "parallel" and not selfplay.final
        endpoints.check_model(selfplay.model_path or selfplay.base or "", trains_whole)
        writing = RoundEndpoints(endpoints, Path(selfplay.exp_dir or "").expanduser()).writing
        return partial(opened_over_endpoints, writing), writing
    if options.cluster is None:
        return opened, nullcontext
    from nanoproof.cluster.driver import opened_over_hosts, spread_over_cluster  # needs the extra `cluster`

    spread: Spread = nullcontext
    if options.policy_replicas:
        spread = partial(spread_over_cluster, options)
    return partial(opened_over_hosts, options), spread


def show_report(argv: list[str]) -> int:
    """Print what each round of an experiment came to."""
    parser = Parser(prog="python -m nanoproof.selfplay report", description="Print what each round came to.")
    parser.add_argument("exp_dir", metavar="DIR", help="Directory of the experiment.")
    parser.add_argument("--dataset-config", metavar="FILE", help="Its statements (default: those that it began with).")
    args = parser.parse_args(argv)
    path = Path(args.exp_dir).expanduser()
    if not path.is_dir():
        path = resolve_run_dir(args.exp_dir, "DIR")
    config = args.dataset_config or (read_object(path / SETTINGS_FILE) or {}).get("dataset_config")
    if config is None:
        raise UserError(f"{path}: no {SETTINGS_FILE} there that names the statements; give --dataset-config")
    rounds = finished_rounds(path)
    if not rounds:
        raise UserError(f"{path}: no round is complete yet")
    print("\n".join(report(rounds, load_problems(Path(config).expanduser()))))
    return 0


def main(argv: list[str] | None = None) -> int:
    """Play the rounds, train for the last time, or print a report."""
    if argv is None:
        argv = sys.argv[1:]
    if argv[:1] == ["report"]:
        return show_report(argv[1:])
    parser = Parser(prog="python -m nanoproof.selfplay", description=(__doc__ or "").split("\n\n")[0])
    add_flags(parser, SelfPlayOptions)
    add_flags(parser, SpreadOptions)
    add_flags(parser, RoundEndpointOptions)
    args = parser.parse_args(argv)
    options = from_args(SelfPlayOptions, args)
    endpoints, spread = from_args(RoundEndpointOptions, args), from_args(SpreadOptions, args).cluster
    # Of several ranks all but the first would hear that another process has the directory's lock.
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise UserError("self-play runs in one process; start it without torchrun")
    setup_logging("info")
    from nanoproof.selfplay.rounds import Experiment

    experiment = Experiment(options, sft.main, *openers(options, endpoints, spread))
    try:
        with experiment.locked():
            return experiment.finish() if options.final else experiment.play()
    except Interrupted as error:
        print(error, file=sys.stderr)
        return 130


if __name__ == "__main__":
    run_main(main)
