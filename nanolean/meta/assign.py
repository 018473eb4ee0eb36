"""Assigning `?m x₁ .. xₙ := v`: Miller patterns, with the first-order approximation where the arguments are no pattern.

A value is accepted when `?m` does not occur in it, when it mentions only locals that `?m` may see, and when its type
agrees. Metavariables in the value that can see more than `?m` are narrowed first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nanolean.kernel.expr import (
    PROP,
    App,
    BVar,
    Expr,
    FVar,
    Lam,
    Let,
    MVar,
    Pi,
    Proj,
    get_app_fn_args,
    has_loose_bvar,
    instantiate,
    mk_app,
)
from nanolean.meta.bind import depends_on, mentions, mk_lambda, replace_fvar
from nanolean.meta.infer import infer_type
from nanolean.meta.lctx import LocalContext
from nanolean.meta.store import MetaStore, MVarDecl

if TYPE_CHECKING:
    from collections.abc import Callable

    DefEq = Callable[[MetaStore, Expr, Expr], bool]


def assign_flex(store: MetaStore, mvar: MVar, args: Sequence[Expr], value: Expr, def_eq: DefEq) -> bool:
    """Try to make `mvar args = value` true by assigning the (assignable) metavariable; False leaves rubbish behind
    that the caller undoes. `def_eq` is the unifier, for types and for the arguments of the approximation."""
    decl = store.decls[mvar.id]
    if not args:
        return _assign_value(store, decl, value, def_eq)
    fvars = _pattern(store, args)
    if fvars is None:
        return _first_order(store, mvar, args, value, def_eq)
    # Of a local that `?m` sees by itself a value may speak with or without the argument, so that the pattern has more
    # than one solution. Lean takes the approximation there (`processAssignment` in Meta/ExprDefEq.lean).
    if any(fvar_id in decl.lctx for fvar_id in fvars):
        mark = store.save()
        if _first_order(store, mvar, args, value, def_eq):
            return True
        store.restore(mark)
    return _assign_pattern(store, decl, fvars, value, def_eq)


def _pattern(store: MetaStore, args: Sequence[Expr]) -> list[str] | None:
    """The ids of the arguments if they are distinct free variables without values."""
    fvars: list[str] = []
    for arg in args:
        arg = store.instantiate(arg)
        if not isinstance(arg, FVar) or arg.id in fvars or store.fvars[arg.id].value is not None:
            return None
        fvars.append(arg.id)
    return fvars


def _assign_value(store: MetaStore, decl: MVarDecl, value: Expr, def_eq: DefEq) -> bool:
    checked = visible(store, decl.mvar_id, decl.lctx, value)
    if checked is None:
        return False
    type_ = infer_type(store, checked)
    # `checkTypesAndAssign` of Meta/ExprDefEq.lean: the types are compared at default transparency whatever the caller's
    # is, or a `rw` could not give `?m : Nat` a value whose type only unfolds to `Nat`.
    if type_ is not decl.type:
        before = store.transparency
        store.transparency = "default"
        try:
            if not def_eq(store, decl.type, type_):
                return False
        finally:
            store.transparency = before
        # Comparing the types may have solved `?m` itself.
        if store.is_assigned(decl.mvar_id):
            return def_eq(store, MVar(decl.mvar_id), checked)
    store.assign(decl.mvar_id, checked)
    return True


def _assign_pattern(store: MetaStore, decl: MVarDecl, fvars: list[str], value: Expr, def_eq: DefEq) -> bool:
    # What the arguments name is bound by the `fun` that becomes the value, so the value may speak of it.
    scope = decl.lctx.add(*[store.fvars[fvar_id] for fvar_id in fvars if fvar_id not in decl.lctx])
    body = visible(store, decl.mvar_id, scope, value)
    if body is None:
        return False
    # `?f x = g x` gives `?f := g` and not `fun x => g x`, which a goal would show.
    return _assign_value(store, decl, eta_reduce(mk_lambda(store, fvars, body)), def_eq)


def _first_order(store: MetaStore, mvar: MVar, args: Sequence[Expr], value: Expr, def_eq: DefEq) -> bool:
    """`?m a₁ .. aₖ = f b₁ .. bₙ` by `?m = f b₁ .. bₙ₋ₖ` and equal last arguments."""
    fn, value_args = get_app_fn_args(store.instantiate(value))
    split = len(value_args) - len(args)
    if split < 0:
        return False
    head = mk_app(fn, *value_args[:split])
    return def_eq(store, mvar, head) and all(def_eq(store, a, b) for a, b in zip(args, value_args[split:]))


def eta_reduce(e: Expr) -> Expr:
    """`f` for `fun x => f x`, as often as that applies."""
    if isinstance(e, Lam):
        body = eta_reduce(e.body)
        if isinstance(body, App) and body.arg is BVar(0) and not has_loose_bvar(body.fn, 0):
            return instantiate(body.fn, PROP)  # nothing is replaced, the other indices move down
    return e


def visible(store: MetaStore, mvar_id: str, scope: LocalContext, value: Expr) -> Expr | None:
    """Return an equal value free of `?mvar_id` and of locals outside of `scope`; None where there is none."""
    value = store.instantiate(value)
    if not (value.has_fvar or value.has_mvar):
        return value
    fvars, mvars = free_variables(value)
    hidden = [fvar_id for fvar_id in fvars if fvar_id not in scope.by_id]
    if hidden:
        # A `let` local is no obstacle: its value may be visible where it is not (`checkFVar` of Lean's
        # `CheckAssignment`).
        lets = [fvar_id for fvar_id in hidden if store.fvars[fvar_id].value is not None]
        if not lets:
            return None
        for fvar_id in lets:
            let_value = store.fvars[fvar_id].value
            assert let_value is not None
            value = replace_fvar(value, fvar_id, let_value)
        return visible(store, mvar_id, scope, value)
    narrowed = False
    for other in mvars:
        if occurs_in(store, mvar_id, other):
            return None
        other_decl = store.decls[other]
        # What `?other` gets later might name a local that `?m` does not see (`checkMVar` of Lean's `CheckAssignment`).
        if not other_decl.lctx.subset_of(scope):
            if not _narrow(store, other_decl, scope):
                return None
            narrowed = True
    return store.instantiate(value) if narrowed else value


def occurs_in(store: MetaStore, mvar_id: str, other: str) -> bool:
    """Return whether the unassigned metavariable `other` is, or is delayed until, `mvar_id`."""
    if other == mvar_id:
        return True
    delayed = store.delayed.get(other)
    # A delayed `?d` becomes the value of its goal: a value that mentions it would make a circle through that goal.
    if delayed is None:
        return False
    target = store.instantiate(MVar(delayed.mvar_id))
    return any(occurs_in(store, mvar_id, inner) for inner in free_variables(target)[1])


def _narrow(store: MetaStore, decl: MVarDecl, scope: LocalContext) -> bool:
    """Give `decl` a value that sees only what `scope` sees; False if it is a goal or its type needs more."""
    # Goals stay as they are: narrowing would take hypotheses away from whoever proves them.
    if not store.is_assignable(decl.mvar_id):
        return False
    gone = {local.fvar_id for local in decl.lctx if local.fvar_id not in scope.by_id}
    for local in decl.lctx:
        if local.fvar_id not in gone and depends_on(store, local.type, local.value, gone):
            gone.add(local.fvar_id)
    if mentions(store, decl.type, gone):
        return False
    new = store.fresh_mvar(decl.type, decl.lctx.remove(gone), "natural", decl.user_name)
    store.assign(decl.mvar_id, new)
    return True


def free_variables(e: Expr) -> tuple[list[str], list[str]]:
    """Ids of the free variables and of the metavariables of a term."""
    fvars: list[str] = []
    mvars: list[str] = []
    seen: set[Expr] = set()
    stack: list[Expr] = [e]
    while stack:
        node = stack.pop()
        if not (node.has_fvar or node.has_mvar) or node in seen:
            continue
        seen.add(node)
        if isinstance(node, App):
            # Pushed from right to left, so that ids come in the order in which a text mentions them.
            stack.append(node.arg)
            stack.append(node.fn)
        elif isinstance(node, FVar):
            fvars.append(node.id)
        elif isinstance(node, MVar):
            mvars.append(node.id)
        elif isinstance(node, Lam | Pi):
            stack.append(node.body)
            stack.append(node.type)
        elif isinstance(node, Let):
            stack += (node.body, node.value, node.type)
        elif isinstance(node, Proj):
            stack.append(node.expr)
    return fvars, mvars
