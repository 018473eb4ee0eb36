"""The options of evaluation commands, and their plan: which checkpoints, which benchmarks, where the results go.

Nothing here needs torch, which is slow to import.
"""

import argparse
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nanoproof.actors.fleet import EARLIER_FLAGS, FleetOptions, follow_lean
from nanoproof.common.config import Given, Parser, add_flags, change, check, group, opt, validated
from nanoproof.common.errors import UserError
from nanoproof.common.files import cut_name
from nanoproof.common.option_groups import CheckpointsOption, PolicyServerOptions
from nanoproof.common.run_dir import (
    HUB_CONFIG,
    baseline_dir,
    home,
    is_foreign,
    resolve_model_path,
    resolve_run_dir,
    team_of,
)
from nanoproof.data.sources.catalog import EVAL_DATA
from nanoproof.data.theorems.theorem_sets import is_theorem_file, parse_set_names, set_name
from nanoproof.evaluation.results import EvaluationFiles, Mode
from nanoproof.inference.model_options import EngineLimits
from nanoproof.lean.solvers import AUTO
from nanoproof.model.checkpoint_files import find_checkpoint, finished_steps
from nanoproof.policy.factory import SOLVERS
from nanoproof.policy.policy_options import PolicyName, TextModelOptions
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.retrieval.retrieve_options import RetrieveOptions
from nanoproof.search.config import ALGORITHM, NOT_FLAGS, SearchConfig, SolverOption
from nanoproof.training.options import RunOptions

DEFAULT_SPLIT = "valid"
EARLIER_EVAL_FLAGS = {
    "--output-suffix": "name the whole directory of the results with --output-dir",
    "--verbose": "write --log-level debug",
    "--memory-profile": "only python -m nanoproof.rl takes it",
}


@validated("eval")
class EvalOptions:
    """Evaluation."""

    checkpoints: CheckpointsOption = group(CheckpointsOption)
    run_dir: str | None = opt(None, "Score every checkpoint of this run: the middle, the ends, quartiles, eighths, ...")
    policy: PolicyName = opt("model", "Who suggests tactics.")
    texts: TextModelOptions = group(TextModelOptions)
    retrieving: RetrieveOptions = group(RetrieveOptions, without=("step_decay",), retriever=change(advanced=True))
    server: PolicyServerOptions = group(
        PolicyServerOptions,
        "policy-",
        server=change(help="Policy server host:port that suggests tactics instead; needs --output-dir."),
    )
    datasets: tuple[str, ...] = opt(
        (AUTO,),
        "Benchmarks or files of theorems (.lean, .jsonl), space- or comma-separated; auto: minif2f if --lean-servers "
        "run real Lean, else nanolean.",
    )
    split: Literal["valid", "test"] = opt(DEFAULT_SPLIT, "Which theorems of them.")
    num_simulations: int = opt(64, "Simulations for each theorem.", min=1)
    solving: SolverOption = group(SolverOption)
    max_theorems: int | None = opt(None, "The first so many theorems only.", min=1)
    output_dir: str | None = opt(
        None, "Where to write, for one model (with several data sets: a directory for each in it); default: see docs."
    )
    force: bool = opt(False, "Overwrite earlier results.")
    solvers: tuple[str, ...] = opt(SOLVERS, "The tactics of --policy solver-only.", metavar="TACTIC", advanced=True)
    baseline: str | None = opt(
        None, "Evaluation to show beside the score; default: the solver-only one, if there is.", advanced=True
    )
    lean_patience: float = opt(
        300.0, "Seconds without any Lean process after which the evaluation ends.", above=0, advanced=True
    )
    cpu_dtype: Literal["float64", "float32", "auto"] = opt(
        "float64",
        "How a CPU computes what repeats to the last bit: float64, or float32 by compiled code or in padded batches, "
        "faster; auto: that where it can be had (NANOPROOF_DTYPE overrides it, without padding).",
        advanced=True,
    )
    retry_timeouts: bool = opt(
        True,
        "Before a theorem is given up, try tactics that ran out of time once more, when nothing else runs.",
        advanced=True,
    )
    continue_: bool = opt(False, "Continue an evaluation: try what ended in an error or is missing.")

    def __post_init__(self) -> None:
        check(not (self.continue_ and self.force), "give either --continue (keep earlier results) or --force")
        check(not (self.checkpoints.model_path and self.run_dir), "give either --model-path or --run-dir")
        if self.server.server is not None:
            check(self.policy == "model", f"give either --policy-server or --policy {self.policy}")
            check(
                not (self.checkpoints.model_path or self.run_dir),
                "--policy-server has the model; leave out --model-path",
            )
            check(self.output_dir is not None, "--policy-server has no checkpoint directory here; give --output-dir")
        elif self.policy == "model":
            check(
                bool(self.checkpoints.model_path or self.run_dir),
                "--policy model needs --model-path or --run-dir (or choose another policy, or a --policy-server)",
            )
        else:
            check(not (self.checkpoints.model_path or self.run_dir), f"--policy {self.policy} has no use for a model")
        if self.retrieving.retrieve:
            check(self.server.server is None, "--retrieve works on a model in this process, not on a --policy-server")
            check(self.policy == "model", f"--retrieve has no use for --policy {self.policy}")
        one = len(self.checkpoints.model_path) <= 1 and self.run_dir is None
        check(self.output_dir is None or one, "--output-dir takes the results of one model only")

    @property
    def mode(self) -> Mode:
        if self.force:
            return "force"
        return "continue" if self.continue_ else "new"


