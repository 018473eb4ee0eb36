"""Alternatives of a match that overlap: the condition that excludes an earlier one."""

from __future__ import annotations

from collections.abc import Sequence

from nanolean.kernel.expr import Const, Expr, FVar, Pi, collect_fvars, get_app_fn_args, mk_app
from nanolean.kernel.reduce import literal_to_ctor
from nanolean.meta.bind import replace_fvar
from nanolean.meta.mctx import MetaContext


def exclusion(mctx: MetaContext, earlier: Sequence[Expr], patterns: Sequence[Expr], ids: Sequence[str]) -> Expr | None:
    """`∀ .., x = p → .. → False` for the variables `ids` of the later patterns, None if the two do not overlap."""
    found: list[tuple[Expr, Expr]] = []
    bound: dict[str, Expr] = {}
    if not all(_overlap(a, b, found, bound) for a, b in zip(earlier, patterns)):
        return None
    prop: Expr = Const("False")
    for variable, shape in reversed(found):
        for old, new in bound.items():
            shape = replace_fvar(shape, old, new)
        type_ = mctx.infer_type(variable)
        level = mctx.sort_level(type_)
        assert level is not None, "a type has a level"
        prop = Pi("a", mk_app(Const("Eq", (level,)), type_, variable, shape), prop)
    own = {i for e in earlier for i in collect_fvars(e)}
    return mctx.mk_pi([i for i in collect_fvars(prop) if i in own and i not in ids], prop)


def _overlap(a: Expr, b: Expr, found: list[tuple[Expr, Expr]], bound: dict[str, Expr]) -> bool:
    """Whether two patterns have a common instance; where `a` says more, `found` gets what `b` would have to be."""
    if isinstance(a, FVar):
        bound[a.id] = b
        return True
    if isinstance(b, FVar):
        found.append((b, a))
        return True
    a, b = literal_to_ctor(a), literal_to_ctor(b)
    a_fn, a_args = get_app_fn_args(a)
    b_fn, b_args = get_app_fn_args(b)
    if getattr(a_fn, "name", "") != getattr(b_fn, "name", "") or len(a_args) != len(b_args):
        return False
    return all(x is y or _overlap(x, y, found, bound) for x, y in zip(a_args, b_args))
