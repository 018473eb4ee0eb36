"""Equations that hold by computation, after cases on the variables that computation waits for."""

from __future__ import annotations

from nanolean.errors import TacticError
from nanolean.kernel.declaration import RecInfo
from nanolean.kernel.expr import Const, Expr, FVar, Pi, Proj, get_app_fn_args, instantiate, mk_app
from nanolean.kernel.typecheck import TypeChecker
from nanolean.meta.lctx import LocalContext
from nanolean.meta.mctx import MetaContext
from nanolean.tactics.cases_core import cases_local
from nanolean.tactics.constructors import mk_false_elim
from nanolean.tactics.eq_proof import match_eq, mk_eq_refl
from nanolean.tactics.goals import goal_target

MAX_SPLITS = 24
"""How deep the case analysis may go."""


def close_by_computation(mctx: MetaContext, goal: str, depth: int = 0) -> bool:
    """Prove an equation by computation and cases; cases that a hypothesis `∀ .., a = b → .. → False` excludes are
    closed by it. Answers whether that succeeded; if not, some assignments may have been made."""
    sides = match_eq(goal_target(mctx, goal))
    if sides is None:
        return False
    level, type_, lhs, rhs = sides
    lctx = mctx.decl(goal).lctx
    locals_ = {decl.fvar_id: (mctx.instantiate(decl.type), decl.value) for decl in lctx}
    checker = TypeChecker(mctx.env, locals_, mctx.budget)
    if checker.is_def_eq(lhs, rhs):
        mctx.assign(goal, mk_eq_refl(level, type_, lhs))
        return True
    if depth > 0 and _close_by_exclusion(mctx, goal, lctx):
        return True
    stuck = _stuck_on(checker, lhs, lctx) or _stuck_on(checker, rhs, lctx)
    if stuck is None or depth >= MAX_SPLITS:
        return False
    try:
        branches = cases_local(mctx, goal, stuck, lambda _goal, e: str(e))
    except TacticError:
        return False
    return all(close_by_computation(mctx, branch.goal, depth + 1) for branch in branches)


def _close_by_exclusion(mctx: MetaContext, goal: str, lctx: LocalContext) -> bool:
    for decl in lctx:
        statement = mctx.instantiate(decl.type)
        proof = decl.fvar
        mark = mctx.save()
        while isinstance(statement, Pi):
            sides = match_eq(statement.type)
            if sides is None:
                arg: Expr = mctx.fresh_mvar(statement.type, lctx)
            elif mctx.is_def_eq(sides[2], sides[3]):
                arg = mk_eq_refl(sides[0], sides[1], sides[2])
            else:
                break
            proof, statement = mk_app(proof, arg), instantiate(statement.body, arg)
        if statement is Const("False"):
            mctx.assign(goal, mk_false_elim(mctx, goal_target(mctx, goal), proof))
            return True
        mctx.restore(mark)
    return False


def _stuck_on(checker: TypeChecker, e: Expr, lctx: LocalContext) -> str | None:
    """The local that the computation of a term waits for."""
    while True:
        e = checker.whnf(e)
        fn, args = get_app_fn_args(e)
        info = checker.env.get(fn.name) if isinstance(fn, Const) else None
        if isinstance(info, RecInfo) and len(args) > info.major_idx:
            e = args[info.major_idx]
        elif isinstance(fn, Proj):
            e = fn.expr
        else:
            return fn.id if isinstance(fn, FVar) and fn.id in lctx and not args else None
