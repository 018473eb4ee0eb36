"""Abstracting terms over occurrences of other terms: the motives of `rw`, `induction` and recursors."""

from __future__ import annotations

from collections.abc import Sequence

from nanoproof.lean.nanolean.kernel.expr import App, BVar, Expr, FVar, Lam, Let, Pi, Proj, abstract, get_app_fn
from nanoproof.lean.nanolean.meta.mctx import MetaContext


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


def kabstract(mctx: MetaContext, e: Expr, pattern: Expr) -> Expr:
    """The term with every instance of the pattern replaced by `BVar(0)` of a binder to be put around it.

    Instances have the head and the number of arguments of the pattern and unify with it (reducible transparency);
    the first one fixes the pattern's metavariables.
    """
    e = mctx.instantiate(e)
    pattern = mctx.instantiate(pattern)
    if isinstance(pattern, FVar):
        return abstract(e, [pattern])
    head, count = get_app_fn(pattern), _arity(pattern)
    seen: dict[tuple[Expr, int], Expr] = {}

    def visit(node: Expr, depth: int) -> Expr:
        found = seen.get((node, depth))
        if found is None:
            found = seen[node, depth] = visit_node(node, depth)
        return found

    def visit_node(node: Expr, depth: int) -> Expr:
        if not node.loose and _arity(node) == count and _same_head(get_app_fn(node), head, mctx):
            with mctx.with_transparency("reducible"):
                if mctx.is_def_eq(pattern, node):
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
