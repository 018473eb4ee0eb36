"""What terms evaluate to: values in weak head normal form, whose parts are evaluated when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from nanolean.tests.reference.terms import Term, Vector


class Refused(Exception):
    """The term has no type, or the declaration is not allowed; the message says why."""


class OutOfFuel(Exception):
    """The check took too long to say anything."""


class Scope(NamedTuple):
    """What names stand for: variables, and universe parameters (each as the vector of its values)."""

    variables: Mapping[int, Delayed]
    levels: Mapping[str, Vector]

    def bind(self, name: int, delayed: Delayed) -> Scope:
        """The scope with one more variable."""
        return Scope({**self.variables, name: delayed}, self.levels)


class Value:
    """A value, compared by identity.

    `sort` keeps the level of the universe that a type was found to live in, and `origin` is a term that evaluated to
    it: its type may be seen where that of the value is stuck.
    """

    __slots__ = ("origin", "sort")

    def __init__(self) -> None:
        self.origin: Delayed | None = None
        self.sort: Vector | None = None


class Delayed:
    """A term in a scope, not evaluated yet, or a value."""

    __slots__ = ("_make", "_value", "scope", "term")

    def __init__(self, term: Term | None, scope: Scope | None, make: Callable[[], Value]) -> None:
        self.term = term
        self.scope = scope
        self._make: Callable[[], Value] | None = make
        self._value: Value | None = None

    def get(self) -> Value:
        """The value, evaluated once."""
        if self._value is None:
            assert self._make is not None
            self._value = self._make()
            self._make = None
            if self.term is not None and self._value.origin is None:
                self._value.origin = self
        return self._value

    def looks_like(self, other: Delayed) -> bool:
        """Whether both are one term in which all variables stand for the same."""
        if self is other:
            return True
        if self.term is None or self.term is not other.term:
            return False
        assert self.scope is not None and other.scope is not None
        here, there = self.scope.variables, other.scope.variables
        return all(here[name] is there[name] for name in self.term.free) and self.scope.levels == other.scope.levels


class SortValue(Value):
    __slots__ = ("level",)

    def __init__(self, level: Vector) -> None:
        super().__init__()
        self.level = level


class ForallValue(Value):
    __slots__ = ("codomain", "domain")

    def __init__(self, domain: Delayed, codomain: Callable[[Delayed], Value]) -> None:
        super().__init__()
        self.domain = domain
        self.codomain = codomain


class FunValue(Value):
    __slots__ = ("body", "domain")

    def __init__(self, domain: Delayed, body: Callable[[Delayed], Value]) -> None:
        super().__init__()
        self.domain = domain
        self.body = body


class NumberValue(Value):
    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        super().__init__()
        self.value = value


class Variable(NamedTuple):
    """A variable that stands for nothing but itself."""

    name: int
    type: Delayed


class Known(NamedTuple):
    """A constant that does not unfold, with its levels."""

    name: str
    levels: tuple[Vector, ...]


class FieldOf(NamedTuple):
    """A field of a value that is no constructor application."""

    struct: str
    index: int
    of: StuckValue


class StuckValue(Value):
    """A head that does not compute (a type, a constructor, a variable, a recursor that waits, ...) with arguments."""

    __slots__ = ("args", "head", "type")

    def __init__(self, head: Variable | Known | FieldOf, args: tuple[Delayed, ...] = ()) -> None:
        super().__init__()
        self.head = head
        self.args = args
        self.type: Value | None = None


def done(value: Value) -> Delayed:
    """What is evaluated already."""
    delayed = Delayed(None, None, lambda: value)
    delayed.get()
    return delayed
