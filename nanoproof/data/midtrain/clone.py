"""Clones of git repositories: fetched without history, read without checking anything out.

    repositories = read_lists([path])
    with open_repository(repositories[0], deadline=600, stop=threading.Event()) as tree:
        for entry in tree.entries(): tree.read(entry)

A clone is bare and shallow, and files are read from its objects. So symbolic links, submodules, hooks, names that a
file system refuses and names that differ in case only do no harm. Files over `MAX_BYTES` are not even fetched where
the host can leave them out. An address is an https URL, a repository on disk (bare or with a work tree; committed files
are read) or any other folder, whose files are read as they are.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import IO, Protocol

from nanoproof.common.errors import UserError
from nanoproof.common.files import cut_name
from nanoproof.common.git import GitError, end_process, git, git_command, git_environment

MAX_BYTES = 1_000_000
"""Larger files are not read."""
SCHEMES = ("https://", "http://", "file://", "ssh://")
_ADDRESS = re.compile(r"(?:https?|ssh)://[^/]+/+[^/].*|file:///+[^/].*")


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
        """Return the content of a file. Raises GitError."""
        ...


# -- The list of repositories ----------------------------------------------------------------------------------------


def read_lists(paths: Sequence[Path]) -> list[Repository]:
    """Read lists of repositories, in their order: one address per line, `#` before comments.

    An address that comes again, in whatever list, counts once. Raises UserError for a file that is missing or empty,
    and, with file and line, for a line that is no address.
    """
    urls: dict[str, str] = {}
    for path in paths:
        for url in _read_list(path):
            urls.setdefault(_address_key(url), url)
    return _named(list(urls.values()))


def _read_list(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read the list of repositories {path}: {error}") from error
    urls = []
    for number, line in enumerate(lines, start=1):
        url = re.sub(r"(^|\s)#.*", "", line).strip()  # a `#` inside of an address begins no comment
        if not url:
            continue
        if not url.startswith(SCHEMES) and not Path(url).expanduser().is_dir():
            raise UserError(f"{path}, line {number}: {url!r} is neither an https URL nor a folder")
        if any(char.isspace() for char in url) or (url.startswith(SCHEMES) and not _ADDRESS.fullmatch(url)):
            raise UserError(
                f"{path}, line {number}: {url!r} is no address of one repository, as https://host/owner/name"
            )
        urls.append(url)
    if not urls:
        raise UserError(f"{path} names no repositories")
    return urls


def _address_key(url: str) -> str:
    """Return a key that is equal for addresses of the same repository."""
    plain = url.rstrip("/").removesuffix(".git")
    if url.startswith(SCHEMES):
        return plain.casefold()  # GitHub does not tell cases apart
    return str(Path(plain).expanduser().resolve())


def _named(urls: Sequence[str]) -> list[Repository]:
    """Name each repository by owner and name; a hash is appended to names that are taken."""
    taken: set[str] = set()
    repositories = []
    for url in urls:
        parts = [part for part in url.rstrip("/").removesuffix(".git").split("/") if part]
        owner_and_name = parts[-1:]
        if url.startswith(SCHEMES[:2]) and len(parts) > 3:  # https, host, owner, name
            owner_and_name = parts[-2:]
        name = cut_name(re.sub(r"[^A-Za-z0-9._-]+", "-", "_".join(owner_and_name)).strip(".-")) or "repository"
        if name.casefold() in taken:
            name += "-" + hashlib.sha256(url.encode()).hexdigest()[:8]
        taken.add(name.casefold())  # some file systems do not tell cases apart
        repositories.append(Repository(name, url))
    return repositories


# -- Trees -----------------------------------------------------------------------------------------------------------


@contextmanager
def open_repository(
    repository: Repository, deadline: float, stop: threading.Event, keep_at: Path | None = None
) -> Iterator[Tree]:
    """Open the files of a repository, cloned for the time being, or to `keep_at`. Raises GitError.

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
        git("clone", *flags, "--", url, str(target), seconds=deadline, stop=stop)  # behind `--` nothing is an option
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
        self.commit = git("rev-parse", "HEAD^{commit}", at=path, seconds=deadline, stop=stop).decode().strip()
        # stderr goes nowhere: a full pipe would stop the process
        self._process = subprocess.Popen(
            git_command("cat-file", "--batch", at=path),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=git_environment(),
            start_new_session=True,
        )

    def _git(self, *arguments: str) -> bytes:
        return git(*arguments, at=self._path, seconds=self._deadline, stop=self._stop)

    def entries(self) -> list[Entry]:
        """List plain files only: symbolic links and submodules have other modes."""
        objects = self._git("rev-list", "--objects", "--missing=print", self.commit)
        missing = {line[1:].decode() for line in objects.splitlines() if line[:1] == b"?"}
        files = []
        tree = self._git("ls-tree", "-r", "-z", "--full-tree", self.commit)
        for record in tree.split(b"\0"):
            head, _, path = record.partition(b"\t")  # mode, type, object; 100644 and 100755 are plain files
            if head.startswith(b"100"):
                handle = head.split()[2].decode()
                size: int | None = None if handle in missing else -1
                files.append(Entry(path.decode("utf-8", "replace"), handle, size))
        return sorted(files, key=attrgetter("path"))

    def read(self, entry: Entry) -> bytes:
        if self._stop.is_set():
            raise GitError("stopped")
        assert entry.bytes is not None, "it was not fetched"
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        try:
            stdin.write(entry.handle.encode() + b"\n")
            stdin.flush()
            header = stdout.readline().split()  # object, type, size; `OBJECT missing` where it was not fetched
            if len(header) != 3:
                raise GitError(f"git has no content for {entry.path}")
            content = _read_exactly(stdout, int(header[2]) + 1)  # a line feed comes behind it
        except (OSError, EOFError) as error:
            raise GitError(f"git ended while {entry.path} was read") from error
        return content[:-1]

    def __enter__(self) -> "GitTree":
        return self

    def __exit__(self, *_: object) -> None:
        end_process(self._process)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


class FolderTree:
    """The files of a folder that is no repository; links are not followed."""

    def __init__(self, path: Path) -> None:
        self._path, self.commit = path, ""

    def entries(self) -> list[Entry]:
        entries = []
        for folder, folders, names in os.walk(self._path):
            folders[:] = [name for name in folders if name != ".git"]  # in place: `os.walk` goes into those left
            for name in names:
                file = Path(folder) / name
                if file.is_file() and not file.is_symlink():
                    path = file.relative_to(self._path).as_posix().encode("utf-8", "replace").decode()
                    entries.append(Entry(path, str(file), file.stat().st_size))
        return sorted(entries, key=attrgetter("path"))

    def read(self, entry: Entry) -> bytes:
        try:
            return Path(entry.handle).read_bytes()
        except OSError as error:
            raise GitError(f"cannot read {entry.path}: {error.strerror}") from error


def _read_exactly(stream: IO[bytes], count: int) -> bytes:
    content = stream.read(count)
    if len(content) < count:
        raise EOFError
    return content
