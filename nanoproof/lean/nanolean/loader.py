"""The library as an `EnvState`: built from `library/*.lean` with every proof checked, then kept in a cache file.

The file's name is a hash of the library and of NanoLean's code, so a change of either builds it again. It is written
under another name first and renamed, so that several processes may start at once.
"""

from __future__ import annotations

import errno
import hashlib
import marshal
import os
import platform
import re
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from nanoproof.lean.nanolean.codec import decode, encode
from nanoproof.lean.nanolean.commands.messages import LineMap
from nanoproof.lean.nanolean.commands.runner import run_text
from nanoproof.lean.nanolean.env_state import EnvState, OpenScope
from nanoproof.lean.nanolean.kernel.declaration import QuotDecl
from nanoproof.lean.nanolean.kernel.env import Environment
from nanoproof.lean.nanolean.kernel.errors import KernelError
from nanoproof.lean.nanolean.kernel.recheck import recheck

PACKAGE = Path(__file__).parent
LIBRARY = PACKAGE / "library"
KEPT_FILES = 6
ABANDONED_SECONDS = 24 * 3600.0
_UNFINISHED = re.compile(r"nanolean-[0-9a-f]+\.(?P<host>.*)\.(?P<pid>[0-9]+)\.[^.]*\.tmp")


class LibraryError(Exception):
    """A file of the library has errors; the message lists them with their places."""


def library_files() -> list[Path]:
    """The files of the library in the order in which they are read."""
    return sorted(LIBRARY.glob("*.lean"))


def load_library(use_cache: bool = True, distrust: bool = False) -> EnvState:
    """The library, from the cache if that has it. Raises `LibraryError`, which is a bug of ours.

    With `distrust` the kernel checks every constant of the cache again, and what does not check is built from text.
    """
    path = cache_path()
    if use_cache:
        state = _read(path)
        if state is not None and not (distrust and _is_forged(state)):
            return state
    state = build_library(library_files())
    if use_cache:
        _write(path, state)
    return state


def save_library(state: EnvState) -> None:
    """Put a library that was built into the cache."""
    _write(cache_path(), state)


def build_library(files: list[Path], report: Callable[[Path, EnvState], None] | None = None) -> EnvState:
    """Run library files one after another, each in a fresh scope; `report` hears of each. Raises `LibraryError`."""
    state = EnvState(Environment())
    problems: list[str] = []
    for file in files:
        text = file.read_text(encoding="utf-8")
        result = run_text(state, text)
        lines = LineMap(text)
        for message in result.messages:
            if message.severity != "info":
                line, column = lines.place(message.pos)
                problems.append(f"{file.name}:{line}:{column}: {message.severity}: {message.text}")
        state = at_root(result.state)
        if "Quot" not in state.env and "Eq" in state.env:
            state = state.with_env(state.env.add(QuotDecl()))
        if report is not None:
            report(file, state)
    if problems:
        raise LibraryError("\n".join(problems))
    return state


def at_root(state: EnvState) -> EnvState:
    """The state with every scope closed, as at the beginning of a file."""
    while len(state.scopes) > 1:
        state = state.pop()
    return state.with_scope(OpenScope("", "", ""))


# -- the cache --------------------------------------------------------------------------------------------------------


def cache_path() -> Path:
    """Where the checked library is kept: below `$NANOPROOF_HOME/cache`, or a temporary directory of the user."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {marshal.version}".encode())
    for file in [*sorted(PACKAGE.rglob("*.py")), *library_files()]:
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    name = f"nanolean-{digest.hexdigest()[:24]}.bin"
    home = Path(os.environ.get("NANOPROOF_HOME") or Path.home() / ".nanoproof")
    for directory in (home / "cache", Path(tempfile.gettempdir()) / f"nanoproof-{os.getuid()}"):
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(directory, os.W_OK) and directory.stat().st_uid == os.getuid():
            return directory / name
    return Path(tempfile.mkdtemp(prefix="nanoproof-")) / name


def _read(path: Path) -> EnvState | None:
    """The library in a file that only its owner, who is the user, can write; None where there is no such file."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return None
            data = file.read()
        digest, payload = data[:32], data[32:]
        if hashlib.sha256(payload).digest() != digest:
            return None
        constants, attributes, protected, namespaces = marshal.loads(payload)
    except (OSError, ValueError, EOFError, TypeError):
        return None
    env = Environment().add_unchecked(decode(constants))
    return EnvState(env, attributes=attributes, protected=frozenset(protected), namespaces=frozenset(namespaces))


def _is_forged(state: EnvState) -> bool:
    try:
        recheck(state.env)
    except KernelError:
        return True
    return False


def _write(path: Path, state: EnvState) -> None:
    content = (encode(state.env), state.attributes, sorted(state.protected), sorted(state.namespaces))
    payload = marshal.dumps(content)
    data = hashlib.sha256(payload).digest() + payload
    writer = f"{path.stem}.{platform.node()}.{os.getpid()}."
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=writer, suffix=".tmp", delete=False) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, path)
    except OSError:
        return
    _forget_old(path.parent)


def _forget_old(directory: Path) -> None:
    """Keep the newest few cache files; other checkouts may use the same directory, and other machines."""
    try:
        for unfinished in directory.glob("nanolean-*.tmp"):
            if _is_abandoned(unfinished):
                unfinished.unlink(missing_ok=True)
        files = sorted(directory.glob("nanolean-*.bin"), key=lambda file: file.stat().st_mtime)
        for old in files[:-KEPT_FILES]:
            old.unlink(missing_ok=True)
    except OSError:
        return


def _is_abandoned(unfinished: Path) -> bool:
    """Whether the process that wrote this file was ended before it gave the file its name."""
    if time.time() - unfinished.stat().st_mtime > ABANDONED_SECONDS:
        return True
    found = _UNFINISHED.fullmatch(unfinished.name)
    if found is None or found["host"] != platform.node():
        return False
    try:
        os.kill(int(found["pid"]), 0)
    except OSError as error:
        return error.errno == errno.ESRCH
    return False
