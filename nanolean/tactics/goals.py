"""Steps on one goal: each assigns the goal's metavariable to a term over new goals and returns the new ones.

A goal is the id of a synthetic metavariable; its local context and type are in `mctx.decl(goal)`. Nothing here knows
about syntax.
"""

from collections.abc import Iterable, Sequence

from nanolean.kernel.expr import (
    App,
    Const,
    Expr,
    FVar,
    Lam,
    Let,
    MVar,
    Pi,
    collect_fvars,
    instantiate,
    mk_app,
)
from nanolean.meta.bind import depends_on, mentions
from nanolean.meta.lctx import LocalContext, LocalDecl, inaccessible
from nanolean.meta.mctx import MetaContext
from nanolean.printer import show_goal
from nanolean.proof_errors import TacticError
from nanolean.tactics.eq_proof import level_of


def append_tag(parent: str, suffix: str) -> str:
    """Return the case tag of a goal that comes from the `suffix` part of a goal tagged `parent`."""
    # A tag is typed after `case`, where no name has this mark.
    suffix = suffix.rstrip("✝")
    return f"{parent}.{suffix}" if parent else suffix


def goal_tag(mctx: MetaContext, goal: str) -> str:
    """Return the case tag of a goal, empty when it has none."""
    return mctx.decl(goal).user_name


def goal_target(mctx: MetaContext, goal: str) -> Expr:
    """Return the instantiated type of a goal."""
    return mctx.instantiate(mctx.decl(goal).type)


def new_goal(mctx: MetaContext, type_: Expr, lctx: LocalContext, tag: str = "") -> str:
    """Make a fresh goal."""
    return mctx.fresh_mvar(type_, lctx, "synthetic", tag).id


def set_tag(mctx: MetaContext, goal: str, tag: str) -> None:
    """Give a goal another case tag."""
    if mctx.decl(goal).user_name != tag:
        mctx.set_kind(goal, "synthetic", tag)


def local_name(written: str, own: str = "x") -> str:
    """Return the name that source text gives to a local; for `_` its own name, inaccessible."""
    return inaccessible(own) if written == "_" else written


def written_name(name: str) -> str | None:
    """Return a name as `intro` takes it: None for `_`."""
    if name == "_":
        return None
    return name


def binder_local_name(name: str) -> str:
    """Return the inaccessible name under which a tactic introduces an unnamed binder."""
    return inaccessible(name if name not in ("", "_") else "x")


# -- context and type --------------------------------------------------------------------------------------------------


def change_target(mctx: MetaContext, goal: str, target: Expr) -> str:
    """Return the same goal with a definitionally equal type."""
    decl = mctx.decl(goal)
    new = new_goal(mctx, target, decl.lctx, decl.user_name)
    mctx.assign(goal, MVar(new))
    return new


def with_context(mctx: MetaContext, goal: str, lctx: LocalContext) -> str:
    """Return the same goal in a context with fewer or renamed locals."""
    decl = mctx.decl(goal)
    new = new_goal(mctx, decl.type, lctx, decl.user_name)
    mctx.assign(goal, MVar(new))
    return new


def replace_target(mctx: MetaContext, goal: str, target: Expr, equation: Expr | None) -> str:
    """Return the goal with a type that is equal by `equation : old = target` (None: by definition)."""
    if equation is None:
        return change_target(mctx, goal, target)
    decl = mctx.decl(goal)
    new = new_goal(mctx, target, decl.lctx, decl.user_name)
    old = mctx.instantiate(decl.type)
    mctx.assign(goal, mk_app(mk_eq_cast(mctx, "Eq.mpr", old, target), equation, MVar(new)))
    return new


def mk_eq_cast(mctx: MetaContext, name: str, source: Expr, target: Expr) -> Expr:
    """`@Eq.mpr source target` or `@Eq.mp source target`, to be applied to the equation and the term."""
    return mk_app(Const(name, (level_of(mctx, source),)), source, target)


# -- introducing and reverting -----------------------------------------------------------------------------------------


def intro(mctx: MetaContext, goal: str, name: str | None) -> tuple[str, str]:
    """Introduce one binder; answers (fvar id, goal). Name None: the binder's own name, inaccessible."""
    decl = mctx.decl(goal)
    target = mctx.instantiate(decl.type)
    if not isinstance(target, Pi | Let):
        # No definition is unfolded for a binder that beta or `let` already shows, as goals would show its body.
        target = mctx.whnf_core(target)
        if not isinstance(target, Pi | Let):
            target = mctx.whnf(target, "default")
    if isinstance(target, Let):
        local = mctx.fresh_local(name or binder_local_name(target.name), target.type, target.value)
    elif isinstance(target, Pi):
        local = mctx.fresh_local(name or binder_local_name(target.name), target.type)
    else:
        reason = "There are no additional binders or `let` bindings in the goal to introduce"
        raise TacticError(f"Tactic `introN` failed: {reason}\n\n{show_goal(mctx, goal)}")
    # The goal is `fun x => ?new`, where `?new` may use `x`: `mk_lambda` makes the delayed assignment for that.
    new = new_goal(mctx, instantiate(target.body, local.fvar), decl.lctx.add(local), decl.user_name)
    mctx.assign(goal, mctx.mk_lambda([local.fvar_id], MVar(new)))
    return local.fvar_id, new


def intro_all(mctx: MetaContext, goal: str, names: Sequence[str]) -> tuple[list[str], str]:
    """Introduce one binder for each name, in order."""
    ids = []
    for name in names:
        fvar_id, goal = intro(mctx, goal, name)
        ids.append(fvar_id)
    return ids, goal


