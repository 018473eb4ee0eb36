"""The library as text: which declaration stands where, in what scope, and which of them Lean's core does not have."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nanolean.env_state import EnvState
from nanolean.kernel.declaration import ConstantInfo
from nanolean.library.loader import LIBRARY, library_files
from nanolean.parser import ParseError, iter_commands
from nanolean.syntax import (
    AxiomCmd,
    Command,
    DefCmd,
    EndCmd,
    IncludeCmd,
    InductiveCmd,
    NamespaceCmd,
    OpenCmd,
    SectionCmd,
    StructureCmd,
    TheoremCmd,
    UniverseCmd,
    VariableCmd,
)

BEYOND_CORE = LIBRARY / "beyond_core.txt"
"""Names, or with a dot at the end beginnings of names, of what the library has and Lean's core has not."""

_AUXILIARY = re.compile(
    r"\.(?:(?:match|eq|proof)_\d+|eq_def|brecOn\w*|below\w*|casesOn|recOn|noConfusion\w*|_\w+)(?:\.|$)"
)
_WORDS = {"def": "definition", "inductive": "inductive type"}


def plural(count: int, kind: str) -> str:
    """`1 theorem`, `2 theorems`."""
    word = _WORDS.get(kind, kind)
    return f"{count} {word}{'' if count == 1 else 's'}"


def declarations(state: EnvState, base: EnvState | None = None) -> list[ConstantInfo]:
    """Return the constants that were declared explicitly, without auxiliary ones; those of `base` are left out."""
    return [
        info
        for info in state.env
        if info.kind in ("theorem", "def", "inductive", "axiom")
        and not _AUXILIARY.search(info.name)
        and (base is None or info.name not in base.env)
    ]


@dataclass(frozen=True)
class Declared:
    """A declaration of a file: its full name, its text, and the lines that open and close its scope."""

    name: str
    text: str
    opening: tuple[str, ...]
    closing: tuple[str, ...]
    command: Command


def declared_in(text: str) -> Iterator[Declared]:
    """Yield the declarations with names in a text, in order."""
    scopes = [_Scope("", "")]
    for command in iter_commands(text):
        if isinstance(command, ParseError):
            continue
        source, inner = text[command.pos : command.end], scopes[-1]
        if isinstance(command, NamespaceCmd):
            scopes.append(_Scope(_joined(inner.namespace, command.name), f"end {command.name}", [source]))
        elif isinstance(command, SectionCmd):
            scopes.append(_Scope(inner.namespace, f"end {command.name or ''}".rstrip(), [source]))
        elif isinstance(command, EndCmd) and len(scopes) > 1:
            scopes.pop()
        elif isinstance(command, VariableCmd | UniverseCmd | OpenCmd | IncludeCmd):
            inner.lines.append(source)
        elif isinstance(command, TheoremCmd | DefCmd | InductiveCmd | StructureCmd | AxiomCmd):
            opening = tuple(line for scope in scopes for line in scope.lines)
            closing = tuple(scope.end for scope in reversed(scopes) if scope.end)
            yield Declared(_joined(inner.namespace, command.signature.name or ""), source, opening, closing, command)


@dataclass(frozen=True)
class _Scope:
    namespace: str
    end: str
    """The command that closes it, empty for the file itself."""
    lines: list[str] = field(default_factory=list)


def _joined(namespace: str, name: str) -> str:
    if name.startswith("_root_."):
        return name.removeprefix("_root_.")
    return f"{namespace}.{name}" if namespace else name


def library_declarations() -> dict[str, Declared]:
    """Return all declarations of the library by name, in order."""
    return {
        declared.name: declared
        for file in library_files()
        for declared in declared_in(file.read_text(encoding="utf-8"))
    }


def beyond_core(path: Path = BEYOND_CORE) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the names, and the prefixes of names, that Lean's core does not have."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    entries = [line for line in lines if line and not line.startswith("#")]
    return frozenset(e for e in entries if not e.endswith(".")), tuple(e for e in entries if e.endswith("."))
