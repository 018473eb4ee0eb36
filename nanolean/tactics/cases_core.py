"""Case analysis on a local: one goal for each constructor that its type allows.

Where the indices of the type are distinct variables they are replaced along with the local. Elsewhere (`h : n ≤ 0`)
each constructor's indices are equated with those of the type, and the equations are used up: impossible constructors
disappear, variables get replaced.
"""

from __future__ import annotations

from collections.abc import Sequence

from nanolean.errors import TacticError
from nanolean.kernel.expr import Expr, FVar, arrow, collect_fvars
from nanolean.meta.mctx import MetaContext
from nanolean.tactics.eliminate import Branch, Major, apply_recursor, as_major
from nanolean.tactics.eq_proof import mk_eq, mk_eq_refl
from nanolean.tactics.equations import Show, apply_lambda, solve_equations
from nanolean.tactics.goals import (
    dependents,
    goal_target,
    intro_all,
    mentions_any,
    revert,
    try_clear,
)


def cases_local(mctx: MetaContext, goal: str, fvar_id: str, show: Show) -> list[Branch]:
    """Take a local apart; the branches that are possible, with hypotheses that depended on it back in place."""
    major = as_major(mctx, FVar(fvar_id))
    if indices_are_variables(mctx, goal, major):
        return _cases_direct(mctx, goal, major)
    return _cases_with_equations(mctx, goal, major, show)


def indices_are_variables(mctx: MetaContext, goal: str, major: Major) -> bool:
    """Whether the indices are distinct variables on which neither the parameters nor each other depend."""
    lctx = mctx.decl(goal).lctx
    ids = []
    for index in major.indices:
        index = mctx.instantiate(index)
        if not isinstance(index, FVar) or index.id not in lctx or mctx.fvars[index.id].value is not None:
            return False
        ids.append(index.id)
    if len(set(ids)) != len(ids):
        return False
    wanted = set(ids)
    if any(mentions_any(mctx, param, wanted) for param in major.params):
        return False
    return not any(mentions_any(mctx, mctx.fvars[i].type, wanted) for i in ids)


def index_ids(major: Major) -> list[str]:
    """The ids of indices that are known to be variables."""
    return [index.id for index in major.indices if isinstance(index, FVar)]


def _cases_direct(mctx: MetaContext, goal: str, major: Major) -> list[Branch]:
    own = [*index_ids(major), major.fvar.id]
    return eliminate(mctx, goal, major, own, [], induction=False)


def eliminate(
    mctx: MetaContext, goal: str, major: Major, own: Sequence[str], extra: Sequence[str], induction: bool
) -> list[Branch]:
    """Revert what depends on `own` (indices, then major premise) and `extra`, apply the recursor, introduce again."""
    lctx = mctx.decl(goal).lctx
    others = [i for i in dependents(mctx, lctx, [*own, *extra]) if i not in own]
    names = [lctx.by_id[i].user_name for i in others]
    others, goal = revert(mctx, goal, others)
    body = mctx.mk_lambda(own, goal_target(mctx, goal))

    def target(indices: Sequence[Expr], value: Expr) -> Expr:
        return apply_lambda(body, *indices, value)

    rest = mctx.decl(goal).lctx.remove(own)
    branches = apply_recursor(mctx, goal, major, rest, target, induction)
    for branch in branches:
        ids, branch.goal = intro_all(mctx, branch.goal, names)
        branch.renaming = dict(zip(others, ids))
    return branches


def _cases_with_equations(mctx: MetaContext, goal: str, major: Major, show: Show) -> list[Branch]:
    lctx = mctx.decl(goal).lctx
    others = [i for i in dependents(mctx, lctx, [major.fvar.id]) if i != major.fvar.id]
    names = [lctx.by_id[i].user_name for i in others]
    others, goal = revert(mctx, goal, others)
    body = goal_target(mctx, goal)
    if major.fvar.id in collect_fvars(body) and not mctx.is_prop(mctx.infer_type(major.fvar)):
        raise TacticError(f"Dependent elimination failed: the goal depends on `{show(goal, major.fvar)}`")
    reflexive = [_refl(mctx, index) for index in major.indices]

    def target(indices: Sequence[Expr], value: Expr) -> Expr:
        result = body
        for old, new in reversed(list(zip(major.indices, indices))):
            type_ = mctx.infer_type(old)
            level = mctx.sort_level(type_)
            assert level is not None, "indices have types"
            result = arrow(mk_eq(level, type_, old, new), result, "h")
        return result

    result = []
    for branch in apply_recursor(mctx, goal, major, mctx.decl(goal).lctx, target, False, reflexive):
        ids, branch.goal = intro_all(mctx, branch.goal, ["h✝"] * len(reflexive))
        solved = solve_equations(mctx, branch.goal, ids, show)
        if solved is None:
            continue
        branch.goal, renaming = solved
        branch.fields = [renaming.get(i, i) for i in branch.fields]
        branch.goal = try_clear(mctx, branch.goal, [renaming.get(major.fvar.id, major.fvar.id)])
        ids, branch.goal = intro_all(mctx, branch.goal, names)
        branch.renaming = {**renaming, **dict(zip(others, ids))}
        result.append(branch)
    return result


def _refl(mctx: MetaContext, e: Expr) -> Expr:
    type_ = mctx.infer_type(e)
    level = mctx.sort_level(type_)
    assert level is not None, "indices have types"
    return mk_eq_refl(level, type_, e)
