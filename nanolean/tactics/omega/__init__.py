"""`omega`: linear arithmetic on natural numbers.

`propositions` reads hypotheses as relations, `sums` reads terms as linear sums, `operations` adds what is known about
`-`, `/`, `%` and others, `prover` distinguishes cases, `search` looks for a contradiction between inequalities and
leaves a `certificate`, `proofs` turns that into a term, `message` says what was left when nothing was found.
"""

from __future__ import annotations

from collections.abc import Iterable

from nanolean.errors import TacticError
from nanolean.kernel.expr import Const, Expr, MVar, Pi, get_app_fn, mk_app
from nanolean.meta.instances import decidable_instance
from nanolean.meta.mctx import MetaContext
from nanolean.syntax import OmegaStx
from nanolean.tactics.constructors import mk_false_elim
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.eq_proof import FALSE
from nanolean.tactics.goals import goal_target, intro, new_goal
from nanolean.tactics.location import proposition_ids
from nanolean.tactics.omega.message import describe
from nanolean.tactics.omega.propositions import NOT, is_linear_fact
from nanolean.tactics.omega.prover import Prover

__all__ = ["is_linear_fact", "omega_tactic", "solve"]


def solve(mctx: MetaContext, facts: Iterable[tuple[Expr, Expr]]) -> Expr | None:
    """A proof of `False` from proved propositions, given as pairs (proposition, proof); None if there is none.

    Raises `BudgetExceeded` when the step budget of `mctx` is not enough.
    """
    return Prover(mctx).prove_false(facts)


@tactic(OmegaStx)
def omega_tactic(ctx: TacticContext, stx: OmegaStx) -> None:
    """`omega`: close the goal by linear arithmetic from the hypotheses and the negated goal."""
    mctx = ctx.mctx
    ctx.replace_main([false_or_by_contra(mctx, ctx.main)])
    facts = [(ctx.type_of(ctx.lctx.by_id[i]), ctx.lctx.by_id[i].fvar) for i in proposition_ids(ctx)]
    prover = Prover(mctx)
    proof = prover.prove_false(facts)
    if proof is None:
        assert prover.failed is not None, "a case has failed"
        raise TacticError(f"omega could not prove the goal:\n{describe(ctx, prover.failed)}")
    ctx.close(proof)


def false_or_by_contra(mctx: MetaContext, goal: str) -> str:
    """Introduce what the goal assumes, then its negation if it is decidable; the new goal is `False`.

    That is Lean's `falseOrByContra` as `omega` calls it.
    """
    while True:
        target = mctx.whnf(goal_target(mctx, goal), "reducible")
        if target is FALSE:
            return goal
        if not (isinstance(target, Pi) or get_app_fn(target) is NOT):
            break
        _, goal = intro(mctx, goal, None)
    decl = mctx.decl(goal)
    instance = decidable_instance(mctx, target, decl.lctx) if mctx.is_prop(target) else None
    if instance is None:
        new = new_goal(mctx, FALSE, decl.lctx, decl.user_name)
        mctx.assign(goal, mk_false_elim(mctx, target, MVar(new)))
        return new
    new = new_goal(mctx, Pi("a", mk_app(NOT, target), FALSE), decl.lctx, decl.user_name)
    mctx.assign(goal, mk_app(Const("Decidable.byContradiction"), target, instance, MVar(new)))
    return intro(mctx, new, None)[1]
