"""Abstracting terms over occurrences of other terms, and conditions that exclude overlapping alternatives."""

import itertools
from collections.abc import Container, Sequence

from nanolean.kernel.expr import (
    App,
    BVar,
    Const,
    Expr,
    FVar,
    Lam,
    Let,
    Pi,
    Proj,
    abstract,
    collect_fvars,
    get_app_fn,
    get_app_fn_args,
    mk_app,
)
from nanolean.kernel.reduce import literal_to_ctor
from nanolean.meta.bind import replace_fvar
from nanolean.meta.mctx import MetaContext


def abstract_occurrences(mctx: MetaContext, e: Expr, targets: Sequence[Expr]) -> Expr:
    """`fun x₁ .. xₙ => e` with the occurrences of each target replaced by its variable (free variables exactly, other
    terms where they agree up to reducible unfolding)."""
    result = e
    # From the last target, so that the first becomes the outermost binder; the types of later targets are abstracted
    # over the earlier ones on the way.
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
    """Replace every instance of the pattern in the term by `BVar(0)` of a binder to be put around it.

    Instances have the head and the number of arguments of the pattern and unify with it (reducible transparency);
    the first one fixes the pattern's metavariables. With `only` just the instances of these places count (from 1,
    outermost first, left to right); the others leave the metavariables as they are.
    """
    e = mctx.instantiate(e)
    pattern = mctx.instantiate(pattern)
    if isinstance(pattern, FVar) and only is None:
        return abstract(e, [pattern])
    # As Meta/KAbstract.lean: head and number of arguments are compared before unification, so that a pattern such as
    # `?a + 0` is not found in `5` although the two unify.
    head, count = get_app_fn(pattern), _arity(pattern)
    seen: dict[tuple[Expr, int], Expr] = {}
    places = itertools.count(1)

    def is_instance(node: Expr) -> bool:
        mark = mctx.save()
        # Lean's `rw` unifies here at the transparency of instances, which is reducible where there are no type classes.
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
        # The depth is part of the key: the same term gets another index under another number of binders.
        abstracted = seen.get((node, depth))
        if abstracted is None:
            abstracted = seen[node, depth] = visit_node(node, depth)
        return abstracted

    def visit_node(node: Expr, depth: int) -> Expr:
        # A term with loose variables is none that the context could name; Lean's `kabstract` leaves it too.
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


def exclusion(mctx: MetaContext, earlier: Sequence[Expr], own: Sequence[str], patterns: Sequence[Expr]) -> Expr | None:
    """`∀ .., x = p → .. → False` for variables of later patterns; None if they do not overlap with the earlier ones.

    `own` are the variables of the earlier patterns.
    """
    unequal: list[tuple[Expr, Expr]] = []
    bound: dict[str, Expr] = {}
    if not all(_overlap(a, b, unequal, bound) for a, b in zip(earlier, patterns)):
        return None
    prop: Expr = Const("False")
    for variable, shape in reversed(unequal):
        for old, new in bound.items():
            shape = replace_fvar(shape, old, new)
        type_ = mctx.infer_type(variable)
        level = mctx.sort_level(type_)
        assert level is not None, "a type has a level"
        prop = Pi("a", mk_app(Const("Eq", (level,)), type_, variable, shape), prop)
    # Only variables of the earlier patterns are bound here: the others are arguments of the equation that takes this as
    # a condition (Lean's `eq_N` theorems have such conditions for overlapping alternatives).
    return mctx.mk_pi([i for i in collect_fvars(prop) if i in own], prop)


def _overlap(a: Expr, b: Expr, unequal: list[tuple[Expr, Expr]], bound: dict[str, Expr]) -> bool:
    """Whether two patterns have a common instance; where `a` says more, `unequal` gets what `b` would have to be."""
    if isinstance(a, FVar):
        bound[a.id] = b
        return True
    if isinstance(b, FVar):
        unequal.append((b, a))
        return True
    # The pattern `2` overlaps with `n + 1`, which by constructors are `succ (succ zero)` and `succ n`.
    a, b = literal_to_ctor(a), literal_to_ctor(b)
    a_fn, a_args = get_app_fn_args(a)
    b_fn, b_args = get_app_fn_args(b)
    if getattr(a_fn, "name", "") != getattr(b_fn, "name", "") or len(a_args) != len(b_args):
        return False
    return all(x is y or _overlap(x, y, unequal, bound) for x, y in zip(a_args, b_args))
