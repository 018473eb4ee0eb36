"""Tactics that turn the goal into others by a principle, and further combinators."""

from dataclasses import dataclass

from nanolean.syntax.nodes import Tactic, TacticSeq, Term
from nanolean.syntax.tactic_parts import RcasesPattern, SimpLemma


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
