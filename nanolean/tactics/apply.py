"""Applying a term to a goal: as many arguments as needed become new goals."""

from collections.abc import Sequence

from nanolean.elab.api import Postponed
from nanolean.elab.names import split_name
from nanolean.kernel.expr import (
    Expr,
    FVar,
    MVar,
    Pi,
    collect_mvars,
    get_app_fn,
    instantiate,
    mk_app,
)
from nanolean.meta.instances import fill_instances
from nanolean.meta.mctx import MetaContext
from nanolean.proof_errors import TacticError
from nanolean.syntax import (
    AnonCtor,
    ApplyStx,
    DotIdent,
    Fun,
    Ident,
    SyntheticHole,
    Term,
)
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.goals import append_tag, goal_tag, goal_target

NEEDS_EXPECTED_TYPE = (AnonCtor, DotIdent, Fun)


def arity(mctx: MetaContext, type_: Expr) -> tuple[int, bool]:
    """Count the arguments that a function of this type takes, unfolding definitions in its result, and tell
    whether the result is one of them, as `C` in `False.elim : {C : Sort u} → False → C`.
    """
    count, ids = 0, set()
    while True:
        type_ = mctx.whnf_pi(type_, "default")
        if not isinstance(type_, Pi):
            # `getExpectedNumArgsAux` of Lean's Meta/Tactic/Apply.lean: a result that is an argument may be a function
            # type itself, so the goal does not tell how many arguments there are.
            head = get_app_fn(type_)
            return count, isinstance(head, MVar) or (isinstance(head, FVar) and head.id in ids)
        count += 1
        local, body = mctx.fresh_local(type_.name, type_.type), type_.body
        ids.add(local.fvar_id)
        type_ = instantiate(body, local.fvar) if body.loose else body


def telescope(mctx: MetaContext, type_: Expr, count: int, goal: str) -> tuple[list[MVar], Expr]:
    """Metavariables for the first `count` arguments of a function type, and the type of the result."""
    lctx = mctx.decl(goal).lctx
    mvars: list[MVar] = []
    for _ in range(count):
        type_ = mctx.whnf_pi(type_, "default")
        assert isinstance(type_, Pi)
        mvar = mctx.fresh_mvar(type_.type, lctx, "natural", type_.name.rstrip("✝"))
        mvars.append(mvar)
        type_ = instantiate(type_.body, mvar)
    return mvars, type_


def apply_expr(ctx: TacticContext, fn: Expr, others: Sequence[str] = ()) -> list[str]:
    """Close the main goal with `fn ?a₁ .. ?aₙ`; answers the new goals (`others` are goals inside of `fn`)."""
    mctx, goal = ctx.mctx, ctx.main
    target = goal_target(mctx, goal)
    fn_type = mctx.instantiate(mctx.infer_type(fn))
    total, is_open = arity(mctx, fn_type)
    # As many arguments fewer as the goal takes itself, and one more after each failure: `apply h` for `h : a → b → c`
    # and the goal `b → c` needs one.
    start = total
    if not is_open:
        start = max(0, total - arity(mctx, target)[0])
    for count in range(start, total + 1):
        mark = mctx.save()
        mvars, result = telescope(mctx, fn_type, count, goal)
        if mctx.is_def_eq(result, target):
            return _new_goals(ctx, goal, fn, mvars, others)
        mctx.restore(mark)
    raise _mismatch(ctx, fn, fn_type, start, target)


def _mismatch(ctx: TacticContext, fn: Expr, fn_type: Expr, count: int, target: Expr) -> TacticError:
    name = ctx.show(fn)
    _, result = telescope(ctx.mctx, fn_type, count, ctx.main)
    part = "conclusion" if count else "type"
    text = f"Tactic `apply` failed: could not unify the {part} of `{name}`\n  {ctx.show(result)}\nwith the goal\n  "
    text += ctx.show(target)
    if count:
        text += f"\n\nNote: The full type of `{name}` is\n  {ctx.show(fn_type)}"
    return ctx.with_goal(text)


