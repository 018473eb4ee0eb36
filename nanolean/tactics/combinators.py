"""Tactics that run tactics, and those that only order the goals."""

from collections.abc import Callable
from functools import partial

from nanolean.proof_errors import Aborted, ProofError, TacticError
from nanolean.syntax import (
    AllGoalsStx,
    AndIntrosStx,
    AndThenStx,
    AnyGoalsStx,
    AppStx,
    BraceStx,
    BulletStx,
    CaseStx,
    ClassicalStx,
    DoneStx,
    FailIfSuccessStx,
    FirstStx,
    FocusStx,
    Ident,
    IterateStx,
    NextStx,
    ParenStx,
    RefineStx,
    RepeatPrimeStx,
    RepeatStx,
    RotateLeftStx,
    RotateRightStx,
    SkipStx,
    SolveStx,
    SyntheticHole,
    TacticSeq,
    TryStx,
)
from nanolean.tactics.basic import rename_inaccessible
from nanolean.tactics.core import TacticContext, run_seq, run_tactic_node, tactic
from nanolean.tactics.goals import goal_tag

REPEAT_COST = 1000
"""Steps that each round of `repeat` takes from the budget, so that a loop which changes nothing ends."""


def unsolved_goals(ctx: TacticContext) -> TacticError:
    """Lean's error for goals that had to be closed."""
    return TacticError("unsolved goals\n" + "\n\n".join(ctx.show_goal(goal) for goal in ctx.goals))


def close_main_with(ctx: TacticContext, seq: TacticSeq, blame: tuple[int, int] | None = None) -> None:
    """Run tactics on the main goal alone; they must close it, or the goal is admitted where errors are recovered from.

    Goals that are left are reported at the place `blame`, or at the tactics.
    """
    main = ctx.main
    rest = ctx.goals[1:]
    ctx.goals = [main]
    try:
        run_seq(ctx, seq)
        ctx.prune()
        if ctx.goals:
            raise unsolved_goals(ctx).at(*(blame or (seq.pos, seq.end)))
    # `closeUsingOrAdmit` of Lean: in a whole text the error is told and the goal admitted, so that the rest is checked.
    except ProofError as error:
        if not ctx.session.recover:
            raise
        ctx.session.report(error)
        ctx.session.admit(main)
    ctx.goals = rest


@tactic(ParenStx)
def paren_tactic(ctx: TacticContext, stx: ParenStx) -> None:
    """`(t; u)`: make one tactic of several; what is left open stays open, and if one is refused the whole is.

    ```lean
    example (p q r : Prop) (hp : p) : q → p ∨ r := by
      (intro hq; left)
    ```
    """
    run_seq(ctx, stx.tactics)


@tactic(BulletStx)
def bullet_tactic(ctx: TacticContext, stx: BulletStx) -> None:
    """`· tactics`: work on the first goal alone, which must be closed.

    ```lean
    example (p q : Prop) (h : p ∧ q) : q ∧ p := by
      constructor
      · exact h.right
    ```
    """
    close_main_with(ctx, stx.tactics, (stx.pos, stx.end))


@tactic(BraceStx)
def brace_tactic(ctx: TacticContext, stx: BraceStx) -> None:
    """`{ tactics }`: work on the first goal alone, which must be closed; Lean blames the closing brace for goals left.

    ```lean
    example (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
      constructor
      { exact hp }
    ```
    """
    close_main_with(ctx, stx.tactics, (stx.end - 1, stx.end))


@tactic(ClassicalStx)
def classical_tactic(ctx: TacticContext, stx: ClassicalStx) -> None:
    """`classical`: every proposition is decidable for the rest of the block, as where `Classical` is open.

    ```lean
    example (p : Nat → Prop) : ∃ f : Nat → Nat, ∀ n, p n → f n = 1 := by
      classical
      exact ⟨fun n => if p n then 1 else 0, fun n h => by simp [h]⟩
    ```
    """
    before = ctx.mctx.classical
    ctx.mctx.classical = before or "last"
    try:
        run_seq(ctx, stx.tactics)
    finally:
        ctx.mctx.classical = before


