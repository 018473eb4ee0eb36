"""Supervised finetuning done plainly: what packed training is compared with.

Every transition becomes two rows, `BOS state \\n <|tactic|> tactic EOS` and `BOS state \\n <|value|> <|bin|>`: the
state is encoded twice. The rows of a micro-batch are padded on the right to the longest of them; what counts precedes
the padding, so causal attention needs no mask for it. Only positions with a target pay for logits.

Shapes: B rows, T tokens of the longest row, N targets, V vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from nanoproof.data.transitions.packing import KIND_CODES, Example
from nanoproof.model.gpt import GPT
from nanoproof.training.loss import position_losses

NO_TARGET = -1


@dataclass(frozen=True)
class PlainRow:
    """One continuation behind its state; every token of the continuation but the first is a target."""

    tokens: list[int]
    num_targets: int
    is_value: bool


def plain_rows(examples: Sequence[Example]) -> list[PlainRow]:
    """Return two rows for each transition, in the order of the transitions."""
    rows = []
    for example in examples:
        for part in example.continuations:
            rows.append(PlainRow(example.prefix + part.tokens, len(part.tokens) - 1, part.kind == "value"))
    return rows


def padded(rows: Sequence[PlainRow], pad: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the tokens and targets, both (B, T); the last token of a row predicts nothing."""
    length = max(len(row.tokens) for row in rows)
    tokens_BT = torch.full((len(rows), length), pad)
    targets_BT = torch.full((len(rows), length), NO_TARGET)
    for index, row in enumerate(rows):
        size = len(row.tokens)
        tokens_BT[index, :size] = torch.tensor(row.tokens)
        targets_BT[index, size - 1 - row.num_targets : size - 1] = torch.tensor(row.tokens[-row.num_targets :])
    return tokens_BT.to(device), targets_BT.to(device)


def plain_gradients(
    model: GPT, examples: Sequence[Example], batch_size: int, value_weight: float, pad: int
) -> dict[str, float]:
    """Add the gradients of the mean losses over `examples`, in micro-batches of `batch_size` rows; the losses."""
    rows = plain_rows(examples)
    # Means over all of the step and not of each micro-batch, as ours are: the gradients are then the same.
    tactic_tokens = sum(row.num_targets for row in rows if not row.is_value)
    values = sum(row.is_value for row in rows)
    totals = {"tactic_loss": 0.0, "value_loss": 0.0}
    for start in range(0, len(rows), batch_size):
        part = rows[start : start + batch_size]
        tokens_BT, targets_BT = padded(part, pad, model.device)
        # Logits of targets alone, as the packed way has them: what is compared is reading states once.
        chosen = targets_BT != NO_TARGET
        logits_NV = model(tokens_BT, None, chosen.flatten().nonzero().squeeze(1))
        is_value_B = torch.tensor([row.is_value for row in part], device=model.device)
        is_value_N = is_value_B.repeat_interleave(chosen.sum(dim=1))
        kinds_N = torch.where(is_value_N, KIND_CODES["value"], KIND_CODES["tactic"])
        nll_N = position_losses(logits_NV, targets_BT[chosen], kinds_N)
        tactic_loss = nll_N[~is_value_N].sum() / tactic_tokens
        value_loss = nll_N[is_value_N].sum() / values
        (tactic_loss + value_weight * value_loss).backward()
        totals["tactic_loss"] += float(tactic_loss.detach())
        totals["value_loss"] += float(value_loss.detach())
    return {"loss": totals["tactic_loss"] + value_weight * totals["value_loss"], **totals}
