"""Definitions named in brackets: `f a = body`, where `f` computes on `a` or on a constructor that `a` is equal to."""

from __future__ import annotations

from nanoproof.lean.nanolean.kernel.expr import Const, Expr, get_app_fn_args, mk_app
from nanoproof.lean.nanolean.tactics.eq_proof import mk_eq, mk_eq_refl
from nanoproof.lean.nanolean.tactics.grind.ematch import MAX_GENERATION, MAX_INSTANCES
from nanoproof.lean.nanolean.tactics.grind.state import State


def unfold_definitions(state: State) -> bool:
    """Unfold the chosen definitions once at every term that has not been unfolded yet; whether there was one."""
    graph = state.graph
    progress = False
    for name in state.definitions:
        for e in graph.heads.get(name, ()):
            key = ("unfold", e)
            if key in state.instances or len(state.instances) >= MAX_INSTANCES:
                continue
            if graph.generation[e] < MAX_GENERATION and _unfold(state, e):
                state.instances.add(key)
                progress = True
    return progress


def _unfold(state: State, e: Expr) -> bool:
    mctx, graph = state.mctx, state.graph
    shape = graph.shapes(e)
    fn, _ = get_app_fn_args(e)
    assert isinstance(fn, Const)
    values = [graph.value.get(graph.root[arg], arg) if i in shape.free else arg for i, arg in enumerate(shape.args)]
    candidates = dict.fromkeys((e, mk_app(fn, *values)))
    lhs = next((candidate for candidate in candidates if mctx.unfold(candidate) is not None), None)
    if lhs is None:
        return False
    body = mctx.unfold(lhs)
    type_ = mctx.infer_type(lhs)
    level = mctx.sort_level(type_)
    assert body is not None and level is not None
    state.add_fact(mk_eq(level, type_, lhs, body), lambda ex: mk_eq_refl(level, type_, lhs), graph.generation[e] + 1)
    return True
