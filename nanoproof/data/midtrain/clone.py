"""Clones of git repositories: fetched without history, read without checking anything out.

    repositories = read_lists([path])
    with open_repository(repositories[0], deadline=600, stop=threading.Event()) as tree:
        for entry in tree.entries(): tree.read(entry)

A clone is bare and shallow, and files are read from its objects. So symbolic links, submodules, hooks, names that a
file system refuses and names that differ in case only do no harm. Files over `MAX_BYTES` are not even fetched where
the host can leave them out. An address is an https URL, a repository on disk (bare or with a work tree; committed files
are read) or any other folder, whose files are read as they are.
"""

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from nanoproof.common.errors import UserError

MAX_BYTES = 1_000_000
"""Larger files are not read."""
SCHEMES = ("https://", "http://", "file://", "ssh://")
_ADDRESS = re.compile(r"(?:https?|ssh)://[^/]+/+[^/].*|file:///+[^/].*")
POLL_SECONDS = 0.2
_HIDDEN_ENVIRONMENT = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR")


class CloneError(Exception):
    """A repository could not be cloned or read; the message is one line."""


@dataclass(frozen=True)
class Repository:
    """A repository of the list: its name, after which its files are named, and its address."""

    name: str
    url: str


@dataclass(frozen=True)
class Entry:
    """A file: its path, the handle to read it by, its size (None: too large and not fetched, -1: not known yet)."""

    path: str
    handle: str
    bytes: int | None


class Tree(Protocol):
    """The files of a repository."""

    commit: str

    def entries(self) -> Sequence[Entry]:
        """List all plain files, sorted by path."""
        ...

    def read(self, entry: Entry) -> bytes:
        """Return the content of a file. Raises CloneError."""
        ...


# -- The list of repositories ----------------------------------------------------------------------------------------


def read_lists(paths: Sequence[Path]) -> list[Repository]:
    """Read lists of repositories, in their order: one address per line, `#` before comments.

    An address that comes again, in whatever list, counts once. Raises UserError for a file that is missing or empty,
    and, with file and line, for a line that is no address.
    """
    found: dict[str, str] = {}
    for path in paths:
        for url in _read_list(path):
            found.setdefault(_address_key(url), url)
    return _named(list(found.values()))


