"""Constructors are disjoint and injective: proof terms for both, built from recursors.

A clash `C₁ .. = C₂ ..` is refuted by a function into `Prop` that is `True` on `C₁` and `False` elsewhere; injectivity
is `congrArg` for the function that picks a field. Numbers count as built from `Nat.zero` and `Nat.succ`.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from nanolean.kernel.declaration import CtorInfo, InductiveInfo, RecInfo
from nanolean.kernel.expr import (
    PROP,
    App,
    Const,
    Expr,
    FVar,
    Lit,
    Pi,
    get_app_fn_args,
    has_loose_bvar,
    instantiate,
    instantiate_rev,
    mk_app,
)
from nanolean.kernel.level import ONE, ZERO, Level
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import NAT_TYPE, mk_offset, nat_offset
from nanolean.tactics.eq_proof import FALSE, TRUE, match_eq, mk_congr_arg, mk_eq, mk_eq_refl

TRUE_INTRO = Const("True.intro")
BOOL = Const("Bool")
BOOL_FALSE = Const("Bool.false")
BOOL_TRUE = Const("Bool.true")

Choose = Callable[[CtorInfo, Sequence[Expr]], Expr]


class CtorApp(NamedTuple):
    """A constructor application of an inductive type."""

    ctor: CtorInfo
    levels: tuple[Level, ...]
    params: list[Expr]
    fields: list[Expr]


def as_ctor(mctx: MetaContext, e: Expr, reduce: bool = True) -> CtorApp | None:
    """Read the term as a constructor application (numbers too), after reduction to head normal form if `reduce`."""
    app = _read_ctor(mctx, mctx.instantiate(e))
    if app is None and reduce:
        app = _read_ctor(mctx, mctx.whnf(e, "default"))
    return app


def _read_ctor(mctx: MetaContext, e: Expr) -> CtorApp | None:
    # As numbers: `5` is `succ 4`, and `x + 2` is `succ (x + 1)`, without a term of five constructors.
    base, plus = nat_offset(mctx, e)
    if base is None or plus > 0:
        name, fields = "Nat.zero", []
        if plus:
            name, fields = "Nat.succ", [mk_offset(base, plus - 1)]
        number_ctor = mctx.env[name]
        assert isinstance(number_ctor, CtorInfo)
        return CtorApp(number_ctor, (), [], fields)
    fn, args = get_app_fn_args(e)
    if not isinstance(fn, Const):
        return None
    ctor = mctx.env.get(fn.name)
    if not isinstance(ctor, CtorInfo) or len(args) != ctor.num_params + ctor.num_fields:
        return None
    return CtorApp(ctor, fn.levels, args[: ctor.num_params], args[ctor.num_params :])


def mk_false_elim(mctx: MetaContext, target: Expr, absurdity: Expr) -> Expr:
    """Build a proof (or element) of `target` from `absurdity : False`."""
    level = mctx.sort_level(target)
    assert level is not None, "the target is a type"
    return mk_app(Const("False.elim", (level,)), target, absurdity)


def refute_clash(mctx: MetaContext, equation: Expr, proof: Expr) -> Expr | None:
    """Build a proof of `False` from `proof : equation` if the sides are different constructors, else None."""
    sides = match_eq(mctx.instantiate(equation))
    if sides is None:
        return None
    level, type_, lhs, rhs = sides
    left_lit, right_lit = nat_offset(mctx, lhs), nat_offset(mctx, rhs)
    if left_lit[0] is None and right_lit[0] is None:
        if left_lit[1] == right_lit[1]:
            return None
        # By `Nat.beq`, which the kernel computes: by constructors it would peel off as many as the smaller number.
        return _refute_numbers(left_lit[1], right_lit[1], proof)
    left, right = as_ctor(mctx, lhs), as_ctor(mctx, rhs)
    if left is None or right is None or left.ctor is right.ctor:
        return None
    # The recursor takes its indices from the arguments of the type: as `mkNoConfusion` of Lean, which reduces it first,
    # or the `a` of `(fun _ => Bool) a` would count as one.
    type_ = mctx.whnf(type_, "default")
    test = _discriminator(mctx, left, type_)
    if test is None:
        return None
    both_true_false = mk_congr_arg((level, ONE), (type_, PROP), (lhs, rhs), test, proof)
    return mk_app(Const("Eq.mp", (ZERO,)), TRUE, FALSE, both_true_false, TRUE_INTRO)


def _refute_numbers(left: int, right: int, proof: Expr) -> Expr:
    differ = mk_app(Const("Nat.ne_of_beq_eq_false"), Lit(left), Lit(right), mk_eq_refl(ONE, BOOL, BOOL_FALSE))
    return App(differ, proof)


def _discriminator(mctx: MetaContext, left: CtorApp, type_: Expr) -> Expr | None:
    """`fun t : type_ => True` where `t` is made by the constructor of `left`, `False` elsewhere."""
    return _by_recursor(mctx, left, type_, PROP, lambda ctor, fields: TRUE if ctor is left.ctor else FALSE)


def field_picker(mctx: MetaContext, left: CtorApp, type_: Expr, index: int, result_type: Expr) -> Expr | None:
    """`fun t : type_ =>` field `index` of `t` where the constructor of `left` made it, else that of `left`."""
    return _by_recursor(
        mctx,
        left,
        type_,
        result_type,
        lambda ctor, fields: fields[index] if ctor is left.ctor else left.fields[index],
    )


def _by_recursor(mctx: MetaContext, left: CtorApp, type_: Expr, result: Expr, choose: Choose) -> Expr | None:
    """`fun t : type_ => I.rec (fun _ _ => result) minors t` with the minor premises that `choose` gives."""
    info = mctx.env[left.ctor.induct]
    assert isinstance(info, InductiveInfo)
    rec = mctx.env[info.rec_name]
    assert isinstance(rec, RecInfo)
    level = mctx.sort_level(result)
    # A proposition's recursor leads into `Prop` alone, and its proofs are all equal: no function tells its constructors
    # apart.
    if level is None or not rec.large:
        return None
    head: Expr = Const(rec.name, (level, *left.levels))
    rec_type = instantiate_rev(_drop_binders(rec.type_at((level, *left.levels)), info.num_params), left.params)
    assert isinstance(rec_type, Pi)
    motive = constant_function(mctx, rec_type.type, result)
    head = mk_app(head, *left.params, motive)
    rec_type = instantiate(rec_type.body, motive)
    for name in info.ctors:
        ctor = mctx.env[name]
        assert isinstance(ctor, CtorInfo) and isinstance(rec_type, Pi)
        minor = _minor(mctx, ctor, rec_type.type, choose)
        head = App(head, minor)
        rec_type = instantiate(rec_type.body, minor)
    _, type_args = get_app_fn_args(type_)
    local = mctx.fresh_local("t", type_)
    return mctx.mk_lambda([local.fvar_id], mk_app(head, *type_args[info.num_params :], local.fvar))


def _drop_binders(type_: Expr, count: int) -> Expr:
    for _ in range(count):
        assert isinstance(type_, Pi)
        type_ = type_.body
    return type_


def constant_function(mctx: MetaContext, type_: Expr, result: Expr) -> Expr:
    """`fun .. => result` with the binders of a function type: a motive that depends on nothing."""
    ids = []
    while isinstance(type_, Pi):
        local = mctx.fresh_local(type_.name, type_.type)
        ids.append(local.fvar_id)
        type_ = instantiate(type_.body, local.fvar)
    return mctx.mk_lambda(ids, result)


def _minor(mctx: MetaContext, ctor: CtorInfo, minor_type: Expr, choose: Choose) -> Expr:
    ids: list[str] = []
    while isinstance(minor_type, Pi):
        local = mctx.fresh_local(minor_type.name, minor_type.type)
        ids.append(local.fvar_id)
        minor_type = instantiate(minor_type.body, local.fvar)
    # The other arguments of a minor premise are induction hypotheses.
    fields: Sequence[Expr] = [FVar(i) for i in ids[: ctor.num_fields]]
    return mctx.mk_lambda(ids, choose(ctor, fields))


class FieldEquation(NamedTuple):
    """`proof : lhs = rhs` between the fields `name` of the two sides of an equation."""

    name: str
    equation: Expr
    proof: Expr


def injection_equations(mctx: MetaContext, equation: Expr, proof: Expr) -> list[FieldEquation] | None:
    """Return the equations between the fields when both sides of `proof : equation` are made by one constructor, else
    None.

    Fields that are proofs, or whose types depend on other fields or differ on the two sides, give no equation.
    """
    sides = match_eq(mctx.instantiate(equation))
    if sides is None:
        return None
    level, type_, lhs, rhs = sides
    left, right = as_ctor(mctx, lhs), as_ctor(mctx, rhs)
    if left is None or right is None or left.ctor is not right.ctor:
        return None
    type_ = mctx.whnf(type_, "default")
    equations = []
    for i, (a, b) in enumerate(zip(left.fields, right.fields)):
        field_type = mctx.instantiate(mctx.infer_type(a))
        # The kernel needs no equation of proofs. Where the type of a field depends on others, an equation is `HEq` in
        # Lean.
        if not _independent(left, i) or mctx.is_prop(field_type) or not mctx.is_def_eq(field_type, mctx.infer_type(b)):
            continue
        field_level = mctx.sort_level(field_type)
        pick = _picker(mctx, left, type_, i, field_type)
        if pick is None or field_level is None:
            continue
        step = mk_congr_arg((level, field_level), (type_, field_type), (lhs, rhs), pick, proof)
        name = _binder_name(left, i)
        equations.append(FieldEquation(name, mk_eq(field_level, field_type, a, b), step))
    return equations


def _binder_name(app: CtorApp, index: int) -> str:
    """The name of a field."""
    type_ = _drop_binders(app.ctor.type, len(app.params) + index)
    assert isinstance(type_, Pi)
    return type_.name


def _independent(app: CtorApp, index: int) -> bool:
    """Whether the type of a field mentions no other field."""
    type_ = _drop_binders(app.ctor.type, len(app.params) + index)
    assert isinstance(type_, Pi)
    return not any(has_loose_bvar(type_.type, i) for i in range(index))


def _picker(mctx: MetaContext, left: CtorApp, type_: Expr, index: int, field_type: Expr) -> Expr | None:
    # A shorter term for what is done most.
    if type_ is NAT_TYPE and "Nat.pred" in mctx.env:
        return Const("Nat.pred")
    return field_picker(mctx, left, type_, index, field_type)
