"""`decide`: build the `Decidable` instance of a closed proposition by its shape and let it compute.

The kernel evaluates the instance when it checks `of_decide_eq_true`; here the same evaluation tells beforehand whether
the proposition is true.
"""

from __future__ import annotations

from nanoproof.lean.nanolean.errors import TacticError
from nanoproof.lean.nanolean.kernel.expr import Const, Expr, Pi, get_app_fn_args, mk_app
from nanoproof.lean.nanolean.kernel.level import ONE
from nanoproof.lean.nanolean.meta.mctx import MetaContext
from nanoproof.lean.nanolean.syntax import DecideStx
from nanoproof.lean.nanolean.tactics.constructors import BOOL, BOOL_FALSE, BOOL_TRUE
from nanoproof.lean.nanolean.tactics.core import TacticContext, tactic
from nanoproof.lean.nanolean.tactics.eq_proof import mk_eq_refl

CONNECTIVES = {
    ("And", 2): "instDecidableAnd",
    ("Or", 2): "instDecidableOr",
    ("Iff", 2): "instDecidableIff",
    ("Not", 1): "instDecidableNot",
}
ATOMS = {
    ("True", 0): "instDecidableTrue",
    ("False", 0): "instDecidableFalse",
    ("Nat.le", 2): "Nat.decLe",
    ("Nat.lt", 2): "Nat.decLt",
    ("Nat.dvd", 2): "Nat.decidable_dvd",
}
EQUALITIES: dict[Expr, str] = {Const("Nat"): "Nat.decEq", BOOL: "instDecidableEqBool"}


def decidable_instance(mctx: MetaContext, prop: Expr) -> Expr | None:
    """A term of type `Decidable prop`, None where the library has none for its shape."""
    prop = mctx.instantiate(prop)
    if isinstance(prop, Pi):
        return _implication(mctx, prop)
    fn, args = get_app_fn_args(prop)
    if not isinstance(fn, Const):
        return None
    key = (fn.name, len(args))
    if key in CONNECTIVES:
        parts = [decidable_instance(mctx, arg) for arg in args]
        return _call(mctx, CONNECTIVES[key], *args, *parts)
    if key in ATOMS:
        return _call(mctx, ATOMS[key], *args)
    if key == ("Eq", 3):
        name = EQUALITIES.get(mctx.whnf(args[0], "default"))
        return None if name is None else _call(mctx, name, args[1], args[2])
    unfolded = mctx.whnf(prop, "reducible")
    return None if unfolded is prop else decidable_instance(mctx, unfolded)


def _implication(mctx: MetaContext, prop: Pi) -> Expr | None:
    if prop.body.loose or not mctx.is_prop(prop.type) or not mctx.is_prop(prop.body):
        return None
    parts = [decidable_instance(mctx, prop.type), decidable_instance(mctx, prop.body)]
    return _call(mctx, "instDecidableForall", prop.type, prop.body, *parts)


def _call(mctx: MetaContext, name: str, *args: Expr | None) -> Expr | None:
    if name not in mctx.env:
        return None
    given = [arg for arg in args if arg is not None]
    return mk_app(Const(name), *given) if len(given) == len(args) else None


def evaluate(mctx: MetaContext, instance: Expr) -> bool | None:
    """What a closed instance computes to, None if it gets stuck."""
    fn, _ = get_app_fn_args(mctx.whnf(instance, "default"))
    if isinstance(fn, Const) and fn.name in ("Decidable.isTrue", "Decidable.isFalse"):
        return fn.name == "Decidable.isTrue"
    return None


@tactic(DecideStx)
def decide_tactic(ctx: TacticContext, stx: DecideStx) -> None:
    """`decide`: close a goal that evaluates to true."""
    target = ctx.target
    if target.has_mvar:
        raise ctx.with_goal(
            f"Tactic `decide` failed: expected type must not contain metavariables\n  {ctx.show(target)}"
        )
    if target.has_fvar:
        raise TacticError(
            "Tactic `decide` failed: expected type must not contain free variables\n  "
            f"{ctx.show(target)}\n\nHint: Use the `+revert` option to automatically revert free variables"
        )
    instance = decidable_instance(ctx.mctx, target)
    if instance is None:
        raise TacticError(f"failed to synthesize\n  Decidable ({ctx.show(target)})")
    value = evaluate(ctx.mctx, instance)
    if value is None:
        raise TacticError(
            f"Tactic `decide` failed for proposition\n  {ctx.show(target)}\nbecause its instance got stuck"
        )
    if not value:
        raise TacticError(f"Tactic `decide` proved that the proposition\n  {ctx.show(target)}\nis false")
    ctx.close(mk_app(Const("of_decide_eq_true"), target, instance, mk_eq_refl(ONE, BOOL, BOOL_TRUE)))


def decide_refutation(ctx: TacticContext, prop: Expr) -> Expr | None:
    """A proof of `¬prop` for a closed proposition that evaluates to false, None for any other."""
    instance = decidable_instance(ctx.mctx, prop)
    if instance is None or evaluate(ctx.mctx, instance) is not False or "of_decide_eq_false" not in ctx.mctx.env:
        return None
    return mk_app(Const("of_decide_eq_false"), prop, instance, mk_eq_refl(ONE, BOOL, BOOL_FALSE))
