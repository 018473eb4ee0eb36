"""`constructor left right exists`: goals of inductive types, built by their constructors."""

from __future__ import annotations

from nanolean.errors import TacticError
from nanolean.kernel.expr import Const, Expr
from nanolean.syntax import AnonCtor, ConstructorStx, ExistsStx, LeftStx, RightStx, SyntheticHole
from nanolean.tactics.apply import apply_expr
from nanolean.tactics.basic import refine_main
from nanolean.tactics.closing import trivial
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.eliminate import inductive_type


def _constructors(ctx: TacticContext, name: str) -> list[Expr]:
    found = inductive_type(ctx.mctx, ctx.target)
    if found is None:
        raise ctx.with_goal(f"Tactic `{name}` failed: target is not an inductive datatype")
    info, levels, _ = found
    return [Const(ctor, levels) for ctor in info.ctors]


@tactic(ConstructorStx)
def constructor_tactic(ctx: TacticContext, stx: ConstructorStx) -> None:
    """`constructor`: apply the first constructor that fits."""
    for ctor in _constructors(ctx, "constructor"):
        mark = ctx.save()
        try:
            ctx.replace_main(apply_expr(ctx, ctor))
            return
        except TacticError:
            ctx.restore(mark)
    raise ctx.with_goal("Tactic `constructor` failed: no applicable constructors found")


def _one_of_two(ctx: TacticContext, name: str, place: int) -> None:
    ctors = _constructors(ctx, name)
    if len(ctors) != 2:
        text = f"Tactic `{name}` failed: `{name}` tactic works for inductive types with exactly 2 constructors"
        raise ctx.with_goal(text)
    ctx.replace_main(apply_expr(ctx, ctors[place]))


@tactic(LeftStx)
def left_tactic(ctx: TacticContext, stx: LeftStx) -> None:
    """`left`: apply the first of two constructors."""
    _one_of_two(ctx, "left", 0)


@tactic(RightStx)
def right_tactic(ctx: TacticContext, stx: RightStx) -> None:
    """`right`: apply the second of two constructors."""
    _one_of_two(ctx, "right", 1)


@tactic(ExistsStx)
def exists_tactic(ctx: TacticContext, stx: ExistsStx) -> None:
    """`exists a, b`: `refine ⟨a, b, ?_⟩`, then `trivial` where that closes the goal."""
    hole = SyntheticHole("_", pos=stx.pos, end=stx.end)
    refine_main(ctx, AnonCtor((*stx.terms, hole), pos=stx.pos, end=stx.end))
    if ctx.goals:
        ctx.attempt(lambda: trivial(ctx))
