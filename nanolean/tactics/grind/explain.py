"""Proofs out of the E-graph: why two terms are equal, why a proposition holds or not."""

from __future__ import annotations

from nanolean.kernel.expr import (
    App,
    BVar,
    Const,
    Expr,
    Lam,
    get_app_fn_args,
    mk_app,
)
from nanolean.kernel.level import ONE, Level
from nanolean.meta.mctx import MetaContext
from nanolean.tactics.eq_proof import (
    FALSE,
    PROP,
    TRUE,
    Step,
    congr_args,
    implies_congr,
    level_of,
    mk_congr_arg,
    mk_eq_false,
    mk_eq_refl,
    mk_eq_true,
    mk_of_eq_true,
    mk_propext,
    trans,
)
from nanolean.tactics.grind.egraph import EQUALITY, IMPLIES, EGraph

NOT = Const("Not")


class Explainer:
    """Builds proofs over one graph; what is known to be equal there has a proof."""

    def __init__(self, graph: EGraph) -> None:
        self.graph = graph
        self.mctx: MetaContext = graph.mctx
        self._equal: dict[tuple[Expr, Expr], Expr] = {}
        self._types: dict[Expr, tuple[Level, Expr]] = {}

    # -- propositions ------------------------------------------------------------------------------------------------

    def holds(self, prop: Expr) -> Expr:
        """A proof of a proposition that is equal to `True`."""
        if prop is TRUE:
            return Const("True.intro")
        return of_eq_true(prop, self.equal(prop, TRUE))

    def fails(self, prop: Expr) -> Expr:
        """A proof of `¬prop` for a proposition that is equal to `False`."""
        if prop is FALSE:
            return Const("not_false")
        return of_eq_false(prop, self.equal(prop, FALSE))

    def step(self, e: Expr, target: Expr) -> Step:
        """The equation from a term to one that is known to be equal, as a rewriting step."""
        return Step(target, None if e is target else self.equal(e, target))

    # -- equations ---------------------------------------------------------------------------------------------------

    def type_of(self, e: Expr) -> tuple[Level, Expr]:
        """Universe level and type of a term."""
        found = self._types.get(e)
        if found is None:
            type_ = self.mctx.infer_type(e)
            found = self._types[e] = (ONE if type_ is PROP else level_of(self.mctx, type_), type_)
        return found

    def equal(self, a: Expr, b: Expr) -> Expr:
        """A proof of `a = b`."""
        if a is b:
            level, type_ = self.type_of(a)
            return mk_eq_refl(level, type_, a)
        found = self._equal.get((a, b))
        if found is None:
            found = self._equal[(a, b)] = self._path(a, b)
        return found

    def _path(self, a: Expr, b: Expr) -> Expr:
        """The proof along the path from `a` to `b` in the forest."""
        above = self._ancestors(b)
        ups: list[Expr] = []
        meet = a
        while meet not in above:
            ups.append(meet)
            meet = self.graph.edge[meet].target
        downs = list(above)[: list(above).index(meet)]
        level, type_ = self.type_of(a)
        proof: Expr | None = None
        at = a
        steps = [(e, True) for e in ups] + [(e, False) for e in reversed(downs)]
        for source, up in steps:
            to = self.graph.edge[source].target if up else source
            one = self._edge(source, up)
            proof = one if proof is None else mk_app(Const("Eq.trans", (level,)), type_, a, at, to, proof, one)
            at = to
        assert proof is not None and at is b, "the terms are in one tree"
        return proof

    def _ancestors(self, e: Expr) -> dict[Expr, None]:
        found = {e: None}
        edge = self.graph.edge.get(e)
        while edge is not None:
            found[edge.target] = None
            edge = self.graph.edge.get(edge.target)
        return found

    def _edge(self, source: Expr, up: bool) -> Expr:
        """The proof of an edge, from `source` to its target when `up`, else the other way round."""
        target, reason, backwards = self.graph.edge[source]
        if reason is None:
            return self._congruence(source, target) if up else self._congruence(target, source)
        proof = reason(self)
        if up != backwards:
            return proof
        level, type_ = self.type_of(source)
        ends = (source, target) if up else (target, source)
        return mk_app(Const("Eq.symm", (level,)), type_, ends[1], ends[0], proof)

    def _congruence(self, a: Expr, b: Expr) -> Expr:
        shapes = self.graph.shapes
        left, right = shapes(a), shapes(b)
        if left.head == IMPLIES:
            (p, q), (p2, q2) = left.args, right.args
            step = implies_congr(self.mctx, p, q, self.step(p, p2), self.step(q, q2))
        elif left.is_equality and not self._matches(left.args, right.args):
            return self._swapped(a, b, left.args, right.args)
        else:
            steps = [None if x is y else self.step(x, y) for x, y in zip(left.args, right.args)]
            assert isinstance(left.head, Expr) and isinstance(right.head, Expr)
            step = congr_args(self.mctx, left.head, list(left.args), list(steps))
            if left.head is not right.head:
                step = self._other_head(a, step, left.head, right.head, list(right.args))
        if step.proof is None:
            return self.equal(a, a)
        return step.proof

    def _matches(self, left: tuple[Expr, ...], right: tuple[Expr, ...]) -> bool:
        same = self.graph.same
        return same(left[1], right[1]) and same(left[2], right[2])

    def _swapped(self, a: Expr, b: Expr, left: tuple[Expr, ...], right: tuple[Expr, ...]) -> Expr:
        """`(x = y) = (x' = y')` from `x = y'` and `y = x'`."""
        level, type_ = self.type_of(left[1])
        symm = Const("Eq.symm", (level,))
        (_, x, y), (_, x2, y2) = left, right
        turned = mk_app(Const(EQUALITY, (level,)), type_, y, x)
        forth = mk_app(symm, type_, x, y)
        back = mk_app(symm, type_, y, x)
        flip = mk_propext(a, turned, mk_app(Const("Iff.intro"), a, turned, forth, back))
        head = mk_app(Const(EQUALITY, (level,)), type_)
        rest = congr_args(self.mctx, head, [y, x], [self.step(y, x2), self.step(x, y2)])
        result = trans(self.mctx, a, Step(turned, flip), rest)
        assert result.proof is not None
        return result.proof

    def _other_head(self, start: Expr, step: Step, left: Expr, right: Expr, args: list[Expr]) -> Step:
        """`start = right args` from `start = left args` and `left = right`."""
        level, type_ = self.type_of(left)
        result_level, result = self.type_of(step.expr)
        apply_to_args = Lam("f", type_, mk_app(BVar(0), *args))
        eq = mk_congr_arg((level, result_level), (type_, result), (left, right), apply_to_args, self.equal(left, right))
        return trans(self.mctx, start, step, Step(mk_app(right, *args), eq))


