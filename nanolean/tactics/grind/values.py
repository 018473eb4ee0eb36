"""Constructors, literals and offsets: different ones are never equal, and equal ones have equal parts."""

from nanolean.kernel.expr import Const, Expr, Lit, mk_app
from nanolean.meta.mctx import MetaContext
from nanolean.tactics.constructors import as_ctor, injection_equations, refute_clash
from nanolean.tactics.eq_proof import FALSE, TRUE, match_eq, mk_eq
from nanolean.tactics.grind.egraph import Explainer, Reason
from nanolean.tactics.grind.normal import mk_plus, split_offset
from nanolean.tactics.grind.state import State, true_is_false


def meet(state: State, a: Expr, b: Expr) -> None:
    """Draw the consequences of two values in one class."""
    if {a, b} == {TRUE, FALSE}:
        state.conflict = true_is_false
        return
    numbers = _read_number(a), _read_number(b)
    if numbers[0] is not None and numbers[1] is not None:
        _meet_numbers(state, a, b, numbers[0], numbers[1])
        return
    if clash(state.mctx, a, b):
        state.conflict = lambda ex: _refute(ex, a, b, ex.equal(a, b))
        return
    equation, hyp = _with_proof(state.mctx, a, b)
    # With a hypothetical proof, to see which fields give equations; the real one is built if it is needed.
    for place, part in enumerate(injection_equations(state.mctx, equation, hyp) or ()):
        sides = match_eq(part.equation)
        assert sides is not None
        left, right = state.normal(sides[2]), state.normal(sides[3])
        for side in (left, right):
            state.graph.add(side, state.graph.generation[a])
        state.graph.merge(left, right, _injection(a, b, place))


def _injection(a: Expr, b: Expr, place: int) -> Reason:
    def build(ex: Explainer) -> Expr:
        equation, _ = _with_proof(ex.mctx, a, b)
        parts = injection_equations(ex.mctx, equation, ex.equal(a, b))
        assert parts is not None
        return parts[place].proof

    return build


def _with_proof(mctx: MetaContext, a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """`a = b` and a hypothetical proof of it."""
    type_ = mctx.infer_type(a)
    level = mctx.sort_level(type_)
    assert level is not None
    equation = mk_eq(level, type_, a, b)
    return equation, mctx.fresh_local("h", equation).fvar


# -- numbers -----------------------------------------------------------------------------------------------------------

Number = tuple[Expr | None, int]
"""`x + k` as `(x, k)` with `k > 0`, a literal as `(None, k)`."""


def _read_number(e: Expr) -> Number | None:
    if isinstance(e, Lit):
        return None, e.value
    base, plus = split_offset(e)
    return (base, plus) if plus else None


def _meet_numbers(state: State, a: Expr, b: Expr, left: Number, right: Number) -> None:
    if _distinct(left, right):
        state.conflict = lambda ex: _refute(ex, a, b, ex.equal(a, b))
        return
    common = min(left[1], right[1])
    if common == 0:
        return
    x, y = _minus(left, common), _minus(right, common)
    for side in (x, y):
        state.graph.add(side, state.graph.generation[a])
    state.graph.merge(x, y, lambda ex: _cancel(x, y, common, ex.equal(a, b)))


def _minus(number: Number, common: int) -> Expr:
    base, plus = number
    return Lit(plus - common) if base is None else mk_plus(base, plus - common)


def _cancel(x: Expr, y: Expr, common: int, proof: Expr) -> Expr:
    """`x = y` from `x + common = y + common`."""
    return mk_app(Const("Nat.add_right_cancel"), x, Lit(common), y, proof)


def _distinct(left: Number, right: Number) -> bool:
    """Whether two numbers differ, whatever the variables stand for."""
    if left[0] is None and right[0] is None:
        return left[1] != right[1]
    return (left[0] is None and left[1] < right[1]) or (right[0] is None and right[1] < left[1])


# -- clashes -----------------------------------------------------------------------------------------------------------


def clash(mctx: MetaContext, a: Expr, b: Expr) -> bool:
    """Return whether two values can never be equal."""
    left, right = _read_number(a), _read_number(b)
    if left is not None and right is not None:
        return _distinct(left, right)
    ctor_a, ctor_b = as_ctor(mctx, a, reduce=False), as_ctor(mctx, b, reduce=False)
    return ctor_a is not None and ctor_b is not None and ctor_a.ctor is not ctor_b.ctor


def differ(state: State, a: Expr, b: Expr) -> tuple[Expr, Expr] | None:
    """Values in the classes of two terms that can never be equal, None where there are none."""
    graph = state.graph
    left, right = graph.value.get(graph.root[a]), graph.value.get(graph.root[b])
    # `True` and `False` are no constructors, and an equation of propositions is decided as one.
    if left is None or right is None or {left, right} <= {TRUE, FALSE}:
        return None
    return (left, right) if clash(state.mctx, left, right) else None


def refute_equation(ex: Explainer, equation: Expr, values: tuple[Expr, Expr]) -> Expr:
    """`¬(a = b)` where `a` and `b` are equal to the two values, which clash."""
    sides = match_eq(equation)
    assert sides is not None
    level, type_, a, b = sides
    local = ex.mctx.fresh_local("h", equation)
    proof = local.fvar
    trans = Const("Eq.trans", (level,))
    left, right = values
    if left is not a:
        proof = mk_app(trans, type_, left, a, b, ex.equal(left, a), proof)
    if right is not b:
        proof = mk_app(trans, type_, left, b, right, proof, ex.equal(b, right))
    return ex.mctx.mk_lambda([local.fvar_id], _refute(ex, left, right, proof))


def _refute(ex: Explainer, a: Expr, b: Expr, proof: Expr) -> Expr:
    """`False` from `proof : a = b` between values that clash."""
    left, right = _read_number(a), _read_number(b)
    if left is not None and right is not None:
        common = min(left[1], right[1])
        # `x + 5 = 3` becomes `x + 2 = 0`, a clash of constructors.
        if common and (left[0] is not None or right[0] is not None):
            a, b = _minus(left, common), _minus(right, common)
            proof = _cancel(a, b, common, proof)
    equation, _ = _with_proof(ex.mctx, a, b)
    absurdity = refute_clash(ex.mctx, equation, proof)
    assert absurdity is not None, "the values clash"
    return absurdity
