"""First half of the build: a repository becomes one file with its `.lean` texts, and a folder with its licences.

What is collected stays at `collected/NAME.collected` until it is collected again, so that the second half
(`refine.py`) can be done anew without fetching anything.
"""

import json
import re
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nanoproof.common.files import atomic_write
from nanoproof.data.midtrain.clone import MAX_BYTES, Entry, Repository, Tree, opened

BUILD_FOLDERS = frozenset({"build", "lake-packages", "_target", "_out", "node_modules"})
MARK_CHARACTERS = 2000
LONG_LINE = 1000
NUMBERS_SHARE = 0.5

_MARKS = re.compile(
    r"""auto-?generated\b | automatically[ ]generated[ ](?:by|from|file) | @generated\b
      | (?:this|the)[ ]file[ ](?:was|is|has[ ]been)[ ](?:\w+[ ])?generated
      | do[ ]not[ ](?:edit|modify)\b | code[ ]generated[ ]by
      | ^\s*(?:--|/-!?|\#)\s*(?:file[ ])?generated[ ](?:by|from|using|with)\b""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_COMMENTS = re.compile(r"--[^\n]*|/-.*?(?:-/|\Z)", re.DOTALL)
_NUMBER = re.compile(r"[0-9]+")


def refused_path(path: str) -> str:
    """Why a file is not taken for its place; "" if it may be."""
    place = PurePosixPath(path)
    for folder in place.parts[:-1]:
        if folder in BUILD_FOLDERS or folder.startswith("."):
            return f"in a folder {folder}"
    return "lakefile" if place.name == "lakefile.lean" else ""


def decode(content: bytes) -> tuple[str, str]:
    """The text of a file with Unix line ends, and why it is none ("" if it is)."""
    if content.startswith(b"version https://git-lfs"):
        return "", "pointer to a large file"
    if b"\0" in content:
        return "", "binary"
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "", "invalid UTF-8"
    return text.replace("\r\n", "\n").replace("\r", "\n"), ""


def refused_text(text: str) -> str:
    """Why a file is not taken for what it holds; "" if it is taken."""
    if not text.strip():
        return "empty"
    beginning = text[:MARK_CHARACTERS]
    comments = "\n".join(_COMMENTS.findall(beginning))
    if _MARKS.search(comments):
        return "says that it is generated"
    if sum(len(line) for line in text.split("\n") if len(line) > LONG_LINE) > len(text) / 2:
        return "data in very long lines"
    characters = sum(map(len, text.split()))
    if len(text) > MARK_CHARACTERS and sum(map(len, _NUMBER.findall(text))) > NUMBERS_SHARE * characters:
        return "mostly numbers"
    return ""


# -- Licence files of a repository: which files are licences, and which licence a text is ----------------------------

NO_LICENSE = "NO_LICENSE"
UNKNOWN = "unknown"

_FILE = re.compile(r"(?:(?:un)?licen[cs]e|copying|notice|copyright)(?:[-_.].*)?$", re.IGNORECASE)
_NOTICE = re.compile(r"notice|copyright", re.IGNORECASE)
_CODE = (".lean", ".py", ".c", ".h", ".rs", ".ts", ".js", ".toml", ".json", ".sh", ".yml", ".yaml")

# What the beginning of a licence says; the first that fits counts.
_TITLES = (
    ("AGPL-3.0", r"gnu affero general public license.{0,80}?version 3"),
    ("LGPL-3.0", r"gnu lesser general public license.{0,80}?version 3"),
    ("LGPL-2.1", r"gnu lesser general public license.{0,80}?version 2\.1"),
    ("GPL-3.0", r"gnu general public license.{0,80}?version 3"),
    ("GPL-2.0", r"gnu general public license.{0,80}?version 2"),
    ("Apache-2.0", r"apache license,?.{0,40}?version 2\.0"),
    ("MPL-2.0", r"mozilla public license,?.{0,20}?(?:version )?2\.0"),
    ("CC0-1.0", r"cc0 1\.0|creative commons zero"),
    ("CC-BY-NC-SA-4.0", r"attribution-noncommercial-sharealike 4\.0"),
    ("CC-BY-NC-ND-4.0", r"attribution-noncommercial-noderivatives 4\.0"),
    ("CC-BY-NC-4.0", r"attribution-noncommercial 4\.0"),
    ("CC-BY-SA-4.0", r"attribution-sharealike 4\.0"),
    ("CC-BY-ND-4.0", r"attribution-noderivatives 4\.0"),
    ("CC-BY-4.0", r"attribution 4\.0"),
    ("EUPL-1.2", r"european union public licen[cs]e.{0,20}?1\.2"),
    ("Unlicense", r"free and unencumbered software released into the public domain"),
    ("0BSD", r"bsd zero clause license|zero-clause bsd"),
    ("MIT", r"permission is hereby granted, free of charge|\bmit license\b"),
    ("ISC", r"permission to use, copy, modify, and(?:/or)? distribute this software"),
    ("BSD-3-Clause", r"redistribution and use in source and binary forms.*neither the names? of"),
    ("BSD-2-Clause", r"redistribution and use in source and binary forms"),
)
_HEAD_CHARACTERS = 3000


def is_licence_file(path: str) -> bool:
    """Whether a file is a licence or a notice by its name: LICENSE, LICENCE.md, COPYING, NOTICE-x, .."""
    name = PurePosixPath(path).name
    return _FILE.match(name) is not None and not name.lower().endswith(_CODE)


def guess(text: str) -> str:
    """The SPDX identifier of a licence by its beginning; "unknown" if it is none of the common ones."""
    head = " ".join(text[:_HEAD_CHARACTERS].lower().split())
    return next((name for name, pattern in _TITLES if re.search(pattern, head)), UNKNOWN)


class Licences:
    """The licences of a repository's folders."""

    def __init__(self, files: Iterable[tuple[str, str]]) -> None:
        self._of: dict[str, set[str]] = {}
        for path, text in files:
            if _NOTICE.match(PurePosixPath(path).name) is None:
                self._of.setdefault(str(PurePosixPath(path).parent), set()).add(guess(text))

    def of(self, path: str) -> str:
        """The licence of a file: that of the nearest folder above it which has one, `NO_LICENSE` if none has.

        Where a folder has several, all are named.
        """
        for folder in PurePosixPath(path).parents:
            if str(folder) in self._of:
                return " OR ".join(sorted(self._of[str(folder)]))
        return NO_LICENSE


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
