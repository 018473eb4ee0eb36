"""Text corpora: which documents are kept for validation, and the order in which they are read.

corpus = text_corpus("nemotron")                 # or leangithubraw, nanolean, a directory, a file
    corpus.train.count, corpus.valid.count

Nothing but the sizes is read here; `token_loader.py` streams the text.

A unit is some whole groups of files (one where groups are large), cut into chunks of equally many documents. Every
epoch has the units in another order, and the documents of a unit in theirs, so that files are read front to back and
nothing of the text has to be held. Document i of a chunk goes to stream i mod V. All of it follows from the sizes of
the files, the seed and the number of streams V, and from nothing else.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np

from nanoproof.common.errors import UserError
from nanoproof.data.nanolean import nanolean_documents
from nanoproof.data.pretrain import nemotron
from nanoproof.data.sources.manifest import open_files
from nanoproof.data.text.text_files import SUFFIXES, MemoryFile, TextFile, open_text_file

NAMED = ("nemotron", "leangithubraw", "nanolean")
VALID_FRACTION = 0.05
"""Share of the documents that are kept for validation where a data set does not say which."""
FEW_VALID = 8
"""It is more of small corpora: as many documents as this, or a quarter of all."""


@dataclass(frozen=True)
class Segment:
    """The documents `start` to `stop` (exclusive) of one group of a file."""

    file: TextFile
    group: int
    start: int
    stop: int

    @property
    def count(self) -> int:
        """Documents in it."""
        return self.stop - self.start

    def read(self, count: int | None = None) -> Iterator[str | None]:
        """Its documents, or the first so many of them; some may be None or empty."""
        stop = self.stop if count is None else min(self.stop, self.start + count)
        return self.file.read(self.group, range(self.start, stop))

    @property
    def num_bytes(self) -> float:
        """About how many bytes of text."""
        group = self.file.groups[self.group]
        return group.num_bytes * self.count / max(1, group.documents)


@dataclass(frozen=True)
class Documents:
    """Documents in a fixed order."""

    name: str
    segments: tuple[Segment, ...]

    @property
    def count(self) -> int:
        """How many there are, those without text included."""
        return sum(segment.count for segment in self.segments)

    @property
    def num_bytes(self) -> float:
        """About how many bytes of text."""
        return sum(segment.num_bytes for segment in self.segments)

    def fingerprint(self) -> str:
        """What is equal for the same files with the same sizes; the files are not read."""
        parts = [(s.file.path.name, s.group, s.start, s.stop, s.file.groups[s.group].num_bytes) for s in self.segments]
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    def describe(self) -> str:
        """For people."""
        files = len({segment.file.path for segment in self.segments})
        return f"{self.count:,} documents in {files} files, {self.num_bytes / 1e6:,.1f} MB of text"


@dataclass(frozen=True)
class Corpus:
    """A text corpus in two parts."""

    name: str
    train: Documents
    valid: Documents


def text_corpus(name_or_path: str) -> Corpus:
    """The corpus of a name (`nemotron`, `leangithubraw`, `nanolean`), a directory or a file.

    Of nemotron the last shard is for validation, of leangithubraw the repositories that a hash of the name picks, of
    nanolean what is validation in its transitions too, and of files the last 5% of the documents (more of few). Raises
    UserError if something is missing, with the command that makes it, or damaged.
    """
    if name_or_path == "nemotron":
        train, valid = map(_opened, nemotron.shards())
        return _by_files("nemotron", train, valid) if train else split_last("nemotron", valid)
    if name_or_path == "leangithubraw":
        return _by_hash("leangithubraw", _opened(open_files("leangithubraw", "*.parquet")))
    if name_or_path == "nanolean":
        texts = zip(("nanolean_train", "nanolean_valid"), nanolean_documents())
        files = [MemoryFile(Path(name), documents) for name, documents in texts]
        return _by_files("nanolean", files[:1], files[1:])
    return split_last(name_or_path, _opened(_files_below(Path(name_or_path).expanduser())))


def split_last(name: str, files: list[TextFile]) -> Corpus:
    """A corpus whose last documents, at least one, are for validation."""
    whole = all_documents(name, files)
    if whole.count < 2:
        raise UserError(f"{name} holds {whole.count} document; two are needed, one of them for validation")
    left = whole.count - max(1, min(FEW_VALID, whole.count // 4), int(whole.count * VALID_FRACTION))
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
    """All documents of some files."""
    segments = [Segment(file, g, 0, group.documents) for file in files for g, group in enumerate(file.groups)]
    return Documents(name, tuple(segment for segment in segments if segment.count))


def _by_files(name: str, train: Sequence[TextFile], valid: Sequence[TextFile]) -> Corpus:
    return Corpus(name, all_documents(name, train), all_documents(f"{name} (validation)", valid))


def _by_hash(name: str, files: list[TextFile]) -> Corpus:
    """Files whose name hashes low are for validation, the lowest one in any case."""
    if len(files) == 1:
        return split_last(name, files)
    hashes = [int(hashlib.sha256(file.path.name.encode()).hexdigest()[:8], 16) / 2**32 for file in files]
    limit = max(VALID_FRACTION, min(hashes))
    valid = [file for file, value in zip(files, hashes) if value <= limit]
    return _by_files(name, [file for file in files if file not in valid], valid)


def _opened(paths: list[Path]) -> list[TextFile]:
    return [open_text_file(path) for path in paths]


def _files_below(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UserError(f"no text corpus {path}: neither one of {', '.join(NAMED)} nor a file or directory")
    files = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
    if not files:
        raise UserError(f"{path} holds no {', '.join(SUFFIXES)} files")
    return files


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
