"""Cases that cannot be, and equations used up: `nomatch nofun injections subst_vars`."""

from __future__ import annotations

from nanolean.elab.api import elab_term
from nanolean.errors import ProofError, TacticError
from nanolean.kernel.expr import FVar, Pi
from nanolean.syntax import (
    AssumptionStx,
    ContradictionStx,
    InjectionsStx,
    NofunStx,
    NomatchStx,
    SubstVarsStx,
)
from nanolean.tactics.cases_core import cases_local
from nanolean.tactics.closing import assumption_tactic, contradiction_tactic
from nanolean.tactics.constructors import injection_equations, mk_false_elim, refute_clash
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.eq_proof import mk_eq
from nanolean.tactics.equations import hyp_eq, subst_hyp
from nanolean.tactics.goals import assert_hyp, binder_local_name, goal_target, intro, try_clear
from nanolean.tactics.targets import as_local


@tactic(NomatchStx)
def nomatch_tactic(ctx: TacticContext, stx: NomatchStx) -> None:
    """`nomatch h`: close the goal by a term that no constructor can have made."""
    main, rest = ctx.main, ctx.goals[1:]
    for term in stx.terms:
        mark = ctx.save()
        ctx.goals = [main]
        value = elab_term(ctx.session, ctx.lctx, term).term
        if _close_by_cases(ctx, as_local(ctx, value)):
            ctx.goals = rest
            return
        ctx.restore(mark)
    raise TacticError("Missing cases: the terms of `nomatch` have possible constructors")


@tactic(NofunStx)
def nofun_tactic(ctx: TacticContext, stx: NofunStx) -> None:
    """`nofun`: close a goal that is a function on something which cannot be."""
    goal, rest = ctx.main, ctx.goals[1:]
    ids = []
    while isinstance(ctx.mctx.whnf(goal_target(ctx.mctx, goal), "default"), Pi):
        fvar_id, goal = intro(ctx.mctx, goal, None)
        ids.append(fvar_id)
    for fvar_id in ids:
        ctx.goals = [goal]
        if _close_by_cases(ctx, fvar_id):
            ctx.goals = rest
            return
    raise TacticError("Missing cases: no argument of the function is impossible")


def _close_by_cases(ctx: TacticContext, fvar_id: str) -> bool:
    """Whether taking a local apart leaves no case; then the main goal is closed."""
    mark = ctx.save()
    try:
        if not cases_local(ctx.mctx, ctx.main, fvar_id, ctx.show_in):
            return True
    except ProofError:
        pass
    ctx.restore(mark)
    return False


# -- equations ---------------------------------------------------------------------------------------------------------


@tactic(SubstVarsStx)
def subst_vars_tactic(ctx: TacticContext, stx: SubstVarsStx) -> None:
    """`subst_vars`: eliminate every variable for which a hypothesis is an equation."""
    goal = ctx.main
    progress = True
    while progress:
        progress = False
        for decl in ctx.mctx.decl(goal).lctx:
            done = subst_hyp(ctx.mctx, goal, decl.fvar_id) if decl.value is None else None
            if done is not None:
                goal, progress = done[0], True
                break
    ctx.replace_main([goal])


@tactic(InjectionsStx)
def injections_tactic(ctx: TacticContext, stx: InjectionsStx) -> None:
    """`injections h₁ h₂`: take all equations between applications of constructors apart, then try what closes."""
    names = list(stx.names)
    todo = [decl.fvar_id for decl in ctx.lctx]
    while todo:
        fvar_id, todo = todo[0], todo[1:]
        new = _inject(ctx, fvar_id, names)
        if new is None:
            return
        todo = new + todo
    if not ctx.attempt(lambda: assumption_tactic(ctx, AssumptionStx())):
        ctx.attempt(lambda: contradiction_tactic(ctx, ContradictionStx()))


def _inject(ctx: TacticContext, fvar_id: str, names: list[str]) -> list[str] | None:
    """The ids of the equations between fields that an equation gives; None when it closes the goal."""
    mctx, goal = ctx.mctx, ctx.main
    sides = hyp_eq(mctx, fvar_id) if fvar_id in ctx.lctx else None
    if sides is None:
        return []
    equation, proof = mk_eq(*sides), FVar(fvar_id)
    absurdity = refute_clash(mctx, equation, proof)
    if absurdity is not None:
        ctx.close(mk_false_elim(mctx, ctx.target, absurdity))
        return None
    parts = injection_equations(mctx, equation, proof)
    if parts is None:
        return []
    new = []
    for part in parts:
        name = names.pop(0) if names else "_"
        shown = binder_local_name(f"{part.name}_eq") if name == "_" else name
        field_id, goal = assert_hyp(mctx, goal, shown, part.equation, part.proof)
        new.append(field_id)
    ctx.replace_main([try_clear(mctx, goal, [fvar_id])])
    return new
