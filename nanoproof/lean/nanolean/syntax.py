"""The syntax tree of NanoLean: what the parser makes and what the elaborator and the tactics read.

Every node is a frozen dataclass that spans `source[node.pos:node.end]` (character offsets). Positions take no part in
equality, so two parses of differently spaced texts compare equal. Names are plain strings with dots (`Nat.add_comm`);
`h.left` is one `Ident`, because only the elaborator knows whether `h` is a local hypothesis.
"""

from dataclasses import dataclass, field
from typing import Literal

BinderInfo = Literal["default", "implicit", "inst", "strict"]
SortKind = Literal["Prop", "Type", "Sort"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Anything with a place in the source."""

    pos: int = field(default=0, compare=False, repr=False)
    end: int = field(default=0, compare=False, repr=False)


# ---------------------------------------------------------------------------------------------------------------------
# Universe levels


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


# ---------------------------------------------------------------------------------------------------------------------
# Terms


class Term(Node):
    __slots__ = ()


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
    """A binary operator in its canonical spelling, one of `∧ ∨ ↔ = ≠ < ≤ > ≥ ∣ + - * / % ^ :: ++ && || == != ∘ ×
    ▸ <| |>`. `!=` and `==` are the Boolean tests, as in Lean."""

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
class Match(Term):
    """`match a, h : b with | p, q => e`: `targets` are (name of the equation or None, term)."""

    targets: tuple[tuple[str | None, Term], ...]
    alts: tuple[MatchAlt, ...]


@dataclass(frozen=True, slots=True)
class By(Term):
    """`by` and its tactics."""

    tactics: "TacticSeq"


# ---------------------------------------------------------------------------------------------------------------------
# Tactics: parts


class Tactic(Node):
    __slots__ = ()


@dataclass(frozen=True, slots=True)
class TacticSeq(Node):
    """Tactics that run one after another; empty only for a `by` that stands before nothing."""

    tactics: tuple[Tactic, ...]


@dataclass(frozen=True, slots=True)
class Location(Node):
    """`at h₁ h₂ ⊢` or `at *`. Without an `at` it is the goal alone."""

    hyps: tuple[str, ...] = ()
    goal: bool = True
    wildcard: bool = False


@dataclass(frozen=True, slots=True)
class RwRule(Node):
    """`h` or `← h`."""

    symm: bool
    term: Term


@dataclass(frozen=True, slots=True)
class SimpLemma(Node):
    """`h`, `← h`, `↓ h` is refused; `-h` has `erase`."""

    term: Term
    symm: bool = False
    erase: bool = False


@dataclass(frozen=True, slots=True)
class CaseTarget(Node):
    """What `cases`, `induction` and `rcases` work on: `e`, or `h : e` which also keeps the equation."""

    term: Term
    name: str | None = None


@dataclass(frozen=True, slots=True)
class InductionAlt(Node):
    """`| succ n ih => tactics` or `| succ n ih => ?_`. `| a | b x => t` comes as two alternatives with one `rhs`.

    The name of the constructor is as written (`succ`, or `_` for all that are left); unnamed arguments are `_`;
    `explicit` stands for `| @succ n ih`, where implicit arguments are named too.
    """

    ctor: str
    names: tuple[str, ...]
    rhs: "TacticSeq | Hole | SyntheticHole"
    explicit: bool = False


class RcasesPattern(Node):
    """Patterns of `rcases` and `obtain`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class PatName(RcasesPattern):
    """A name, `_` (keep, without a usable name), `rfl` (substitute) or `-` (clear)."""

    name: str


@dataclass(frozen=True, slots=True)
class PatTuple(RcasesPattern):
    """`⟨p, q, r⟩`."""

    items: tuple[RcasesPattern, ...]


@dataclass(frozen=True, slots=True)
class PatAlts(RcasesPattern):
    """`p | q`."""

    alts: tuple[RcasesPattern, ...]


@dataclass(frozen=True, slots=True)
class PatTyped(RcasesPattern):
    """`(p : T)`."""

    pattern: RcasesPattern
    type: Term


# ---------------------------------------------------------------------------------------------------------------------
# Tactics: one class each


@dataclass(frozen=True, slots=True)
class IntroStx(Tactic):
    """`intro x _ y`; without names one hypothesis is introduced under an inaccessible name."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IntrosStx(Tactic):
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExactStx(Tactic):
    term: Term


@dataclass(frozen=True, slots=True)
class ApplyStx(Tactic):
    term: Term


@dataclass(frozen=True, slots=True)
class RefineStx(Tactic):
    term: Term


@dataclass(frozen=True, slots=True)
class AssumptionStx(Tactic):
    pass


@dataclass(frozen=True, slots=True)
class RflStx(Tactic):
    pass


@dataclass(frozen=True, slots=True)
class ConstructorStx(Tactic):
    pass


@dataclass(frozen=True, slots=True)
class LeftStx(Tactic):
    pass


@dataclass(frozen=True, slots=True)
class RightStx(Tactic):
    pass


@dataclass(frozen=True, slots=True)
class ExistsStx(Tactic):
    """`exists a, b`."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class ExfalsoStx(Tactic):
    pass


@dataclass(frozen=True, slots=True)
class ContradictionStx(Tactic):
    pass


@dataclass(frozen=True, slots=True)
class CasesStx(Tactic):
    """`cases h`, `cases e with | ..`; `alts` is None without `with`."""

    targets: tuple[CaseTarget, ...]
    alts: tuple[InductionAlt, ...] | None = None
    using: Term | None = None


@dataclass(frozen=True, slots=True)
class InductionStx(Tactic):
    """`induction n generalizing m with | ..`; `alts` is None without `with`."""

    targets: tuple[CaseTarget, ...]
    alts: tuple[InductionAlt, ...] | None = None
    using: Term | None = None
    generalizing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RcasesStx(Tactic):
    """`rcases h with ⟨a, b⟩ | c`; the pattern is None without `with`."""

    targets: tuple[CaseTarget, ...]
    pattern: RcasesPattern | None


@dataclass(frozen=True, slots=True)
class ObtainStx(Tactic):
    """`obtain ⟨a, b⟩ : T := e`; pattern and type may be missing, and without a value `T` is a new goal."""

    pattern: RcasesPattern | None
    type: Term | None
    value: Term | None


@dataclass(frozen=True, slots=True)
class RwStx(Tactic):
    """`rw [h, ← g] at k`; `try_rfl` is False for `rewrite`."""

    rules: tuple[RwRule, ...]
    location: Location
    try_rfl: bool = True


@dataclass(frozen=True, slots=True)
class SimpStx(Tactic):
    """`simp`, `simp only [h, ← g, -k, *] at l`; `star` says that the list holds `*`."""

    only: bool
    lemmas: tuple[SimpLemma, ...]
    star: bool
    location: Location


@dataclass(frozen=True, slots=True)
class SimpAllStx(Tactic):
    only: bool
    lemmas: tuple[SimpLemma, ...]


@dataclass(frozen=True, slots=True)
class DecideStx(Tactic):
    pass


@dataclass(frozen=True, slots=True)
class TrivialStx(Tactic):
    pass


@dataclass(frozen=True, slots=True)
class ByCasesStx(Tactic):
    """`by_cases h : p`; the name is None for `by_cases p`."""

    name: str | None
    prop: Term


@dataclass(frozen=True, slots=True)
class HaveStx(Tactic):
    """`have h : T := e`; the name is `this` when none is given. `have h (x : A) : T := e` comes as `∀ (x : A), T` and
    `fun (x : A) => e`."""

    name: str
    type: Term | None
    value: Term


@dataclass(frozen=True, slots=True)
class ShowStx(Tactic):
    type: Term


@dataclass(frozen=True, slots=True)
class ChangeStx(Tactic):
    type: Term
    location: Location


@dataclass(frozen=True, slots=True)
class SpecializeStx(Tactic):
    """`specialize h a b`: the term is an application of a hypothesis."""

    term: Term


@dataclass(frozen=True, slots=True)
class RevertStx(Tactic):
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SubstStx(Tactic):
    """`subst h k`: equations or variables."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class InjectionStx(Tactic):
    """`injection h with h₁ h₂`."""

    term: Term
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RenameIStx(Tactic):
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SymmStx(Tactic):
    location: Location


@dataclass(frozen=True, slots=True)
class UnfoldStx(Tactic):
    names: tuple[str, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class SplitStx(Tactic):
    location: Location


@dataclass(frozen=True, slots=True)
class AcRflStx(Tactic):
    pass


@dataclass(frozen=True, slots=True)
class OmegaStx(Tactic):
    pass


@dataclass(frozen=True, slots=True)
class GrindStx(Tactic):
    """`grind`, `grind [h]`, `grind only [h]`."""

    only: bool = False
    lemmas: tuple[SimpLemma, ...] = ()


@dataclass(frozen=True, slots=True)
class SorryStx(Tactic):
    pass


@dataclass(frozen=True, slots=True)
class SkipStx(Tactic):
    pass


@dataclass(frozen=True, slots=True)
class DoneStx(Tactic):
    pass


@dataclass(frozen=True, slots=True)
class RotateLeftStx(Tactic):
    count: int = 1


@dataclass(frozen=True, slots=True)
class RotateRightStx(Tactic):
    count: int = 1


# ---------------------------------------------------------------------------------------------------------------------
# Tactics: combinators


@dataclass(frozen=True, slots=True)
class AndThenStx(Tactic):
    """`first <;> then`: `then` runs on every goal that `first` leaves."""

    first: Tactic
    then: Tactic


@dataclass(frozen=True, slots=True)
class BulletStx(Tactic):
    """`· tactics`: the first goal must be closed."""

    tactics: TacticSeq


@dataclass(frozen=True, slots=True)
class BraceStx(Tactic):
    """`{ tactics }`: the first goal must be closed."""

    tactics: TacticSeq


@dataclass(frozen=True, slots=True)
class ParenStx(Tactic):
    """`(t; u)`: grouping alone."""

    tactics: TacticSeq


@dataclass(frozen=True, slots=True)
class CaseStx(Tactic):
    """`case tag x y => tactics`; several tags with `case a | b => ..`, the tag `_` is the first goal."""

    tags: tuple[tuple[str, tuple[str, ...]], ...]
    tactics: TacticSeq


@dataclass(frozen=True, slots=True)
class NextStx(Tactic):
    names: tuple[str, ...]
    tactics: TacticSeq


@dataclass(frozen=True, slots=True)
class AllGoalsStx(Tactic):
    tactics: TacticSeq


@dataclass(frozen=True, slots=True)
class AnyGoalsStx(Tactic):
    tactics: TacticSeq


@dataclass(frozen=True, slots=True)
class FocusStx(Tactic):
    tactics: TacticSeq


@dataclass(frozen=True, slots=True)
class FirstStx(Tactic):
    """`first | t | u`."""

    alts: tuple[TacticSeq, ...]


@dataclass(frozen=True, slots=True)
class TryStx(Tactic):
    tactics: TacticSeq


@dataclass(frozen=True, slots=True)
class RepeatStx(Tactic):
    tactics: TacticSeq


# ---------------------------------------------------------------------------------------------------------------------
# Commands


class Command(Node):
    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Modifiers(Node):
    """What stands before a declaration: attribute names (`simp`, `reducible`, ...), words such as `protected`, text."""

    attributes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Signature(Node):
    """`name.{u} (a : A) : T`. `name` is None for `example`, whose span is then the word `example`; `type` is None when
    it is left out. `pos:end` spans the name: messages about the whole declaration point there."""

    name: str | None
    level_params: tuple[str, ...]
    binders: tuple[Binder, ...]
    type: Term | None


@dataclass(frozen=True, slots=True)
class TheoremCmd(Command):
    modifiers: Modifiers
    signature: Signature
    value: Term | tuple[MatchAlt, ...]


@dataclass(frozen=True, slots=True)
class ExampleCmd(Command):
    modifiers: Modifiers
    signature: Signature
    value: Term | tuple[MatchAlt, ...]


@dataclass(frozen=True, slots=True)
class DefCmd(Command):
    """`def` or (`abbrev` set) `abbrev`; the value is a term or the equations `| p => e`."""

    modifiers: Modifiers
    signature: Signature
    value: Term | tuple[MatchAlt, ...]
    abbrev: bool = False


@dataclass(frozen=True, slots=True)
class AxiomCmd(Command):
    modifiers: Modifiers
    signature: Signature


@dataclass(frozen=True, slots=True)
class CtorStx(Node):
    """`| succ (n : Nat) : Nat`; the type is None when left out."""

    name: str
    binders: tuple[Binder, ...]
    type: Term | None


@dataclass(frozen=True, slots=True)
class InductiveCmd(Command):
    modifiers: Modifiers
    signature: Signature
    ctors: tuple[CtorStx, ...]


@dataclass(frozen=True, slots=True)
class StructureCmd(Command):
    """`structure S (p : A) : T where mk :: (x : B) ..`; `ctor` is `mk` when left out; fields are binders with types."""

    modifiers: Modifiers
    signature: Signature
    ctor: str
    fields: tuple[Binder, ...]


@dataclass(frozen=True, slots=True)
class NamespaceCmd(Command):
    name: str


@dataclass(frozen=True, slots=True)
class SectionCmd(Command):
    name: str | None


@dataclass(frozen=True, slots=True)
class EndCmd(Command):
    name: str | None


@dataclass(frozen=True, slots=True)
class OpenCmd(Command):
    """`open A B`; `inner` is the command of `open A in cmd`."""

    names: tuple[str, ...]
    inner: Command | None = None


@dataclass(frozen=True, slots=True)
class VariableCmd(Command):
    binders: tuple[Binder, ...]


@dataclass(frozen=True, slots=True)
class UniverseCmd(Command):
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SetOptionCmd(Command):
    """`set_option name value`; `inner` is the command of `set_option name value in cmd`."""

    name: str
    value: bool | int | str
    inner: Command | None = None


@dataclass(frozen=True, slots=True)
class AttributeCmd(Command):
    """`attribute [simp] a b`; an attribute to be erased starts with `-`."""

    attributes: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PrintAxiomsCmd(Command):
    name: str


@dataclass(frozen=True, slots=True)
class PrintCmd(Command):
    name: str


@dataclass(frozen=True, slots=True)
class CheckCmd(Command):
    term: Term
