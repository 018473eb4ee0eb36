"""Quantified facts as theorems for E-matching: their binders, and the patterns that trigger an instance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from nanoproof.lean.nanolean.kernel.expr import (
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
    subterms,
)
from nanoproof.lean.nanolean.kernel.level import Level
from nanoproof.lean.nanolean.meta.mctx import MetaContext
from nanoproof.lean.nanolean.tactics.grind.normal import split_offset

if TYPE_CHECKING:
    from nanoproof.lean.nanolean.tactics.grind.explain import Explainer

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


def make_theorems(
    mctx: MetaContext,
    key: object,
    statement: Expr,
    proof: Proof,
    level_params: tuple[str, ...] = (),
    orders: Sequence[Order] = ("forward", "backward"),
    generation: int = 0,
) -> list[Theorem]:
    """The theorems that a quantified statement in normal form gives, one for each useful choice of patterns."""
    types: list[Expr] = []
    is_hyp: list[bool] = []
    locals_: list[Expr] = []
    body = statement
    while isinstance(body, Pi) and len(types) < MAX_BINDERS:
        type_ = instantiate(body.type, *reversed(locals_)) if locals_ else body.type
        types.append(body.type)
        is_hyp.append(mctx.is_prop(type_))
        locals_.append(mctx.fresh_local("x", type_).fvar)
        body = body.body
    found: dict[tuple[Expr, ...], None] = {}
    for order in orders:
        for part in _conjuncts(body):
            places = _places(types, is_hyp, part, order)
            wanted = {place for place, hyp in enumerate(is_hyp) if not hyp}
            patterns = _choose(places, types, wanted, NOT_PATTERNS | ARITHMETIC)
            patterns = patterns or _choose(places, types, wanted, NOT_PATTERNS)
            if patterns:
                found[patterns] = None
    parts = (tuple(types), tuple(is_hyp), body)
    return [Theorem(key, *parts, patterns, level_params, proof, generation) for patterns in found]


def _conjuncts(e: Expr, holds: bool = True) -> list[Expr]:
    """The parts of a conjunction, also of a negated disjunction; each may trigger the whole."""
    fn, args = get_app_fn_args(e)
    name = fn.name if isinstance(fn, Const) else ""
    if name == "Not" and len(args) == 1:
        return _conjuncts(args[0], not holds)
    if name == ("And" if holds else "Or") and len(args) == 2:
        return [part for arg in args for part in _conjuncts(arg, holds)]
    return [e]


def _places(types: list[Expr], is_hyp: list[bool], body: Expr, order: Order) -> list[Expr]:
    """Premises and conclusion, each over all variables, in the order in which patterns are looked for."""
    count = len(types)
    premises = [lift(type_, count - place) for place, type_ in enumerate(types) if is_hyp[place]]
    return [*premises, body] if order == "forward" else [body, *reversed(premises)]


def _choose(places: list[Expr], types: list[Expr], wanted: set[int], refused: set[str]) -> tuple[Expr, ...] | None:
    """The first patterns without refused heads that determine the wanted variables; None where there are none."""
    count = len(types)
    known: set[int] = set()
    chosen: list[Expr] = []
    for place in places:
        for candidate in _candidates(place, refused):
            variables = _variables(candidate, count)
            if (variables - known) & wanted:
                chosen.append(candidate)
                known |= _with_types(variables, types)
            if wanted <= known:
                return tuple(chosen)
    return None


def _candidates(e: Expr, refused: set[str]) -> Iterator[Expr]:
    """Subterms that may be patterns, larger ones first, from left to right."""
    if not e.loose or not isinstance(e, App):
        return
    fn, args = get_app_fn_args(e)
    name = fn.name if isinstance(fn, Const) else ""
    if isinstance(fn, Const | FVar) and name not in refused and _is_first_order(e):
        yield e
        return
    for arg in args[1:] if name == "Eq" else args if name != "Exists" else []:
        yield from _candidates(arg, refused)


def _is_first_order(e: Expr) -> bool:
    """Whether the term is no `x + k`, and has no variable as a function or under a binder."""
    if split_offset(e)[1]:
        return False
    for part in subterms(e, lambda node: node.loose > 0):
        if isinstance(part, Lam | Pi) and part.loose:
            return False
        if isinstance(part, App) and isinstance(get_app_fn_args(part)[0], BVar):
            return False
    return True


def _variables(e: Expr, count: int) -> set[int]:
    """The places of the variables that occur in a term over all of them."""
    return {count - 1 - idx for idx in range(count) if has_loose_bvar(e, idx)}


def _with_types(places: set[int], types: list[Expr]) -> set[int]:
    """The places together with those that occur in the types of variables there: matching finds them too."""
    found: set[int] = set()
    todo = sorted(places)
    while todo:
        place = todo.pop()
        if place not in found:
            found.add(place)
            todo += sorted(_variables(types[place], place))
    return found
