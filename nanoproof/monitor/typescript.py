"""Write `web/src/api/types.ts` from the types of the API: `python -m nanoproof.monitor.typescript`."""

import ast
import inspect
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NotRequired, TypeVar, Union, get_args, get_origin

from nanoproof.common.config import Parser
from nanoproof.common.files import atomic_write_text
from nanoproof.monitor import record_schema, schema

TYPES_FILE = Path(__file__).resolve().parents[2] / "web" / "src" / "api" / "types.ts"
_HEADER = "// Made by `python -m nanoproof.monitor.typescript` from nanoproof/monitor; do not edit.\n"
_SCHEMAS = (record_schema.__name__, schema.__name__)
_PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", Any: "unknown"}


def to_typescript() -> str:
    """Render all types of the schema as TypeScript, in their order."""
    return "\n".join([_HEADER, *_declarations()])


def _declarations() -> Iterator[str]:
    for name, value in {**vars(record_schema), **vars(schema)}.items():
        if name.startswith("_") or name in ("Any", "Literal") or isinstance(value, TypeVar):
            continue
        if get_origin(value) is Literal:
            yield f"export type {name} = {_type(value)};\n"
        elif isinstance(value, type) and value.__module__ in _SCHEMAS:
            yield _interface(value)


def _interface(cls: type) -> str:
    parameters = "".join(f"<{parameter.__name__}>" for parameter in getattr(cls, "__parameters__", ()))
    bases = [base for base in getattr(cls, "__orig_bases__", ()) if _is_schema(get_origin(base) or base)]
    extends = f" extends {', '.join(map(_type, bases))}" if bases else ""
    inherited = {name for base in bases for name in typing.get_type_hints(get_origin(base) or base)}
    hints, notes = typing.get_type_hints(cls, include_extras=True), _field_notes(cls)
    lines = [
        f"/** {' '.join((cls.__doc__ or '').split())} */",
        f"export interface {cls.__name__}{parameters}{extends} {{",
    ]
    for name, hint in hints.items():
        if name in inherited:
            continue
        if name in notes:
            lines.append(f"  /** {notes[name]} */")
        if get_origin(hint) is NotRequired:
            lines.append(f"  {name}?: {_type(get_args(hint)[0])};")
        else:
            lines.append(f"  {name}: {_type(hint)};")
    return "\n".join([*lines, "}", ""])


def _is_schema(base: Any) -> bool:
    return getattr(base, "__module__", "") in _SCHEMAS


def _field_notes(cls: type) -> dict[str, str]:
    """Return the texts that stand under fields."""
    # From the source, since Python throws away a text that stands by itself.
    tree = ast.parse(inspect.getsource(cls)).body[0]
    assert isinstance(tree, ast.ClassDef)
    notes = {}
    for field, text in zip(tree.body, tree.body[1:]):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
            assert isinstance(text.value, ast.Constant)
            notes[field.target.id] = " ".join(str(text.value.value).split())
    return notes


def _type(hint: Any) -> str:
    """Write a Python type as a TypeScript type."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in args)
    if origin in (Union, types.UnionType):
        return " | ".join(dict.fromkeys(map(_type, args)))  # int | float is number, once
    if origin is list:
        inner = _type(args[0])
        if " | " in inner:  # `a | b[]` would be an a, or a list of b
            inner = f"({inner})"
        return f"{inner}[]"
    if origin is tuple:
        return f"[{', '.join(map(_type, args))}]"
    if origin is dict:
        return f"Record<{_type(args[0])}, {_type(args[1])}>"
    if origin is not None:
        return f"{origin.__name__}<{', '.join(map(_type, args))}>"
    assert isinstance(hint, (type, TypeVar)), f"{hint} has no type in TypeScript"
    return hint.__name__


def main(argv: list[str] | None = None) -> None:
    """Write the file."""
    Parser(prog="python -m nanoproof.monitor.typescript", description=__doc__).parse_args(argv)
    atomic_write_text(TYPES_FILE, to_typescript())
    print(f"wrote {TYPES_FILE}")


if __name__ == "__main__":
    main()
