"""Tactics: what they are made of, and one class each, combinators last."""

from dataclasses import field

from nanolean.syntax.terms import Hole, Node, SyntheticHole, Tactic, TacticSeq, Term


class Location(Node):
    """`at h₁ h₂ ⊢` or `at *`. Without an `at` it is the goal alone."""

    hyps: tuple[str, ...] = ()
    goal: bool = True
    wildcard: bool = False


class RwRule(Node):
    """`h` or `← h`."""

    symm: bool
    term: Term


class Occurrences(Node):
    """`(occs := .pos [1, 3])`: which instances `rw` replaces, counted from 1; all others when not `positive`."""

    positive: bool
    numbers: tuple[int, ...]

    def __contains__(self, place: object) -> bool:
        return (place in self.numbers) == self.positive


class SimpLemma(Node):
    """`h`, `← h`, `↓ h` is refused; `-h` has `erase`."""

    term: Term
    symm: bool = False
    erase: bool = False


class CaseTarget(Node):
    """What `cases`, `induction` and `rcases` work on: `e`, or `h : e` which also keeps the equation."""

    term: Term
    name: str | None = None


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


class PatName(RcasesPattern):
    """A name, `_` (keep, without a usable name), `rfl` (substitute) or `-` (clear)."""

    name: str


class PatTuple(RcasesPattern):
    """`⟨p, q, r⟩`."""

    items: tuple[RcasesPattern, ...]


class PatAlts(RcasesPattern):
    """`p | q`."""

    alts: tuple[RcasesPattern, ...]


class PatTyped(RcasesPattern):
    """`(p : T)`."""

    pattern: RcasesPattern
    type: Term


class IntroStx(Tactic):
    """`intro x _ y`; without names one hypothesis is introduced under an inaccessible name."""

    names: tuple[str, ...]


class IntrosStx(Tactic):
    names: tuple[str, ...]


class ExactStx(Tactic):
    term: Term


class ApplyStx(Tactic):
    term: Term


class RefineStx(Tactic):
    term: Term


class AssumptionStx(Tactic):
    pass


class RflStx(Tactic):
    pass


class ConstructorStx(Tactic):
    pass


class LeftStx(Tactic):
    pass


class RightStx(Tactic):
    pass


class ExistsStx(Tactic):
    """`exists a, b`."""

    terms: tuple[Term, ...]


class ExfalsoStx(Tactic):
    pass


class ContradictionStx(Tactic):
    pass


class CasesStx(Tactic):
    """`cases h`, `cases e with | ..`; `alts` is None without `with`."""

    targets: tuple[CaseTarget, ...]
    alts: tuple[InductionAlt, ...] | None = None
    using: Term | None = None


class InductionStx(Tactic):
    """`induction n generalizing m with | ..`; `alts` is None without `with`."""

    targets: tuple[CaseTarget, ...]
    alts: tuple[InductionAlt, ...] | None = None
    using: Term | None = None
    generalizing: tuple[str, ...] = ()


class RcasesStx(Tactic):
    """`rcases h with ⟨a, b⟩ | c`; the pattern is None without `with`."""

    targets: tuple[CaseTarget, ...]
    pattern: RcasesPattern | None


class ObtainStx(Tactic):
    """`obtain ⟨a, b⟩ : T := e`; pattern and type may be missing, and without a value `T` is a new goal."""

    pattern: RcasesPattern | None
    type: Term | None
    value: Term | None


class RwStx(Tactic):
    """`rw [h, ← g] at k`; `try_rfl` is False for `rewrite`; without `occurrences` all instances are replaced."""

    rules: tuple[RwRule, ...]
    location: Location
    try_rfl: bool = True
    occurrences: Occurrences | None = None


class SimpStx(Tactic):
    """`simp`, `simp only [h, ← g, -k, *] at l`; `star` says that the list holds `*`.

    `disch` are the tactics of `simp (disch := ..)`.
    """

    only: bool
    lemmas: tuple[SimpLemma, ...]
    star: bool
    location: Location
    disch: TacticSeq | None = None


class DsimpStx(Tactic):
    """`dsimp`, `dsimp only [f, g] at l`."""

    only: bool
    lemmas: tuple[SimpLemma, ...]
    location: Location


class SimpAllStx(Tactic):
    only: bool
    lemmas: tuple[SimpLemma, ...]


class DecideStx(Tactic):
    """`decide +revert +kernel`."""

    revert: bool = False
    kernel: bool = False


class TrivialStx(Tactic):
    pass


class ByCasesStx(Tactic):
    """`by_cases h : p`; the name is None for `by_cases p`."""

    name: str | None
    prop: Term


class HaveStx(Tactic):
    """`have h : T := e`; the name is `this` when none is given. `have h (x : A) : T := e` comes as `∀ (x : A), T` and
    `fun (x : A) => e`."""

    name: str
    type: Term | None
    value: Term


class ShowStx(Tactic):
    type: Term


class ChangeStx(Tactic):
    type: Term
    location: Location


class SpecializeStx(Tactic):
    """`specialize h a b`: the term is an application of a hypothesis."""

    term: Term


class RevertStx(Tactic):
    names: tuple[str, ...]


class SubstStx(Tactic):
    """`subst h k`: equations or variables."""

    terms: tuple[Term, ...]


class InjectionStx(Tactic):
    """`injection h with h₁ h₂`."""

    term: Term
    names: tuple[str, ...]


class RenameIStx(Tactic):
    names: tuple[str, ...]


class SymmStx(Tactic):
    location: Location


class UnfoldStx(Tactic):
    names: tuple[str, ...]
    location: Location


class SplitStx(Tactic):
    location: Location


class AcRflStx(Tactic):
    pass


class OmegaStx(Tactic):
    pass


class GrindStx(Tactic):
    """`grind`, `grind [h]`, `grind only [h]`."""

    only: bool = False
    lemmas: tuple[SimpLemma, ...] = ()


class SorryStx(Tactic):
    pass


class SkipStx(Tactic):
    pass


class TraceStx(Tactic):
    """`trace "text"`."""

    text: str


class DoneStx(Tactic):
    pass


class RotateLeftStx(Tactic):
    count: int = 1


class RotateRightStx(Tactic):
    count: int = 1


class AndThenStx(Tactic):
    """`first <;> then`: `then` runs on every goal that `first` leaves."""

    first: Tactic
    then: Tactic


class BulletStx(Tactic):
    """`· tactics`: the first goal must be closed."""

    tactics: TacticSeq


class BraceStx(Tactic):
    """`{ tactics }`: the first goal must be closed."""

    tactics: TacticSeq


class ParenStx(Tactic):
    """`(t; u)`: grouping alone."""

    tactics: TacticSeq


class CaseStx(Tactic):
    """`case tag x y => tactics`; several tags with `case a | b => ..`, the tag `_` is the first goal; `case'` may leave
    goals open."""

    tags: tuple[tuple[str, tuple[str, ...]], ...]
    tactics: TacticSeq
    closes: bool = True


class NextStx(Tactic):
    names: tuple[str, ...]
    tactics: TacticSeq


class AllGoalsStx(Tactic):
    tactics: TacticSeq


class AnyGoalsStx(Tactic):
    tactics: TacticSeq


class FocusStx(Tactic):
    tactics: TacticSeq


class ClassicalStx(Tactic):
    """`classical`, with the tactics behind it to the end of the block."""

    tactics: TacticSeq


class FirstStx(Tactic):
    """`first | t | u`."""

    alts: tuple[TacticSeq, ...]


class TryStx(Tactic):
    tactics: TacticSeq


class RepeatStx(Tactic):
    tactics: TacticSeq
