"""Tactics: what they are made of, and one class each, combinators last."""

from dataclasses import dataclass, field

from nanolean.syntax.terms import Hole, Node, SyntheticHole, Tactic, TacticSeq, Term


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
    arrow: int = field(default=0, compare=False, repr=False, kw_only=True)
    """Where `=>` stands, which is blamed for goals that are left."""


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
    """`rw [h, ← g] at k`; `try_rfl` is False for `rewrite`; without `occurrences` all instances are replaced."""

    rules: tuple[RwRule, ...]
    location: Location
    try_rfl: bool = True
    occurrences: Occurrences | None = None


@dataclass(frozen=True, slots=True)
class SimpStx(Tactic):
    """`simp`, `simp only [h, ← g, -k, *] at l`; `star` says that the list holds `*`.

    `disch` are the tactics of `simp (disch := ..)`.
    """

    only: bool
    lemmas: tuple[SimpLemma, ...]
    star: bool
    location: Location
    disch: TacticSeq | None = None


@dataclass(frozen=True, slots=True)
class DsimpStx(Tactic):
    """`dsimp`, `dsimp only [f, g] at l`."""

    only: bool
    lemmas: tuple[SimpLemma, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class SimpAllStx(Tactic):
    only: bool
    lemmas: tuple[SimpLemma, ...]


@dataclass(frozen=True, slots=True)
class DecideStx(Tactic):
    """`decide +revert +kernel`."""

    revert: bool = False
    kernel: bool = False


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
class TraceStx(Tactic):
    """`trace "text"`."""

    text: str


@dataclass(frozen=True, slots=True)
class DoneStx(Tactic):
    pass


@dataclass(frozen=True, slots=True)
class RotateLeftStx(Tactic):
    count: int = 1


@dataclass(frozen=True, slots=True)
class RotateRightStx(Tactic):
    count: int = 1


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
    """`case tag x y => tactics`; several tags with `case a | b => ..`, the tag `_` is the first goal; `case'` may leave
    goals open."""

    tags: tuple[tuple[str, tuple[str, ...]], ...]
    tactics: TacticSeq
    closes: bool = True


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
class ClassicalStx(Tactic):
    """`classical`, with the tactics behind it to the end of the block."""

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
