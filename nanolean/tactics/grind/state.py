"""One branch of the search of `grind`, and quantified facts as theorems for E-matching."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from nanolean.kernel.declaration import ConstantInfo
from nanolean.kernel.expr import (
    App,
    BVar,
    Const,
    Expr,
    FVar,
    Lam,
    Pi,
    get_app_fn_args,
    has_loose_bvar,
    instantiate,
    lift,
    mk_app,
    subterms,
)
from nanolean.kernel.level import ZERO, Level
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import const_name
from nanolean.tactics.eq_proof import FALSE, TRUE
from nanolean.tactics.grind.egraph import NOT, EGraph, Explainer, Reason, eq_false, eq_true
from nanolean.tactics.grind.normal import Normalizer, arrow_parts, split_offset

NOT_PATTERNS = {"Eq", "Iff", "And", "Or", "Not", "Exists", "True", "False", "Ne"}
"""Heads that no pattern has; their arguments may be patterns."""
ARITHMETIC = {"Nat.le", "Nat.lt", "Nat.add", "Nat.sub", "Nat.mul", "Nat.div", "Nat.mod", "Nat.pow"}
"""Heads that a pattern has only where there is no choice without them."""
MAX_BINDERS = 12
Order = Literal["forward", "backward"]
Proof = Callable[["Explainer", tuple[Level, ...]], Expr]
"""Builds the proof of a theorem at the given universe levels."""


@dataclass(frozen=True, eq=False)
class Theorem:
    """`∀ x₁ .. xₙ, body`; `types[i]` is the type of `xᵢ` over the variables before it, `body` is over all.

    A variable that is a proof (`is_hyp`) is not matched: the instance has it as a premise.
    """

    key: object
    types: tuple[Expr, ...]
    is_hyp: tuple[bool, ...]
    body: Expr
    patterns: tuple[Expr, ...]
    level_params: tuple[str, ...]
    proof: Proof
    generation: int = 0


class Statement(NamedTuple):
    """A quantified statement taken apart: see `Theorem`."""

    types: tuple[Expr, ...]
    is_hyp: tuple[bool, ...]
    body: Expr

    def places(self, order: Order) -> list[Expr]:
        """Premises and conclusion, each over all variables, in the order in which patterns are looked for."""
        count = len(self.types)
        premises = [lift(type_, count - place) for place, type_ in enumerate(self.types) if self.is_hyp[place]]
        return [*premises, self.body] if order == "forward" else [self.body, *reversed(premises)]

    def wanted(self) -> set[int]:
        """Return the variables that patterns have to determine."""
        return {place for place, hyp in enumerate(self.is_hyp) if not hyp}


def read_statement(mctx: MetaContext, statement: Expr) -> Statement:
    """Take the binders off a statement in normal form."""
    types: list[Expr] = []
    is_hyp: list[bool] = []
    locals_: list[Expr] = []
    while isinstance(statement, Pi) and len(types) < MAX_BINDERS:
        type_ = instantiate(statement.type, *reversed(locals_)) if locals_ else statement.type
        types.append(statement.type)
        is_hyp.append(mctx.is_prop(type_))
        locals_.append(mctx.fresh_local("x", type_).fvar)
        statement = statement.body
    return Statement(tuple(types), tuple(is_hyp), statement)


def local_theorems(mctx: MetaContext, fact: Expr, proof: Proof, generation: int) -> list[Theorem]:
    """Theorems from a quantified fact: one for each single pattern, else one for a choice of several from each end."""
    statement = read_statement(mctx, fact)
    # One theorem for each single pattern: whichever of its terms turns up first triggers the fact.
    pattern_sets: dict[tuple[Expr, ...], None] = {(pattern,): None for pattern in _single_patterns(statement)}
    if not pattern_sets:
        chosen = (_patterns(statement, order) for order in ("forward", "backward"))
        pattern_sets = dict.fromkeys(patterns for patterns in chosen if patterns)
    return [Theorem(fact, *statement, patterns, (), proof, generation) for patterns in pattern_sets]


def global_theorem(mctx: MetaContext, info: ConstantInfo, statement: Expr) -> Theorem | None:
    """Return a theorem of the library with patterns, taken from its conclusion first; None where it has none."""
    read = read_statement(mctx, statement)
    patterns = _patterns(read, "backward")
    if not patterns:
        return None
    return Theorem(info.name, *read, patterns, info.level_params, lambda ex, levels: Const(info.name, levels))


# -- patterns ----------------------------------------------------------------------------------------------------------


def _single_patterns(statement: Statement) -> Iterator[Expr]:
    """The patterns that determine all variables alone."""
    count, wanted = len(statement.types), statement.wanted()
    for place in statement.places("forward"):
        for candidate in _candidates(place, NOT_PATTERNS | ARITHMETIC):
            if wanted and wanted <= _with_types(_variables(candidate, count), statement.types):
                yield candidate


def _patterns(statement: Statement, order: Order) -> tuple[Expr, ...] | None:
    """The first patterns that determine all variables together, without arithmetic where that can be."""
    places, wanted = statement.places(order), statement.wanted()
    # A pattern `x + y` would match wherever anything is added.
    patterns = _choose(places, statement.types, wanted, NOT_PATTERNS | ARITHMETIC)
    return patterns or _choose(places, statement.types, wanted, NOT_PATTERNS)


def _choose(
    places: list[Expr], types: tuple[Expr, ...], wanted: set[int], refused: set[str]
) -> tuple[Expr, ...] | None:
    """The first patterns without refused heads that determine the wanted variables; None where there are none."""
    count = len(types)
    known: set[int] = set()
    chosen: list[Expr] = []
    for place in places:
        for candidate in _candidates(place, refused):
            variables = _variables(candidate, count)
            # Greedy from the left: a pattern is taken only if it determines something new.
            if (variables - known) & wanted:
                chosen.append(candidate)
                known |= _with_types(variables, types)
            if wanted <= known:
                return tuple(chosen)
    return None


def _candidates(e: Expr, refused: set[str]) -> Iterator[Expr]:
    """Subterms that may be patterns, larger ones first, from left to right."""
    sides = arrow_parts(e)
    if sides is not None:
        for side in sides:
            yield from _candidates(side, refused)
    if not e.loose or not isinstance(e, App):
        return
    fn, args = get_app_fn_args(e)
    name = const_name(fn)
    if isinstance(fn, Const | FVar) and name not in refused and _is_first_order(e):
        yield e
        return
    if name == "Eq":  # not its type
        args = args[1:]
    elif name == "Exists":
        args = []
    for arg in args:
        yield from _candidates(arg, refused)


def _is_first_order(e: Expr) -> bool:
    """Whether the term is no `x + k`, and has no variable as a function or under a binder."""
    if split_offset(e)[1]:
        return False
    for part in subterms(e, lambda node: node.loose > 0):
        # Matching is of first order: congruence closure knows nothing below a binder.
        if isinstance(part, Lam | Pi) and part.loose:
            return False
        if isinstance(part, App) and isinstance(get_app_fn_args(part)[0], BVar):
            return False
    return True


def _variables(e: Expr, count: int) -> set[int]:
    """The places of the variables that occur in a term over all of them."""
    return {count - 1 - idx for idx in range(count) if has_loose_bvar(e, idx)}


def _with_types(places: set[int], types: tuple[Expr, ...]) -> set[int]:
    """The places together with those that occur in the types of variables there: matching finds them too."""
    reached: set[int] = set()
    todo = sorted(places)
    while todo:
        place = todo.pop()
        if place not in reached:
            reached.add(place)
            todo += sorted(_variables(types[place], place))
    return reached


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
        """Return an independent state with the same content."""
        # Copies of dictionaries and no undo: a branch is left as a whole, and changes most of them.
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
        """Build a proof of `False` from the conflict."""
        assert self.conflict is not None
        return self.conflict(Explainer(self.graph))


def true_is_false(ex: Explainer) -> Expr:
    """`False` where `True` and `False` are in one class."""
    equation = ex.equal(TRUE, FALSE)
    return mk_app(Const("Eq.mp", (ZERO,)), TRUE, FALSE, equation, Const("True.intro"))
