"""`trace "text"`, and what `simp` says under `set_option trace.Meta.Tactic.simp true`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from nanolean.elab.session import Note
from nanolean.kernel.expr import Expr
from nanolean.syntax import Tactic, TraceStx
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.eq_proof import match_eq
from nanolean.tactics.simp_rules import Rule

TraceRewrite = Callable[[Rule | None, Expr, Expr], None]
"""(rule, None for a procedure; term before; term after)"""


@tactic(TraceStx)
def trace_tactic(ctx: TacticContext, stx: TraceStx) -> None:
    """`trace "text"`: say something."""
    _say(ctx, stx, "trace", stx.text)


def simp_trace(ctx: TacticContext, stx: Tactic | None) -> TraceRewrite | None:
    """What tells the user about the rewriting steps of `simp`, None if nobody asked."""
    return partial(_tell, ctx, stx) if stx is not None and ctx.state.traces_simp else None


def _tell(ctx: TacticContext, stx: Tactic, rule: Rule | None, before: Expr, after: Expr) -> None:
    if rule is not None:
        local = ctx.lctx.get(rule.name)
        name = ctx.show(rule.proof) if not rule.name else rule.name if local is None else local.user_name
    else:
        sides = match_eq(before)
        name = "eq_self" if sides is not None and sides[2] is sides[3] else "simproc"
    text = f"[Meta.Tactic.simp.rewrite] {name}:1000:\n      {ctx.show(before)}\n    ==>\n      {ctx.show(after)}"
    _say(ctx, stx, "simp", text)


def _say(ctx: TacticContext, stx: Tactic, word: str, text: str) -> None:
    ctx.session.notes.append(Note("trace", text, stx.pos, stx.pos + len(word)))
