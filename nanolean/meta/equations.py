"""Unfolding recursive definitions by their equations: `fac (n + 1)` is `(n + 1) * fac n`, not a term over `brecOn`.

`f.eq_def` states what the body of a definition is. Where the argument of the recursion is a constructor, that is true
by computation, so terms may be replaced by it as long as all matches that lead to a recursive call are decided.
"""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

from nanolean.kernel.declaration import Constants, CtorInfo, DefInfo, TheoremInfo
from nanolean.kernel.expr import (
    BVar,
    Const,
    Expr,
    Lam,
    Lit,
    Pi,
    collect_consts,
    get_app_fn_args,
    instantiate_rev,
    mk_app,
)
from nanolean.meta.matchers import matcher_of, reduce_matcher
from nanolean.meta.store import MetaStore

Whnf = Callable[[MetaStore, Expr], Expr]


def equation_names(env: Constants, name: str) -> list[str]:
    """The names of the equations of a definition, in order."""
    names: list[str] = []
    while (equation := f"{name}.eq_{len(names) + 1}") in env:
        names.append(equation)
    return names


def unfolding_name(env: Constants, name: str) -> str | None:
    """The theorem that states the body of a recursive or matching definition, None where there is none."""
    theorem = f"{name}.eq_def"
    return theorem if isinstance(env.get(theorem), TheoremInfo) else None


_RECURSIVE_ARGUMENTS: WeakKeyDictionary[DefInfo, tuple[int, int] | None] = WeakKeyDictionary()


def recursive_argument(info: DefInfo) -> tuple[int, int] | None:
    """Arity and place of the argument that gets smaller, for a definition by structural recursion, otherwise None."""
    if info not in _RECURSIVE_ARGUMENTS:
        _RECURSIVE_ARGUMENTS[info] = _find(info)
    return _RECURSIVE_ARGUMENTS[info]


def _find(info: DefInfo) -> tuple[int, int] | None:
    body, arity = info.value, 0
    while isinstance(body, Lam):
        body, arity = body.body, arity + 1
    fn, args = get_app_fn_args(body)
    if not isinstance(fn, Const) or not fn.name.endswith(".brecOn"):
        return None
    # behind the major premise there are the function given to `brecOn` and the variables that the motive is over
    step = len(args) - 1
    while step > 0 and isinstance(args[step], BVar):
        step -= 1
    major = args[step - 1] if step > 0 else None
    return (arity, arity - 1 - major.idx) if isinstance(major, BVar) else None


def unfold_by_equations(store: MetaStore, fn: Const, args: list[Expr], whnf: Whnf, whnf_core: Whnf) -> Expr | None:
    """The body of a recursive definition for these arguments, None where it does not compute yet."""
    info = store.env.get(fn.name)
    assert isinstance(info, DefInfo)
    shape = recursive_argument(info)
    if shape is None or len(args) < shape[0]:
        return None
    arity, major = shape
    if not _is_constructor(store.env, whnf(store, args[major])):
        return None
    body = body_of(store.env, fn, args[:arity])
    if body is None:
        return None
    leaf = _decide(store, body, fn.name, whnf_core)
    return None if leaf is None else mk_app(leaf, *args[arity:])


def body_of(env: Constants, fn: Const, args: list[Expr]) -> Expr | None:
    """The right side of `f.eq_def` for these arguments."""
    name = unfolding_name(env, fn.name)
    if name is None:
        return None
    type_ = env[name].type_at(fn.levels)
    for _ in args:
        if not isinstance(type_, Pi):
            return None
        type_ = type_.body
    _, sides = get_app_fn_args(type_)
    return instantiate_rev(sides[2], args) if len(sides) == 3 else None


def _is_constructor(env: Constants, e: Expr) -> bool:
    head, _ = get_app_fn_args(e)
    return isinstance(e, Lit) or (isinstance(head, Const) and isinstance(env.get(head.name), CtorInfo))


def _decide(store: MetaStore, e: Expr, name: str, whnf_core: Whnf) -> Expr | None:
    """The term behind all matches on the way to a recursive call of `name`; None where one is not decided."""
    while True:
        fn, args = get_app_fn_args(e)
        matcher = matcher_of(store.env, fn)
        if matcher is None or not isinstance(fn, Const):
            return e
        new = reduce_matcher(store, fn, args, whnf_core)
        if new is None:
            alternatives = args[matcher.first_alternative : matcher.arity]
            return None if any(name in collect_consts(alternative) for alternative in alternatives) else e
        store.budget.spend()
        e = new
