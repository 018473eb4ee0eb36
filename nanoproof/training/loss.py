"""The losses on packed examples: cross-entropy of tactics, value bins and next goals, unlikelihood of failed tactics.

Also per token, for people to read, and summed over each tactic. Shapes: N positions with a target, V vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

from nanoproof.common.distributed import all_reduce_sum
from nanoproof.data.transitions.packing import KIND_CODES, Example, PackedBatch, pack, packing_order, to_device
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.training.batches import pack_for, split_for
from nanoproof.training.options import BatchOptions


@dataclass(frozen=True)
class LossWeights:
    """How the losses add up to one, beside that of the tactics."""

    value: float
    unlikelihood: float = 0.0
    state_after: float = 0.0

    def part_names(self) -> list[str]:
        """Return the names of the parts that `transition_loss` returns."""
        names = ["tactic_loss", "value_loss", "tactic_token_accuracy"]
        names += ["unlikelihood_loss"] if self.unlikelihood > 0 else []
        return names + (["state_after_loss"] if self.state_after > 0 else [])


@dataclass(frozen=True)
class Normalizers:
    """What each mean is over, in the whole batch on all ranks: counts, for tactics the sum of their tokens' weights."""

    tactic_tokens: float
    values: float
    negative_sequences: float
    state_after_tokens: float = 1.0

    @classmethod
    def of(cls, batch: PackedBatch) -> "Normalizers":
        """Count what `batch` has, summed over the ranks (a collective)."""
        of_kind = {kind: batch.kinds == code for kind, code in KIND_CODES.items()}
        sequences = batch.sequences[of_kind["negative"]].unique().numel()
        tokens = {kind: float(mask.sum()) for kind, mask in of_kind.items()}
        tactic = float(batch.weights[of_kind["tactic"]].double().sum())
        counts = [tactic, tokens["value"], float(sequences), tokens["state_after"]]
        return cls(*(count if count > 0 else 1.0 for count in all_reduce_sum(counts)))


def position_losses(
    logits_NV: torch.Tensor, targets_N: torch.Tensor, kinds_N: torch.Tensor, reduction: str = "none"
) -> torch.Tensor:
    """Compute the loss of each position (N,), or with the reduction "sum" of all: -log p, whatever its kind.

    Training, the metrics of held-out data, the page and the plain baseline of the benchmarks all take it from here:
    whoever changes what a value costs does so for positions of KIND_CODES["value"], once.
    """
    return F.cross_entropy(logits_NV, targets_N, reduction=reduction)


