"""A total order on terms for rules that only permute, such as commutativity: a lexicographic path order.

A term is larger than its parts; among terms of different forms variables are smallest, then constants, literals and
applications. Locals compare by their place in the context.
"""

from __future__ import annotations

from collections.abc import Callable

from nanoproof.lean.nanolean.kernel.expr import App, BVar, Const, Expr, FVar, Lam, Lit, MVar, Pi, Sort, get_app_fn_args

WEIGHTS = {BVar: 0, FVar: 1, MVar: 2, Sort: 3, Const: 4, Lit: 5, App: 8, Lam: 9, Pi: 10}


def less(a: Expr, b: Expr, place: Callable[[str], int]) -> bool:
    """Whether `a` is smaller than `b`; `place` tells where a local stands in the context."""
    if a is b:
        return False
    if any(child is a or less(a, child, place) for child in _children(b)):
        return True
    weight_a, weight_b = WEIGHTS.get(a.__class__, 12), WEIGHTS.get(b.__class__, 12)
    if weight_a != weight_b:
        return weight_a < weight_b and all(less(child, b, place) for child in _children(a))
    if isinstance(a, FVar) and isinstance(b, FVar):
        return place(a.id) < place(b.id)
    if isinstance(a, Const) and isinstance(b, Const):
        return a.name < b.name
    if isinstance(a, Lit) and isinstance(b, Lit):
        return a.value < b.value
    if isinstance(a, App) and isinstance(b, App):
        return _less_apps(a, b, place)
    return _lexicographic(_children(a), _children(b), place) and all(less(child, b, place) for child in _children(a))


def _less_apps(a: App, b: App, place: Callable[[str], int]) -> bool:
    fn_a, args_a = get_app_fn_args(a)
    fn_b, args_b = get_app_fn_args(b)
    if fn_a is not fn_b:
        return less(fn_a, fn_b, place) and all(less(child, b, place) for child in args_a)
    if len(args_a) != len(args_b):
        return len(args_a) < len(args_b)
    return _lexicographic(args_a, args_b, place) and all(less(child, b, place) for child in args_a)


def _lexicographic(left: list[Expr], right: list[Expr], place: Callable[[str], int]) -> bool:
    for a, b in zip(left, right):
        if a is not b:
            return less(a, b, place)
    return len(left) < len(right)


def _children(e: Expr) -> list[Expr]:
    if isinstance(e, App):
        return get_app_fn_args(e)[1]
    if isinstance(e, Lam | Pi):
        return [e.type, e.body]
    return []
