"""Test-time learning: prove theorems that search alone cannot, by learning from proofs of their variants.

python -m nanoproof.ttrl FILE.lean --model-path rl/<run> --minutes 30
python -m nanoproof.ttrl "theorem foo (a b : Nat) : a + b = b + a" --model-path rl/<run> --minutes 5
python -m nanoproof.ttrl nanolean --theorem NAME --model-path rl/<run> --save
python -m nanoproof.ttrl --resume-from ttrl/<run>

Exit code 0 if all theorems are proved, 1 if one is not, 2 if something is wrong with the theorem, the options or a
server, 130 after Ctrl-C.
"""

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from nanoproof.actors.fleet import EARLIER_FLAGS, follow_lean
from nanoproof.common.config import Parser, add_flags, change, group, options_of
from nanoproof.common.distributed import DistInfo, cleanup
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import read_object
from nanoproof.common.process import dump_stacks_on_usr1
from nanoproof.common.rank_watch import RankWatch
from nanoproof.common.retired import is_retired_choice
from nanoproof.common.run_dir import is_foreign, resolve_model_path, resolve_run_dir
from nanoproof.common.terminal import print_lines
from nanoproof.data.sources.catalog import RL_DATA, SOLVERS
from nanoproof.data.theorems.theorem_sets import (
    DATASETS,
    is_theorem_file,
    list_theorems,
    read_theorems,
    set_name,
    splits_of,
)
from nanoproof.lean.solvers import SOLVER_SETS
from nanoproof.lean.types import Theorem
from nanoproof.model.checkpoint_files import read_manifest
from nanoproof.policy.prompt_formats import TRAINED_FILE
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.prover.cli_input import parse_theorem
from nanoproof.rl.__main__ import run
from nanoproof.rl.options import OWN_DEFAULTS, ClusterOptions, HubModelOptions, RLConfig, RLOptions
from nanoproof.search.config import SearchConfig
from nanoproof.training import options
from nanoproof.training.schedule import clock
from nanoproof.training.setup import parse_resumable, start_ranks
from nanoproof.ttrl.learning import PROOF_FILE, TARGET_FILE, TargetLearning, TTRLOptions, describe

DATA = {**SOLVERS, "sft_data": RL_DATA["sft_data"]}
"""Options that follow the Lean that is used."""
OF_RUN = (RLOptions, options.BatchOptions, options.OptimizerOptions, SamplingConfig, HubModelOptions)
"""Options whose defaults are those of the run that `--model-path` names, and those of the search."""
LEFT_OUT = (
    *("load_buffer", "datasets", "num_steps", "max_time"),
    *("eval_start", "eval_datasets", "num_simulations_eval", "max_eval_theorems", "memory_profile"),
    *("asynchronous", "inference_gpus", "start_states", "start_fraction"),
)
"""Options of RL about data sets, evaluation and the length of a run, which is `--minutes` here."""
NOT_OF_RUN = {*LEFT_OUT, "collect_transitions", "collect_max_time", "check_ranks"}
"""Options of RL that are of the machine or the length of a run, not of the network; and those of the monitor."""


@dataclass(frozen=True)
class TTRLConfig(RLConfig):
    """The options of reinforcement learning that matter for one theorem, and those of test-time learning."""

    ttrl: TTRLOptions = group(TTRLOptions)
    triggers: options.TriggerOptions = group(
        options.TriggerOptions, without=("eval_every",), save_every=change("0:10:00"), keep_checkpoints=change(1)
    )
    cluster: ClusterOptions = group(ClusterOptions, without=[field.name for field in fields(ClusterOptions)])
    rl: RLOptions = group(
        RLOptions,
        without=LEFT_OUT,
        collect_transitions=change(50, advanced=True),
        collect_max_time=change("0:01:00"),
        num_updates_per_step=change(advanced=True),
    )

    def of_nanolean(self) -> list[str]:
        """List the flags that name data of the embedded prover."""
        return ["--sft-data"] if self.rl.sft_data == "nanolean" else []


