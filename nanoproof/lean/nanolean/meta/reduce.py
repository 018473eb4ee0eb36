"""Reduction of terms with metavariables, under a transparency that says which definitions unfold.

The single steps (recursors, projections, arithmetic on literals) are the kernel's; here is the order in which they are
tried and what a metavariable or a `let` local means to them. Results for terms without metavariables are kept in
`store.caches`.
"""

from __future__ import annotations

from nanoproof.lean.nanolean.kernel.declaration import DefInfo
from nanoproof.lean.nanolean.kernel.expr import (
    App,
    Const,
    Expr,
    FVar,
    Lam,
    Let,
    MVar,
    Proj,
    get_app_fn,
    get_app_fn_args,
    instantiate,
    mk_app,
)
from nanoproof.lean.nanolean.kernel.reduce import beta, fold_nat, reduce_head, reduce_proj
from nanoproof.lean.nanolean.meta.store import MetaStore


def whnf(store: MetaStore, e: Expr) -> Expr:
    """Weak head normal form under the store's transparency."""
    if not e.has_mvar:
        cache = store.caches.whnf[store.transparency]
        found = cache.get(e)
        if found is None:
            found = cache[e] = _whnf(store, e)
        return found
    return _whnf(store, e)


def _whnf(store: MetaStore, e: Expr) -> Expr:
    while True:
        e = whnf_core(store, e)
        new = _fold_nat(store, e) or unfold(store, e)
        if new is None:
            return e
        e = new


def whnf_core(store: MetaStore, e: Expr) -> Expr:
    """Weak head normal form without unfolding definitions (major premises of recursors do unfold)."""
    while True:
        cls = e.__class__
        if cls is App:
            new = _app_step(store, e)
        elif cls is FVar:
            new = store.fvars[e.id].value  # type: ignore[attr-defined]
        elif cls is MVar:
            new = store.assignment.get(e.id)  # type: ignore[attr-defined]
        elif isinstance(e, Let):
            new = instantiate(e.body, e.value)
        elif isinstance(e, Proj):
            new = reduce_proj(store.env, e, store.whnf)
        else:
            return e
        if new is None:
            return e
        store.budget.spend()
        e = new


def _app_step(store: MetaStore, e: Expr) -> Expr | None:
    """One step at the head of an application, None if there is none."""
    fn, args = get_app_fn_args(e)
    if isinstance(fn, Const):
        new = reduce_head(store.env, fn, args, store)
        return new if new is not None or store.transparency == "none" else None
    if isinstance(fn, Lam):
        return beta(fn, args)
    if isinstance(fn, MVar):
        if fn.id in store.assignment or fn.id in store.delayed:
            new = store.instantiate(e)
            return None if new is e else new
        return None
    head = whnf_core(store, fn)
    return None if head is fn else beta(head, args)


def _fold_nat(store: MetaStore, e: Expr) -> Expr | None:
    if e.__class__ is not App or store.transparency != "default":
        return None
    return fold_nat(store.env, e, store.whnf)


def definition(store: MetaStore, e: Expr) -> DefInfo | None:
    """The definition at the head of a term, if the transparency lets it unfold."""
    fn = get_app_fn(e)
    if not isinstance(fn, Const):
        return None
    info = store.env.get(fn.name)
    if not isinstance(info, DefInfo) or store.transparency == "none":
        return None
    return info if store.transparency == "default" or info.reducible else None


def unfold(store: MetaStore, e: Expr) -> Expr | None:
    """The term with the definition at its head unfolded and reduced, None if it does not unfold.

    A definition by recursion unfolds only where its recursor then computes, so that `a + b` never turns into a stuck
    `Nat.rec`.
    """
    info = definition(store, e)
    if info is None:
        return None
    fn, args = get_app_fn_args(e)
    assert isinstance(fn, Const)
    store.budget.spend()
    body = beta(info.value_at(fn.levels), args)
    if not _is_recursor_app(store, get_app_fn(_lambda_body(info.value))):
        return body
    reduced = whnf_core(store, body)
    head = get_app_fn(reduced)
    return None if _is_recursor_app(store, head) or isinstance(reduced, Lam) else reduced


def _lambda_body(e: Expr) -> Expr:
    while isinstance(e, Lam):
        e = e.body
    return e


def _is_recursor_app(store: MetaStore, head: Expr) -> bool:
    info = store.env.get(head.name) if isinstance(head, Const) else None
    return info is not None and info.kind == "rec"


def unfold_const(store: MetaStore, e: Expr) -> Expr | None:
    """The term with the definition at its head replaced by its value, whatever becomes of it (`unfold f`)."""
    info = definition(store, e)
    if info is None:
        return None
    fn, args = get_app_fn_args(e)
    assert isinstance(fn, Const)
    return beta(info.value_at(fn.levels), args)


def head_beta(e: Expr) -> Expr:
    """The term with redexes at its head contracted."""
    fn, args = get_app_fn_args(e)
    return beta(fn, args) if isinstance(fn, Lam) else mk_app(fn, *args)
