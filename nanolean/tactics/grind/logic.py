"""What the graph learns from propositions: truth moves between connectives and their parts.

Upwards: a connective with a decided part is equal to something simpler (`True ∧ p = p`). Downwards: a decided
connective decides its parts. Equations join classes and are decided by them; quantified facts are noted.
"""

from nanolean.kernel.expr import PROP, App, BVar, Const, Expr, FVar, Lam, Pi, get_app_fn_args, lift, mk_app
from nanolean.kernel.level import ONE, ZERO, Level
from nanolean.tactics.constructors import BOOL, BOOL_FALSE, BOOL_TRUE
from nanolean.tactics.eq_proof import FALSE, TRUE, Step, congr_args, implies_congr, mk_eq, mk_eq_refl, mk_propext, trans
from nanolean.tactics.grind.egraph import IMPLIES, Explainer, Reason, Shape, eq_false, eq_true, mk_not
from nanolean.tactics.grind.normal import beta_app
from nanolean.tactics.grind.state import Build, State, local_theorems, true_is_false
from nanolean.tactics.grind.values import differ, meet, refute_equation


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
    name, side = "if_neg", other
    if holds:
        name, side = "if_pos", then
    lemma = Const(name, shape.head.levels)

    def build(ex: Explainer) -> Expr:
        return mk_app(lemma, condition, instance, _truth(ex, condition, holds), type_, then, other)

    state.graph.merge(e, side, build)


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
    """Derive facts about `x` and `y` from the value of `x && y`, `x || y`, `!x`."""
    value = state.graph.value.get(state.graph.root[e])
    if value is None or (e, value) in state.instances:
        return
    meaning = MEANINGS.get((shape.name, value))
    if meaning is None:
        return
    state.instances.add((e, value))
    lemma, connective, part_value = meaning
    parts = [mk_eq(ONE, BOOL, arg, part_value) for arg in shape.args]
    whole, transport = parts[0], Const("Eq.mp", (ZERO,))
    if connective:
        whole, transport = mk_app(Const(connective), *parts), Const("Iff.mp")
    equation = mk_eq(ONE, BOOL, e, value)
    proof = mk_app(Const(lemma), *shape.args)
    state.add_fact(
        whole,
        lambda ex: mk_app(transport, equation, whole, proof, ex.equal(e, value)),
        state.graph.generation[e],
    )


def note_quantifier(state: State, e: Expr) -> None:
    """Take up a proposition `∀ x, p x` or `∃ x, p x` once it is decided."""
    graph = state.graph
    if e in state.seen or graph.is_open(e) or not state.mctx.is_prop(e):
        return
    # Once: a theorem for each merge of its class would fill the search.
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
    # An implication, of which `_false_implication` gets both parts.
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
    # All nested ones at once, so that patterns may come from below the last.
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


OTHER, NEGATED = "the other part", "its negation"
SIMPLER: dict[tuple[str, int, Expr], tuple[str, Expr | str]] = {
    ("And", 0, TRUE): ("true_and", OTHER),
    ("And", 1, TRUE): ("and_true", OTHER),
    ("And", 0, FALSE): ("false_and", FALSE),
    ("And", 1, FALSE): ("and_false", FALSE),
    ("Or", 0, TRUE): ("true_or", TRUE),
    ("Or", 1, TRUE): ("or_true", TRUE),
    ("Or", 0, FALSE): ("false_or", OTHER),
    ("Or", 1, FALSE): ("or_false", OTHER),
    ("Iff", 0, TRUE): ("true_iff", OTHER),
    ("Iff", 1, TRUE): ("iff_true", OTHER),
    ("Iff", 0, FALSE): ("false_iff", NEGATED),
    ("Iff", 1, FALSE): ("iff_false", NEGATED),
    (IMPLIES, 0, TRUE): ("true_implies", OTHER),
    (IMPLIES, 1, TRUE): ("implies_true", TRUE),
    (IMPLIES, 0, FALSE): ("false_implies", TRUE),
    (IMPLIES, 1, FALSE): ("", NEGATED),
    ("Not", 0, TRUE): ("not_true_eq_false", FALSE),
    ("Not", 0, FALSE): ("not_false_eq_true", TRUE),
    ("and", 0, BOOL_TRUE): ("Bool.true_and", OTHER),
    ("and", 1, BOOL_TRUE): ("Bool.and_true", OTHER),
    ("and", 0, BOOL_FALSE): ("Bool.false_and", BOOL_FALSE),
    ("and", 1, BOOL_FALSE): ("Bool.and_false", BOOL_FALSE),
    ("or", 0, BOOL_TRUE): ("Bool.true_or", BOOL_TRUE),
    ("or", 1, BOOL_TRUE): ("Bool.or_true", BOOL_TRUE),
    ("or", 0, BOOL_FALSE): ("Bool.false_or", OTHER),
    ("or", 1, BOOL_FALSE): ("Bool.or_false", OTHER),
    ("not", 0, BOOL_TRUE): ("Bool.not_true", BOOL_FALSE),
    ("not", 0, BOOL_FALSE): ("Bool.not_false", BOOL_TRUE),
}
"""Connective, place and truth of a part -> the lemma, and what the whole is equal to."""
ARITIES = {"And": 2, "Or": 2, "Iff": 2, IMPLIES: 2, "Not": 1, "and": 2, "or": 2, "not": 1}


