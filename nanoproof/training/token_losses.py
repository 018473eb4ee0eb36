"""Examples with the loss of each of their tokens, for people who want to see what is learned from.

Shapes: N places where something is to be predicted, V vocabulary.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F

from nanoproof.data.packing import KIND_CODES, Example, to_device
from nanoproof.gpt.model import GPT
from nanoproof.gpt.tokenizer import Tokenizer
from nanoproof.training.batches import pack_for
from nanoproof.training.loss import token_unlikelihood
from nanoproof.training.options import BatchOptions

MAX_TOKENS = 800
"""Of an example, its last ones: the tactic is at the end."""


def token_losses(
    model: GPT, tokenizer: Tokenizer, examples: Sequence[Example], options: BatchOptions
) -> list[dict[str, Any]]:
    """For each example its `tokens` as texts, their `losses` (None where nothing was to be predicted), and their mean.

    Those of a failed tactic are -log(1 - p). The network sees them in the shape that it sees in training, so that a
    compiled one need not be compiled anew; what does not fit into `device_batch_size` rows is left out.
    """
    packed = pack_for(model, examples, options, tokenizer.pad).split(options.device_batch_size)[0]
    chosen_N, batch = to_device(packed.chosen(), model.device), packed.to(model.device)
    with torch.set_grad_enabled(model.compiled_stream is not None):
        logits_NV = model(batch.tokens, batch.layout(model.config.prefix_lm), chosen_N).detach()
    targets_N, kinds_N = (x.flatten()[chosen_N] for x in (batch.targets, batch.kinds))
    nll_N = F.cross_entropy(logits_NV.float(), targets_N, reduction="none")
    loss_N = torch.where(kinds_N == KIND_CODES["negative"], token_unlikelihood(nll_N), nll_N)
    loss_of = dict(zip((chosen_N + 1).tolist(), loss_N.tolist()))  # a target stands one place before its token
    rows, row_length = packed.tokens.tolist(), packed.tokens.shape[1]
    found: dict[tuple[int, ...], dict[str, Any]] = {}
    for row, segments in enumerate(packed.segments.tolist()):
        for segment in range(1, max(segments) + 1):
            places = [place for place, number in enumerate(segments) if number == segment]
            tokens = tuple(rows[row][place] for place in places)
            losses = [loss_of.get(row * row_length + place) for place in places]
            found[tokens] = _shown(tokenizer, tokens, losses)
    return [found[tokens] for example in examples if (tokens := _tokens(example)) in found]


def _tokens(example: Example) -> tuple[int, ...]:
    return (*example.prefix, *(token for item in example.continuations for token in item.tokens))


def _shown(tokenizer: Tokenizer, tokens: Sequence[int], losses: Sequence[float | None]) -> dict[str, Any]:
    known = [loss for loss in losses if loss is not None]
    return {
        "tokens": [tokenizer.describe(token) for token in tokens[-MAX_TOKENS:]],
        "losses": [None if loss is None else round(loss, 4) for loss in losses[-MAX_TOKENS:]],
        "loss": round(sum(known) / len(known), 4) if known else None,
    }