def dependents(mctx: MetaContext, lctx: LocalContext, roots: Iterable[str]) -> list[str]:
    """Ids of the locals in `roots` and of those that depend on them, in the order of the context."""
    wanted = set(roots)
    ids = []
    # One pass: what depends on a local comes after it.
    for decl in lctx:
        if decl.fvar_id in wanted or _mentions(mctx, decl, wanted):
            wanted.add(decl.fvar_id)
            ids.append(decl.fvar_id)
    return ids


def _mentions(mctx: MetaContext, decl: LocalDecl, ids: set[str]) -> bool:
    return bool(ids) and depends_on(mctx, decl.type, decl.value, ids)


def revert(mctx: MetaContext, goal: str, fvar_ids: Iterable[str]) -> tuple[list[str], str]:
    """Move locals and what depends on them into the type; answers (their ids in order, the new goal)."""
    decl = mctx.decl(goal)
    ids = dependents(mctx, decl.lctx, fvar_ids)
    if not ids:
        return [], goal
    new = new_goal(mctx, mctx.mk_pi(ids, decl.type), decl.lctx.remove(ids), decl.user_name)
    # A `let` local becomes a `let` in the new type, which takes no argument.
    args = [FVar(fvar_id) for fvar_id in ids if mctx.fvars[fvar_id].value is None]
    mctx.assign(goal, mk_app(MVar(new), *args))
    return ids, new


def try_clear(mctx: MetaContext, goal: str, fvar_ids: Sequence[str]) -> str:
    """Remove those of the locals that nothing depends on, last one first."""
    lctx = mctx.decl(goal).lctx
    gone: list[str] = []
    # The last one first: it may be all that an earlier one is needed for.
    for fvar_id in reversed(fvar_ids):
        if fvar_id in lctx and user_of(mctx, goal, lctx, fvar_id) is None:
            lctx = lctx.remove([fvar_id])
            gone.append(fvar_id)
    return with_context(mctx, goal, lctx) if gone else goal


def user_of(mctx: MetaContext, goal: str, lctx: LocalContext, fvar_id: str) -> str | None:
    """Describe what mentions a local; None where nothing does."""
    ids = {fvar_id}
    for other in lctx:
        if other.fvar_id != fvar_id and _mentions(mctx, other, ids):
            return f"`{other.user_name}`"
    if mentions(mctx, mctx.decl(goal).type, ids):
        return "the target"
    return None


# -- hypotheses --------------------------------------------------------------------------------------------------------


def assert_hyp(mctx: MetaContext, goal: str, name: str, type_: Expr, value: Expr) -> tuple[str, str]:
    """Add a hypothesis `name : type_`, proved by `value`, at the end of the context; answers (fvar id, goal)."""
    decl = mctx.decl(goal)
    local = mctx.fresh_local(name, type_)
    new = new_goal(mctx, decl.type, decl.lctx.add(local), decl.user_name)
    # A redex: the proof is in the term once, however often the hypothesis is used.
    mctx.assign(goal, App(mctx.mk_lambda([local.fvar_id], MVar(new)), value))
    return local.fvar_id, new


def replace_hyp(mctx: MetaContext, goal: str, fvar_id: str, type_: Expr, proof: Expr) -> tuple[str, str]:
    """Replace a hypothesis by one of the same name with another type and its proof.

    Where something still depends on the old hypothesis, that stays under an inaccessible name. Answers (id, goal).
    """
    decl = mctx.decl(goal)
    old = decl.lctx.by_id[fvar_id]
    local = mctx.fresh_local(old.user_name, type_)
    used = collect_fvars(mctx.instantiate(type_))
    decls = list(decl.lctx)
    # `replaceLocalDecl` of Lean: in the old place, or behind the last local that the new type mentions.
    place = max(i for i, other in enumerate(decls) if other.fvar_id == fvar_id or other.fvar_id in used)
    decls.insert(place + 1, local)
    lctx = LocalContext(decls)
    if user_of(mctx, goal, lctx, fvar_id) is None:
        lctx = lctx.remove([fvar_id])
    else:
        lctx = lctx.rename(fvar_id, inaccessible(old.user_name))
    new = new_goal(mctx, decl.type, lctx, decl.user_name)
    mctx.assign(goal, App(Lam(old.user_name, mctx.instantiate(type_), _body(mctx, local, new)), proof))
    return local.fvar_id, new


def _body(mctx: MetaContext, local: LocalDecl, goal: str) -> Expr:
    lam = mctx.mk_lambda([local.fvar_id], MVar(goal))
    assert isinstance(lam, Lam)
    return lam.body


def retype_hyp(mctx: MetaContext, goal: str, fvar_id: str, type_: Expr) -> tuple[str, dict[str, str]]:
    """Restate a hypothesis by a definitionally equal type; it and all later ones keep place and name.

    Answers the goal and how the ids have changed.
    """
    lctx = mctx.decl(goal).lctx
    if lctx.by_id[fvar_id].type is type_:
        return goal, {}
    place = [decl.fvar_id for decl in lctx].index(fvar_id)
    names = [decl.user_name for decl in lctx.decls[place:]]
    # An id never changes its type (see `lctx`), so the hypothesis and all behind it are introduced again.
    old, goal = revert(mctx, goal, [decl.fvar_id for decl in lctx.decls[place:]])
    target = goal_target(mctx, goal)
    assert isinstance(target, Pi)
    goal = change_target(mctx, goal, Pi(target.name, type_, target.body, target.info))
    new, goal = intro_all(mctx, goal, names)
    return goal, dict(zip(old, new))