def saturate(state: State) -> None:
    """Apply all rules until nothing changes or the branch is closed."""
    graph = state.graph
    while state.conflict is None:
        graph.close()
        # Contradictions before consequences, or a branch that is closed goes on.
        if graph.clashes:
            meet(state, *graph.clashes.pop(0))
        elif graph.is_true(FALSE):
            state.conflict = true_is_false
        elif graph.changed:
            e = next(iter(graph.changed))
            del graph.changed[e]
            _look_at(state, e)
        else:
            return


def _look_at(state: State, e: Expr) -> None:
    shape = state.graph.shapes(e)
    state.mctx.budget.spend(1)
    if ARITIES.get(shape.name) == len(shape.args):
        _upwards(state, e, shape)
        _downwards(state, e, shape)
        note_boolean(state, e, shape)
    elif shape.is_equality:
        _equation(state, e, shape)
    elif shape.name == "Exists" or isinstance(e, Pi):
        note_quantifier(state, e)
    elif shape.watched:
        note_condition(state, e, shape)


# -- upwards -----------------------------------------------------------------------------------------------------------


def _upwards(state: State, e: Expr, shape: Shape) -> None:
    graph = state.graph
    for place in shape.free:
        part = shape.args[place]
        value = graph.value.get(graph.root[part])
        if value is None:
            continue
        _, result = SIMPLER[shape.name, place, value]
        # `¬p` has no other part.
        other = shape.args[1 - place] if len(shape.args) == 2 else None
        target = _target(result, other)
        if not graph.same(e, target):
            graph.add(target, graph.generation[e])
            graph.merge(e, target, _simpler(e, shape, place, value, target))
    if shape.name == IMPLIES and shape.args[0] is shape.args[1] and not graph.is_true(e):
        state.set_true(e, lambda ex: Lam("h", shape.args[0], BVar(0)))
    if shape.name == "Iff" and not graph.is_true(e) and graph.same(*shape.args):
        p, q = shape.args
        state.set_true(e, lambda ex: mk_app(Const("iff_of_eq"), p, q, ex.equal(p, q)))


def _target(result: Expr | str, other: Expr | None) -> Expr:
    if isinstance(result, Expr):
        return result
    assert other is not None
    return other if result == OTHER else mk_not(other)


def _simpler(e: Expr, shape: Shape, place: int, value: Expr, target: Expr) -> Reason:
    """The reason why a connective is equal to `target` when its part at `place` is equal to `value`."""

    def build(ex: Explainer) -> Expr:
        args = list(shape.args)
        steps = [Step(arg) for arg in args]
        steps[place] = ex.step(args[place], value)
        if shape.name == IMPLIES:
            first = implies_congr(ex.mctx, args[0], args[1], steps[0], steps[1])
        else:
            first = congr_args(ex.mctx, Const(shape.name), args, list(steps))
        result = trans(ex.mctx, e, first, Step(target, _lemma(ex, shape, place, value, target)))
        assert result.proof is not None
        return result.proof

    return build


def _lemma(ex: Explainer, shape: Shape, place: int, value: Expr, target: Expr) -> Expr:
    name, _ = SIMPLER[shape.name, place, value]
    if not name:
        return mk_eq_refl(ONE, PROP, target)
    levels = (ZERO,) * len(ex.mctx.env[name].level_params)
    return mk_app(Const(name, levels), *[arg for i, arg in enumerate(shape.args) if i != place])


# -- downwards ---------------------------------------------------------------------------------------------------------


