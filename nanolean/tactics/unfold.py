"""The tactic `unfold`: definitions replaced by what they are defined as."""

from __future__ import annotations

from nanolean.elab.names import constant_name
from nanolean.kernel.expr import Const, Expr, FVar, mk_app
from nanolean.meta.equations import unfolding_name
from nanolean.syntax import UnfoldStx
from nanolean.tactics.core import TacticContext, TacticError, tactic
from nanolean.tactics.eq_proof import level_of
from nanolean.tactics.goals import change_target, replace_hyp, replace_target
from nanolean.tactics.location import hyps_and_goal
from nanolean.tactics.rewrite import Rewritten, rewrite_by_theorem
from nanolean.tactics.unfolding import unfold_everywhere


@tactic(UnfoldStx)
def unfold_tactic(ctx: TacticContext, stx: UnfoldStx) -> None:
    """`unfold f g at h`."""
    hyps, goal_too = hyps_and_goal(ctx, stx.location)
    for written in stx.names:
        name = constant_name(ctx.state, written)
        for hyp in hyps:
            _unfold_hyp(ctx, hyp, name)
        if goal_too:
            new = _unfolded(ctx, ctx.target, name)
            if isinstance(new, Rewritten):
                ctx.replace_main([replace_target(ctx.mctx, ctx.main, new.expr, new.proof)])
            else:
                ctx.replace_main([change_target(ctx.mctx, ctx.main, new)])


def _unfold_hyp(ctx: TacticContext, hyp: str, name: str) -> None:
    decl = ctx.hyp(hyp)
    old = ctx.type_of(decl)
    new = _unfolded(ctx, old, name)
    proof: Expr = FVar(decl.fvar_id)
    type_ = new.expr if isinstance(new, Rewritten) else new
    if isinstance(new, Rewritten):
        proof = mk_app(Const("Eq.mp", (level_of(ctx.mctx, old),)), old, type_, new.proof, proof)
    _, goal = replace_hyp(ctx.mctx, ctx.main, decl.fvar_id, type_, proof)
    ctx.replace_main([goal])


def _unfolded(ctx: TacticContext, e: Expr, name: str) -> Expr | Rewritten:
    """The term with a definition unfolded: by computation where one of its equations applies, else by `f.eq_def`."""
    new = unfold_everywhere(ctx.mctx, e, frozenset([name]))
    if new is not e:
        return new
    theorem = unfolding_name(ctx.mctx.env, name)
    if theorem is not None:
        try:
            return rewrite_by_theorem(ctx, e, theorem)
        except TacticError:
            pass
    raise ctx.with_goal(f"Tactic `unfold` failed to unfold `{name}` at\n  {ctx.show(e)}")
