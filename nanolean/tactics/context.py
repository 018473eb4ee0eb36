"""Tactics that add, rename or remove hypotheses: `let suffices generalize clear rename`."""

from __future__ import annotations

from nanolean.elab.api import elab_term, elab_type
from nanolean.errors import TacticError
from nanolean.kernel.expr import (
    App,
    Expr,
    FVar,
    MVar,
    arrow,
    instantiate,
    mk_app,
)
from nanolean.meta.generalize import kabstract
from nanolean.meta.lctx import LocalDecl
from nanolean.syntax import ClearStx, GeneralizeStx, LetStx, RenameStx, SufficesStx
from nanolean.tactics.basic import tag_definition_goals
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.eq_proof import level_of, mk_eq, mk_eq_refl
from nanolean.tactics.goals import (
    goal_tag,
    goal_target,
    intro,
    local_name,
    new_goal,
    user_of,
    with_context,
)
from nanolean.tactics.rewrite import well_typed


@tactic(LetStx)
def let_tactic(ctx: TacticContext, stx: LetStx) -> None:
    """`let x : T := v`: a local with a value; `?_` in `v` become goals after the main one."""
    mctx, goal, lctx = ctx.mctx, ctx.main, ctx.lctx
    type_ = None if stx.type is None else elab_type(ctx.session, lctx, stx.type)
    found = elab_term(ctx.session, lctx, stx.value, type_, holes="goals")
    if type_ is None:
        type_ = mctx.instantiate(mctx.infer_type(found.term))
    local = mctx.fresh_local(local_name(stx.name), type_, found.term)
    decl = mctx.decl(goal)
    new = new_goal(mctx, decl.type, decl.lctx.add(local), decl.user_name)
    mctx.assign(goal, mctx.mk_lambda([local.fvar_id], MVar(new)))
    ctx.replace_main([new, *found.goals])
    tag_definition_goals(ctx, new, found.goals)


@tactic(SufficesStx)
def suffices_tactic(ctx: TacticContext, stx: SufficesStx) -> None:
    """`suffices h : T from e`: `e` proves the goal from `h`, and `T` is the new goal."""
    mctx, goal, lctx = ctx.mctx, ctx.main, ctx.lctx
    type_ = elab_type(ctx.session, lctx, stx.type)
    local = mctx.fresh_local(local_name(stx.name), type_)
    found = elab_term(ctx.session, lctx.add(local), stx.value, ctx.target, holes="goals")
    new = new_goal(mctx, type_, lctx, goal_tag(mctx, goal))
    mctx.assign(goal, App(mctx.mk_lambda([local.fvar_id], found.term), MVar(new)))
    # Lean's `suffices` refines by a term and rotates its goals to the right by one.
    goals = [new, *found.goals]
    ctx.replace_main(goals[-1:] + goals[:-1])


@tactic(GeneralizeStx)
def generalize_tactic(ctx: TacticContext, stx: GeneralizeStx) -> None:
    """`generalize h : e = x`: replace `e` in the goal by a new variable `x`."""
    mctx, goal = ctx.mctx, ctx.main
    decl = mctx.decl(goal)
    values = [elab_term(ctx.session, ctx.lctx, arg.term).term for arg in stx.args]
    locals_: list[LocalDecl] = []
    target = goal_target(mctx, goal)
    for arg, value in reversed(list(zip(stx.args, values))):
        local = mctx.fresh_local(local_name(arg.name), mctx.instantiate(mctx.infer_type(value)))
        target = instantiate(kabstract(mctx, target, value), local.fvar)
        locals_.insert(0, local)
    names: list[str] = []
    proofs: list[Expr] = []
    for arg, value, local in reversed(list(zip(stx.args, values, locals_))):
        if arg.equation_name is not None:
            level = level_of(mctx, local.type)
            target = arrow(mk_eq(level, local.type, value, local.fvar), target, "h")
            names.insert(0, local_name(arg.equation_name, "h"))
            proofs.insert(0, mk_eq_refl(level, local.type, value))
    if not _is_type_correct(ctx, target, [local.fvar_id for local in locals_]):
        raise ctx.with_goal("Tactic `generalize` failed: result is not type correct")
    new = new_goal(mctx, mctx.mk_pi([local.fvar_id for local in locals_], target), decl.lctx, decl.user_name)
    mctx.assign(goal, mk_app(MVar(new), *values, *proofs))
    for name in [*(local.user_name for local in locals_), *names]:
        _, new = intro(mctx, new, name)
    ctx.replace_main([new])


def _is_type_correct(ctx: TacticContext, target: Expr, ids: list[str]) -> bool:
    """Whether a target still makes sense for variables in the place of the terms that were generalized."""
    return all(well_typed(ctx.mctx, target, FVar(fvar_id)) for fvar_id in ids)


# -- names -------------------------------------------------------------------------------------------------------------


@tactic(ClearStx)
def clear_tactic(ctx: TacticContext, stx: ClearStx) -> None:
    """`clear h x`: remove hypotheses on which nothing else depends."""
    mctx, goal = ctx.mctx, ctx.main
    wanted = {ctx.hyp(name).fvar_id for name in stx.names}
    lctx = ctx.lctx
    for decl in reversed(list(ctx.lctx)):
        if decl.fvar_id not in wanted:
            continue
        user = user_of(mctx, goal, lctx, decl.fvar_id)
        if user is not None:
            what = "target" if user == "the target" else f"variable {user}"
            goal = with_context(mctx, goal, lctx)
            text = f"Tactic `clear` failed: {what} depends on `{decl.user_name}`\n\n{ctx.show_goal(goal)}"
            raise TacticError(text)
        lctx = lctx.remove([decl.fvar_id])
    ctx.replace_main([with_context(mctx, goal, lctx)])


@tactic(RenameStx)
def rename_tactic(ctx: TacticContext, stx: RenameStx) -> None:
    """`rename T => h`: give the last hypothesis of type `T` a name."""
    mctx = ctx.mctx
    for decl in reversed(list(ctx.lctx)):
        mark = mctx.save()
        type_ = elab_type(ctx.session, ctx.lctx, stx.type, holes="natural")
        if mctx.is_def_eq(type_, ctx.type_of(decl)):
            lctx = ctx.lctx.rename(decl.fvar_id, local_name(stx.name, decl.user_name))
            ctx.replace_main([with_context(mctx, ctx.main, lctx)])
            return
        mctx.restore(mark)
    type_ = elab_type(ctx.session, ctx.lctx, stx.type, holes="natural")
    raise TacticError(f"Failed to find a hypothesis with type\n  {ctx.show(type_)}")
