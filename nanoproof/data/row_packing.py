"""Rows of documents: every row begins with BOS, next to no place is left free, and next to no token is lost.

A document is BOS and its tokens. One that is longer than a row is cut into pieces of a row's size, each with a BOS of
its own. Pieces are put into rows longest first, each row being closed by a piece, or two, that fit exactly. Where there
are none, the last piece of the row is cut, so that of all choices the least is left over; what is left over waits for a
row as a piece of its own, unless it is so short that it is dropped. A gap that is as short stays free. A single place
that is left holds a BOS, the end of the last document.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

PADDING = -1
SHORTEST = 2
"""BOS and one token."""
SLACK = 64
"""What is shorter than this part of a row may be dropped, or left free."""


@dataclass(frozen=True, slots=True)
class Span:
    """The tokens `start` to `stop` (exclusive) of a document; in a row they have a BOS in front."""

    document: int
    start: int
    stop: int

    @property
    def length(self) -> int:
        """Places in a row."""
        return 1 + self.stop - self.start


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

    def __init__(self, capacity: int) -> None:
        self._by_length: list[list[Span]] = [[] for _ in range(capacity + 1)]
        self.count = np.zeros(capacity + 1, dtype=np.int64)

    def add(self, span: Span) -> None:
        """Let a piece wait."""
        self._by_length[span.length].append(span)
        self.count[span.length] += 1

    def take(self, length: int) -> Span:
        """A piece of this length."""
        self.count[length] -= 1
        return self._by_length[length].pop()

    def lengths(self) -> np.ndarray:
        """The lengths there are, ascending."""
        return np.flatnonzero(self.count)


def plan_rows(sizes: Sequence[int], capacity: int) -> list[list[Span]]:
    """Which tokens of documents of these sizes share a row; only the last piece of a row is ever cut short."""
    pool, slack = _Pool(capacity), max(1, capacity // SLACK)
    for document, size in enumerate(sizes):
        for start in range(0, size, capacity - 1):
            pool.add(Span(document, start, min(start + capacity - 1, size)))
    rows: list[list[Span]] = []
    while len(available := pool.lengths()):
        row = [pool.take(int(available[-1]))]
        gap = capacity - row[0].length
        while gap > 1 and len(available := pool.lengths()):
            chosen, rest = _close(pool.count, available, gap)
            if rest > gap and gap <= slack and gap < available[0]:
                break
            if not chosen:  # the longest that leaves room for others
                chosen = (int(available[np.searchsorted(available, gap, side="right") - 1]),)
            for length in chosen:
                span = pool.take(length)
                cut = min(span.stop, span.start + gap - 1)
                row.append(Span(span.document, span.start, cut))
                gap -= row[-1].length
                if span.stop - cut > slack:
                    pool.add(Span(span.document, cut, span.stop))
        rows.append(row)
    return rows


def _close(count: np.ndarray, available: np.ndarray, gap: int) -> tuple[tuple[int, ...], int]:
    """The one or two lengths that fill the gap with the least left over of the last, and how much; () if none can."""
    for exact in (gap, gap - 1):
        if count[exact]:
            return (exact,), 0
    at = int(np.searchsorted(available, gap))
    best: tuple[int, ...] = ()
    rest = len(count)
    if at < len(available):
        rest, best = int(available[at]) - gap, (int(available[at]),)
    first = available[:at][::-1]
    first = first[gap - first >= SHORTEST]
    second_at = np.searchsorted(available, gap - first)
    first, second_at = first[second_at < len(available)], second_at[second_at < len(available)]
    second = available[second_at]
    rests = np.where((first != second) | (count[first] > 1), first + second - gap, len(count))
    if len(rests) and rests.min() < rest:
        index = int(rests.argmin())
        return (int(first[index]), int(second[index])), int(rests[index])
    return best, rest


def pack_rows(documents: Sequence[np.ndarray], capacity: int, bos: int, rng: np.random.Generator) -> PackedRows:
    """Documents as token arrays without BOS, packed into rows; `rng` decides the order of rows, and of equal pieces."""
    documents = [documents[index] for index in rng.permutation(len(documents))]
    rows = plan_rows([len(document) for document in documents], capacity)
    packed = np.full((len(rows), capacity), PADDING, dtype=np.int32)
    kept = 0
    for target, row in zip(packed, rows):
        position = 0
        for span in row:
            target[position] = bos
            target[position + 1 : position + span.length] = documents[span.document][span.start : span.stop]
            position += span.length
            kept += span.length - 1
        if position == capacity - 1:
            target[position] = bos
    return PackedRows(packed[rng.permutation(len(rows))], kept, sum(map(len, documents)) - kept)
