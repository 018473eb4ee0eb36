"""One branch of the search of `grind`: its facts, and what still has to be looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from nanolean.kernel.expr import Const, Expr, get_app_fn_args, mk_app
from nanolean.kernel.level import ZERO
from nanolean.meta.mctx import MetaContext
from nanolean.tactics.eq_proof import FALSE, TRUE
from nanolean.tactics.grind.egraph import EGraph, Reason
from nanolean.tactics.grind.explain import NOT, Explainer, eq_false, eq_true
from nanolean.tactics.grind.normal import Normalizer
from nanolean.tactics.grind.theorems import Theorem

Build = Callable[[Explainer], Expr]
"""Builds a proof of some proposition."""


@dataclass
class State:
    """The facts of a branch as a graph, quantified facts as theorems, and the first contradiction found."""

    mctx: MetaContext
    graph: EGraph
    normal: Normalizer
    conflict: Reason | None = None
    existentials: list[Expr] = field(default_factory=list)
    """Facts `∃ x, p x` that have not been opened yet."""
    theorems: list[Theorem] = field(default_factory=list)
    seen: set[Expr] = field(default_factory=set)
    """Quantified facts that have been dealt with."""
    definitions: tuple[str, ...] = ()
    """Names of definitions to unfold."""
    unfolded: set[Expr] = field(default_factory=set)
    """Calls of them that have been unfolded."""
    instances: set[tuple[object, ...]] = field(default_factory=set)
    """Instances of theorems that have been made."""
    refuted: set[Expr] = field(default_factory=set)
    """The facts about numbers among which arithmetic has found no contradiction."""
    asked: set[tuple[Expr, Expr]] = field(default_factory=set)
    """Pairs of numbers whose equality arithmetic has been asked for."""
    products: set[Expr] = field(default_factory=set)
    """Products that have been multiplied out."""

    def copy(self) -> State:
        """An independent state with the same content."""
        return State(
            self.mctx,
            self.graph.copy(),
            self.normal,
            self.conflict,
            list(self.existentials),
            list(self.theorems),
            set(self.seen),
            self.definitions,
            set(self.unfolded),
            set(self.instances),
            set(self.refuted),
            set(self.asked),
            set(self.products),
        )

    def add_fact(self, prop: Expr, build: Build, generation: int = 0) -> None:
        """Assume a proposition, with a way to prove it."""
        prop = self.normal(prop)
        fn, args = get_app_fn_args(prop)
        if fn is NOT and len(args) == 1:
            self.set_false(args[0], build, generation)
        else:
            self.set_true(prop, build, generation)

    def set_true(self, prop: Expr, build: Build, generation: int = 0) -> None:
        """Join a proposition in normal form to `True`; `build` proves it."""
        self.graph.add(prop, generation)
        self.graph.merge(prop, TRUE, lambda ex: eq_true(prop, build(ex)))

    def set_false(self, prop: Expr, build: Build, generation: int = 0) -> None:
        """Join a proposition in normal form to `False`; `build` proves its negation."""
        self.graph.add(prop, generation)
        self.graph.merge(prop, FALSE, lambda ex: eq_false(prop, build(ex)))

    def refutation(self) -> Expr:
        """A proof of `False` from the conflict."""
        assert self.conflict is not None
        return self.conflict(Explainer(self.graph))


def true_is_false(ex: Explainer) -> Expr:
    """`False` where `True` and `False` are in one class."""
    equation = ex.equal(TRUE, FALSE)
    return mk_app(Const("Eq.mp", (ZERO,)), TRUE, FALSE, equation, Const("True.intro"))
