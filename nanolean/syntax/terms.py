"""The families of nodes, universe levels, binders, terms and chains of relations."""

from dataclasses import dataclass, field
from typing import Literal, dataclass_transform

BinderInfo = Literal["default", "implicit", "inst", "strict"]
SortKind = Literal["Prop", "Type", "Sort"]


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class _Data:
    """Makes each class below it a frozen dataclass of the fields that it says."""

    def __init_subclass__(cls, kw_only: bool = False) -> None:
        dataclass(frozen=True, kw_only=kw_only)(cls)


class Node(_Data, kw_only=True):
    """Anything with a place in the source."""

    pos: int = field(default=0, compare=False, repr=False)
    end: int = field(default=0, compare=False, repr=False)


class Term(Node):
    """What denotes: a piece of a statement or a proof term."""


class Tactic(Node):
    """A step of a proof."""


class TacticSeq(Node):
    """Tactics that run one after another; empty only for a `by` that stands before nothing."""

    tactics: tuple[Tactic, ...]


class Command(Node):
    """What stands at the top of a file."""


class LevelStx(Node):
    """A universe level: `u`, `1`, `u + 1`, `max u v`, `imax u v`, `_`."""


class LevelNum(LevelStx):
    value: int


class LevelName(LevelStx):
    name: str


class LevelHole(LevelStx):
    pass


class LevelAdd(LevelStx):
    base: LevelStx
    offset: int


class LevelMax(LevelStx):
    args: tuple[LevelStx, ...]
    imax: bool = False


class Binder(Node):
    """One bound name; `(a b : T)` is two binders that share the `type` node. The name of an unnamed one is `_`."""

    name: str
    type: Term | None = None
    info: BinderInfo = "default"


class Ident(Term):
    """`x`, `Nat.add_comm`, `h.left.right`; `@f` has `explicit`, `f.{u, 1}` has `levels`."""

    name: str
    explicit: bool = False
    levels: tuple[LevelStx, ...] | None = None


class DotIdent(Term):
    """`.intro`: a name to be found in the namespace of the expected type."""

    name: str


class Num(Term):
    value: int


class Hole(Term):
    """`_`: to be found by unification."""


class SyntheticHole(Term):
    """`?x`, and `?_` with the name `_`: a new goal."""

    name: str


class SorryTerm(Term):
    pass


class NamedArg(Node):
    """`(n := 3)` among the arguments of an application."""

    name: str
    value: Term


class AppStx(Term):
    """`f a (n := 3) b`; `fn` is itself an `AppStx` only where it was in parentheses (parentheses leave no node)."""

    fn: Term
    args: tuple[Term | NamedArg, ...]
    ellipsis: bool = False
    """Whether `..` stands for the explicit arguments that are left."""


class Fun(Term):
    binders: tuple[Binder, ...]
    body: Term


class Forall(Term):
    """`∀ x y, p` and the dependent arrow `(x : T) → p`."""

    binders: tuple[Binder, ...]
    body: Term


class Exists(Term):
    binders: tuple[Binder, ...]
    body: Term


class Arrow(Term):
    domain: Term
    codomain: Term


class BinOp(Term):
    """A binary operator in its canonical spelling, one of `∧ ∨ ↔ = ≠ < ≤ > ≥ ∣ ∈ ∉ + - * / % ^ :: ++ && || == !=
    ∘ × ▸ <| |>`. `!=` and `==` are the Boolean tests, as in Lean."""

    op: str
    lhs: Term
    rhs: Term


class Unary(Term):
    """`¬p`, `!b`, `-x`."""

    op: str
    arg: Term


class TypeAscription(Term):
    term: Term
    type: Term


class AnonCtor(Term):
    """`⟨a, b⟩`."""

    args: tuple[Term, ...]


class StructLit(Term):
    """`{ s with x := a, y := b : T }`."""

    fields: tuple[NamedArg, ...]
    source: Term | None = None
    type: Term | None = None


class ListLit(Term):
    """`[a, b]`."""

    items: tuple[Term, ...]


class ProjStx(Term):
    """`e.1` (1-based) or `(f x).left`; `field` may have several parts (`left.right`)."""

    term: Term
    field: str | int


class SortStx(Term):
    """`Prop`, `Type u` (level None: `Type`), `Sort u` (level None: `Sort`, the same as `Prop`)."""

    kind: SortKind
    level: LevelStx | None = None


class Let(Term):
    """`let x : T := v; body`; `let f (n : A) : T := v` comes as `∀ (n : A), T` and `fun (n : A) => v`."""

    name: str
    type: Term | None
    value: Term
    body: Term


class Have(Term):
    """`have h : T := v; body`; the name is `this` when none is given. Binders as in `Let`."""

    name: str
    type: Term | None
    value: Term
    body: Term


class Show(Term):
    """`show T from e`, `show T by tactics` (then `value` is a `By`)."""

    type: Term
    value: Term


class If(Term):
    """`if c then a else b`; `if h : c then a else b` has the name `h`."""

    name: str | None
    condition: Term
    then: Term
    otherwise: Term


class MatchAlt(Node):
    """`| p, q => rhs`; patterns are terms."""

    patterns: tuple[Term, ...]
    rhs: Term


class FunAlts(Term):
    """`fun | p, q => e | ..`, also the equations of a definition; at least one alternative."""

    alts: tuple[MatchAlt, ...]


class Match(Term):
    """`match a, h : b with | p, q => e`: `targets` are (name of the equation or None, term)."""

    targets: tuple[tuple[str | None, Term], ...]
    alts: tuple[MatchAlt, ...]


class By(Term):
    """`by` and its tactics."""

    tactics: TacticSeq


class CalcStep(Node):
    """`a = b := proof`; a first step may be a term alone, then `proof` is None."""

    relation: Term
    proof: Term | None


class Calc(Term):
    steps: tuple[CalcStep, ...]


class CalcStx(Tactic):
    """The tactic closes the goal with the chain; where only its right end differs, that is left to be proved."""

    steps: tuple[CalcStep, ...]
