"""Rows of documents: every row begins with BOS, next to no place is left free, and next to no token is lost.

A document is BOS and its tokens. One that is longer than a row is cut into pieces of a row's size, each with a BOS of
its own. Pieces are put into rows longest first, each row being closed by a piece, or two, that fit exactly; only where
there are none, the last piece of the row is cropped, and of all choices the one that loses least is taken. A single
place that is left holds a BOS, the end of the last document. Padding ends the last row, and a row whose gap is so small
that cropping would lose more than it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

PADDING = -1
SHORTEST = 2
"""BOS and one token."""


@dataclass(frozen=True)
class PackedRows:
    """Rows (R, C) of token numbers, `PADDING` where there is none; tokens of text that are in them, and lost ones."""

    rows_RC: np.ndarray
    tokens: int
    dropped: int

    @property
    def padding(self) -> int:
        """Places without a token."""
        return int((self.rows_RC == PADDING).sum())


class _Pool:
    """Pieces that are not yet in a row, by length."""

    def __init__(self, lengths: Sequence[int], capacity: int) -> None:
        self._by_length: list[list[int]] = [[] for _ in range(capacity + 1)]
        self.count = np.zeros(capacity + 1, dtype=np.int64)
        for piece, length in enumerate(lengths):
            self._by_length[length].append(piece)
            self.count[length] += 1

    def take(self, length: int) -> tuple[int, int]:
        """A piece of this length, and the length."""
        self.count[length] -= 1
        return self._by_length[length].pop(), length

    def lengths(self) -> np.ndarray:
        """The lengths there are, ascending."""
        return np.flatnonzero(self.count)


def plan_rows(lengths: Sequence[int], capacity: int) -> list[list[tuple[int, int]]]:
    """Rows of (piece, tokens used of it) for pieces of these lengths; only the last piece of a row is ever cropped.

    A row is left short only where the gap is smaller than what cropping a piece for it would lose.
    """
    pool = _Pool(lengths, capacity)
    rows: list[list[tuple[int, int]]] = []
    while len(available := pool.lengths()):
        row = [pool.take(int(available[-1]))]
        gap = capacity - row[0][1]
        while gap > 1 and len(available := pool.lengths()):
            chosen, loss = _close(pool.count, available, gap)
            if loss > gap and gap < available[0]:
                break
            if not chosen:  # the longest that leaves room for others
                chosen = (int(available[np.searchsorted(available, gap, side="right") - 1]),)
            for length in chosen:
                piece, whole = pool.take(length)
                row.append((piece, min(whole, gap)))
                gap -= row[-1][1]
        rows.append(row)
    return rows


def _close(count: np.ndarray, available: np.ndarray, gap: int) -> tuple[tuple[int, ...], int]:
    """The one or two lengths that fill the gap with the least to crop of the last, and how much; () if none can."""
    for exact in (gap, gap - 1):
        if count[exact]:
            return (exact,), 0
    at = int(np.searchsorted(available, gap))
    best: tuple[int, ...] = ()
    loss = len(count)
    if at < len(available):
        loss, best = int(available[at]) - gap, (int(available[at]),)
    first = available[:at][::-1]
    first = first[gap - first >= SHORTEST]
    second_at = np.searchsorted(available, gap - first)
    first, second_at = first[second_at < len(available)], second_at[second_at < len(available)]
    second = available[second_at]
    losses = np.where((first != second) | (count[first] > 1), first + second - gap, len(count))
    if len(losses) and losses.min() < loss:
        index = int(losses.argmin())
        return (int(first[index]), int(second[index])), int(losses[index])
    return best, loss


def cut_documents(documents: Sequence[np.ndarray], capacity: int) -> list[np.ndarray]:
    """Pieces of at most `capacity` - 1 tokens, the rest of a row being its BOS; documents without tokens are none."""
    room = capacity - 1
    return [tokens[start : start + room] for tokens in documents for start in range(0, len(tokens), room)]


def pack_rows(documents: Sequence[np.ndarray], capacity: int, bos: int, rng: np.random.Generator) -> PackedRows:
    """Documents as token arrays without BOS, packed into rows; `rng` decides the order of rows, and of equal pieces."""
    pieces = cut_documents(documents, capacity)
    pieces = [pieces[index] for index in rng.permutation(len(pieces))]
    rows = plan_rows([len(piece) + 1 for piece in pieces], capacity)
    packed = np.full((len(rows), capacity), PADDING, dtype=np.int32)
    kept = 0
    for target, row in zip(packed, rows):
        position = 0
        for piece, used in row:
            target[position] = bos
            target[position + 1 : position + used] = pieces[piece][: used - 1]
            position += used
            kept += used - 1
        if position == capacity - 1:
            target[position] = bos
    return PackedRows(packed[rng.permutation(len(rows))], kept, sum(map(len, pieces)) - kept)
