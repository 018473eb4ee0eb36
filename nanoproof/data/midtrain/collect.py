"""First half of the build: a repository becomes one file with its `.lean` texts, and a folder with its licences.

What is collected stays at `collected/NAME.collected` until it is collected again, so that the second half
(`refine.py`) can be done anew without fetching anything.
"""

import json
import re
import shutil
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nanoproof.common.files import atomic_write
from nanoproof.data.midtrain.clone import MAX_BYTES, Entry, Repository, Tree, opened
from nanoproof.data.midtrain.lean_files import decode, refused_path, refused_text
from nanoproof.data.midtrain.licences import NO_LICENSE, Licences, is_licence_file

VERSION = 1
"""Of what is taken and how it is stored; what another version collected is collected again."""
COLUMNS = ("text", "url", "commit", "path", "licence")
SUFFIX = ".collected"
ROW_GROUP = 512
READ_ROWS = 128
TOO_LARGE = f"over {MAX_BYTES // 1000:,} kB"

_KEY = b"nanoproof"
_SCHEMA = pa.schema([(name, pa.string()) for name in COLUMNS])


@dataclass(frozen=True)
class LeanFile:
    """A file of a repository."""

    text: str
    url: str
    commit: str
    path: str
    licence: str


@dataclass(frozen=True)
class Collected:
    """What was collected of a repository: the file it lies in, its licence as a whole, what was not taken and why."""

    path: Path
    url: str
    commit: str
    licence: str
    files: int
    dropped: tuple[tuple[str, str], ...]

    def read(self) -> Iterator[LeanFile]:
        """Its files, sorted by path."""
        with pq.ParquetFile(self.path) as file:
            for batch in file.iter_batches(READ_ROWS, columns=list(COLUMNS)):
                for row in batch.to_pylist():
                    yield LeanFile(**row)


def collected_path(out: Path, repository: Repository) -> Path:
    """Where a repository's files are collected."""
    return out / "collected" / f"{repository.name}{SUFFIX}"


def find_collected(out: Path, repository: Repository) -> Collected | None:
    """What was collected earlier of a repository; None if nothing was, or of another address, or by older rules."""
    path = collected_path(out, repository)
    try:
        metadata = pq.read_metadata(path)
        record = json.loads((metadata.metadata or {})[_KEY])
        if record["version"] != VERSION or record["url"] != repository.url:
            return None
        dropped = tuple((place, reason) for place, reason in record["dropped"])
        return Collected(path, record["url"], record["commit"], record["licence"], metadata.num_rows, dropped)
    except (OSError, pa.ArrowException, KeyError, ValueError, TypeError):
        return None


def collect(
    out: Path, repository: Repository, deadline: float, stop: threading.Event, keep_clone: bool = False
) -> Collected:
    """Fetch a repository and store its files. Raises CloneError, and then leaves what was stored earlier."""
    keep_at = out / "clones" / f"{repository.name}.git" if keep_clone else None
    with opened(repository, deadline, stop, keep_at) as tree:
        entries = tree.entries()
        texts = _licence_texts(tree, entries)
        licences = Licences(texts)
        kept: list[LeanFile] = []
        dropped: list[tuple[str, str]] = []
        for entry in entries:
            if not entry.path.endswith(".lean"):
                continue
            text, reason = _take(tree, entry)
            if reason:
                dropped.append((entry.path, reason))
            else:
                kept.append(LeanFile(text, repository.url, tree.commit, entry.path, licences.of(entry.path)))
        commit, licence = tree.commit, licences.of("lakefile.toml")
    record = {
        "version": VERSION,
        "url": repository.url,
        "commit": commit,
        "licence": licence,
        "dropped": dropped,
    }
    _write_licences(out / "licences" / repository.name, texts, repository.url)
    write_files(collected_path(out, repository), kept, record)
    return Collected(collected_path(out, repository), repository.url, commit, licence, len(kept), tuple(dropped))


def write_files(path: Path, files: list[LeanFile], record: dict[str, Any] | None = None) -> None:
    """Write a parquet file with the columns of the data set."""
    columns = [pa.array([getattr(file, name) for file in files], pa.string()) for name in COLUMNS]
    schema = _SCHEMA.with_metadata({_KEY: json.dumps(record)}) if record is not None else _SCHEMA
    table = pa.Table.from_arrays(columns, schema=schema)
    atomic_write(path, lambda file: pq.write_table(table, file, compression="zstd", row_group_size=ROW_GROUP))


def _take(tree: Tree, entry: Entry) -> tuple[str, str]:
    """The text of a file, and why it is not taken ("" if it is)."""
    reason = refused_path(entry.path)
    if reason:
        return "", reason
    if entry.bytes is None or entry.bytes > MAX_BYTES:
        return "", TOO_LARGE
    content = tree.read(entry)
    if len(content) > MAX_BYTES:
        return "", TOO_LARGE
    text, reason = decode(content)
    return text, reason or refused_text(text)


def _licence_texts(tree: Tree, entries: Sequence[Entry]) -> list[tuple[str, str]]:
    files = [e for e in entries if is_licence_file(e.path) and not refused_path(e.path) and e.bytes is not None]
    return [(entry.path, tree.read(entry).decode("utf-8", "replace")) for entry in files]


def _write_licences(directory: Path, texts: list[tuple[str, str]], url: str) -> None:
    """Licences and notices under their own names, folders before them; a note where there are none."""
    shutil.rmtree(directory, ignore_errors=True)
    taken: set[str] = set()
    for number, (path, text) in enumerate(texts):
        name = re.sub(r"[^\w.-]", "-", "__".join(PurePosixPath(path).parts))[-120:].lstrip(".-")
        if name.casefold() in taken:
            name = f"{number}-{name}"
        taken.add(name.casefold())
        atomic_write(directory / name, lambda file, text=text: file.write(text.encode()))  # type: ignore[misc]
    if not texts:
        note = f"No licence file was found in {url}: its authors have given no permission to pass its files on.\n"
        atomic_write(directory / NO_LICENSE, lambda file: file.write(note.encode()))
