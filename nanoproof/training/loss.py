"""The losses on packed examples: likelihood of tactics, of value bins, and unlikelihood of failed tactics."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F

from nanoproof.common.dist import all_reduce_sum
from nanoproof.data.packing import KIND_CODES, PackedBatch
from nanoproof.gpt.model import GPT


@dataclass(frozen=True)
class LossWeights:
    """How the losses add up to one."""

    value: float
    unlikelihood: float = 0.0


@dataclass(frozen=True)
class Normalizers:
    """How many things each mean is over, in the whole batch on all ranks."""

    tactic_tokens: float
    values: float
    negative_sequences: float

    @classmethod
    def of(cls, batch: PackedBatch, device: torch.device) -> "Normalizers":
        """Counts of `batch`, summed over the ranks (a collective)."""
        tactic, value, negative = (batch.kinds == KIND_CODES[kind] for kind in ("tactic", "value", "negative"))
        sequences = batch.sequences[negative].unique().numel()
        counts = [float(tactic.sum()), float(value.sum()), float(sequences)]
        return cls(*(max(count, 1.0) for count in all_reduce_sum(counts, device)))


def transition_loss(
    model: GPT, batch: PackedBatch, weights: LossWeights, norms: Normalizers
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """This batch's share of the loss, and its parts (sums over the shares give means over the whole batch).

    tactic: mean -log p over tactic tokens; value: mean -log p over bins; negative: mean over failed tactics of the mean
    -log(1 - p) over their tokens (Welleck et al. 2020, "Neural text generation with unlikelihood training").
    """
    chosen = batch.kinds > 0
    logits_NV = model(batch.tokens, batch.layout(), chosen.flatten().nonzero().squeeze(1))
    targets_N, kinds_N = batch.targets[chosen], batch.kinds[chosen]
    nll_N = F.cross_entropy(logits_NV, targets_N, reduction="none")
    zero = nll_N.new_zeros(())
    is_tactic, is_value = kinds_N == KIND_CODES["tactic"], kinds_N == KIND_CODES["value"]
    is_negative = kinds_N == KIND_CODES["negative"]
    tactic = torch.where(is_tactic, nll_N, zero).sum() / norms.tactic_tokens
    value = torch.where(is_value, nll_N, zero).sum() / norms.values
    parts = {"tactic_loss": tactic.detach(), "value_loss": value.detach()}
    hits = (logits_NV.argmax(dim=-1) == targets_N) & is_tactic
    parts["tactic_token_accuracy"] = hits.sum() / norms.tactic_tokens
    loss = tactic + weights.value * value
    if weights.unlikelihood > 0:
        negative = _unlikelihood(nll_N[is_negative], batch.sequences[chosen][is_negative]) / norms.negative_sequences
        parts["unlikelihood_loss"] = negative.detach()
        loss = loss + weights.unlikelihood * negative
    return loss, parts


def _unlikelihood(nll_N: torch.Tensor, sequences_N: torch.Tensor) -> torch.Tensor:
    """Sum over sequences of the mean of -log(1 - p) over their tokens; p is kept below 1 - 1e-4, so it is finite."""
    if nll_N.numel() == 0:
        return nll_N.sum()
    penalty_N = -torch.log1p(-torch.exp(-nll_N).clamp(max=1 - 1e-4))
    _, inverse, counts = sequences_N.unique(return_inverse=True, return_counts=True)
    return (penalty_N / counts[inverse]).sum()
