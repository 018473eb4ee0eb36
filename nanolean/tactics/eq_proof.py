"""Proofs of equations between terms: what a rewriting step returns, and how steps are put together.

`Step(expr, proof)` says that some term equals `expr`; `proof` is None when the two are equal by definition.
"""

from typing import NamedTuple

from nanolean.kernel.expr import (
    PROP,
    App,
    Const,
    Expr,
    Lam,
    arrow,
    get_app_fn_args,
    mk_app,
)
from nanolean.kernel.level import ONE, ZERO, Level
from nanolean.meta.mctx import MetaContext

TRUE = Const("True")
FALSE = Const("False")


class Step(NamedTuple):
    """The right side of an equation and its proof (None: by definition)."""

    expr: Expr
    proof: Expr | None = None


def level_of(mctx: MetaContext, type_: Expr) -> Level:
    """Return the universe level of a type."""
    if type_ is PROP:
        return ONE
    level = mctx.sort_level(type_)
    assert level is not None, "a type has a level"
    return level


def match_eq(e: Expr) -> tuple[Level, Expr, Expr, Expr] | None:
    """Level, type and sides of `lhs = rhs`."""
    fn, args = get_app_fn_args(e)
    if isinstance(fn, Const) and fn.name == "Eq" and len(args) == 3:
        return fn.levels[0], args[0], args[1], args[2]
    return None


def mk_eq(level: Level, type_: Expr, lhs: Expr, rhs: Expr) -> Expr:
    """`lhs = rhs`."""
    return mk_app(Const("Eq", (level,)), type_, lhs, rhs)


def mk_eq_refl(level: Level, type_: Expr, value: Expr) -> Expr:
    """`Eq.refl value : value = value`."""
    return mk_app(Const("Eq.refl", (level,)), type_, value)


def mk_congr_arg(
    levels: tuple[Level, Level], types: tuple[Expr, Expr], sides: tuple[Expr, Expr], fn: Expr, eq: Expr
) -> Expr:
    """`congrArg fn eq : fn lhs = fn rhs` for `eq : lhs = rhs`; levels and types of argument and result."""
    return mk_app(Const("congrArg", levels), types[0], types[1], sides[0], sides[1], fn, eq)


def mk_refl(mctx: MetaContext, e: Expr) -> Expr:
    """`Eq.refl e`."""
    type_ = mctx.infer_type(e)
    return mk_app(Const("Eq.refl", (level_of(mctx, type_),)), type_, e)


def trans(mctx: MetaContext, start: Expr, first: Step, second: Step) -> Step:
    """`start = second.expr` from `start = first.expr` and `first.expr = second.expr`."""
    # Steps by definition cost nothing in the proof: the kernel finds them again.
    if first.proof is None:
        return second
    if second.proof is None:
        return Step(second.expr, first.proof)
    type_ = mctx.infer_type(start)
    head = Const("Eq.trans", (level_of(mctx, type_),))
    return Step(second.expr, mk_app(head, type_, start, first.expr, second.expr, first.proof, second.proof))


def mk_symm(mctx: MetaContext, lhs: Expr, rhs: Expr, proof: Expr) -> Expr:
    """`rhs = lhs` from `proof : lhs = rhs`."""
    type_ = mctx.infer_type(lhs)
    return mk_app(Const("Eq.symm", (level_of(mctx, type_),)), type_, lhs, rhs, proof)


def congr_args(mctx: MetaContext, fn: Expr, args: list[Expr], steps: list[Step | None]) -> Step:
    """`fn args = fn args'` where `steps[i]` (None: unchanged) rewrites the argument `i`.

    The rewritten arguments must be ones on which no type depends.
    """
    left, right = fn, fn
    proof: Expr | None = None
    # From the left: nothing while no argument has changed, then `congrArg` once, then `congr` or `congrFun` for each.
    for arg, step in zip(args, steps):
        new = arg if step is None else step.expr
        if step is None or step.proof is None:
            if proof is not None:
                proof = _congr_fun(mctx, left, right, proof, arg)
        elif proof is None:
            proof = _congr_arg(mctx, right, arg, step)
        else:
            proof = _congr(mctx, left, right, proof, arg, step)
        left, right = App(left, arg), App(right, new)
    return Step(right, proof)


def congr_fun(mctx: MetaContext, fn: Expr, step: Step, args: list[Expr]) -> Step:
    """`fn args = fn' args` where `step` rewrites `fn`."""
    left, (right, proof) = fn, step
    for arg in args:
        if proof is not None:
            proof = _congr_fun(mctx, left, right, proof, arg)
        left, right = App(left, arg), App(right, arg)
    return Step(right, proof)


def _arrow_parts(mctx: MetaContext, fn: Expr, arg: Expr) -> tuple[Expr, Expr, Level, Level]:
    """Types and levels of argument and result of a function that does not depend on its argument."""
    domain, codomain = mctx.infer_type(arg), mctx.infer_type(App(fn, arg))
    return domain, codomain, level_of(mctx, domain), level_of(mctx, codomain)


def _congr_arg(mctx: MetaContext, fn: Expr, arg: Expr, step: Step) -> Expr:
    assert step.proof is not None
    domain, codomain, u, v = _arrow_parts(mctx, fn, arg)
    return mk_app(Const("congrArg", (u, v)), domain, codomain, arg, step.expr, fn, step.proof)


def _congr(mctx: MetaContext, left: Expr, right: Expr, proof: Expr, arg: Expr, step: Step) -> Expr:
    assert step.proof is not None
    domain, codomain, u, v = _arrow_parts(mctx, left, arg)
    return mk_app(Const("congr", (u, v)), domain, codomain, left, right, arg, step.expr, proof, step.proof)


def _congr_fun(mctx: MetaContext, left: Expr, right: Expr, proof: Expr, arg: Expr) -> Expr:
    domain = mctx.infer_type(arg)
    fn_type = mctx.whnf(mctx.infer_type(left), "default")
    # `congrFun` is for functions whose result type depends on the argument, so it wants the family.
    family = Lam("x", domain, fn_type.body)  # type: ignore[attr-defined]
    codomain = mctx.infer_type(App(left, arg))
    levels = (level_of(mctx, domain), level_of(mctx, codomain))
    return mk_app(Const("congrFun", levels), domain, family, left, right, proof, arg)


def implies_congr(mctx: MetaContext, p: Expr, q: Expr, p_step: Step, q_step: Step) -> Step:
    """`(p → q) = (p' → q')` for propositions."""
    result = arrow(p_step.expr, q_step.expr)
    if p_step.proof is None and q_step.proof is None:
        return Step(result)
    p_proof = p_step.proof or mk_refl(mctx, p)
    q_proof = q_step.proof or mk_refl(mctx, q)
    head = Const("implies_congr", (ZERO, ZERO))
    return Step(result, mk_app(head, p, p_step.expr, q, q_step.expr, p_proof, q_proof))


def mk_propext(p: Expr, q: Expr, proof: Expr) -> Expr:
    """`p = q` from `proof : p ↔ q`."""
    return mk_app(Const("propext"), p, q, proof)


def mk_eq_true(p: Expr, proof: Expr) -> Expr:
    """`p = True` from a proof of `p`."""
    return mk_app(Const("eq_true"), p, proof)


def mk_eq_false(p: Expr, proof: Expr) -> Expr:
    """`p = False` from a proof of `¬p`."""
    return mk_app(Const("eq_false"), p, proof)


def mk_of_eq_true(p: Expr, proof: Expr) -> Expr:
    """Build a proof of `p` from `proof : p = True`."""
    return mk_app(Const("of_eq_true"), p, proof)
