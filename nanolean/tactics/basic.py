"""Introducing, and giving terms: `intro intros exact refine have show change specialize revert rename_i sorry`."""

from collections.abc import Sequence

from nanolean.elab.api import elab_term, elab_type, finish
from nanolean.elab.calc import Chain, Relation, compose, elab_calc_steps, relation_of
from nanolean.elab.elaborator import Elaborator
from nanolean.elab.session import SorryRecord
from nanolean.kernel.expr import Expr, FVar, Let, MVar, Pi, get_app_fn, mk_app
from nanolean.meta.lctx import LocalContext, inaccessible
from nanolean.proof_errors import ProofError, TacticError
from nanolean.syntax import (
    By,
    Calc,
    CalcStx,
    ChangeStx,
    ExactStx,
    HaveStx,
    IntrosStx,
    IntroStx,
    RefineStx,
    RenameIStx,
    ReplaceStx,
    RevertStx,
    ShowStx,
    SorryStx,
    SpecializeStx,
    Term,
)
from nanolean.tactics.core import TacticContext, hyps_and_goal, run_tactic_node, tactic
from nanolean.tactics.goals import (
    append_tag,
    assert_hyp,
    change_target,
    goal_tag,
    goal_target,
    intro,
    local_name,
    new_goal,
    retype_hyp,
    revert,
    set_tag,
    try_clear,
    with_context,
    written_name,
)


@tactic(IntroStx)
def intro_tactic(ctx: TacticContext, stx: IntroStx) -> None:
    """`intro x y`: move the next variables or premises of the goal into the context, under these names.

    It unfolds `¬` and definitions to find them. `_`, or no name at all, leaves an inaccessible name; `intro ⟨a, b⟩`
    takes apart as `match` does. It is refused where there is nothing to introduce.

    ```lean
    example (p q : Prop) : p → q → p := by
      intro hp hq
    ```

    ```lean
    example (p q : Prop) : p ∧ q → q := by
      intro ⟨hp, hq⟩
    ```

    ```lean
    example (p q : Prop) : p ∨ q → q ∨ p := by
      intro
      | .inl hp => exact Or.inr hp
      | .inr hq => exact Or.inl hq
    ```
    """
    goal = ctx.main
    for name in stx.names or ("_",):
        _, goal = intro(ctx.mctx, goal, written_name(name))
    ctx.replace_main([goal])


@tactic(IntrosStx)
def intros_tactic(ctx: TacticContext, stx: IntrosStx) -> None:
    """`intros`: introduce everything that the goal shows, under inaccessible names; `intros x y` is `intro x y`.

    It unfolds nothing and never fails.

    ```lean
    example : ∀ a b : Nat, a = b → b = a := by
      intros
    ```
    """
    if stx.names:
        intro_tactic(ctx, IntroStx(stx.names))
        return
    goal = ctx.main
    # Only binders that are there: `intros` leaves `¬p` alone, where `intro` does not.
    while isinstance(goal_target(ctx.mctx, goal), Pi | Let):
        _, goal = intro(ctx.mctx, goal, None)
    ctx.replace_main([goal])


@tactic(ExactStx)
def exact_tactic(ctx: TacticContext, stx: ExactStx) -> None:
    """`exact e`: close the goal with a term whose type is the goal, up to what is equal by definition.

    Everything in the term must be determined: a `_` that nothing determines is an error.

    ```lean
    example (p q : Prop) (h : p ∧ q) : q ∧ p := by
      exact ⟨h.right, by exact h.left⟩
    ```

    ```lean
    example (p q : Prop) (hp : p) : p ∧ q := by
      exact hp
    ```

    Not here: `exact?`.

    `infer_instance`: close the goal by an instance, `exact inferInstance`.

    ```lean
    example (n : Nat) : Decidable (n < 3) := by
      infer_instance
    ```
    """
    ctx.close(elab_term(ctx.session, ctx.lctx, stx.term, ctx.target, recover=True).term)


@tactic(RefineStx)
def refine_tactic(ctx: TacticContext, stx: RefineStx) -> None:
    """`refine e`: `exact e` where each `?_` becomes a new goal, and each `?name` one with that tag.

    ```lean
    example (p q : Prop) : p ∧ q := by
      refine ⟨?first, ?second⟩
    ```

    `if h : p then t else u`: prove the goal by `t` with `h : p` and by `u` with `h : ¬p`; `?_` in their place is a
    goal.

    ```lean
    example (n : Nat) : n = 3 ∨ n ≠ 3 := by
      if h : n = 3 then
        left
        exact h
      else ?_
    ```

    Differs from Lean: the hypothesis needs a name and the proposition must be decidable; `by_cases` has neither
    limit.

    `match e with | pattern => tactics | ..`: take `e` apart, each alternative proved by its tactics.

    The alternatives must cover all cases. `e` is replaced in the goal, not in hypotheses: match on those too.

    ```lean
    example (n : Nat) : n = 0 ∨ 0 < n := by
      match n with
      | 0 => exact .inl rfl
      | k + 1 => ?_
    ```
    """
    refine_main(ctx, stx.term)