def _new_goals(ctx: TacticContext, goal: str, fn: Expr, mvars: list[MVar], others: Sequence[str]) -> list[str]:
    mctx = ctx.mctx
    parent = goal_tag(mctx, goal)
    # Instances come last: unification with the goal has told what they are of.
    fill_instances(mctx, [mvar.id for mvar in mvars])
    value = mctx.instantiate(mk_app(fn, *mvars))
    mctx.assign(goal, value)
    open_ids = [mvar.id for mvar in mvars if not mctx.is_assigned(mvar.id)]
    for mvar_id in open_ids:
        # `appendParentTag` of Lean: the only argument is the goal itself in another form and keeps its tag.
        if len(mvars) == 1:
            mctx.set_kind(mvar_id, mctx.decl(mvar_id).kind, parent)
        elif parent:
            mctx.set_kind(mvar_id, mctx.decl(mvar_id).kind, append_tag(parent, mctx.decl(mvar_id).user_name))
    return [*_independent_first(mctx, open_ids), *_left_over(mctx, value, open_ids, others)]


def _independent_first(mctx: MetaContext, ids: list[str]) -> list[str]:
    """The goals on which no other goal depends, then the others."""
    used: set[str] = set()
    for mvar_id in ids:
        type_ = goal_target(mctx, mvar_id)
        if type_.has_mvar:
            used.update(collect_mvars(type_))
    # `nonDependentFirst` of Lean: proving the others mostly determines these.
    return [i for i in ids if i not in used] + [i for i in ids if i in used]


def _left_over(mctx: MetaContext, value: Expr, known: list[str], others: Sequence[str]) -> list[str]:
    """Metavariables of the term that are not among its arguments."""
    if not value.has_mvar:
        return []
    ids = [i for i in others if not mctx.is_assigned(i)]
    ids += [i for i in collect_mvars(value) if i not in known and i not in ids and i not in mctx.delayed]
    return ids


@tactic(ApplyStx)
def apply_tactic(ctx: TacticContext, stx: ApplyStx) -> None:
    """`apply e`: prove the goal by the conclusion of `e`; premises that are left become goals.

    An argument that the goal does not determine is a goal as well: it comes last, and the others show it as `?m`.

    ```lean
    example (a c : Nat) : a ≤ c := by
      apply Nat.le_trans
    ```

    Not here: `apply?`, and Mathlib's `apply .. at ..`.
    """
    ctx.replace_main(apply_term(ctx, stx.term))


def apply_term(ctx: TacticContext, term: Term) -> list[str]:
    """Elaborate a term and apply it to the main goal; a plain name keeps its implicit arguments to be found."""
    if isinstance(term, SyntheticHole) and term.name not in ("", "_") and term.name == goal_tag(ctx.mctx, ctx.main):
        return []  # as in Lean, which takes the goal for its own proof and leaves a metavariable that nobody proves
    if isinstance(term, Ident):
        # `elabTermForApply` of Lean: elaborated as an application a name would lose its arguments to `_`.
        named = _resolve(ctx, term)
        if named is not None:
            return apply_expr(ctx, named)
    expected = ctx.target if isinstance(term, NEEDS_EXPECTED_TYPE) else None
    # The goal tells what `by` blocks and instances are to prove (`evalApplyLikeTactic` of Lean's ElabTerm.lean).
    postponed = Postponed(ctx.session, ctx.lctx, term, expected)
    goals = apply_expr(ctx, postponed.term, postponed.goals)
    goals += postponed.finish().goals
    # A block may have been told by the goal what it is to prove, and so be there twice or be done.
    return [goal for goal in dict.fromkeys(goals) if not ctx.mctx.is_assigned(goal)]


def _resolve(ctx: TacticContext, term: Ident) -> Expr | None:
    """The local or the constant that a name without fields means, None for anything less simple."""
    if term.explicit or term.levels is not None:
        return None
    resolved = split_name(ctx.state, ctx.lctx, term.name)
    if resolved is None or resolved[1]:
        return None
    head = resolved[0]
    if isinstance(head, Expr):
        return head
    if len(head) != 1:
        return None
    return ctx.mctx.fresh_const(ctx.state.env[head[0]])
