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
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanoproof.actors.fleet import follow_lean
from nanoproof.common.distributed import DistInfo, cleanup
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import read_object
from nanoproof.common.process import dump_stacks_on_usr1
from nanoproof.common.rank_watch import RankWatch
from nanoproof.common.run_dir import resolve_run_dir
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
from nanoproof.lean.types import Theorem
from nanoproof.prover.cli_input import parse_theorem
from nanoproof.rl.__main__ import run
from nanoproof.training.schedule import clock
from nanoproof.training.setup import start_ranks
from nanoproof.ttrl.ttrl_options import TTRLConfig, parse_args

# What imports torch comes after the options, which may be mistyped.
if TYPE_CHECKING:
    from nanoproof.ttrl.learning import TargetLearning

DATA = {**SOLVERS, "sft_data": RL_DATA["sft_data"]}
"""Options that follow the Lean that is used."""


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
    from nanoproof.ttrl.learning import TARGET_FILE

    path = resolve_run_dir(args.resume_from, "--resume-from") / TARGET_FILE
    target = read_object(path)
    if target is None:
        raise UserError(f"--resume-from {args.resume_from}: {path} is missing or damaged; start a new run")
    return [Theorem(**target)]


def learn(
    target: Theorem, args: argparse.Namespace, config: TTRLConfig, dist: DistInfo, watch: RankWatch
) -> "TargetLearning":
    """Learn on one theorem, and print what came of it."""
    from nanoproof.ttrl.learning import PROOF_FILE, TargetLearning, describe

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
    args = parse_args(argv, (__doc__ or "").splitlines()[0])
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
