"""Abstracting terms over occurrences of other terms: the motives of `rw`, `induction` and recursors."""

from __future__ import annotations

import itertools
from collections.abc import Container, Sequence

from nanolean.kernel.expr import App, BVar, Expr, FVar, Lam, Let, Pi, Proj, abstract, get_app_fn
from nanolean.meta.mctx import MetaContext


def abstract_occurrences(mctx: MetaContext, e: Expr, targets: Sequence[Expr]) -> Expr:
    """`fun x₁ .. xₙ => e` with the occurrences of each target replaced by its variable (free variables exactly, other
    terms where they agree up to reducible unfolding)."""
    result = e
    for index in range(len(targets) - 1, -1, -1):
        target = targets[index]
        type_ = mctx.instantiate(mctx.infer_type(target))
        if isinstance(target, FVar):
            name = mctx.fvars[target.id].user_name
            body = abstract(mctx.instantiate(result), [target])
        else:
            name, body = "x", kabstract(mctx, result, target)
        result = Lam(name, type_, body)
    return result


def kabstract(mctx: MetaContext, e: Expr, pattern: Expr, only: Container[int] | None = None) -> Expr:
    """The term with every instance of the pattern replaced by `BVar(0)` of a binder to be put around it.

    Instances have the head and the number of arguments of the pattern and unify with it (reducible transparency);
    the first one fixes the pattern's metavariables. With `only` just the instances of these places count (from 1,
    outermost first, left to right); the others leave the metavariables as they are.
    """
    e = mctx.instantiate(e)
    pattern = mctx.instantiate(pattern)
    if isinstance(pattern, FVar) and only is None:
        return abstract(e, [pattern])
    head, count = get_app_fn(pattern), _arity(pattern)
    seen: dict[tuple[Expr, int], Expr] = {}
    places = itertools.count(1)

    def is_instance(node: Expr) -> bool:
        mark = mctx.save()
        with mctx.with_transparency("reducible"):
            if not mctx.is_def_eq(pattern, node):
                return False
        if only is None or next(places) in only:
            return True
        mctx.restore(mark)
        return False

    def visit(node: Expr, depth: int) -> Expr:
        if only is not None:
            mctx.budget.spend()
            return visit_node(node, depth)  # every instance counts, also where the same term stands twice
        found = seen.get((node, depth))
        if found is None:
            found = seen[node, depth] = visit_node(node, depth)
        return found

    def visit_node(node: Expr, depth: int) -> Expr:
        fits = not node.loose and _arity(node) == count and _same_head(get_app_fn(node), head, mctx)
        if fits and is_instance(node):
            return BVar(depth)
        if isinstance(node, App):
            return App(visit(node.fn, depth), visit(node.arg, depth))
        if isinstance(node, Lam):
            return Lam(node.name, visit(node.type, depth), visit(node.body, depth + 1), node.info)
        if isinstance(node, Pi):
            return Pi(node.name, visit(node.type, depth), visit(node.body, depth + 1), node.info)
        if isinstance(node, Let):
            value = visit(node.value, depth)
            return Let(node.name, visit(node.type, depth), value, visit(node.body, depth + 1))
        if isinstance(node, Proj):
            return Proj(node.struct, node.idx, visit(node.expr, depth))
        return node

    return visit(e, 0)


def _arity(e: Expr) -> int:
    count = 0
    while isinstance(e, App):
        e, count = e.fn, count + 1
    return count


def _same_head(a: Expr, b: Expr, mctx: MetaContext) -> bool:
    if a is b:
        return True
    a_name, b_name = getattr(a, "name", None), getattr(b, "name", None)
    return a_name is not None and a_name == b_name and a.__class__ is b.__class__
