"""The tactic `induction`."""

from __future__ import annotations

from nanoproof.lean.nanolean.errors import TacticError
from nanoproof.lean.nanolean.kernel.expr import FVar
from nanoproof.lean.nanolean.syntax import InductionStx
from nanoproof.lean.nanolean.tactics.cases_core import eliminate, index_ids, indices_are_variables
from nanoproof.lean.nanolean.tactics.core import TacticContext, tactic
from nanoproof.lean.nanolean.tactics.eliminate import as_major
from nanoproof.lean.nanolean.tactics.targets import run_alternatives, target_local


@tactic(InductionStx)
def induction_tactic(ctx: TacticContext, stx: InductionStx) -> None:
    """`induction n generalizing m with | zero => .. | succ n ih => ..`: cases with induction hypotheses."""
    if stx.using is not None or len(stx.targets) != 1:
        raise TacticError("`induction` with several targets or `using` is not supported")
    fvar_id = target_local(ctx, stx.targets[0])
    extra = [ctx.hyp(name).fvar_id for name in stx.generalizing]
    if fvar_id in extra:
        raise TacticError("variable cannot be generalized because it is an index or the target of the induction")
    major = as_major(ctx.mctx, FVar(fvar_id))
    if not indices_are_variables(ctx.mctx, ctx.main, major):
        raise TacticError(
            "Invalid target: Index in target's type is not a variable (consider using the `cases` tactic instead)"
        )
    own = [*index_ids(major), fvar_id]
    branches = eliminate(ctx.mctx, ctx.main, major, own, extra, induction=True)
    ctx.goals = ctx.goals[1:]
    run_alternatives(ctx, branches, stx.alts)