def refine_main(ctx: TacticContext, term: Term, suffix: str = "refine") -> None:
    """Close the main goal with a term; goals for its `?_` take the place of the main goal."""
    goal = ctx.main
    refined = elab_term(ctx.session, ctx.lctx, term, ctx.target, holes="goals", recover=True)
    ctx.mctx.assign(goal, refined.term)
    tag_goals(ctx, list(refined.goals), goal_tag(ctx.mctx, goal), suffix)
    ctx.replace_main(refined.goals)


def tag_goals(ctx: TacticContext, goals: list[str], parent: str, suffix: str) -> None:
    """Tag new goals: a single unnamed one inherits the tag; several are numbered `suffix_1`, `suffix_2`, ..."""
    # `tagUntaggedGoals` of Lean: what the user called `?name` keeps that.
    unnamed = [goal for goal in goals if not goal_tag(ctx.mctx, goal)]
    if len(unnamed) == 1:
        set_tag(ctx.mctx, unnamed[0], parent)
        return
    for i, goal in enumerate(unnamed, 1):
        set_tag(ctx.mctx, goal, append_tag(parent, f"{suffix}_{i}"))


@tactic(HaveStx)
def have_tactic(ctx: TacticContext, stx: HaveStx) -> None:
    """`have h : T := e`: add the hypothesis `h : T`, proved by `e`; without a name it is called `this`.

    `T` may be left out where `e` determines it. A `?_` in `e` becomes a goal. A pattern in place of the name takes
    apart.

    ```lean
    example (p q : Prop) (h : p ∧ q) : q ∧ p := by
      have hp : p := h.left
      have ⟨_, hq⟩ := h
    ```
    """
    goal, lctx = ctx.main, ctx.lctx
    earlier = len(ctx.session.notes)
    type_ = stated_type(ctx, stx.type, recover=True)
    if isinstance(stx.value, By) and any(note.severity == "error" for note in ctx.session.notes[earlier:]):
        # Lean runs the block on the goal `body`, which it does not get to where the type has errors.
        raise ctx.no_such_case("body").at(stx.value.pos, stx.value.pos + len("by"))
    proof = elab_term(ctx.session, lctx, stx.value, type_, holes="goals", recover=True)
    if type_ is None:
        type_ = ctx.mctx.instantiate(ctx.mctx.infer_type(proof.term))
    _, new = assert_hyp(ctx.mctx, goal, local_name(stx.name), type_, proof.term)
    ctx.replace_main([new, *proof.goals])
    tag_definition_goals(ctx, new, proof.goals)


@tactic(ReplaceStx)
def replace_tactic(ctx: TacticContext, stx: ReplaceStx) -> None:
    """`replace h : T := e`: as `have`, and a hypothesis of this name goes, if nothing else mentions it.

    ```lean
    example (p q : Prop) (h : p ∧ q) : q := by
      replace h := h.2
    ```
    """
    old = [decl.fvar_id for name in stx.names if (decl := ctx.lctx.find(name)) is not None]
    run_tactic_node(ctx, stx.have)
    if ctx.goals:
        ctx.replace_main([try_clear(ctx.mctx, ctx.main, old)])


def stated_type(ctx: TacticContext, stx: Term | None, recover: bool = False) -> Expr | None:
    """Elaborate the type that a tactic states for a term; None where it states none."""
    if stx is None:
        return None
    return elab_type(ctx.session, ctx.lctx, stx, recover=recover)


def tag_definition_goals(ctx: TacticContext, new: str, holes: Sequence[str]) -> None:
    """Tag the goals of `have h := e`, which Lean refines by `have h := e; ?_`: the main goal `new` is the last hole."""
    parent = goal_tag(ctx.mctx, new)
    set_tag(ctx.mctx, new, "")
    tag_goals(ctx, [*holes, new], parent, "refine")


