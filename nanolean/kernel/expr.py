"""Terms and the operations on them; everything here is pure and knows no environment.

The node classes come from `node`; whoever works with terms has them from here. Argument order: `instantiate(body, a,
b)` puts `a` for `BVar(0)`, `b` for `BVar(1)`; `instantiate_rev(body, (a, b))` is for telescopes given from the outside
in, so it puts `b` for `BVar(0)`. `abstract(e, fvars)` undoes `instantiate_rev`: the last variable becomes `BVar(0)`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from nanolean.kernel.budget import METER, BudgetExceeded, allow_deep_recursion
from nanolean.kernel.level import Level, LParam, collect_level_params, substitute
from nanolean.kernel.node import (
    HAVE,  # noqa: F401
    PROP,  # noqa: F401
    TYPE,  # noqa: F401
    App,
    BVar,
    Const,
    Expr,
    FVar,
    Lam,
    Let,
    Lit,  # noqa: F401
    MVar,
    Pi,
    Proj,
    Sort,
    node_count,  # noqa: F401
    show,  # noqa: F401
    sweep,  # noqa: F401
)


def guarded(work: Callable[..., Any], *args: Any) -> Any:
    """Run a recursive walk; with a larger stack if Python's is too small, finally with a typed error."""
    try:
        return work(*args)
    except RecursionError:
        allow_deep_recursion()
    try:
        return work(*args)
    except RecursionError:
        raise BudgetExceeded("the term is nested too deeply") from None


def _walked(walk: "Walk", e: Expr, k: int, data: Any) -> Expr:
    """The result of a walk, whose nodes are counted."""
    seen: Seen = {}
    result = guarded(walk, e, k, data, seen)
    METER.nodes += len(seen)
    return result


def mk_app(fn: Expr, *args: Expr) -> Expr:
    """`fn` applied to the arguments from left to right."""
    for arg in args:
        fn = App(fn, arg)
    return fn


def mk_const(name: str, *levels: Level) -> Const:
    """Make the constant with these universe levels."""
    return Const(name, levels)


def get_app_fn(e: Expr) -> Expr:
    """Return the head of a spine of applications."""
    while e.__class__ is App:
        e = e.fn
    return e


def get_app_args(e: Expr) -> list[Expr]:
    """Return the arguments of a spine of applications, first argument first."""
    return get_app_fn_args(e)[1]


def get_app_fn_args(e: Expr) -> tuple[Expr, list[Expr]]:
    """Head and arguments of a spine of applications."""
    args = []
    while e.__class__ is App:
        args.append(e.arg)
        e = e.fn
    args.reverse()
    return e, args


def arrow(domain: Expr, codomain: Expr, name: str = "a✝") -> Pi:
    """Make the non-dependent function type; both sides are given outside of the binder.

    Its name is one that no text can mention, as that of Lean's `A → B`.
    """
    return Pi(name, domain, lift(codomain, 1))


def is_arrow(e: Expr) -> bool:
    """Return whether the term is a function type whose result does not depend on the argument."""
    return isinstance(e, Pi) and not has_loose_bvar(e.body, 0)


Seen = dict[Any, Expr]
Walk = Callable[[Any, int, Any, Seen], Expr]
# The walks below are module functions with explicit state (`data`, and `seen` for results): closures that call
# themselves would be reference cycles and keep every term alive until the garbage collector comes by.


def _rebuild(e: Any, walk: Walk, k: int, data: Any, seen: Seen) -> Expr:
    """The node with each child walked, `k` growing by one under a binder; not for leaves."""
    cls = e.__class__
    if cls is App:
        fn, arg = walk(e.fn, k, data, seen), walk(e.arg, k, data, seen)
        return e if fn is e.fn and arg is e.arg else App(fn, arg)
    if cls is Pi or cls is Lam:
        type_, body = walk(e.type, k, data, seen), walk(e.body, k + 1, data, seen)
        return e if type_ is e.type and body is e.body else cls(e.name, type_, body, e.info)
    if cls is Proj:
        return Proj(e.struct, e.idx, walk(e.expr, k, data, seen))
    if cls is Let:
        type_, value = walk(e.type, k, data, seen), walk(e.value, k, data, seen)
        return Let(e.name, type_, value, walk(e.body, k + 1, data, seen))
    return e


