"""Stacks of equal things (matrices of one shape, rows of one weight) that are dealt over the ranks in equal blocks.

The optimizer works on stacks only: the gradients of a stack are summed over the ranks so that each rank receives its
own block, it updates that block, and the new weights of all blocks are gathered. One rank alone owns everything, by
the same code.

Shapes: W ranks, P items per rank (the last blocks may hold empty items), X the shape of an item.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass(frozen=True)
class Part:
    """Consecutive rows of a parameter."""

    name: str
    parameter: torch.nn.Parameter
    start: int
    rows: int

    def of(self, tensor: torch.Tensor) -> torch.Tensor:
        """These rows of a tensor that is shaped like the parameter."""
        return tensor[self.start : self.start + self.rows]


@dataclass(frozen=True)
class Piece:
    """What a rank owns of a part: rows of a parameter, and the items of the rank's block that hold them."""

    part: Part
    items: slice

    def rows_of(self, block: torch.Tensor) -> torch.Tensor:
        """These rows (shaped like the parameter's) of a tensor (P, *X), as a view."""
        return block[self.items].view(self.part.rows, *self.part.parameter.shape[1:])


@dataclass(frozen=True)
class Pending:
    """A tensor that a collective is still filling; `source` is kept alive until then."""

    tensor: torch.Tensor
    source: torch.Tensor | None = None
    work: dist.Work | None = None

    def wait(self) -> torch.Tensor:
        """The filled tensor (on a GPU: later kernels of this stream see it filled)."""
        if self.work is not None:
            self.work.wait()
        return self.tensor


class Stack:
    """Parts of parameters as items of one shape; this rank owns the items `rank * P` to `(rank + 1) * P`."""

    def __init__(self, parts: Sequence[Part], item_shape: Sequence[int], rank: int, world_size: int) -> None:
        self.parts, self.item_shape, self.world_size = list(parts), tuple(item_shape), world_size
        self.rows_per_item = math.prod(self.item_shape) // math.prod(self.parts[0].parameter.shape[1:])
        counts = [part.rows // self.rows_per_item for part in self.parts]
        self.per_rank = math.ceil(sum(counts) / world_size)
        self.pieces: list[Piece] = []
        first, offset = rank * self.per_rank, 0
        for part, count in zip(self.parts, counts):
            begin, end = max(offset, first), min(offset + count, first + self.per_rank)
            if begin < end:
                start = part.start + (begin - offset) * self.rows_per_item
                owned = Part(part.name, part.parameter, start, (end - begin) * self.rows_per_item)
                self.pieces.append(Piece(owned, slice(begin - first, end - first)))
            offset += count

    def zeros(self) -> torch.Tensor:
        """A block of this rank, for optimizer state: (P, *X)."""
        like = self.parts[0].parameter
        return torch.zeros(self.per_rank, *self.item_shape, dtype=torch.float32, device=like.device)

    def reduce_gradients(self) -> Pending:
        """Start summing the gradients over all ranks: this rank's block, (P, *X).

        A parameter without gradient counts as zero, so that ranks whose batches differ still take part alike.
        """
        parts = [
            torch.zeros_like(part.of(part.parameter)) if part.parameter.grad is None else part.of(part.parameter.grad)
            for part in self.parts
        ]
        stack = self._stacked(parts, self.per_rank * self.world_size)
        if self.world_size == 1:
            return Pending(stack)
        block = stack.new_empty(self.per_rank, *self.item_shape)
        return Pending(block, stack, dist.reduce_scatter_single(block, stack, async_op=True))

    def own_weights(self) -> torch.Tensor:
        """A copy of the weights that this rank owns, (P, *X)."""
        return self._stacked([piece.part.of(piece.part.parameter.detach()) for piece in self.pieces], self.per_rank)

    def gather_weights(self, block: torch.Tensor) -> Pending:
        """Start collecting the blocks of all ranks; see `write_weights`."""
        if self.world_size == 1:
            return Pending(block)
        stack = block.new_empty(self.per_rank * self.world_size, *self.item_shape)
        return Pending(stack, block, dist.all_gather_single(stack, block, async_op=True))

    def write_weights(self, pending: Pending) -> None:
        """Copy what `gather_weights` collected into the parameters: the same bits on every rank."""
        stack, offset = pending.wait(), 0
        for part in self.parts:
            count = part.rows // self.rows_per_item
            target = part.of(part.parameter.detach())
            target.copy_(stack[offset : offset + count].reshape(target.shape))
            offset += count

    def _stacked(self, tensors: list[torch.Tensor], count: int) -> torch.Tensor:
        items = [tensor.reshape(-1, *self.item_shape) for tensor in tensors]
        missing = count - sum(len(item) for item in items)
        if missing or not items:
            device = self.parts[0].parameter.device
            items.append(torch.zeros((), device=device).expand(missing, *self.item_shape))
        return torch.cat(items)