def of_eq_true(prop: Expr, equation: Expr) -> Expr:
    """A proof of `prop` from `prop = True`."""
    inner = _argument(equation, "eq_true")
    return mk_of_eq_true(prop, equation) if inner is None else inner


def of_eq_false(prop: Expr, equation: Expr) -> Expr:
    """A proof of `¬prop` from `prop = False`."""
    inner = _argument(equation, "eq_false")
    return mk_app(Const("of_eq_false"), prop, equation) if inner is None else inner


def eq_true(prop: Expr, proof: Expr) -> Expr:
    """`prop = True` from a proof of `prop`."""
    inner = _argument(proof, "of_eq_true")
    return mk_eq_true(prop, proof) if inner is None else inner


def eq_false(prop: Expr, proof: Expr) -> Expr:
    """`prop = False` from a proof of `¬prop`."""
    inner = _argument(proof, "of_eq_false")
    return mk_eq_false(prop, proof) if inner is None else inner


def _argument(proof: Expr, lemma: str) -> Expr | None:
    """The last argument of a proof by a lemma with two arguments, None for other proofs."""
    fn, args = get_app_fn_args(proof)
    if isinstance(fn, Const) and fn.name == lemma and len(args) == 2:
        return args[1]
    return None


def mk_not(prop: Expr) -> Expr:
    """`¬prop`."""
    return App(NOT, prop)
