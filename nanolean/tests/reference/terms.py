"""Terms with named binders, read from the kernel's terms without names, and levels as vectors of numbers."""

from collections.abc import Iterable, Mapping
from itertools import count, product
from typing import Any

from nanolean.kernel.level import IMax, Level, LParam, Max, Succ, Zero
from nanolean.kernel.node import App, BVar, Const, Expr, Lam, Let, Lit, Pi, Proj, Sort
from nanolean.tests.reference.values import Refused

LARGE = 10_000
"""More than any offset in a level: levels have at most 1,000 nodes."""
MAX_PARAMS = 7

Vector = tuple[int, ...]
"""The values of a level, one for each assignment of a grid."""

_names = count()


def new_name() -> int:
    """A name that no binder has yet."""
    return next(_names)


class Term:
    """A term; `free` are the names that occur free in it. Terms are compared by identity."""

    __slots__ = ("free",)
    free: frozenset[int]


class Var(Term):
    __slots__ = ("name",)

    def __init__(self, name: int) -> None:
        self.name = name
        self.free = frozenset([name])


class Universe(Term):
    __slots__ = ("level",)

    def __init__(self, level: Level) -> None:
        self.level = level
        self.free = frozenset()


class Constant(Term):
    __slots__ = ("levels", "name")

    def __init__(self, name: str, levels: tuple[Level, ...] = ()) -> None:
        self.name = name
        self.levels = levels
        self.free = frozenset()


class Apply(Term):
    __slots__ = ("arg", "fn")

    def __init__(self, fn: Term, arg: Term) -> None:
        self.fn = fn
        self.arg = arg
        self.free = fn.free | arg.free


class Binder(Term):
    """`Fun` and `Forall`: a name, its type, and the body in which it is bound."""

    __slots__ = ("body", "name", "type")

    def __init__(self, name: int, type_: Term, body: Term) -> None:
        self.name = name
        self.type = type_
        self.body = body
        self.free = type_.free | (body.free - {name})


class Fun(Binder):
    __slots__ = ()


class Forall(Binder):
    __slots__ = ()


class LetIn(Term):
    __slots__ = ("body", "name", "type", "value")

    def __init__(self, name: int, type_: Term, value: Term, body: Term) -> None:
        self.name = name
        self.type = type_
        self.value = value
        self.body = body
        self.free = type_.free | value.free | (body.free - {name})


class Number(Term):
    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value
        self.free = frozenset()


class Field(Term):
    """The `index`-th field of a value of the structure named `struct`."""

    __slots__ = ("index", "of", "struct")

    def __init__(self, struct: str, index: int, of: Term) -> None:
        self.struct = struct
        self.index = index
        self.of = of
        self.free = of.free


Telescope = list[tuple[int, Term]]


def apply(fn: Term, args: Iterable[Term]) -> Term:
    """The function applied to the arguments one by one."""
    for arg in args:
        fn = Apply(fn, arg)
    return fn


def bind(kind: type[Binder], telescope: Telescope, body: Term) -> Term:
    """The body below the binders of a telescope."""
    for name, type_ in reversed(telescope):
        body = kind(name, type_, body)
    return body


def variables(telescope: Telescope) -> list[Term]:
    """The variables that a telescope binds."""
    return [Var(name) for name, _ in telescope]


def open_foralls(term: Term, limit: int | None = None) -> tuple[Telescope, Term]:
    """The binders that a term begins with as it stands, at most `limit`, and the rest."""
    telescope: Telescope = []
    while isinstance(term, Forall) and len(telescope) != limit:
        telescope.append((term.name, term.type))
        term = term.body
    return telescope, term


def spine(term: Term) -> tuple[Term, list[Term]]:
    """Head and arguments of an application."""
    args: list[Term] = []
    while isinstance(term, Apply):
        args.append(term.arg)
        term = term.fn
    return term, args[::-1]


