"""Small runs of supervised finetuning, alone or on several ranks."""

from pathlib import Path

import torch

from nanoproof import sft
from nanoproof.common.distributed import cleanup
from nanoproof.training import loop
from nanoproof.training.finetuning import Finetuning
from nanoproof.training.options import ComputeOptions
from nanoproof.training.setup import parse_stage
from tests.training import small


def words(folder: Path, run: str, *more: object) -> list[str]:
    """The command line of a run in `folder`/`run`, on data and a tokenizer that are made in `folder`."""
    data, tokenizer = folder / "data.jsonl", folder / "tokenizer.json"
    if not data.exists():
        small.tokenizer().save(tokenizer)
        small.write_leantree(data, small.transitions(), per_file=4)
    line = ["--data", data, "--tokenizer", tokenizer, "--run-dir", folder / run, "--device-type", "cpu"]
    line += ["--depth", 2, "--aspect-ratio", 16, "--head-dim", 16, "--sequence-len", 128, "--row-length", 128]
    line += ["--target-examples-per-step", 16, "--value-weight", 0.1, "--log-level", "warning", *more]
    return [str(word) for word in line]


class StoppedAfterFive(Finetuning):
    """One whose last rank is asked to end in the fifth step."""

    def train_one(self) -> dict[str, float]:
        if self.state.step == 4 and self.dist.rank == self.dist.world_size - 1:
            self.stop.received = True
        return super().train_one()


def interrupted(folder: Path) -> None:
    """`whole` trains without a break; `parts` is stopped after five steps and is resumed."""
    length = ("--epochs", 3, "--eval-every", "4steps", "--state-after-weight", 0.1, "--balance-value-by-depth")
    sft.main(words(folder, "whole", *length))
    args = parse_stage("sft", (*sft.GROUPS, ComputeOptions), "stopped", words(folder, "parts", *length))
    loop.train(StoppedAfterFive, sft.GROUPS, args)
    assert not (folder / "parts" / "model_11.json").exists()
    sft.main(["--resume-from", str(folder / "parts")])


def interrupted_on_ranks(folder: Path) -> None:
    """What `interrupted` says, in the process of each rank."""
    torch.set_num_threads(1)
    loop.cleanup = lambda: None
    interrupted(folder)
    cleanup()
