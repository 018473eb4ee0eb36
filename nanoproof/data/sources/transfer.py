"""The download of one file: resumed where it stopped, retried after transient errors, verified, then renamed.

What has arrived of a file is kept under a hidden name in the file's folder, with a part of the expected checksum in it,
so that it is resumed only with more of the same. (The hub's own library begins again in a new process.) A file gets its
real name once its size, checksum and content are right: a proxy may have answered with a page of its own.
"""

import errno
import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from nanoproof.common.files import sync_directory
from nanoproof.data.sources.catalog import Source
from nanoproof.data.sources.manifest import READ_BYTES

T = TypeVar("T")

ATTEMPTS = 7
"""Attempts in a row for a file without a byte coming through: about a minute of them."""
LIST_ATTEMPTS = 4
"""Attempts for other requests; who mistyped an address should not wait long."""
FIRST_WAIT = 1.0
LONGEST_WAIT = 60.0
"""Seconds before the second attempt and, doubling, before later ones; a host may ask for others."""
UNANNOUNCED_BYTES = 1 << 30
"""Most bytes of a file whose size its host does not tell; all of the catalog's are smaller."""
TRANSIENT_STATUS = (408, 425, 429, 500, 502, 503, 504)
"""HTTP status codes that are worth another attempt."""
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_THEOREM = re.compile(r"^(?:theorem|lemma)\s", re.MULTILINE)


class TransferError(Exception):
    """A file or a listing is not available; the message is one sentence, with what to do where something can be done.

    `whole_repository` says that this holds for all files of the repository, `offline` that the host was not reached.
    """

    def __init__(self, message: str, whole_repository: bool = False, offline: bool = False) -> None:
        super().__init__(message)
        self.whole_repository, self.offline = whole_repository, offline


class TransientError(Exception):
    """An error that may pass: a lost connection, a busy host. `wait` is in seconds, where a host names it."""

    def __init__(self, message: str, wait: float | None = None, reached: bool = True) -> None:
        super().__init__(message)
        self.wait, self.reached = wait, reached


class Stopped(Exception):
    """The user stopped the command."""


