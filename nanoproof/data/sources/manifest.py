"""Manifests: the record of a data set's complete files, `manifest.json` in its directory, and the paths of these files.

    path = file_path("leanworkbook", "lean_workbook.json")     # or a UserError with the command that fetches it

A file counts only if the manifest lists it and it has the size recorded there; what a stopped download left behind is
never read. Checksums are compared by `python -m nanoproof.data.download NAME --verify`.
"""

import fnmatch
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, read_json
from nanoproof.common.run_dir import home
from nanoproof.data.sources.catalog import how_to_get

FILENAME = "manifest.json"
READ_BYTES = 1 << 20


@dataclass(frozen=True)
class FileRecord:
    """One file: its size and content, and which file of which repository at which commit it is a copy of.

    `commit` is "" where the host did not tell it; `rows` is None where rows are not counted.
    """

    bytes: int
    sha256: str
    rows: int | None = None
    source: str = ""
    path: str = ""
    revision: str = ""
    commit: str = ""


@dataclass(frozen=True)
class Manifest:
    """The complete files of a data set, and the names of those that were wanted and are missing.

    `source`, `revision` and `commit` are those of the main files; `date` is when the last of them arrived.
    """

    name: str
    source: str
    revision: str
    commit: str
    date: str
    files: dict[str, FileRecord] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    @property
    def bytes(self) -> int:
        """Return the size of all files together."""
        return sum(record.bytes for record in self.files.values())


def now() -> str:
    """Return the present date in UTC as manifests record it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def dataset_dir(name: str) -> Path:
    """Return the directory of a data set's files, below `$NANOPROOF_HOME/data`."""
    return home() / "data" / name


def manifest_path(name: str) -> Path:
    """Return the path of a data set's manifest."""
    return dataset_dir(name) / FILENAME


def write_manifest(manifest: Manifest, directory: Path | None = None) -> None:
    """Write a manifest over an older one; to another directory than the data set's if one is given."""
    record = asdict(manifest)
    record["files"] = dict(sorted(record["files"].items()))  # files arrive in any order
    atomic_write_json((directory or dataset_dir(manifest.name)) / FILENAME, record)


def read_manifest(name: str) -> Manifest | None:
    """Read the manifest of a data set; None if it has none. Raises UserError if it is damaged."""
    path = manifest_path(name)
    if not path.exists():
        return None
    return _parse(path, read_json(path))


def require_manifest(name: str) -> Manifest:
    """Read the manifest of a data set. Raises UserError, with the command that fetches the set, if it has none."""
    manifest = read_manifest(name)
    if manifest is None:
        raise UserError(f"the data set {name} is not in {dataset_dir(name)}; get it with: {how_to_get(name)}")
    return manifest


def file_path(name: str, filename: str) -> Path:
    """Return the path of a complete file of a data set. Raises UserError if it is not listed, missing or truncated."""
    return _checked_path(require_manifest(name), filename)


def file_paths(name: str, pattern: str = "*") -> list[Path]:
    """Return the sorted paths of all files whose names match. Raises UserError if none does, or if one is missing."""
    manifest = require_manifest(name)
    missing = fnmatch.filter(manifest.missing, pattern)
    if missing:
        raise UserError(
            f"the data set {name} is incomplete: {_some(missing)} did not arrive; continue with: {how_to_get(name)}"
        )
    filenames = sorted(fnmatch.filter(manifest.files, pattern))
    if not filenames:
        raise UserError(f"the data set {name} has no file {pattern}; get it with: {how_to_get(name)}")
    return [_checked_path(manifest, filename) for filename in filenames]


def find_problems(
    manifest: Manifest, hashes: bool = False, on_bytes: Callable[[int], None] | None = None
) -> dict[str, str]:
    """Compare the files on disk with a manifest: the problem of each that is gone, or has another size or checksum.

    Checksums are compared only with `hashes`; `on_bytes` is called with the numbers of bytes hashed.
    """
    problems = {}
    for filename, record in manifest.files.items():
        problem = _problem(manifest, filename)
        # Of a file with another size the checksum is another, too.
        if hashes and not problem and sha256_of(dataset_dir(manifest.name) / filename, on_bytes) != record.sha256:
            problem = "has another SHA-256 than its manifest says"
        if problem:
            problems[filename] = problem
    return problems


def sha256_of(path: Path, on_bytes: Callable[[int], None] | None = None) -> str:
    """Return the SHA-256 of a file, which is read in pieces."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(READ_BYTES):
            digest.update(piece)
            if on_bytes is not None:
                on_bytes(len(piece))
    return digest.hexdigest()


def record_file(
    path: Path, rows: int | None = None, source: str = "", revision: str = "", commit: str = ""
) -> FileRecord:
    """Return the record of a file that was made on this machine rather than downloaded."""
    return FileRecord(path.stat().st_size, sha256_of(path), rows, source, path.name, revision, commit)


def _checked_path(manifest: Manifest, filename: str) -> Path:
    path = dataset_dir(manifest.name) / filename
    if filename not in manifest.files:
        raise UserError(f"{manifest_path(manifest.name)} lists no {filename}; get it with: {how_to_get(manifest.name)}")
    problem = _problem(manifest, filename)
    if problem:
        raise UserError(f"{path} {problem}; get it again with: {how_to_get(manifest.name)}")
    return path


def _problem(manifest: Manifest, filename: str) -> str:
    expected = manifest.files[filename].bytes  # hashing gigabytes at each start would take a minute or more
    try:
        size = (dataset_dir(manifest.name) / filename).stat().st_size
    except OSError:
        return "is gone"
    if size == expected:
        return ""
    return f"is incomplete or changed: {size:,} bytes, its manifest says {expected:,}"


def _some(names: Iterable[str]) -> str:
    names = list(names)
    shown = ", ".join(names[:3])
    if len(names) > 3:
        shown += f" and {len(names) - 3} more"
    return shown


def _parse(path: Path, record: Any) -> Manifest:
    try:
        files = {filename: FileRecord(**entry) for filename, entry in record["files"].items()}
        manifest = Manifest(**{**record, "files": files, "missing": tuple(record["missing"])})
        whole = all(isinstance(entry.bytes, int) and isinstance(entry.sha256, str) for entry in files.values())
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise UserError(f"{path} is no manifest of a data set: {error}; remove it and download again") from error
    # A folder that was copied under another name would pass for a data set that it is not.
    if not whole or manifest.name != path.parent.name:
        raise UserError(f"{path} is no manifest of the data set {path.parent.name}; remove it and download again")
    return manifest
