"""The library as an `EnvState`: built from `library/*.lean` with every proof checked, then kept in a cache file.

The file's name is a hash of the library and of NanoLean's code, so a change of either builds it again. What is in it
must be, to the last byte, what `library/digest.txt` beside the library's text records: a manipulated cache is built
again, and cannot make anything provable. (A digest in the cache would prove nothing, and checking its proofs again
would not notice that `2` has been defined anew.) It is written under another name first and renamed, so that several
processes may start at once.
"""

import errno
import hashlib
import json
import logging
import os
import platform
import re
import stat
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from nanolean.commands.messages import LineMap
from nanolean.commands.runner import run_text
from nanolean.env_state import EnvState, OpenScope
from nanolean.kernel import declaration as decl
from nanolean.kernel.budget import KernelError
from nanolean.kernel.declaration import QuotDecl
from nanolean.kernel.env import Environment, recheck
from nanolean.kernel.expr import App, BVar, Const, Expr, Lam, Let, Lit, Pi, Proj, Sort
from nanolean.kernel.level import IMax, Level, LParam, Max, Succ, Zero
from nanolean.system import atomic_write_text, home

LEVEL_CLASSES: tuple[type[Level], ...] = (Zero, Succ, Max, IMax, LParam)
INFO_CLASSES: tuple[type[decl.ConstantInfo], ...] = (
    decl.AxiomInfo,
    decl.DefInfo,
    decl.TheoremInfo,
    decl.OpaqueInfo,
    decl.InductiveInfo,
    decl.CtorInfo,
    decl.RecInfo,
    decl.QuotInfo,
)
EXPR_CLASSES: tuple[type[Expr], ...] = (BVar, Sort, Const, App, Lam, Pi, Let, Lit, Proj)


class _Encoder:
    def __init__(self) -> None:
        self.levels: list[tuple[Any, ...]] = []
        self.exprs: list[tuple[Any, ...]] = []
        self._level_rows: dict[Level, int] = {}
        self._expr_rows: dict[Expr, int] = {}

    def level(self, level: Level) -> int:
        row = self._level_rows.get(level)
        if row is None:
            parts = [getattr(level, name) for name in level.__match_args__]
            encoded = [self.level(part) if isinstance(part, Level) else part for part in parts]
            self.levels.append((LEVEL_CLASSES.index(level.__class__), *encoded))
            row = self._level_rows[level] = len(self.levels) - 1
        return row

    def expr(self, e: Expr) -> int:
        stack = [e]
        while stack:
            node = stack[-1]
            if node in self._expr_rows:
                stack.pop()
                continue
            parts = [getattr(node, name) for name in node.__match_args__]
            todo = [part for part in parts if isinstance(part, Expr) and part not in self._expr_rows]
            if todo:
                stack += todo
                continue
            stack.pop()
            self.exprs.append((EXPR_CLASSES.index(node.__class__), *[self._part(part) for part in parts]))
            self._expr_rows[node] = len(self.exprs) - 1
        return self._expr_rows[e]

    def _part(self, part: Any) -> Any:
        if isinstance(part, Expr):
            return self._expr_rows[part]
        if isinstance(part, Level):
            return self.level(part)
        if isinstance(part, tuple):
            return tuple(self.level(level) for level in part)
        return part

    def info(self, info: decl.ConstantInfo) -> tuple[Any, ...]:
        values = [getattr(info, field.name) for field in fields(info) if field.init]
        return (INFO_CLASSES.index(info.__class__), *[self._value(value) for value in values])

    def _value(self, value: Any) -> Any:
        if isinstance(value, Expr):
            return ("e", self.expr(value))
        if isinstance(value, tuple) and value and isinstance(value[0], decl.RecRule):
            return ("r", tuple((rule.ctor, rule.num_fields, self.expr(rule.rhs)) for rule in value))
        return ("v", value)