@tactic(ShowStx)
def show_tactic(ctx: TacticContext, stx: ShowStx) -> None:
    """`show T`: state the goal as `T`, which must be equal to it by definition; the first goal that fits moves to the
    front.

    ```lean
    example (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
      constructor
      show q
    ```
    """
    first = ctx.main
    # `evalShow` of Lean: of several goals the first one that has this statement is meant, and it comes to the front.
    for place, goal in enumerate(ctx.goals):
        mark = ctx.mctx.save()
        try:
            type_ = elab_type(ctx.session, ctx.mctx.decl(goal).lctx, stx.type, holes="natural")
            if ctx.mctx.is_def_eq(goal_target(ctx.mctx, goal), type_):
                new = change_target(ctx.mctx, goal, ctx.mctx.instantiate(type_))
                ctx.goals = [new, *ctx.goals[:place], *ctx.goals[place + 1 :]]
                return
        except ProofError:
            pass
        ctx.mctx.restore(mark)
    shown = ctx.show(elab_type(ctx.session, ctx.lctx, stx.type, holes="natural"))
    target = ctx.show(goal_target(ctx.mctx, first))
    raise ctx.with_goal(f"Tactic `show` failed: pattern\n  {shown}\nis not definitionally equal to target\n  {target}")


@tactic(ChangeStx)
def change_tactic(ctx: TacticContext, stx: ChangeStx) -> None:
    """`change T`: put `T` in the place of the goal, or with `at h` of the type of `h`; equal by definition, `_` fits
    anything.

    ```lean
    example (a b : Nat) (h : Nat.succ a = Nat.succ b) : a = b := by
      change a + 1 = b + 1 at h
    ```
    """
    hyps, goal_too = hyps_and_goal(ctx, stx.location)
    for name in hyps:
        decl = ctx.hyp(name)
        type_ = _changed(ctx, stx.type, ctx.type_of(decl), f"hypothesis `{name}`")
        new, _ = retype_hyp(ctx.mctx, ctx.main, decl.fvar_id, type_)
        ctx.replace_main([new])
    if goal_too:
        type_ = _changed(ctx, stx.type, ctx.target, "target")
        ctx.replace_main([change_target(ctx.mctx, ctx.main, type_)])


def _changed(ctx: TacticContext, stx: Term, old: Expr, what: str) -> Expr:
    pattern = elab_term(ctx.session, ctx.lctx, stx, ctx.mctx.infer_type(old), holes="natural")
    if not ctx.mctx.is_def_eq(old, pattern.term):
        text = f"'change' tactic failed, pattern\n  {ctx.show(pattern.term)}\nis not definitionally equal to {what}\n  "
        raise ctx.with_goal(text + ctx.show(old))
    new = ctx.mctx.instantiate(pattern.term)
    # A hole of the pattern that unification leaves open would be a hole in the goal that nobody has to fill.
    if any(not ctx.mctx.is_assigned(i) for i in pattern.natural):
        raise TacticError("'change' tactic failed: the pattern contains metavariables that are not determined")
    return new


@tactic(SpecializeStx)
def specialize_tactic(ctx: TacticContext, stx: SpecializeStx) -> None:
    """`specialize h a b`: apply the hypothesis `h` to arguments and put the result in its place.

    ```lean
    example (p q : Prop) (h : p → q) (hp : p) : q := by
      specialize h hp
    ```
    """
    applied = elab_term(ctx.session, ctx.lctx, stx.term, None, holes="goals")
    head = get_app_fn(applied.term)
    decl = ctx.lctx.get(head.id) if isinstance(head, FVar) else None
    if decl is None:
        raise TacticError(
            "'specialize' requires a term of the form `h x_1 .. x_n` where `h` appears in the local context"
        )
    type_ = ctx.mctx.instantiate(ctx.mctx.infer_type(applied.term))
    _, goal = assert_hyp(ctx.mctx, ctx.main, decl.user_name, type_, applied.term)
    lctx = ctx.mctx.decl(goal).lctx
    # What still depends on the old hypothesis keeps it, under a name that the new one does not shadow.
    goal = try_clear(ctx.mctx, goal, [decl.fvar_id])
    if decl.fvar_id in ctx.mctx.decl(goal).lctx:
        goal = with_context(ctx.mctx, goal, lctx.rename(decl.fvar_id, inaccessible(decl.user_name)))
    ctx.replace_main([goal, *applied.goals])


@tactic(RevertStx)
def revert_tactic(ctx: TacticContext, stx: RevertStx) -> None:
    """`revert h x`: move hypotheses back in front of the goal; what depends on them goes along.

    ```lean
    example (n : Nat) (h : n = 0) : n + n = 0 := by
      revert n
    ```
    """
    ids = [ctx.hyp(name).fvar_id for name in stx.names]
    _, goal = revert(ctx.mctx, ctx.main, ids)
    ctx.replace_main([goal])


