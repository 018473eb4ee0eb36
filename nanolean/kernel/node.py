"""The nodes of terms: immutable and interned, so that structural equality is `is`.

Bound variables are de Bruijn indices (`BVar(0)` is the innermost binder), free variables and metavariables carry unique
ids. Each node knows, from when it is made: `loose` (0 when closed, otherwise one more than its largest loose index),
`has_fvar`, `has_mvar` (metavariables of terms or levels) and `has_lparam`.

Nodes live in one table until `sweep()` drops those that nobody else holds.
"""

import sys
from typing import Any, ClassVar

from nanolean.kernel.level import ONE, ZERO, Level, show_level

_TABLE: dict[tuple[Any, ...], "Expr"] = {}
_get = _TABLE.get
_new = object.__new__


class Expr:
    """A term. Compare with `is`; `alpha_eq` of `expr` compares up to the names of binders."""

    __slots__ = ("erased", "has_fvar", "has_lparam", "has_mvar", "loose")
    __match_args__: ClassVar[tuple[str, ...]] = ()
    loose: int
    has_fvar: bool
    has_mvar: bool
    has_lparam: bool
    erased: "Expr | bool | None"
    """The same term without binder names: None = not known yet, True = the term itself."""

    def __reduce__(self) -> tuple[Any, ...]:
        return self.__class__, tuple(getattr(self, field) for field in self.__match_args__)

    def __repr__(self) -> str:
        return show(self)


def _keep(node: Any, key: tuple[Any, ...], loose: int, has_fvar: bool, has_mvar: bool, has_lparam: bool) -> Any:
    node.loose = loose
    node.has_fvar = has_fvar
    node.has_mvar = has_mvar
    node.has_lparam = has_lparam
    node.erased = None
    return _TABLE.setdefault(key, node)


class BVar(Expr):
    """The variable of the `idx`-th binder, counted from the inside."""

    __slots__ = ("idx",)
    __match_args__ = ("idx",)
    idx: int

    def __new__(cls, idx: int) -> "BVar":
        key = (cls, idx)
        found = _get(key)
        if found is None:
            if idx.__class__ is not int or idx < 0:
                raise ValueError(f"an index is a natural number, got {idx!r}")
            found = _new(cls)
            found.idx = idx
            found = _keep(found, key, idx + 1, False, False, False)
        return found  # type: ignore[return-value]


class FVar(Expr):
    """A free variable, declared in some local context under its id."""

    __slots__ = ("id",)
    __match_args__ = ("id",)
    id: str

    def __new__(cls, id: str) -> "FVar":
        key = (cls, id)
        found = _get(key)
        if found is None:
            found = _new(cls)
            found.id = id
            found = _keep(found, key, 0, True, False, False)
        return found  # type: ignore[return-value]


class MVar(Expr):
    """A hole that elaboration has yet to fill; never part of a declaration."""

    __slots__ = ("id",)
    __match_args__ = ("id",)
    id: str

    def __new__(cls, id: str) -> "MVar":
        key = (cls, id)
        found = _get(key)
        if found is None:
            found = _new(cls)
            found.id = id
            found = _keep(found, key, 0, False, True, False)
        return found  # type: ignore[return-value]


class Sort(Expr):
    """The universe of a level."""

    __slots__ = ("level",)
    __match_args__ = ("level",)
    level: Level

    def __new__(cls, level: Level) -> "Sort":
        key = (cls, level)
        found = _get(key)
        if found is None:
            found = _new(cls)
            found.level = level
            found = _keep(found, key, 0, False, level.has_mvar, level.has_param)
        return found  # type: ignore[return-value]


class Const(Expr):
    """A constant of the environment, with a level for each of its universe parameters."""

    __slots__ = ("levels", "name")
    __match_args__ = ("name", "levels")
    name: str
    levels: tuple[Level, ...]

    def __new__(cls, name: str, levels: tuple[Level, ...] = ()) -> "Const":
        key = (cls, name, levels)
        found = _get(key)
        if found is None:
            found = _new(cls)
            found.name = name
            found.levels = levels
            has_mvar = any(level.has_mvar for level in levels)
            found = _keep(found, key, 0, False, has_mvar, any(level.has_param for level in levels))
        return found  # type: ignore[return-value]


class App(Expr):
    """The application of a function to one argument."""

    __slots__ = ("arg", "fn")
    __match_args__ = ("fn", "arg")
    fn: Expr
    arg: Expr

    def __new__(cls, fn: Expr, arg: Expr) -> "App":
        key = (fn, arg)
        found = _get(key)
        if found is None:
            found = _new(cls)
            found.fn = fn
            found.arg = arg
            found.loose = fn.loose if fn.loose >= arg.loose else arg.loose
            found.has_fvar = fn.has_fvar or arg.has_fvar
            found.has_mvar = fn.has_mvar or arg.has_mvar
            found.has_lparam = fn.has_lparam or arg.has_lparam
            found.erased = None
            found = _TABLE.setdefault(key, found)
        return found  # type: ignore[return-value]


def _binder(cls: Any, key: tuple[Any, ...], name: str, type: Expr, body: Expr, info: str) -> Any:
    node = _new(cls)
    node.name = name
    node.type = type
    node.body = body
    node.info = info
    return _keep(
        node,
        key,
        max(type.loose, body.loose - 1),
        type.has_fvar or body.has_fvar,
        type.has_mvar or body.has_mvar,
        type.has_lparam or body.has_lparam,
    )


