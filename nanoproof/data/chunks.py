"""The order in which documents are read: chunks that are dealt to streams, in an order of each epoch's own.

A unit is some whole groups of files (one where groups are large), cut into chunks of equally many documents. Every
epoch has the units in another order, and the documents of a unit in theirs, so that files are read front to back and
nothing of the text has to be held. Document i of a chunk goes to stream i mod V. All of it follows from the sizes of
the files, the seed and the number of streams V, and from nothing else.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from nanoproof.data.documents import Documents, Segment

CHUNK_BYTES = 1_500_000
"""Text of one stream in a chunk, about: what is packed into rows together, and tokenized again on resuming."""


@dataclass(frozen=True)
class Unit:
    """Documents that are read one after another, in chunks."""

    segments: tuple[Segment, ...]
    chunks: int

    @property
    def count(self) -> int:
        """Documents in it."""
        return sum(segment.count for segment in self.segments)

    def positions(self, chunk: int, stream: int, num_streams: int) -> range:
        """The documents of a stream in a chunk, counted from the start of the unit."""
        count = self.count
        return range(count * chunk // self.chunks + stream, count * (chunk + 1) // self.chunks, num_streams)

    def texts(self, first_chunk: int, stream: int, num_streams: int) -> Iterator[list[str | None]]:
        """A stream's documents, chunk by chunk; one pass over the files."""
        wanted = [self.positions(chunk, stream, num_streams) for chunk in range(first_chunk, self.chunks)]
        documents = self._documents(list(chain.from_iterable(wanted)))
        for positions in wanted:
            yield list(islice(documents, len(positions)))

    def _documents(self, wanted: list[int]) -> Iterator[str | None]:
        at = offset = 0
        for segment in self.segments:
            end = at
            while end < len(wanted) and wanted[end] < offset + segment.count:
                end += 1
            if end > at:
                inside = [segment.start + position - offset for position in wanted[at:end]]
                yield from segment.file.read(segment.group, inside)
            at, offset = end, offset + segment.count


@dataclass(frozen=True)
class Plan:
    """The units of a set of documents, for a number of streams."""

    units: tuple[Unit, ...]
    num_streams: int
    seed: int

    @classmethod
    def of(cls, documents: Documents, num_streams: int, seed: int, chunk_bytes: int = CHUNK_BYTES) -> "Plan":
        """Groups are put together until there is a chunk's worth for every stream; what is left joins the last unit."""
        wanted = num_streams * chunk_bytes
        parts: list[list[Segment]] = [[]]
        size = 0.0
        for segment in documents.segments:
            if size >= wanted:
                parts.append([])
                size = 0.0
            parts[-1].append(segment)
            size += segment.num_bytes
        if len(parts) > 1 and size < wanted / 2:
            rest = parts.pop()
            parts[-1] += rest
        units = []
        for part in parts:
            count = sum(segment.count for segment in part)
            chunks = round(sum(segment.num_bytes for segment in part) / wanted)
            units.append(Unit(tuple(part), max(1, min(chunks, count // num_streams))))
        return cls(tuple(units), num_streams, seed)

    @property
    def num_chunks(self) -> int:
        """Chunks in an epoch."""
        return sum(unit.chunks for unit in self.units)

    def order(self, epoch: int) -> list[tuple[int, int]]:
        """The chunks of an epoch as (unit, chunk in it)."""
        units = np.random.default_rng([self.seed, epoch]).permutation(len(self.units)).tolist()
        return [(unit, chunk) for unit in units for chunk in range(self.units[unit].chunks)]

    def chunks_from(self, stream: int, epoch: int, first: int) -> Iterator[tuple[int, int, list[str | None]]]:
        """Endless: (epoch, number in the epoch, a stream's documents) from the given chunk on."""
        while True:
            order = self.order(epoch)
            number = first
            while number < len(order):
                unit, chunk = order[number]
                for texts in self.units[unit].texts(chunk, stream, self.num_streams):
                    yield epoch, number, texts
                    number += 1
            epoch, first = epoch + 1, 0