def _downwards(state: State, e: Expr, shape: Shape) -> None:
    graph = state.graph
    if graph.is_true(e):
        if shape.name == "And":
            a, b = shape.args
            state.set_true(a, lambda ex: mk_app(Const("And.left"), a, b, ex.holds(e)))
            state.set_true(b, lambda ex: mk_app(Const("And.right"), a, b, ex.holds(e)))
        elif shape.name == "Not":
            state.set_false(shape.args[0], lambda ex: ex.holds(e))
        # Propositions are terms: equivalent ones are one class, by `propext`.
        elif shape.name == "Iff":
            p, q = shape.args
            graph.merge(p, q, lambda ex: mk_propext(p, q, ex.holds(e)))
    elif graph.is_false(e):
        if shape.name == "Or":
            _false_or(state, e, *shape.args)
        elif shape.name == "Not":
            p = shape.args[0]
            state.set_true(p, lambda ex: mk_app(Const("Classical.byContradiction"), p, ex.fails(e)))
        elif shape.name == IMPLIES:
            _false_implication(state, e, *shape.args)


def _false_or(state: State, e: Expr, a: Expr, b: Expr) -> None:
    for part, intro in ((a, "Or.inl"), (b, "Or.inr")):
        whole = mk_app(Const(intro), lift(a, 1), lift(b, 1), BVar(0))
        state.set_false(part, lambda ex, part=part, whole=whole: Lam("h", part, App(ex.fails(e), whole)))  # type: ignore[misc]


def _false_implication(state: State, e: Expr, p: Expr, q: Expr) -> None:
    # `¬(p → q)` is `p ∧ ¬q`, classically.
    whole = mk_app(Const("And"), p, mk_not(q))

    def both(ex: Explainer) -> Expr:
        return mk_app(Const("Iff.mp"), mk_not(e), whole, mk_app(Const("Classical.not_imp"), p, q), ex.fails(e))

    state.set_true(p, lambda ex: mk_app(Const("And.left"), p, mk_not(q), both(ex)))
    state.set_false(q, lambda ex: mk_app(Const("And.right"), p, mk_not(q), both(ex)))


# -- equations ---------------------------------------------------------------------------------------------------------


def _equation(state: State, e: Expr, shape: Shape) -> None:
    graph = state.graph
    type_, a, b = shape.args
    if type_ is PROP:
        _as_iff(state, e, a, b)
    if graph.same(a, b):
        if not graph.is_true(e):
            graph.merge(e, TRUE, lambda ex: eq_true(e, ex.equal(a, b)))
    elif graph.is_true(e):
        graph.merge(a, b, lambda ex: ex.holds(e))
    elif graph.is_open(e):
        # `2 = 3` is false at sight of the classes, without a case split.
        values = differ(state, a, b)
        if values is not None:
            graph.merge(e, FALSE, lambda ex: eq_false(e, refute_equation(ex, e, values)))
    # A `Bool` that is not one value is the other.
    elif type_ is BOOL:
        _other_bool(state, e, a, b)


def _as_iff(state: State, e: Expr, p: Expr, q: Expr) -> None:
    """`(p = q) = (p ↔ q)` for propositions."""
    iff = mk_app(Const("Iff"), p, q)
    if state.graph.same(e, iff):
        return
    state.graph.add(iff, state.graph.generation[e])
    forth, back = mk_app(Const("iff_of_eq"), p, q), mk_app(Const("propext"), p, q)
    proof = mk_propext(e, iff, mk_app(Const("Iff.intro"), e, iff, forth, back))
    state.graph.merge(e, iff, lambda ex: proof)


def _other_bool(state: State, e: Expr, a: Expr, b: Expr) -> None:
    """`x = false` from `¬x = true`, and the other way round."""
    graph = state.graph
    for x, known in ((a, b), (b, a)):
        for value, other in ((BOOL_TRUE, BOOL_FALSE), (BOOL_FALSE, BOOL_TRUE)):
            if known is value:
                graph.add(other, graph.generation[e])
                graph.merge(x, other, _other_value(e, x, value, swapped=x is b))


def _other_value(e: Expr, x: Expr, value: Expr, swapped: bool) -> Reason:
    """The reason for `x = other` where `e` is `x = value` (`value = x` when swapped), which does not hold."""
    is_true, is_false = mk_eq(ONE, BOOL, x, BOOL_TRUE), mk_eq(ONE, BOOL, x, BOOL_FALSE)
    equation = is_true if value is BOOL_TRUE else is_false

    def build(ex: Explainer) -> Expr:
        refutation = ex.fails(e)
        if swapped:
            turned = mk_app(Const("Eq.symm", (ONE,)), BOOL, x, value, BVar(0))
            refutation = Lam("h", equation, App(refutation, turned))
        if value is BOOL_TRUE:
            return mk_app(Const("Bool.eq_false_of_ne_true"), x, refutation)
        not_true = mk_app(Const("Bool.eq_false_of_ne_true"), x, BVar(0))
        absurd = Lam("h", mk_not(is_true), App(refutation, not_true))
        return mk_app(Const("Classical.byContradiction"), is_true, absurd)

    return build
