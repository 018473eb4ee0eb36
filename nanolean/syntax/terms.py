"""The families of nodes, universe levels, binders, terms and chains of relations."""

from dataclasses import dataclass, field
from typing import Literal

BinderInfo = Literal["default", "implicit", "inst", "strict"]
SortKind = Literal["Prop", "Type", "Sort"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Anything with a place in the source."""

    pos: int = field(default=0, compare=False, repr=False)
    end: int = field(default=0, compare=False, repr=False)


class Term(Node):
    """What denotes: a piece of a statement or a proof term."""

    __slots__ = ()


class Tactic(Node):
    """A step of a proof."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class TacticSeq(Node):
    """Tactics that run one after another; empty only for a `by` that stands before nothing."""

    tactics: tuple[Tactic, ...]


class Command(Node):
    """What stands at the top of a file."""

    __slots__ = ()


class LevelStx(Node):
    """A universe level: `u`, `1`, `u + 1`, `max u v`, `imax u v`, `_`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class LevelNum(LevelStx):
    value: int


@dataclass(frozen=True, slots=True)
class LevelName(LevelStx):
    name: str


@dataclass(frozen=True, slots=True)
class LevelHole(LevelStx):
    pass


@dataclass(frozen=True, slots=True)
class LevelAdd(LevelStx):
    base: LevelStx
    offset: int


@dataclass(frozen=True, slots=True)
class LevelMax(LevelStx):
    args: tuple[LevelStx, ...]
    imax: bool = False


@dataclass(frozen=True, slots=True)
class Binder(Node):
    """One bound name; `(a b : T)` is two binders that share the `type` node. The name of an unnamed one is `_`."""

    name: str
    type: Term | None = None
    info: BinderInfo = "default"


@dataclass(frozen=True, slots=True)
class Ident(Term):
    """`x`, `Nat.add_comm`, `h.left.right`; `@f` has `explicit`, `f.{u, 1}` has `levels`."""

    name: str
    explicit: bool = False
    levels: tuple[LevelStx, ...] | None = None


@dataclass(frozen=True, slots=True)
class DotIdent(Term):
    """`.intro`: a name to be found in the namespace of the expected type."""

    name: str


@dataclass(frozen=True, slots=True)
class Num(Term):
    value: int


@dataclass(frozen=True, slots=True)
class Hole(Term):
    """`_`: to be found by unification."""


@dataclass(frozen=True, slots=True)
class SyntheticHole(Term):
    """`?x`, and `?_` with the name `_`: a new goal."""

    name: str


@dataclass(frozen=True, slots=True)
class SorryTerm(Term):
    pass


@dataclass(frozen=True, slots=True)
class NamedArg(Node):
    """`(n := 3)` among the arguments of an application."""

    name: str
    value: Term


@dataclass(frozen=True, slots=True)
class AppStx(Term):
    """`f a (n := 3) b`; `fn` is itself an `AppStx` only where it was in parentheses (parentheses leave no node)."""

    fn: Term
    args: tuple[Term | NamedArg, ...]
    ellipsis: bool = False
    """Whether `..` stands for the explicit arguments that are left."""


@dataclass(frozen=True, slots=True)
class Fun(Term):
    binders: tuple[Binder, ...]
    body: Term


@dataclass(frozen=True, slots=True)
class Forall(Term):
    """`∀ x y, p` and the dependent arrow `(x : T) → p`."""

    binders: tuple[Binder, ...]
    body: Term


@dataclass(frozen=True, slots=True)
class Exists(Term):
    binders: tuple[Binder, ...]
    body: Term


@dataclass(frozen=True, slots=True)
class Arrow(Term):
    domain: Term
    codomain: Term


@dataclass(frozen=True, slots=True)
class BinOp(Term):
    """A binary operator in its canonical spelling, one of `∧ ∨ ↔ = ≠ < ≤ > ≥ ∣ ∈ ∉ + - * / % ^ :: ++ && || == !=
    ∘ × ▸ <| |>`. `!=` and `==` are the Boolean tests, as in Lean."""

    op: str
    lhs: Term
    rhs: Term


@dataclass(frozen=True, slots=True)
class Unary(Term):
    """`¬p`, `!b`, `-x`."""

    op: str
    arg: Term


@dataclass(frozen=True, slots=True)
class TypeAscription(Term):
    term: Term
    type: Term


@dataclass(frozen=True, slots=True)
class AnonCtor(Term):
    """`⟨a, b⟩`."""

    args: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class StructLit(Term):
    """`{ s with x := a, y := b : T }`."""

    fields: tuple[NamedArg, ...]
    source: Term | None = None
    type: Term | None = None


@dataclass(frozen=True, slots=True)
class ListLit(Term):
    """`[a, b]`."""

    items: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class ProjStx(Term):
    """`e.1` (1-based) or `(f x).left`; `field` may have several parts (`left.right`)."""

    term: Term
    field: str | int


@dataclass(frozen=True, slots=True)
class SortStx(Term):
    """`Prop`, `Type u` (level None: `Type`), `Sort u` (level None: `Sort`, the same as `Prop`)."""

    kind: SortKind
    level: LevelStx | None = None


@dataclass(frozen=True, slots=True)
class Let(Term):
    """`let x : T := v; body`; `let f (n : A) : T := v` comes as `∀ (n : A), T` and `fun (n : A) => v`."""

    name: str
    type: Term | None
    value: Term
    body: Term


@dataclass(frozen=True, slots=True)
class Have(Term):
    """`have h : T := v; body`; the name is `this` when none is given. Binders as in `Let`."""

    name: str
    type: Term | None
    value: Term
    body: Term


@dataclass(frozen=True, slots=True)
class Show(Term):
    """`show T from e`, `show T by tactics` (then `value` is a `By`)."""

    type: Term
    value: Term


@dataclass(frozen=True, slots=True)
class If(Term):
    """`if c then a else b`; `if h : c then a else b` has the name `h`."""

    name: str | None
    condition: Term
    then: Term
    otherwise: Term


@dataclass(frozen=True, slots=True)
class MatchAlt(Node):
    """`| p, q => rhs`; patterns are terms."""

    patterns: tuple[Term, ...]
    rhs: Term


@dataclass(frozen=True, slots=True)
class FunAlts(Term):
    """`fun | p, q => e | ..`, also the equations of a definition; at least one alternative."""

    alts: tuple[MatchAlt, ...]


@dataclass(frozen=True, slots=True)
class Match(Term):
    """`match a, h : b with | p, q => e`: `targets` are (name of the equation or None, term)."""

    targets: tuple[tuple[str | None, Term], ...]
    alts: tuple[MatchAlt, ...]


@dataclass(frozen=True, slots=True)
class By(Term):
    """`by` and its tactics."""

    tactics: TacticSeq


@dataclass(frozen=True, slots=True)
class CalcStep(Node):
    """`a = b := proof`; a first step may be a term alone, then `proof` is None."""

    relation: Term
    proof: Term | None


@dataclass(frozen=True, slots=True)
class Calc(Term):
    steps: tuple[CalcStep, ...]


@dataclass(frozen=True, slots=True)
class CalcStx(Tactic):
    """The tactic closes the goal with the chain; where only its right end differs, that is left to be proved."""

    steps: tuple[CalcStep, ...]
