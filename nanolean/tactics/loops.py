"""Further combinators: `repeat' repeat1' iterate solve fail_if_success and_intros`."""

from __future__ import annotations

from functools import partial

from nanolean.errors import ProofError, TacticError
from nanolean.syntax import (
    AndIntrosStx,
    AppStx,
    FailIfSuccessStx,
    Ident,
    IterateStx,
    RefineStx,
    RepeatPrimeStx,
    RepeatStx,
    SolveStx,
    SyntheticHole,
    TacticSeq,
)
from nanolean.tactics.combinators import REPEAT_COST, close_main_with, repeat_tactic
from nanolean.tactics.core import TacticContext, run_seq, tactic

ITERATE_COST = 50
"""Steps that each round of `iterate` takes from the budget, since rounds may be nested."""


@tactic(RepeatPrimeStx)
def repeat_prime_tactic(ctx: TacticContext, stx: RepeatPrimeStx) -> None:
    """`repeat' t`: run `t` on every goal, and on the goals that it makes, until it fails on all of them."""
    if not _exhaust(ctx, stx.tactics) and stx.once:
        raise TacticError("repeat1' made no progress")


def _exhaust(ctx: TacticContext, seq: TacticSeq) -> bool:
    """Run tactics on all goals as long as they succeed; whether they ever did."""
    todo, left = list(ctx.goals), []
    progress = False
    while todo:
        goal, todo = todo[0], todo[1:]
        if ctx.mctx.is_assigned(goal):
            continue
        ctx.goals = [goal]
        if ctx.attempt(lambda: run_seq(ctx, seq)):
            ctx.mctx.budget.spend(REPEAT_COST)
            progress = True
            todo = ctx.goals + todo
        else:
            left.append(goal)
    ctx.goals = left
    return progress


@tactic(IterateStx)
def iterate_tactic(ctx: TacticContext, stx: IterateStx) -> None:
    """`iterate n t`: run `t` exactly `n` times; without a number as often as it succeeds."""
    if stx.count is None:
        repeat_tactic(ctx, RepeatStx(stx.tactics))
        return
    for _ in range(stx.count):
        ctx.mctx.budget.spend(ITERATE_COST)
        run_seq(ctx, stx.tactics)


@tactic(SolveStx)
def solve_tactic(ctx: TacticContext, stx: SolveStx) -> None:
    """`solve | t | u`: the first alternative that closes the main goal."""
    *others, last = stx.alts
    for alternative in others:
        if ctx.attempt(partial(close_main_with, ctx, alternative)):
            return
    close_main_with(ctx, last)


@tactic(FailIfSuccessStx)
def fail_if_success_tactic(ctx: TacticContext, stx: FailIfSuccessStx) -> None:
    """`fail_if_success t`: do nothing where `t` fails."""
    mark = ctx.save()
    try:
        run_seq(ctx, stx.tactics)
    except ProofError:
        ctx.restore(mark)
        return
    raise TacticError("The tactic provided to `fail_if_success` succeeded but was expected to fail")


@tactic(AndIntrosStx)
def and_intros_tactic(ctx: TacticContext, stx: AndIntrosStx) -> None:
    """`and_intros`: `repeat' refine And.intro ?_ ?_`."""
    hole = SyntheticHole("_", pos=stx.pos, end=stx.end)
    both = AppStx(Ident("And.intro", pos=stx.pos, end=stx.end), (hole, hole), pos=stx.pos, end=stx.end)
    refine = RefineStx(both, pos=stx.pos, end=stx.end)
    with ctx.focus():
        _exhaust(ctx, TacticSeq((refine,), pos=stx.pos, end=stx.end))
