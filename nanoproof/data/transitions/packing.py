"""Transitions as tokens, a prefix with several continuations, packed into rows without padding between them.

A transition is encoded once: the state is the prefix; the tactic and the proof depth are two continuations that both
attend to the prefix and not to each other. Rows hold many examples; a block mask keeps them apart.

Shapes: B rows, T tokens in a row.
"""

import bisect
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import torch

from nanoproof.lean.types import Transition
from nanoproof.model.attention import RowLayout, to_device
from nanoproof.model.tokenizer import NUM_VALUE_BINS, Tokenizer
from nanoproof.policy.prompt import prefix_text

Kind = Literal["tactic", "value", "negative", "state_after"]
KIND_CODES: dict[Kind, int] = {"tactic": 1, "value": 2, "negative": 3, "state_after": 4}
NO_TARGET = -1


@dataclass(frozen=True, slots=True)
class Continuation:
    """Tokens after a prefix; every token but the first is a target, of the loss that `kind` names.

    With `follows_previous` it starts not from the prefix but from the continuation before it: it attends to that too,
    and its first token is a target as well. `weight` is a factor on its loss.
    """

    tokens: list[int]
    kind: Kind
    weight: float = 1.0
    follows_previous: bool = False


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
    from 1. At a position that predicts a token, `targets` holds that token (`NO_TARGET` elsewhere), `kinds` the code of
    its loss (0 elsewhere), `weights` its factor, and `sequences` the number of the continuation that it belongs to.
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
        """Copy the batch to `device`."""
        return self._each(lambda tensor: to_device(tensor, device))

    def rows(self, start: int, stop: int) -> "PackedBatch":
        """Return rows `start` to `stop` (exclusive) as a batch of their own."""
        return self._each(lambda tensor: tensor[start:stop])

    def _each(self, change: Callable[[torch.Tensor], torch.Tensor]) -> "PackedBatch":
        return PackedBatch(*(change(getattr(self, name)) for name in self.__slots__))

    def chosen(self) -> torch.Tensor:
        """Return the flat indices that have a target, int64. Call it on the CPU: on a GPU it would synchronize."""
        return self.kinds.flatten().nonzero().squeeze(1)

    def split(self, rows: int, rest: int | None = None) -> list["PackedBatch"]:
        """Split into batches of `rows` rows each; what remains is one, or batches of `rest` rows."""
        total = self.tokens.shape[0]
        whole = total - total % rows
        starts = [*range(0, whole, rows), *range(whole, total, rest or rows), total]
        return [self.rows(start, stop) for start, stop in itertools.pairwise(starts)]

    def layout(self, prefix_lm: bool = False, on_cpu: "PackedBatch | None" = None) -> RowLayout:
        """Return positions and mask of the rows, which the model needs besides their tokens.

        `on_cpu` is the batch from which this one was copied to a device.
        """
        origin = on_cpu.layout(prefix_lm) if on_cpu is not None else None
        return RowLayout(self.positions, self.segments, self.branches, prefix_lm, origin)


@dataclass(frozen=True)
class ExampleLimits:
    """Greatest lengths of an example in tokens; longer ones are left out of training."""

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
    whole_proofs: bool = False,
) -> list[Example | None]:
    """Encode transitions as examples; None for those over the limits. A failed tactic (`negative`) has no value.

    With `state_after` the tactic's EOS is followed by the goals that it leaves and another EOS, where these are known
    and the limit on the sequence allows it. `depth_weights` are factors on the value losses of the depths from 1 on.
    With `whole_proofs` a state is a statement, and its tactic the whole proof, which has a marker of its own.
    """
    marker = tokenizer.proof if whole_proofs else tokenizer.tactic
    kind: Kind = "negative" if negative else "tactic"
    # All texts of a kind at once: the tokenizer spreads them over threads.
    states = tokenizer.encode_batch([prefix_text(item.state) for item in transitions])
    tactics = tokenizer.encode_batch([item.tactic for item in transitions])
    afters: list[list[int]] = []
    if state_after:
        afters = tokenizer.encode_batch([item.state_after or "" for item in transitions])
    examples: list[Example | None] = []
    for number, item in enumerate(transitions):
        prefix = [tokenizer.bos, *states[number]]
        tactic = [marker, *tactics[number], tokenizer.eos]
        continuations = [Continuation(tactic, kind)]
        remaining = limits.sequence - len(prefix) - len(tactic)
        if not negative:
            depth = min(max(item.depth, 1), NUM_VALUE_BINS)  # the last bin stands for all longer proofs
            weight = depth_weights[depth - 1] if depth_weights is not None else 1.0
            value = Continuation([tokenizer.value, tokenizer.bins[depth - 1]], "value", weight)
            remaining -= len(value.tokens)
            # Without its goals a step is still worth learning, so the limit takes these first.
            if state_after and item.state_after is not None and len(afters[number]) < remaining:
                after = [*afters[number], tokenizer.eos]
                continuations.append(Continuation(after, "state_after", follows_previous=True))
            continuations.append(value)
        # The limit on a tactic is one on its text, without marker and EOS.
        if len(prefix) > limits.state or len(tactic) > limits.tactic + 2 or remaining < 0:
            examples.append(None)
        else:
            examples.append(Example(prefix, continuations))
    return examples