def transition_loss(
    model: GPT, batch: PackedBatch, weights: LossWeights, norms: Normalizers
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Compute this batch's share of the loss, and its parts; sums over the shares are means over the whole batch.

    tactic, state_after: mean -log p over their tokens; value: mean -log p over bins; negative: mean over failed tactics
    of the mean -log(1 - p) over their tokens (Welleck et al. 2020, "Neural text generation with unlikelihood
    training"). Likelihoods are weighted by those of the batch. The mean over tactics is a weighted one (that of the
    Self-play Theorem Prover, arXiv 2502.00212); elsewhere weights do not count in the means' denominators.

    The batch comes on the CPU and is moved to the model.
    """
    # What depends on the data in its shape (how many targets, which are of failed tactics) is computed on the CPU: on a
    # GPU each `nonzero` would wait for all that was launched.
    on_cpu, batch = batch, batch.to(model.device)
    chosen_N = to_device(on_cpu.chosen(), model.device)
    targets_N, kinds_N, weights_N = (x.flatten()[chosen_N] for x in (batch.targets, batch.kinds, batch.weights))
    logits_NV = model(batch.tokens, batch.layout(model.config.prefix_lm, on_cpu), chosen_N)
    nll_N = position_losses(logits_NV, targets_N, kinds_N)
    weighted_N = nll_N * weights_N
    tactic = _sum_where(kinds_N == KIND_CODES["tactic"], weighted_N) / norms.tactic_tokens
    value = _sum_where(kinds_N == KIND_CODES["value"], weighted_N) / norms.values
    parts = {"tactic_loss": tactic.detach(), "value_loss": value.detach()}
    # Over the whole vocabulary, markers too, which no sample can be: below the accuracy of `policy_metrics`, if
    # anything.
    hits = (logits_NV.argmax(dim=-1) == targets_N) & (kinds_N == KIND_CODES["tactic"])
    parts["tactic_token_accuracy"] = (hits * weights_N).sum() / norms.tactic_tokens
    loss = tactic + weights.value * value
    if weights.state_after > 0:
        after = _sum_where(kinds_N == KIND_CODES["state_after"], weighted_N) / norms.state_after_tokens
        parts["state_after_loss"] = after.detach()
        loss = loss + weights.state_after * after
    if weights.unlikelihood > 0:
        failed_F, lengths_F = (to_device(x, model.device) for x in _failed(on_cpu))
        negative = (token_unlikelihood(nll_N[failed_F]) / lengths_F).sum() / norms.negative_sequences
        parts["unlikelihood_loss"] = negative.detach()
        loss = loss + weights.unlikelihood * negative
    return loss, parts


def _sum_where(mask_N: torch.Tensor, values_N: torch.Tensor) -> torch.Tensor:
    # Not `values_N[mask_N]`, whose shape a GPU has to be waited for.
    return torch.where(mask_N, values_N, values_N.new_zeros(())).sum()


def _failed(batch: PackedBatch) -> tuple[torch.Tensor, torch.Tensor]:
    """Return which positions with a target are of failed tactics, (F,), and how many tokens each one's tactic has."""
    chosen_N = batch.chosen()
    failed_F = (batch.kinds.flatten()[chosen_N] == KIND_CODES["negative"]).nonzero().squeeze(1)
    sequences_F = batch.sequences.flatten()[chosen_N][failed_F]
    _, inverse, counts = sequences_F.unique(return_inverse=True, return_counts=True)
    return failed_F, counts[inverse]


def token_unlikelihood(nll_N: torch.Tensor) -> torch.Tensor:
    """Return -log(1 - p) of tokens from their -log p; p is kept below 1 - 1e-4, so it is finite."""
    return -torch.log1p(-torch.exp(-nll_N).clamp(max=1 - 1e-4))


# -- Losses token by token, for people who want to see what is learned -----------------------------------------------

MAX_TOKENS = 800
"""Of an example, its last ones: the tactic is at the end."""


def token_losses(
    model: GPT, tokenizer: Tokenizer, examples: Sequence[Example], options: BatchOptions
) -> list[dict[str, Any]]:
    """Return for each example its `tokens` as texts, their `losses` (None for those without a target), and their mean.

    Those of a failed tactic are -log(1 - p). The network sees them in the shape that it sees in training, so that a
    compiled one need not be compiled anew; what does not fit into `device_batch_size` rows is left out.
    """
    model.eval()
    packed = pack(examples, options.row_length, tokenizer.pad, options.device_batch_size)
    packed = packed.rows(0, options.device_batch_size)
    chosen_N, batch = to_device(packed.chosen(), model.device), packed.to(model.device)
    with torch.set_grad_enabled(model.compiled_block is not None):  # compiled for training, not once more
        logits_NV = model(batch.tokens, batch.layout(model.config.prefix_lm, packed), chosen_N).detach()
    targets_N, kinds_N = (x.flatten()[chosen_N] for x in (batch.targets, batch.kinds))
    nll_N = position_losses(logits_NV.float(), targets_N, kinds_N)
    loss_N = torch.where(kinds_N == KIND_CODES["negative"], token_unlikelihood(nll_N), nll_N)
    loss_of = dict(zip((chosen_N + 1).tolist(), loss_N.tolist()))  # a target is one position before its token
    rows, row_length = packed.tokens.tolist(), packed.tokens.shape[1]
    found: dict[tuple[int, ...], dict[str, Any]] = {}
    for row, segments in enumerate(packed.segments.tolist()):
        for segment in range(1, max(segments) + 1):
            positions = [position for position, number in enumerate(segments) if number == segment]
            tokens = tuple(rows[row][position] for position in positions)
            losses = [loss_of.get(row * row_length + position) for position in positions]
            found[tokens] = _shown(tokenizer, tokens, losses)
    return [found[tokens] for example in examples if (tokens := _tokens(example)) in found]


def _tokens(example: Example) -> tuple[int, ...]:
    return (*example.prefix, *(token for item in example.continuations for token in item.tokens))


def _shown(tokenizer: Tokenizer, tokens: Sequence[int], losses: Sequence[float | None]) -> dict[str, Any]:
    """Write an example as JSON; the mean is over all of its losses, also of tokens that are not shown."""
    known = [loss for loss in losses if loss is not None]
    mean = None
    if known:
        mean = round(sum(known) / len(known), 4)
    shown = [loss if loss is None else round(loss, 4) for loss in losses[-MAX_TOKENS:]]
    return {"tokens": list(map(tokenizer.describe, tokens[-MAX_TOKENS:])), "losses": shown, "loss": mean}


# -- Log-probabilities of tactics ------------------------------------------------------------------------------------


def tactic_logprobs(model: GPT, pad: int, examples: Sequence[Example], options: BatchOptions) -> list[float]:
    """Sum the log-probabilities (nats) of the tokens of each example's tactic, its first continuation, with its EOS."""
    model.eval()
    if not examples:
        return []
    alone = [Example(item.prefix, item.continuations[:1]) for item in examples]
    sums = torch.zeros(len(alone), dtype=torch.float64)
    for rows in split_for(model, pack_for(model, alone, options, pad), options):
        chosen_N, batch = to_device(rows.chosen(), model.device), rows.to(model.device)
        with torch.set_grad_enabled(model.compiled_block is not None):  # compiled for training, not once more
            logits_NV = model(batch.tokens, batch.layout(model.config.prefix_lm, rows), chosen_N).detach()
        targets_N, sequences_N = (x.flatten()[chosen_N] for x in (batch.targets, batch.sequences))
        logprobs_N = -F.cross_entropy(logits_NV.float(), targets_N, reduction="none")
        sums.index_add_(0, sequences_N.cpu() // 2, logprobs_N.cpu().double())  # each has a prefix and a tactic
    return [total for _, total in sorted(zip(packing_order(alone, options.row_length), sums.tolist()))]
