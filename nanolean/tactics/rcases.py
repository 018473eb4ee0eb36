"""What `cases`, `induction` and `rcases` work on, and taking hypotheses apart along patterns."""

from collections.abc import Sequence

from nanolean.elab.api import elab_term, elab_type
from nanolean.kernel.declaration import InductiveInfo
from nanolean.kernel.expr import App, Expr, FVar, Lam, MVar, arrow, mk_app
from nanolean.meta.generalize import kabstract
from nanolean.meta.lctx import inaccessible
from nanolean.proof_errors import TacticError
from nanolean.syntax import (
    CaseTarget,
    Hole,
    Ident,
    InductionAlt,
    ObtainStx,
    PatAlts,
    PatName,
    PatTuple,
    PatTyped,
    RcasesPattern,
    RcasesStx,
    SyntheticHole,
    TacticSeq,
    Term,
)
from nanolean.tactics.basic import stated_type
from nanolean.tactics.cases_core import cases_local
from nanolean.tactics.combinators import close_main_with
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.eliminate import Branch, inductive_type
from nanolean.tactics.eq_proof import level_of, mk_eq, mk_eq_refl
from nanolean.tactics.equations import subst_hyp
from nanolean.tactics.goals import (
    assert_hyp,
    goal_target,
    intro,
    local_name,
    new_goal,
    retype_hyp,
    set_tag,
    try_clear,
    with_context,
)


def target_local(ctx: TacticContext, target: CaseTarget) -> str:
    """Return the id of a local for the target; other terms become one, with the goal generalized over it."""
    if target.name is None and isinstance(target.term, Ident):
        decl = ctx.lctx.find(target.term.name)
        # A `let` variable has a value, over which the goal is generalized like over any other term.
        if decl is not None and decl.value is None:
            return decl.fvar_id
    return as_local(ctx, elaborate_target(ctx, target.term), target.name)


def elaborate_target(ctx: TacticContext, term: Term) -> Expr:
    """Elaborate a target; it must be determined completely."""
    return elab_term(ctx.session, ctx.lctx, term).term


def as_local(ctx: TacticContext, value: Expr, equation_name: str | None = None) -> str:
    """Make a local that stands for `value` in the main goal; with a name also the equation `name : value = local`."""
    mctx = ctx.mctx
    type_ = mctx.instantiate(mctx.infer_type(value))
    if isinstance(value, FVar) and equation_name is None and mctx.fvars[value.id].value is None:
        return value.id
    # The goal cannot tell one proof from another, so there is nothing to generalize.
    if mctx.is_prop(type_):
        fvar_id, goal = assert_hyp(mctx, ctx.main, inaccessible("x"), type_, value)
        ctx.replace_main([goal])
        return fvar_id
    return _generalize(ctx, value, type_, equation_name)


def _generalize(ctx: TacticContext, value: Expr, type_: Expr, equation_name: str | None) -> str:
    mctx, goal = ctx.mctx, ctx.main
    decl = mctx.decl(goal)
    local = mctx.fresh_local("x", type_)
    body: Expr = App(Lam("x", type_, kabstract(mctx, goal_target(mctx, goal), value)), local.fvar)
    body = mctx.whnf_core(body)
    args = [value]
    if equation_name is not None:
        level = level_of(mctx, type_)
        body = arrow(mk_eq(level, type_, value, local.fvar), body, "h")
        args.append(mk_eq_refl(level, type_, value))
    new = new_goal(mctx, mctx.mk_pi([local.fvar_id], body), decl.lctx, decl.user_name)
    mctx.assign(goal, mk_app(MVar(new), *args))
    fvar_id, new = intro(mctx, new, inaccessible("x"))
    if equation_name is not None:
        _, new = intro(mctx, new, local_name(equation_name, "h"))
    ctx.replace_main([new])
    return fvar_id


# -- alternatives ------------------------------------------------------------------------------------------------------


def run_alternatives(ctx: TacticContext, branches: Sequence[Branch], alts: Sequence[InductionAlt] | None) -> None:
    """Name the branches as the alternatives say and run their right sides; `ctx.goals` begins behind the main goal.

    Without alternatives all branches are new goals. A right side `?_` leaves its branch open.
    """
    rest = ctx.goals
    if alts is None:
        ctx.goals = [branch.goal for branch in branches] + rest
        return
    _check_alternatives(branches, alts)
    left: list[str] = []
    for alt, branch in _paired(branches, alts):
        # One after the other, each alone: an error in one alternative does not keep the next from being checked.
        goal = name_branch(ctx, branch, alt)
        ctx.goals = [goal]
        if isinstance(alt.rhs, TacticSeq):
            close_main_with(ctx, alt.rhs, (alt.arrow, alt.end))
            continue
        left += _leave_open(ctx, alt.rhs, goal)
    ctx.goals = left + rest


def _leave_open(ctx: TacticContext, hole: Hole | SyntheticHole, goal: str) -> list[str]:
    if isinstance(hole, SyntheticHole) and hole.name not in ("", "_"):
        set_tag(ctx.mctx, goal, hole.name)
    return [goal]


