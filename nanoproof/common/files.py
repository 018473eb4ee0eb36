"""Files that survive a killed process: atomic writes, and append-only JSONL that tolerates a torn last line."""

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from nanoproof.common.errors import UserError


def atomic_write(path: Path, write: Callable[[IO[bytes]], object], sync: bool = True) -> None:
    """Call `write` with a temporary file beside `path`, sync it to disk, and rename it to `path`.

    A reader of `path` sees the old content or the new one, never half of it. OSErrors (a full disk) leave no file
    behind and name `path`. Without `sync` that holds as long as the machine does not stop: for files that are written
    often and can be lost then. A device or a pipe (`/dev/null`, `/dev/stdout`) is written into: a rename would put a
    file in its place, for all of the machine if root does it.
    """
    path = Path(path)
    place = _stream_at(path)
    if place is not None:
        sys.stdout.flush()  # what was printed comes first
        with open(place, "wb") as file:
            write(file)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:  # unlike tempfile's, with the rights that the umask leaves
            write(file)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        # The content is on disk before its name is: the other way a power cut leaves an empty file.
        os.replace(temporary, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        # A name that the user never saw would say nothing to them, and a failing write names no file at all.
        if isinstance(error, OSError) and error.errno and error.filename in (None, str(temporary)):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _stream_at(path: Path) -> Path | int | None:
    """Return what to open for a device, a pipe, or a name of a file that is open; None for any other path."""
    if path.is_symlink() and (found := re.fullmatch(r"/proc/self/fd/(\d+)", os.readlink(path))):
        return os.dup(int(found[1]))  # opened once more, a file would be written from its beginning
    return path if path.exists() and not (path.is_file() or path.is_dir()) else None


def read_regular(path: Path, most: int | None = None) -> bytes:
    """Read a file of a folder from elsewhere, at most `most` bytes of it.

    Raises OSError, with a reason in words, for what is no plain file or is larger: opening a FIFO waits for a writer,
    opening a device may do anything, and `/dev/zero` has no end.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):  # before it is opened
        raise OSError(errno.EINVAL, "not a plain file", str(path))
    # without blocking, should it be another one by now
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "not a plain file", str(path))
        if most is not None and about.st_size > most:
            raise OSError(errno.EINVAL, f"{about.st_size:,} bytes, more than {most:,}", str(path))
        if most is None:
            return file.read()
        # It may grow meanwhile: no more than was allowed.
        return file.read(about.st_size)


def remove_tree(folder: Path) -> None:
    """Remove a folder from elsewhere with all in it, as far as that is possible.

    Folders are moved to the top first: `shutil.rmtree` calls itself for each level, and a clone may have 1,500.
    """
    todo, number = [folder], 0
    while todo:
        current = todo.pop()
        with suppress(OSError):
            for entry in list(os.scandir(current)):
                with suppress(OSError):
                    if not entry.is_dir(follow_symlinks=False):
                        os.unlink(entry.path)
                        continue
                    number += 1
                    todo.append(folder / f".removed-{secrets.token_hex(4)}-{number}")
                    os.rename(entry.path, todo[-1])
    shutil.rmtree(folder, ignore_errors=True)


MOST_NAME_BYTES = 120
"""File systems take names of 255 bytes; endings, hashes and what marks a temporary file come on top."""


def cut_name(name: str, from_end: bool = False) -> str:
    """Return as much of a name's beginning, or of its end, as file systems take.

    They count bytes, of which a letter of Greek has two and one of Chinese three.
    """
    data = name.encode("utf-8", "replace")
    part = data[:MOST_NAME_BYTES]
    if from_end:
        part = data[-MOST_NAME_BYTES:]
    return part.decode("utf-8", "ignore")


def file_sha256(path: Path) -> str:
    """Compute the SHA-256 of a file, in hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync_directory(path: Path) -> None:
    """Sync a directory, so that files written to it or removed from it stay so if the machine stops."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def atomic_write_text(path: Path, text: str) -> None:
    """Atomically write UTF-8 text."""
    atomic_write(path, lambda file: file.write(text.encode("utf-8")))


def atomic_write_json(path: Path, value: Any) -> None:
    """Atomically write indented JSON."""
    atomic_write_text(path, _json_text(value, indent=2) + "\n")


def parse_json(data: bytes | str) -> Any:
    """Parse JSON that others wrote. Raises ValueError for all that cannot be read.

    Python itself raises a RecursionError for what is nested more deeply than its stack.
    """
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


HALF_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")
"""What JSON with a lone surrogate has, and other JSON seldom."""


def lone_surrogate(value: Any, name: str = "") -> str | None:
    """Return the first field of a JSON value whose text has half a character; None if all have a UTF-8 form.

    JSON can say `"\\ud83d"` alone, which no tokenizer takes and no file of UTF-8 holds.
    """
    waiting = [(name, value)]
    while waiting:
        field, part = waiting.pop()
        if isinstance(part, str):
            # `replace` puts `?` for what has no UTF-8 form; most texts are ASCII, which is known without looking.
            if not part.isascii() and part.encode("utf-8", "replace").decode() != part:
                return field
        elif isinstance(part, dict):
            waiting.extend((f"{field}.{key}".removeprefix("."), inner) for key, inner in reversed(part.items()))
        elif isinstance(part, list):
            waiting.extend((f"{field}[{index}]", part[index]) for index in reversed(range(len(part))))
    return None


# Below a file, and where a folder stands, there is none either. Other errors may pass, and are none of these.
_NO_FILE = (FileNotFoundError, NotADirectoryError, IsADirectoryError)


def read_json(path: Path) -> Any:
    """Read a JSON file; raises UserError if it is missing or damaged."""
    try:
        return parse_json(Path(path).read_bytes())
    except _NO_FILE as error:
        raise UserError(f"no such file: {path}") from error
    except ValueError as error:
        raise UserError(f"{path} is not valid JSON: {error}") from error


def read_object(path: Path) -> dict[str, Any] | None:
    """Read the object in a JSON file; None if the file is missing, damaged, or holds something else."""
    try:
        value = read_json(path)
    except UserError:
        return None
    return value if isinstance(value, dict) else None


def json_line(record: Any) -> str:
    """Encode a record as a line of JSONL."""
    return _json_text(record, separators=(",", ":")) + "\n"


def _json_text(value: Any, **how: Any) -> str:
    """Encode a value so that it has a UTF-8 form: half a character, as texts of others may have, is an escape."""
    text = json.dumps(value, ensure_ascii=False, **how)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, **how)
    return text


class JsonlWriter:
    """Appends one JSON object per line; thread-safe; every line reaches the operating system at once.

    Of a line that cannot be written (OSError: a full disk) nothing stays in the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        drop_torn_line(self.path)
        self._file = open(self.path, "ab", buffering=0)
        self._lock = threading.Lock()

    def write(self, record: Any) -> None:
        """Append one record."""
        line = json_line(record).encode("utf-8")
        with self._lock:
            append_whole(self._file, line)

    def close(self) -> None:
        """Close the file; further writes fail."""
        self._file.close()


def append_whole(file: IO[bytes], data: bytes) -> None:
    """Append to an unbuffered file with a single writer: all of the data, or nothing if that fails (OSError)."""
    size = os.fstat(file.fileno()).st_size
    try:
        while data:
            data = data[file.write(data) :]
    except OSError as error:
        # Half a line in the middle of a log would be damage to every reader; at the end it would only be torn.
        os.ftruncate(file.fileno(), size)
        error.filename = file.name
        raise


def drop_torn_line(path: Path) -> None:
    """Cut off a last line without line end, which a killed writer left, so that appending starts on a fresh line."""
    if not path.exists() or path.stat().st_size == 0:
        return
    with open(path, "rb+") as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1) == b"\n":
            return
        position = file.tell()
        # A line may be megabytes (a state, a proof), a log gigabytes: only its end is read, backwards.
        while position > 0:
            step = min(65536, position)
            file.seek(position - step)
            newline = file.read(step).rfind(b"\n")
            if newline >= 0:
                file.truncate(position - step + newline + 1)
                return
            position -= step
        file.truncate(0)


