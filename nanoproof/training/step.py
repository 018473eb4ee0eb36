"""One optimizer step on packed examples."""

import math
from collections.abc import Sequence

import torch

from nanoproof.common.dist import DistInfo, all_reduce_sum
from nanoproof.common.errors import UserError
from nanoproof.data.packing import Example
from nanoproof.gpt.model import GPT
from nanoproof.gpt.optim import MuonAdamW, NonFiniteLoss
from nanoproof.training.batches import pack_for
from nanoproof.training.loss import LossWeights, Normalizers, transition_loss
from nanoproof.training.memory import Pieces
from nanoproof.training.not_finite import FailedStep
from nanoproof.training.options import BatchOptions, OptimizerOptions


def build_optimizer(model: GPT, options: OptimizerOptions) -> MuonAdamW:
    """The optimizer for `model` with the learning rates of `options`.

    Raises UserError if the model computes in fp16, where small gradients become 0 (losses are not scaled up for it).
    """
    if model.compute_dtype == torch.float16:
        raise UserError("NANOPROOF_DTYPE=float16 is too coarse for gradients; train with bfloat16 or float32")
    return MuonAdamW.for_model(
        model,
        matrix_lr=options.matrix_lr,
        embedding_lr=options.embedding_lr,
        unembedding_lr=options.unembedding_lr,
        scalar_lr=options.scalar_lr,
        weight_decay=options.weight_decay,
        momentum=options.momentum,
        momentum_warmup_steps=options.momentum_warmup_steps,
    )


def train_step(
    model: GPT,
    optimizer: MuonAdamW,
    examples: Sequence[Example],
    lr_factor: float,
    batch_options: BatchOptions,
    weights: LossWeights,
    max_grad_norm: float,
    dist: DistInfo,
    pad: int,
    pieces: Pieces | None = None,
) -> dict[str, float]:
    """Train on this rank's examples of one step; all ranks call it together.

    Losses are means over the targets of all ranks, so gradients add up over `pieces` of the batch (at first, and by
    default, of `device_batch_size` rows) and over ranks. Returns the losses, the gradient norm, and how many rows there
    were with which share of real tokens. Raises FailedStep (on every rank) before the weights change.
    """
    model.train()
    pieces = pieces or Pieces(batch_options.device_batch_size)
    batch = pack_for(model, examples, batch_options, pad)
    norms = Normalizers.of(batch, dist.device)
    names = ["loss", *weights.part_names()]

    def accumulate(rows: int) -> torch.Tensor:
        optimizer.zero_grad()
        sums = torch.zeros(len(names), device=dist.device)
        for piece in batch.split(rows):
            loss, parts = transition_loss(model, piece, weights, norms)
            loss.backward()
            sums += torch.stack([loss.detach(), *(parts[name] for name in names[1:])])
        return sums

    sums = pieces.run(accumulate)
    real, places = float((batch.segments > 0).sum()), float(batch.segments.numel())
    *summed, real, places = all_reduce_sum([*sums.tolist(), real, places], dist.device)
    totals = dict(zip(names, summed))
    try:
        if not math.isfinite(totals["loss"]):
            raise NonFiniteLoss(f"the loss is {totals['loss']}; the weights were left as they were before this step")
        optimizer.set_lr_factor(lr_factor)
        totals["grad_norm"] = optimizer.step(max_grad_norm)
    except NonFiniteLoss as error:
        raise FailedStep(str(error), batch, pieces.rows, weights, norms) from error
    totals["lr_factor"] = lr_factor
    totals["rows"] = places / batch_options.row_length
    totals["packing"] = real / max(places, 1.0)
    return totals
