"""Examples with one prefix and several continuations, packed into rows without padding between them.

A transition is encoded once: the state is the prefix, the tactic and the proof depth are two continuations that both
see the prefix and not each other. Rows hold many examples; a block mask keeps them apart.

Shapes: B rows, T tokens in a row.
"""

import bisect
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import torch

from nanoproof.lean.types import Transition
from nanoproof.model.attention import RowLayout
from nanoproof.model.tokenizer import NUM_VALUE_BINS, Tokenizer
from nanoproof.policy.prompt import prefix_text

Kind = Literal["tactic", "value", "negative", "state_after"]
KIND_CODES: dict[Kind, int] = {"tactic": 1, "value": 2, "negative": 3, "state_after": 4}
NO_TARGET = -1


@dataclass(frozen=True, slots=True)
class Continuation:
    """Tokens after a prefix; every token but the first is a target, of the loss that `kind` names.

    One that `goes_on` does not start from the prefix: it continues the continuation before it, sees that too, and its
    first token is a target as well. `weight` is a factor on its loss.
    """

    tokens: list[int]
    kind: Kind
    weight: float = 1.0
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """A prefix and its continuations."""

    prefix: list[int]
    continuations: list[Continuation] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.prefix) + sum(len(item.tokens) for item in self.continuations)


@dataclass(frozen=True, slots=True)
class PackedBatch:
    """Rows of examples as tensors of shape [B, T], int64 but for `weights` (fp32).

    `segments` numbers the examples of a row from 1 (0 is padding), `branches` is 0 in a prefix and counts continuations
    from 1. Where something is to be predicted, `targets` says what, `kinds` in which loss (0 elsewhere), `weights` with
    which factor, and `sequences` numbers the continuations that targets belong to.
    """

    tokens: torch.Tensor
    positions: torch.Tensor
    segments: torch.Tensor
    branches: torch.Tensor
    targets: torch.Tensor
    kinds: torch.Tensor
    sequences: torch.Tensor
    weights: torch.Tensor

    def to(self, device: torch.device) -> "PackedBatch":
        """The same batch on `device`."""
        return PackedBatch(*(to_device(getattr(self, name), device) for name in self.__slots__))

    def rows(self, start: int, stop: int) -> "PackedBatch":
        """Rows `start` to `stop` as a batch of their own."""
        return PackedBatch(*(getattr(self, name)[start:stop] for name in self.__slots__))

    def chosen(self) -> torch.Tensor:
        """The flat indices at which something is to be predicted. Ask a batch on the CPU: a GPU would have to stop."""
        return self.kinds.flatten().nonzero().squeeze(1)

    def split(self, rows: int) -> list["PackedBatch"]:
        """Batches of so many rows each, the last of what remains."""
        return [self.rows(start, start + rows) for start in range(0, self.tokens.shape[0], rows)]

    def layout(self, prefix_lm: bool = False) -> RowLayout:
        """What the model must know of the rows besides their tokens."""
        return RowLayout(self.positions, self.segments, self.branches, prefix_lm)


