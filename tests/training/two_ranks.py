"""What a rank does in `test_ranks.py`, alone or under torchrun: trains on a fixed set, saves, loads, fails."""

import copy
import errno
import sys
from pathlib import Path

import torch

from nanoproof.common.distributed import DistInfo, cleanup, gather_json, init_distributed
from nanoproof.common.errors import UserError, run_main
from nanoproof.model import checkpoint
from nanoproof.model.optim import MuonAdamW
from nanoproof.training.batches import EpochSampler, shard
from nanoproof.training.loss import LossWeights
from nanoproof.training.options import BatchOptions, OptimizerOptions
from nanoproof.training.step import StepSettings, build_optimizer, train_step
from tests.training import small

RATES = OptimizerOptions(matrix_lr=0.002)


def train(dist: DistInfo, folder: Path) -> None:
    """Three steps; saves a checkpoint, what the first step made of weights and optimizer, and what all made of them."""
    words = small.tokenizer()
    model, examples = small.model(words), small.examples(words)
    optimizer = build_optimizer(model, RATES)
    sampler = EpochSampler(len(examples), seed=0)
    for step in range(3):
        share = [examples[pick.index] for pick in shard(sampler.picks(20), dist)]
        batch = BatchOptions(row_length=128, value_weight=0.1)
        train_step(model, optimizer, share, 1.0, StepSettings(batch, LossWeights(0.1), 1.0, words.pad), dist)
        if step == 0:
            once = copy.deepcopy({"averages": optimizer.state_dict(), "once": model.state_dict()})
    checkpoint.save_checkpoint(folder / f"by_{dist.world_size}", 3, model, words, optimizer, None, dist)
    saved = {**once, "weights": dict(model.state_dict()), "optimizer": optimizer.state_dict()}
    torch.save(saved, folder / f"{dist.world_size}_{dist.rank}.pt")


def load(folder: Path, saved_by: int, world_size: int, rank: int) -> None:
    """Take up a checkpoint that another number of ranks wrote, and show this rank's share of it."""
    path = folder / f"by_{saved_by}"
    model, _, _ = checkpoint.load_model(path)
    optimizer = MuonAdamW.for_model(model)
    checkpoint.load_optimizer(path, optimizer)
    torch.save(optimizer.state_dict(), folder / f"by_{saved_by}_on_{world_size}_{rank}.pt")


def save_on_a_full_disk(dist: DistInfo, folder: Path) -> str:
    """Save where the last rank's disk is full: what each rank says of it."""

    def full(path: Path, write: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    words = small.tokenizer()
    model = small.model(words)
    if dist.rank == dist.world_size - 1:
        checkpoint.atomic_write = full
    try:
        checkpoint.save_checkpoint(folder / "full", 0, model, words, MuonAdamW.for_model(model), None, dist)
    except (OSError, UserError) as error:
        return f"{type(error).__name__}: {error}"
    return "saved"


def main() -> int:
    """Under torchrun; ends as a command with a bad option does."""
    torch.set_num_threads(1)
    dist, folder = init_distributed("cpu"), Path(sys.argv[1])
    try:
        train(dist, folder)
        load(folder, 1, dist.world_size, dist.rank)
        assert gather_json({"rank": dist.rank, "text": "⊢" * dist.rank}) == [
            {"rank": rank, "text": "⊢" * rank} for rank in range(dist.world_size)
        ]
        (folder / f"full_{dist.rank}.txt").write_text(save_on_a_full_disk(dist, folder))
        raise UserError("--model-path nowhere: nothing there")
    finally:
        cleanup()


if __name__ == "__main__":
    run_main(main)
