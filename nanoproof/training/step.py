"""One optimizer step, and the validation loss, on packed examples."""

import math
from collections.abc import Sequence

import torch

from nanoproof.common.dist import DistInfo, all_reduce_sum
from nanoproof.data.packing import Example, PackedBatch, pack
from nanoproof.gpt.model import GPT
from nanoproof.gpt.optim import MuonAdamW, NonFiniteLoss
from nanoproof.training.loss import LossWeights, Normalizers, transition_loss
from nanoproof.training.options import BatchOptions, OptimizerOptions


def build_optimizer(model: GPT, options: OptimizerOptions) -> MuonAdamW:
    """The optimizer for `model` with the learning rates of `options`."""
    return MuonAdamW.for_model(
        model,
        matrix_lr=options.matrix_lr,
        embedding_lr=options.embedding_lr,
        unembedding_lr=options.unembedding_lr,
        scalar_lr=options.scalar_lr,
        weight_decay=options.weight_decay,
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
) -> dict[str, float]:
    """Train on this rank's examples of one step; all ranks call it together.

    Losses are means over the targets of all ranks, so gradients add up over micro-batches of `device_batch_size` rows
    and over ranks. Returns the losses, gradient norm and counts. Raises NonFiniteLoss (on every rank) before the
    weights change.
    """
    model.train()
    batch = pack(examples, batch_options.row_length, pad)
    norms = Normalizers.of(batch, dist.device)
    optimizer.zero_grad()
    totals = {"loss": 0.0, "tactic_loss": 0.0, "value_loss": 0.0, "tactic_token_accuracy": 0.0}
    if weights.unlikelihood > 0:
        totals["unlikelihood_loss"] = 0.0
    for rows in _micro_batches(batch, batch_options.device_batch_size, dist.device):
        loss, parts = transition_loss(model, rows, weights, norms)
        loss.backward()
        for name, part in {"loss": loss.detach(), **parts}.items():
            totals[name] += float(part)
    names = sorted(totals)
    totals = dict(zip(names, all_reduce_sum([totals[name] for name in names], dist.device)))
    if not math.isfinite(totals["loss"]):
        raise NonFiniteLoss(f"the loss is {totals['loss']}; the weights were left as they were before this step")
    optimizer.set_lr_factor(lr_factor)
    totals["grad_norm"] = optimizer.step(max_grad_norm)
    totals["lr_factor"] = lr_factor
    totals["rows"] = float(batch.tokens.shape[0])
    totals["packing"] = float((batch.segments > 0).float().mean())
    return totals


@torch.no_grad()
def validation_loss(
    model: GPT, examples: Sequence[Example], batch_options: BatchOptions, dist: DistInfo, pad: int
) -> dict[str, float]:
    """Losses on `examples` (this rank's share; all ranks call it together)."""
    model.eval()
    weights = LossWeights(batch_options.value_weight)
    batch = pack(examples, batch_options.row_length, pad)
    norms = Normalizers.of(batch, dist.device)
    totals: dict[str, float] = {"loss": 0.0, "tactic_loss": 0.0, "value_loss": 0.0, "tactic_token_accuracy": 0.0}
    for rows in _micro_batches(batch, batch_options.device_batch_size, dist.device):
        loss, parts = transition_loss(model, rows, weights, norms)
        for name, part in {"loss": loss, **parts}.items():
            totals[name] += float(part)
    names = sorted(totals)
    return dict(zip(names, all_reduce_sum([totals[name] for name in names], dist.device)))


def _micro_batches(batch: PackedBatch, rows: int, device: torch.device) -> list[PackedBatch]:
    return [batch.rows(start, start + rows).to(device) for start in range(0, batch.tokens.shape[0], rows)]
