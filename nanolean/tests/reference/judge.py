"""The judgements: which type a term has, and when two values are equal by definition."""

from collections.abc import Iterable, Mapping

from nanolean.tests.reference.machine import Entry, Machine
from nanolean.tests.reference.terms import (
    Apply,
    Binder,
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
    of_function,
    spine,
)
from nanolean.tests.reference.values import (
    Delayed,
    FieldOf,
    ForallValue,
    Known,
    NumberValue,
    Refused,
    Scope,
    SortValue,
    StuckValue,
    Value,
    Variable,
    done,
)


class Judge(Machine):
    """Checks terms and compares values."""

    def __init__(self, entries: Mapping[str, Entry], width: int, fuel: int) -> None:
        super().__init__(entries, width, fuel)
        self._types: dict[tuple[object, ...], Value] = {}

    # -- types

    def check(self, term: Term, scope: Scope) -> Value:
        """The type of a term, all of which is checked; `Refused` where it has none."""
        key = (term, *[scope.variables[name] for name in sorted(term.free)])
        found = self._types.get(key)
        if found is None:
            found = self._types[key] = self._check(term, scope)
        return found

    def _check(self, term: Term, scope: Scope) -> Value:
        self.burn()
        match term:
            case Apply():
                fn = self.check(term.fn, scope)
                if not isinstance(fn, ForallValue):
                    raise Refused("what is applied is no function")
                self.expect(term.arg, fn.domain.get(), scope)
                return fn.codomain(self.delay(term.arg, scope))
            case Fun():
                _, inner = self._below(term, scope)
                self.check(term.body, inner)
                return self.infer(term, scope)
            case Forall():
                level, inner = self._below(term, scope)
                return SortValue(of_function(level, self.check_type(term.body, inner)))
            case LetIn():
                self.check_type(term.type, scope)
                self.expect(term.value, self.evaluate(term.type, scope), scope)
                return self.check(term.body, scope.bind(term.name, self.delay(term.value, scope)))
            case Field():
                return self._check_field(term, scope)
        return self.infer(term, scope)

    def _below(self, binder: Binder, scope: Scope) -> tuple[Vector, Scope]:
        """The level of a binder's type, which is checked, and the scope in its body."""
        level = self.check_type(binder.type, scope)
        return level, scope.bind(binder.name, self.fresh(self.delay(binder.type, scope)))

    def check_type(self, term: Term, scope: Scope) -> Vector:
        """The level of the universe that a term lives in, which must be a type."""
        sort = self.check(term, scope)
        if not isinstance(sort, SortValue):
            raise Refused("a type is expected")
        return sort.level

    def expect(self, term: Term, type_: Value, scope: Scope) -> None:
        """Check a term that must have a type."""
        if isinstance(term, Fun) and isinstance(type_, ForallValue):
            self.check_type(term.type, scope)
            domain = self.delay(term.type, scope)
            if not self.same_type(domain.get(), type_.domain.get()):
                raise Refused("a function of another type")
            variable = self.fresh(type_.domain)
            self.expect(term.body, type_.codomain(variable), scope.bind(term.name, variable))
        elif not self.same_type(self.check(term, scope), type_):
            raise Refused("a term of another type")

    def infer(self, term: Term, scope: Scope) -> Value:
        """The type of a term that is known to have one."""
        self.burn()
        match term:
            case Var():
                return self.type_of_delayed(scope.variables[term.name])
            case Universe():
                return SortValue(above(self.level(term.level, scope)))
            case Constant():
                return self.type_of_head(self.known(term, scope))
            case Apply():
                fn = self.infer(term.fn, scope)
                if not isinstance(fn, ForallValue):
                    raise Refused("what is applied is no function")
                return fn.codomain(self.delay(term.arg, scope))
            case Fun():
                domain, name, body = self.delay(term.type, scope), term.name, term.body
                return ForallValue(domain, lambda arg: self.infer(body, scope.bind(name, arg)))
            case Forall():
                return self.type_of(self.evaluate(term, scope))
            case LetIn():
                return self.infer(term.body, scope.bind(term.name, self.delay(term.value, scope)))
            case Number():
                self.entry("Nat.succ")
                return self.nat
            case Field():
                of = self.evaluate(term.of, scope)
                return self.field_type(term.struct, term.index, self.infer(term.of, scope), of)
        raise AssertionError(term)

    def type_of_delayed(self, delayed: Delayed) -> Value:
        """The type of what a variable stands for."""
        if delayed.term is None or delayed.scope is None:
            return self.type_of(delayed.get())
        return self.infer(delayed.term, delayed.scope)

    def _check_field(self, term: Field, scope: Scope) -> Value:
        owner = self.check(term.of, scope)
        family = self.entry(term.struct).family
        if family is None or len(family.ctors) != 1 or not isinstance(owner, StuckValue):
            raise Refused("a field of what has not one constructor")
        arity = len(family.params) + len(family.indices)
        if not isinstance(owner.head, Known) or owner.head.name != family.name or len(owner.args) != arity:
            raise Refused("a field of another type")
        fields = family.ctors[0].fields
        if term.index >= len(fields):
            raise Refused("a field that the structure does not have")
        of = self.evaluate(term.of, scope)
        wanted = self.field_type(term.struct, term.index, owner, of)
        if self.is_prop(owner):
            for i in range(term.index):
                later = [type_ for _, type_ in fields[i + 1 :]] + family.ctors[0].result
                data = not self.is_prop(self.field_type(term.struct, i, owner, of))
                if data and any(fields[i][0] in type_.free for type_ in later):
                    raise Refused("a field behind data that is hidden in a proof")
            if not self.is_prop(wanted):
                raise Refused("data out of a proof")
        return wanted

    # -- equality

    def same(self, a: Delayed, b: Delayed, type_: Value) -> bool:
        """Whether two elements of a type are equal by definition."""
        self.burn()
        if a.looks_like(b) or self.is_prop(type_) or self._same_calls(a, b):
            return True
        if isinstance(type_, ForallValue):
            x = self.fresh(type_.domain)
            left, right = (done(self.call(side.get(), x)) for side in (a, b))
            return self.same(left, right, type_.codomain(x))
        left_value, right_value = a.get(), b.get()
        if left_value is right_value:
            return True
        if isinstance(type_, SortValue):
            return self.same_type(left_value, right_value)
        return self._same_data(left_value, right_value) or self._same_fields(left_value, right_value, type_)

    def _same_calls(self, a: Delayed, b: Delayed) -> bool:
        """Whether both are calls of one definition, not unfolded yet, with equal arguments."""
        if a.term is None or b.term is None or a.scope is None or b.scope is None:
            return False
        (fn, args), (other, others) = spine(a.term), spine(b.term)
        if not isinstance(fn, Constant) or not isinstance(other, Constant) or not args or len(args) != len(others):
            return False
        if fn.name != other.name or self.entry(fn.name).unfolds_to is None:
            return False
        known = self.known(fn, a.scope)
        if known != self.known(other, b.scope):
            return False
        pairs = [(self.delay(left, a.scope), self.delay(right, b.scope)) for left, right in zip(args, others)]
        return self._same_args(pairs, self.type_of_head(known))

    def same_type(self, a: Value, b: Value) -> bool:
        """Whether two types are equal by definition."""
        self.burn()
        if a is b:
            return True
        if isinstance(a, SortValue) and isinstance(b, SortValue):
            return a.level == b.level
        if isinstance(a, ForallValue) and isinstance(b, ForallValue):
            if not (a.domain.looks_like(b.domain) or self.same_type(a.domain.get(), b.domain.get())):
                return False
            x = self.fresh(a.domain)
            return self.same_type(a.codomain(x), b.codomain(x))
        return self._same_data(a, b)

    def _same_data(self, a: Value, b: Value) -> bool:
        if isinstance(a, NumberValue) and isinstance(b, NumberValue):
            return a.value == b.value
        if isinstance(a, NumberValue) and isinstance(b, StuckValue):
            return self._same_data(b, a)
        if isinstance(a, StuckValue) and isinstance(b, NumberValue):
            if a.head != Known("Nat.succ", ()) or len(a.args) != 1 or b.value == 0:
                return False
            return self.same(a.args[0], done(NumberValue(b.value - 1)), self.nat)
        return isinstance(a, StuckValue) and isinstance(b, StuckValue) and self._same_stuck(a, b)

    def _same_stuck(self, a: StuckValue, b: StuckValue) -> bool:
        if len(a.args) != len(b.args) or not self._same_head(a.head, b.head):
            return False
        return self._same_args(zip(a.args, b.args), self.type_of_head(a.head))

    def _same_args(self, pairs: Iterable[tuple[Delayed, Delayed]], type_: Value) -> bool:
        """Whether arguments of a function of a type are equal one by one."""
        for left, right in pairs:
            if not isinstance(type_, ForallValue):
                raise Refused("what is applied is no function")
            if not self.same(left, right, type_.domain.get()):
                return False
            type_ = type_.codomain(left)
        return True

    def _same_head(self, a: Variable | Known | FieldOf, b: Variable | Known | FieldOf) -> bool:
        match a, b:
            case Variable(), Variable():
                return a.name == b.name
            case Known(), Known():
                return a == b
            case FieldOf(), FieldOf():
                types = self.type_of(a.of), self.type_of(b.of)
                same = (a.struct, a.index) == (b.struct, b.index) and self.same_type(*types)
                return same and (self.is_prop(types[0]) or self._same_stuck(a.of, b.of))
        return False

    def _same_fields(self, a: Value, b: Value, type_: Value) -> bool:
        """Eta: elements of a structure are equal when their fields are."""
        if not (isinstance(type_, StuckValue) and isinstance(type_.head, Known)):
            return False
        family = self.entry(type_.head.name).family
        if family is None or family.name != type_.head.name or not family.is_structure:
            return False
        for i in range(len(family.ctors[0].fields)):
            wanted = self.field_type(family.name, i, type_, a)
            left, right = (Delayed(None, None, lambda of=of, i=i: self.field(family.name, i, of)) for of in (a, b))  # type: ignore[misc]
            if not self.same(left, right, wanted):
                return False
        return True
