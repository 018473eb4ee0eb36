"""Files of documents with one interface: parquet shards, JSON lines, plain text, and lists in memory.

A file is a sequence of groups (parquet's row groups) of documents whose sizes are known without reading them. Reading
streams through one group in bounded memory. A document may be None or empty; readers count these and skip them.
"""

import logging
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from nanoproof.common.errors import UserError, cannot
from nanoproof.common.files import parse_json, read_text
from nanoproof.common.terminal import counted

log = logging.getLogger(__name__)

COLUMN = "text"
SUFFIXES = (".parquet", ".jsonl", ".txt")

READ_DOCUMENTS = 128
"""Number of documents that are decoded at a time."""
BUFFER_BYTES = 1 << 20
"""Size of the reads from a parquet file; without it, or with `pre_buffer`, pyarrow holds whole row groups in memory."""
JSONL_GROUP = 1000
"""Number of lines in a group of a JSONL file."""
TEXT_CHARACTERS = 4000
"""Approximate size of the documents that a plain text is cut into, at ends of paragraphs."""


@dataclass(frozen=True)
class Group:
    """Consecutive documents of a file: their number, and roughly their bytes of text."""

    documents: int
    num_bytes: int


class TextFile(ABC):
    """A file of documents."""

    def __init__(self, path: Path, groups: Sequence[Group]) -> None:
        self.path, self.groups = path, tuple(groups)
        if self.documents == 0:
            raise UserError(f"{path} holds no documents")

    @property
    def documents(self) -> int:
        """Return the number of documents in the file, those without text included."""
        return sum(group.documents for group in self.groups)

    @abstractmethod
    def read(self, group: int, wanted: Sequence[int]) -> Iterator[str | None]:
        """Yield the documents of a group at the ascending positions `wanted`. Raises UserError if it is damaged."""


class ParquetFile(TextFile):
    """A parquet file with a string column `text`; other columns are not read."""

    def __init__(self, path: Path) -> None:
        try:
            with pq.ParquetFile(path) as file:
                self._metadata, schema = file.metadata, file.schema_arrow
        except FileNotFoundError as error:
            raise UserError(f"no such file: {path}") from error
        except (OSError, pa.ArrowException) as error:
            raise UserError(f"{path} is not a parquet file: {_one_line(error)}") from error
        if COLUMN not in schema.names:
            raise UserError(f"{path} has no column {COLUMN!r}; its columns are: {', '.join(schema.names) or 'none'}")
        if schema.names.count(COLUMN) > 1:
            raise UserError(f"{path} has {schema.names.count(COLUMN)} columns {COLUMN!r}; leave one of them")
        if not _is_text(schema.field(COLUMN).type):
            raise UserError(f"{path}: column {COLUMN!r} must hold strings, it holds {schema.field(COLUMN).type}")
        # Parquet counts columns by the leaves of nested ones, so it is not the schema's index.
        leaves = [self._metadata.schema.column(index).path for index in range(self._metadata.num_columns)]
        column = leaves.index(COLUMN)
        groups = []
        for index in range(self._metadata.num_row_groups):
            group = self._metadata.row_group(index)
            groups.append(Group(group.num_rows, group.column(column).total_uncompressed_size))
        super().__init__(path, groups)

    def read(self, group: int, wanted: Sequence[int]) -> Iterator[str | None]:
        position, start = 0, 0  # in `wanted`, and of the batch's first document in the group
        try:
            with pq.ParquetFile(self.path, metadata=self._metadata, buffer_size=BUFFER_BYTES, pre_buffer=False) as file:
                for batch in file.iter_batches(READ_DOCUMENTS, row_groups=[group], columns=[COLUMN], use_threads=False):
                    column = batch.column(0)
                    while position < len(wanted) and wanted[position] < start + len(column):
                        yield column[wanted[position] - start].as_py()
                        position += 1
                    if position == len(wanted):
                        return
                    start += len(column)
        except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
            place = f"{self.path}, row group {group}, column {COLUMN!r}"
            raise UserError(f"{place}: damaged or gone: {_one_line(error)}") from error
        raise UserError(f"{self.path}, row group {group}: {start} documents, its footer says more")