@tactic(FocusStx)
def focus_tactic(ctx: TacticContext, stx: FocusStx) -> None:
    """`focus t`: run `t` as if the first goal were the only one; what is left of it comes before the other goals.

    ```lean
    example (p q : Prop) (hp : p) (hq : q) : (p ∧ q) ∧ q := by
      constructor
      focus all_goals constructor
    ```
    """
    with ctx.focus():
        run_seq(ctx, stx.tactics)


@tactic(AndThenStx)
def and_then_tactic(ctx: TacticContext, stx: AndThenStx) -> None:
    """`<;> u`: behind a tactic, run `u` on every goal that it leaves.

    ```lean
    example (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
      constructor <;> assumption
    ```
    """
    with ctx.focus():
        # Focused: `u` is for the goals that `t` leaves, not for those that stood behind it.
        run_tactic_node(ctx, stx.first)
        on_all_goals(ctx, lambda: run_tactic_node(ctx, stx.then))


@tactic(AllGoalsStx)
def all_goals_tactic(ctx: TacticContext, stx: AllGoalsStx) -> None:
    """`all_goals t`: run `t` on every goal; refused when `t` is refused on one of them.

    At the top of a proof in a whole text Lean records the errors, admits those goals and goes on; so does NanoLean.

    ```lean
    example (n : Nat) : n = 0 ∨ n ≠ 0 := by
      cases n
      all_goals try (left; rfl)
    ```
    """
    on_all_goals(ctx, lambda: run_seq(ctx, stx.tactics))


def on_all_goals(ctx: TacticContext, work: Callable[[], None]) -> None:
    """Do something to every goal alone. Where errors are recovered from, all goals are tried before giving up."""
    goals, left, failed = list(ctx.goals), [], False
    for goal in goals:
        # A tactic on another goal may have determined this one.
        if ctx.mctx.is_assigned(goal):
            continue
        ctx.goals = [goal]
        try:
            work()
        except ProofError as error:
            if not ctx.session.recover:
                raise
            ctx.session.report(error)
            failed = True
        left += ctx.goals
    ctx.goals = left
    if failed:
        for goal in goals:
            ctx.session.admit(goal)
        raise Aborted


@tactic(AnyGoalsStx)
def any_goals_tactic(ctx: TacticContext, stx: AnyGoalsStx) -> None:
    """`any_goals t`: run `t` on every goal and keep those that refuse it; refused when all do.

    ```lean
    example (p q : Prop) (hp : p) : p ∧ q := by
      constructor
      any_goals assumption
    ```
    """
    left: list[str] = []
    success = False
    for goal in list(ctx.goals):
        if ctx.mctx.is_assigned(goal):
            continue
        ctx.goals = [goal]
        success = ctx.attempt(lambda: run_seq(ctx, stx.tactics)) or success
        left += ctx.goals
    ctx.goals = left
    if not success:
        raise TacticError("Tactic `any_goals` failed: no goal on which the tactic succeeds")


@tactic(FirstStx)
def first_tactic(ctx: TacticContext, stx: FirstStx) -> None:
    """`first | t | u`: run the first alternative that is not refused.

    ```lean
    example (p q : Prop) (hq : q) : p ∨ q := by
      first
      | left; assumption
      | right; assumption
    ```
    """
    mark = ctx.save()
    for place, alternative in enumerate(stx.alts):
        last = place == len(stx.alts) - 1
        try:
            # An error in an earlier alternative means to try the next, so it must not be recovered from.
            with ctx.session.recovering(last):
                run_seq(ctx, alternative)
            return
        except ProofError:
            if last:
                raise
            ctx.restore(mark)


@tactic(TryStx)
def try_tactic(ctx: TacticContext, stx: TryStx) -> None:
    """`try t`: run `t`, or do nothing where it is refused.

    ```lean
    example (p q : Prop) (hp : p) : p ∧ q := by
      constructor <;> try assumption
    ```
    """
    ctx.attempt(lambda: run_seq(ctx, stx.tactics))


