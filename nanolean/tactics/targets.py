"""From the target of `cases`, `induction` or `rcases` to a local of the goal; and running the alternatives."""

from __future__ import annotations

from collections.abc import Sequence

from nanolean.elab.api import elab_term
from nanolean.errors import TacticError
from nanolean.kernel.expr import App, Expr, FVar, Lam, MVar, arrow, mk_app
from nanolean.meta.generalize import kabstract
from nanolean.meta.lctx import inaccessible
from nanolean.syntax import CaseTarget, Hole, Ident, InductionAlt, SyntheticHole, TacticSeq, Term
from nanolean.tactics.combinators import close_main_with
from nanolean.tactics.core import TacticContext
from nanolean.tactics.eliminate import Branch
from nanolean.tactics.eq_proof import level_of, mk_eq, mk_eq_refl
from nanolean.tactics.goals import (
    assert_hyp,
    goal_target,
    intro,
    new_goal,
    set_tag,
    with_context,
)


def target_local(ctx: TacticContext, target: CaseTarget) -> str:
    """The id of a local for the target; other terms than locals become one, with the goal generalized over it."""
    if target.name is None and isinstance(target.term, Ident):
        decl = ctx.lctx.find(target.term.name)
        if decl is not None and decl.value is None:
            return decl.fvar_id
    return as_local(ctx, elaborate_target(ctx, target.term), target.name)


def elaborate_target(ctx: TacticContext, term: Term) -> Expr:
    """Elaborate a target; it must be determined completely."""
    return elab_term(ctx.session, ctx.lctx, term).term


def as_local(ctx: TacticContext, value: Expr, equation_name: str | None = None) -> str:
    """A local that stands for `value` in the main goal; with a name also the equation `name : value = local`."""
    mctx = ctx.mctx
    type_ = mctx.instantiate(mctx.infer_type(value))
    if isinstance(value, FVar) and equation_name is None and mctx.fvars[value.id].value is None:
        return value.id
    if mctx.is_prop(type_):
        fvar_id, goal = assert_hyp(mctx, ctx.main, inaccessible("x"), type_, value)
        ctx.replace_main([goal])
        return fvar_id
    return _generalize(ctx, value, type_, equation_name)


def _generalize(ctx: TacticContext, value: Expr, type_: Expr, equation_name: str | None) -> str:
    mctx, goal = ctx.mctx, ctx.main
    decl = mctx.decl(goal)
    local = mctx.fresh_local("x", type_)
    body: Expr = App(Lam("x", type_, kabstract(mctx, goal_target(mctx, goal), value)), local.fvar)
    body = mctx.whnf_core(body)
    args = [value]
    if equation_name is not None:
        level = level_of(mctx, type_)
        body = arrow(mk_eq(level, type_, value, local.fvar), body, "h")
        args.append(mk_eq_refl(level, type_, value))
    new = new_goal(mctx, mctx.mk_pi([local.fvar_id], body), decl.lctx, decl.user_name)
    mctx.assign(goal, mk_app(MVar(new), *args))
    fvar_id, new = intro(mctx, new, inaccessible("x"))
    if equation_name is not None:
        _, new = intro(mctx, new, inaccessible("h") if equation_name == "_" else equation_name)
    ctx.replace_main([new])
    return fvar_id


# -- alternatives ------------------------------------------------------------------------------------------------------


def run_alternatives(ctx: TacticContext, branches: Sequence[Branch], alts: Sequence[InductionAlt] | None) -> None:
    """Name the branches as the alternatives say and run their right sides; `ctx.goals` begins behind the main goal.

    Without alternatives all branches are new goals. A right side `?_` leaves its branch open.
    """
    rest = ctx.goals
    if alts is None:
        ctx.goals = [branch.goal for branch in branches] + rest
        return
    _check_alternatives(branches, alts)
    left: list[str] = []
    for alt, branch in _paired(branches, alts):
        goal = name_branch(ctx, branch, alt)
        ctx.goals = [goal]
        if isinstance(alt.rhs, TacticSeq):
            close_main_with(ctx, alt.rhs)
            continue
        left += _leave_open(ctx, alt.rhs, goal)
    ctx.goals = left + rest


def _leave_open(ctx: TacticContext, hole: Hole | SyntheticHole, goal: str) -> list[str]:
    if isinstance(hole, SyntheticHole) and hole.name not in ("", "_"):
        set_tag(ctx.mctx, goal, hole.name)
    return [goal]


def _paired(branches: Sequence[Branch], alts: Sequence[InductionAlt]) -> list[tuple[InductionAlt, Branch]]:
    """Alternatives with their branches: named ones in the order written, `_` for whatever is left."""
    by_name = {branch.short_name: branch for branch in branches}
    pairs = []
    for alt in alts:
        if alt.ctor != "_":
            branch = by_name.pop(alt.ctor, None)
            if branch is not None:
                pairs.append((alt, branch))
            continue
        pairs += [(alt, branch) for branch in by_name.values()]
        by_name = {}
    order = {branch.goal: place for place, branch in enumerate(branches)}
    return sorted(pairs, key=lambda pair: order[pair[1].goal])


def _check_alternatives(branches: Sequence[Branch], alts: Sequence[InductionAlt]) -> None:
    known = [branch.short_name for branch in branches]
    seen: set[str] = set()
    for alt in alts:
        name = alt.ctor
        if name == "_":
            if seen.issuperset(known):
                raise TacticError("Wildcard alternative `_` is not needed: no case is left for it", alt.pos, alt.end)
            seen.update(known)
            continue
        if name in seen:
            raise TacticError(f"Duplicate alternative name `{name}`", alt.pos, alt.end)
        if name not in known:
            raise TacticError(_unknown_alternative(name, known), alt.pos, alt.end)
        seen.add(name)
    for name in known:
        if name not in seen:
            raise TacticError(f"Alternative `{name}` has not been provided")


def _unknown_alternative(name: str, known: list[str]) -> str:
    text = f"Invalid alternative name `{name}`: "
    if not known:
        return text + "There are no unhandled alternatives"
    if len(known) == 1:
        return text + f"Expected `{known[0]}`"
    return text + "Expected " + ", ".join(f"`{other}`" for other in known[:-1]) + f", or `{known[-1]}`"


def name_branch(ctx: TacticContext, branch: Branch, alt: InductionAlt) -> str:
    """The branch's goal with the names that an alternative gives to fields and induction hypotheses."""
    ids = [*branch.fields, *branch.hyps]
    if not alt.explicit:
        ids = [fvar_id for fvar_id, explicit in zip(ids, branch.explicit) if explicit]
    if len(alt.names) > len(ids):
        raise TacticError(
            f"Too many variable names provided at alternative `{branch.short_name}`: "
            f"{len(alt.names)} provided, but {len(ids)} expected",
            alt.pos,
            alt.end,
        )
    return name_locals(ctx, branch.goal, ids, alt.names)


def name_locals(ctx: TacticContext, goal: str, ids: Sequence[str], names: Sequence[str]) -> str:
    """The goal in which locals show the given names; `_` and missing names leave them as they are."""
    lctx = ctx.mctx.decl(goal).lctx
    before = lctx
    for fvar_id, name in zip(ids, names):
        if name != "_" and fvar_id in lctx:
            lctx = lctx.rename(fvar_id, name)
    return goal if lctx is before else with_context(ctx.mctx, goal, lctx)
