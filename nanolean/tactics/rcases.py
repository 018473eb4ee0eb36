"""`rcases` and `obtain`: taking hypotheses apart along a pattern."""

from __future__ import annotations

from nanolean.elab.api import elab_term, elab_type
from nanolean.errors import TacticError
from nanolean.kernel.declaration import InductiveInfo
from nanolean.kernel.expr import Expr, FVar, MVar
from nanolean.meta.lctx import inaccessible
from nanolean.syntax import (
    ObtainStx,
    PatAlts,
    PatName,
    PatTuple,
    PatTyped,
    RcasesPattern,
    RcasesStx,
)
from nanolean.tactics.cases_core import cases_local
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.eliminate import inductive_type
from nanolean.tactics.equations import subst_hyp
from nanolean.tactics.goals import assert_hyp, new_goal, retype_hyp, try_clear
from nanolean.tactics.targets import name_locals, target_local

Work = list[tuple[str, RcasesPattern]]
"""Locals that are still to be taken apart, with their patterns."""

KEEP = PatName("_")


@tactic(RcasesStx)
def rcases_tactic(ctx: TacticContext, stx: RcasesStx) -> None:
    """`rcases h with ⟨x, hx⟩ | h`; several targets share one tuple."""
    patterns = _patterns_for_fields(stx.pattern or PatTuple(()), len(stx.targets))
    if len(stx.targets) == 1:
        patterns = [stx.pattern or KEEP]
    ids = [target_local(ctx, target) for target in stx.targets]
    ctx.replace_main(destruct(ctx, ctx.main, list(zip(ids, patterns))))


@tactic(ObtainStx)
def obtain_tactic(ctx: TacticContext, stx: ObtainStx) -> None:
    """`obtain ⟨x, hx⟩ : T := e`; without a value `T` becomes a goal of its own, the first one."""
    mctx, goal, lctx = ctx.mctx, ctx.main, ctx.lctx
    type_ = None if stx.type is None else elab_type(ctx.session, lctx, stx.type)
    extra: list[str] = []
    if stx.value is None:
        if type_ is None:
            raise TacticError("`obtain` requires either an expected type or a value.")
        proof_goal = new_goal(mctx, type_, lctx)
        extra = [proof_goal]
        value: Expr = MVar(proof_goal)
    else:
        found = elab_term(ctx.session, lctx, stx.value, type_, holes="goals", recover=True)
        value, extra = found.term, list(found.goals)
    if isinstance(value, FVar) and type_ is None:
        fvar_id = value.id
    else:
        value_type = mctx.instantiate(type_ if type_ is not None else mctx.infer_type(value))
        fvar_id, goal = assert_hyp(mctx, goal, inaccessible("x"), value_type, value)
    done = destruct(ctx, goal, [(fvar_id, stx.pattern or PatName("this"))])
    ctx.replace_main([*extra, *done] if stx.value is None else [*done, *extra])


def destruct(ctx: TacticContext, goal: str, work: Work) -> list[str]:
    """Take locals apart along their patterns, one after another; answers the goals that remain."""
    while work:
        (fvar_id, pattern), work = work[0], work[1:]
        if fvar_id not in ctx.mctx.decl(goal).lctx:
            continue
        if isinstance(pattern, PatTyped):
            goal, renaming = _ascribe(ctx, goal, fvar_id, pattern)
            work = [(renaming.get(i, i), other) for i, other in [(fvar_id, pattern.pattern), *work]]
        elif isinstance(pattern, PatName):
            goal, work = _use_name(ctx, goal, fvar_id, pattern.name, work)
        elif isinstance(pattern, PatAlts) and len(pattern.alts) == 1:
            work = [(fvar_id, pattern.alts[0]), *work]
        else:
            return _split(ctx, goal, fvar_id, pattern, work)
    return [goal]


def _use_name(ctx: TacticContext, goal: str, fvar_id: str, name: str, work: Work) -> tuple[str, Work]:
    if name == "rfl":
        done = subst_hyp(ctx.mctx, goal, fvar_id)
        if done is None:
            raise TacticError("`rfl` pattern: the hypothesis is not an equation for a variable")
        goal, renaming = done
        return goal, [(renaming.get(i, i), pattern) for i, pattern in work]
    if name == "-":
        return try_clear(ctx.mctx, goal, [fvar_id]), work
    return name_locals(ctx, goal, [fvar_id], [name]), work


def _ascribe(ctx: TacticContext, goal: str, fvar_id: str, pattern: PatTyped) -> tuple[str, dict[str, str]]:
    mctx = ctx.mctx
    type_ = elab_type(ctx.session, mctx.decl(goal).lctx, pattern.type, holes="natural")
    old = mctx.fvars[fvar_id].type
    if not mctx.is_def_eq(old, type_):
        raise TacticError(
            f"rcases: scrutinee has type\n  {ctx.show_in(goal, old)}\nbut is expected to have type\n  "
            f"{ctx.show_in(goal, type_)}"
        )
    return retype_hyp(mctx, goal, fvar_id, mctx.instantiate(type_))


def _split(ctx: TacticContext, goal: str, fvar_id: str, pattern: RcasesPattern, work: Work) -> list[str]:
    """Case analysis; the alternatives of the pattern belong to the constructors in order."""
    mctx = ctx.mctx
    found = inductive_type(mctx, mctx.fvars[fvar_id].type)
    if found is None:
        raise TacticError("rcases tactic failed: the pattern expects an inductive datatype")
    info = found[0]
    per_ctor = _patterns_for_ctors(pattern, info)
    goals: list[str] = []
    for branch in cases_local(mctx, goal, fvar_id, ctx.show_in):
        fields = [i for i, explicit in zip(branch.fields, branch.explicit) if explicit]
        parts = _patterns_for_fields(per_ctor[info.ctors.index(branch.ctor)], len(fields))
        inner = list(zip(fields, parts))
        later = [(branch.renaming.get(i, i), other) for i, other in work]
        goals += destruct(ctx, branch.goal, [*inner, *later])
    return goals


def _patterns_for_ctors(pattern: RcasesPattern, info: InductiveInfo) -> list[RcasesPattern]:
    count = len(info.ctors)
    if count == 1:
        return [pattern]
    alts = list(pattern.alts) if isinstance(pattern, PatAlts) else [pattern]
    if len(alts) > count:
        alts = [*alts[: count - 1], PatAlts(tuple(alts[count - 1 :]))]
    return [*alts, *[KEEP] * (count - len(alts))]


def _patterns_for_fields(pattern: RcasesPattern, count: int) -> list[RcasesPattern]:
    """Patterns for the explicit fields of a constructor; a last tuple item takes all that are left."""
    if not isinstance(pattern, PatTuple):
        items: list[RcasesPattern] = [pattern]
    else:
        items = list(pattern.items)
    if len(items) > count > 0:
        items = [*items[: count - 1], PatTuple(tuple(items[count - 1 :]))]
    return [*items, *[KEEP] * (count - len(items))]
