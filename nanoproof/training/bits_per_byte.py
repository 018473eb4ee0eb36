"""Validation on text: bits per byte, which does not depend on the vocabulary, nor on how the work is shared.

Shapes: R rows of validation text, B rows of a batch, T tokens in a row, V vocabulary.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch

from nanoproof.common.dist import DistInfo, all_reduce_sum
from nanoproof.gpt.model import GPT
from nanoproof.gpt.tokenizer import Tokenizer
from nanoproof.training.token_step import NO_TARGET

DOCUMENTS_AT_ONCE = 256


@dataclass(frozen=True)
class ValidationText:
    """Documents one behind the other, each with its BOS, cut into rows; every token but the first is a target once."""

    tokens_RT: torch.Tensor
    targets_RT: torch.Tensor
    bytes_V: torch.Tensor
    """How many bytes of text each token stands for; markers stand for none."""

    @classmethod
    def encode(cls, tokenizer: Tokenizer, texts: Iterable[str], row_length: int, max_tokens: int) -> "ValidationText":
        """The first `max_tokens` targets of `texts` (fewer where there are not so many)."""
        texts, parts, size = iter(texts), [], 0
        while size <= max_tokens and (documents := list(islice(texts, DOCUMENTS_AT_ONCE))):
            for tokens in tokenizer.encode_arrays(documents):
                parts += [np.array([tokenizer.bos]), tokens]
                size += len(tokens) + 1
        stream = np.concatenate([np.zeros(0), *parts]).astype(np.int64)[: max_tokens + 1]
        targets = max(0, len(stream) - 1)
        shape = (math.ceil(targets / row_length), row_length)
        tokens_RT, targets_RT = torch.full(shape, tokenizer.pad), torch.full(shape, NO_TARGET)
        tokens_RT.view(-1)[:targets] = torch.from_numpy(stream[:targets])
        targets_RT.view(-1)[:targets] = torch.from_numpy(stream[1:])
        return cls(tokens_RT, targets_RT, torch.from_numpy(tokenizer.token_bytes().astype(np.int64)))

    @property
    def num_targets(self) -> int:
        """Tokens that are predicted."""
        return int((self.targets_RT != NO_TARGET).sum())

    @property
    def num_bytes(self) -> int:
        """Bytes of the text that is predicted."""
        return int(self.bytes_V[self.targets_RT[self.targets_RT != NO_TARGET]].sum())


@torch.no_grad()
def bits_per_byte(
    model: GPT, text: ValidationText, batch_rows: int, dist: DistInfo, stopped: Callable[[], bool]
) -> dict[str, float]:
    """`bits_per_byte` of text, and `loss`, the mean over all targets; all ranks share the rows and get the same answer.

    `stopped` is asked by all ranks together before each batch; once it is true the result is empty.
    """
    model.eval()
    sums = torch.zeros(4, dtype=torch.float64)  # nats of text, bytes of text, nats of all targets, targets
    own = torch.arange(dist.rank, len(text.tokens_RT), dist.world_size)
    for start in range(0, math.ceil(len(text.tokens_RT) / dist.world_size), batch_rows):
        if stopped():
            return {}
        tokens_BT, targets_BT = _batch(text, own[start : start + batch_rows], batch_rows)
        losses = model.losses(tokens_BT.to(dist.device), targets_BT.to(dist.device)).flatten().cpu().double()
        targets = targets_BT.flatten()
        valid = targets != NO_TARGET
        sizes = torch.where(valid, text.bytes_V[targets.clamp(min=0)], 0)
        sums += torch.stack([losses[sizes > 0].sum(), sizes.sum().double(), losses.sum(), valid.sum().double()])
    text_nats, num_bytes, nats, num_targets = all_reduce_sum(sums.tolist(), dist.device)
    return {"bits_per_byte": text_nats / math.log(2) / max(num_bytes, 1.0), "loss": nats / max(num_targets, 1.0)}


def _batch(text: ValidationText, rows: torch.Tensor, batch_rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    """These rows, filled up to `batch_rows` with rows that have no targets, so that all batches have one shape."""
    shape = (batch_rows, text.tokens_RT.shape[1])
    tokens_BT, targets_BT = torch.zeros(shape, dtype=torch.int64), torch.full(shape, NO_TARGET)
    tokens_BT[: len(rows)], targets_BT[: len(rows)] = text.tokens_RT[rows], text.targets_RT[rows]
    return tokens_BT, targets_BT
