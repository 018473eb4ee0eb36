"""`ac_rfl`: equations that hold by associativity and commutativity alone."""

from __future__ import annotations

from nanolean.syntax import AcRflStx
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.eq_proof import TRUE, match_eq, mk_of_eq_true
from nanolean.tactics.simp_engine import Simplifier
from nanolean.tactics.simp_rules import RuleIndex, rules_of_constant

AC_RULES = (
    "eq_self",
    "Nat.add_assoc",
    "Nat.add_comm",
    "Nat.add_left_comm",
    "Nat.mul_assoc",
    "Nat.mul_comm",
    "Nat.mul_left_comm",
    "and_assoc",
    "and_comm",
    "and_left_comm",
    "or_assoc",
    "or_comm",
    "or_left_comm",
)


@tactic(AcRflStx)
def ac_rfl_tactic(ctx: TacticContext, stx: AcRflStx) -> None:
    """`ac_rfl`: sort both sides of the goal by the laws of `+`, `*`, `∧`, `∨`; they must become the same."""
    infos = [ctx.state.env[name] for name in AC_RULES if name in ctx.state.env]
    index = RuleIndex(rule for info in infos for rule in rules_of_constant(info))
    target = ctx.target
    if match_eq(target) is None:
        raise ctx.with_goal("Tactic `ac_rfl` failed: the goal is not an equation")
    step = Simplifier(ctx.mctx, ctx.lctx, [index]).run(target)
    if step.expr is not TRUE or step.proof is None:
        raise ctx.with_goal("Tactic `ac_rfl` failed: the sides are not equal up to associativity and commutativity")
    ctx.close(mk_of_eq_true(target, step.proof))