def _instantiate(e: Any, k: int, values: Sequence[Expr], seen: Seen) -> Expr:
    """`values[i]` for the loose `BVar(k + i)`; larger indices move down."""
    if e.loose <= k:
        return e
    cls = e.__class__
    if cls is BVar:
        place = e.idx - k
        if place >= len(values):
            return BVar(e.idx - len(values))
        value = values[place]
        return _lift(value, 0, k, {}) if k and value.loose else value
    key = (e, k)
    done = seen.get(key)
    if done is None:
        if cls is App:
            fn, arg = e.fn, e.arg
            done = App(
                _instantiate(fn, k, values, seen) if fn.loose > k else fn,
                _instantiate(arg, k, values, seen) if arg.loose > k else arg,
            )
        else:
            done = _rebuild(e, _instantiate, k, values, seen)
        seen[key] = done
    return done


def instantiate(body: Expr, *args: Expr) -> Expr:
    """Return the body of a binder with `args[i]` for `BVar(i)`."""
    if body.loose == 0:
        return body
    return _walked(_instantiate, body, 0, args)


def instantiate_rev(body: Expr, args: Sequence[Expr]) -> Expr:
    """Return the body of nested binders with the arguments given from the outside in (the last one is `BVar(0)`)."""
    if body.loose == 0:
        return body
    if body.__class__ is BVar and body.idx < len(args):
        return args[-1 - body.idx]
    return _walked(_instantiate, body, 0, args[::-1])


def _lift(e: Any, k: int, count: int, seen: Seen) -> Expr:
    if e.loose <= k:
        return e
    if e.__class__ is BVar:
        return BVar(e.idx + count)
    key = (e, k)
    done = seen.get(key)
    if done is None:
        done = seen[key] = _rebuild(e, _lift, k, count, seen)
    return done


def lift(e: Expr, count: int, start: int = 0) -> Expr:
    """Raise the loose indices from `start` on by `count`, as under `count` more binders."""
    if e.loose <= start or count == 0:
        return e
    return _walked(_lift, e, start, count)


def _abstract(e: Any, k: int, places: dict[Expr, int], seen: Seen) -> Expr:
    if not (e.has_fvar or e.has_mvar):
        return e
    cls = e.__class__
    if cls is FVar or cls is MVar:
        place = places.get(e)
        return e if place is None else BVar(place + k)
    key = (e, k)
    done = seen.get(key)
    if done is None:
        done = seen[key] = _rebuild(e, _abstract, k, places, seen)
    return done


def abstract(e: Expr, variables: Sequence[Expr]) -> Expr:
    """Bind free variables (or metavariables): the last becomes `BVar(0)`. `e` must have no loose indices of its own."""
    if not variables or not (e.has_fvar or e.has_mvar):
        return e
    count = len(variables)
    places = {variable: count - 1 - i for i, variable in enumerate(variables)}
    return _walked(_abstract, e, 0, places)


def _replace(e: Any, k: int, fn: Callable[[Expr], Expr | None], seen: Seen) -> Expr:
    done = seen.get(e)
    if done is None:
        done = fn(e)
        if done is None:
            done = _rebuild(e, _replace, k, fn, seen)
        seen[e] = done
    return done


def replace(e: Expr, fn: Callable[[Expr], Expr | None]) -> Expr:
    """Replace from the top: where `fn` answers a term it is put there and not looked into; None means look inside.

    `fn` is asked once for each distinct subterm and must answer terms without loose indices, or handle them itself.
    """
    return _walked(_replace, e, 0, fn)


def replace_levels(e: Expr, fn: Callable[[Level], Level]) -> Expr:
    """Replace every universe level in the term by what `fn` returns."""

    def leaf(e: Any) -> Expr | None:
        if not (e.has_lparam or e.has_mvar):
            return e
        if e.__class__ is Sort:
            return Sort(fn(e.level))
        if e.__class__ is Const:
            return Const(e.name, tuple([fn(level) for level in e.levels]))
        return None

    return replace(e, leaf)


def instantiate_level_params(e: Expr, names: Sequence[str], levels: Sequence[Level]) -> Expr:
    """Replace each universe parameter of `names` by the level at the same index."""
    if not e.has_lparam or not names:
        return e
    values: dict[Level, Level] = {LParam(name): value for name, value in zip(names, levels)}
    return replace_levels(e, lambda level: substitute(level, values))


def children(e: Any) -> tuple[Expr, ...]:
    """Return the terms that a term is made of, the last one first."""
    cls = e.__class__
    if cls is App:
        return e.arg, e.fn
    if cls is Pi or cls is Lam:
        return e.body, e.type
    if cls is Let:
        return e.body, e.value, e.type
    return (e.expr,) if cls is Proj else ()


