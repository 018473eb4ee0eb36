"""`decide`: build the `Decidable` instance of a closed proposition by its shape and let it compute.

The kernel evaluates the instance when it checks `of_decide_eq_true`; here the same evaluation tells beforehand whether
the proposition is true.
"""

from __future__ import annotations

from nanoproof.lean.nanolean.errors import TacticError
from nanoproof.lean.nanolean.kernel.expr import Const, Expr, get_app_fn_args, mk_app
from nanoproof.lean.nanolean.kernel.level import ONE
from nanoproof.lean.nanolean.meta.instances import decidable_instance
from nanoproof.lean.nanolean.meta.mctx import MetaContext
from nanoproof.lean.nanolean.syntax import DecideStx
from nanoproof.lean.nanolean.tactics.constructors import BOOL, BOOL_FALSE, BOOL_TRUE
from nanoproof.lean.nanolean.tactics.core import TacticContext, tactic
from nanoproof.lean.nanolean.tactics.eq_proof import mk_eq_refl


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
