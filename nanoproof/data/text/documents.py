"""Text corpora: their split into training and validation documents, and the order in which these are read.

    corpus = text_corpus("nemotron")                 # or leangithubraw, nanolean, a directory, a file
    corpus.train.count, corpus.valid.count

Opening a corpus reads the sizes of its documents only; `token_loader.py` streams the text.

Documents are read in chunks. A unit is one or more whole groups of files, cut into chunks of equally many documents.
Every epoch shuffles the units and keeps the order of documents within a unit, so that files are read front to back and
no text has to be held in memory. Document i of a chunk goes to stream i mod V. The order is a function of the sizes of
the files, the seed and the number of streams V alone.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, repeat
from pathlib import Path

import numpy as np

from nanoproof.common.errors import UserError
from nanoproof.data.nanolean import nanolean_documents
from nanoproof.data.sources.manifest import file_paths
from nanoproof.data.text.text_files import SUFFIXES, MemoryFile, TextFile, files_below, open_text_file

NAMED_CORPORA = ("nemotron", "leangithubraw", "nanolean")
VALID_FRACTION = 0.05
"""Share of the documents that are for validation where a data set has no split of its own."""
FEW_VALID = 8
"""Least number of validation documents; of very small corpora a quarter of all documents."""
CHUNK_BYTES = 1_500_000
"""Bytes of text of one stream in a chunk, roughly: it is packed into rows at once, and tokenized again on resuming."""


@dataclass(frozen=True)
class Segment:
    """The documents `start` to `stop` (exclusive) of one group of a file."""

    file: TextFile
    group: int
    start: int
    stop: int

    @property
    def count(self) -> int:
        """Return the number of documents."""
        return self.stop - self.start

    def read(self, count: int | None = None) -> Iterator[str | None]:
        """Yield the documents, or the first `count` of them; some may be None or empty."""
        stop = self.stop
        if count is not None:
            stop = min(stop, self.start + count)
        return self.file.read(self.group, range(self.start, stop))

    @property
    def num_bytes(self) -> float:
        """Return the bytes of text, roughly."""
        group = self.file.groups[self.group]
        return group.num_bytes * self.count / max(1, group.documents)


@dataclass(frozen=True)
class Documents:
    """Documents in a fixed order."""

    name: str
    segments: tuple[Segment, ...]

    @property
    def count(self) -> int:
        """Return the number of documents, those without text included."""
        return sum(segment.count for segment in self.segments)

    @property
    def num_bytes(self) -> float:
        """Return the bytes of text, roughly."""
        return sum(segment.num_bytes for segment in self.segments)

    def fingerprint(self) -> str:
        """Return a hash that is equal for the same files with the same sizes; contents are not read."""
        # Without folders: a run may be resumed where the data lie elsewhere.
        parts = []
        for segment in self.segments:
            file, group = segment.file, segment.group
            parts.append((file.path.name, group, segment.start, segment.stop, file.groups[group].num_bytes))
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    def describe(self) -> str:
        """Return the numbers of documents and files and the size of the text as a phrase."""
        files = len({segment.file.path for segment in self.segments})
        return f"{self.count:,} documents in {files} files, {self.num_bytes / 1e6:,.1f} MB of text"


@dataclass(frozen=True)
class Corpus:
    """A text corpus with its training and validation documents."""

    name: str
    train: Documents
    valid: Documents


def text_corpus(name_or_path: str) -> Corpus:
    """Open the corpus of a name (`nemotron`, `leangithubraw`, `nanolean`), a directory or a file.

    For validation are: the last shard of nemotron, the repositories of leangithubraw that a hash of the name selects,
    the validation split of nanolean's transitions, and the last 5% of the documents of files (more of few). Raises
    UserError if something is missing, with the command that makes it, or damaged.
    """
    if name_or_path == "nemotron":
        from nanoproof.data.pretrain import nemotron  # with all that downloads

        train, valid = map(_open_all, nemotron.shards())
        if not train:  # a single shard: its last documents are for validation
            return split_last("nemotron", valid)
        return _by_files("nemotron", train, valid)
    if name_or_path == "leangithubraw":
        return _by_hash("leangithubraw", _open_all(file_paths("leangithubraw", "*.parquet")))
    if name_or_path == "nanolean":
        train_texts, valid_texts = nanolean_documents()
        train_file = MemoryFile(Path("nanolean_train"), train_texts)
        return _by_files("nanolean", [train_file], [MemoryFile(Path("nanolean_valid"), valid_texts)])
    return split_last(name_or_path, _open_all(_files_below(Path(name_or_path).expanduser())))


def split_last(name: str, files: list[TextFile]) -> Corpus:
    """Split off the last documents of some files, at least one, for validation."""
    whole = all_documents(name, files)
    if whole.count < 2:
        raise UserError(f"{name} holds {whole.count} document; two are needed, one of them for validation")
    left = whole.count - max(1, min(FEW_VALID, whole.count // 4), int(whole.count * VALID_FRACTION))
    # Segment by segment until `left` documents are taken for training; one segment is cut in two.
    train: list[Segment] = []
    valid: list[Segment] = []
    for segment in whole.segments:
        cut = segment.start + min(segment.count, left)
        left -= cut - segment.start
        for part, start, stop in ((train, segment.start, cut), (valid, cut, segment.stop)):
            if start < stop:
                part.append(Segment(segment.file, segment.group, start, stop))
    return Corpus(name, Documents(name, tuple(train)), Documents(f"{name} (validation)", tuple(valid)))


def all_documents(name: str, files: Sequence[TextFile]) -> Documents:
    """Return all documents of some files, in order."""
    segments = []
    for file in files:
        for number, group in enumerate(file.groups):
            if group.documents:
                segments.append(Segment(file, number, 0, group.documents))
    return Documents(name, tuple(segments))


def _by_files(name: str, train: Sequence[TextFile], valid: Sequence[TextFile]) -> Corpus:
    return Corpus(name, all_documents(name, train), all_documents(f"{name} (validation)", valid))


def _by_hash(name: str, files: list[TextFile]) -> Corpus:
    """Keep the files whose names have low hashes for validation, the lowest one in any case."""
    if len(files) == 1:
        return split_last(name, files)
    # Of each file by itself, so that a repository that joins the list moves no other one; uniform in [0, 1).
    hashes = {file: int(hashlib.sha256(file.path.name.encode()).hexdigest()[:8], 16) / 2**32 for file in files}
    limit = max(VALID_FRACTION, min(hashes.values()))
    train: list[TextFile] = []
    valid: list[TextFile] = []
    for file, value in hashes.items():
        if value <= limit:
            valid.append(file)
        else:
            train.append(file)
    return _by_files(name, train, valid)


def _open_all(paths: list[Path]) -> list[TextFile]:
    return list(map(open_text_file, paths))


def _files_below(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UserError(f"no text corpus {path}: neither one of {', '.join(NAMED_CORPORA)} nor a file or directory")
    return files_below(path, SUFFIXES)


# -- Order of documents ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unit:
    """Consecutive documents, read in chunks."""

    segments: tuple[Segment, ...]
    chunks: int

    @property
    def count(self) -> int:
        """Return the number of documents."""
        return sum(segment.count for segment in self.segments)

    def positions(self, chunk: int, stream: int, num_streams: int) -> range:
        """Return the positions in the unit of a stream's documents in a chunk."""
        count = self.count
        return range(count * chunk // self.chunks + stream, count * (chunk + 1) // self.chunks, num_streams)

    def texts(self, first_chunk: int, stream: int, num_streams: int) -> Iterator[list[str | None]]:
        """Yield a stream's documents, a list for each chunk from `first_chunk` on; one pass over the files."""
        wanted = [self.positions(chunk, stream, num_streams) for chunk in range(first_chunk, self.chunks)]
        documents = self._documents(list(chain.from_iterable(wanted)))
        for positions in wanted:
            yield list(islice(documents, len(positions)))

    def _documents(self, wanted: list[int]) -> Iterator[str | None]:
        at = offset = 0  # of the next position that is wanted, and of the segment's first document in the unit
        for segment in self.segments:
            end = at
            while end < len(wanted) and wanted[end] < offset + segment.count:
                end += 1
            if end > at:
                inside = [segment.start + position - offset for position in wanted[at:end]]
                yield from segment.file.read(segment.group, inside)
            at, offset = end, offset + segment.count


@dataclass(frozen=True)
class ReadingPlan:
    """The units of a corpus and the order of their chunks, for a number of streams."""

    units: tuple[Unit, ...]
    num_streams: int
    seed: int

    @classmethod
    def of(cls, documents: Documents, num_streams: int, seed: int, chunk_bytes: int = CHUNK_BYTES) -> "ReadingPlan":
        """Join groups to units of at least a chunk for every stream; a small rest joins the last unit."""
        wanted = num_streams * chunk_bytes
        joined: list[list[Segment]] = [[]]
        size = 0.0
        for segment in documents.segments:
            if size >= wanted:
                joined.append([])
                size = 0.0
            joined[-1].append(segment)
            size += segment.num_bytes
        if len(joined) > 1 and size < wanted / 2:
            rest = joined.pop()
            joined[-1] += rest
        units = []
        for segments in joined:
            unit = Unit(tuple(segments), 1)
            chunks = round(sum(segment.num_bytes for segment in segments) / wanted)
            # So few that every stream has a document in each of them.
            units.append(replace(unit, chunks=max(1, min(chunks, unit.count // num_streams))))
        return cls(tuple(units), num_streams, seed)

    @property
    def num_chunks(self) -> int:
        """Return the number of chunks in an epoch."""
        return sum(unit.chunks for unit in self.units)

    def order(self, epoch: int) -> list[tuple[int, int]]:
        """Return the order of an epoch: (unit, chunk in the unit) of each chunk."""
        units = np.random.default_rng([self.seed, epoch]).permutation(len(self.units)).tolist()
        order: list[tuple[int, int]] = []
        for unit in units:
            order += zip(repeat(unit), range(self.units[unit].chunks))
        return order

    def chunks_from(self, stream: int, epoch: int, first: int) -> Iterator[tuple[int, int, list[str | None]]]:
        """Yield (epoch, chunk number in the epoch, the stream's documents) from the given chunk on, without end."""
        while True:
            order = self.order(epoch)
            number = first
            while number < len(order):
                unit, chunk = order[number]
                for texts in self.units[unit].texts(chunk, stream, self.num_streams):
                    yield epoch, number, texts
                    number += 1
            epoch, first = epoch + 1, 0
