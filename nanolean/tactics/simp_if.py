"""What `simp` does with `if`: the condition first; if that is decided, only the branch that it selects is left."""

from __future__ import annotations

from collections.abc import Callable

from nanolean.kernel.expr import PROP, Const, Expr, Lam, get_app_fn_args, mk_app
from nanolean.kernel.level import ONE
from nanolean.kernel.reduce import beta
from nanolean.meta.instances import decidable_instance
from nanolean.meta.lctx import LocalContext
from nanolean.meta.mctx import MetaContext
from nanolean.tactics.eq_proof import FALSE, TRUE, Step, mk_eq_refl, mk_refl


def simp_condition(mctx: MetaContext, lctx: LocalContext, e: Expr, simp: Callable[[Expr], Step]) -> Step | None:
    """The step that simplifying the condition of an `if` leads to, None where it changes nothing."""
    fn, args = get_app_fn_args(e)
    if not isinstance(fn, Const) or fn.name not in ("ite", "dite") or len(args) != 5:
        return None
    type_, condition, instance, then, otherwise = args
    step = simp(condition)
    if step.expr is condition:
        return None
    if step.expr is TRUE or step.expr is FALSE:
        proof = step.proof if step.proof is not None else mk_eq_refl(ONE, PROP, step.expr)
        suffix = "true" if step.expr is TRUE else "false"
        lemma = mk_app(Const(f"{fn.name}_cond_eq_{suffix}", fn.levels), type_, condition, instance, then, otherwise)
        branch = then if step.expr is TRUE else otherwise
        if fn.name == "dite":
            fact = mk_app(Const(f"of_eq_{suffix}"), condition, proof)
            branch = beta(branch, [fact])
        return Step(branch, mk_app(lemma, proof))
    return _congruence(mctx, lctx, fn, args, step) if fn.name == "ite" else None


def _congruence(mctx: MetaContext, lctx: LocalContext, fn: Const, args: list[Expr], step: Step) -> Step | None:
    """`if c' then a else b` for a condition `c'` that equals `c`."""
    type_, condition, instance, then, otherwise = args
    new_instance = decidable_instance(mctx, step.expr, lctx)
    if new_instance is None:
        return None
    proof = step.proof if step.proof is not None else mk_eq_refl(ONE, PROP, step.expr)
    negated = mk_app(Const("Not"), step.expr)
    result = mk_app(fn, type_, step.expr, new_instance, then, otherwise)
    branches = [Lam("h", prop, mk_refl(mctx, branch)) for prop, branch in ((step.expr, then), (negated, otherwise))]
    head = mk_app(Const("ite_congr", fn.levels), type_, condition, step.expr, then, otherwise, then, otherwise)
    return Step(result, mk_app(head, instance, new_instance, proof, *branches))
