"""The tactic `induction`."""

from __future__ import annotations

from nanolean.errors import TacticError
from nanolean.kernel.expr import FVar
from nanolean.syntax import InductionStx
from nanolean.tactics.cases_core import eliminate, index_ids, indices_are_variables
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.custom_eliminator import custom_branches, find_eliminator
from nanolean.tactics.eliminate import Branch, as_major
from nanolean.tactics.targets import run_alternatives, target_local


@tactic(InductionStx)
def induction_tactic(ctx: TacticContext, stx: InductionStx) -> None:
    """`induction n generalizing m with | zero => .. | succ n ih => ..`: cases with induction hypotheses."""
    eliminator = None if stx.using is None else find_eliminator(ctx, stx.using)
    if eliminator is None and len(stx.targets) != 1:
        raise TacticError("Unexpected number of targets: several need `using`")
    targets = [target_local(ctx, target) for target in stx.targets]
    extra = [ctx.hyp(name).fvar_id for name in stx.generalizing]
    if not set(targets).isdisjoint(extra):
        raise TacticError("variable cannot be generalized because it is an index or the target of the induction")
    if eliminator is not None:
        branches = custom_branches(ctx, ctx.main, eliminator, targets, extra)
    else:
        branches = _by_recursor(ctx, targets[0], extra)
    ctx.goals = ctx.goals[1:]
    run_alternatives(ctx, branches, stx.alts)


def _by_recursor(ctx: TacticContext, fvar_id: str, extra: list[str]) -> list[Branch]:
    major = as_major(ctx.mctx, FVar(fvar_id))
    if not indices_are_variables(ctx.mctx, ctx.main, major):
        raise TacticError(
            "Invalid target: Index in target's type is not a variable (consider using the `cases` tactic instead)"
        )
    own = [*index_ids(major), fvar_id]
    return eliminate(ctx.mctx, ctx.main, major, own, extra, induction=True)
