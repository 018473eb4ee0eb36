"""The Lean servers that a command uses, and data that follow the Lean which they run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nanoproof.common.config import group, opt, validate
from nanoproof.common.options import LeanOptions

AUTO = "auto"
"""The value of an option of data that follows the Lean which is named (`selfplay.fleet.follow_lean`)."""


@dataclass(frozen=True)
class Followed:
    """What `auto` stands for: with servers that run real Lean, and with the embedded prover."""

    real: Any
    nanolean: Any


BENCHMARKS = Followed(("minif2f",), ("nanolean",))
RL_DATA: Mapping[str, Followed] = {
    "datasets": Followed(("leanworkbook", "numinamath", "deepseek_prover"), ("nanolean",)),
    "sft_data": Followed("leantree", "nanolean"),
    "eval_datasets": BENCHMARKS,
}
EVAL_DATA: Mapping[str, Followed] = {"datasets": BENCHMARKS}


def real_data(data: Mapping[str, Followed]) -> tuple[str, ...]:
    """The names of all data that options take with real Lean."""
    values = (value.real for value in data.values())
    return tuple(name for value in values for name in ([value] if isinstance(value, str) else value))


_BATCHES = "leave it out: batches of the network are as large as there is work and memory for"
EARLIER_FLAGS = {
    "--lean-server": "--lean-servers",
    "--num-actors": "every Lean process has an actor; give --lean-processes, or the servers their --max-processes",
    "--distributed": "leave it out: torchrun starts ranks on several machines, --lean-servers names Lean elsewhere",
    "--infra-file": "there is no such file any more: name the Lean servers with --lean-servers HOST:PORT ...",
    "--inference-server-port": "leave it out: the network needs no server (python -m nanoproof.inference is one)",
    **dict.fromkeys(("--batch-time-limit", "--batch-max-gen-samples", "--batch-max-prompt-tokens"), _BATCHES),
}
"""Flags of earlier versions, for commands that prove (`Parser.add_earlier`)."""


@dataclass(frozen=True)
class FleetOptions:
    """Lean processes."""

    lean: LeanOptions = group(LeanOptions, "lean-")
    lean_processes: int = opt(8, "Processes of the embedded server of each rank.", min=1)
    lean_tactic_seconds: float = opt(
        5.0, "How long one tactic may run (the embedded prover counts steps instead).", above=0, advanced=True
    )
    lean_lost_proofs: int = opt(
        5,
        "Found proofs in a row that the final check may lose, through no fault of theirs, before all ends (0: any).",
        min=0,
        advanced=True,
    )

    def __post_init__(self) -> None:
        validate(self, "fleet")