def _read_list(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read the list of repositories {path}: {error}") from error
    found = []
    for number, line in enumerate(lines, start=1):
        url = re.sub(r"(^|\s)#.*", "", line).strip()
        if not url:
            continue
        if not url.startswith(SCHEMES) and not Path(url).expanduser().is_dir():
            raise UserError(f"{path}, line {number}: {url!r} is neither an https URL nor a folder")
        if any(char.isspace() for char in url) or (url.startswith(SCHEMES) and not _ADDRESS.fullmatch(url)):
            raise UserError(
                f"{path}, line {number}: {url!r} is no address of one repository, as https://host/owner/name"
            )
        found.append(url)
    if not found:
        raise UserError(f"{path} names no repositories")
    return found


def _address_key(url: str) -> str:
    """Return a key that is equal for addresses of the same repository."""
    plain = url.rstrip("/").removesuffix(".git")
    return plain.casefold() if url.startswith(SCHEMES) else str(Path(plain).expanduser().resolve())


def _named(urls: Sequence[str]) -> list[Repository]:
    """Name each repository by owner and name; a hash is appended to names that are taken."""
    taken: set[str] = set()
    repositories = []
    for url in urls:
        words = [word for word in url.rstrip("/").removesuffix(".git").split("/") if word]
        kept = words[-2:] if url.startswith(SCHEMES[:2]) and len(words) > 3 else words[-1:]
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", "_".join(kept)).strip(".-") or "repository"
        if name.casefold() in taken:
            name += "-" + hashlib.sha256(url.encode()).hexdigest()[:8]
        taken.add(name.casefold())
        repositories.append(Repository(name, url))
    return repositories


# -- Trees -----------------------------------------------------------------------------------------------------------


@contextmanager
def open_repository(
    repository: Repository, deadline: float, stop: threading.Event, keep_at: Path | None = None
) -> Iterator[Tree]:
    """Open the files of a repository, cloned for the time being, or to `keep_at`. Raises CloneError.

    `deadline` limits each git command, in seconds.
    """
    url = repository.url
    if not url.startswith(SCHEMES):
        folder = Path(url).expanduser().resolve()
        if not _is_git(folder):
            yield FolderTree(folder)
            return
        url = folder.as_uri()
    with tempfile.TemporaryDirectory(prefix="nanoproof-clone-", ignore_cleanup_errors=True) as temporary:
        target = Path(temporary) / "clone.git"
        limit = f"--filter=blob:limit={MAX_BYTES}"
        flags = ["--bare", "--depth=1", "--single-branch", "--no-tags", "--quiet", limit]
        git(["clone", *flags, "--", url, str(target)], deadline, stop)
        with GitTree(target, deadline, stop) as tree:
            yield tree
        if keep_at is not None:
            shutil.rmtree(keep_at, ignore_errors=True)
            keep_at.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(target, keep_at)


def _is_git(folder: Path) -> bool:
    return (folder / ".git").exists() or ((folder / "HEAD").is_file() and (folder / "objects").is_dir())


class GitTree:
    """The files of a bare clone at its newest commit."""

    def __init__(self, path: Path, deadline: float, stop: threading.Event) -> None:
        self._path, self._deadline, self._stop = path, deadline, stop
        self.commit = git(["-C", str(path), "rev-parse", "HEAD^{commit}"], deadline, stop).decode().strip()
        # stderr goes nowhere: a full pipe would stop the process
        self._process = subprocess.Popen(
            ["git", "-C", str(path), "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            start_new_session=True,
        )

    def entries(self) -> list[Entry]:
        """List plain files only: symbolic links and submodules have other modes."""
        listed = ["-C", str(self._path), "rev-list", "--objects", "--missing=print", self.commit]
        missing = {
            line[1:].decode() for line in git(listed, self._deadline, self._stop).splitlines() if line[:1] == b"?"
        }
        found = []
        tree = git(
            ["-C", str(self._path), "ls-tree", "-r", "-z", "--full-tree", self.commit], self._deadline, self._stop
        )
        for record in tree.split(b"\0"):
            head, _, path = record.partition(b"\t")
            if head.startswith(b"100"):
                handle = head.split()[2].decode()
                size = None if handle in missing else -1
                found.append(Entry(path.decode("utf-8", "replace"), handle, size))
        return sorted(found, key=lambda entry: entry.path)

    def read(self, entry: Entry) -> bytes:
        if self._stop.is_set():
            raise CloneError("stopped")
        assert entry.bytes is not None, "it was not fetched"
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        try:
            stdin.write(entry.handle.encode() + b"\n")
            stdin.flush()
            header = stdout.readline().split()
            if len(header) != 3:
                raise CloneError(f"git has no content for {entry.path}")
            content = _read_exactly(stdout, int(header[2]) + 1)
        except (OSError, EOFError) as error:
            raise CloneError(f"git ended while {entry.path} was read") from error
        return content[:-1]

    def __enter__(self) -> "GitTree":
        return self

    def __exit__(self, *_: object) -> None:
        _end(self._process)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


class FolderTree:
    """The files of a folder that is no repository; links are not followed."""

    def __init__(self, path: Path) -> None:
        self._path, self.commit = path, ""

    def entries(self) -> list[Entry]:
        found = []
        for folder, folders, files in os.walk(self._path):
            folders[:] = [name for name in folders if name != ".git"]
            for name in files:
                file = Path(folder) / name
                if file.is_file() and not file.is_symlink():
                    path = file.relative_to(self._path).as_posix().encode("utf-8", "replace").decode()
                    found.append(Entry(path, str(file), file.stat().st_size))
        return sorted(found, key=lambda entry: entry.path)

    def read(self, entry: Entry) -> bytes:
        try:
            return Path(entry.handle).read_bytes()
        except OSError as error:
            raise CloneError(f"cannot read {entry.path}: {error.strerror}") from error


def _read_exactly(stream: IO[bytes], count: int) -> bytes:
    content = stream.read(count)
    if len(content) < count:
        raise EOFError
    return content


# -- Git -------------------------------------------------------------------------------------------------------------


def git(arguments: Sequence[str], deadline: float, stop: threading.Event) -> bytes:
    """Run git and return what it prints. Raises CloneError if it fails, takes too long (in seconds), or is stopped.

    It never prompts, and the processes that it started are ended with it.
    """
    settings = ["-c", "credential.helper=", "-c", "core.askPass=", "-c", "protocol.ext.allow=never"]
    settings += ["-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60", "-c", "gc.auto=0"]
    try:
        process = subprocess.Popen(
            ["git", *settings, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise UserError("git is not installed, or not on the PATH; repositories cannot be cloned without it") from error
    end = time.monotonic() + deadline
    try:
        while True:
            try:
                out, errors = process.communicate(timeout=POLL_SECONDS)
                break
            except subprocess.TimeoutExpired:
                if stop.is_set():
                    raise CloneError("stopped") from None
                if time.monotonic() > end:
                    raise CloneError(f"git did not end within {deadline:g} seconds") from None
    finally:
        _end(process)
    if process.returncode != 0:
        raise CloneError(_reason(errors) or f"git ended with code {process.returncode}")
    return out


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _HIDDEN_ENVIRONMENT}
    asks = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "SSH_ASKPASS": "true", "GCM_INTERACTIVE": "never"}
    kept.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")
    return {**kept, **asks, "LC_ALL": "C"}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it started, unless it has ended."""
    if process.poll() is not None:
        return
    for number in (signal.SIGTERM, signal.SIGKILL):  # the second is for what the first does not end
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=2)


def _reason(errors: bytes) -> str:
    """Return the last line of git's output that reports an error."""
    lines = [line.strip() for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("fatal:", "error:", "remote:"))]
    return (telling or lines or [""])[-1]
