"""`decide`: build the `Decidable` instance of a closed proposition by its shape and let it compute.

The kernel evaluates the instance when it checks `of_decide_eq_true`; here the same evaluation tells beforehand whether
the proposition is true.
"""

from __future__ import annotations

from nanolean.errors import TacticError
from nanolean.kernel.expr import App, Const, Expr, get_app_fn_args, mk_app, subterms
from nanolean.kernel.level import ONE
from nanolean.meta.instances import decidable_instance
from nanolean.meta.mctx import MetaContext
from nanolean.meta.offset import nat_offset, refused_power
from nanolean.syntax import DecideStx
from nanolean.tactics.constructors import BOOL, BOOL_FALSE, BOOL_TRUE
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.eq_proof import mk_eq_refl

BOUNDED = {
    "Nat.decidableBallLT": 0,
    "Nat.decidableBallLE": 0,
    "Nat.decidableExistsLT": 2,
    "Nat.decidableExistsLE": 2,
}
"""The instances that go through all numbers up to a bound, and which argument that is."""
MAX_BOUND = 32
"""Lean reaches its recursion depth at some larger bound; up to here it certainly does not."""


def too_deep(mctx: MetaContext, instance: Expr) -> bool:
    """Whether evaluating the instance takes a recursion that Lean may refuse."""
    for node in subterms(instance):
        fn, args = get_app_fn_args(node)
        place = BOUNDED.get(fn.name) if isinstance(fn, Const) else None
        if place is None or len(args) <= place or args[place].loose:
            continue
        base, bound = nat_offset(mctx, mctx.whnf(args[place], "default"))
        if base is None and bound > MAX_BOUND:
            return True
    return False


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
        raise TacticError(f"failed to synthesize\n  {ctx.show(App(Const('Decidable'), target))}")
    if too_deep(ctx.mctx, instance):
        raise TacticError(
            "maximum recursion depth has been reached\nuse `set_option maxRecDepth <num>` to increase limit\n"
            "use `set_option diagnostics true` to get diagnostic information"
        )
    value = evaluate(ctx.mctx, instance)
    if value is None:
        raise TacticError(
            f"Tactic `decide` failed for proposition\n  {ctx.show(target)}\nbecause its `Decidable` instance\n"
            f"  {ctx.show(instance)}\ndid not reduce to `isTrue` or `isFalse`.{refused_power(ctx.mctx, target)}"
        )
    if not value:
        raise TacticError(f"Tactic `decide` proved that the proposition\n  {ctx.show(target)}\nis false")
    ctx.close(mk_app(Const("of_decide_eq_true"), target, instance, mk_eq_refl(ONE, BOOL, BOOL_TRUE)))


def decide_refutation(ctx: TacticContext, prop: Expr) -> Expr | None:
    """A proof of `¬prop` for a closed proposition that evaluates to false, None for any other."""
    instance = decidable_instance(ctx.mctx, prop)
    if instance is None or "of_decide_eq_false" not in ctx.mctx.env or too_deep(ctx.mctx, instance):
        return None
    if evaluate(ctx.mctx, instance) is not False:
        return None
    return mk_app(Const("of_decide_eq_false"), prop, instance, mk_eq_refl(ONE, BOOL, BOOL_FALSE))
