"""Tactics that bring in hypotheses or change them: `let`, `generalize`, `clear`, `intro ⟨x, h⟩`, `rintro`, .."""

from collections.abc import Sequence

from nanolean.elab.api import elab_term, elab_type
from nanolean.elab.operators import Done
from nanolean.kernel.declaration import CtorInfo
from nanolean.kernel.expr import App, Expr, FVar, MVar, Pi, arrow, get_app_fn, instantiate, mk_app
from nanolean.meta.generalize import kabstract
from nanolean.meta.lctx import LocalDecl, inaccessible
from nanolean.proof_errors import TacticError
from nanolean.syntax import (
    ClearStx,
    GeneralizeStx,
    HavePatternStx,
    IntroMatchStx,
    IntroPatternsStx,
    LetStx,
    Location,
    Match,
    PatName,
    PatTuple,
    PatTyped,
    RcasesPattern,
    RefineStx,
    RenameStx,
    RintroStx,
    SufficesStx,
    Term,
)
from nanolean.tactics.basic import refine_tactic, stated_type, tag_definition_goals
from nanolean.tactics.cases_core import cases_local
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.eliminate import inductive_type
from nanolean.tactics.eq_proof import level_of, mk_eq, mk_eq_refl
from nanolean.tactics.goals import (
    assert_hyp,
    change_target,
    goal_tag,
    goal_target,
    intro,
    intro_all,
    local_name,
    new_goal,
    revert,
    set_tag,
    try_clear,
    user_of,
    with_context,
    written_name,
)
from nanolean.tactics.rcases import destruct, name_locals
from nanolean.tactics.rewrite import well_typed


@tactic(LetStx)
def let_tactic(ctx: TacticContext, stx: LetStx) -> None:
    """`let x : T := v`: add a variable with a value that the goal may look into: `x` is `v` by definition.

    ```lean
    example (a b : Nat) : a + b = b + a := by
      let s := a + b
      show s = b + a
    ```
    """
    mctx, goal, lctx = ctx.mctx, ctx.main, ctx.lctx
    type_ = stated_type(ctx, stx.type)
    value = elab_term(ctx.session, lctx, stx.value, type_, holes="goals")
    if type_ is None:
        type_ = mctx.instantiate(mctx.infer_type(value.term))
    local = mctx.fresh_local(local_name(stx.name), type_, value.term)
    decl = mctx.decl(goal)
    new = new_goal(mctx, decl.type, decl.lctx.add(local), decl.user_name)
    mctx.assign(goal, mctx.mk_lambda([local.fvar_id], MVar(new)))
    ctx.replace_main([new, *value.goals])
    tag_definition_goals(ctx, new, value.goals)


@tactic(SufficesStx)
def suffices_tactic(ctx: TacticContext, stx: SufficesStx) -> None:
    """`suffices h : T from e`: prove the goal from `h : T` by `e` (or `by t`), and leave `T` to be proved.

    ```lean
    example (p q : Prop) (h : p → q) : q := by
      suffices p from h this
    ```
    """
    mctx, goal, lctx = ctx.mctx, ctx.main, ctx.lctx
    type_ = elab_type(ctx.session, lctx, stx.type)
    local = mctx.fresh_local(local_name(stx.name), type_)
    proof = elab_term(ctx.session, lctx.add(local), stx.value, ctx.target, holes="goals")
    new = new_goal(mctx, type_, lctx, goal_tag(mctx, goal))
    mctx.assign(goal, App(mctx.mk_lambda([local.fvar_id], proof.term), MVar(new)))
    # Lean's `suffices` refines by a term and rotates its goals to the right by one.
    goals = [new, *proof.goals]
    ctx.replace_main(goals[-1:] + goals[:-1])


