"""Case analysis on a local, and equations that hold by computation after it."""

from collections.abc import Sequence

from nanolean.kernel.declaration import RecInfo
from nanolean.kernel.expr import Const, Expr, FVar, Pi, Proj, arrow, collect_fvars, get_app_fn_args, instantiate, mk_app
from nanolean.kernel.typecheck import TypeChecker
from nanolean.meta.bind import mentions
from nanolean.meta.lctx import LocalContext
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import const_info
from nanolean.proof_errors import TacticError
from nanolean.tactics.constructors import mk_false_elim
from nanolean.tactics.eliminate import Branch, Major, apply_recursor, as_major
from nanolean.tactics.eq_proof import match_eq, mk_eq, mk_eq_refl
from nanolean.tactics.equations import Show, apply_lambda, solve_equations
from nanolean.tactics.goals import dependents, goal_target, intro_all, revert, try_clear


def cases_local(mctx: MetaContext, goal: str, fvar_id: str, show: Show) -> list[Branch]:
    """Take a local apart; the branches that are possible, with hypotheses that depended on it back in place."""
    major = as_major(mctx, FVar(fvar_id))
    # A motive is a function of the indices, so it can be made at once only where they are variables. Otherwise `T a` is
    # generalized to `T i` with `a = i`, as `generalizeIndices` of Lean's Meta/Tactic/Cases.lean does.
    if indices_are_variables(mctx, goal, major):
        return eliminate(mctx, goal, major, [*index_ids(major), major.fvar.id], [], induction=False)
    return _cases_with_equations(mctx, goal, major, show)


def indices_are_variables(mctx: MetaContext, goal: str, major: Major) -> bool:
    """Return whether the indices are distinct variables on which neither the parameters nor each other depend."""
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
    if any(mentions(mctx, param, wanted) for param in major.params):
        return False
    return not any(mentions(mctx, mctx.fvars[i].type, wanted) for i in ids)


def index_ids(major: Major) -> list[str]:
    """Return the ids of indices that are known to be variables."""
    return [index.id for index in major.indices if isinstance(index, FVar)]


def eliminate(
    mctx: MetaContext, goal: str, major: Major, own: Sequence[str], extra: Sequence[str], induction: bool
) -> list[Branch]:
    """Revert what depends on `own` (indices, then major premise) and `extra`, apply the recursor, introduce again."""
    lctx = mctx.decl(goal).lctx
    # They mention what is replaced in each case, so they go into the motive and come back changed.
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
    # The new major premise has other indices, so the goal cannot speak of it; a proof it may, as all proofs are equal.
    if major.fvar.id in collect_fvars(body) and not mctx.is_prop(mctx.infer_type(major.fvar)):
        raise TacticError(f"Dependent elimination failed: the goal depends on `{show(goal, major.fvar)}`")
    reflexive = [_refl(mctx, index) for index in major.indices]

    def target(indices: Sequence[Expr], value: Expr) -> Expr:
        result = body
        # Equations of one type only: where index types depend on other indices Lean takes `HEq`.
        for old, new in reversed(list(zip(major.indices, indices))):
            type_ = mctx.infer_type(old)
            level = mctx.sort_level(type_)
            assert level is not None, "indices have types"
            result = arrow(mk_eq(level, type_, old, new), result, "h")
        return result

    result = []
    for branch in apply_recursor(mctx, goal, major, mctx.decl(goal).lctx, target, False, reflexive):
        ids, branch.goal = intro_all(mctx, branch.goal, ["h✝"] * len(reflexive))
        # `unifyEqs?` of Lean: the equations say which cases are possible, and what the variables are in the others.
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
    # The kernel's conversion and not unification: the goal is closed, and everything may unfold.
    checker = TypeChecker(mctx.env, locals_, mctx.budget)
    if checker.is_def_eq(lhs, rhs):
        mctx.assign(goal, mk_eq_refl(level, type_, lhs))
        return True
    # Before any case there is nothing that a condition could exclude.
    if depth > 0 and _close_by_exclusion(mctx, goal, lctx):
        return True
    # Cases on the variable that the computation waits for decide one more match each.
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
        info = const_info(checker.env, fn)
        if isinstance(info, RecInfo) and len(args) > info.major_idx:
            e = args[info.major_idx]
        elif isinstance(fn, Proj):
            e = fn.expr
        elif isinstance(fn, FVar) and fn.id in lctx and not args:
            return fn.id
        else:
            return None
