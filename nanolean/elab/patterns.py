"""Patterns of `match`: constructors applied to patterns, numbers, and the variables that they bind."""

from __future__ import annotations

from dataclasses import dataclass

from nanolean.elab.elaborator import Elaborator
from nanolean.elab.names import resolve_constant
from nanolean.elab.operators import explicit_fields, find_in_namespace_of
from nanolean.kernel.declaration import CtorInfo, InductiveInfo
from nanolean.kernel.expr import Const, Expr, FVar, Lit, Pi, get_app_fn, get_app_fn_args, instantiate, mk_app
from nanolean.meta.lctx import inaccessible
from nanolean.meta.reduce import NAT_TYPE, const_info, head_beta, mk_offset
from nanolean.proof_errors import ElabError
from nanolean.syntax import (
    AnonCtor,
    AppStx,
    BinOp,
    DotIdent,
    Hole,
    Ident,
    ListLit,
    NamedArg,
    Num,
    Term,
    TypeAscription,
)

MAX_NUMBER = 64
"""Larger numbers are refused as patterns: each is as many constructors."""
CTOR_EXPECTED = "Invalid pattern: Expected a constructor or constant marked with `[match_pattern]`"


@dataclass(frozen=True)
class Pattern:
    """A pattern as a term in two forms: `expr` as it is written (`n + 1`), `shape` by constructors (`n.succ`)."""

    expr: Expr
    shape: Expr

    def split(self) -> tuple[str, tuple[Pattern, ...]] | None:
        """Split a pattern into the constructor at its head and the patterns of its fields, None for a variable."""
        raise NotImplementedError


class VarPattern(Pattern):
    """A variable, or `_`."""

    def split(self) -> None:
        return None


class NumPattern(Pattern):
    """A number."""

    def split(self) -> tuple[str, tuple[Pattern, ...]]:
        assert isinstance(self.expr, Lit)
        if self.expr.value == 0:
            return "Nat.zero", ()
        # One constructor at a time: the tree of cases asks for as many as other alternatives look at.
        before = Lit(self.expr.value - 1)
        return "Nat.succ", (NumPattern(before, before),)


@dataclass(frozen=True)
class CtorPattern(Pattern):
    """A constructor with patterns for all its fields, implicit ones too."""

    ctor: str
    fields: tuple[Pattern, ...]

    def split(self) -> tuple[str, tuple[Pattern, ...]]:
        return self.ctor, self.fields


SUBSTITUTED = inaccessible("rfl")
"""The name of what a pattern `rfl` stands for. Lean unifies the sides of the equation, which matchers here, that have
no indices, do not; substituting by the equation comes to the same."""


