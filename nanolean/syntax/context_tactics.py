"""Tactics that change hypotheses, turn the goal into others by a principle, and further combinators."""

from dataclasses import dataclass

from nanolean.syntax.tactics import Location, RcasesPattern, SimpLemma
from nanolean.syntax.terms import MatchAlt, Node, Tactic, TacticSeq, Term


@dataclass(frozen=True, slots=True)
class IntroPatternsStx(Tactic):
    """`intro x ⟨y, h⟩ (z : T)`: names, anonymous constructors and names with types."""

    patterns: tuple[RcasesPattern, ...]


@dataclass(frozen=True, slots=True)
class IntroMatchStx(Tactic):
    """`intro | p, q => tactics | ..`."""

    alts: tuple[MatchAlt, ...]


@dataclass(frozen=True, slots=True)
class RintroStx(Tactic):
    """`rintro x ⟨y, rfl⟩ (h | h)`."""

    patterns: tuple[RcasesPattern, ...]


@dataclass(frozen=True, slots=True)
class ClearStx(Tactic):
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConvStx(Tactic):
    """`conv at h in p => steps`."""

    hyp: str | None
    pattern: Term | None
    steps: TacticSeq


@dataclass(frozen=True, slots=True)
class ConvGoStx(Tactic):
    """A step of `conv` into a part: `lhs`, `rhs`, `arg i`, `intro x y`, `pattern p`."""

    kind: str
    number: int = 0
    names: tuple[str, ...] = ()
    term: Term | None = None


@dataclass(frozen=True, slots=True)
class ConvEnterStx(Tactic):
    steps: tuple[ConvGoStx, ...]


@dataclass(frozen=True, slots=True)
class ReplaceStx(Tactic):
    """`replace h : T := e`: the `have`, and the names that it binds."""

    have: Tactic
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RenameStx(Tactic):
    """`rename T => h`: the last hypothesis whose type fits `T`."""

    type: Term
    name: str


@dataclass(frozen=True, slots=True)
class LetStx(Tactic):
    """`let x : T := v`; binders as in the term `let`."""

    name: str
    type: Term | None
    value: Term


@dataclass(frozen=True, slots=True)
class HavePatternStx(Tactic):
    """`have ⟨x, h⟩ : T := e`, also with `let`."""

    pattern: RcasesPattern
    type: Term | None
    value: Term


@dataclass(frozen=True, slots=True)
class SufficesStx(Tactic):
    """`suffices h : T from e`, `suffices h : T by tactics` (then `value` is a `By`); the name is `this` when none is
    given."""

    name: str
    type: Term
    value: Term


@dataclass(frozen=True, slots=True)
class Generalization(Node):
    """`e = x`, or `h : e = x` which also keeps the equation."""

    equation_name: str | None
    term: Term
    name: str


@dataclass(frozen=True, slots=True)
class GeneralizeStx(Tactic):
    """`generalize h : e = x, f = y at k`."""

    args: tuple[Generalization, ...]
    location: Location = Location()


@dataclass(frozen=True, slots=True)
class InjectionsStx(Tactic):
    """`injections h₁ h₂`."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SubstVarsStx(Tactic):
    pass


@dataclass(frozen=True, slots=True)
class NomatchStx(Tactic):
    """`nomatch h, k`: none of the ways in which the terms could have been built is possible."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class NofunStx(Tactic):
    pass


@dataclass(frozen=True, slots=True)
class SimpaStx(Tactic):
    """`simpa`, `simpa only [h, *] using e`; `star` says that the list holds `*`."""

    only: bool
    lemmas: tuple[SimpLemma, ...]
    star: bool
    using: Term | None


@dataclass(frozen=True, slots=True)
class FunextStx(Tactic):
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExtStx(Tactic):
    """`ext x ⟨y, h⟩`; `once` for `ext1`."""

    patterns: tuple[RcasesPattern, ...]
    once: bool = False


@dataclass(frozen=True, slots=True)
class CongrStx(Tactic):
    """`congr`, `congr 2`."""

    depth: int | None = None


@dataclass(frozen=True, slots=True)
class AndIntrosStx(Tactic):
    pass


@dataclass(frozen=True, slots=True)
class RepeatPrimeStx(Tactic):
    """`repeat' tactics`, on every goal that appears; `repeat1'` has `once`: it must succeed at least once."""

    tactics: TacticSeq
    once: bool = False


@dataclass(frozen=True, slots=True)
class IterateStx(Tactic):
    """`iterate n tactics`; without a number as long as they succeed."""

    count: int | None
    tactics: TacticSeq


@dataclass(frozen=True, slots=True)
class SolveStx(Tactic):
    """`solve | t | u`: the first alternative that closes the goal."""

    alts: tuple[TacticSeq, ...]


@dataclass(frozen=True, slots=True)
class FailIfSuccessStx(Tactic):
    tactics: TacticSeq
