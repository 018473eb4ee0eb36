"""The losses of models of transformers: those of networks of ours (`loss.py`), on rows of a prompt and an answer.

Likelihood of answers, unlikelihood of failed ones, and the value head's bins at the end of the prompt, all of one
forward pass.

Shapes: R rows, N tokens of all answers, V tokens of the vocabulary, B bins.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
import torch.nn.functional as F

from nanoproof.common.distributed import all_reduce_sum
from nanoproof.inference.value_head import ValueHead
from nanoproof.training.hub_examples import TokenizedExample, answer_logits
from nanoproof.training.loss import LossWeights, Normalizers, token_unlikelihood


def normalizers(examples: Sequence[TokenizedExample]) -> Normalizers:
    """Count what each mean is over, in the examples of all ranks (a collective)."""
    tokens = values = failed = 0.0
    for example in examples:
        if example.negative:
            failed += 1
        else:
            tokens += example.weight * len(example.answer)
        values += example.depth > 0
    # A kind that does not occur has a loss of 0, whatever it is divided by.
    counts = all_reduce_sum([tokens, values, failed])
    return Normalizers(*(count or 1.0 for count in counts))


def by_length(examples: Sequence[TokenizedExample], rows: int) -> Iterator[Sequence[TokenizedExample]]:
    """Yield batches of so many examples of about the same length, which need little padding."""
    ordered = sorted(examples, key=lambda example: example.length)
    for first in range(0, len(ordered), rows):
        yield ordered[first : first + rows]


def by_tokens(examples: Sequence[TokenizedExample], most: int) -> Iterator[Sequence[TokenizedExample]]:
    """Yield batches of about the same length with at most so many tokens, padding included, or a single example."""
    batch: list[TokenizedExample] = []
    for example in sorted(examples, key=lambda example: example.length):
        # The one that comes is the longest: all rows are padded to it.
        # Counted with padding, since that is what memory holds.
        if batch and example.length * (len(batch) + 1) > most:
            yield batch
            batch = []
        batch.append(example)
    if batch:
        yield batch


def example_loss(
    model: Any,
    head: ValueHead | None,
    examples: Sequence[TokenizedExample],
    weights: LossWeights,
    norms: Normalizers,
    pad: int,
    start: int,
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Compute the share of some examples in the loss, and its parts by the names that `LossWeights.part_names` has.

    Sums over the shares of all batches and ranks are means, as in `transition_loss`: of -log p over the tokens of
    answers, by their weights; of -log p over the values, each times its weight; of failed answers the mean over them
    of the mean of -log(1 - p) over their tokens. Without a `head` nothing is learned of values. `pad` and `start` are
    those of `answer_logits`.
    """
    # One pass for all three losses: the state's prompt is most of what is read.
    outputs = answer_logits(model, examples, pad, start)
    device = outputs.logits_NV.device
    nll_N = F.cross_entropy(outputs.logits_NV, outputs.targets_N, reduction="none")
    shares, failed = [], []
    for example in examples:
        shares.append(example.weight * (not example.negative) / norms.tactic_tokens)
        # Each failed tactic counts alike, however long it is: else long ones would be unlearned most.
        failed.append(float(example.negative) / (max(1, len(example.answer)) * norms.negative_sequences))
    shares_N = torch.tensor(shares, device=device)[outputs.rows_N]
    tactic = (nll_N * shares_N).sum()
    hits_N = outputs.logits_NV.argmax(dim=-1) == outputs.targets_N
    parts = {"tactic_loss": tactic.detach(), "tactic_token_accuracy": (hits_N * shares_N).sum()}
    loss = tactic
    # An encoder-decoder has no one place where the state ends for its decoder, and so no value.
    value = torch.zeros((), device=device)
    if head is not None and outputs.states_RC is not None:
        value = _value_loss(head(outputs.states_RC), examples) / norms.values
        loss = loss + weights.value * value
    parts["value_loss"] = value.detach()
    if weights.unlikelihood > 0:
        negative = (token_unlikelihood(nll_N) * torch.tensor(failed, device=device)[outputs.rows_N]).sum()
        parts["unlikelihood_loss"] = negative.detach()
        loss = loss + weights.unlikelihood * negative
    return loss, parts


def _value_loss(logits_RB: torch.Tensor, examples: Sequence[TokenizedExample]) -> torch.Tensor:
    """Return the weighted sum of -log p of the depths of examples, of those that have one."""
    bins, factors = [], []
    for example in examples:
        # Any bin for an example without a depth, whose factor is 0: so rows need not be picked out.
        bins.append(max(example.depth, 1) - 1)
        factors.append(example.value_weight * (example.depth > 0))
    nll_R = F.cross_entropy(logits_RB, torch.tensor(bins, device=logits_RB.device), reduction="none")
    return (nll_R * torch.tensor(factors, device=logits_RB.device)).sum()
