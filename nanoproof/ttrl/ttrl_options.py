"""All options of test-time learning. What is not given is as in the run whose network learns.

Nothing here needs torch, which is slow to import.
"""

import argparse
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from nanoproof.actors.fleet import EARLIER_FLAGS
from nanoproof.common.config import Parser, add_flags, change, group, opt, options_of, validated
from nanoproof.common.files import read_object
from nanoproof.common.retired import is_retired_choice
from nanoproof.common.run_dir import is_foreign, resolve_model_path
from nanoproof.lean.solvers import SOLVER_SETS
from nanoproof.model.checkpoint_files import read_manifest
from nanoproof.policy.prompt_formats import TRAINED_FILE
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.rl.options import OWN_DEFAULTS, ClusterOptions, HubModelOptions, RLConfig, RLOptions
from nanoproof.search.config import SearchConfig
from nanoproof.training import options
from nanoproof.training.setup import parse_resumable

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


@validated("ttrl")
class TTRLOptions:
    """Test-time learning."""

    minutes: float = opt(30.0, "Minutes for each theorem, over all parts of a resumed run.", above=0)
    save: bool = opt(False, "Keep the network that has learned, as checkpoints in the run directory.")
    max_variants: int = opt(
        200, "Variants that rules make of the theorem, and once more whenever all are settled.", min=0
    )
    tree_variants: int = opt(16, "Variants out of the trees of the failed tries of each step.", min=0, constant=True)
    target_simulations: int = opt(64, "Simulations of the first try at the theorem.", min=1)
    target_growth: float = opt(2.0, "Factor on them for each further try.", min=1, constant=True)
    target_max_simulations: int = opt(16_384, "Most simulations of one try.", min=1, constant=True)
    target_share: float = opt(0.3, "Share of all simulations that goes to the theorem itself.", min=0, max=1)


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


def make_parser(description: str) -> Parser:
    """Make the parser; what follows the run of `--model-path` has the defaults of RL."""
    parser = Parser(prog="python -m nanoproof.ttrl", description=description)
    parser.add_argument("file", nargs="?", help="a file of theorems with sorries, a theorem, or a data set's name")
    parser.add_argument("--theorem", nargs="+", default=(), metavar="NAME", help="Names of theorems; default: all.")
    add_flags(parser, TTRLConfig)
    parser.add_earlier(EARLIER_FLAGS)
    own = {name: value for name, value in OWN_DEFAULTS.items() if not name.endswith("_every")}
    parser.set_defaults(**own, monitor_port=None)
    return parser


def parse_args(argv: list[str] | None, description: str = "") -> argparse.Namespace:
    """Parse the command line. What is not given is as in the run that is resumed, or whose network is learned from."""
    parser = make_parser(description)
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