def read_jsonl(path: Path) -> Iterator[Any]:
    """Yield the records of a JSONL file. A torn last line is ignored; damage elsewhere raises UserError."""
    try:
        file = open(path, "rb")
    except _NO_FILE as error:
        raise UserError(f"no such file: {path}") from error
    with file:
        for number, line in enumerate(file, start=1):
            # A writer was killed in it, or is writing it now: what it was to be cannot be known.
            if not line.endswith(b"\n"):
                return
            if not line.strip():
                continue
            try:
                yield parse_json(line)
            except ValueError as error:
                raise UserError(f"{path}, line {number}: not valid JSON: {error}") from error


_CHUNK = 1 << 20
"""Characters of a list that are read at a time: LeanDojo's data sets have files of hundreds of megabytes."""
_SPACE = re.compile(r"\s*")


def json_items(path: Path) -> Iterator[Any]:
    """Yield the items of the JSON list in a file, one in memory at a time. Raises UserError if it is damaged."""
    decoder = json.JSONDecoder()
    try:
        with open(path, encoding="utf-8-sig") as file:
            text, place, state = "", 0, "start"  # then: first item, item, after an item
            while True:
                # `text` is what was read and not yielded yet, from `place` on.
                place = _SPACE.match(text, place).end()  # type: ignore[union-attr]
                mark = text[place : place + 1]
                if mark == "[" and state == "start":
                    place, state = place + 1, "first"
                    continue
                if mark == "]" and state in ("first", "after"):
                    return
                if mark == "," and state == "after":
                    place, state = place + 1, "item"
                    continue
                if mark and state in ("first", "item"):
                    with suppress(ValueError):  # it may not be complete yet
                        item, end = decoder.raw_decode(text, place)
                        if end < len(text):  # a number at the end may go on
                            yield item
                            place, state = end, "after"
                            continue
                elif mark:
                    raise UserError(f"{path} is not a list of JSON near {text[place : place + 60]!r}")
                # At least as much as there is: an item that is begun anew with each chunk takes linear time so.
                more = file.read(max(_CHUNK, len(text) - place))
                if not more:
                    near = text[place : place + 60]
                    raise UserError(f"{path} is not a list of JSON: it ends too early, or is damaged near {near!r}")
                text, place = text[place:] + more, 0
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from error


def read_text(path: Path) -> str:
    """Read a UTF-8 text file; raises UserError if it cannot be read, or is not UTF-8.

    Line ends of Windows become line feeds. A carriage return by itself stays: to Lean it ends no line, nor a comment.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")  # without the mark that editors of Windows put first
        return text.replace("\r\n", "\n")
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from error
