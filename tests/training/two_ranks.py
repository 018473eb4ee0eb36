"""Run under torchrun: trains on a fixed set; writes optimizer state after a step, and last weights, to a folder."""

import copy
import sys
from pathlib import Path

import torch

from nanoproof.common.dist import cleanup, gather_json, init_distributed
from nanoproof.training.batches import EpochSampler, deal
from nanoproof.training.loss import LossWeights
from nanoproof.training.options import BatchOptions, OptimizerOptions
from nanoproof.training.step import build_optimizer, train_step
from tests.training import small


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    dist = init_distributed("cpu")
    words = small.tokenizer()
    model, examples = small.model(words), small.examples(words)
    optimizer = build_optimizer(model, OptimizerOptions(matrix_lr=0.002))
    sampler = EpochSampler(len(examples), seed=0)
    for step in range(3):
        share = [examples[index] for index in deal(sampler.batch(20), dist)]
        batch = BatchOptions(row_length=128, value_weight=0.1)
        train_step(model, optimizer, share, 1.0, batch, LossWeights(0.1), 1.0, dist, words.pad)
        if step == 0:
            averages = copy.deepcopy(optimizer.state_dict())
    assert gather_json({"rank": dist.rank, "text": "⊢" * dist.rank}) == [
        {"rank": rank, "text": "⊢" * rank} for rank in range(dist.world_size)
    ]
    saved = {"averages": averages, "weights": dict(model.state_dict())}
    torch.save(saved, folder / f"{dist.world_size}_{dist.rank}.pt")
    cleanup()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
