"""Propositions as linear facts: what a hypothesis says about sums, and how negations are pushed inwards.

`open_fact` takes one step: a proposition with its proof becomes a relation, two propositions that both hold, or two of
which one holds. Other propositions say nothing, not even `False`; that is so in Lean too.
"""

from dataclasses import dataclass
from typing import Literal

from nanolean.kernel.expr import BVar, Const, Expr, Lam, Lit, Pi, get_app_fn_args, lift, mk_app
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import NAT_TYPE, const_name

NOT = Const("Not")
AND = Const("And")
ZERO_LIT = Lit(0)
RelationName = Literal["le", "lt", "eq"]
RELATIONS: dict[str, RelationName] = {"Nat.le": "le", "Nat.lt": "lt"}
NEGATED = {"Nat.le": ("Nat.lt", "Nat.lt_of_not_le"), "Nat.lt": ("Nat.le", "Nat.le_of_not_lt")}
"""The relation that holds with exchanged sides where this one does not, and the lemma that says so."""


@dataclass(frozen=True, slots=True)
class Proved:
    """A proposition and a proof of it."""

    prop: Expr
    proof: Expr


@dataclass(frozen=True, slots=True)
class Relation:
    """`left ~ right` where the relation is "le", "lt" or "eq"."""

    relation: RelationName
    left: Expr
    right: Expr
    proof: Expr


@dataclass(frozen=True, slots=True)
class Both:
    """Two propositions that hold."""

    parts: tuple[Proved, Proved]


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """`left ∨ right` and its proof."""

    left: Expr
    right: Expr
    proof: Expr


Opened = Relation | Both | Either | Proved | None


def _negation(prop: Expr) -> Expr:
    return mk_app(NOT, prop)


def apply_lemma(name: str, *args: Expr) -> Expr:
    """Apply a constant without universe parameters."""
    return mk_app(Const(name), *args)


def _head(mctx: MetaContext, prop: Expr) -> tuple[Expr, str, list[Expr]]:
    # Sees through `≠`, `>` and `≥`, as `whnfR` in Lean's `omega`.
    prop = mctx.whnf(mctx.instantiate(prop), "reducible")
    fn, args = get_app_fn_args(prop)
    return prop, const_name(fn), args


def _is_implication(mctx: MetaContext, prop: Expr) -> bool:
    return isinstance(prop, Pi) and not prop.body.loose and mctx.is_prop(prop.type) and mctx.is_prop(prop.body)


def open_fact(mctx: MetaContext, fact: Proved) -> Opened:
    """Open a proved proposition by one step; None if it states nothing about numbers."""
    prop, name, args = _head(mctx, fact.prop)
    proof = fact.proof
    match name, len(args):
        case "Nat.le" | "Nat.lt", 2:
            return Relation(RELATIONS[name], args[0], args[1], proof)
        case "Eq", 3 if args[0] is NAT_TYPE:
            return Relation("eq", args[1], args[2], proof)
        case "And", 2:
            left, right = (apply_lemma(f"And.{side}", *args, proof) for side in ("left", "right"))
            return Both((Proved(args[0], left), Proved(args[1], right)))
        case "Or", 2:
            return Either(args[0], args[1], proof)
        case "Iff", 2:
            neither = mk_app(AND, _negation(args[0]), _negation(args[1]))
            return Either(mk_app(AND, *args), neither, apply_lemma("Omega.cases_of_iff", *args, proof))
        case "Nat.dvd", 2:
            remainder = apply_lemma("Nat.mod", args[1], args[0])
            return Relation("eq", remainder, ZERO_LIT, apply_lemma("Nat.mod_eq_zero_of_dvd", *args, proof))
        # Negations are pushed inwards until a relation is met.
        case "Not", 1:
            return open_negation(mctx, args[0], proof)
    if isinstance(prop, Pi) and _is_implication(mctx, prop):
        return Either(_negation(prop.type), prop.body, apply_lemma("Omega.or_of_imp", prop.type, prop.body, proof))
    return None


def open_negation(mctx: MetaContext, negated: Expr, proof: Expr) -> Opened:
    """Open a proof of `¬negated` by one step, as `open_fact` does."""
    prop, name, args = _head(mctx, negated)
    match name, len(args):
        case "Nat.le" | "Nat.lt", 2:
            opposite, lemma = NEGATED[name]
            return Relation(RELATIONS[opposite], args[1], args[0], apply_lemma(lemma, *args, proof))
        # `a ≠ b` is `a < b ∨ b < a`: inequalities have no negated equations.
        case "Eq", 3 if args[0] is NAT_TYPE:
            less, greater = apply_lemma("Nat.lt", args[1], args[2]), apply_lemma("Nat.lt", args[2], args[1])
            return Either(less, greater, apply_lemma("Omega.cases_of_ne", args[1], args[2], proof))
        case "Not", 1:
            return Proved(args[0], apply_lemma("Classical.byContradiction", args[0], proof))
        case "And", 2:
            return Either(_negation(args[0]), _negation(args[1]), apply_lemma("Omega.not_and", *args, proof))
        case "Or", 2:
            return Both((_neither(args, 0, proof), _neither(args, 1, proof)))
        case "Iff", 2:
            p, q = args
            cases = mk_app(AND, p, _negation(q)), mk_app(AND, _negation(p), q)
            return Either(*cases, apply_lemma("Omega.cases_of_not_iff", p, q, proof))
        case "Nat.dvd", 2:
            remainder = apply_lemma("Nat.mod", args[1], args[0])
            return Relation("lt", ZERO_LIT, remainder, apply_lemma("Omega.mod_pos_of_not_dvd", *args, proof))
    if isinstance(prop, Pi) and _is_implication(mctx, prop):
        both = mk_app(AND, prop.type, _negation(prop.body))
        return Proved(both, apply_lemma("Omega.and_not_of_not_imp", prop.type, prop.body, proof))
    return None


def _neither(args: list[Expr], side: int, proof: Expr) -> Proved:
    """`¬p` (or `¬q`) from a proof of `¬(p ∨ q)`."""
    name = ("Or.inl", "Or.inr")[side]
    injected = apply_lemma(name, *args, BVar(0))
    return Proved(_negation(args[side]), Lam("h", args[side], mk_app(lift(proof, 1), injected)))


def is_linear_fact(mctx: MetaContext, prop: Expr) -> bool:
    """Return whether a proof of the proposition would be of use to `omega` (a disjunction must be so in both cases)."""
    return _says_something(mctx, prop, True)


def _says_something(mctx: MetaContext, prop: Expr, holds: bool) -> bool:
    mctx.budget.spend()
    prop, name, args = _head(mctx, prop)
    match name, len(args):
        case "Nat.le" | "Nat.lt" | "Nat.dvd", 2:
            return True
        case "Eq", 3:
            return args[0] is NAT_TYPE
        case "Not", 1:
            return _says_something(mctx, args[0], not holds)
        case "Iff", 2:
            return all(any(_says_something(mctx, arg, side) for arg in args) for side in (True, False))
        case "And" | "Or", 2:
            parts = (_says_something(mctx, arg, holds) for arg in args)
            return any(parts) if holds is (name == "And") else all(parts)
    if not isinstance(prop, Pi) or not _is_implication(mctx, prop):
        return False
    sides = (_says_something(mctx, prop.type, not holds), _says_something(mctx, prop.body, holds))
    return all(sides) if holds else any(sides)