class Lam(Expr):
    """A function; `info` is "default", "implicit", "inst" or "strict" and means nothing to the kernel."""

    __slots__ = ("body", "info", "name", "type")
    __match_args__ = ("name", "type", "body", "info")
    name: str
    type: Expr
    body: Expr
    info: str

    def __new__(cls, name: str, type: Expr, body: Expr, info: str = "default") -> "Lam":
        key = (cls, name, type, body, info)
        return _get(key) or _binder(cls, key, name, type, body, info)  # type: ignore[return-value]


class Pi(Expr):
    """A dependent function type; `info` as for `Lam`."""

    __slots__ = ("body", "info", "name", "type")
    __match_args__ = ("name", "type", "body", "info")
    name: str
    type: Expr
    body: Expr
    info: str

    def __new__(cls, name: str, type: Expr, body: Expr, info: str = "default") -> "Pi":
        key = (cls, name, type, body, info)
        return _get(key) or _binder(cls, key, name, type, body, info)  # type: ignore[return-value]


HAVE = "have"
"""The binder info of the function in `(fun x => b) v` for `have x := v; b`; the kernel does not look at it."""


class Let(Expr):
    """A local definition."""

    __slots__ = ("body", "name", "type", "value")
    __match_args__ = ("name", "type", "value", "body")
    name: str
    type: Expr
    value: Expr
    body: Expr

    def __new__(cls, name: str, type: Expr, value: Expr, body: Expr) -> "Let":
        key = (cls, name, type, value, body)
        found = _get(key)
        if found is None:
            found = _new(cls)
            found.name = name
            found.type = type
            found.value = value
            found.body = body
            found = _keep(
                found,
                key,
                max(type.loose, value.loose, body.loose - 1),
                type.has_fvar or value.has_fvar or body.has_fvar,
                type.has_mvar or value.has_mvar or body.has_mvar,
                type.has_lparam or value.has_lparam or body.has_lparam,
            )
        return found  # type: ignore[return-value]


class Lit(Expr):
    """A natural number, of type `Nat`."""

    __slots__ = ("value",)
    __match_args__ = ("value",)
    value: int

    def __new__(cls, value: int) -> "Lit":
        key = (cls, value)
        found = _get(key)
        if found is None:
            if value.__class__ is not int or value < 0:
                raise ValueError(f"a literal is a natural number, got {value!r}")
            found = _new(cls)
            found.value = value
            found = _keep(found, key, 0, False, False, False)
        return found  # type: ignore[return-value]


class Proj(Expr):
    """The `idx`-th field of `expr`, whose type is the structure named `struct`."""

    __slots__ = ("expr", "idx", "struct")
    __match_args__ = ("struct", "idx", "expr")
    struct: str
    idx: int
    expr: Expr

    def __new__(cls, struct: str, idx: int, expr: Expr) -> "Proj":
        key = (cls, struct, idx, expr)
        found = _get(key)
        if found is None:
            if idx.__class__ is not int or idx < 0:
                raise ValueError(f"the place of a field is a natural number, got {idx!r}")
            found = _new(cls)
            found.struct = struct
            found.idx = idx
            found.expr = expr
            found = _keep(found, key, expr.loose, expr.has_fvar, expr.has_mvar, expr.has_lparam)
        return found  # type: ignore[return-value]


PROP = Sort(ZERO)
TYPE = Sort(ONE)


def node_count() -> int:
    """Return the number of nodes in the table."""
    return len(_TABLE)


def sweep() -> int:
    """Drop the nodes that nothing outside the table holds and say how many; not while another thread makes terms."""
    total = 0
    while True:
        dropped = _sweep_once()
        total += dropped
        if not dropped:
            return total


def _references_when_unheld() -> int:
    """What `sys.getrefcount` says inside of `_sweep_once` for a node that only the table holds (measured likewise)."""
    nodes = [_new(BVar)]
    table = {0: nodes[0]}
    node = nodes.pop()
    return sys.getrefcount(node) if table else 0


def _sweep_once() -> int:
    nodes = list(_TABLE.values())
    before = len(nodes)
    unheld = _references_when_unheld()
    while nodes:
        node = nodes.pop()  # parents come after their children in the table, so they fall first
        if sys.getrefcount(node) == unheld and node is not PROP and node is not TYPE:
            # Most nodes are applications, and this runs for each term that was ever made.
            if node.__class__ is App:
                del _TABLE[node.fn, node.arg]
            else:
                fields = tuple(getattr(node, field) for field in node.__match_args__)
                del _TABLE[(node.__class__, *fields)], fields
    return before - len(_TABLE)


def show(e: Expr, depth: int = 12) -> str:
    """Render a rough text of a term for error messages, cut off below `depth`."""
    if depth == 0:
        return "…"
    match e:
        case BVar(idx):
            return f"#{idx}"
        case FVar(id):
            return id
        case MVar(id):
            return f"?{id}"
        case Sort(level):
            return "Prop" if level is ZERO else f"Sort ({show_level(level)})"
        case Const(name, _):
            return name
        case App(fn, arg):
            return f"({show(fn, depth - 1)} {show(arg, depth - 1)})"
        case Lam(name, type, body, _):
            return f"(fun {name} : {show(type, depth - 1)} => {show(body, depth - 1)})"
        case Pi(name, type, body, _):
            return f"(({name} : {show(type, depth - 1)}) → {show(body, depth - 1)})"
        case Let(name, type, value, body):
            inner = f"{show(type, depth - 1)} := {show(value, depth - 1)}; {show(body, depth - 1)}"
            return f"(let {name} : {inner})"
        case Lit(value):
            return str(value) if value.bit_length() < 400 else f"<{value.bit_length()} bits>"
        case Proj(_, idx, inner_expr):
            return f"{show(inner_expr, depth - 1)}.{idx + 1}"
        case _:
            raise AssertionError(f"not a term: {e.__class__}")
