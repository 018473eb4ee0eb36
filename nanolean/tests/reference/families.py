"""Inductive types: what is known of one, read from its description, and its recursor as a value made from that.

Carneiro's thesis, 2.6: the constructors say what the recursor's type is and what it computes to on each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nanolean.tests.reference.terms import Telescope, Term, Vector, occurs
from nanolean.tests.reference.values import (
    Delayed,
    ForallValue,
    FunValue,
    Known,
    Refused,
    Scope,
    SortValue,
    StuckValue,
    Value,
    done,
)

if TYPE_CHECKING:
    from nanolean.tests.reference.machine import Machine


@dataclass
class Constructor:
    """A constructor, taken apart: its fields, the arguments of the type that it makes, and its recursive fields."""

    name: str
    type: Term
    fields: Telescope
    result: list[Term]
    """Parameters and indices of the type that it makes."""
    makes: Term
    """The type that it makes, without its arguments."""
    recursive: dict[int, int] = field(default_factory=dict)
    """Place of a recursive field -> how many arguments it takes before it gives an element of the type."""


@dataclass
class Family:
    """An inductive type."""

    name: str
    level_params: tuple[str, ...]
    type: Term
    params: Telescope
    indices: Telescope
    ctors: list[Constructor]
    is_prop: bool = False
    is_large: bool = False
    """Its recursor makes elements of any type, not only proofs."""

    @property
    def recursor(self) -> str:
        return f"{self.name}.rec"

    @property
    def recursor_params(self) -> tuple[str, ...]:
        """The universe parameters of the recursor; the first is that of what it makes."""
        return ("«made»", *self.level_params) if self.is_large else self.level_params

    @property
    def is_recursive(self) -> bool:
        """Whether the type stands in a field, also in vain: Lean does not compute to find out."""
        return any(occurs(self.name, type_) for ctor in self.ctors for _, type_ in ctor.fields)

    @property
    def is_structure(self) -> bool:
        return len(self.ctors) == 1 and not self.indices and not self.is_recursive

    @property
    def takes_any_proof(self) -> bool:
        """K: the recursor computes on every proof whose type is that of the only constructor."""
        return self.is_prop and len(self.ctors) == 1 and not self.ctors[0].fields

    @property
    def major(self) -> int:
        """The place of the element that the recursor takes apart among its arguments."""
        return len(self.params) + 1 + len(self.ctors) + len(self.indices)


class Builder:
    """The recursor of a family at some levels, as values."""

    def __init__(self, machine: Machine, family: Family, levels: Mapping[str, Vector]) -> None:
        self.machine = machine
        self.family = family
        self.scope = Scope({}, levels)
        self.made = levels["«made»"] if family.is_large else (0,) * machine.width
        self.own = tuple(levels[name] for name in family.level_params)

    def type(self) -> Value:
        """Over parameters, motive, minor premises (one for each constructor), indices, major premise: the motive."""
        return self.over(self.family.params, self.scope, self._after_params)

    def _after_params(self, scope: Scope, params: Sequence[Delayed]) -> Value:
        motive_type = self.over(self.family.indices, scope, lambda _, indices: self._motive_type(params, indices))
        return ForallValue(done(motive_type), lambda motive: self._after_minors(scope, params, motive, 0))

    def _motive_type(self, params: Sequence[Delayed], indices: Sequence[Delayed]) -> Value:
        return ForallValue(done(self.applied(self.family.name, [*params, *indices])), lambda _: SortValue(self.made))

    def _after_minors(self, scope: Scope, params: Sequence[Delayed], motive: Delayed, place: int) -> Value:
        family = self.family
        if place < len(family.ctors):
            minor = self.minor(family.ctors[place], scope, params, motive)
            return ForallValue(done(minor), lambda _: self._after_minors(scope, params, motive, place + 1))

        def conclusion(_: Scope, indices: Sequence[Delayed]) -> Value:
            major = done(self.applied(family.name, [*params, *indices]))
            return ForallValue(major, lambda element: self.calls(motive, [*indices, element]))

        return self.over(family.indices, scope, conclusion)

    def minor(self, ctor: Constructor, scope: Scope, params: Sequence[Delayed], motive: Delayed) -> Value:
        """For all fields, and hypotheses for the recursive ones: the motive of what the constructor makes."""

        def after_fields(inner: Scope, fields: Sequence[Delayed]) -> Value:
            made = done(self.applied(ctor.name, [*params, *fields]))
            indices = [self.machine.delay(term, inner) for term in ctor.result[len(params) :]]
            result = self.calls(motive, [*indices, made])
            for place in reversed(ctor.recursive):
                hypothesis = self.follow(
                    ctor, place, inner, fields[place], ForallValue, lambda idx, of: self.calls(motive, [*idx, of])
                )
                result = ForallValue(hypothesis, lambda _, result=result: result)  # type: ignore[misc]
            return result

        return self.over(ctor.fields, scope, after_fields)

    def rule(self, ctor: Constructor, shared: Sequence[Delayed], fields: Sequence[Delayed]) -> Value:
        """What the recursor makes of a constructor with these fields; `shared` ends with the minor premises."""
        family = self.family
        variables = {name: arg for (name, _), arg in zip(family.params, shared)}
        variables |= {name: arg for (name, _), arg in zip(ctor.fields, fields, strict=True)}
        scope = Scope(variables, self.scope.levels)
        levels = (self.made, *self.own) if family.is_large else self.own
        recursor = StuckValue(Known(family.recursor, levels))

        def again(indices: Sequence[Delayed], of: Delayed) -> Value:
            return self.machine.calls(recursor, [*shared, *indices, of])

        calls = [self.follow(ctor, place, scope, fields[place], FunValue, again) for place in ctor.recursive]
        minor = shared[len(family.params) + 1 + family.ctors.index(ctor)]
        return self.calls(minor, [*fields, *calls])

    def follow(
        self,
        ctor: Constructor,
        place: int,
        scope: Scope,
        of: Delayed,
        kind: type[ForallValue] | type[FunValue],
        finish: Callable[[Sequence[Delayed], Delayed], Value],
    ) -> Delayed:
        """`finish indices (of xs)` below the arguments `xs` of a recursive field."""
        machine, count = self.machine, len(self.family.params)

        def step(type_: Value, left: int, element: Delayed) -> Value:
            if left:
                if not isinstance(type_, ForallValue):
                    raise Refused("a recursive field whose type is stuck")
                return kind(
                    type_.domain,
                    lambda x: step(
                        type_.codomain(x), left - 1, Delayed(None, None, lambda: machine.call(element.get(), x))
                    ),
                )
            if not isinstance(type_, StuckValue) or type_.head != Known(self.family.name, self.own):
                raise Refused("a recursive field whose type is stuck")
            return finish(type_.args[count:], element)

        type_ = ctor.fields[place][1]
        return Delayed(None, None, lambda: step(machine.evaluate(type_, scope), ctor.recursive[place], of))

    def over(
        self,
        telescope: Telescope,
        scope: Scope,
        finish: Callable[[Scope, Sequence[Delayed]], Value],
        args: tuple[Delayed, ...] = (),
    ) -> Value:
        """The function type over a telescope, with `finish` of the extended scope and the variables as its result."""
        if len(args) == len(telescope):
            return finish(scope, args)
        name, type_ = telescope[len(args)]
        domain = self.machine.delay(type_, scope)
        return ForallValue(domain, lambda arg: self.over(telescope, scope.bind(name, arg), finish, (*args, arg)))

    def applied(self, name: str, args: Sequence[Delayed]) -> Value:
        return self.machine.calls(self.machine.constant(Known(name, self.own)), args)

    def calls(self, fn: Delayed, args: Sequence[Delayed]) -> Value:
        return self.machine.calls(fn.get(), args)
