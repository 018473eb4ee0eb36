"""`induction x, y using r`: induction by a theorem of one's own in the place of the recursor.

Such a theorem ends in `motive t₁ .. tₙ` for a variable `motive` and variables `tᵢ`, the targets. Its explicit
arguments other than these are the cases, named as the arguments are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nanolean.elab.names import constant_name
from nanolean.errors import TacticError
from nanolean.kernel.expr import BVar, Const, Expr, FVar, MVar, Pi, get_app_fn_args, instantiate, mk_app
from nanolean.meta.lctx import LocalContext
from nanolean.syntax import Ident, Term
from nanolean.tactics.core import TacticContext
from nanolean.tactics.eliminate import Branch, beta_reduce
from nanolean.tactics.goals import (
    append_tag,
    binder_local_name,
    dependents,
    goal_tag,
    goal_target,
    intro_all,
    new_goal,
    revert,
)


@dataclass(frozen=True)
class Eliminator:
    """A constant with the places of its motive and of its targets (in the motive's order) among its arguments."""

    fn: Const
    binders: tuple[Pi, ...]
    motive: int
    targets: tuple[int, ...]

    def explicit_targets(self) -> list[int]:
        """The targets that source text names."""
        return [place for place in self.targets if self.binders[place].info == "default"]


def find_eliminator(ctx: TacticContext, using: Term) -> Eliminator:
    """The eliminator that a term names."""
    if not isinstance(using, Ident) or using.explicit:
        raise TacticError("only the name of a theorem is supported after `using`", using.pos, using.end)
    name = constant_name(ctx.state, using.name)
    info = ctx.state.env[name]
    fn = Const(name, tuple(ctx.mctx.fresh_level() for _ in info.level_params))
    type_ = ctx.mctx.infer_type(fn)
    binders: list[Pi] = []
    while isinstance(type_, Pi):
        binders.append(type_)
        type_ = type_.body
    head, args = get_app_fn_args(type_)
    if not isinstance(head, BVar) or not args or not all(isinstance(arg, BVar) for arg in args):
        raise TacticError(f"Unexpected eliminator resulting type\n  {ctx.show(ctx.mctx.infer_type(fn))}")
    targets = tuple(len(binders) - 1 - arg.idx for arg in args if isinstance(arg, BVar))
    return Eliminator(fn, tuple(binders), len(binders) - 1 - head.idx, targets)


def custom_branches(
    ctx: TacticContext, goal: str, eliminator: Eliminator, given: Sequence[str], extra: Sequence[str]
) -> list[Branch]:
    """Apply an eliminator to locals; what depends on them, and `extra`, is part of the motive."""
    mctx = ctx.mctx
    explicit = eliminator.explicit_targets()
    if len(explicit) != len(given):
        count = f"{len(given)} provided, {len(explicit)} expected"
        raise TacticError(f"Unexpected number of targets for `{eliminator.fn.name}`: {count}")
    own = _all_targets(ctx, eliminator, dict(zip(explicit, given)))
    lctx = mctx.decl(goal).lctx
    others = [i for i in dependents(mctx, lctx, [*own, *extra]) if i not in own]
    names = [lctx.by_id[i].user_name for i in others]
    others, goal = revert(mctx, goal, others)
    motive = mctx.mk_lambda(own, goal_target(mctx, goal))
    branches = _apply(ctx, goal, eliminator, dict(zip(eliminator.targets, own)), motive)
    for branch in branches:
        ids, branch.goal = intro_all(mctx, branch.goal, names)
        branch.renaming = dict(zip(others, ids))
    return branches


def _all_targets(ctx: TacticContext, eliminator: Eliminator, given: dict[int, str]) -> list[str]:
    """The ids of all targets; implicit ones are found from the types of the others."""
    mctx, lctx = ctx.mctx, ctx.lctx
    args: list[Expr] = []
    for place, binder in enumerate(eliminator.binders):
        type_ = instantiate_binder(binder.type, args)
        if place not in given:
            args.append(mctx.fresh_mvar(type_, lctx, "natural"))
            continue
        args.append(FVar(given[place]))
        if not mctx.is_def_eq(mctx.infer_type(args[-1]), type_):
            shown = (ctx.show(mctx.infer_type(args[-1])), ctx.show(type_))
            raise TacticError(
                f"Type mismatch: the target has type\n  {shown[0]}\nbut is expected to have type\n  {shown[1]}"
            )
    found = [mctx.instantiate(args[place]) for place in eliminator.targets]
    ids = [target.id for target in found if isinstance(target, FVar)]
    if len(set(ids)) < len(found):
        raise TacticError("Invalid targets: they must be different variables")
    return ids


def instantiate_binder(type_: Expr, args: Sequence[Expr]) -> Expr:
    """The type of an argument after the arguments before it are given."""
    return instantiate(type_, *reversed(args)) if type_.loose else type_


def _apply(
    ctx: TacticContext, goal: str, eliminator: Eliminator, targets: dict[int, str], motive: Expr
) -> list[Branch]:
    """Assign the goal to the eliminator applied to motive, targets and one new goal for each case."""
    mctx = ctx.mctx
    lctx = mctx.decl(goal).lctx.remove(targets.values())
    args: list[Expr] = []
    cases: list[tuple[int, MVar]] = []
    for place, binder in enumerate(eliminator.binders):
        type_ = instantiate_binder(binder.type, args)
        if place == eliminator.motive:
            if not mctx.is_def_eq(type_, mctx.infer_type(motive)):
                raise TacticError("the motive is not type correct: the eliminator does not lead into the goal's sort")
            args.append(motive)
        elif place in targets:
            args.append(FVar(targets[place]))
            if not mctx.is_def_eq(type_, mctx.infer_type(args[-1])):
                raise TacticError("the types of the targets do not fit the eliminator")
        else:
            mvar = mctx.fresh_mvar(type_, lctx, "synthetic" if binder.info == "default" else "natural")
            args.append(mvar)
            if binder.info == "default":
                cases.append((place, mvar))
    if any(mctx.instantiate(arg).has_mvar for arg in args if arg not in [mvar for _, mvar in cases]):
        raise TacticError("the targets do not determine the arguments of the eliminator")
    mctx.assign(goal, mk_app(eliminator.fn, *args))
    tag = goal_tag(mctx, goal)
    return [_branch(ctx, eliminator.binders[place], mvar, lctx, tag) for place, mvar in cases]


def _branch(ctx: TacticContext, binder: Pi, mvar: MVar, lctx: LocalContext, tag: str) -> Branch:
    """The goal of one case, with everything introduced that the eliminator itself quantifies over there."""
    mctx = ctx.mctx
    type_, shape = goal_target(mctx, mvar.id), binder.type
    ids: list[str] = []
    explicit: list[bool] = []
    while isinstance(shape, Pi):
        shape = shape.body
        type_ = beta_reduce(type_)
        assert isinstance(type_, Pi)
        local = mctx.fresh_local(binder_local_name(type_.name), type_.type)
        ids.append(local.fvar_id)
        explicit.append(type_.info == "default")
        lctx = lctx.add(local)
        type_ = instantiate(type_.body, local.fvar)
    name = binder.name.rstrip("✝")
    new = new_goal(mctx, beta_reduce(type_), lctx, append_tag(tag, name))
    mctx.assign(mvar.id, mctx.mk_lambda(ids, MVar(new)))
    return Branch(name, new, ids, [], explicit)
