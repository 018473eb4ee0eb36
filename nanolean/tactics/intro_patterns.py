"""Introducing or proving something and taking it apart at once: `intro ⟨x, h⟩`, `rintro`, `have ⟨x, h⟩ := e`.

`intro` and `have` take terms as patterns, which Lean reads as `match` does: each anonymous constructor names all
explicit fields (the last one taking what is left), and what stays unnamed is called `x✝`. `rintro` takes the patterns
of `rcases`.
"""

from __future__ import annotations

from nanolean.elab.api import elab_term, elab_type
from nanolean.errors import TacticError
from nanolean.kernel.declaration import CtorInfo
from nanolean.kernel.expr import FVar, Pi, get_app_fn
from nanolean.meta.generalize import kabstract
from nanolean.meta.lctx import inaccessible
from nanolean.syntax import (
    HavePatternStx,
    IntroPatternsStx,
    PatName,
    PatTuple,
    PatTyped,
    RcasesPattern,
    RintroStx,
    Term,
)
from nanolean.tactics.basic import tag_definition_goals
from nanolean.tactics.cases_core import cases_local
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.eliminate import inductive_type
from nanolean.tactics.goals import (
    assert_hyp,
    change_target,
    goal_tag,
    goal_target,
    intro,
    local_name,
    set_tag,
    try_clear,
)
from nanolean.tactics.rcases import destruct
from nanolean.tactics.targets import name_locals


@tactic(IntroPatternsStx)
def intro_patterns_tactic(ctx: TacticContext, stx: IntroPatternsStx) -> None:
    """`intro x ⟨y, h⟩ (z : T)`."""
    for pattern in stx.patterns:
        if isinstance(pattern, PatTyped):
            assert isinstance(pattern.pattern, PatName)
            _intro_typed(ctx, pattern.pattern.name, pattern.type)
        elif isinstance(pattern, PatName):
            _, goal = intro(ctx.mctx, ctx.main, None if pattern.name == "_" else pattern.name)
            ctx.replace_main([goal])
        else:
            fvar_id, goal = intro(ctx.mctx, ctx.main, None)
            ctx.replace_main([match_local(ctx, goal, fvar_id, pattern)])


def _intro_typed(ctx: TacticContext, name: str, type_stx: Term) -> None:
    """`intro (x : T)`: the binder's type is restated as `T`."""
    mctx = ctx.mctx
    target = ctx.target
    target = target if isinstance(target, Pi) else mctx.whnf(target, "default")
    if isinstance(target, Pi):
        type_ = elab_type(ctx.session, ctx.lctx, type_stx, holes="natural")
        if not mctx.is_def_eq(target.type, type_):
            shown = (ctx.show(target.type), ctx.show(type_))
            raise TacticError(
                f"Type mismatch: Hypothesis `{name}` has type\n  {shown[0]}\nbut is expected to have type\n  "
                f"{shown[1]}\ndue to the provided type annotation"
            )
        ctx.replace_main([change_target(mctx, ctx.main, Pi(target.name, mctx.instantiate(type_), target.body))])
    _, goal = intro(mctx, ctx.main, None if name == "_" else name)
    ctx.replace_main([goal])


def match_local(ctx: TacticContext, goal: str, fvar_id: str, pattern: RcasesPattern) -> str:
    """Take a local apart as `match` with one alternative does; answers the goal, which keeps its tag."""
    tag = goal_tag(ctx.mctx, goal)
    goal = _match(ctx, goal, fvar_id, pattern)
    set_tag(ctx.mctx, goal, tag)
    return goal


def _match(ctx: TacticContext, goal: str, fvar_id: str, pattern: RcasesPattern) -> str:
    if isinstance(pattern, PatName):
        return name_locals(ctx, goal, [fvar_id], [local_name(pattern.name)])
    assert isinstance(pattern, PatTuple)
    mctx = ctx.mctx
    found = inductive_type(mctx, mctx.fvars[fvar_id].type)
    if found is None or len(found[0].ctors) != 1:
        shown = ctx.show_in(goal, mctx.fvars[fvar_id].type)
        raise TacticError(
            "Invalid `⟨...⟩` notation: The expected type must be an inductive type with one constructor, but it is\n"
            f"  {shown}"
        )
    ctor = mctx.env[found[0].ctors[0]]
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
    """`have ⟨x, h⟩ : T := e`: take `e` apart; a hypothesis `e` itself stays."""
    mctx, goal, lctx = ctx.mctx, ctx.main, ctx.lctx
    type_ = None if stx.type is None else elab_type(ctx.session, lctx, stx.type)
    found = elab_term(ctx.session, lctx, stx.value, type_, holes="goals")
    if type_ is None:
        type_ = mctx.instantiate(mctx.infer_type(found.term))
    if not mctx.is_prop(type_):
        target = goal_target(mctx, goal)
        if isinstance(get_app_fn(found.term), FVar) or kabstract(mctx, target, found.term).loose:
            raise TacticError("a pattern for data that the goal may depend on is not supported; use `cases`")
    fvar_id, goal = assert_hyp(mctx, goal, inaccessible("x"), type_, found.term)
    new = match_local(ctx, goal, fvar_id, stx.pattern)
    ctx.replace_main([new, *found.goals])
    tag_definition_goals(ctx, new, found.goals)


# -- rintro ------------------------------------------------------------------------------------------------------------


@tactic(RintroStx)
def rintro_tactic(ctx: TacticContext, stx: RintroStx) -> None:
    """`rintro x ⟨y, rfl⟩ (h | h)`."""
    ctx.replace_main(rintro(ctx, ctx.main, list(stx.patterns)))


def rintro(ctx: TacticContext, goal: str, patterns: list[RcasesPattern]) -> list[str]:
    """Introduce one binder for each pattern and take it apart, in every goal that this makes."""
    goals = [goal]
    for pattern in patterns:
        goals = [new for goal in goals for new in _rintro_one(ctx, goal, pattern)]
    return goals


def _rintro_one(ctx: TacticContext, goal: str, pattern: RcasesPattern) -> list[str]:
    if isinstance(pattern, PatName) and pattern.name not in ("_", "rfl", "-"):
        return [intro(ctx.mctx, goal, pattern.name)[1]]
    fvar_id, goal = intro(ctx.mctx, goal, None)
    if isinstance(pattern, PatName) and pattern.name == "-":
        return [try_clear(ctx.mctx, goal, [fvar_id])]
    return destruct(ctx, goal, [(fvar_id, pattern)])
