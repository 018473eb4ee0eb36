"""Examples with one prefix and several continuations, packed into rows without padding between them.

A transition is encoded once: the state is the prefix, the tactic and the proof depth are two continuations that both
see the prefix and not each other. Rows hold many examples; a block mask keeps them apart.

Shapes: B rows, T tokens in a row.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch

from nanoproof.common.suggestion import NUM_VALUE_BINS
from nanoproof.data.transitions import Transition
from nanoproof.gpt.layout import RowLayout
from nanoproof.gpt.tokenizer import Tokenizer
from nanoproof.policy.prompt import prefix_tokens

Kind = Literal["tactic", "value", "negative"]
KIND_CODES: dict[Kind, int] = {"tactic": 1, "value": 2, "negative": 3}
NO_TARGET = -1


@dataclass(frozen=True, slots=True)
class Continuation:
    """Tokens after a prefix; every token but the first is a target, of the loss that `kind` names."""

    tokens: list[int]
    kind: Kind


@dataclass(frozen=True, slots=True)
class Example:
    """A prefix and its continuations."""

    prefix: list[int]
    continuations: list[Continuation] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.prefix) + sum(len(item.tokens) for item in self.continuations)


@dataclass(frozen=True, slots=True)
class PackedBatch:
    """Rows of examples as int64 tensors of shape [B, T], and how many targets each loss has.

    `segments` numbers the examples of a row from 1 (0 is padding), `branches` is 0 in a prefix and counts continuations
    from 1, `kinds` says which loss a target belongs to (0: none), `sequences` numbers the continuations of the batch.
    """

    tokens: torch.Tensor
    positions: torch.Tensor
    segments: torch.Tensor
    branches: torch.Tensor
    targets: torch.Tensor
    kinds: torch.Tensor
    sequences: torch.Tensor

    def to(self, device: torch.device) -> "PackedBatch":
        """The same batch on `device`."""
        return PackedBatch(*(getattr(self, name).to(device, non_blocking=True) for name in self.__slots__))

    def rows(self, start: int, stop: int) -> "PackedBatch":
        """Rows `start` to `stop` as a batch of their own."""
        return PackedBatch(*(getattr(self, name)[start:stop] for name in self.__slots__))

    def layout(self, prefix_lm: bool = False) -> RowLayout:
        """What the model must know of the rows besides their tokens."""
        return RowLayout(self.positions, self.segments, self.branches, prefix_lm)


@dataclass(frozen=True)
class ExampleLimits:
    """How long an example may be, in tokens; longer ones are left out of training."""

    state: int = 640
    tactic: int = 128
    sequence: int = 768


def encode_transition(
    tokenizer: Tokenizer, transition: Transition, limits: ExampleLimits, negative: bool = False
) -> Example | None:
    """A transition as an example; None if it is over the limits. A failed tactic (`negative`) has no value."""
    prefix = prefix_tokens(tokenizer, transition.state)
    tactic = [tokenizer.tactic, *tokenizer.encode(transition.tactic), tokenizer.bos]
    continuations = [Continuation(tactic, "negative" if negative else "tactic")]
    if not negative:
        depth = min(max(transition.depth, 1), NUM_VALUE_BINS)
        continuations.append(Continuation([tokenizer.value, tokenizer.bins[depth - 1]], "value"))
    example = Example(prefix, continuations)
    too_long = len(prefix) > limits.state or len(tactic) > limits.tactic + 2 or len(example) > limits.sequence
    return None if too_long else example


def pack(examples: Sequence[Example], row_length: int, pad: int) -> PackedBatch:
    """Pack examples into as few rows of `row_length` tokens as best-fit decreasing needs; deterministic.

    Raises ValueError if an example is longer than a row.
    """
    rows: list[list[Example]] = []
    space: list[int] = []
    for example in sorted(examples, key=len, reverse=True):
        size = len(example)
        if size > row_length:
            raise ValueError(f"an example of {size} tokens does not fit in a row of {row_length}")
        fitting = [(left, index) for index, left in enumerate(space) if left >= size]
        if fitting:
            _, index = min(fitting)
        else:
            index = len(rows)
            rows.append([])
            space.append(row_length)
        rows[index].append(example)
        space[index] -= size
    return _fill(rows, row_length, pad)


def _fill(rows: list[list[Example]], row_length: int, pad: int) -> PackedBatch:
    shape = (len(rows), row_length)
    arrays = {name: np.zeros(shape, dtype=np.int64) for name in PackedBatch.__slots__}
    arrays["tokens"][:] = pad
    arrays["targets"][:] = NO_TARGET
    sequence = 0
    for row, examples in enumerate(rows):
        start = 0
        for segment, example in enumerate(examples, start=1):
            stop, prefix_length = start + len(example), len(example.prefix)
            arrays["segments"][row, start:stop] = segment
            arrays["tokens"][row, start : start + prefix_length] = example.prefix
            arrays["positions"][row, start : start + prefix_length] = np.arange(prefix_length)
            at = start + prefix_length
            for branch, continuation in enumerate(example.continuations, start=1):
                tokens = continuation.tokens
                end = at + len(tokens)
                sequence += 1
                arrays["tokens"][row, at:end] = tokens
                arrays["positions"][row, at:end] = np.arange(prefix_length, prefix_length + len(tokens))
                arrays["branches"][row, at:end] = branch
                arrays["sequences"][row, at:end] = sequence
                arrays["targets"][row, at : end - 1] = tokens[1:]
                arrays["kinds"][row, at : end - 1] = KIND_CODES[continuation.kind]
                at = end
            start = stop
    return PackedBatch(*(torch.from_numpy(arrays[name]) for name in PackedBatch.__slots__))