@tactic(GeneralizeStx)
def generalize_tactic(ctx: TacticContext, stx: GeneralizeStx) -> None:
    """`generalize e = x`: replace the term `e` in the goal by a new variable; `generalize h : e = x` keeps the
    equation, `at k` replaces in a hypothesis too.

    ```lean
    example (a b : Nat) : (a + b) * 2 = 2 * (a + b) := by
      generalize a + b = n
    ```
    """
    mctx, goal = ctx.mctx, ctx.main
    values = [elab_term(ctx.session, ctx.lctx, arg.term).term for arg in stx.args]
    # `generalizeHyp` of Lean: the hypotheses become part of the goal for a while, which is generalized in any case.
    reverted, goal = revert(mctx, goal, _mentioning(ctx, stx.location, values))
    decl, target = mctx.decl(goal), goal_target(mctx, goal)
    locals_: list[LocalDecl] = []
    # From the last, so that a term may contain one before it: `generalize a = x, f a = y`.
    for arg, value in reversed(list(zip(stx.args, values))):
        local = mctx.fresh_local(local_name(arg.name), mctx.instantiate(mctx.infer_type(value)))
        target = instantiate(kabstract(mctx, target, value), local.fvar)
        locals_.insert(0, local)
    names: list[str] = []
    proofs: list[Expr] = []
    for arg, value, local in reversed(list(zip(stx.args, values, locals_))):
        if arg.equation_name is not None:
            level = level_of(mctx, local.type)
            target = arrow(mk_eq(level, local.type, value, local.fvar), target, "h")
            names.insert(0, local_name(arg.equation_name, "h"))
            proofs.insert(0, mk_eq_refl(level, local.type, value))
    # Some type in the goal may have needed the term to be what it is.
    if not _is_type_correct(ctx, target, [local.fvar_id for local in locals_]):
        raise ctx.with_goal("Tactic `generalize` failed: result is not type correct")
    new = new_goal(mctx, mctx.mk_pi([local.fvar_id for local in locals_], target), decl.lctx, decl.user_name)
    mctx.assign(goal, mk_app(MVar(new), *values, *proofs))
    again = [mctx.fvars[fvar_id].user_name for fvar_id in reverted]
    _, new = intro_all(mctx, new, [*(local.user_name for local in locals_), *names, *again])
    ctx.replace_main([new])


def _mentioning(ctx: TacticContext, location: Location, values: Sequence[Expr]) -> list[str]:
    """The hypotheses of a place in which one of the terms occurs."""
    hyps = list(ctx.lctx) if location.wildcard else [ctx.hyp(name) for name in location.hyps]
    return [h.fvar_id for h in hyps if any(kabstract(ctx.mctx, ctx.type_of(h), value).loose for value in values)]


def _is_type_correct(ctx: TacticContext, target: Expr, ids: list[str]) -> bool:
    """Whether a target still makes sense for variables in the place of the terms that were generalized."""
    return all(well_typed(ctx.mctx, target, FVar(fvar_id)) for fvar_id in ids)


# -- names -------------------------------------------------------------------------------------------------------------


@tactic(ClearStx)
def clear_tactic(ctx: TacticContext, stx: ClearStx) -> None:
    """`clear h x`: remove hypotheses that nothing else mentions.

    ```lean
    example (a b : Nat) (h : a = b) : b = a := by
      clear a
    ```
    """
    mctx, goal = ctx.mctx, ctx.main
    wanted = {ctx.hyp(name).fvar_id for name in stx.names}
    lctx = ctx.lctx
    # Latest first, so that `clear x h` works for an `h` about `x`.
    for decl in reversed(list(ctx.lctx)):
        if decl.fvar_id not in wanted:
            continue
        user = user_of(mctx, goal, lctx, decl.fvar_id)
        if user is not None:
            what = "target" if user == "the target" else f"variable {user}"
            goal = with_context(mctx, goal, lctx)
            text = f"Tactic `clear` failed: {what} depends on `{decl.user_name}`\n\n{ctx.show_goal(goal)}"
            raise TacticError(text)
        lctx = lctx.remove([decl.fvar_id])
    ctx.replace_main([with_context(mctx, goal, lctx)])


@tactic(RenameStx)
def rename_tactic(ctx: TacticContext, stx: RenameStx) -> None:
    """`rename T => h`: give the last hypothesis of type `T` the name `h`; `_` in `T` fits anything.

    ```lean
    example (p q : Prop) : p → q → p := by
      intros
      rename p => hp
    ```
    """
    mctx = ctx.mctx
    for decl in reversed(list(ctx.lctx)):
        mark = mctx.save()
        type_ = elab_type(ctx.session, ctx.lctx, stx.type, holes="natural")
        if mctx.is_def_eq(type_, ctx.type_of(decl)):
            lctx = ctx.lctx.rename(decl.fvar_id, local_name(stx.name, decl.user_name))
            ctx.replace_main([with_context(mctx, ctx.main, lctx)])
            return
        mctx.restore(mark)
    type_ = elab_type(ctx.session, ctx.lctx, stx.type, holes="natural")
    raise TacticError(f"Failed to find a hypothesis with type\n  {ctx.show(type_)}")


