"""The tactic `calc`."""

from __future__ import annotations

from nanolean.elab.api import finish
from nanolean.elab.calc import Chain, Relation, compose, elab_calc_steps, relation_of
from nanolean.elab.elaborator import Elaborator
from nanolean.errors import TacticError
from nanolean.kernel.expr import Expr, MVar, mk_app
from nanolean.syntax import Calc, CalcStx
from nanolean.tactics.basic import tag_goals
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.goals import append_tag, goal_tag, new_goal


@tactic(CalcStx)
def calc_tactic(ctx: TacticContext, stx: CalcStx) -> None:
    """`calc a = b := p` and further steps; where the goal ends elsewhere, `b = c` is left as `calc.step`."""
    mctx, goal, target = ctx.mctx, ctx.main, ctx.target
    elaborator, known = Elaborator(ctx.session, ctx.lctx), len(mctx.decls)
    chain = elab_calc_steps(elaborator, Calc(stx.steps, pos=stx.pos, end=stx.end))
    steps: list[str] = []
    if not mctx.is_def_eq(_statement(chain), target):
        chain, steps = _with_last_step(ctx, chain)
    found = finish(elaborator, mctx.instantiate(chain.proof), "goals", stx, known)
    mctx.assign(goal, found.term)
    goals = [*found.goals, *steps]
    tag_goals(ctx, goals, goal_tag(mctx, goal), "calc")
    ctx.replace_main(goals)


def _statement(chain: Chain) -> Expr:
    return mk_app(chain.relation.rel, chain.relation.lhs, chain.relation.rhs)


def _with_last_step(ctx: TacticContext, chain: Chain) -> tuple[Chain, list[str]]:
    """The chain with a step to the right side of the goal, which becomes a new goal."""
    mctx, target = ctx.mctx, ctx.target
    wanted = relation_of(mctx, target)
    if wanted is None:
        raise ctx.with_goal(f"'calc' tactic failed, relation expected\n  {ctx.show(target)}")
    step = Relation(wanted.rel, chain.relation.rhs, wanted.rhs)
    tag = append_tag(goal_tag(mctx, ctx.main), "calc.step")
    new = new_goal(mctx, mk_app(*step), ctx.lctx, tag)
    longer = None
    if not mctx.is_def_eq(step.lhs, step.rhs):
        longer = compose(mctx, chain, Chain(step, MVar(new)))
    if longer is None or not mctx.is_def_eq(_statement(longer), target):
        raise TacticError(
            f"invalid 'calc' step, the chain proves\n  {ctx.show(_statement(chain))}\nbut is expected to prove\n  "
            f"{ctx.show(target)}"
        )
    return longer, [new]