def subterms(e: Expr, into: Callable[[Expr], bool] = lambda _: True) -> Iterable[Expr]:
    """Yield each distinct subterm once, parents before their children; children only where `into(parent)` holds."""
    seen = {e}
    stack: list[Any] = [e]
    while stack:
        node = stack.pop()
        yield node
        if not into(node):
            continue
        for child in children(node):
            if child not in seen:
                seen.add(child)
                stack.append(child)


def collect_fvars(e: Expr) -> dict[str, None]:
    """Collect the ids of the free variables of a term, in the order of their first occurrence."""
    return {node.id: None for node in subterms(e, lambda node: node.has_fvar) if node.__class__ is FVar}


def collect_mvars(e: Expr) -> dict[str, None]:
    """Collect the ids of the metavariables of a term, in the order of their first occurrence."""
    return {node.id: None for node in subterms(e, lambda node: node.has_mvar) if node.__class__ is MVar}


def collect_consts(e: Expr) -> set[str]:
    """Collect the names of the constants of a term; a projection names its structure."""
    names = set()
    for node in subterms(e):
        if node.__class__ is Const:
            names.add(node.name)
        elif node.__class__ is Proj:
            names.add(node.struct)
    return names


def collect_level_params_of(e: Expr) -> set[str]:
    """Collect the names of the universe parameters of a term."""
    names: set[str] = set()
    for node in subterms(e, lambda node: node.has_lparam):
        if node.__class__ is Sort:
            collect_level_params(node.level, names)
        elif node.__class__ is Const:
            for level in node.levels:
                collect_level_params(level, names)
    return names


def has_loose_bvar(e: Expr, idx: int) -> bool:
    """Return whether `BVar(idx)`, counted from outside of the term, occurs in it."""
    if e.loose <= idx:
        return False
    seen: set[tuple[Expr, int]] = set()
    stack: list[tuple[Any, int]] = [(e, idx)]
    while stack:
        node, k = stack.pop()
        if node.loose <= k or (node, k) in seen:
            continue
        seen.add((node, k))
        cls = node.__class__
        if cls is BVar:
            if node.idx == k:
                return True
        elif cls is App:
            stack += ((node.fn, k), (node.arg, k))
        elif cls is Pi or cls is Lam:
            stack += ((node.type, k), (node.body, k + 1))
        elif cls is Let:
            stack += ((node.type, k), (node.value, k), (node.body, k + 1))
        elif cls is Proj:
            stack.append((node.expr, k))
    return False


class Local(NamedTuple):
    """A variable to bind with `mk_pi` or `mk_lambda`; with a value it is bound by `let`."""

    fvar: Expr
    name: str
    type: Expr
    info: str = "default"
    value: Expr | None = None


def _bind(cls: Any, variables: Sequence[Local], body: Expr) -> Expr:
    fvars = [variable.fvar for variable in variables]
    body = abstract(body, fvars)
    for i in range(len(variables) - 1, -1, -1):
        _, name, type_, info, value = variables[i]
        type_ = abstract(type_, fvars[:i])
        if value is None:
            body = cls(name, type_, body, info)
        else:
            body = Let(name, type_, abstract(value, fvars[:i]), body)
    return body


def mk_pi(variables: Sequence[Local], body: Expr) -> Expr:
    """`(x : A) → ... → body` over variables given from the outside in."""
    return _bind(Pi, variables, body)


def mk_lambda(variables: Sequence[Local], body: Expr) -> Expr:
    """`fun (x : A) ... => body` over variables given from the outside in."""
    return _bind(Lam, variables, body)


def erase(e: Expr) -> Expr:
    """Blank all binder names and infos of the term; computed once for each node."""
    twin: Any = e.erased
    if twin is None:
        return guarded(_erase, e)
    return e if twin is True else twin


def _erase(e: Any) -> Expr:
    twin = e.erased
    if twin is not None:
        return e if twin is True else twin
    cls = e.__class__
    if cls is App:
        twin = App(_erase(e.fn), _erase(e.arg))
    elif cls is Pi or cls is Lam:
        twin = cls("", _erase(e.type), _erase(e.body), "")
    elif cls is Let:
        twin = Let("", _erase(e.type), _erase(e.value), _erase(e.body))
    elif cls is Proj:
        twin = Proj(e.struct, e.idx, _erase(e.expr))
    else:
        twin = e
    e.erased = True if twin is e else twin
    return twin


def alpha_eq(a: Expr, b: Expr) -> bool:
    """Return whether two terms are equal up to the names and infos of their binders."""
    return a is b or erase(a) is erase(b)
