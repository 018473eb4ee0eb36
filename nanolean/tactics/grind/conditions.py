"""What decides a value: `if` and `decide` by a condition, `&&`, `||` and `!` by equations with `true` and `false`."""

from __future__ import annotations

from nanolean.kernel.expr import Const, Expr, mk_app
from nanolean.kernel.level import ONE, ZERO
from nanolean.tactics.constructors import BOOL, BOOL_FALSE, BOOL_TRUE
from nanolean.tactics.eq_proof import mk_eq
from nanolean.tactics.grind.egraph import Shape
from nanolean.tactics.grind.explain import Explainer
from nanolean.tactics.grind.state import State


def note_condition(state: State, e: Expr, shape: Shape) -> None:
    """Draw the consequences of a decided condition, or for `decide` of a decided value."""
    graph = state.graph
    condition = shape.args[shape.watched[0]]
    if shape.name == "ite":
        if not graph.is_open(condition):
            _choose_side(state, e, shape, condition, graph.is_true(condition))
    elif graph.is_open(condition):
        _decided(state, e, shape, condition)
    else:
        value, lemma = (BOOL_TRUE, "decide_eq_true") if graph.is_true(condition) else (BOOL_FALSE, "decide_eq_false")
        graph.add(value, graph.generation[e])
        graph.merge(e, value, lambda ex: mk_app(Const(lemma), *shape.args, _truth(ex, condition, value is BOOL_TRUE)))


def _choose_side(state: State, e: Expr, shape: Shape, condition: Expr, holds: bool) -> None:
    type_, _, instance, then, other = shape.args
    assert isinstance(shape.head, Const)
    lemma = Const("if_pos" if holds else "if_neg", shape.head.levels)

    def build(ex: Explainer) -> Expr:
        return mk_app(lemma, condition, instance, _truth(ex, condition, holds), type_, then, other)

    state.graph.merge(e, then if holds else other, build)


def _truth(ex: Explainer, prop: Expr, holds: bool) -> Expr:
    return ex.holds(prop) if holds else ex.fails(prop)


def _decided(state: State, e: Expr, shape: Shape, condition: Expr) -> None:
    """The truth of `p` from the value of `decide p`."""
    args = shape.args
    if state.graph.same(e, BOOL_TRUE):
        state.set_true(condition, lambda ex: mk_app(Const("of_decide_eq_true"), *args, ex.equal(e, BOOL_TRUE)))
    elif state.graph.same(e, BOOL_FALSE):
        state.set_false(condition, lambda ex: mk_app(Const("of_decide_eq_false"), *args, ex.equal(e, BOOL_FALSE)))


# -- Booleans ----------------------------------------------------------------------------------------------------------

MEANINGS: dict[tuple[str, Expr], tuple[str, str, Expr]] = {
    ("and", BOOL_TRUE): ("Bool.and_eq_true_iff", "And", BOOL_TRUE),
    ("and", BOOL_FALSE): ("Bool.and_eq_false_iff", "Or", BOOL_FALSE),
    ("or", BOOL_TRUE): ("Bool.or_eq_true_iff", "Or", BOOL_TRUE),
    ("or", BOOL_FALSE): ("Bool.or_eq_false_iff", "And", BOOL_FALSE),
    ("not", BOOL_TRUE): ("Bool.not_eq_true'", "", BOOL_FALSE),
    ("not", BOOL_FALSE): ("Bool.not_eq_false'", "", BOOL_TRUE),
}
"""Operation and value -> the lemma, and what it says: a connective between equations of the operands with a value."""


def note_boolean(state: State, e: Expr, shape: Shape) -> None:
    """What the value of `x && y`, `x || y`, `!x` says of `x` and `y`."""
    value = state.graph.value.get(state.graph.root[e])
    meaning = None if value is None else MEANINGS.get((shape.name, value))
    if value is None or meaning is None or (e, value) in state.instances:
        return
    state.instances.add((e, value))
    lemma, connective, part_value = meaning
    parts = [mk_eq(ONE, BOOL, arg, part_value) for arg in shape.args]
    whole = mk_app(Const(connective), *parts) if connective else parts[0]
    equation = mk_eq(ONE, BOOL, e, value)
    proof = mk_app(Const(lemma), *shape.args)

    transport = Const("Iff.mp") if connective else Const("Eq.mp", (ZERO,))
    state.add_fact(
        whole,
        lambda ex: mk_app(transport, equation, whole, proof, ex.equal(e, value)),
        state.graph.generation[e],
    )
