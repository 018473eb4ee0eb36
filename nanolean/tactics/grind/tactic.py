"""The tactic `grind`: prove the goal by contradiction from everything in its context."""

from __future__ import annotations

from collections.abc import Callable

from nanolean.kernel.errors import Budget, BudgetExceeded
from nanolean.kernel.expr import Const, Expr, Let, Pi, collect_fvars, get_app_fn, guarded, mk_app
from nanolean.meta.lctx import LocalDecl
from nanolean.meta.mctx import MetaContext
from nanolean.syntax import GrindStx
from nanolean.tactics.constructors import mk_false_elim
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.eq_proof import FALSE, mk_eq, mk_eq_refl
from nanolean.tactics.goals import intro
from nanolean.tactics.grind.egraph import EGraph, OutOfTerms
from nanolean.tactics.grind.explain import NOT, mk_not
from nanolean.tactics.grind.lemmas import Lemmas, read_lemmas
from nanolean.tactics.grind.normal import Normalizer
from nanolean.tactics.grind.search import Limits, refute
from nanolean.tactics.grind.state import State

STEPS = 60_000
"""Elementary steps that one call may take (about 0.3 s)."""


@tactic(GrindStx)
def grind_tactic(ctx: TacticContext, stx: GrindStx) -> None:
    """`grind [h, ← g]`."""
    if ctx.target.has_mvar:
        raise ctx.with_goal("`grind` failed, the goal contains metavariables")
    lemmas = read_lemmas(ctx, stx.lemmas)
    with ctx.focus():
        ctx.goals = [_introduce(ctx.mctx, ctx.main)]
        proof = _bounded(ctx.mctx, lambda: _prove(ctx, lemmas))
        if proof is None:
            raise ctx.with_goal("`grind` failed")
        ctx.close(proof)


def _introduce(mctx: MetaContext, goal: str) -> str:
    """The goal after all binders that it shows, also those of `¬p` and `a ≠ b`."""
    while True:
        target = mctx.whnf(mctx.instantiate(mctx.decl(goal).type), "reducible")
        if not isinstance(target, Pi | Let) and get_app_fn(target) is not NOT:
            return goal
        _, goal = intro(mctx, goal, None)


def _bounded(mctx: MetaContext, work: Callable[[], Expr | None]) -> Expr | None:
    """Run a search on a budget of its own, paid from the one there is; None where that does not suffice."""
    budget = mctx.budget
    mctx.budget = Budget(min(budget.left, STEPS))
    granted = mctx.budget.left
    try:
        return guarded(work)
    except (BudgetExceeded, OutOfTerms):
        return None
    finally:
        spent = granted - max(mctx.budget.left, 0)
        mctx.budget = budget
        budget.spend(spent)


def _prove(ctx: TacticContext, lemmas: Lemmas) -> Expr | None:
    """A proof of the main goal from its context and the lemmas."""
    mctx, target = ctx.mctx, ctx.target
    state = State(mctx, EGraph(mctx), Normalizer(mctx), theorems=list(lemmas.theorems))
    state.definitions = tuple(lemmas.definitions)
    for decl in ctx.lctx:
        _assume(state, decl)
    if not mctx.is_prop(target):
        absurdity = refute(state, Limits())
        return None if absurdity is None else mk_false_elim(mctx, target, absurdity)
    negation = mctx.fresh_local("h", mk_not(target))
    if target is not FALSE:
        state.add_fact(negation.type, lambda ex: negation.fvar)
    absurdity = refute(state, Limits())
    if absurdity is None or target is FALSE:
        return absurdity
    if negation.fvar_id not in collect_fvars(absurdity):
        return mk_false_elim(mctx, target, absurdity)
    return mk_app(Const("Classical.byContradiction"), target, mctx.mk_lambda([negation.fvar_id], absurdity))


def _assume(state: State, decl: LocalDecl) -> None:
    """Make a hypothesis a fact, and the value of a `let` an equation."""
    mctx = state.mctx
    type_ = mctx.instantiate(decl.type)
    if type_.has_mvar:
        return
    if mctx.is_prop(type_):
        state.add_fact(type_, lambda ex: decl.fvar)
    elif decl.value is not None:
        value = mctx.instantiate(decl.value)
        level = mctx.sort_level(type_)
        if level is not None and not value.has_mvar:
            state.add_fact(mk_eq(level, type_, decl.fvar, value), lambda ex: mk_eq_refl(level, type_, decl.fvar))
