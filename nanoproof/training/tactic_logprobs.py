"""How probable the network finds the tactics of examples.

Shapes: N places where something is to be predicted, V vocabulary.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F

from nanoproof.data.packing import Example, packing_order, to_device
from nanoproof.gpt.model import GPT
from nanoproof.training.batches import pack_for
from nanoproof.training.options import BatchOptions


def tactic_logprobs(model: GPT, pad: int, examples: Sequence[Example], options: BatchOptions) -> list[float]:
    """The log-probability of each example's tactic (its first continuation), from its first token to its end."""
    alone = [Example(item.prefix, item.continuations[:1]) for item in examples]
    sums = torch.zeros(len(alone), dtype=torch.float64)
    for rows in pack_for(model, alone, options, pad).split(options.device_batch_size) if alone else ():
        chosen_N, batch = to_device(rows.chosen(), model.device), rows.to(model.device)
        with torch.set_grad_enabled(model.compiled_stream is not None):  # compiled for training, not once more
            logits_NV = model(batch.tokens, batch.layout(model.config.prefix_lm), chosen_N).detach()
        targets_N, sequences_N = (x.flatten()[chosen_N] for x in (batch.targets, batch.sequences))
        logprobs_N = -F.cross_entropy(logits_NV.float(), targets_N, reduction="none")
        sums.index_add_(0, sequences_N.cpu() // 2, logprobs_N.cpu().double())  # each has a prefix and a tactic
    return [total for _, total in sorted(zip(packing_order(alone, options.row_length), sums.tolist()))]
