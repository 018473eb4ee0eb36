"""What tactics are made of: locations, rules, alternatives, patterns."""

from dataclasses import dataclass

from nanolean.syntax.nodes import Node, TacticSeq, Term
from nanolean.syntax.terms import Hole, SyntheticHole


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
class Occurrences(Node):
    """`(occs := .pos [1, 3])`: which instances `rw` replaces, counted from 1; all others when not `positive`."""

    positive: bool
    numbers: tuple[int, ...]

    def __contains__(self, place: object) -> bool:
        return (place in self.numbers) == self.positive


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
    rhs: TacticSeq | Hole | SyntheticHole
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