@tactic(IntroPatternsStx)
def intro_patterns_tactic(ctx: TacticContext, stx: IntroPatternsStx) -> None:
    """Introduce and take apart: the forms of `intro` with patterns, `intro x ⟨y, h⟩ (z : T)`."""
    for pattern in stx.patterns:
        if isinstance(pattern, PatTyped):
            assert isinstance(pattern.pattern, PatName)
            _intro_typed(ctx, pattern.pattern.name, pattern.type)
        elif isinstance(pattern, PatName):
            _, goal = intro(ctx.mctx, ctx.main, written_name(pattern.name))
            ctx.replace_main([goal])
        else:
            fvar_id, goal = intro(ctx.mctx, ctx.main, None)
            ctx.replace_main([match_local(ctx, goal, fvar_id, pattern)])


@tactic(IntroMatchStx)
def intro_match_tactic(ctx: TacticContext, stx: IntroMatchStx) -> None:
    """Introduce as many variables as the alternatives have patterns, and match on them."""
    goal, ids = ctx.main, []
    for _ in stx.alts[0].patterns:
        fvar_id, goal = intro(ctx.mctx, goal, inaccessible("x"))
        ids.append(fvar_id)
    ctx.replace_main([goal])
    targets = tuple((None, Done(FVar(fvar_id), pos=stx.pos, end=stx.end)) for fvar_id in ids)
    refine_tactic(ctx, RefineStx(Match(targets, stx.alts, pos=stx.pos, end=stx.end), pos=stx.pos, end=stx.end))


def _intro_typed(ctx: TacticContext, name: str, type_stx: Term) -> None:
    """`intro (x : T)`: the binder's type is restated as `T`."""
    mctx = ctx.mctx
    target = mctx.whnf_pi(ctx.target, "default")
    if isinstance(target, Pi):
        type_ = elab_type(ctx.session, ctx.lctx, type_stx, holes="natural")
        if not mctx.is_def_eq(target.type, type_):
            shown = (ctx.show(target.type), ctx.show(type_))
            raise TacticError(
                f"Type mismatch: Hypothesis `{name}` has type\n  {shown[0]}\nbut is expected to have type\n  "
                f"{shown[1]}\ndue to the provided type annotation"
            )
        ctx.replace_main([change_target(mctx, ctx.main, Pi(target.name, mctx.instantiate(type_), target.body))])
    _, goal = intro(mctx, ctx.main, written_name(name))
    ctx.replace_main([goal])


def match_local(ctx: TacticContext, goal: str, fvar_id: str, pattern: RcasesPattern) -> str:
    """Take a local apart as `match` with one alternative does; answers the goal, which keeps its tag."""
    tag = goal_tag(ctx.mctx, goal)
    if _substitutes(pattern):
        # `rcases` substitutes where `match` unifies the sides of the equation.
        goals = destruct(ctx, goal, [(fvar_id, pattern)])
        if len(goals) != 1:
            raise TacticError("a pattern that cannot be is not supported here; use `rcases`")
        (goal,) = goals
    else:
        goal = _match(ctx, goal, fvar_id, pattern)
    set_tag(ctx.mctx, goal, tag)
    return goal


def _substitutes(pattern: RcasesPattern) -> bool:
    """Whether `rfl` is in a pattern."""
    if isinstance(pattern, PatTuple):
        return any(_substitutes(item) for item in pattern.items)
    return isinstance(pattern, PatName) and pattern.name == "rfl"


