"""Score a checkpoint, or a policy without a network, on benchmarks.

python -m scripts.prover_eval --model-path sft/<run> --datasets nanolean --split valid --num-simulations 32
python -m scripts.prover_eval --policy solver-only --datasets nanolean --split test --output-dir /tmp/baseline
"""

import argparse
import logging
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from nanoproof.common.config import Parser, add_flags, check, from_args, opt, validate
from nanoproof.common.dist import DistInfo, cleanup
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.run_dir import resolve_model_path, setup_logging, versions
from nanoproof.common.suggestion import Policy
from nanoproof.data.theorems import list_theorems, split_names
from nanoproof.data.whitelist import choose_lean
from nanoproof.gpt.checkpoint import find_checkpoint
from nanoproof.lean.theorem import Theorem
from nanoproof.policy.opening import SOLVERS, PolicyName, load_network, open_policy
from nanoproof.policy.sampling import SamplingConfig
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.search.config import SearchConfig
from nanoproof.selfplay.actors import ActorPool
from nanoproof.selfplay.evaluate import Evaluation, evaluate
from nanoproof.selfplay.fleet import open_fleet
from nanoproof.selfplay.options import FleetOptions
from nanoproof.training.options import RunOptions
from nanoproof.training.setup import start_ranks

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class EvalOptions:
    """Evaluation."""

    model_path: str | None = opt(None, "Checkpoint to score; needed by --policy model.")
    policy: PolicyName = opt("model", "Who suggests tactics.")
    datasets: tuple[str, ...] = opt(("nanolean",), "Benchmarks, space- or comma-separated.")
    split: Literal["valid", "test"] = opt("valid", "Which theorems of them.")
    num_simulations: int = opt(64, "Simulations for each theorem.", min=1)
    max_theorems: int | None = opt(None, "The first so many theorems only.", min=1)
    output_dir: str | None = opt(None, "Where to write; default <checkpoint dir>/eval_<step>_<dataset>_<split>.")
    force: bool = opt(False, "Overwrite earlier results.")
    finishers: bool = opt(False, "Offer the solver tactics at every node, beside those of the policy.")
    solvers: tuple[str, ...] = opt(SOLVERS, "The solver tactics, for --finishers and --policy solver-only.")

    def __post_init__(self) -> None:
        validate(self, "eval")
        check(
            self.policy != "model" or self.model_path is not None,
            "--policy model needs --model-path (or choose another)",
        )
        names = [name for value in self.datasets for name in value.split(",") if name]
        check(self.output_dir is None or len(names) == 1, "--output-dir takes the results of one data set only")
        check(
            self.policy == "model" or self.output_dir is not None,
            f"--policy {self.policy} has no checkpoint directory to write to; give --output-dir",
        )


GROUPS = {"": (RunOptions, EvalOptions, FleetOptions, SamplingConfig), "search-": (SearchConfig,)}
NOT_OFFERED = {"run", "run_dir", "loggers", "finisher_use"}


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = Parser(prog="python -m scripts.prover_eval", description=(__doc__ or "").splitlines()[0])
    for prefix, groups in GROUPS.items():
        for group in groups:
            add_flags(parser, group, prefix, skip=NOT_OFFERED | ({"finishers"} if prefix else set()))
    return parser.parse_args(argv)


def output_dir(options: EvalOptions, dataset: str) -> Path:
    """Where the results on `dataset` go. Raises UserError if there are some already."""
    if options.output_dir is not None:
        path = Path(options.output_dir)
    else:
        manifest = find_checkpoint(resolve_model_path(options.model_path or ""))
        step = manifest.stem.removeprefix("model_")
        path = manifest.parent / f"eval_{step}_{dataset}_{options.split}"
    if (path / "summary.json").exists() and not options.force:
        raise UserError(f"{path} holds earlier results; --force overwrites them")
    return path


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    args = parse_args(argv)
    options, sampling = from_args(EvalOptions, args), from_args(SamplingConfig, args)
    search = from_args(SearchConfig, args, "search_")
    if options.finishers:
        search = replace(search, finishers=options.solvers, finisher_use="candidate")
    setup_logging(args.log_level)
    outputs = {name: output_dir(options, name) for name in split_names(options.datasets)}
    fleet_options = from_args(FleetOptions, args)
    lean = choose_lean(fleet_options.lean_project, embedded=not fleet_options.lean_servers)
    sets = {
        name: list_theorems(name, options.split, lean.version_for(name))[: options.max_theorems] for name in outputs
    }
    dist = start_ranks(from_args(RunOptions, args))
    try:
        network = load_network(options.policy, options.model_path, dist)
        with ExitStack() as stack:
            fleet = stack.enter_context(open_fleet(fleet_options, dist))
            opened = open_policy(options.policy, network, sampling, options.solvers)
            policy = stack.enter_context(opened)
            log.info("Lean: %s", fleet.description)
            prover_options = ProverOptions(keep_tree=False)

            def make_prover(purpose: str, watched: Policy) -> Prover:
                return Prover(watched, search, prover_options)

            pool = ActorPool(fleet.slots, policy, make_prover, fleet.check)
            try:
                for name, theorems in sets.items():
                    score(pool, options, args.seed, name, theorems, outputs[name], dist)
            finally:
                pool.stop()
                pool.join()
    finally:
        cleanup()
    return 0


def score(
    pool: ActorPool,
    options: EvalOptions,
    seed: int,
    name: str,
    theorems: list[Theorem],
    path: Path,
    dist: DistInfo,
) -> Evaluation:
    """Evaluate on one benchmark, write the results and print the score."""
    result = evaluate(pool, name, theorems, options.num_simulations, seed, name, options.split, show=dist.is_main)
    if dist.is_main:
        result.write(path, {"policy": options.policy, "model_path": options.model_path, "versions": versions()})
        summary = result.summary()
        print(
            f"{name} {options.split}: {summary['solved']}/{summary['total']} solved, "
            f"95% interval {100 * summary['low']:.1f}-{100 * summary['high']:.1f}%, "
            f"{options.num_simulations} simulations, {summary['tactic_samples']} tactic samples, "
            f"{summary['errors']} errors, {summary['seconds']} s -> {path}",
            flush=True,
        )
    return result


if __name__ == "__main__":
    run_main(main)