@tactic(RepeatStx)
def repeat_tactic(ctx: TacticContext, stx: RepeatStx) -> None:
    """`repeat t`: run `t` on the first goal until it is refused, and then on what it has left.

    ```lean
    example (a b c d : Nat) : a + b + c + d = a + (b + (c + d)) := by
      repeat rw [Nat.add_assoc]
    ```
    """
    # A loop where Lean has a recursive macro, `first | (t; repeat t) | skip`: Lean ends one that goes on for ever by
    # its recursion depth, the budget ends this.
    while ctx.attempt(lambda: run_seq(ctx, stx.tactics)):
        ctx.mctx.budget.spend(REPEAT_COST)


# -- cases and order ---------------------------------------------------------------------------------------------------


@tactic(CaseStx)
def case_tactic(ctx: TacticContext, stx: CaseStx) -> None:
    """`case tag x y => tactics`, `case' tag => tactics`: close the goal with that tag, with names for its last
    inaccessible hypotheses; `case'` may leave goals open.

    `_` stands for any tag; several tags with the same proof are separated by `|`.

    ```lean
    example (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
      constructor
      case right => exact hq
    ```

    ```lean
    example (p q : Prop) : p ∧ q := by
      constructor
      case' right => skip
    ```
    """
    for tag, names in stx.tags:
        goal = find_case(ctx, tag)
        rest = [other for other in ctx.goals if other != goal]
        ctx.goals = [rename_inaccessible(ctx, goal, list(names)), *rest]
        if stx.closes:
            close_main_with(ctx, stx.tactics)
            continue
        with ctx.focus():
            run_seq(ctx, stx.tactics)


def find_case(ctx: TacticContext, tag: str) -> str:
    """Find the goal with a tag: exactly, else the first whose tag ends, else begins, with it; `_` is the first goal."""
    ctx.prune()
    if tag == "_":
        return ctx.main
    tags = [(goal, goal_tag(ctx.mctx, goal)) for goal in ctx.goals]
    # `findTag?` of Lean's Elab/Tactic/BuiltinTactic.lean: exactly, then as a suffix, then as a prefix.
    tests = (
        lambda full: full == tag,
        lambda full: full.endswith("." + tag),
        lambda full: full.startswith(tag + "."),
    )
    for test in tests:
        for goal, full in tags:
            if test(full):
                return goal
    raise ctx.no_such_case(tag)


@tactic(NextStx)
def next_tactic(ctx: TacticContext, stx: NextStx) -> None:
    """`next x y => tactics`: close the first goal, with names for its last inaccessible hypotheses.

    ```lean
    example (p q : Prop) (h : p ∨ q) : q ∨ p := by
      cases h
      next hp => exact Or.inr hp
    ```
    """
    ctx.replace_main([rename_inaccessible(ctx, ctx.main, list(stx.names))])
    close_main_with(ctx, stx.tactics)


@tactic(SkipStx)
def skip_tactic(ctx: TacticContext, stx: SkipStx) -> None:
    """`skip`: do nothing.

    ```lean
    example (p : Prop) (hp : p) : p := by
      skip
    ```
    """


@tactic(DoneStx)
def done_tactic(ctx: TacticContext, stx: DoneStx) -> None:
    """`done`: be refused unless no goals are left.

    ```lean
    example (p q : Prop) (hp : p) : p ∧ q := by
      constructor
      done
    ```
    """
    ctx.prune()
    if ctx.goals:
        raise unsolved_goals(ctx)


@tactic(RotateLeftStx)
def rotate_left_tactic(ctx: TacticContext, stx: RotateLeftStx) -> None:
    """`rotate_left n`: move the first `n` goals behind the others; without a number, one.

    ```lean
    example (p q r : Prop) : p ∧ q ∧ r := by
      refine ⟨?a, ?b, ?c⟩
      rotate_left
    ```
    """
    _rotate(ctx, stx.count)


@tactic(RotateRightStx)
def rotate_right_tactic(ctx: TacticContext, stx: RotateRightStx) -> None:
    """`rotate_right n`: move the last `n` goals in front of the others.

    ```lean
    example (p q r : Prop) : p ∧ q ∧ r := by
      refine ⟨?a, ?b, ?c⟩
      rotate_right
    ```
    """
    _rotate(ctx, -stx.count)