def _match(ctx: TacticContext, goal: str, fvar_id: str, pattern: RcasesPattern) -> str:
    if isinstance(pattern, PatName):
        return name_locals(ctx, goal, [fvar_id], [local_name(pattern.name)])
    assert isinstance(pattern, PatTuple)
    mctx = ctx.mctx
    inductive = inductive_type(mctx, mctx.fvars[fvar_id].type)
    if inductive is None or len(inductive[0].ctors) != 1:
        shown = ctx.show_in(goal, mctx.fvars[fvar_id].type)
        raise TacticError(
            "Invalid `⟨...⟩` notation: The expected type must be an inductive type with one constructor, but it is\n"
            f"  {shown}"
        )
    ctor = mctx.env[inductive[0].ctors[0]]
    assert isinstance(ctor, CtorInfo)
    (branch,) = cases_local(mctx, goal, fvar_id, ctx.show_in)
    fields = [i for i, explicit in zip(branch.fields, branch.explicit) if explicit]
    items = list(pattern.items)
    if len(items) < len(fields):
        raise TacticError(
            f"Insufficient number of fields for `⟨...⟩` constructor: Constructor `{ctor.name}` has {len(fields)} "
            f"explicit fields, but only {len(items)} were provided"
        )
    if len(items) > len(fields):
        if not fields:
            raise TacticError(f"Too many fields for the constructor `{ctor.name}`, which has none")
        items = [*items[: len(fields) - 1], PatTuple(tuple(items[len(fields) - 1 :]))]
    goal = branch.goal
    for field, item in zip(fields, items):
        goal = _match(ctx, goal, field, item)
    return goal


@tactic(HavePatternStx)
def have_pattern_tactic(ctx: TacticContext, stx: HavePatternStx) -> None:
    """Take a value apart: `have ⟨x, h⟩ : T := e`. A hypothesis `e` itself stays."""
    mctx, goal, lctx = ctx.mctx, ctx.main, ctx.lctx
    type_ = stated_type(ctx, stx.type)
    value = elab_term(ctx.session, lctx, stx.value, type_, holes="goals")
    if type_ is None:
        type_ = mctx.instantiate(mctx.infer_type(value.term))
    if not mctx.is_prop(type_):
        target = goal_target(mctx, goal)
        # `match` keeps the equation of the value with its pattern in the goal; taking the local apart would lose it.
        if isinstance(get_app_fn(value.term), FVar) or kabstract(mctx, target, value.term).loose:
            raise TacticError("a pattern for data that the goal may depend on is not supported; use `cases`")
    fvar_id, goal = assert_hyp(mctx, goal, inaccessible("x"), type_, value.term)
    new = match_local(ctx, goal, fvar_id, stx.pattern)
    ctx.replace_main([new, *value.goals])
    tag_definition_goals(ctx, new, value.goals)


# -- rintro ------------------------------------------------------------------------------------------------------------


@tactic(RintroStx)
def rintro_tactic(ctx: TacticContext, stx: RintroStx) -> None:
    """`rintro p q`: introduce and take apart by patterns of `rcases`; alternatives stand in parentheses.

    ```lean
    example : ∀ a b : Nat, (∃ k, b = a + k) → a ≤ b := by
      rintro a _ ⟨k, rfl⟩
    ```

    ```lean
    example (p q : Prop) : p ∨ q → q ∨ p := by
      rintro (hp | hq)
    ```
    """
    ctx.replace_main(rintro(ctx, ctx.main, list(stx.patterns)))


def rintro(ctx: TacticContext, goal: str, patterns: list[RcasesPattern]) -> list[str]:
    """Introduce one binder for each pattern and take it apart, in every goal that this makes."""
    goals = [goal]
    for pattern in patterns:
        # `rintro (h | h) x`: what follows an alternative is introduced in each of its goals.
        goals = [new for goal in goals for new in _rintro_one(ctx, goal, pattern)]
    return goals


def _rintro_one(ctx: TacticContext, goal: str, pattern: RcasesPattern) -> list[str]:
    if isinstance(pattern, PatName) and pattern.name not in ("_", "rfl", "-"):
        return [intro(ctx.mctx, goal, pattern.name)[1]]
    fvar_id, goal = intro(ctx.mctx, goal, None)
    if isinstance(pattern, PatName) and pattern.name == "-":
        return [try_clear(ctx.mctx, goal, [fvar_id])]
    return destruct(ctx, goal, [(fvar_id, pattern)])