class JsonlFile(TextFile):
    """One JSON object with a string `text` per line; empty lines are passed over.

    The first line must be one. A damaged later line counts as a document without text, and a warning names the first.
    """

    # Streams read every n-th document: were empty lines documents, one behind each would leave half of them nothing.

    def __init__(self, path: Path) -> None:
        """Find the groups. Raises UserError if the file cannot be read, or if its first line is something else."""
        self._warned = False
        self._starts: list[tuple[int, int]] = []  # of each group the first byte, and the number of its line
        groups: list[Group] = []
        position = start = documents = 0
        first_line, first = 1, b""
        with cannot(f"read {path}"), open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                position += len(line)
                if not line.strip():
                    continue
                first = first or line
                documents += 1
                if documents == JSONL_GROUP:
                    self._starts.append((start, first_line))
                    groups.append(Group(documents, position - start))
                    start, first_line, documents = position, number + 1, 0
        if documents:
            self._starts.append((start, first_line))
            groups.append(Group(documents, position - start))
        super().__init__(path, groups)
        self._text(first, 1)  # a file of another kind is refused now, not in the middle of training

    def read(self, group: int, wanted: Sequence[int]) -> Iterator[str | None]:
        position = 0
        with cannot(f"read {self.path}"), open(self.path, "rb") as file:
            start, first_line = self._starts[group]
            file.seek(start)
            lines = ((number, line) for number, line in enumerate(file, start=first_line) if line.strip())
            for document, (number, line) in zip(range(self.groups[group].documents), lines):
                if position < len(wanted) and wanted[position] == document:
                    yield self._text_or_none(line, number)
                    position += 1
        if position < len(wanted):
            raise UserError(f"{self.path}: shorter than it was when it was opened")

    def _text_or_none(self, line: bytes, number: int) -> str | None:
        try:
            return self._text(line, number)
        except UserError as error:
            if not self._warned:
                log.warning("%s; it is passed over, as are other lines like it", error)
            self._warned = True
            return None

    def _text(self, line: bytes, number: int) -> str | None:
        try:
            text = parse_json(line)[COLUMN]
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{self.path}, line {number}: not a JSON object with a field {COLUMN!r}") from error
        if text is not None and not isinstance(text, str):
            raise UserError(f"{self.path}, line {number}: field {COLUMN!r} must be a string")
        if not text:
            return None
        # Half a surrogate pair, which JSON can hold and UTF-8 cannot, becomes `?`: tokenizers refuse it.
        return text.encode("utf-8", "replace").decode("utf-8")


class MemoryFile(TextFile):
    """Documents in memory, under a name."""

    def __init__(self, path: Path, texts: Sequence[str | None]) -> None:
        self._texts = texts
        size = sum(len(text.encode("utf-8", "replace")) for text in texts if text)
        super().__init__(path, [Group(len(texts), size)])

    def read(self, group: int, wanted: Sequence[int]) -> Iterator[str | None]:
        return (self._texts[index] for index in wanted)


def files_below(folder: Path, suffixes: Sequence[str]) -> list[Path]:
    """List the files of these endings below a folder, in order; one warning counts those of others, hidden ones aside.

    Links are followed. Raises UserError if there is none, or a folder cannot be read.
    """
    files: list[Path] = []
    others: list[Path] = []
    seen: set[Path] = set()

    def refuse(error: OSError) -> None:
        raise UserError(f"cannot read {error.filename}: {error.strerror}") from error

    for name, inner, names in os.walk(folder, onerror=refuse, followlinks=True):
        here = Path(name)
        # Data are often put together of links to folders, one of which may lead back.
        if here.resolve() in seen:
            inner.clear()
            continue
        seen.add(here.resolve())
        inner.sort()
        for file in filter(Path.is_file, (here / name for name in sorted(names))):
            if file.suffix in suffixes:
                files.append(file)
            elif not any(part.startswith(".") for part in file.relative_to(folder).parts):
                others.append(file)
    kinds = ", ".join(suffixes)
    if others and os.environ.get("RANK", "0") == "0":  # all ranks would say the same
        # Of the ending that most have: between a README and a hundred `.jsonl.gz` the latter are what is missed.
        ending = Counter(file.suffix for file in others).most_common(1)[0][0]
        example = next(file for file in others if file.suffix == ending)
        log.warning("not read: %s, such as %s; endings that are: %s", counted(len(others), "file"), example, kinds)
    if not files:
        raise UserError(f"{folder} holds no {kinds} files")
    return sorted(files)


def open_text_file(path: Path) -> TextFile:
    """Open a file by its suffix. Raises UserError if it is missing, damaged, empty, or of another shape."""
    if path.suffix == ".parquet":
        return ParquetFile(path)
    if path.suffix == ".jsonl":
        return JsonlFile(path)
    if path.suffix == ".txt":
        return MemoryFile(path, cut_text(read_text(path)))
    raise UserError(f"{path}: documents are read from {', '.join(SUFFIXES)} files")


def cut_text(text: str) -> list[str]:
    """Cut a text into documents of at least `TEXT_CHARACTERS`, at ends of paragraphs."""
    documents: list[str] = []
    parts: list[str] = []
    for paragraph in text.replace("\r\n", "\n").split("\n\n"):
        parts.append(paragraph)
        if sum(map(len, parts)) >= TEXT_CHARACTERS:
            documents.append("\n\n".join(parts))
            parts = []
    documents.append("\n\n".join(parts))
    return [document for document in documents if document.strip()]


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
