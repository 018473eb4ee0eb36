"""All options of reinforcement learning: the flags of its command line, and one object that holds their values."""

import argparse
from dataclasses import dataclass, replace
from typing import Any

from nanoproof.common.config import Parser, add_flags, change, from_args, group, preset_values
from nanoproof.data.theorems import split_names
from nanoproof.policy.sampling import SamplingConfig
from nanoproof.search.config import SearchConfig
from nanoproof.selfplay.fleet_options import AUTO, EARLIER_FLAGS, FleetOptions
from nanoproof.selfplay.matchmaker import MatchmakerConfig
from nanoproof.selfplay.options import RLOptions
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

OWN_DEFAULTS = {
    **{"embedding_lr": 0.2, "init_lr_frac": 0.02, "warmdown_frac": 0.0},
    **{"eval_every": "2:00:00", "save_every": "2:00:00"},
}


@dataclass(frozen=True)
class RLConfig:
    """One instance of each group of options."""

    run: RunOptions = group(RunOptions)
    start: StartOptions = group(StartOptions)
    cadence: CadenceOptions = group(CadenceOptions)
    rl: RLOptions = group(RLOptions)
    fleet: FleetOptions = group(FleetOptions)
    sampling: SamplingConfig = group(SamplingConfig, temperature=change(advanced=True))
    batch: BatchOptions = group(BatchOptions)
    optim: OptimizerOptions = group(
        OptimizerOptions, weight_decay=change(advanced=True), warmdown_frac=change(advanced=True)
    )
    compute: ComputeOptions = group(ComputeOptions, compile=change(advanced=True))
    records: RecordOptions = group(RecordOptions)
    search: SearchConfig = group(
        SearchConfig,
        "search-",
        without=(
            "finisher_use",  # collection and evaluation differ in it
            "disable_solvers",  # --disable-solvers does that and more
        ),
        finishers=change(advanced=True),
    )
    matchmaker: MatchmakerConfig = group(MatchmakerConfig, "mm-")

    @classmethod
    def from_args(cls, args: argparse.Namespace) -> "RLConfig":
        """The values of parsed flags. Raises UserError for those that cannot be."""
        config = from_args(cls, args)
        for names in (config.rl.datasets, config.rl.eval_datasets):
            if names != (AUTO,):
                split_names(names)
        return replace(config, search=config.search.without_solvers()) if config.leaves_out_solvers else config

    @property
    def leaves_out_solvers(self) -> bool:
        """Whether the policy may use no solver."""
        return self.rl.solvers.disable_solvers

    @property
    def solvers_left_out(self) -> tuple[str, ...]:
        """The tactics that the policy neither may use nor learns."""
        return self.search.solver_tactics if self.leaves_out_solvers else ()

    def of_nanolean(self) -> list[str]:
        """The flags whose data are those of the embedded prover."""
        datasets, benchmarks = split_names(self.rl.datasets), split_names(self.rl.eval_datasets)
        named = {"--datasets": datasets, "--sft-data": [self.rl.sft_data], "--eval-datasets": benchmarks}
        return [flag for flag, names in named.items() if "nanolean" in names]


def _preset(name: str, disprove_fraction: float) -> dict[str, Any]:
    search, matchmaker = (preset_values(cls, name) for cls in (SearchConfig, MatchmakerConfig))
    return {
        **{f"search_{option}": value for option, value in search.items()},
        **{f"mm_{option}": value for option, value in matchmaker.items()},
        "disprove_fraction": disprove_fraction,
    }


PRESETS = {"default": _preset("default", 0.0), "alphaproof": _preset("alphaproof", 0.5)}
"""Of search, matchmaker and disproof together."""


def parse_args(argv: list[str] | None, description: str = "") -> argparse.Namespace:
    """The command line; a resumed run keeps the options that are not given."""
    parser = Parser(prog="python -m nanoproof.rl", description=description)
    add_flags(parser, RLConfig)
    parser.add_earlier(EARLIER_FLAGS)
    parser.add_preset_flag("--preset", PRESETS, "Constants of search and matchmaker, and how much to disprove")
    parser.set_defaults(**OWN_DEFAULTS)
    return parse_resumable(parser, argv)
