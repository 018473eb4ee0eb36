"""Quantified propositions in the graph: `∀` facts become theorems, `∃` facts wait to be opened, negated ones turn."""

from __future__ import annotations

from nanolean.kernel.expr import App, Const, Expr, FVar, Lam, Pi, get_app_fn_args, mk_app
from nanolean.kernel.level import Level
from nanolean.tactics.grind.explain import Explainer, mk_not
from nanolean.tactics.grind.normal import beta_app
from nanolean.tactics.grind.state import Build, State
from nanolean.tactics.grind.theorems import local_theorems


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
    elif graph.is_true(e):
        state.existentials.append(e)
    else:
        _false_exists(state, e)


def _add_theorem(state: State, statement: Expr, build: Build) -> None:
    def proof(ex: Explainer, levels: tuple[Level, ...]) -> Expr:
        return build(ex)

    generation = state.graph.generation[statement]
    state.theorems += local_theorems(state.mctx, statement, proof, generation)


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


def _false_exists(state: State, e: Expr) -> None:
    """`∀ x y, ¬p x y` from `¬∃ x y, p x y`."""
    mctx = state.mctx
    steps: list[tuple[Expr, Expr, Expr]] = []
    inner = e
    while True:
        parts = exists_parts(inner)
        if parts is None:
            break
        head, type_, predicate = parts
        local = mctx.fresh_local("x", type_).fvar
        steps.append((mk_app(head, type_), predicate, local))
        inner = beta_app(predicate, local)
    hyp = mctx.fresh_local("h", inner)
    whole = hyp.fvar
    for exists, predicate, local in reversed(steps):
        fn, args = get_app_fn_args(exists)
        assert isinstance(fn, Const)
        whole = mk_app(Const("Exists.intro", fn.levels), *args, predicate, local, whole)
    ids = [local.id for _, _, local in steps if isinstance(local, FVar)]
    state.add_fact(
        mctx.mk_pi(ids, mk_not(inner)),
        lambda ex: mctx.mk_lambda([*ids, hyp.fvar_id], App(ex.fails(e), whole)),
        state.graph.generation[e],
    )


def exists_parts(e: Expr) -> tuple[Const, Expr, Expr] | None:
    """Head, type and predicate of `∃ x : α, p x`."""
    fn, args = get_app_fn_args(e)
    if isinstance(fn, Const) and fn.name == "Exists" and len(args) == 2:
        return fn, args[0], args[1]
    return None
