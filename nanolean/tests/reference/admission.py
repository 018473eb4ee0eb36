"""Which inductive types are admitted (Carneiro's thesis, 2.6.1 and 2.6.2), and whether a recursor is the right one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nanolean.kernel.declaration import ConstantInfo, CtorInfo, InductiveInfo, RecInfo
from nanolean.kernel.node import Pi
from nanolean.tests.reference.families import Builder, Constructor, Family
from nanolean.tests.reference.judge import Judge
from nanolean.tests.reference.terms import Reader, Telescope, Var, Vector, occurs, open_foralls, spine
from nanolean.tests.reference.values import (
    Delayed,
    ForallValue,
    Known,
    Refused,
    Scope,
    SortValue,
    StuckValue,
    Value,
    Variable,
)

NUMBERS = [("Nat.zero", 0, {}), ("Nat.succ", 1, {0: 0})]
"""What literals stand for must be made by these: names, numbers of fields, and which of them are recursive."""


def describe(reader: Reader, info: InductiveInfo, ctors: Sequence[ConstantInfo | None]) -> Family:
    """The type and its constructors, taken apart as they stand."""
    type_ = reader.read(info.type)
    params, rest = open_foralls(type_, info.num_params)
    if info.num_params < 0 or len(params) != info.num_params:
        raise Refused("a type with fewer arguments than parameters")
    indices, _ = open_foralls(rest)
    family = Family(info.name, info.level_params, type_, params, indices, [])
    names = tuple(name for name, _ in params)
    for ctor in ctors:
        if not isinstance(ctor, CtorInfo) or ctor.level_params != info.level_params:
            raise Refused("a constructor is missing or has other universe parameters")
        inner: Any = ctor.type
        for _ in params:
            if not isinstance(inner, Pi):
                raise Refused("a constructor without the parameters")
            inner = inner.body
        fields, result = open_foralls(reader.read(inner, names))
        head, args = spine(result)
        family.ctors.append(Constructor(ctor.name, reader.read(ctor.type), fields, args, head))
    return family


@dataclass
class Admission:
    """The check of one inductive type."""

    judge: Judge
    scope: Scope
    family: Family

    def check_terms(self, reader: Reader, ctor_types: Sequence[Any]) -> None:
        """Whether the type and its constructors are types, and the constructors begin with the parameters."""
        judge, family = self.judge, self.family
        judge.check_type(family.type, self.scope)
        for ctor, inner in zip(family.ctors, ctor_types, strict=True):
            judge.check_type(ctor.type, self.scope)
            scope, names = self.scope, tuple(name for name, _ in family.params)
            for i, (name, type_) in enumerate(family.params):
                domain = judge.delay(type_, scope)
                given = judge.evaluate(reader.read(inner.type, names[:i]), scope)
                if not judge.same_type(given, domain.get()):
                    raise Refused("a constructor whose parameters have other types")
                scope, inner = scope.bind(name, judge.fresh(domain)), inner.body

    def analyse(self) -> None:
        """Universes and positivity of the constructors, and what may be eliminated into what."""
        judge, family = self.judge, self.family
        params = self._open(family.params, self.scope)
        sort = judge.evaluate(open_foralls(family.type)[1], self._open(family.indices, params))
        if not isinstance(sort, SortValue):
            raise Refused("a type whose result is no sort")
        family.is_prop = not any(sort.level)
        simple = True
        for ctor in family.ctors:
            simple = self._constructor(ctor, params, sort.level) and simple
        made = [(ctor.name, len(ctor.fields), ctor.recursive) for ctor in family.ctors]
        if family.name == "Nat" and (made != NUMBERS or family.params or family.indices or sort.level != (1,)):
            raise Refused("other numbers than those that literals stand for")
        family.is_large = all(sort.level) or not family.ctors or (len(family.ctors) == 1 and simple)

    def _open(self, telescope: Telescope, scope: Scope) -> Scope:
        for name, type_ in telescope:
            scope = scope.bind(name, self.judge.fresh(self.judge.delay(type_, scope)))
        return scope

    def _constructor(self, ctor: Constructor, scope: Scope, level: Vector) -> bool:
        """Check a constructor; whether every field is a proof or stands among the indices of what is made."""
        family, judge = self.family, self.judge
        indices = ctor.result[len(family.params) :]
        ctor.recursive.clear()
        simple = True
        for place, (name, type_) in enumerate(ctor.fields):
            field_type = judge.evaluate(type_, scope)
            sort = judge.sort_of(field_type)
            if any(level) and any(a > b for a, b in zip(sort, level)):
                raise Refused("a field in a larger universe")
            if any(sort) and not any(isinstance(index, Var) and index.name == name for index in indices):
                simple = False
            if occurs(family.name, type_):
                count = self._count_arguments(field_type, scope)
                if count is not None:
                    ctor.recursive[place] = count
            scope = scope.bind(name, judge.fresh(judge.delay(type_, scope)))
        made = judge.evaluate(ctor.makes, scope)
        args = [judge.delay(arg, scope) for arg in ctor.result]
        if not isinstance(made, StuckValue) or not self._is_own(StuckValue(made.head, tuple(args)), scope):
            raise Refused("a constructor that makes something else")
        return simple

    def _count_arguments(self, type_: Value, scope: Scope) -> int | None:
        """How many arguments a recursive field takes; None for a field in which the type does not occur after all."""
        count = 0
        while isinstance(type_, ForallValue):
            if self._mentions(type_.domain):
                raise Refused("an occurrence that is not positive")
            type_, count = type_.codomain(self.judge.fresh(type_.domain)), count + 1
        if not isinstance(type_, StuckValue) or not self._value_mentions(type_):
            return None
        if not self._is_own(type_, scope):
            raise Refused("an occurrence that is not allowed")
        return count

    def _is_own(self, type_: StuckValue, scope: Scope) -> bool:
        """Whether this is the type with its own levels and parameters, and no occurrence of it in the indices."""
        family = self.family
        own = Known(family.name, tuple(self.scope.levels[name] for name in family.level_params))
        if type_.head != own or len(type_.args) != len(family.params) + len(family.indices):
            return False
        for (name, _), arg in zip(family.params, type_.args):
            given, param = arg.get(), scope.variables[name].get()
            assert isinstance(param, StuckValue)
            if not isinstance(given, StuckValue) or given.args or given.head != param.head:
                return False
        return not any(self._mentions(arg) for arg in type_.args)

    def _mentions(self, delayed: Delayed) -> bool:
        """Whether the type stands anywhere in a term as it is, variables replaced by what they stand for."""
        if delayed.term is None or delayed.scope is None:
            return self._value_mentions(delayed.get())
        variables = delayed.scope.variables
        return occurs(self.family.name, delayed.term) or any(
            self._mentions(variables[name]) for name in delayed.term.free
        )

    def _value_mentions(self, value: Value) -> bool:
        if isinstance(value, StuckValue):
            head = value.head
            if isinstance(head, Known) and head.name == self.family.name:
                return True
            inner = not isinstance(head, Known | Variable) and self._value_mentions(head.of)
            return inner or any(self._mentions(arg) for arg in value.args)
        if isinstance(value, ForallValue):
            return self._mentions(value.domain) or self._value_mentions(value.codomain(self.judge.fresh(value.domain)))
        return False

    # -- what is claimed of the type

    def compare(self, reader: Reader, info: InductiveInfo, ctors: Sequence[Any], recursor: ConstantInfo | None) -> None:
        """Whether everything that is claimed of the type, its constructors and its recursor is so."""
        family = self.family
        claimed = (info.num_indices, info.is_recursive, info.is_structure, info.is_prop, info.rec_name)
        found = (len(family.indices), family.is_recursive, family.is_structure, family.is_prop, family.recursor)
        if claimed != found:
            raise Refused(f"{info.name} is not what it is claimed to be")
        for place, (ctor, made) in enumerate(zip(ctors, family.ctors)):
            if (ctor.induct, ctor.idx, ctor.num_params, ctor.num_fields) != (
                family.name,
                place,
                len(family.params),
                len(made.fields),
            ):
                raise Refused(f"{ctor.name} is not what it is claimed to be")
        if not isinstance(recursor, RecInfo):
            raise Refused(f"{family.recursor} is missing")
        self._compare_recursor(reader, recursor)

    def _compare_recursor(self, reader: Reader, claim: RecInfo) -> None:
        family, judge = self.family, self.judge
        claimed = (claim.induct, claim.num_params, claim.num_motives, claim.num_minors, claim.num_indices)
        found = (family.name, len(family.params), 1, len(family.ctors), len(family.indices))
        if claimed != found or (claim.k, claim.large) != (family.takes_any_proof, family.is_large):
            raise Refused(f"{claim.name} is not what it is claimed to be")
        if len(claim.level_params) != len(family.recursor_params):
            raise Refused(f"{claim.name} has other universe parameters")
        levels = dict(zip(claim.level_params, self.scope.levels.values()))
        builder = Builder(judge, family, self.scope.levels)
        if not judge.same_type(judge.evaluate(reader.read(claim.type), Scope({}, levels)), builder.type()):
            raise Refused(f"{claim.name} has another type")
        if [(rule.ctor, rule.num_fields) for rule in claim.rules] != [(c.name, len(c.fields)) for c in family.ctors]:
            raise Refused(f"{claim.name} has other rules")
        for rule, ctor in zip(claim.rules, family.ctors):
            self._compare_rule(reader, rule.rhs, ctor, builder, levels)

    def _compare_rule(
        self, reader: Reader, rhs: Any, ctor: Constructor, builder: Builder, levels: dict[str, Vector]
    ) -> None:
        """Both right sides of a rule, for variables as parameters, motive, minor premises and fields."""
        judge, type_ = self.judge, builder.type()
        shared: list[Delayed] = []
        for _ in range(self.family.major - len(self.family.indices)):
            assert isinstance(type_, ForallValue)
            shared.append(judge.fresh(type_.domain))
            type_ = type_.codomain(shared[-1])
        minor = shared[len(self.family.params) + 1 + self.family.ctors.index(ctor)]
        wanted, fields = judge.type_of(minor.get()), []
        for _ in range(len(ctor.fields) + len(ctor.recursive)):
            assert isinstance(wanted, ForallValue)
            if len(fields) < len(ctor.fields):
                fields.append(judge.fresh(wanted.domain))
                wanted = wanted.codomain(fields[-1])
            else:
                wanted = wanted.codomain(judge.fresh(wanted.domain))
        names = tuple(range(-len(shared) - len(fields), 0))
        term = reader.read(rhs, names)
        given = Delayed(None, None, lambda: judge.evaluate(term, Scope(dict(zip(names, [*shared, *fields])), levels)))
        if not judge.same(given, Delayed(None, None, lambda: builder.rule(ctor, shared, fields)), wanted):
            raise Refused(f"the rule for {ctor.name} is another")