@tactic(RenameIStx)
def rename_i_tactic(ctx: TacticContext, stx: RenameIStx) -> None:
    """`rename_i x y`: give names to the last inaccessible hypotheses, in their order; `_` leaves one as it is.

    ```lean
    example : ∀ a b : Nat, a = b → b = a := by
      intros
      rename_i x y h
    ```
    """
    ctx.replace_main([rename_inaccessible(ctx, ctx.main, list(stx.names))])


def rename_inaccessible(ctx: TacticContext, goal: str, names: list[str]) -> str:
    """Rename the last inaccessible or shadowed locals; return the goal in which they carry the names."""
    if not names:
        return goal
    lctx = ctx.mctx.decl(goal).lctx
    hidden = _inaccessible_ids(lctx)
    if len(names) > len(hidden):
        raise TacticError("too many variable names provided")
    for fvar_id, name in zip(hidden[len(hidden) - len(names) :], names):
        if name != "_":
            lctx = lctx.rename(fvar_id, name)
    return with_context(ctx.mctx, goal, lctx)


def _inaccessible_ids(lctx: LocalContext) -> list[str]:
    seen: set[str] = set()
    hidden = []
    for decl in reversed(list(lctx)):
        # A shadowed name is as unreachable as one with `✝` (`renameInaccessibleHyps` of Lean).
        if not decl.accessible or decl.user_name in seen:
            hidden.append(decl.fvar_id)
        seen.add(decl.user_name)
    return hidden[::-1]


@tactic(SorryStx)
def sorry_tactic(ctx: TacticContext, stx: SorryStx) -> None:
    """`sorry`, `admit`: close the goal with the axiom `sorryAx`; what uses it never counts as proved.

    ```lean
    example (p q : Prop) (hp : p) : p ∧ q := by
      constructor
      sorry
    ```

    ```lean
    example (p q : Prop) (hp : p) : p ∧ q := by
      admit
    ```
    """
    goal = ctx.main
    decl = ctx.mctx.decl(goal)
    target = goal_target(ctx.mctx, goal)
    ctx.close(ctx.session.sorry_of(SorryRecord(stx.pos, stx.end, decl.lctx, target, decl.user_name)))


@tactic(CalcStx)
def calc_tactic(ctx: TacticContext, stx: CalcStx) -> None:
    """`calc`: prove a chain of `=`, `<` and `≤`, step after step; `_` is the right side of the step above.

    A chain that ends elsewhere leaves the rest as the goal `calc.step`.

    ```lean
    example (a b c : Nat) (h : a < b) (h1 : b ≤ c) : a < c := by
      calc a < b := h
        _ ≤ c := h1
    ```
    """
    mctx, goal, target = ctx.mctx, ctx.main, ctx.target
    elaborator, known = Elaborator(ctx.session, ctx.lctx), len(mctx.decls)
    chain = elab_calc_steps(elaborator, Calc(stx.steps, pos=stx.pos, end=stx.end))
    steps: list[str] = []
    # Lean adds `_ = rhs := ?calc.step` where the chain ends elsewhere than the goal.
    if not mctx.is_def_eq(_statement(chain), target):
        chain, steps = _with_last_step(ctx, chain)
    finished = finish(elaborator, mctx.instantiate(chain.proof), "goals", stx, known)
    mctx.assign(goal, finished.term)
    goals = [*finished.goals, *steps]
    tag_goals(ctx, goals, goal_tag(mctx, goal), "calc")
    ctx.replace_main(goals)


def _statement(chain: Chain) -> Expr:
    return mk_app(chain.relation.rel, chain.relation.lhs, chain.relation.rhs)


def _with_last_step(ctx: TacticContext, chain: Chain) -> tuple[Chain, list[str]]:
    """The chain with a step to the right side of the goal, which becomes a new goal."""
    mctx, target = ctx.mctx, ctx.target
    wanted = relation_of(mctx, target)
    if wanted is None:
        raise ctx.with_goal(f"'calc' tactic failed, relation expected\n  {ctx.show(target)}")
    step = Relation(wanted.rel, chain.relation.rhs, wanted.rhs)
    tag = append_tag(goal_tag(mctx, ctx.main), "calc.step")
    new = new_goal(mctx, mk_app(*step), ctx.lctx, tag)
    longer = None
    # Both ends agree and the relations do not: another step would not help.
    if not mctx.is_def_eq(step.lhs, step.rhs):
        longer = compose(mctx, chain, Chain(step, MVar(new)))
    if longer is None or not mctx.is_def_eq(_statement(longer), target):
        raise TacticError(
            f"invalid 'calc' step, the chain proves\n  {ctx.show(_statement(chain))}\nbut is expected to prove\n  "
            f"{ctx.show(target)}"
        )
    return longer, [new]