def encode_transition(
    tokenizer: Tokenizer, transition: Transition, limits: ExampleLimits, negative: bool = False
) -> Example | None:
    """Encode a single transition as `encode_transitions` does."""
    return encode_transitions(tokenizer, [transition], limits, negative=negative)[0]


def pack(examples: Sequence[Example], row_length: int, pad: int, rows_multiple: int = 1) -> PackedBatch:
    """Pack examples into as few rows of `row_length` tokens as best-fit decreasing needs; deterministic.

    Rows of padding fill up to a multiple of `rows_multiple`. Raises ValueError if an example is longer than a row.
    """
    lengths = list(map(len, examples))
    if lengths and max(lengths) > row_length:
        raise ValueError(f"an example of {max(lengths)} tokens does not fit in a row of {row_length}")
    rows = _best_fit(lengths, row_length)
    num_rows = -(-len(rows) // rows_multiple) * rows_multiple
    return _fill([[examples[index] for index in row] for row in rows], num_rows, row_length, pad)


def packing_order(examples: Sequence[Example], row_length: int) -> list[int]:
    """Return the indices of the examples in the order in which `pack` puts them into its rows."""
    return list(itertools.chain.from_iterable(_best_fit(list(map(len, examples)), row_length)))


def _best_fit(lengths: Sequence[int], row_length: int) -> list[list[int]]:
    """Return the indices of the examples of each row: longest first, each into the fullest row that it fits in."""
    rows: list[list[int]] = []
    space: list[tuple[int, int]] = []  # free tokens of a row, and its number; sorted
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        fitting = bisect.bisect_left(space, (lengths[index], -1))
        if fitting < len(space):
            left, row = space.pop(fitting)
        else:
            left, row = row_length, len(rows)
            rows.append([])
        rows[row].append(index)
        bisect.insort(space, (left - lengths[index], row))
    return rows


class _Piece(NamedTuple):
    """A prefix or a continuation in the flat batch, with what its tokens have in common."""

    length: int
    start: int  # index of its first token in the flat batch
    position: int  # of its first token in the example
    segment: int
    branch: int
    kind: int
    weight: float
    untargeted: int  # number of tokens at its start that are no targets


def _pieces(example: Example, start: int, segment: int) -> Iterator[_Piece]:
    """Yield the pieces of an example whose first token is at `start`."""
    size = prefix_size = len(example.prefix)
    yield _Piece(size, start, 0, segment, 0, 0, 0.0, size)
    position, branch = size, 0
    for item in example.continuations:
        start += size
        if item.follows_previous:
            position, untargeted = position + size, 0
        else:
            # Its first token is a marker, which the prompt has in inference: nothing is to predict it.
            position, untargeted = prefix_size, 1
            branch += 1
        size = len(item.tokens)
        yield _Piece(size, start, position, segment, branch, KIND_CODES[item.kind], item.weight, untargeted)


def _fill(rows: Sequence[Sequence[Example]], num_rows: int, row_length: int, pad: int) -> PackedBatch:
    """Write the examples of each row into tensors of `num_rows` rows; all pieces at once, since loops are slow."""
    pieces: list[_Piece] = []
    texts: list[list[int]] = []
    for row, examples in enumerate(rows):
        start = row * row_length
        for segment, example in enumerate(examples, start=1):
            pieces += _pieces(example, start, segment)
            texts += [example.prefix, *(item.tokens for item in example.continuations)]
            start += len(example)
    columns = np.array(pieces, dtype=np.float64).reshape(-1, len(_Piece._fields)).T  # (fields, pieces)
    lengths, starts, positions, segments, branches, kinds, _, untargeted = columns.astype(np.int64)
    tokens = np.fromiter(itertools.chain.from_iterable(texts), dtype=np.int64, count=lengths.sum())
    # From here on an entry for each token: the number of its piece, its place in that, its place in the flat batch.
    piece = np.repeat(np.arange(len(lengths)), lengths)
    offset = np.arange(len(tokens)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    at = starts[piece] + offset
    is_target = offset >= untargeted[piece]
    predicted_at = at[is_target] - 1  # the position before its own, where the target is stored
    predicted_piece = piece[is_target]
    flat = {name: np.zeros(num_rows * row_length, dtype=np.int64) for name in PackedBatch.__slots__}
    flat["weights"] = np.zeros(num_rows * row_length, dtype=np.float32)
    flat["tokens"][:], flat["targets"][:] = pad, NO_TARGET
    flat["tokens"][at] = tokens
    flat["positions"][at] = positions[piece] + offset
    flat["segments"][at] = segments[piece]
    flat["branches"][at] = branches[piece]
    flat["targets"][predicted_at] = tokens[is_target]
    flat["kinds"][predicted_at] = kinds[predicted_piece]
    flat["sequences"][predicted_at] = predicted_piece
    flat["weights"][predicted_at] = columns[_Piece._fields.index("weight")][predicted_piece]
    return PackedBatch(*(torch.from_numpy(flat[name].reshape(num_rows, row_length)) for name in PackedBatch.__slots__))