def to_device(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """The tensor on `device`; to a GPU it goes through pinned memory, so that the CPU need not wait."""
    pinned = tensor.pin_memory() if device.type == "cuda" and not tensor.is_cuda else tensor
    return pinned.to(device, non_blocking=True)


@dataclass(frozen=True)
class ExampleLimits:
    """How long an example may be, in tokens; longer ones are left out of training."""

    state: int = 640
    tactic: int = 128
    sequence: int = 768


def encode_transitions(
    tokenizer: Tokenizer,
    transitions: Sequence[Transition],
    limits: ExampleLimits,
    *,
    negative: bool = False,
    state_after: bool = False,
    depth_weights: Sequence[float] | None = None,
) -> list[Example | None]:
    """Transitions as examples; None for those over the limits. A failed tactic (`negative`) has no value.

    With `state_after` the tactic's continuation goes on, behind its EOS, with the goals that the tactic leaves and
    another EOS, where they are known and there is room. `depth_weights` are factors on the value losses of the depths
    from 1 on.
    """
    states = tokenizer.encode_batch([prefix_text(item.state) for item in transitions])
    tactics = tokenizer.encode_batch([item.tactic for item in transitions])
    afters = tokenizer.encode_batch([item.state_after or "" for item in transitions]) if state_after else []
    examples: list[Example | None] = []
    for number, item in enumerate(transitions):
        prefix = [tokenizer.bos, *states[number]]
        tactic = [tokenizer.tactic, *tactics[number], tokenizer.eos]
        continuations = [Continuation(tactic, "negative" if negative else "tactic")]
        room = limits.sequence - len(prefix) - len(tactic)
        if not negative:
            depth = min(max(item.depth, 1), NUM_VALUE_BINS)
            weight = 1.0 if depth_weights is None else depth_weights[depth - 1]
            value = Continuation([tokenizer.value, tokenizer.bins[depth - 1]], "value", weight)
            room -= len(value.tokens)
            if state_after and item.state_after is not None and len(afters[number]) < room:
                continuations.append(Continuation([*afters[number], tokenizer.eos], "state_after", goes_on=True))
            continuations.append(value)
        too_long = len(prefix) > limits.state or len(tactic) > limits.tactic + 2 or room < 0
        examples.append(None if too_long else Example(prefix, continuations))
    return examples


def encode_transition(
    tokenizer: Tokenizer, transition: Transition, limits: ExampleLimits, negative: bool = False
) -> Example | None:
    """`encode_transitions` of a single one."""
    return encode_transitions(tokenizer, [transition], limits, negative=negative)[0]


def pack(examples: Sequence[Example], row_length: int, pad: int, rows_multiple: int = 1) -> PackedBatch:
    """Pack examples into as few rows of `row_length` tokens as best-fit decreasing needs; deterministic.

    Rows of padding fill up to a multiple of `rows_multiple`. Raises ValueError if an example is longer than a row.
    """
    lengths = [len(example) for example in examples]
    if lengths and max(lengths) > row_length:
        raise ValueError(f"an example of {max(lengths)} tokens does not fit in a row of {row_length}")
    rows = _best_fit(lengths, row_length)
    num_rows = -(-len(rows) // rows_multiple) * rows_multiple
    return _fill([[examples[index] for index in row] for row in rows], num_rows, row_length, pad)


def packing_order(examples: Sequence[Example], row_length: int) -> list[int]:
    """The places of the examples in their list, in the order in which `pack` puts them into its rows."""
    return [index for row in _best_fit([len(example) for example in examples], row_length) for index in row]


def _best_fit(lengths: Sequence[int], row_length: int) -> list[list[int]]:
    """Which examples go into which row: longest first, each into the fullest row that has room for it."""
    rows: list[list[int]] = []
    space: list[tuple[int, int]] = []  # what is left in a row, and its number; sorted
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        place = bisect.bisect_left(space, (lengths[index], -1))
        if place < len(space):
            left, row = space.pop(place)
        else:
            left, row = row_length, len(rows)
            rows.append([])
        rows[row].append(index)
        bisect.insort(space, (left - lengths[index], row))
    return rows


class _Piece(NamedTuple):
    """A prefix or a continuation in the flat batch: what all its tokens have alike."""

    length: int
    place: int  # of its first token in the flat batch
    position: int  # of its first token in the example
    segment: int
    branch: int
    kind: int
    weight: float
    untargeted: int  # tokens at its start that are no targets


def _pieces(example: Example, place: int, segment: int) -> Iterator[_Piece]:
    """The pieces of an example whose first token is at `place`."""
    size = prefix_size = len(example.prefix)
    yield _Piece(size, place, 0, segment, 0, 0, 0.0, size)
    position, branch = size, 0
    for item in example.continuations:
        place += size
        position = position + size if item.goes_on else prefix_size
        branch += not item.goes_on
        size = len(item.tokens)
        yield _Piece(
            size, place, position, segment, branch, KIND_CODES[item.kind], item.weight, 0 if item.goes_on else 1
        )


def _fill(rows: Sequence[Sequence[Example]], num_rows: int, row_length: int, pad: int) -> PackedBatch:
    pieces: list[_Piece] = []
    texts: list[list[int]] = []
    for row, examples in enumerate(rows):
        place = row * row_length
        for segment, example in enumerate(examples, start=1):
            pieces += _pieces(example, place, segment)
            texts += [example.prefix, *(item.tokens for item in example.continuations)]
            place += len(example)
    columns = np.array(pieces, dtype=np.float64).reshape(-1, len(_Piece._fields)).T
    lengths, places, positions, segments, branches, kinds, _, untargeted = columns.astype(np.int64)
    tokens = np.fromiter(itertools.chain.from_iterable(texts), dtype=np.int64, count=lengths.sum())
    piece = np.repeat(np.arange(len(lengths)), lengths)
    offset = np.arange(len(tokens)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    at = places[piece] + offset
    target = offset >= untargeted[piece]
    where, of = at[target] - 1, piece[target]  # a target stands where it is predicted: one place before its own
    flat = {name: np.zeros(num_rows * row_length, dtype=np.int64) for name in PackedBatch.__slots__}
    flat["weights"] = np.zeros(num_rows * row_length, dtype=np.float32)
    flat["tokens"][:], flat["targets"][:] = pad, NO_TARGET
    flat["tokens"][at] = tokens
    flat["positions"][at] = positions[piece] + offset
    flat["segments"][at] = segments[piece]
    flat["branches"][at] = branches[piece]
    flat["targets"][where] = tokens[target]
    flat["kinds"][where] = kinds[of]
    flat["sequences"][where] = of
    flat["weights"][where] = columns[_Piece._fields.index("weight")][of]
    return PackedBatch(*(torch.from_numpy(flat[name].reshape(num_rows, row_length)) for name in PackedBatch.__slots__))
