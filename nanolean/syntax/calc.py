"""Chains of relations, as a term and as a tactic: `calc a = b := p` and the steps below it."""

from dataclasses import dataclass

from nanolean.syntax.nodes import Node, Tactic, Term


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