def _paired(branches: Sequence[Branch], alts: Sequence[InductionAlt]) -> list[tuple[InductionAlt, Branch]]:
    """Alternatives with their branches: named ones in the order written, `_` for whatever is left."""
    by_name = {branch.short_name: branch for branch in branches}
    pairs = []
    for alt in alts:
        if alt.ctor != "_":
            branch = by_name.pop(alt.ctor, None)
            if branch is not None:
                pairs.append((alt, branch))
            continue
        pairs += [(alt, branch) for branch in by_name.values()]
        by_name = {}
    # Goals and messages come in the order of the constructors, whatever the text's is.
    order = {branch.goal: place for place, branch in enumerate(branches)}
    return sorted(pairs, key=lambda pair: order[pair[1].goal])


def _check_alternatives(branches: Sequence[Branch], alts: Sequence[InductionAlt]) -> None:
    known = [branch.short_name for branch in branches]
    seen: set[str] = set()
    for alt in alts:
        name = alt.ctor
        if name == "_":
            if seen.issuperset(known):
                raise TacticError("Wildcard alternative `_` is not needed: no case is left for it", alt.pos, alt.end)
            seen.update(known)
            continue
        if name in seen:
            raise TacticError(f"Duplicate alternative name `{name}`", alt.pos, alt.end)
        if name not in known:
            raise TacticError(_unknown_alternative(name, known), alt.pos, alt.end)
        seen.add(name)
    for name in known:
        if name not in seen:
            raise TacticError(f"Alternative `{name}` has not been provided")


def _unknown_alternative(name: str, known: list[str]) -> str:
    text = f"Invalid alternative name `{name}`: "
    if not known:
        return text + "There are no unhandled alternatives"
    if len(known) <= 2:
        return text + "Expected " + " or ".join(f"`{other}`" for other in known)
    return text + "Expected " + ", ".join(f"`{other}`" for other in known[:-1]) + f", or `{known[-1]}`"


def name_branch(ctx: TacticContext, branch: Branch, alt: InductionAlt) -> str:
    """Give the names of an alternative to fields and induction hypotheses; return the branch's goal."""
    ids = [*branch.fields, *branch.hyps]
    if not alt.explicit:
        ids = [fvar_id for fvar_id, explicit in zip(ids, branch.explicit) if explicit]
    if len(alt.names) > len(ids):
        raise TacticError(
            f"Too many variable names provided at alternative `{branch.short_name}`: "
            f"{len(alt.names)} provided, but {len(ids)} expected",
            alt.pos,
            alt.end,
        )
    return name_locals(ctx, branch.goal, ids, alt.names)


def name_locals(ctx: TacticContext, goal: str, ids: Sequence[str], names: Sequence[str]) -> str:
    """Show locals under the given names; `_` and missing names leave them as they are. Returns the goal."""
    lctx = ctx.mctx.decl(goal).lctx
    before = lctx
    for fvar_id, name in zip(ids, names):
        if name != "_" and fvar_id in lctx:
            lctx = lctx.rename(fvar_id, name)
    return goal if lctx is before else with_context(ctx.mctx, goal, lctx)


Work = list[tuple[str, RcasesPattern]]
"""Locals that are still to be taken apart, with their patterns."""

KEEP = PatName("_")


@tactic(RcasesStx)
def rcases_tactic(ctx: TacticContext, stx: RcasesStx) -> None:
    """`rcases h with p`: take `h` apart by a pattern, which may nest.

    `⟨a, b⟩` has parts, `a | b` alternatives; `rfl` substitutes an equation, `-` throws away, `_` keeps without a
    name. Without a pattern it takes the cases of `h` once.

    ```lean
    example (a b : Nat) (h : ∃ k, b = a + k ∧ k ≤ 3) : a ≤ b := by
      rcases h with ⟨k, rfl, -⟩
    ```
    """
    # Without a pattern Lean takes `⟨⟩`, which takes the cases and keeps all fields.
    pattern = stx.pattern or PatTuple(())
    patterns = _patterns_for_fields(pattern, len(stx.targets))
    if len(stx.targets) == 1:
        patterns = [pattern]
    ids = [target_local(ctx, target) for target in stx.targets]
    ctx.replace_main(destruct(ctx, ctx.main, list(zip(ids, patterns))))


@tactic(ObtainStx)
def obtain_tactic(ctx: TacticContext, stx: ObtainStx) -> None:
    """`obtain p := e`: `rcases e with p`; `obtain p : T` makes `T` a goal to be proved first.

    ```lean
    example (p q : Prop) (h : p ∧ q) : q := by
      obtain ⟨hp, hq⟩ := h
    ```
    """
    mctx, goal, lctx = ctx.mctx, ctx.main, ctx.lctx
    type_ = stated_type(ctx, stx.type)
    extra: list[str] = []
    if stx.value is None:
        if type_ is None:
            raise TacticError("`obtain` requires either an expected type or a value.")
        proof_goal = new_goal(mctx, type_, lctx)
        extra = [proof_goal]
        value: Expr = MVar(proof_goal)
    else:
        elaborated = elab_term(ctx.session, lctx, stx.value, type_, holes="goals", recover=True)
        value, extra = elaborated.term, list(elaborated.goals)
    if isinstance(value, FVar) and type_ is None:
        fvar_id = value.id
    else:
        value_type = mctx.instantiate(type_ or mctx.infer_type(value))
        fvar_id, goal = assert_hyp(mctx, goal, inaccessible("x"), value_type, value)
    done = destruct(ctx, goal, [(fvar_id, stx.pattern or PatName("this"))])
    if stx.value is None:  # the type without a proof comes first, `?_` in a proof last
        ctx.replace_main([*extra, *done])
    else:
        ctx.replace_main([*done, *extra])