def make_parser() -> Parser:
    """Make the parser; what follows the run of `--model-path` has the defaults of RL."""
    parser = Parser(prog="python -m nanoproof.ttrl", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", nargs="?", help="a file of theorems with sorries, a theorem, or a data set's name")
    parser.add_argument("--theorem", nargs="+", default=(), metavar="NAME", help="Names of theorems; default: all.")
    add_flags(parser, TTRLConfig)
    parser.add_earlier(EARLIER_FLAGS)
    own = {name: value for name, value in OWN_DEFAULTS.items() if not name.endswith("_every")}
    parser.set_defaults(**own, monitor_port=None)
    return parser


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """Parse the command line. What is not given is as in the run that is resumed, or whose network is learned from."""
    parser = make_parser()
    first = parser.parse_args(argv)
    if first.file is None and first.resume_from is None:
        parser.error("give a file of theorems, or a theorem")
    if first.file is not None and first.resume_from is not None:
        parser.error("--resume-from goes on with the theorem of its run: leave the file out")
    if first.resume_from is None and first.model_path is not None:
        parser.set_defaults(**options_of_run(first.model_path))
    return parse_resumable(parser, argv)


def options_of_run(model_path: str) -> dict[str, Any]:
    """Return what a run of RL or finetuning had for the options that depend on the network; {} where none is known."""
    folder, stage = _origin(model_path)
    saved = read_object(folder / "args.json") or {}
    if not saved:
        return {}
    names = {option.dest for option in options_of(options.BatchOptions)}
    if stage in ("rl", "ttrl"):
        for options_class in OF_RUN:
            names |= {option.dest for option in options_of(options_class)}
        names = {name for name in names - NOT_OF_RUN if not name.startswith("monitor_")}
        names |= {option.dest for option in options_of(SearchConfig, "search-")}
        if set(saved.get("search_finishers") or ()) <= set(SOLVER_SETS):  # chosen again, for the Lean that is used
            names.discard("search_finishers")
    else:
        names.discard("target_examples_per_step")  # that of finetuning, whose data are many times as large
        if is_foreign(model_path):
            names.discard("device_batch_size")  # which counts examples there, and full rows here
    # Defaults in place of choices that are gone: nothing of an earlier search binds this one.
    return {name: value for name, value in saved.items() if name in names and not is_retired_choice(name, value)}


def _origin(model_path: str) -> tuple[Path, str]:
    """Return the directory of the run that made a checkpoint, and the stage of that run ("" where it is not known)."""
    if is_foreign(model_path):
        checkpoint = Path(model_path.partition(":")[2]).expanduser()
        # Any other folder than `checkpoint-<step>` of a run says nothing of options.
        about = read_object(checkpoint / TRAINED_FILE) or {}
        return checkpoint.parent, str(about.get("stage", ""))
    manifest = folder = resolve_model_path(model_path)
    if not manifest.is_dir():
        folder = manifest.parent
    return folder, str(read_manifest(manifest)["extra"].get("stage", ""))


def find_targets(text: str, names: Sequence[str], embedded: bool) -> list[Theorem]:
    """Return the theorems to prove, in order. Raises UserError where there are none."""
    theorems: list[Theorem] = []
    if is_theorem_file(text) or os.path.isfile(text):
        theorems += read_theorems(text)
    elif text in DATASETS:
        if not names:  # each takes half an hour
            raise UserError(f"--theorem: name the theorems of {text} (inspect_problems lists them)")
        for split in splits_of(text):
            theorems += list_theorems(text, split)
    else:
        theorems.append(parse_theorem(text, embedded))
    if not names:
        return theorems
    by_id = {theorem.id: theorem for theorem in theorems}
    for name in names:
        if name not in by_id:
            raise UserError(f"--theorem: no theorem {name} in {set_name(text)}")
    return [by_id[name] for name in dict.fromkeys(names)]


def targets_of(args: argparse.Namespace, embedded: bool) -> list[Theorem]:
    """Return the theorems of the command line, or that of the run to resume."""
    if args.resume_from is None:
        return find_targets(args.file, args.theorem, embedded)
    path = resolve_run_dir(args.resume_from, "--resume-from") / TARGET_FILE
    target = read_object(path)
    if target is None:
        raise UserError(f"--resume-from {args.resume_from}: {path} is missing or damaged; start a new run")
    return [Theorem(**target)]


def learn(
    target: Theorem, args: argparse.Namespace, config: TTRLConfig, dist: DistInfo, watch: RankWatch
) -> TargetLearning:
    """Learn on one theorem, and print what came of it."""
    loops: list[TargetLearning] = []

    def make_loop(*arguments: Any) -> TargetLearning:
        loops.append(TargetLearning(target, config.ttrl, *arguments))
        return loops[0]

    run(args, config, dist, watch, make_loop)
    loop = loops[0]
    if dist.is_main:
        path = loop.stage.run.path
        proof = ""
        if loop.outcome:
            proof = (path / PROOF_FILE).read_text(encoding="utf-8")
        print_lines([*describe(target.id, loop.result(), proof), f"run: {path}"])
    return loop


def main(argv: list[str] | None = None) -> int:
    """Prove the theorems one after another; return 1 if one is not proved. `kill -USR1` prints all stacks."""
    args = parse_args(argv)
    dump_stacks_on_usr1()
    follow_lean(args, DATA)
    config = TTRLConfig.from_args(args)
    seconds = clock(max(1.0, 60 * config.ttrl.minutes))
    config = replace(config, rl=replace(config.rl, max_time=seconds, eval_datasets=(), eval_start="never"))
    targets = targets_of(args, embedded=not config.fleet.lean.servers)
    dist = start_ranks(config.run)
    outcomes = []
    try:
        with RankWatch.connect(dist) as watch:
            for target in targets:
                own = config
                if len(targets) > 1 and config.run.run_dir is not None:
                    own = replace(config, run=replace(config.run, run_dir=str(Path(config.run.run_dir) / target.id)))
                loop = learn(target, args, own, dist, watch)
                outcomes.append(loop.outcome)
                if loop.interrupted:
                    return 130
    finally:
        cleanup()
    if all(outcome == "proven" for outcome in outcomes):
        return 0
    return 1


if __name__ == "__main__":
    run_main(main)