class PatternReader:
    """Reads the patterns of one alternative; their variables come into the elaborator's context one by one."""

    def __init__(self, elaborator: Elaborator) -> None:
        self.elaborator = elaborator
        self.mctx = elaborator.mctx
        self.state = elaborator.session.state
        self.ids: list[str] = []
        self.equations: list[Ident] = []
        """The patterns `rfl`."""
        self._names: set[str] = set()

    def read(self, stx: Term, type_: Expr) -> Pattern:
        """Elaborate the pattern for a term of some type."""
        self.mctx.budget.spend()
        match stx:
            case Hole():
                return self._variable(inaccessible("x"), type_)
            case Num():
                return self._number(stx, type_)
            case Ident():
                return self._name(stx, type_)
            case DotIdent():
                return self._application(stx, (), type_)
            case AppStx():
                return self._application(stx.fn, stx.args, type_, stx)
            case BinOp(op="+", rhs=Num()):
                return self._offset(stx, type_)
            case BinOp(op="::"):
                return self._constructor(stx, "List.cons", (stx.lhs, stx.rhs), type_)
            case AnonCtor():
                return self._anonymous(stx, type_)
            case ListLit():
                return self._list(stx, type_)
            case TypeAscription():
                wanted = self.elaborator.elab_type(stx.type)
                if not self.mctx.is_def_eq(wanted, type_):
                    raise self._mismatch(stx, type_)
                return self.read(stx.term, type_)
        raise ElabError(CTOR_EXPECTED, stx.pos, stx.end)

    def variable(self, name: str, type_: Expr) -> Pattern:
        """A variable of this name, hidden where a pattern has a variable that is called so."""
        return self._variable(inaccessible(name) if name in self._names else name, type_)

    def _variable(self, name: str, type_: Expr) -> Pattern:
        decl = self.mctx.fresh_local(name, head_beta(self.mctx.instantiate(type_)))
        self.elaborator.lctx = self.elaborator.lctx.add(decl)
        self.ids.append(decl.fvar_id)
        return VarPattern(decl.fvar, decl.fvar)

    def _name(self, stx: Ident, type_: Expr) -> Pattern:
        # As in Lean a name is a constructor if one of this name is in scope, and else a new variable, also where a
        # local is called so.
        if any(self._is_ctor(name) for name in resolve_constant(self.state, stx.name)):
            return self._application(stx, (), type_)
        if "." in stx.name or stx.explicit or stx.levels is not None:
            raise ElabError(CTOR_EXPECTED, stx.pos, stx.end)
        if stx.name == "rfl":
            return self._reflexivity(stx, type_)
        if stx.name in self._names:
            raise ElabError(f"Invalid pattern: Variable `{stx.name}` occurred more than once", stx.pos, stx.end)
        self._names.add(stx.name)
        return self._variable(stx.name, type_)

    def _reflexivity(self, stx: Ident, type_: Expr) -> Pattern:
        """A variable for the equation, which the right side substitutes first (see `SUBSTITUTED`)."""
        head = get_app_fn(self.mctx.whnf(self.mctx.instantiate(type_), "reducible"))
        if not (isinstance(head, Const) and head.name == "Eq"):
            raise ElabError("the pattern `rfl` is supported for equations only", stx.pos, stx.end)
        self.equations.append(stx)
        return self._variable(SUBSTITUTED, type_)

    def _is_ctor(self, name: str) -> bool:
        return isinstance(self.state.env.get(name), CtorInfo)

    # -- numbers -------------------------------------------------------------------------------------------------------

    def _number(self, stx: Num, type_: Expr) -> Pattern:
        self._check_nat(stx, type_)
        if stx.value > MAX_NUMBER:
            raise ElabError(f"numbers above {MAX_NUMBER} are not supported as patterns", stx.pos, stx.end)
        return NumPattern(Lit(stx.value), Lit(stx.value))

    def _offset(self, stx: BinOp, type_: Expr) -> Pattern:
        self._check_nat(stx, type_)
        assert isinstance(stx.rhs, Num)
        if stx.rhs.value > MAX_NUMBER:
            raise ElabError(f"numbers above {MAX_NUMBER} are not supported as patterns", stx.pos, stx.end)
        result = self.read(stx.lhs, type_)
        written = mk_offset(result.expr, stx.rhs.value)
        for _ in range(stx.rhs.value):
            shape = mk_app(Const("Nat.succ"), result.shape)
            result = CtorPattern(shape, shape, "Nat.succ", (result,))
        if not isinstance(result, CtorPattern):  # `n + 0`
            return result
        # The right side is elaborated with the pattern as it is written, `n + 2`, which goals then show.
        return CtorPattern(written, result.shape, "Nat.succ", result.fields)

    def _check_nat(self, stx: Term, type_: Expr) -> None:
        if not self.mctx.is_def_eq(NAT_TYPE, type_):
            raise self._mismatch(stx, type_)

    # -- constructors --------------------------------------------------------------------------------------------------

    def _application(
        self, fn: Term, args: tuple[Term | NamedArg, ...], type_: Expr, whole: Term | None = None
    ) -> Pattern:
        stx = whole or fn
        given: tuple[Term, ...] = ()
        for arg in args:
            if isinstance(arg, NamedArg):
                raise ElabError("named arguments in patterns are not supported", arg.pos, arg.end)
            given = (*given, arg)
        if isinstance(fn, DotIdent):
            name = find_in_namespace_of(self.mctx, self._whnf(type_), fn.name)
            if name is None:
                raise ElabError(f"Unknown constant `.{fn.name}` at the expected type", fn.pos, fn.end)
            return self._constructor(stx, name, given, type_)
        if not isinstance(fn, Ident) or fn.explicit:
            raise ElabError(CTOR_EXPECTED, fn.pos, fn.end)
        names = [name for name in resolve_constant(self.state, fn.name) if self._is_ctor(name)]
        if not names:
            raise ElabError(CTOR_EXPECTED, fn.pos, fn.end)
        head, _ = get_app_fn_args(self._whnf(type_))
        # Of several constructors of one short name that of the matched type is meant.
        fitting = [name for name in names if isinstance(head, Const) and name.rpartition(".")[0] == head.name]
        return self._constructor(stx, (fitting or names)[0], given, type_)

    def _constructor(self, stx: Term, name: str, args: tuple[Term, ...], type_: Expr) -> Pattern:
        """The constructor `name` with patterns for its explicit fields."""
        ctor = self.state.env.get(name)
        if not isinstance(ctor, CtorInfo):
            raise ElabError(CTOR_EXPECTED, stx.pos, stx.end)
        head, type_args = get_app_fn_args(self._whnf(type_))
        if not isinstance(head, Const) or head.name != ctor.induct:
            raise self._mismatch(stx, type_)
        # Indices would have to be unified with those of the pattern, as `Lean.Meta.Match` does; `cases` can.
        if len(type_args) > ctor.num_params:
            raise ElabError(f"patterns for the inductive family `{ctor.induct}` are not supported", stx.pos, stx.end)
        params = type_args[: ctor.num_params]
        rest = ctor.type_at(head.levels)
        for param in params:
            assert isinstance(rest, Pi)
            rest = instantiate(rest.body, param)
        left = list(args)
        fields: list[Pattern] = []
        while isinstance(rest, Pi):
            if rest.info != "default":
                field = self._variable(inaccessible(rest.name), rest.type)
            elif not left:
                raise ElabError(f"Invalid pattern: Not enough arguments to `{name}`", stx.pos, stx.end)
            elif isinstance(left[0], Hole):
                # A field without a name has that of the constructor's argument, hidden.
                left.pop(0)
                field = self._variable(inaccessible(rest.name), rest.type)
            else:
                field = self.read(left.pop(0), rest.type)
            fields.append(field)
            rest = instantiate(rest.body, field.expr)
        if left:
            raise ElabError(f"Invalid pattern: Too many arguments to `{name}`", stx.pos, stx.end)
        call = mk_app(Const(name, head.levels), *params)
        expr = mk_app(call, *[field.expr for field in fields])
        return CtorPattern(expr, mk_app(call, *[field.shape for field in fields]), name, tuple(fields))

    def _anonymous(self, stx: AnonCtor, type_: Expr) -> Pattern:
        """`⟨p, q, r⟩`: the only constructor; too many parts go into the last one."""
        head, _ = get_app_fn_args(self._whnf(type_))
        info = const_info(self.state.env, head)
        if not isinstance(info, InductiveInfo) or len(info.ctors) != 1:
            raise ElabError(
                f"Invalid `⟨...⟩` notation: The expected type `{self.elaborator.show(type_)}` "
                "is not an inductive type with one constructor",
                stx.pos,
                stx.end,
            )
        ctor = self.state.env[info.ctors[0]]
        assert isinstance(ctor, CtorInfo)
        count = explicit_fields(ctor)
        args = stx.args
        if len(args) > count > 0:
            last = AnonCtor(args[count - 1 :], pos=args[count - 1].pos, end=stx.end)
            args = (*args[: count - 1], last)
        return self._constructor(stx, ctor.name, args, type_)

    def _list(self, stx: ListLit, type_: Expr) -> Pattern:
        term: Term = Ident("List.nil", pos=stx.pos, end=stx.end)
        for item in reversed(stx.items):
            term = BinOp("::", item, term, pos=item.pos, end=stx.end)
        return self.read(term, type_)

    # -- types ---------------------------------------------------------------------------------------------------------

    def _whnf(self, type_: Expr) -> Expr:
        return self.mctx.whnf(self.mctx.instantiate(type_))

    def _mismatch(self, stx: Term, type_: Expr) -> ElabError:
        return ElabError(
            f"Type mismatch: the pattern does not fit the type\n  {self.elaborator.show(type_)}", stx.pos, stx.end
        )


def pattern_variables(pattern: Pattern) -> list[str]:
    """Ids of the variables of a pattern, from left to right."""
    if isinstance(pattern, VarPattern):
        assert isinstance(pattern.expr, FVar)
        return [pattern.expr.id]
    parts = pattern.split()
    ids: list[str] = []
    if parts is not None:
        for field in parts[1]:
            ids += pattern_variables(field)
    return ids
