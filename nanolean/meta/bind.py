"""Closing terms over locals: `fun x => e` and `(x : T) → e` where `e` may still hold metavariables that can see `x`.

A natural metavariable `?m` in the scope of `x` is replaced by `?n x` for a new `?n` outside of it. A goal keeps its
identity: the surroundings get `?d x` with a delayed assignment (see `store`).
"""

from collections.abc import Sequence
from typing import Any

from nanolean.kernel.expr import (
    Expr,
    FVar,
    Lam,
    Let,
    MVar,
    Pi,
    abstract,
    collect_fvars,
    collect_mvars,
    mk_app,
    replace,
)
from nanolean.meta.lctx import LocalContext
from nanolean.meta.store import MetaStore


def mk_lambda(store: MetaStore, fvar_ids: Sequence[str], body: Expr) -> Expr:
    """`fun x₁ .. xₙ => body` over locals given from the outside in; locals with a value become `let`."""
    return _bind(store, fvar_ids, body, Lam)


def mk_pi(store: MetaStore, fvar_ids: Sequence[str], body: Expr) -> Expr:
    """`(x₁ : T₁) → .. → body` over locals given from the outside in; locals with a value become `let`."""
    return _bind(store, fvar_ids, body, Pi)


def _bind(store: MetaStore, fvar_ids: Sequence[str], body: Expr, binder: Any) -> Expr:
    if not fvar_ids:
        return body
    fvars: list[Expr] = [FVar(fvar_id) for fvar_id in fvar_ids]
    result = abstract(lift_mvars_out(store, fvar_ids, store.instantiate(body)), fvars)
    for i in range(len(fvars) - 1, -1, -1):
        decl = store.fvars[fvar_ids[i]]
        type_ = abstract(lift_mvars_out(store, fvar_ids, store.instantiate(decl.type)), fvars[:i])
        if decl.value is None:
            result = binder(decl.user_name, type_, result, decl.info)
        else:
            value = lift_mvars_out(store, fvar_ids, store.instantiate(decl.value))
            result = Let(decl.user_name, type_, abstract(value, fvars[:i]), result)
    return result


def lift_mvars_out(store: MetaStore, fvar_ids: Sequence[str], e: Expr) -> Expr:
    """Return an equal term whose metavariables cannot see the given locals, other than through their arguments."""
    if not e.has_mvar:
        return e
    # The loop below asks each metavariable about each local, which no walk over terms pays for.
    store.budget.spend(2 * len(fvar_ids))
    new: dict[Expr, Expr] = {}
    for mvar_id in collect_mvars(e):
        decl = store.decls[mvar_id]
        seen = [fvar_id for fvar_id in fvar_ids if fvar_id in decl.lctx]
        if seen:
            new[MVar(mvar_id)] = _lifted(store, mvar_id, seen)
    if not new:
        return e
    return store.instantiate(replace(e, lambda node: new.get(node) if node.has_mvar else node))


def _lifted(store: MetaStore, mvar_id: str, seen: list[str]) -> Expr:
    decl = store.decls[mvar_id]
    outer = outer_context(store, decl.lctx, seen)
    target = store.delayed.get(mvar_id)
    # `elimMVarDeps` of Lean's MetavarContext.lean: a natural `?m` becomes `?n x`, while a goal has to stay the one that
    # its tactics are working on and is bound by a delayed assignment.
    if target is None and store.is_assignable(mvar_id):
        # A `let` is no argument: `?n` speaks of its value, which is put into the type here.
        args = [fvar_id for fvar_id in seen if store.fvars[fvar_id].value is None]
        type_ = _without_lets(store, seen, decl.type)
        new = store.fresh_mvar(mk_pi(store, args, type_), outer, "natural")
        value = mk_app(new, *[FVar(fvar_id) for fvar_id in args])
        store.assign(mvar_id, value)
        return value
    new = store.fresh_mvar(_plain_pi(store, seen, decl.type), outer, "synthetic", decl.user_name)
    if target is None:
        store.assign_delayed(new.id, seen, mvar_id)
    else:
        # One delay that waits for another is written as one, from the outer locals to the goal.
        store.assign_delayed(new.id, (*seen, *target.fvars), target.mvar_id)
    return mk_app(new, *[FVar(fvar_id) for fvar_id in seen])


def outer_context(store: MetaStore, lctx: LocalContext, hidden: Sequence[str]) -> LocalContext:
    """Return the context without the hidden locals and without whatever depends on them."""
    gone = set(hidden)
    first = next(i for i, decl in enumerate(lctx.decls) if decl.fvar_id in gone)
    # Nothing before the first hidden local can depend on one: contexts are in order.
    for decl in lctx.decls[first:]:
        if decl.fvar_id not in gone and depends_on(store, decl.type, decl.value, gone):
            gone.add(decl.fvar_id)
    return lctx.remove(gone)


def depends_on(store: MetaStore, type_: Expr, value: Expr | None, fvar_ids: set[str]) -> bool:
    """Return whether a declaration with this type and value mentions one of the locals."""
    return mentions(store, type_, fvar_ids) or (value is not None and mentions(store, value, fvar_ids))


def mentions(store: MetaStore, e: Expr, fvar_ids: set[str]) -> bool:
    """Return whether one of the locals occurs in the instantiated term."""
    e = store.instantiate(e)
    return e.has_fvar and not fvar_ids.isdisjoint(collect_fvars(e))


def _without_lets(store: MetaStore, fvar_ids: Sequence[str], e: Expr) -> Expr:
    """The term with the `let` locals among `fvar_ids` replaced by their values."""
    for fvar_id in reversed(fvar_ids):
        value = store.fvars[fvar_id].value
        if value is not None:
            e = replace_fvar(e, fvar_id, value)
    return e


def replace_fvar(e: Expr, fvar_id: str, value: Expr) -> Expr:
    """Replace one free variable of the term (not inside of metavariables)."""
    if not e.has_fvar:
        return e
    fvar = FVar(fvar_id)
    return replace(e, lambda node: value if node is fvar else (None if node.has_fvar else node))


def _plain_pi(store: MetaStore, fvar_ids: Sequence[str], body: Expr) -> Expr:
    """`mk_pi` where `let` locals are bound like the others, for the type of a delayed metavariable."""
    fvars: list[Expr] = [FVar(fvar_id) for fvar_id in fvar_ids]
    result = abstract(lift_mvars_out(store, fvar_ids, store.instantiate(body)), fvars)
    for i in range(len(fvars) - 1, -1, -1):
        decl = store.fvars[fvar_ids[i]]
        type_ = abstract(lift_mvars_out(store, fvar_ids, store.instantiate(decl.type)), fvars[:i])
        result = Pi(decl.user_name, type_, result, decl.info)
    return result
