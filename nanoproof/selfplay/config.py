"""All options of reinforcement learning: the flags of its command line, and one object that holds their values."""

import argparse
from dataclasses import dataclass
from typing import Any

from nanoproof.common.config import Parser, add_flags, from_args, preset_values
from nanoproof.data.theorems import split_names
from nanoproof.policy.sampling import SamplingConfig
from nanoproof.search.config import SearchConfig
from nanoproof.selfplay.matchmaker import MatchmakerConfig
from nanoproof.selfplay.options import AUTO, EARLIER_FLAGS, FleetOptions, RLOptions
from nanoproof.selfplay.records.options import RecordOptions
from nanoproof.training.options import (
    BatchOptions,
    CadenceOptions,
    ComputeOptions,
    OptimizerOptions,
    RunOptions,
    StartOptions,
)
from nanoproof.training.resume import parse_resumable

NOT_OFFERED = {
    "rl": {"eval_start"},  # has a flag of its own kind
    "search": {
        "finisher_use",  # collection and evaluation differ in it
        "disable_solvers",  # --disable-solvers does that and more
    },
}
OWN_DEFAULTS = {
    **{"embedding_lr": 0.2, "init_lr_frac": 0.02, "warmdown_frac": 0.0},
    **{"eval_every": "2:00:00", "save_every": "2:00:00"},
}


@dataclass(frozen=True)
class RLConfig:
    """One instance of each group of options."""

    run: RunOptions
    start: StartOptions
    cadence: CadenceOptions
    rl: RLOptions
    fleet: FleetOptions
    sampling: SamplingConfig
    batch: BatchOptions
    optim: OptimizerOptions
    compute: ComputeOptions
    records: RecordOptions
    search: SearchConfig
    matchmaker: MatchmakerConfig

    @classmethod
    def from_args(cls, args: argparse.Namespace) -> "RLConfig":
        """The values of parsed flags. Raises UserError for those that cannot be."""
        groups: dict[str, Any] = {
            name: from_args(group, args, PREFIXES.get(name, "")) for name, group in GROUPS.items()
        }
        for names in (groups["rl"].datasets, groups["rl"].eval_datasets):
            if names != (AUTO,):
                split_names(names)
        if groups["rl"].disable_solvers:
            groups["search"] = groups["search"].without_solvers()
        return cls(**groups)

    @property
    def solvers_left_out(self) -> tuple[str, ...]:
        """The tactics that the policy neither may use nor learns."""
        return self.search.solver_tactics if self.rl.disable_solvers else ()

    def of_nanolean(self) -> list[str]:
        """The flags whose data are those of the embedded prover."""
        datasets, benchmarks = split_names(self.rl.datasets), split_names(self.rl.eval_datasets)
        named = {"--datasets": datasets, "--sft-data": [self.rl.sft_data], "--eval-datasets": benchmarks}
        return [flag for flag, names in named.items() if "nanolean" in names]


GROUPS: dict[str, type] = {
    "run": RunOptions,
    "start": StartOptions,
    "cadence": CadenceOptions,
    "rl": RLOptions,
    "fleet": FleetOptions,
    "sampling": SamplingConfig,
    "batch": BatchOptions,
    "optim": OptimizerOptions,
    "compute": ComputeOptions,
    "records": RecordOptions,
    "search": SearchConfig,
    "matchmaker": MatchmakerConfig,
}
PREFIXES = {"search": "search-", "matchmaker": "mm-"}


def _preset(name: str, disprove_fraction: float) -> dict[str, Any]:
    search, matchmaker = (preset_values(cls, name) for cls in (SearchConfig, MatchmakerConfig))
    return {
        **{f"search_{option}": value for option, value in search.items()},
        **{f"mm_{option}": value for option, value in matchmaker.items()},
        "disprove_fraction": disprove_fraction,
    }


PRESETS = {"default": _preset("default", 0.0), "alphaproof": _preset("alphaproof", 0.5)}
"""Of search, matchmaker and disproof together."""


class _EvalStart(argparse.Action):
    """`--eval-start` (before the first step), `--eval-start 100steps`, `--no-eval-start`."""

    HELP = "First evaluation: before the first step if nothing follows, else after Nsteps or H:M:S."

    def __init__(self, option_strings: list[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs="?", default="now", metavar="WHEN", help=help)

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        if option_string == "--no-eval-start":
            if values is not None:
                parser.error(f"argument --no-eval-start takes no value, got {values}")
            values = "never"
        if values is not None and values.isdigit():  # steps, as users know it
            values = f"{values}steps" if int(values) else None
        setattr(namespace, self.dest, values or "now")


def parse_args(argv: list[str] | None, description: str = "") -> argparse.Namespace:
    """The command line; a resumed run keeps the options that are not given."""
    parser = Parser(prog="python -m nanoproof.rl", description=description)
    for name, group in GROUPS.items():
        add_flags(parser, group, PREFIXES.get(name, ""), skip=NOT_OFFERED.get(name, set()))
    parser.add_argument("--eval-start", "--no-eval-start", action=_EvalStart, help=_EvalStart.HELP)
    parser.add_earlier(EARLIER_FLAGS)
    parser.add_preset_flag("--preset", PRESETS, "Constants of search and matchmaker, and how much to disprove")
    parser.set_defaults(**OWN_DEFAULTS)
    return parse_resumable(parser, argv)
