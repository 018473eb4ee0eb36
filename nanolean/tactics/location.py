"""Where a tactic works: the goal, some hypotheses, or everything (`at h ⊢`, `at *`)."""

from __future__ import annotations

from nanolean.errors import TacticError
from nanolean.syntax import Location
from nanolean.tactics.core import TacticContext


def hyps_and_goal(ctx: TacticContext, location: Location) -> tuple[list[str], bool]:
    """Names of the hypotheses and whether the goal is meant; `at *` is refused by tactics that use this."""
    if location.wildcard:
        raise TacticError("`at *` is not supported for this tactic")
    for name in location.hyps:
        ctx.hyp(name)
    return list(location.hyps), location.goal or not location.hyps


def proposition_ids(ctx: TacticContext) -> list[str]:
    """Ids of the hypotheses of the main goal that are proofs, oldest first."""
    return [decl.fvar_id for decl in ctx.lctx if decl.value is None and ctx.mctx.is_prop(ctx.type_of(decl))]
