"""A total order on terms for rules that only permute, such as commutativity: a lexicographic path order.

A term is larger than its parts; among terms of different forms variables are smallest, then constants, literals and
applications. Locals compare by their place in the context.
"""

from __future__ import annotations

from collections.abc import Callable

from nanolean.kernel.expr import App, BVar, Const, Expr, FVar, Lam, Lit, MVar, Pi, Sort, get_app_fn_args

WEIGHTS = {BVar: 0, FVar: 1, MVar: 2, Sort: 3, Const: 4, Lit: 5, App: 8, Lam: 9, Pi: 10}


class TermOrder:
    """The order over one local context; what was compared once is remembered, or the time would be exponential.

    `place` tells where a local stands in the context, `spend` is called for each new comparison.
    """

    def __init__(self, place: Callable[[str], int], spend: Callable[[], object]) -> None:
        self.place = place
        self.spend = spend
        self._known: dict[tuple[Expr, Expr], bool] = {}

    def less(self, a: Expr, b: Expr) -> bool:
        """Whether `a` is smaller than `b`."""
        if a is b:
            return False
        found = self._known.get((a, b))
        if found is None:
            self.spend()
            found = self._known[a, b] = self._compare(a, b)
        return found

    def _compare(self, a: Expr, b: Expr) -> bool:
        if any(child is a or self.less(a, child) for child in _children(b)):
            return True
        weight_a, weight_b = WEIGHTS.get(a.__class__, 12), WEIGHTS.get(b.__class__, 12)
        if weight_a != weight_b:
            return weight_a < weight_b and self._parts_less(_children(a), b)
        if isinstance(a, FVar) and isinstance(b, FVar):
            return self.place(a.id) < self.place(b.id)
        if isinstance(a, Const) and isinstance(b, Const):
            return a.name < b.name
        if isinstance(a, Lit) and isinstance(b, Lit):
            return a.value < b.value
        if isinstance(a, App) and isinstance(b, App):
            return self._apps_less(a, b)
        return self._lexicographic(_children(a), _children(b)) and self._parts_less(_children(a), b)

    def _apps_less(self, a: App, b: App) -> bool:
        fn_a, args_a = get_app_fn_args(a)
        fn_b, args_b = get_app_fn_args(b)
        if fn_a is not fn_b:
            return self.less(fn_a, fn_b) and self._parts_less(args_a, b)
        if len(args_a) != len(args_b):
            return len(args_a) < len(args_b)
        return self._lexicographic(args_a, args_b) and self._parts_less(args_a, b)

    def _parts_less(self, parts: list[Expr], b: Expr) -> bool:
        return all(self.less(part, b) for part in parts)

    def _lexicographic(self, left: list[Expr], right: list[Expr]) -> bool:
        for a, b in zip(left, right):
            if a is not b:
                return self.less(a, b)
        return len(left) < len(right)


def _children(e: Expr) -> list[Expr]:
    if isinstance(e, App):
        return get_app_fn_args(e)[1]
    if isinstance(e, Lam | Pi):
        return [e.type, e.body]
    return []
