"""Evaluation: definitions unfold always, recursors and quotients compute by their rules, theorems never unfold."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nanolean.kernel.level import Level
from nanolean.tests.reference.families import Builder, Family
from nanolean.tests.reference.terms import (
    Apply,
    Constant,
    Field,
    Forall,
    Fun,
    LetIn,
    Number,
    Term,
    Universe,
    Var,
    Vector,
    above,
    new_name,
    of_function,
    value,
)
from nanolean.tests.reference.values import (
    Delayed,
    FieldOf,
    ForallValue,
    FunValue,
    Known,
    NumberValue,
    OutOfFuel,
    Refused,
    Scope,
    SortValue,
    StuckValue,
    Value,
    Variable,
    done,
)

QUOTIENT_RULES = {"Quot.lift": (3, 5), "Quot.ind": (3, 4)}
"""The places of the function and of the quotient among the arguments."""


class Entry(NamedTuple):
    """A declared constant: its type, its value where it unfolds, and the inductive type that it belongs to."""

    params: tuple[str, ...]
    type: Term | None
    """None for a recursor, whose type is made from its family."""
    unfolds_to: Term | None = None
    family: Family | None = None
    """For the type itself and for its recursor."""
    is_quotient: bool = False
    proof: Term | None = None
    """Of a theorem, which unfolds only where a recursor waits for a constructor."""


class Machine:
    """Evaluates terms over declared constants, with so many steps for all of them together."""

    def __init__(self, entries: Mapping[str, Entry], width: int, fuel: int) -> None:
        self.entries = entries
        self.width = width
        """The length of the vectors of levels."""
        self.fuel = fuel
        self.nat = StuckValue(Known("Nat", ()))
        self._scopes: dict[tuple[Vector, ...], dict[tuple[str, ...], Scope]] = {}
        self._constants: dict[Known, Value] = {}
        self._types_of_heads: dict[Known, Value] = {}
        self._levels: dict[object, Vector] = {}

    def burn(self) -> None:
        """Take a step."""
        self.fuel -= 1
        if self.fuel < 0:
            raise OutOfFuel

    def same_type(self, a: Value, b: Value) -> bool:
        """Whether two types are equal by definition."""
        raise NotImplementedError

    def type_of_delayed(self, delayed: Delayed) -> Value:
        """The type of what a variable stands for."""
        raise NotImplementedError

    # -- evaluation

    def delay(self, term: Term, scope: Scope) -> Delayed:
        """The term, to be evaluated when it is asked for."""
        if isinstance(term, Var):
            return scope.variables[term.name]
        return Delayed(term, scope, lambda: self.evaluate(term, scope))

    def evaluate(self, term: Term, scope: Scope) -> Value:
        """The value of a term that is known to have a type."""
        self.burn()
        match term:
            case Var():
                return scope.variables[term.name].get()
            case Universe():
                return SortValue(self.level(term.level, scope))
            case Constant():
                return self.constant(self.known(term, scope))
            case Apply():
                return self.call(self.evaluate(term.fn, scope), self.delay(term.arg, scope))
            case Fun():
                name, body = term.name, term.body
                domain = self.delay(term.type, scope)
                return FunValue(domain, lambda arg: self.evaluate(body, scope.bind(name, arg)))
            case Forall():
                name, body = term.name, term.body
                domain = self.delay(term.type, scope)
                return ForallValue(domain, lambda arg: self.evaluate(body, scope.bind(name, arg)))
            case LetIn():
                return self.evaluate(term.body, scope.bind(term.name, self.delay(term.value, scope)))
            case Number():
                return NumberValue(term.value)
            case Field():
                return self.field(term.struct, term.index, self.evaluate(term.of, scope))
        raise AssertionError(term)

    def level(self, level: Level, scope: Scope) -> Vector:
        """The values of a level on the grid."""
        if level.has_param:
            return value(level, scope.levels, self.width)
        found = self._levels.get(level)
        if found is None:
            found = self._levels[level] = value(level, {}, self.width)
        return found

    def known(self, term: Constant, scope: Scope) -> Known:
        """A constant with the values of its levels."""
        return Known(term.name, tuple([self.level(level, scope) for level in term.levels]))

    def entry(self, name: str) -> Entry:
        """The declared constant of that name."""
        found = self.entries.get(name)
        if found is None:
            raise Refused(f"{name} is not declared")
        return found

    def at(self, entry: Entry, levels: tuple[Vector, ...]) -> Scope:
        """The scope of a constant's type and value."""
        if len(levels) != len(entry.params):
            raise Refused("a constant with another number of levels")
        scopes = self._scopes.setdefault(levels, {})
        found = scopes.get(entry.params)
        if found is None:
            found = scopes[entry.params] = Scope({}, dict(zip(entry.params, levels)))
        return found

    def constant(self, known: Known) -> Value:
        """What a constant unfolds to, or the constant itself."""
        found = self._constants.get(known)
        if found is None:
            entry = self.entry(known.name)
            if entry.unfolds_to is not None:
                found = self.delay(entry.unfolds_to, self.at(entry, known.levels)).get()
            else:
                found = NumberValue(0) if known.name == "Nat.zero" else StuckValue(known)
            self._constants[known] = found
        return found

    def call(self, fn: Value, arg: Delayed) -> Value:
        """A function applied to an argument."""
        self.burn()
        if isinstance(fn, FunValue):
            return fn.body(arg)
        if not isinstance(fn, StuckValue):
            raise Refused("what is applied is no function")
        applied = StuckValue(fn.head, (*fn.args, arg))
        return self._step(applied.head, applied) if isinstance(applied.head, Known) else applied

    def calls(self, fn: Value, args: Sequence[Delayed]) -> Value:
        """A function applied to arguments."""
        for arg in args:
            fn = self.call(fn, arg)
        return fn

    # -- rules of computation

    def _step(self, head: Known, applied: StuckValue) -> Value:
        """What an application of a constant computes to, now that it has one more argument."""
        if head.name == "Nat.succ":
            number = applied.args[0].get()
            return NumberValue(number.value + 1) if isinstance(number, NumberValue) else applied
        entry = self.entry(head.name)
        if entry.is_quotient:
            return self._quotient(head.name, applied) if head.name in QUOTIENT_RULES else applied
        family = entry.family
        if family is None or head.name != family.recursor or len(applied.args) != family.major + 1:
            return applied
        made = self._constructor(family, applied.args[family.major])
        if made is None:
            return applied
        index, fields = made
        shared = applied.args[: family.major - len(family.indices)]
        return self.builder(family, head.levels).rule(family.ctors[index], shared, fields)

    def builder(self, family: Family, levels: Sequence[Vector]) -> Builder:
        """The maker of the family's recursor at these levels."""
        if len(levels) != len(family.recursor_params):
            raise Refused("a recursor with another number of levels")
        return Builder(self, family, dict(zip(family.recursor_params, levels)))

    def _constructor(self, family: Family, major: Delayed) -> tuple[int, Sequence[Delayed]] | None:
        """The number of the constructor that a value was made by, and its fields."""
        made = major.get()
        if not family.takes_any_proof:
            made = self._without_theorems(made)
        if isinstance(made, NumberValue):
            return (1, [done(NumberValue(made.value - 1))]) if made.value else (0, [])
        if not isinstance(made, StuckValue):
            return None
        fields = self.fields_of(family, made)
        if fields is not None or (not family.takes_any_proof and not family.is_structure):
            return fields
        type_ = self.type_of(made)
        if not isinstance(type_, StuckValue) or type_.head.__class__ is not Known:
            return None
        if family.takes_any_proof:
            return (0, []) if self._fits_only_constructor(family, type_) else None
        if not any(self.sort_of(type_)):
            return None  # a proposition
        return 0, [done(self.field(family.name, i, made)) for i in range(len(family.ctors[0].fields))]

    def _without_theorems(self, found: Value) -> Value:
        """The value with theorems at its head unfolded."""
        while isinstance(found, StuckValue) and isinstance(found.head, Known):
            entry = self.entry(found.head.name)
            if entry.proof is None:
                break
            found = self.calls(self.evaluate(entry.proof, self.at(entry, found.head.levels)), found.args)
        return found

    def fields_of(self, family: Family, made: StuckValue) -> tuple[int, Sequence[Delayed]] | None:
        """Number and fields of a constructor application, None for any other value."""
        name = made.head.name if isinstance(made.head, Known) else None
        for index, ctor in enumerate(family.ctors):
            if ctor.name == name and len(made.args) == len(family.params) + len(ctor.fields):
                return index, made.args[len(family.params) :]
        return None

    def _fits_only_constructor(self, family: Family, type_: StuckValue) -> bool:
        """K: a proof whose type is that of the only constructor, which has no fields, is that constructor."""
        ctor = StuckValue(Known(family.ctors[0].name, type_.head.levels), type_.args[: len(family.params)])  # type: ignore[union-attr]
        return self.same_type(self.type_of(ctor), type_)

    def _quotient(self, name: str, applied: StuckValue) -> Value:
        fn, place = QUOTIENT_RULES[name]
        if len(applied.args) != place + 1:
            return applied
        made = applied.args[place].get()
        match made:
            case StuckValue(head=Known("Quot.mk"), args=(_, _, element)):
                return self.call(applied.args[fn].get(), element)
        return applied

    def field(self, struct: str, index: int, of: Value) -> Value:
        """A field of a value of a structure."""
        family = self.entry(struct).family
        of = self._without_theorems(of)
        if family is None or not isinstance(of, StuckValue):
            raise Refused("a field of what is no structure")
        found = self.fields_of(family, of)
        return StuckValue(FieldOf(struct, index, of)) if found is None else found[1][index].get()

    # -- types of values

    def fresh(self, domain: Delayed) -> Delayed:
        """A variable of a type."""
        return done(StuckValue(Variable(new_name(), domain)))

    def type_of(self, found: Value) -> Value:
        """The type of a value that is no function."""
        match found:
            case SortValue():
                return SortValue(above(found.level))
            case ForallValue():
                codomain = found.codomain(self.fresh(found.domain))
                return SortValue(of_function(self.sort_of(found.domain.get()), self.sort_of(codomain)))
            case NumberValue():
                return self.nat
            case StuckValue():
                if found.type is None:
                    found.type = self._type_of_stuck(found)
                return found.type
        raise Refused("the type of a function is not asked for")

    def _type_of_stuck(self, found: StuckValue) -> Value:
        type_ = self.type_of_head(found.head)
        for arg in found.args:
            if not isinstance(type_, ForallValue):
                raise Refused("what is applied is no function")
            type_ = type_.codomain(arg)
        return type_

    def type_of_head(self, head: Variable | Known | FieldOf) -> Value:
        """The type of a head without its arguments."""
        if isinstance(head, Variable):
            return head.type.get()
        if isinstance(head, Known):
            found = self._types_of_heads.get(head)
            if found is None:
                found = self._types_of_heads[head] = self._type_of_constant(head)
            return found
        owner = self.type_of(head.of)
        return self.field_type(head.struct, head.index, owner, head.of)

    def _type_of_constant(self, known: Known) -> Value:
        entry = self.entry(known.name)
        if entry.type is not None:
            return self.delay(entry.type, self.at(entry, known.levels)).get()
        assert entry.family is not None
        return self.builder(entry.family, known.levels).type()

    def field_type(self, struct: str, index: int, owner: Value, of: Value) -> Value:
        """The type of a field of `of`, whose type is `owner`; earlier fields in it are those of `of`."""
        family = self.entry(struct).family
        assert family is not None and isinstance(owner, StuckValue) and isinstance(owner.head, Known)
        variables = {name: arg for (name, _), arg in zip(family.params, owner.args)}
        fields = family.ctors[0].fields
        for i, (name, _) in enumerate(fields[:index]):
            variables[name] = Delayed(None, None, lambda i=i: self.field(struct, i, of))  # type: ignore[misc]
        levels = dict(zip(family.level_params, owner.head.levels))
        return self.evaluate(fields[index][1], Scope(variables, levels))

    def sort_of(self, type_: Value) -> Vector:
        """The level of the universe that a type lives in; `Refused` where that is not to be seen."""
        if type_.sort is None:
            sort = self.type_of(type_)
            if not isinstance(sort, SortValue) and type_.origin is not None:
                sort = self.type_of_delayed(type_.origin)
            if not isinstance(sort, SortValue):
                raise Refused("a type whose sort is stuck")
            type_.sort = sort.level
        return type_.sort

    def is_prop(self, type_: Value) -> bool:
        """Whether a type is a proposition, at every assignment."""
        return not any(self.sort_of(type_))
