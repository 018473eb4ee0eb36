"""The files of a Lean project for the servers: Lean version, libraries and REPL."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nanoproof.common.errors import UserError, cannot
from nanoproof.common.files import atomic_write_text, read_regular
from nanoproof.lean.lexical import imported_modules

ROOT_MODULE = "LeanServers"
"""The module that imports every library, so that `lake build` builds what the servers import."""
DEFAULT_LEAN = "v4.27.0"
EMBEDDED_LEAN = "nanolean"
"""Used in place of a Lean version where the embedded prover runs."""

_VERSION = re.compile(r"v?(?P<number>\d+\.\d+\.\d+(?:-rc\d+)?)")
_TOOLCHAIN = re.compile(r"(?:leanprover/lean4:)?(?P<tag>v?\d+\.\d+\.\d+(?:-rc\d+)?|nightly-\d{4}-\d{2}-\d{2})")
_REVISION = re.compile(r"[\w.+/-]+")


@dataclass(frozen=True)
class Library:
    """A library that a project can require. Without a `revision` the one tagged like the Lean version is taken."""

    name: str
    scope: str
    git: str
    imports: tuple[str, ...]
    revision: str | None = None
    lean: str | None = None
    """The Lean version that `revision` is for."""


LIBRARIES = {
    "mathlib": Library(
        name="mathlib",
        scope="leanprover-community",
        git="https://github.com/leanprover-community/mathlib4",
        imports=("Mathlib",),
    ),
    "formal_conjectures": Library(
        name="formal_conjectures",
        scope="google-deepmind",
        git="https://github.com/google-deepmind/formal-conjectures",
        imports=("FormalConjecturesForMathlib.Analysis.SpecialFunctions.NthRoot", "FormalConjectures.Util.Answer"),
        revision="89c6801f9f05cf63105d66843ed70b1e4ceb0c69",
        lean="v4.27.0",
    ),
}


@dataclass(frozen=True)
class Repl:
    """A REPL that servers can run. Without a `branch` the one tagged like the Lean version is taken."""

    git: str
    branch: str | None = None
    lean: str | None = None
    """The Lean version that the branch is for, so far as is known."""


REPLS = {
    "official": Repl("https://github.com/leanprover-community/repl"),
    "leantree": Repl("https://github.com/Kripner/lean-repl", branch="master", lean="v4.19.0"),
}
REPL_FILE = "lean-repl"
"""The file beside `lean-toolchain` with the REPL of a project, where it is not the official one."""


def parse_repl(text: str, version: str) -> Repl:
    """Find the REPL `NAME` or `NAME@BRANCH`; raises `UserError` if it is unknown, or for another Lean."""
    name, at, branch = text.partition("@")
    if name not in REPLS:
        raise UserError(f"--repl: unknown REPL {name!r} (known: {', '.join(REPLS)})")
    if at and not _REVISION.fullmatch(branch):
        raise UserError(f"--repl: not a git branch: {branch!r}")
    repl = REPLS[name]
    if at:
        return Repl(repl.git, branch)
    if repl.lean not in (None, version):
        raise UserError(
            f"--repl: {name} is for Lean {repl.lean}, not {version}; take --repl official, a project with "
            f"--lean {repl.lean}, or name a branch for {version} if there is one: {name}@BRANCH"
        )
    return repl


def read_repl(folder: Path, version: str) -> Repl:
    """Read which REPL a project has; raises `UserError` if it is unknown, or for another Lean."""
    path = folder / REPL_FILE
    try:
        text = read_regular(path).decode("utf-8").strip()
    except FileNotFoundError:
        text = "official"
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path} ({getattr(error, 'strerror', None) or 'not UTF-8'})") from error
    try:
        return parse_repl(text, version)
    except UserError as error:
        raise UserError(f"{path}: {str(error).removeprefix('--repl: ')}") from error


def write_repl(folder: Path, text: str) -> Path:
    """Write which REPL a project has, and return the file; raises `UserError`, then nothing is written."""
    parse_repl(text, lean_version(folder))
    with cannot(f"write in {folder}"):
        atomic_write_text(folder / REPL_FILE, f"{text}\n")
    return folder / REPL_FILE


def parse_version(text: str) -> str:
    """Convert `4.27.0` or `v4.27.0-rc1` to a tag with its `v`; raises `UserError` for anything else."""
    match = _VERSION.fullmatch(text.strip())
    if match is None:
        raise UserError(f"--lean: not a version of Lean: {text!r} (expected one like {DEFAULT_LEAN} or v4.28.0-rc1)")
    return f"v{match['number']}"


def lean_version(project: Path) -> str:
    """Read the version in `<project>/lean-toolchain`, such as `v4.27.0`; raises `UserError` without one."""
    path = Path(project) / "lean-toolchain"
    try:
        text = read_regular(path).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise UserError(f"not a Lean project: cannot read {path} ({reason})") from error
    match = _TOOLCHAIN.fullmatch(text)
    if match is None:
        raise UserError(f"{path} names no version of Lean: {text[:80]!r} (expected leanprover/lean4:{DEFAULT_LEAN})")
    tag = match["tag"]
    if tag[0].isdigit():  # elan takes the tag without its `v`, too
        return f"v{tag}"
    return tag


def libraries(names: Sequence[str], version: str) -> list[tuple[Library, str]]:
    """Find the libraries of a project by name, each with its revision; `NAME@REVISION` picks another revision.

    formal_conjectures is built on Mathlib, which is added if it is not named. Raises `UserError` for an unknown name,
    a name given twice, and a library whose known revision is for another Lean.
    """
    wanted: dict[str, str | None] = {}
    for text in names:
        name, at, revision = text.partition("@")
        if name not in LIBRARIES:
            raise UserError(f"--libraries: unknown library {name!r} (known: {', '.join(LIBRARIES)})")
        if at and not _REVISION.fullmatch(revision):
            raise UserError(f"--libraries: not a git revision: {revision!r}")
        if name in wanted:
            raise UserError(f"--libraries: {name} is named twice")
        wanted[name] = revision or None
    if "formal_conjectures" in wanted:
        wanted.setdefault("mathlib", None)
    chosen = []
    for name, library in LIBRARIES.items():  # in this order, Mathlib first, however they were named
        if name in wanted:
            chosen.append((library, wanted[name] or known_revision(library, version)))
    return chosen


def known_revision(library: Library, version: str) -> str:
    """Return the revision of a library for a Lean version; raises `UserError` if none is known."""
    if library.lean not in (None, version):
        raise UserError(
            f"--libraries: the known revision of {library.name} is for Lean {library.lean}, not {version}; "
            f"name one for {version}: {library.name}@REVISION"
        )
    return library.revision or version


def lakefile(chosen: Sequence[tuple[Library, str]]) -> str:
    """Write the text of `lakefile.toml`."""
    tables = [f'name = "lean_servers"\ndefaultTargets = ["{ROOT_MODULE}"]\n']
    for library, revision in chosen:
        tables.append(
            f'[[require]]\nname = "{library.name}"\nscope = "{library.scope}"\n'
            f'git = "{library.git}"\nrev = "{revision}"\n'
        )
    tables.append(f'[[lean_lib]]\nname = "{ROOT_MODULE}"\n')
    return "\n".join(tables)


def create(folder: Path, version: str, names: Sequence[str], repl: str = "official") -> list[Path]:
    """Write a Lake project into a new or empty folder and return its files; raises `UserError`, then writes nothing."""
    chosen = libraries(names, version)
    parse_repl(repl, version)
    imports = [module for library, _ in chosen for module in library.imports]
    files = {
        "lakefile.toml": lakefile(chosen),
        f"{ROOT_MODULE}.lean": "".join(f"import {module}\n" for module in imports),
        ".gitignore": "/.lake\n/repl\n/.nanoproof\n",
        "lean-toolchain": f"leanprover/lean4:{version}\n",
    }
    if repl != "official":
        files[REPL_FILE] = f"{repl}\n"
    with cannot(f"write the project {folder}"):
        if folder.is_dir() and any(folder.iterdir()):
            raise UserError(f"{folder} is not empty; name a new folder, or continue with `setup {folder}`")
        if folder.exists() and not folder.is_dir():
            raise UserError(f"{folder} is a file; name a new folder")
        for name, text in files.items():
            atomic_write_text(folder / name, text)
    return [folder / name for name in files]


def required_imports(folder: Path) -> list[str]:
    """List the modules that the root module of a project imports; raises `UserError` if it is not ours."""
    try:
        text = read_regular(folder / f"{ROOT_MODULE}.lean").decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{folder} was not made by `create`: it has no readable {ROOT_MODULE}.lean") from error
    return imported_modules(text)