@dataclass(frozen=True)
class RemoteFile:
    """A file as its host describes it. Where the host does not tell them, `size` is None and the others are ""."""

    source: Source
    path: str
    local: str
    url: str
    commit: str
    size: int | None = None
    sha256: str = ""
    git_blob: str = ""

    @property
    def resume_key(self) -> str:
        """Return a key that is equal only for equal contents; "" if there is none."""
        if self.sha256 or self.git_blob:
            return (self.sha256 or self.git_blob)[:16]
        if not self.commit:
            return ""
        return hashlib.sha256(f"{self.commit} {self.path}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Body:
    """The bytes of a file from `start` on."""

    start: int
    pieces: Iterator[bytes]


class Remote(Protocol):
    """A kind of host. All methods raise TransferError or TransientError."""

    def commit(self, source: Source, revision: str) -> str:
        """Resolve a revision to its commit; "" if the host does not tell."""
        ...

    def files(self, source: Source, revision: str) -> list[RemoteFile]:
        """List the files that a source stands for, at a revision."""
        ...

    def open(self, file: RemoteFile, offset: int) -> AbstractContextManager[Body]:
        """Request a file from byte `offset` on; a host that cannot resume sends it from the start (`Body.start`)."""
        ...


def with_retries(call: Callable[[], T], stop: threading.Event) -> T:
    """Return the result of a call, which is repeated on TransientErrors for up to `LIST_ATTEMPTS` attempts."""
    for attempt in range(1, LIST_ATTEMPTS + 1):
        try:
            return call()
        except TransientError as error:
            _wait_or_give_up(error, attempt, LIST_ATTEMPTS, stop)
    raise AssertionError("not reached")


def partial_path(file: RemoteFile, target: Path) -> Path:
    """Return the path under which the arrived part of a file is kept."""
    return target.with_name(f".{target.name}.{file.resume_key or 'new'}.partial")


def fetch(
    remote: Remote,
    file: RemoteFile,
    target: Path,
    check: Callable[[Path], int | None],
    on_bytes: Callable[[int], None],
    stop: threading.Event,
) -> tuple[int, str, int | None]:
    """Download a file to `target` and return its size in bytes, its SHA-256 and the result of `check` (its rows).

    `on_bytes` is called with the numbers of bytes that arrived, those of an earlier attempt included. Raises
    TransferError; then `target` is as it was before.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = partial_path(file, target)
    for other in target.parent.glob(f".{target.name}.*.partial"):
        key = other.name.removeprefix(f".{target.name}.").removesuffix(".partial")
        outdated = other != partial or not file.resume_key
        if outdated and "." not in key:  # with a dot it is of a file whose name begins like this one's
            other.unlink(missing_ok=True)
    try:
        resumed = partial.exists()
        _complete(remote, file, partial, on_bytes, stop)
        size, sha256, problem = _verify(file, partial)
        if problem and resumed:  # the beginning may have been damaged since
            on_bytes(-partial.stat().st_size)
            partial.unlink()
            _complete(remote, file, partial, on_bytes, stop)
            size, sha256, problem = _verify(file, partial)
        if problem:
            partial.unlink()
            raise TransferError(f"{problem}; it was damaged on the way, nothing of it is kept, try again")
        rows = _check_content(check, partial)
        os.replace(partial, target)
        sync_directory(target.parent)  # or a loss of power may take the new name back
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise TransferError(f"cannot write {target}: {error.strerror or error}") from error
        partial.unlink(missing_ok=True)
        reason = "files may not become that large here" if error.errno == errno.EFBIG else "the disk is full"
        raise TransferError(
            f"cannot write {target}: {reason}; nothing of it is kept, free space and try again"
        ) from error
    return size, sha256, rows


def _complete(
    remote: Remote, file: RemoteFile, partial: Path, on_bytes: Callable[[int], None], stop: threading.Event
) -> None:
    """Append what is missing to the partial file."""
    on_bytes(_size_of(partial))
    failures = 0
    while True:
        before = _size_of(partial)
        try:
            _append(remote, file, partial, on_bytes, stop)
            return
        except TransientError as error:
            failures += 1
            if _size_of(partial) > before:
                failures = 1  # a connection that breaks now and then ends a file of many gigabytes all the same
            _wait_or_give_up(error, failures, ATTEMPTS, stop)


def _size_of(path: Path) -> int:
    if not path.exists():
        return 0
    return path.stat().st_size


def _append(
    remote: Remote, file: RemoteFile, partial: Path, on_bytes: Callable[[int], None], stop: threading.Event
) -> None:
    """Append one response to the partial file. Raises TransientError if it ends early.

    Of one that goes on behind the announced size a byte more is kept, by which `_verify` knows it: a host that packs
    what it sends made 635 MB of 1.5.
    """
    limit = file.size
    if limit is None:
        limit = UNANNOUNCED_BYTES
    offset = _size_of(partial)
    if file.size is not None and offset > file.size:
        partial.unlink()
        on_bytes(-offset)
        offset = 0
    if offset and offset == file.size:
        return
    with remote.open(file, offset) as body, open(partial, "ab") as out:
        if body.start != offset:
            out.truncate(body.start)
            on_bytes(body.start - offset)
        size = body.start
        for piece in body.pieces:
            if stop.is_set():
                raise Stopped
            kept = piece[: limit + 1 - size]
            out.write(kept)
            on_bytes(len(kept))
            size += len(kept)
            if size > limit:
                break
        out.flush()
        os.fsync(out.fileno())  # after a loss of power its end must not be zeros that the next attempt goes on behind
    if file.size is not None and size < file.size:
        raise TransientError(f"the connection ended after {size:,} of {file.size:,} bytes")


def _wait_or_give_up(error: TransientError, failures: int, limit: int, stop: threading.Event) -> None:
    if failures >= limit:
        raise TransferError(f"{error} (tried {failures} times)", offline=not error.reached) from error
    wait = error.wait
    if wait is None:
        wait = FIRST_WAIT * 2 ** (failures - 1)
    if stop.wait(min(wait, LONGEST_WAIT)):
        raise Stopped


def _verify(file: RemoteFile, path: Path) -> tuple[int, str, str]:
    """Return size and SHA-256 of what arrived, and the problem with it ("" if there is none)."""
    size = path.stat().st_size
    sha256, blob = hashlib.sha256(), hashlib.sha1(f"blob {size}\0".encode())  # how git names a file's content
    with open(path, "rb") as opened:
        while piece := opened.read(READ_BYTES):
            sha256.update(piece)
            if file.git_blob:
                blob.update(piece)
    problem = ""
    if file.size is not None and size > file.size:
        problem = f"its host sends more than the {file.size:,} bytes that it announced"
    elif file.size is not None and size != file.size:
        problem = f"it has {size:,} bytes, its host says {file.size:,}"
    elif size > UNANNOUNCED_BYTES:
        problem = f"its host announces no size and sends more than {UNANNOUNCED_BYTES:,} bytes"
    elif file.sha256 and sha256.hexdigest() != file.sha256:
        problem = f"its SHA-256 is {sha256.hexdigest()[:16]}.., its host says {file.sha256[:16]}.."
    elif file.git_blob and blob.hexdigest() != file.git_blob:
        problem = f"its git checksum is {blob.hexdigest()[:16]}.., its host says {file.git_blob[:16]}.."
    return size, sha256.hexdigest(), problem


def _check_content(check: Callable[[Path], int | None], partial: Path) -> int | None:
    """Return the result of `check`; a file that it refuses is removed."""
    try:
        return check(partial)
    except TransferError:
        partial.unlink()
        raise


# -- Content ---------------------------------------------------------------------------------------------------------


def count_rows(path: Path, filename: str) -> int | None:
    """Count the rows of a file: table rows, lines, list elements or theorems by the suffix of `filename`, else None.

    Raises TransferError if the content does not fit the suffix, as a proxy's page does not.
    """
    suffix = Path(filename).suffix
    try:
        if suffix == ".parquet":
            return int(pq.read_metadata(path).num_rows)
        if suffix == ".jsonl":
            return _count_lines(path)
        if suffix == ".json":
            value = json.loads(path.read_bytes())
            if isinstance(value, list):
                return len(value)
        if suffix == ".lean":
            return _count_theorems(path)
    except (pa.ArrowException, ValueError) as error:
        reason = " ".join(str(error).split())[:120]
        raise TransferError(
            f"what came as {filename} is no {suffix[1:]} file ({reason}); does a proxy answer?"
        ) from error
    return None


def _count_lines(path: Path) -> int:
    """Count the lines with text; the first must be a JSON object, and the last complete."""
    count, last = 0, b""
    with open(path, "rb") as file:
        first = file.readline()
        if not isinstance(json.loads(first), dict):
            raise ValueError("the first line is no JSON object")
        file.seek(0)
        for line in file:
            if line.strip():
                count += 1
                last = line
    json.loads(last)  # raises where the file was cut off, at its host or on the way
    return count


def _count_theorems(path: Path) -> int:
    text = path.read_text(encoding="utf-8")
    count = len(_THEOREM.findall(text))
    if count == 0:
        raise ValueError("it holds no theorem")
    return count
