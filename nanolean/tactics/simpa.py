"""`simpa`: simplify the goal and a proof, which then must agree."""

from __future__ import annotations

from nanolean.elab.api import elab_term
from nanolean.errors import TacticError
from nanolean.kernel.expr import Expr, FVar
from nanolean.meta.lctx import inaccessible
from nanolean.syntax import AssumptionStx, SimpaStx, Term
from nanolean.tactics.closing import assumption_tactic
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.goals import assert_hyp
from nanolean.tactics.simp import SimpSet, make_set, simp_goal, simp_hyp


@tactic(SimpaStx)
def simpa_tactic(ctx: TacticContext, stx: SimpaStx) -> None:
    """`simpa [..] using e`; without `using` the hypothesis `this`, or an assumption, must be the simplified goal."""
    rules = make_set(ctx, stx.only, stx.lemmas, stx.star)
    rest = len(ctx.goals) - 1
    simp_goal(ctx, rules)
    if len(ctx.goals) == rest:
        return
    if stx.using is not None:
        _use(ctx, rules, stx.using)
        return
    this = ctx.lctx.find("this")
    if this is not None and simp_hyp(ctx, rules, this.fvar_id) is None:
        return
    assumption_tactic(ctx, AssumptionStx())


def _use(ctx: TacticContext, rules: SimpSet, term: Term) -> None:
    mctx = ctx.mctx
    found = elab_term(ctx.session, ctx.lctx, term, None, holes="goals")
    value, shown = found.term, ctx.show(found.term)
    proof: Expr = value
    if isinstance(value, FVar) and value.id in ctx.lctx:
        fvar_id = value.id
    else:
        type_ = mctx.instantiate(mctx.infer_type(value))
        fvar_id, goal = assert_hyp(mctx, ctx.main, inaccessible("h"), type_, value)
        ctx.replace_main([goal])
    before = [decl.fvar_id for decl in ctx.lctx]
    if mctx.is_prop(mctx.fvars[fvar_id].type) and simp_hyp(ctx, rules, fvar_id) is None:
        ctx.goals += found.goals
        return
    new = [decl for decl in ctx.lctx if decl.fvar_id not in before]
    proof = new[0].fvar if new else FVar(fvar_id)
    type_, target = mctx.instantiate(mctx.infer_type(proof)), ctx.target
    if not mctx.is_def_eq(target, type_):
        raise TacticError(
            f"Type mismatch: After simplification, term\n  {shown}\nhas type\n  {ctx.show(type_)}\n"
            f"but is expected to have type\n  {ctx.show(target)}"
        )
    if isinstance(proof, FVar) and proof.id not in ctx.lctx:
        # The hypothesis became `True` and was cleared; so was the goal.
        raise TacticError("Tactic `simpa` failed: the term simplifies to `True`, which does not prove the goal")
    ctx.close(proof)
    ctx.goals += found.goals
