"""A second type checker, for tests only: slow, short, without caches, written apart from the kernel's.

It shares with the kernel the data types of terms, the order of universe levels, and the constants that the kernel made.
Terms are checked as they are, with loose indices that point into a list of types; all definitions are unfolded.
"""

from typing import Any

from nanoproof.lean.nanolean.kernel.declaration import Constants, CtorInfo, DefInfo, InductiveInfo, RecInfo
from nanoproof.lean.nanolean.kernel.expr import (
    App,
    BVar,
    Const,
    Expr,
    Lam,
    Let,
    Lit,
    Pi,
    Proj,
    Sort,
    instantiate_level_params,
)
from nanoproof.lean.nanolean.kernel.level import ZERO, Level, Succ, equiv, mk_imax

Context = tuple[Expr, ...]
NAT, ZERO_NAT, SUCC_NAT = Const("Nat"), Const("Nat.zero"), Const("Nat.succ")


class Refused(Exception):
    """The term has no type."""


class OutOfFuel(Exception):
    """The check took too long to say anything."""


def shift(e: Any, by: int, cutoff: int = 0) -> Expr:
    """Raise the loose indices from `cutoff` on."""
    if e.loose <= cutoff:
        return e
    match e:
        case BVar(idx):
            return BVar(idx + by)
        case App(fn, arg):
            return App(shift(fn, by, cutoff), shift(arg, by, cutoff))
        case Lam(name, type_, body, info) | Pi(name, type_, body, info):
            return e.__class__(name, shift(type_, by, cutoff), shift(body, by, cutoff + 1), info)
        case Let(name, type_, value, body):
            return Let(name, shift(type_, by, cutoff), shift(value, by, cutoff), shift(body, by, cutoff + 1))
        case Proj(struct, idx, of):
            return Proj(struct, idx, shift(of, by, cutoff))
    raise AssertionError(e)


def put(body: Any, value: Expr, depth: int = 0) -> Expr:
    """The body of a binder with a value for its variable."""
    if body.loose <= depth:
        return body
    match body:
        case BVar(idx):
            return shift(value, depth) if idx == depth else BVar(idx - 1)
        case App(fn, arg):
            return App(put(fn, value, depth), put(arg, value, depth))
        case Lam(name, type_, inner, info) | Pi(name, type_, inner, info):
            return body.__class__(name, put(type_, value, depth), put(inner, value, depth + 1), info)
        case Let(name, type_, of, inner):
            return Let(name, put(type_, value, depth), put(of, value, depth), put(inner, value, depth + 1))
        case Proj(struct, idx, of):
            return Proj(struct, idx, put(of, value, depth))
    raise AssertionError(body)


def spine(e: Any) -> tuple[Any, list[Expr]]:
    """Head and arguments."""
    args: list[Expr] = []
    while isinstance(e, App):
        args.insert(0, e.arg)
        e = e.fn
    return e, args


def apply(fn: Expr, args: list[Expr]) -> Expr:
    for arg in args:
        fn = App(fn, arg)
    return fn