def encode(infos: Iterable[decl.ConstantInfo]) -> tuple[Any, ...]:
    """Constants as (levels, terms, constants), all of them lists of tuples of numbers and strings.

    They are the same for the same constants in the same order, and may become lists on the way, as in JSON.
    """
    encoder = _Encoder()
    rows = [encoder.info(info) for info in infos]
    return encoder.levels, encoder.exprs, rows


def decode(data: tuple[Any, ...]) -> list[decl.ConstantInfo]:
    """Decode the constants. The data is trusted: its digest is known."""
    level_rows, expr_rows, info_rows = data
    levels: list[Any] = []
    for kind, *parts in level_rows:
        if LEVEL_CLASSES[kind] is LParam:
            levels.append(LParam(parts[0]))
        else:
            levels.append(LEVEL_CLASSES[kind](*[levels[part] for part in parts]))
    exprs: list[Any] = []
    add = exprs.append
    makers = _makers(levels, exprs)
    for row in expr_rows:
        add(makers[row[0]](row))
    return [_decode_info(row, exprs) for row in info_rows]


def _makers(levels: list[Any], exprs: list[Any]) -> tuple[Callable[[Any], Expr], ...]:
    """For every class of terms, in the order of `EXPR_CLASSES`, how a row becomes a term."""
    return (
        lambda row: BVar(row[1]),
        lambda row: Sort(levels[row[1]]),
        lambda row: Const(row[1], tuple([levels[level] for level in row[2]])),
        lambda row: App(exprs[row[1]], exprs[row[2]]),
        lambda row: Lam(row[1], exprs[row[2]], exprs[row[3]], row[4]),
        lambda row: Pi(row[1], exprs[row[2]], exprs[row[3]], row[4]),
        lambda row: Let(row[1], exprs[row[2]], exprs[row[3]], exprs[row[4]]),
        lambda row: Lit(row[1]),
        lambda row: Proj(row[1], row[2], exprs[row[3]]),
    )


def _decode_info(row: tuple[Any, ...], exprs: list[Any]) -> decl.ConstantInfo:
    values = []
    for tag, value in row[1:]:
        if tag == "e":
            values.append(exprs[value])
        elif tag == "r":
            values.append(tuple(decl.RecRule(ctor, count, exprs[rhs]) for ctor, count, rhs in value))
        else:
            values.append(tuple(value) if isinstance(value, list) else value)
    return INFO_CLASSES[row[0]](*values)


log = logging.getLogger(__name__)

PACKAGE = Path(__file__).parents[1]
LIBRARY = PACKAGE / "library"
DIGEST = LIBRARY / "digest.txt"
"""The SHA-256 of the constants that the library's text comes to; `build --record` writes it."""
KEPT_FILES = 6
ABANDONED_SECONDS = 24 * 3600.0
_UNFINISHED = re.compile(r"nanolean-[0-9a-f]+\.(?P<host>.*)\.(?P<pid>[0-9]+)\.[^.]*\.tmp")


class LibraryError(Exception):
    """A file of the library has errors; the message lists them with their places."""


def library_files() -> list[Path]:
    """Return the files of the library in the order in which they are read."""
    return sorted(LIBRARY.glob("*.lean"))


@dataclass(frozen=True)
class Library:
    """The library and where it came from: a cache file, or None where it was built from its text.

    `digest` is that of its constants, `recorded` whether that is the one beside the text, `rechecked` whether the
    kernel has just checked every constant.
    """

    state: EnvState
    digest: str
    recorded: bool
    cache: Path | None = None
    rechecked: bool = True

    @property
    def description(self) -> str:
        """What was trusted, in a few words."""
        count = sum(1 for _ in self.state.env)
        if self.cache is None:
            origin = f"{count:,} constants, built from text, every proof checked"
            return origin if self.recorded else f"{origin}; not the library that is recorded with NanoLean"
        checked = "checked again" if self.rechecked else "not checked again (--recheck does that)"
        return (
            f"{count:,} constants of {self.cache}, those recorded with NanoLean (sha256 {self.digest[:16]}), {checked}"
        )