def destruct(ctx: TacticContext, goal: str, work: Work) -> list[str]:
    """Take locals apart along their patterns, one after another; answers the goals that remain."""
    while work:
        (fvar_id, pattern), work = work[0], work[1:]
        # A `rfl` before it may have substituted it away.
        if fvar_id not in ctx.mctx.decl(goal).lctx:
            continue
        if isinstance(pattern, PatTyped):
            goal, renaming = _ascribe(ctx, goal, fvar_id, pattern)
            work = [(renaming.get(i, i), other) for i, other in [(fvar_id, pattern.pattern), *work]]
        elif isinstance(pattern, PatName):
            goal, work = _use_name(ctx, goal, fvar_id, pattern.name, work)
        elif isinstance(pattern, PatAlts) and len(pattern.alts) == 1:
            work = [(fvar_id, pattern.alts[0]), *work]
        else:
            return _split(ctx, goal, fvar_id, pattern, work)
    return [goal]


def _use_name(ctx: TacticContext, goal: str, fvar_id: str, name: str, work: Work) -> tuple[str, Work]:
    if name == "rfl":
        done = subst_hyp(ctx.mctx, goal, fvar_id)
        if done is None:
            raise TacticError("`rfl` pattern: the hypothesis is not an equation for a variable")
        goal, renaming = done
        return goal, [(renaming.get(i, i), pattern) for i, pattern in work]
    if name == "-":
        return try_clear(ctx.mctx, goal, [fvar_id]), work
    return name_locals(ctx, goal, [fvar_id], [name]), work


def _ascribe(ctx: TacticContext, goal: str, fvar_id: str, pattern: PatTyped) -> tuple[str, dict[str, str]]:
    mctx = ctx.mctx
    type_ = elab_type(ctx.session, mctx.decl(goal).lctx, pattern.type, holes="natural")
    old = mctx.fvars[fvar_id].type
    if not mctx.is_def_eq(old, type_):
        raise TacticError(
            f"rcases: scrutinee has type\n  {ctx.show_in(goal, old)}\nbut is expected to have type\n  "
            f"{ctx.show_in(goal, type_)}"
        )
    return retype_hyp(mctx, goal, fvar_id, mctx.instantiate(type_))


def _split(ctx: TacticContext, goal: str, fvar_id: str, pattern: RcasesPattern, work: Work) -> list[str]:
    """Case analysis; the alternatives of the pattern belong to the constructors in order."""
    mctx = ctx.mctx
    inductive = inductive_type(mctx, mctx.fvars[fvar_id].type)
    if inductive is None:
        raise TacticError("rcases tactic failed: the pattern expects an inductive datatype")
    info = inductive[0]
    per_ctor = _patterns_for_ctors(pattern, info)
    goals: list[str] = []
    for branch in cases_local(mctx, goal, fvar_id, ctx.show_in):
        fields = [i for i, explicit in zip(branch.fields, branch.explicit) if explicit]
        parts = _patterns_for_fields(per_ctor[info.ctors.index(branch.ctor)], len(fields))
        inner = list(zip(fields, parts))
        later = [(branch.renaming.get(i, i), other) for i, other in work]
        goals += destruct(ctx, branch.goal, [*inner, *later])
    return goals


def _patterns_for_ctors(pattern: RcasesPattern, info: InductiveInfo) -> list[RcasesPattern]:
    count = len(info.ctors)
    if count == 1:
        return [pattern]
    alts = list(pattern.alts) if isinstance(pattern, PatAlts) else [pattern]
    # Lean's Elab/Tactic/RCases.lean: for two constructors `a | b | c` is `a | (b | c)`.
    if len(alts) > count:
        alts = [*alts[: count - 1], PatAlts(tuple(alts[count - 1 :]))]
    return [*alts, *[KEEP] * (count - len(alts))]


def _patterns_for_fields(pattern: RcasesPattern, count: int) -> list[RcasesPattern]:
    """Patterns for the explicit fields of a constructor; a last tuple item takes all that are left."""
    if not isinstance(pattern, PatTuple):
        items: list[RcasesPattern] = [pattern]
    else:
        items = list(pattern.items)
    if len(items) > count > 0:
        items = [*items[: count - 1], PatTuple(tuple(items[count - 1 :]))]
    # Fewer patterns than fields are no error, unlike in `match`.
    return [*items, *[KEEP] * (count - len(items))]