def occurs(constant: str, term: Term) -> bool:
    """Whether a constant stands anywhere in a term."""
    match term:
        case Constant():
            return term.name == constant
        case Apply():
            return occurs(constant, term.fn) or occurs(constant, term.arg)
        case Binder():
            return occurs(constant, term.type) or occurs(constant, term.body)
        case LetIn():
            return any(occurs(constant, part) for part in (term.type, term.value, term.body))
        case Field():
            return term.struct == constant or occurs(constant, term.of)
    return False


class Reader:
    """Gives names to the binders of the kernel's terms. Shared parts of a term stay shared."""

    def __init__(self) -> None:
        self._seen: dict[tuple[Expr, tuple[int, ...]], Term] = {}

    def read(self, e: Any, scope: tuple[int, ...] = ()) -> Term:
        """The term with `scope` as the names of its loose variables, outermost first; `Refused` for an open term."""
        if e.loose > len(scope):
            raise Refused("a variable is bound nowhere")
        key = (e, scope[len(scope) - e.loose :])
        found = self._seen.get(key)
        if found is None:
            found = self._seen[key] = self._read(e, key[1])
        return found

    def _read(self, e: Any, scope: tuple[int, ...]) -> Term:
        match e:
            case BVar(index):
                return Var(scope[-1 - index])
            case Sort(level):
                return Universe(level)
            case Const(name, levels):
                return Constant(name, levels)
            case App(fn, arg):
                return Apply(self.read(fn, scope), self.read(arg, scope))
            case Lam(_, type_, body, _) | Pi(_, type_, body, _):
                name, kind = new_name(), Fun if isinstance(e, Lam) else Forall
                return kind(name, self.read(type_, scope), self.read(body, (*scope, name)))
            case Let(_, type_, value, body):
                name = new_name()
                inner = self.read(body, (*scope, name))
                return LetIn(name, self.read(type_, scope), self.read(value, scope), inner)
            case Lit(value):
                return Number(value)
            case Proj(struct, index, of):
                return Field(struct, index, self.read(of, scope))
        raise Refused("the term has a hole or a variable that nothing declares")


# -- levels


def grid(params: Iterable[str]) -> dict[str, Vector]:
    """Every parameter as the vector of its values on the grid of assignments.

    The values 0, 1 and `LARGE` tell all levels apart. Which parameters are 0 decides every `imax`, and then a level is
    a maximum of parameters and constants with offsets. Where one such maximum exceeds another at some assignment by its
    part `x + k`, it still does with `LARGE` for `x` and with 1 for all others that are not 0; where by a constant, with
    1 for all that are not 0.
    """
    names = list(params)
    if len(names) > MAX_PARAMS:
        raise Refused("too many universe parameters for a grid")
    return dict(zip(names, zip(*product((0, 1, LARGE), repeat=len(names))))) if names else {}


def value(level: Any, levels: Mapping[str, Vector], width: int) -> Vector:
    """The vector of a level whose parameters have the vectors `levels`."""
    match level:
        case Zero():
            return (0,) * width
        case Succ(of):
            return above(value(of, levels, width))
        case Max(left, right):
            return tuple(map(max, value(left, levels, width), value(right, levels, width)))
        case IMax(left, right):
            return of_function(value(left, levels, width), value(right, levels, width))
        case LParam(name) if name in levels:
            return levels[name]
    raise Refused("a universe parameter that nothing declares")


def above(level: Vector) -> Vector:
    """The next level."""
    return tuple(number + 1 for number in level)


def of_function(domain: Vector, codomain: Vector) -> Vector:
    """The level of a function type: `imax`."""
    return tuple(max(a, b) if b else 0 for a, b in zip(domain, codomain))


def level_names(e: Any) -> set[str]:
    """The universe parameters in a term of the kernel."""
    found: set[str] = set()
    seen: set[Any] = set()
    stack: list[Any] = [e]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, LParam):
            found.add(node.name)
        fields = [getattr(node, name) for name in node.__match_args__]
        for field in fields:
            stack += field if isinstance(field, tuple) else [field] if isinstance(field, Expr | Level) else []
    return found