def load_library(use_cache: bool = True, distrust: bool = False) -> EnvState:
    """Return the state of `open_library`."""
    return open_library(use_cache, distrust).state


def open_library(use_cache: bool = True, distrust: bool = False) -> Library:
    """Open the library, from the cache if that holds what is recorded. Raises `LibraryError`, which is a bug of ours.

    With `distrust` the kernel checks every constant of the cache again, and what does not check is built from text.
    """
    path = cache_path()
    recorded = recorded_digest()
    state = _read(path, recorded) if use_cache else None
    if state is not None and not (distrust and _is_refused(state)):
        return Library(state, recorded, True, path, distrust)
    state = build_library(library_files())
    data = _encoded(state)
    digest = hashlib.sha256(data).hexdigest()
    if digest != recorded:
        log.warning(
            "NanoLean's library is not the one that %s records, so it is built anew by every process; after a change "
            "of it, run python -m nanolean build --record",
            DIGEST,
        )
    elif use_cache:
        _write(path, data)
    return Library(state, digest, digest == recorded)


def recorded_digest() -> str:
    """Return the digest of the library's constants that comes with its text; empty if there is none."""
    try:
        return DIGEST.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def save_library(state: EnvState, record: bool = False) -> bool:
    """Put a library that was built into the cache, if it is the one recorded, which is answered.

    With `record` it is recorded first. Raises OSError if that cannot be written.
    """
    data = _encoded(state)
    digest = hashlib.sha256(data).hexdigest()
    if record:
        atomic_write_text(DIGEST, f"{digest}\n")
    if digest != recorded_digest():
        return False
    _write(cache_path(), data)
    return True


def build_library(files: list[Path], report: Callable[[Path, EnvState], None] | None = None) -> EnvState:
    """Run library files one after another, each in a fresh scope; `report` gets each. Raises `LibraryError`."""
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
    """Return the state with every scope closed, as at the beginning of a file."""
    while len(state.scopes) > 1:
        state = state.pop()
    return state.with_scope(OpenScope("", "", ""))


# -- the cache --------------------------------------------------------------------------------------------------------


def source_files() -> list[Path]:
    """Return the modules that the library depends on: all of NanoLean but its tests and the data generator."""
    files = (file for file in PACKAGE.rglob("*.py") if file.relative_to(PACKAGE).parts[0] not in ("tests", "data"))
    return sorted(files)


def cache_path() -> Path:
    """Return the cache file of the checked library: below `$NANOPROOF_HOME/cache`, or in the user's temporary
    directory.
    """
    digest = hashlib.sha256()
    for file in [*source_files(), *library_files()]:
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    name = f"nanolean-{digest.hexdigest()[:24]}.bin"
    for directory in (home() / "cache", Path(tempfile.gettempdir()) / f"nanoproof-{os.getuid()}"):
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(directory, os.W_OK) and directory.stat().st_uid == os.getuid():
            return directory / name
    return Path(tempfile.mkdtemp(prefix="nanoproof-")) / name


def _read(path: Path, digest: str) -> EnvState | None:
    """The library in a file that only the user can write and that has this SHA-256; None where there is no such file.

    Nothing of a file is looked at before its digest is known to be right.
    """
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return None
            data = file.read()
    except OSError:
        return None
    if hashlib.sha256(data).hexdigest() != digest:
        return None
    constants, attributes, protected, namespaces = json.loads(data)
    return EnvState(
        Environment().add_unchecked(decode(constants)),
        attributes={name: tuple(carriers) for name, carriers in attributes.items()},
        protected=frozenset(protected),
        namespaces=frozenset(namespaces),
    )


def _is_refused(state: EnvState) -> bool:
    """Whether the kernel refuses a constant of the library."""
    try:
        recheck(state.env)
    except KernelError:
        return True
    return False


def _encoded(state: EnvState) -> bytes:
    """The library as a file of the cache has it: the same bytes for the same library."""
    content = (encode(state.env), state.attributes, sorted(state.protected), sorted(state.namespaces))
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def _write(path: Path, data: bytes) -> None:
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