def _rotate(ctx: TacticContext, count: int) -> None:
    if ctx.goals:
        count %= len(ctx.goals)
        ctx.goals = ctx.goals[count:] + ctx.goals[:count]


ITERATE_COST = 50
"""Steps that each round of `iterate` takes from the budget, since rounds may be nested."""


@tactic(RepeatPrimeStx)
def repeat_prime_tactic(ctx: TacticContext, stx: RepeatPrimeStx) -> None:
    """`repeat' t`, `repeat1' t`: run `t` on every goal, and on the goals that this makes; `repeat1'` must succeed
    once.

    ```lean
    example (p q r : Prop) (hp : p) (hq : q) (hr : r) : (p ∧ q) ∧ r := by
      repeat' first | assumption | constructor
    ```

    ```lean
    example (p : Prop) (hp : p) : p := by
      repeat1' constructor
    ```
    """
    if not _exhaust(ctx, stx.tactics) and stx.once:
        raise TacticError("repeat1' made no progress")


def _exhaust(ctx: TacticContext, seq: TacticSeq) -> bool:
    """Run tactics on all goals as long as they succeed; whether they ever did."""
    todo, left = list(ctx.goals), []
    progress = False
    while todo:
        goal, todo = todo[0], todo[1:]
        if ctx.mctx.is_assigned(goal):
            continue
        ctx.goals = [goal]
        if ctx.attempt(lambda: run_seq(ctx, seq)):
            ctx.mctx.budget.spend(REPEAT_COST)
            progress = True
            # Depth first, so that the goals that are left keep the order of the proof.
            todo = ctx.goals + todo
        else:
            left.append(goal)
    ctx.goals = left
    return progress


@tactic(IterateStx)
def iterate_tactic(ctx: TacticContext, stx: IterateStx) -> None:
    """`iterate n t`: run `t` exactly `n` times; without a number as long as it is not refused.

    ```lean
    example (p q r s : Prop) : p → q → r → s → p := by
      iterate 2 intro
    ```
    """
    if stx.count is None:
        repeat_tactic(ctx, RepeatStx(stx.tactics))
        return
    for _ in range(stx.count):
        ctx.mctx.budget.spend(ITERATE_COST)
        run_seq(ctx, stx.tactics)


@tactic(SolveStx)
def solve_tactic(ctx: TacticContext, stx: SolveStx) -> None:
    """`solve | t | u`: `first` where an alternative counts only if it closes the goal.

    ```lean
    example (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
      constructor
      solve | assumption
    ```
    """
    # The last one outside of `attempt`: its error is what the user sees, and may be recovered from.
    *others, last = stx.alts
    for alternative in others:
        if ctx.attempt(partial(close_main_with, ctx, alternative)):
            return
    close_main_with(ctx, last)


@tactic(FailIfSuccessStx)
def fail_if_success_tactic(ctx: TacticContext, stx: FailIfSuccessStx) -> None:
    """`fail_if_success t`: be refused where `t` succeeds; otherwise do nothing.

    ```lean
    example (n : Nat) : 0 + n = n := by
      fail_if_success rfl
      exact Nat.zero_add n
    ```
    """
    # Not by `attempt`, which would keep what succeeds.
    mark = ctx.save()
    try:
        run_seq(ctx, stx.tactics)
    except ProofError:
        ctx.restore(mark)
        return
    raise TacticError("The tactic provided to `fail_if_success` succeeded but was expected to fail")


@tactic(AndIntrosStx)
def and_intros_tactic(ctx: TacticContext, stx: AndIntrosStx) -> None:
    """`and_intros`: take a conjunction of any depth apart into its parts.

    ```lean
    example (p q r : Prop) (hp : p) (hq : q) (hr : r) : p ∧ q ∧ r := by
      and_intros <;> assumption
    ```
    """
    hole = SyntheticHole("_", pos=stx.pos, end=stx.end)
    both = AppStx(Ident("And.intro", pos=stx.pos, end=stx.end), (hole, hole), pos=stx.pos, end=stx.end)
    refine = RefineStx(both, pos=stx.pos, end=stx.end)
    with ctx.focus():
        _exhaust(ctx, TacticSeq((refine,), pos=stx.pos, end=stx.end))