@dataclass(frozen=True)
class EvalCommandOptions:
    """The flags of every command that evaluates."""

    run: RunOptions = group(RunOptions, without=("run", "run_dir", "loggers"))
    evaluation: EvalOptions = group(EvalOptions)
    fleet: FleetOptions = group(FleetOptions)
    sampling: SamplingConfig = group(SamplingConfig)
    search: SearchConfig = group(
        SearchConfig,
        "search-",
        without=("finisher_use", "disable_solvers", *NOT_FLAGS),  # evaluation has its own of the first two
        finishers=change(default=(AUTO,)),
        algorithm=change(default=ALGORITHM),
    )
    engine: EngineLimits = group(
        EngineLimits,
        "engine-",
        without=("batch_invariant", "reuse_share"),  # --cpu-dtype decides the first
        cache_mbytes=change(advanced=True),
        max_rows=change(advanced=True),
    )


def add_eval_flags(parser: Parser) -> None:
    """Add the flags of every command that evaluates."""
    add_flags(parser, EvalCommandOptions)
    parser.add_earlier({**EARLIER_FLAGS, **EARLIER_EVAL_FLAGS})


def parse_eval_args(parser: Parser, argv: Given) -> argparse.Namespace:
    """Parse, and let the benchmarks follow the Lean servers where they are not named."""
    args = parser.parse_args(argv)
    no_finishers = args.policy == "solver-only" or getattr(args, "whole_proofs", False)
    if no_finishers and tuple(args.search_finishers) == (AUTO,):
        args.search_finishers = ()  # the policy suggests them, or there is no search
    follow_lean(args, EVAL_DATA)
    return args


@dataclass(frozen=True)
class Target:
    """One evaluation to do: a checkpoint (the path of its manifest) or the SPEC of another model, on a benchmark.

    Several checkpoints that share the simulations are one text, their paths with commas. Without a model it is None.
    """

    model: Path | str | None
    dataset: str
    path: Path


@dataclass(frozen=True)
class Job:
    """One evaluation that is to be done, and where its results go."""

    target: Target
    files: EvaluationFiles
    extra: dict[str, Any]


def plan(options: EvalOptions, kind: str = "eval") -> list[Target]:
    """List all evaluations that `options` ask for, in order; `kind` begins the names of their directories.

    Raises UserError for checkpoints and data sets that are not there.
    """
    datasets = parse_set_names(options.datasets)
    models: list[Path | str | None] = [None]
    if options.policy == "model" and options.server.server is None:
        models = list(_models(options))
    if options.output_dir is not None:
        out = Path(options.output_dir).expanduser()
        if len(datasets) == 1:
            return [Target(models[0], datasets[0], out)]
        return [Target(models[0], name, out / f"{kind}_{_suffix(options, name)}") for name in datasets]
    targets = []
    # Models outside: each is loaded once, and of a run's checkpoints the first shows soon how well it does.
    for model in models:
        for dataset in datasets:
            targets.append(Target(model, dataset, _default_path(options, kind, model, dataset)))
    return targets


def _models(options: EvalOptions) -> Iterator[Path | str]:
    if options.run_dir is None:
        models: dict[Path | str, None] = {}  # each once: `--model-path` may name one by its run and by its file
        for spec in options.checkpoints.model_path:
            if is_foreign(spec):
                models[spec] = None
                continue
            members = [find_checkpoint(resolve_model_path(text)).resolve() for text in team_of(spec)]
            if len(members) == 1:
                models[members[0]] = None
            else:
                models[",".join(map(str, members))] = None
        yield from models
        return
    directory = resolve_run_dir(options.run_dir)
    steps = finished_steps(directory)
    if not steps:
        raise UserError(f"--run-dir {options.run_dir}: no checkpoint (model_<step>.pt with its .json) in {directory}")
    for index in bisected(len(steps)):
        yield directory / f"model_{steps[index]}.json"


def bisected(count: int) -> list[int]:
    """Order 0, ..., count - 1 so that the shape of a curve shows soon: middle, last, first, quartiles, eighths, ..."""
    if count == 0:
        return []
    order = [count // 2, count - 1, 0]
    gaps = deque([(0, count // 2), (count // 2, count - 1)])
    while gaps:  # breadth first: all quarters come before the first eighth
        low, high = gaps.popleft()
        if high - low > 1:
            middle = (low + high) // 2
            order.append(middle)
            gaps += ((low, middle), (middle, high))
    return list(dict.fromkeys(order))


def _default_path(options: EvalOptions, kind: str, model: Path | str | None, dataset: str) -> Path:
    """Return a path beside the checkpoint; the default split has no name of its own in it."""
    suffix = _suffix(options, dataset)
    if model is None:
        return baseline_dir(options.policy) / f"{kind}_{suffix}"
    if isinstance(model, str):
        name = cut_name(re.sub(r"[^\w.-]+", "_", model).strip("_"), from_end=True)
        return home() / "other_models" / name / f"{kind}_{suffix}"
    step = "export" if model.name == HUB_CONFIG else model.stem.removeprefix("model_")
    return model.parent / f"{kind}_{step}_{suffix}"


def _suffix(options: EvalOptions, dataset: str) -> str:
    name = set_name(dataset)
    # A file of theorems has no splits: `--split` says nothing about it.
    return name if options.split == DEFAULT_SPLIT or is_theorem_file(dataset) else f"{name}_{options.split}"
