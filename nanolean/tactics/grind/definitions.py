"""Definitions named in brackets: `f a = body`, where `f` computes on `a` or on a constructor that `a` is equal to."""

from __future__ import annotations

from nanolean.kernel.expr import Expr, get_app_fn, mk_app
from nanolean.tactics.eq_proof import mk_eq, mk_eq_refl
from nanolean.tactics.grind.ematch import MAX_GENERATION
from nanolean.tactics.grind.state import State
from nanolean.tactics.unfolding import unfold_by_equation

MAX_UNFOLDINGS = 60
"""How many calls one branch unfolds."""


def unfold_definitions(state: State) -> bool:
    """Use the equations of the chosen definitions at all terms where that is new; whether there was one."""
    graph = state.graph
    progress = False
    for name in state.definitions:
        for e in graph.heads.get(name, ()):
            for call in dict.fromkeys((_with_values(state, e), e)):
                if call in state.unfolded or len(state.unfolded) >= MAX_UNFOLDINGS:
                    continue
                state.unfolded.add(call)
                if graph.generation[e] < MAX_GENERATION and _unfold(state, call, graph.generation[e]):
                    progress = True
                    break
    return progress


def _with_values(state: State, e: Expr) -> Expr:
    """The call with arguments replaced by the constructors or literals that they are equal to."""
    graph = state.graph
    shape = graph.shapes(e)
    args = [graph.value.get(graph.root[arg], arg) if i in shape.free else arg for i, arg in enumerate(shape.args)]
    return mk_app(get_app_fn(e), *args)


def _unfold(state: State, call: Expr, generation: int) -> bool:
    """Assume the equation that the call is an instance of; False where there is none."""
    mctx = state.mctx
    body = unfold_by_equation(mctx, call)
    if body is None:
        return False
    type_ = mctx.infer_type(call)
    level = mctx.sort_level(type_)
    assert level is not None
    state.add_fact(mk_eq(level, type_, call, body), lambda ex: mk_eq_refl(level, type_, call), generation + 1)
    return True
