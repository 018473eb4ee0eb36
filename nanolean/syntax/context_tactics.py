"""Tactics that change hypotheses, turn the goal into others by a principle, and further combinators."""

from nanolean.syntax.tactics import Location, RcasesPattern, SimpLemma
from nanolean.syntax.terms import MatchAlt, Node, Tactic, TacticSeq, Term


class IntroPatternsStx(Tactic):
    """`intro x ⟨y, h⟩ (z : T)`: names, anonymous constructors and names with types."""

    patterns: tuple[RcasesPattern, ...]


class IntroMatchStx(Tactic):
    """`intro | p, q => tactics | ..`."""

    alts: tuple[MatchAlt, ...]


class RintroStx(Tactic):
    """`rintro x ⟨y, rfl⟩ (h | h)`."""

    patterns: tuple[RcasesPattern, ...]


class ClearStx(Tactic):
    names: tuple[str, ...]


class ConvStx(Tactic):
    """`conv at h in p => steps`."""

    hyp: str | None
    pattern: Term | None
    steps: TacticSeq


class ConvGoStx(Tactic):
    """A step of `conv` into a part: `lhs`, `rhs`, `arg i`, `intro x y`, `pattern p`."""

    kind: str
    number: int = 0
    names: tuple[str, ...] = ()
    term: Term | None = None


class ConvEnterStx(Tactic):
    steps: tuple[ConvGoStx, ...]


class ReplaceStx(Tactic):
    """`replace h : T := e`: the `have`, and the names that it binds."""

    have: Tactic
    names: tuple[str, ...]


class RenameStx(Tactic):
    """`rename T => h`: the last hypothesis whose type fits `T`."""

    type: Term
    name: str


class LetStx(Tactic):
    """`let x : T := v`; binders as in the term `let`."""

    name: str
    type: Term | None
    value: Term


class HavePatternStx(Tactic):
    """`have ⟨x, h⟩ : T := e`, also with `let`."""

    pattern: RcasesPattern
    type: Term | None
    value: Term


class SufficesStx(Tactic):
    """`suffices h : T from e`, `suffices h : T by tactics` (then `value` is a `By`); the name is `this` when none is
    given."""

    name: str
    type: Term
    value: Term


class Generalization(Node):
    """`e = x`, or `h : e = x` which also keeps the equation."""

    equation_name: str | None
    term: Term
    name: str


class GeneralizeStx(Tactic):
    """`generalize h : e = x, f = y at k`."""

    args: tuple[Generalization, ...]
    location: Location = Location()


class InjectionsStx(Tactic):
    """`injections h₁ h₂`."""

    names: tuple[str, ...]


class SubstVarsStx(Tactic):
    pass


class NomatchStx(Tactic):
    """`nomatch h, k`: none of the ways in which the terms could have been built is possible."""

    terms: tuple[Term, ...]


class NofunStx(Tactic):
    pass


class SimpaStx(Tactic):
    """`simpa`, `simpa only [h, *] using e`; `star` says that the list holds `*`."""

    only: bool
    lemmas: tuple[SimpLemma, ...]
    star: bool
    using: Term | None


class FunextStx(Tactic):
    names: tuple[str, ...]


class ExtStx(Tactic):
    """`ext x ⟨y, h⟩`; `once` for `ext1`."""

    patterns: tuple[RcasesPattern, ...]
    once: bool = False


class CongrStx(Tactic):
    """`congr`, `congr 2`."""

    depth: int | None = None


class AndIntrosStx(Tactic):
    pass


class RepeatPrimeStx(Tactic):
    """`repeat' tactics`, on every goal that appears; `repeat1'` has `once`: it must succeed at least once."""

    tactics: TacticSeq
    once: bool = False


class IterateStx(Tactic):
    """`iterate n tactics`; without a number as long as they succeed."""

    count: int | None
    tactics: TacticSeq


class SolveStx(Tactic):
    """`solve | t | u`: the first alternative that closes the goal."""

    alts: tuple[TacticSeq, ...]


class FailIfSuccessStx(Tactic):
    tactics: TacticSeq
