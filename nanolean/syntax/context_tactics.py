"""Tactics that add, take apart, rename or remove hypotheses."""

from dataclasses import dataclass

from nanolean.syntax.nodes import Node, Tactic, Term
from nanolean.syntax.tactic_parts import RcasesPattern


@dataclass(frozen=True, slots=True)
class IntroPatternsStx(Tactic):
    """`intro x ⟨y, h⟩ (z : T)`: names, anonymous constructors and names with types."""

    patterns: tuple[RcasesPattern, ...]


@dataclass(frozen=True, slots=True)
class RintroStx(Tactic):
    """`rintro x ⟨y, rfl⟩ (h | h)`."""

    patterns: tuple[RcasesPattern, ...]


@dataclass(frozen=True, slots=True)
class ClearStx(Tactic):
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
    """`generalize h : e = x, f = y`."""

    args: tuple[Generalization, ...]


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
