"""First half of leangithubraw's build: collect a repository's `.lean` texts in a file, and its licences in a folder.

The file stays at `collected/NAME.collected` until the repository is collected again, so that the second half
(`refine.py`) can be repeated without fetching anything.
"""

import json
import re
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nanoproof.common.files import atomic_write, cut_name
from nanoproof.data.midtrain.clone import MAX_BYTES, Entry, Repository, Tree, open_repository

VERSION = 1
"""Version of the rules for collecting and of the file format; what another version collected is collected again."""
COLUMNS = ("text", "url", "commit", "path", "licence")
SUFFIX = ".collected"
ROW_GROUP = 512
READ_ROWS = 128
TOO_LARGE = f"over {MAX_BYTES // 1000:,} kB"
BUILD_FOLDERS = frozenset({"build", "lake-packages", "_target", "_out", "node_modules"})
MARK_CHARACTERS = 2000
"""Length of a file's beginning that is searched for marks of generated code."""
LONG_LINE = 1000
"""Characters from which on a line is data; a text that is mostly such lines is left out."""
NUMBERS_SHARE = 0.5
"""Share of digits among the characters above which a longer text is left out."""

_MARKS = re.compile(
    r"""auto-?generated\b | automatically[ ]generated[ ](?:by|from|file) | @generated\b
      | (?:this|the)[ ]file[ ](?:was|is|has[ ]been)[ ](?:\w+[ ])?generated
      | do[ ]not[ ](?:edit|modify)\b | code[ ]generated[ ]by
      | ^\s*(?:--|/-!?|\#)\s*(?:file[ ])?generated[ ](?:by|from|using|with)\b""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_COMMENTS = re.compile(r"--[^\n]*|/-.*?(?:-/|\Z)", re.DOTALL)
_NUMBER = re.compile(r"[0-9]+")


# -- Rules: files that are left out ----------------------------------------------------------------------------------


def refused_path(path: str) -> str:
    """Return the reason why a path is left out; "" if it is not."""
    file = PurePosixPath(path)
    for folder in file.parts[:-1]:
        if folder in BUILD_FOLDERS or folder.startswith("."):
            return f"in a folder {folder}"
    return "lakefile" if file.name == "lakefile.lean" else ""


def decode(content: bytes) -> tuple[str, str]:
    """Decode a file to text with Unix line ends; returns the text, and the reason if it is none ("" if it is)."""
    if content.startswith(b"version https://git-lfs"):
        return "", "pointer to a large file"
    if b"\0" in content:
        return "", "binary"
    try:
        text = content.decode("utf-8-sig")  # without the mark that editors of Windows put first
    except UnicodeDecodeError:
        return "", "invalid UTF-8"
    return text.replace("\r\n", "\n").replace("\r", "\n"), ""


def refused_text(text: str) -> str:
    """Return the reason why a text is left out; "" if it is not."""
    if not text.strip():
        return "empty"
    beginning = text[:MARK_CHARACTERS]
    # In comments alone: a program that writes such files has the words in its texts.
    comments = "\n".join(_COMMENTS.findall(beginning))
    if _MARKS.search(comments):
        return "says that it is generated"
    in_long_lines = sum(length for length in map(len, text.split("\n")) if length > LONG_LINE)
    if in_long_lines > len(text) / 2:
        return "data in very long lines"
    characters = sum(map(len, text.split()))
    if len(text) > MARK_CHARACTERS and sum(map(len, _NUMBER.findall(text))) > NUMBERS_SHARE * characters:
        return "mostly numbers"
    return ""


# -- Licences --------------------------------------------------------------------------------------------------------

NO_LICENSE = "NO_LICENSE"
UNKNOWN = "unknown"

_FILE = re.compile(r"(?:(?:un)?licen[cs]e|copying|notice|copyright)(?:[-_.].*)?$", re.IGNORECASE)
_NOTICE = re.compile(r"notice|copyright", re.IGNORECASE)
_CODE = (".lean", ".py", ".c", ".h", ".rs", ".ts", ".js", ".toml", ".json", ".sh", ".yml", ".yaml")

# Patterns for the beginning of a licence; the first that matches counts. The LGPL's text names the GPL, and BSD-3 is
# BSD-2 with another clause, so they come before.
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
    """Return whether a file's name is that of a licence or a notice: LICENSE, LICENCE.md, COPYING, NOTICE-x, .."""
    name = PurePosixPath(path).name
    return _FILE.match(name) is not None and not name.lower().endswith(_CODE)


def guess_licence(text: str) -> str:
    """Return the SPDX identifier of a licence by its beginning; "unknown" if it is none of the common ones."""
    head = " ".join(text[:_HEAD_CHARACTERS].lower().split())
    for name, pattern in _TITLES:
        if re.search(pattern, head):
            return name
    return UNKNOWN


class Licences:
    """The licences of a repository's folders."""

    def __init__(self, files: Iterable[tuple[str, str]]) -> None:
        self._of: dict[str, set[str]] = {}
        for path, text in files:
            # A notice names authors; what it permits is in the licence.
            if _NOTICE.match(PurePosixPath(path).name) is None:
                self._of.setdefault(str(PurePosixPath(path).parent), set()).add(guess_licence(text))

    def of(self, path: str) -> str:
        """Return the licence of a file: that of the nearest folder above it which has one, `NO_LICENSE` if none has.

        Where a folder has several, all are named.
        """
        for folder in PurePosixPath(path).parents:
            if str(folder) in self._of:
                return " OR ".join(sorted(self._of[str(folder)]))
        return NO_LICENSE


# -- Collecting a repository -----------------------------------------------------------------------------------------

_KEY = b"nanoproof"
_SCHEMA = pa.schema([(name, pa.string()) for name in COLUMNS])


@dataclass(frozen=True)
class LeanFile:
    """A Lean file of a repository, as a row of the data set."""

    text: str
    url: str
    commit: str
    path: str
    licence: str


@dataclass(frozen=True)
class Collected:
    """A collected repository: the file with its texts, its licence as a whole, and the dropped paths with reasons."""

    path: Path
    url: str
    commit: str
    licence: str
    files: int
    dropped: tuple[tuple[str, str], ...]

    def read(self) -> Iterator[LeanFile]:
        """Yield its files, sorted by path."""
        with pq.ParquetFile(self.path) as file:
            for batch in file.iter_batches(READ_ROWS, columns=list(COLUMNS)):
                for row in batch.to_pylist():
                    yield LeanFile(**row)


def collected_path(out: Path, repository: Repository) -> Path:
    """Return the path of a repository's collected texts."""
    return out / "collected" / f"{repository.name}{SUFFIX}"


def find_collected(out: Path, repository: Repository) -> Collected | None:
    """Find what was collected of a repository before; None if nothing, or from another address, or by older rules."""
    path = collected_path(out, repository)
    try:
        metadata = pq.read_metadata(path)
        record = json.loads((metadata.metadata or {})[_KEY])
        if record["version"] != VERSION or record["url"] != repository.url:
            return None
        dropped = tuple((dropped_path, reason) for dropped_path, reason in record["dropped"])
        return Collected(path, record["url"], record["commit"], record["licence"], metadata.num_rows, dropped)
    except (OSError, pa.ArrowException, KeyError, ValueError, TypeError):
        return None


def collect(
    out: Path, repository: Repository, deadline: float, stop: threading.Event, keep_clone: bool = False
) -> Collected:
    """Clone a repository and store its files. Raises GitError, and then leaves what was stored earlier."""
    keep_at = out / "clones" / f"{repository.name}.git" if keep_clone else None
    with open_repository(repository, deadline, stop, keep_at) as tree:
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
        commit, licence = tree.commit, licences.of("lakefile.toml")  # as of any file in the topmost folder
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
    columns = [pa.array(map(attrgetter(name), files), pa.string()) for name in COLUMNS]
    schema = _SCHEMA
    if record is not None:
        schema = schema.with_metadata({_KEY: json.dumps(record)})
    table = pa.Table.from_arrays(columns, schema=schema)
    atomic_write(path, lambda file: pq.write_table(table, file, compression="zstd", row_group_size=ROW_GROUP))


def _take(tree: Tree, entry: Entry) -> tuple[str, str]:
    """Return the text of a file, and the reason if it is left out ("" if it is not)."""
    reason = refused_path(entry.path)
    if reason:
        return "", reason
    if entry.bytes is None or entry.bytes > MAX_BYTES:
        return "", TOO_LARGE
    content = tree.read(entry)
    if len(content) > MAX_BYTES:  # a host that cannot leave large files out tells no sizes either
        return "", TOO_LARGE
    text, reason = decode(content)
    return text, reason or refused_text(text)


def _licence_texts(tree: Tree, entries: Sequence[Entry]) -> list[tuple[str, str]]:
    texts = []
    for entry in entries:
        if is_licence_file(entry.path) and not refused_path(entry.path) and entry.bytes is not None:
            texts.append((entry.path, tree.read(entry).decode("utf-8", "replace")))
    return texts


def _write_licences(directory: Path, texts: list[tuple[str, str]], url: str) -> None:
    """Write licences and notices under their paths as names; a note if there are none."""
    shutil.rmtree(directory, ignore_errors=True)
    taken: set[str] = set()
    for number, (path, text) in enumerate(texts):
        name = cut_name(re.sub(r"[^\w.-]", "-", "__".join(PurePosixPath(path).parts)), from_end=True).lstrip(".-")
        if name.casefold() in taken:  # the cut may have left two equal ends
            name = f"{number}-{name}"
        taken.add(name.casefold())
        atomic_write(directory / name, lambda file, text=text: file.write(text.encode()))  # type: ignore[misc]
    if not texts:
        note = f"No licence file was found in {url}: its authors have given no permission to pass its files on.\n"
        atomic_write(directory / NO_LICENSE, lambda file: file.write(note.encode()))
