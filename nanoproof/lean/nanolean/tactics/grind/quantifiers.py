"""Quantified propositions in the graph: `∀` facts become theorems, `∃` facts wait to be opened, negated ones turn."""

from __future__ import annotations

from nanoproof.lean.nanolean.kernel.expr import App, BVar, Const, Expr, Lam, Pi, lift, mk_app
from nanoproof.lean.nanolean.kernel.level import Level
from nanoproof.lean.nanolean.tactics.grind.explain import Explainer, mk_not
from nanoproof.lean.nanolean.tactics.grind.normal import beta_app
from nanoproof.lean.nanolean.tactics.grind.state import Build, State
from nanoproof.lean.nanolean.tactics.grind.theorems import make_theorems


def note_quantifier(state: State, e: Expr) -> None:
    """Take up a proposition `∀ x, p x` or `∃ x, p x` once it is decided."""
    graph = state.graph
    if e in state.seen or graph.is_open(e) or not state.mctx.is_prop(e):
        return
    state.seen.add(e)
    if isinstance(e, Pi):
        if graph.is_true(e):
            _add_theorem(state, e, lambda ex: ex.holds(e))
        else:
            _false_forall(state, e)
    elif isinstance(e, App) and isinstance(e.fn, App):
        if graph.is_true(e):
            state.existentials.append(e)
        else:
            _false_exists(state, e, e.fn, e.arg)


def _add_theorem(state: State, statement: Expr, build: Build) -> None:
    def proof(ex: Explainer, levels: tuple[Level, ...]) -> Expr:
        return build(ex)

    generation = state.graph.generation[statement]
    state.theorems += make_theorems(state.mctx, statement, statement, proof, generation=generation)


def _false_forall(state: State, e: Pi) -> None:
    """`∃ x, ¬p x` from `¬∀ x, p x`."""
    mctx = state.mctx
    level = mctx.sort_level(e.type)
    assert level is not None
    if mctx.is_prop(e.type):
        return
    predicate = Lam("", e.type, e.body)
    negated = Lam("", e.type, mk_not(e.body))
    exists = mk_app(Const("Exists", (level,)), e.type, negated)
    lemma = mk_app(Const("Classical.not_forall", (level,)), e.type, predicate)
    state.add_fact(
        exists,
        lambda ex: mk_app(Const("Iff.mp"), mk_not(e), exists, lemma, ex.fails(e)),
        state.graph.generation[e],
    )


def _false_exists(state: State, e: Expr, head: App, predicate: Expr) -> None:
    """`∀ x, ¬p x` from `¬∃ x, p x`."""
    type_ = head.arg
    assert isinstance(head.fn, Const)
    inner = beta_app(lift(predicate, 1), BVar(0))
    statement = Pi("", type_, mk_not(inner))
    lemma = mk_app(Const("not_exists", head.fn.levels), type_, predicate)
    state.add_fact(
        statement,
        lambda ex: mk_app(Const("Iff.mp"), mk_not(e), statement, lemma, ex.fails(e)),
        state.graph.generation[e],
    )
