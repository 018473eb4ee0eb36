"""Elimination of equations among hypotheses: substitution, injectivity and disjointness of constructors."""

from collections.abc import Callable

from nanolean.kernel.expr import (
    Const,
    Expr,
    FVar,
    Lam,
    MVar,
    instantiate_rev,
    mk_app,
)
from nanolean.kernel.level import Level
from nanolean.meta.bind import mentions
from nanolean.meta.mctx import MetaContext
from nanolean.proof_errors import TacticError
from nanolean.tactics.constructors import injection_equations, mk_false_elim, refute_clash
from nanolean.tactics.eq_proof import match_eq, mk_eq
from nanolean.tactics.goals import (
    assert_hyp,
    dependents,
    goal_target,
    intro_all,
    new_goal,
    revert,
    try_clear,
)

Show = Callable[[str, Expr], str]
"""How to show a term in a goal."""

Renaming = dict[str, str]
"""Ids of locals before a step -> ids of the locals that took their places."""


def hyp_eq(mctx: MetaContext, fvar_id: str) -> tuple[Level, Expr, Expr, Expr] | None:
    """Level, type and sides of a hypothesis that is an equation (after unfolding reducible definitions)."""
    type_ = mctx.instantiate(mctx.fvars[fvar_id].type)
    return match_eq(type_) or match_eq(mctx.whnf(type_, "reducible"))


def subst_hyp(
    mctx: MetaContext, goal: str, hyp: str, later_first: bool = False, only: str = ""
) -> tuple[str, Renaming] | None:
    """Use `hyp : a = b` to eliminate `b`, or `a`, if that is a variable; None where neither can be eliminated.

    With `later_first` it is the later one in the context if both are variables; `only` allows just one variable.
    """
    sides = hyp_eq(mctx, hyp)
    if sides is None:
        return None
    _, _, lhs, rhs = sides
    # Lean's `subst`: for `a = b` the variable `b` goes, and `a` only if `b` is none.
    ways = [(rhs, lhs, False), (lhs, rhs, True)]
    if later_first and isinstance(lhs, FVar) and isinstance(rhs, FVar):
        ids = [decl.fvar_id for decl in mctx.decl(goal).lctx]
        if lhs.id in ids and rhs.id in ids and ids.index(lhs.id) > ids.index(rhs.id):
            ways.reverse()
    for var, value, symm in ways:
        if isinstance(var, FVar) and only in ("", var.id) and _can_eliminate(mctx, goal, var, value, hyp):
            return _eliminate(mctx, goal, hyp, var, value, symm)
    return None


def _can_eliminate(mctx: MetaContext, goal: str, var: FVar, value: Expr, hyp: str) -> bool:
    lctx = mctx.decl(goal).lctx
    if var.id not in lctx or mctx.fvars[var.id].value is not None:
        return False
    # `x = x + y`, or a value whose own locals would go with `x`, cannot take its place.
    return not mentions(mctx, value, set(dependents(mctx, lctx, [var.id])))


def _eliminate(mctx: MetaContext, goal: str, hyp: str, var: FVar, value: Expr, symm: bool) -> tuple[str, Renaming]:
    """Replace `var` by `value` everywhere; `hyp : value = var`, or `hyp : var = value` when `symm`."""
    sides = hyp_eq(mctx, hyp)
    assert sides is not None
    level, type_, _, _ = sides
    lctx = mctx.decl(goal).lctx
    # `Eq.rec` takes `value = var`. The other way round the hypothesis is turned, and the old one reverted.
    first = {var.id}
    if not symm:
        first.add(hyp)
    others = [i for i in dependents(mctx, lctx, [var.id, hyp]) if i not in first]
    names = [lctx.by_id[i].user_name for i in others]
    others, goal = revert(mctx, goal, others)
    equation: Expr = FVar(hyp)
    equation_id = hyp
    if symm:
        equation = mk_app(Const("Eq.symm", (level,)), type_, var, value, equation)
        equation_id = mctx.fresh_local("h", mk_eq(level, type_, value, var)).fvar_id
    target = goal_target(mctx, goal)
    motive_level = mctx.sort_level(target)
    assert motive_level is not None, "the goal has a type"
    motive = mctx.mk_lambda([var.id, equation_id], target)
    refl = mk_app(Const("Eq.refl", (level,)), type_, value)
    new_type = apply_lambda(motive, value, refl)
    decl = mctx.decl(goal)
    new = new_goal(mctx, new_type, decl.lctx.remove([var.id, hyp]), decl.user_name)
    rec = Const("Eq.rec", (motive_level, level))
    mctx.assign(goal, mk_app(rec, type_, value, motive, MVar(new), var, equation))
    ids, goal = intro_all(mctx, new, names)
    renaming = dict(zip(others, ids))
    if symm and hyp in renaming:
        goal = try_clear(mctx, goal, [renaming.pop(hyp)])
    return goal, renaming


def apply_lambda(fn: Expr, *args: Expr) -> Expr:
    """Return the body of nested functions with the arguments put in."""
    body = fn
    for _ in args:
        assert isinstance(body, Lam)
        body = body.body
    return instantiate_rev(body, args)


def solve_equations(mctx: MetaContext, goal: str, equations: list[str], show: Show) -> tuple[str, Renaming] | None:
    """Use up hypotheses that are equations, in order; None when they contradict each other and the goal is closed.

    Raises `TacticError` for an equation that is neither trivial nor decided by variables and constructors.
    """
    total: Renaming = {}
    queue = list(equations)
    while queue:
        hyp = queue.pop(0)
        sides = hyp_eq(mctx, hyp)
        if sides is None or hyp not in mctx.decl(goal).lctx:
            continue
        _, _, lhs, rhs = sides
        # The order of Lean's `unifyEq?`: trivial equations, then variables, then constructors.
        if mctx.is_def_eq(lhs, rhs):
            goal = try_clear(mctx, goal, [hyp])
            continue
        done = subst_hyp(mctx, goal, hyp, later_first=True)
        if done is not None:
            goal, renaming = done
            queue = [renaming.get(i, i) for i in queue]
            # Ids from before the first step lead to those after the last.
            total = {**{old: renaming.get(now, now) for old, now in total.items()}, **_fresh(renaming, total)}
            continue
        split = _use_constructors(mctx, goal, hyp, show)
        if split is None:
            return None
        goal, new = split
        queue = new + queue
    return goal, total


def _fresh(renaming: Renaming, total: Renaming) -> Renaming:
    known = set(total.values())
    return {old: now for old, now in renaming.items() if old not in known}


def _use_constructors(mctx: MetaContext, goal: str, hyp: str, show: Show) -> tuple[str, list[str]] | None:
    """Close the goal by a clash in `hyp` (None), or replace `hyp` by the equations between the fields."""
    proof: Expr = FVar(hyp)
    sides = hyp_eq(mctx, hyp)
    assert sides is not None
    equation = mk_eq(*sides)
    absurdity = refute_clash(mctx, equation, proof)
    if absurdity is not None:
        mctx.assign(goal, mk_false_elim(mctx, goal_target(mctx, goal), absurdity))
        return None
    parts = injection_equations(mctx, equation, proof)
    if parts is None:
        text = show(goal, equation)
        raise TacticError(f"Dependent elimination failed: Failed to solve equation\n  {text}")
    new = []
    for part in parts:
        fvar_id, goal = assert_hyp(mctx, goal, "h✝", part.equation, part.proof)
        new.append(fvar_id)
    return try_clear(mctx, goal, [hyp]), new