class Reference:
    """Checks closed terms over an environment, with so many steps for all of them together."""

    def __init__(self, env: Constants, fuel: int) -> None:
        self.env = env
        self.fuel = fuel

    def has_type(self, e: Expr, type_: Expr) -> bool:
        """Whether a closed term has a closed type; raises `OutOfFuel`."""
        try:
            return self.same(self.type_of(e, ()), type_, ())
        except Refused:
            return False
        except RecursionError:
            raise OutOfFuel from None

    def _burn(self) -> None:
        self.fuel -= 1
        if self.fuel < 0:
            raise OutOfFuel

    # -- types

    def type_of(self, e: Any, ctx: Context) -> Expr:
        """The type of a term, all of which is checked."""
        self._burn()
        match e:
            case BVar(idx):
                if idx >= len(ctx):
                    raise Refused
                return shift(ctx[-1 - idx], idx + 1)
            case Sort(level):
                return Sort(Succ(level))
            case Const(name, levels):
                info = self.env.get(name)
                if info is None or len(levels) != len(info.level_params):
                    raise Refused
                return instantiate_level_params(info.type, info.level_params, levels)
            case Lit(_):
                return NAT
            case App(fn, arg):
                pi = self.whnf(self.type_of(fn, ctx), ctx)
                if not isinstance(pi, Pi) or not self.same(self.type_of(arg, ctx), pi.type, ctx):
                    raise Refused
                return put(pi.body, arg)
            case Lam(name, type_, body, info):
                self.level_of(type_, ctx)
                return Pi(name, type_, self.type_of(body, (*ctx, type_)), info)
            case Pi(_, type_, body, _):
                return Sort(mk_imax(self.level_of(type_, ctx), self.level_of(body, (*ctx, type_))))
            case Let(_, type_, value, body):
                self.level_of(type_, ctx)
                if not self.same(self.type_of(value, ctx), type_, ctx):
                    raise Refused
                return self.type_of(put(body, value), ctx)
            case Proj(struct, idx, of):
                return self._type_of_proj(struct, idx, of, ctx)
        raise Refused

    def level_of(self, type_: Expr, ctx: Context) -> Level:
        sort = self.whnf(self.type_of(type_, ctx), ctx)
        if not isinstance(sort, Sort):
            raise Refused
        return sort.level

    def is_prop(self, type_: Expr, ctx: Context) -> bool:
        sort = self.whnf(self.type_of(type_, ctx), ctx)
        return isinstance(sort, Sort) and equiv(sort.level, ZERO)

    def _type_of_proj(self, struct: str, idx: int, of: Expr, ctx: Context) -> Expr:
        owner = self.whnf(self.type_of(of, ctx), ctx)
        head, args = spine(owner)
        info = self.env.get(struct)
        if not isinstance(info, InductiveInfo) or len(info.ctors) != 1 or info.num_indices or info.is_recursive:
            raise Refused
        if not isinstance(head, Const) or head.name != struct:
            raise Refused
        ctor = self.env[info.ctors[0]]
        assert isinstance(ctor, CtorInfo)
        if idx >= ctor.num_fields:
            raise Refused
        type_: Any = instantiate_level_params(ctor.type, ctor.level_params, head.levels)
        for arg in args:
            type_ = put(self.whnf(type_, ctx).body, arg)  # type: ignore[attr-defined]
        proposition = self.is_prop(owner, ctx)
        for i in range(idx + 1):
            type_ = self.whnf(type_, ctx)
            if proposition and not self.is_prop(type_.type, ctx):
                raise Refused  # stricter than the kernel, which lets a field pass that nothing depends on
            if i < idx:
                type_ = put(type_.body, Proj(struct, i, of))
        return type_.type

    # -- computation

    def whnf(self, e: Any, ctx: Context) -> Expr:
        """Weak head normal form, with all definitions unfolded; literals stay as they are."""
        while True:
            self._burn()
            head, args = spine(e)
            match head:
                case Lam(_, _, body, _) if args:
                    e = apply(put(body, args[0]), args[1:])
                    continue
                case Let(_, _, value, body):
                    e = apply(put(body, value), args)
                    continue
                case Proj(struct, idx, of):
                    inner, fields = spine(self.whnf(of, ctx))
                    ctor = self.env.get(inner.name) if isinstance(inner, Const) else None
                    if isinstance(ctor, CtorInfo) and ctor.induct == struct:
                        e = apply(fields[ctor.num_params + idx], args)
                        continue
                case Const(name, levels):
                    info = self.env.get(name)
                    if isinstance(info, DefInfo):
                        e = apply(instantiate_level_params(info.value, info.level_params, levels), args)
                        continue
                    step = self._recurse(info, levels, args, ctx) if isinstance(info, RecInfo) else None
                    step = self._quotient(name, args, ctx) if step is None else step
                    if step is not None:
                        e = step
                        continue
            return e

    def _recurse(self, info: RecInfo, levels: Any, args: list[Expr], ctx: Context) -> Expr | None:
        place = info.major_idx
        if len(args) <= place:
            return None
        major = self._constructor(info, args[place], ctx)
        if major is None:
            return None
        head, fields = spine(major)
        ctor = self.env[head.name]
        assert isinstance(ctor, CtorInfo)
        rule = info.rules[ctor.idx]
        shared = args[: info.num_params + info.num_motives + info.num_minors]
        result = instantiate_level_params(rule.rhs, info.level_params, levels)
        values = [*shared, *fields[ctor.num_params :]]
        for _ in values:
            result = Lam("", Sort(ZERO), result)
        return apply(result, [*values, *args[place + 1 :]])

    def _constructor(self, info: RecInfo, major: Expr, ctx: Context) -> Expr | None:
        """The major premise as an application of a constructor."""
        if info.k:
            type_ = self.whnf(self.type_of(major, ctx), ctx)
            head, args = spine(type_)
            made = apply(Const(info.rules[0].ctor, head.levels), args[: info.num_params])
            return made if self.same(self.type_of(made, ctx), type_, ctx) else None
        major = self.whnf(major, ctx)
        if isinstance(major, Lit):
            major = App(SUCC_NAT, Lit(major.value - 1)) if major.value else ZERO_NAT
        head, _ = spine(major)
        found = self.env.get(head.name) if isinstance(head, Const) else None
        if isinstance(found, CtorInfo) and found.induct == info.induct:
            return major
        induct = self.env[info.induct]
        assert isinstance(induct, InductiveInfo)
        if not induct.is_structure or induct.is_prop:
            return None
        ctor = self.env[induct.ctors[0]]
        assert isinstance(ctor, CtorInfo)
        owner, params = spine(self.whnf(self.type_of(major, ctx), ctx))
        fields = [Proj(induct.name, i, major) for i in range(ctor.num_fields)]
        return apply(Const(ctor.name, owner.levels), [*params, *fields])

    def _quotient(self, name: str, args: list[Expr], ctx: Context) -> Expr | None:
        at = {"Quot.lift": 5, "Quot.ind": 4}.get(name)
        if at is None or len(args) <= at:
            return None
        head, parts = spine(self.whnf(args[at], ctx))
        if not (isinstance(head, Const) and head.name == "Quot.mk" and len(parts) == 3):
            return None
        return apply(App(args[3], parts[2]), args[at + 1 :])

    # -- equality

    def same(self, a: Any, b: Any, ctx: Context) -> bool:
        """Definitional equality of two terms that have types."""
        self._burn()
        if a is b:
            return True
        a, b = self.whnf(a, ctx), self.whnf(b, ctx)
        if a is b:
            return True
        if isinstance(a, Sort) and isinstance(b, Sort):
            return equiv(a.level, b.level)
        if isinstance(a, Pi) and isinstance(b, Pi):
            return self.same(a.type, b.type, ctx) and self.same(a.body, b.body, (*ctx, a.type))
        a_type, b_type = self.type_of(a, ctx), self.type_of(b, ctx)
        if self.is_prop(a_type, ctx):
            return self.same(a_type, b_type, ctx)
        if isinstance(a, Lam) or isinstance(b, Lam):
            pi = self.whnf(a_type, ctx)
            if not isinstance(pi, Pi) or not self.same(pi, b_type, ctx):
                return False
            return self.same(App(shift(a, 1), BVar(0)), App(shift(b, 1), BVar(0)), (*ctx, pi.type))
        return self._same_parts(a, b, ctx) or self._same_fields(a, b, a_type, b_type, ctx)

    def _same_parts(self, a: Any, b: Any, ctx: Context) -> bool:
        a, b = _unary(a, b), _unary(b, a)
        if isinstance(a, Lit) or isinstance(b, Lit):
            return a is b
        (f, xs), (g, ys) = spine(a), spine(b)
        if len(xs) != len(ys) or f.__class__ is not g.__class__:
            return False
        match f:
            case Const(name, levels):
                if name != g.name or not all(map(equiv, levels, g.levels)):
                    return False
            case Proj(struct, idx, of):
                if (struct, idx) != (g.struct, g.idx) or not self.same(of, g.expr, ctx):
                    return False
            case _:
                if f is not g:
                    return False
        for x, y in zip(xs, ys):  # noqa: SIM110 (a generator would recurse on the C stack)
            if not self.same(x, y, ctx):
                return False
        return True

    def _same_fields(self, a: Any, b: Any, a_type: Expr, b_type: Expr, ctx: Context) -> bool:
        """Two elements of one structure with equal fields, one of them made by its constructor (or no fields)."""
        head, _ = spine(self.whnf(a_type, ctx))
        info = self.env.get(head.name) if isinstance(head, Const) else None
        if not isinstance(info, InductiveInfo) or not info.is_structure or not self.same(a_type, b_type, ctx):
            return False
        ctor = self.env[info.ctors[0]]
        assert isinstance(ctor, CtorInfo)
        if ctor.num_fields and Const(ctor.name, head.levels) not in (spine(a)[0], spine(b)[0]):
            return False
        return all(self.same(Proj(info.name, i, a), Proj(info.name, i, b), ctx) for i in range(ctor.num_fields))


def _unary(e: Any, other: Any) -> Any:
    """A literal as a constructor where the other side is an application of a constructor of `Nat`."""
    if isinstance(e, Lit) and not isinstance(other, Lit):
        return App(SUCC_NAT, Lit(e.value - 1)) if e.value else ZERO_NAT
    return e
