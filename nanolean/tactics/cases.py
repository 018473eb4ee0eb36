"""The tactics `cases`, `by_cases`, `subst` and `injection`."""

from __future__ import annotations

from nanolean.elab.api import elab_term, elab_type
from nanolean.errors import TacticError
from nanolean.kernel.expr import Const, Expr, FVar, MVar, mk_app
from nanolean.meta.instances import decidable_instance
from nanolean.meta.lctx import inaccessible
from nanolean.syntax import AssumptionStx, ByCasesStx, CasesStx, InjectionStx, SubstStx
from nanolean.tactics.cases_core import cases_local
from nanolean.tactics.closing import assumption_tactic
from nanolean.tactics.constructors import injection_equations, mk_false_elim, refute_clash
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.eq_proof import match_eq, mk_eq
from nanolean.tactics.equations import subst_hyp
from nanolean.tactics.goals import assert_hyp, binder_local_name, new_goal, try_clear
from nanolean.tactics.targets import as_local, run_alternatives, target_local


@tactic(CasesStx)
def cases_tactic(ctx: TacticContext, stx: CasesStx) -> None:
    """`cases h with | inl h => .. | inr h => ..`: one goal for each constructor."""
    if stx.using is not None or len(stx.targets) != 1:
        raise TacticError("`cases` with several targets or `using` is not supported")
    fvar_id = target_local(ctx, stx.targets[0])
    branches = cases_local(ctx.mctx, ctx.main, fvar_id, ctx.show_in)
    ctx.goals = ctx.goals[1:]
    run_alternatives(ctx, branches, stx.alts)


@tactic(ByCasesStx)
def by_cases_tactic(ctx: TacticContext, stx: ByCasesStx) -> None:
    """`by_cases h : p`: the goals `pos` with `h : p` and `neg` with `h : ¬p`."""
    mctx, goal = ctx.mctx, ctx.main
    prop = elab_type(ctx.session, ctx.lctx, stx.prop)
    if not mctx.is_prop(prop):
        raise TacticError(f"`by_cases` needs a proposition, got\n  {ctx.show(prop)}")
    target = ctx.target
    instance = None if mctx.is_prop(target) else decidable_instance(mctx, prop)
    if instance is None and not mctx.is_prop(target):
        raise TacticError(
            "`by_cases` is supported for goals that are propositions and for decidable conditions only, not for\n  "
            f"{ctx.show(prop)}"
        )
    negated = mk_app(Const("Not"), prop)
    decl = mctx.decl(goal)
    name = inaccessible("h") if stx.name in (None, "_") else str(stx.name)
    sides: list[Expr] = []
    goals = []
    for tag, hyp in (("pos", prop), ("neg", negated)):
        local = mctx.fresh_local(name, hyp)
        new = new_goal(mctx, target, decl.lctx.add(local), tag)
        goals.append(new)
        sides.append(mctx.mk_lambda([local.fvar_id], MVar(new)))
    mctx.assign(goal, _by_cases_value(ctx, prop, target, sides, instance))
    ctx.replace_main(goals)


def _by_cases_value(ctx: TacticContext, prop: Expr, target: Expr, sides: list[Expr], instance: Expr | None) -> Expr:
    """The positive or the negative side: by excluded middle for propositions, as the instance computes otherwise."""
    if instance is None:
        em = mk_app(Const("Classical.em"), prop)
        return mk_app(Const("Or.elim"), prop, mk_app(Const("Not"), prop), target, em, *sides)
    level = ctx.mctx.sort_level(target)
    assert level is not None, "the goal has a type"
    local = ctx.mctx.fresh_local("x", mk_app(Const("Decidable"), prop))
    motive = ctx.mctx.mk_lambda([local.fvar_id], target)
    pos, neg = sides
    return mk_app(Const("Decidable.rec", (level,)), prop, motive, neg, pos, instance)


# -- equations ---------------------------------------------------------------------------------------------------------


@tactic(SubstStx)
def subst_tactic(ctx: TacticContext, stx: SubstStx) -> None:
    """`subst h`: eliminate a variable by an equation; `subst x` looks for the equation."""
    for term in stx.terms:
        value = elab_term(ctx.session, ctx.lctx, term).term
        if isinstance(value, FVar) and not ctx.mctx.is_proof(value):
            ctx.replace_main([_subst_variable(ctx, value)])
            continue
        hyp = value.id if isinstance(value, FVar) else as_local(ctx, value)
        done = subst_hyp(ctx.mctx, ctx.main, hyp)
        if done is None:
            raise ctx.with_goal(
                "Tactic `subst` failed: invalid equality proof, it is not of the form (x = t) or (t = x)\n  "
                f"{ctx.show(ctx.mctx.infer_type(FVar(hyp)))}"
            )
        ctx.replace_main([done[0]])


def _subst_variable(ctx: TacticContext, var: FVar) -> str:
    """The goal after eliminating a variable by the first hypothesis that is an equation for it."""
    for decl in ctx.lctx:
        if decl.value is None and ctx.mctx.is_prop(ctx.type_of(decl)):
            done = subst_hyp(ctx.mctx, ctx.main, decl.fvar_id, only=var.id)
            if done is not None:
                return done[0]
    raise ctx.with_goal(f"Tactic `subst` failed: did not find an equation for eliminating `{ctx.show(var)}`")


@tactic(InjectionStx)
def injection_tactic(ctx: TacticContext, stx: InjectionStx) -> None:
    """`injection h with h₁ h₂`: equal constructor applications have equal fields; different ones close the goal.

    The equation is replaced by those of the fields, and the goal is closed if it is one of them, or another hypothesis.
    """
    mctx = ctx.mctx
    proof = elab_term(ctx.session, ctx.lctx, stx.term).term
    type_ = mctx.instantiate(mctx.infer_type(proof))
    sides = match_eq(type_) or match_eq(mctx.whnf(type_, "reducible"))
    if sides is None:
        raise ctx.with_goal("Tactic `injection` failed: equality expected")
    equation = mk_eq(*sides)
    absurdity = refute_clash(mctx, equation, proof)
    if absurdity is not None:
        ctx.close(mk_false_elim(mctx, ctx.target, absurdity))
        return
    parts = injection_equations(mctx, equation, proof)
    if parts is None:
        raise ctx.with_goal("Tactic `injection` failed: equality of constructor applications expected")
    if len(stx.names) > len(parts):
        raise TacticError("Tactic `injection` failed: too many identifiers provided")
    goal = ctx.main
    names = [*stx.names, *["_"] * (len(parts) - len(stx.names))]
    for part, name in zip(parts, names):
        shown = binder_local_name(f"{part.name}_eq") if name == "_" else name
        _, goal = assert_hyp(mctx, goal, shown, part.equation, part.proof)
    if isinstance(proof, FVar):
        goal = try_clear(mctx, goal, [proof.id])
    ctx.replace_main([goal])
    ctx.attempt(lambda: assumption_tactic(ctx, AssumptionStx()))
