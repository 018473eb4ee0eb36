"""One optimizer step on rows of text.

Shapes: B rows, T tokens in a row.
"""

import math
from collections.abc import Sequence

import torch

from nanoproof.common.dist import DistInfo, all_reduce_sum
from nanoproof.data.token_loader import TokenBatch
from nanoproof.gpt.model import GPT
from nanoproof.gpt.optim import MuonAdamW, NonFiniteLoss

NO_TARGET = -1


def token_step(
    model: GPT,
    optimizer: MuonAdamW,
    batches: Sequence[TokenBatch],
    lr_factor: float,
    max_grad_norm: float,
    dist: DistInfo,
) -> dict[str, float]:
    """Train on this rank's micro-batches of one step; all ranks call it together.

    The loss is the mean over the targets of the whole batch of all ranks. Raises NonFiniteLoss (on every rank) before
    the weights change.
    """
    model.train()
    optimizer.zero_grad()
    own_targets = sum(int((batch.targets_BT != NO_TARGET).sum()) for batch in batches)
    (targets,) = all_reduce_sum([float(own_targets)], dist.device)
    share = torch.zeros((), device=dist.device)
    for batch in batches:
        tokens_BT, targets_BT = (x.to(dist.device, non_blocking=True) for x in (batch.tokens_BT, batch.targets_BT))
        loss = model.losses(tokens_BT, targets_BT).sum() / max(targets, 1.0)
        loss.backward()
        share += loss.detach()
    (total,) = all_reduce_sum([float(share)], dist.device)
    if not math.isfinite(total):
        raise NonFiniteLoss(f"the loss is {total}; the weights were left as they were before this step")
    optimizer.set_lr_factor(lr_factor)
    norm = optimizer.step(max_grad_norm)
    return {"loss": total, "grad_norm": norm, "lr_factor": lr_factor, "targets": targets}
