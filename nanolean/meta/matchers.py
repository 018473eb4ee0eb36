"""Matchers: the auxiliary functions `f.match_1` that `match` expressions are applications of, as in Lean.

`f.match_1 params motive a b h₁ h₂` takes the terms that are matched and one function for each alternative. Which
patterns the alternatives have can be read off the matcher's type. A matcher computes only where the terms are made of
constructors as far as one alternative needs it; the recursors inside of it never come to light.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from nanolean.kernel.declaration import ConstantInfo, Constants, DefInfo
from nanolean.kernel.expr import PROP, BVar, Const, Expr, FVar, Pi, Sort, get_app_fn_args, has_loose_bvar
from nanolean.kernel.reduce import beta
from nanolean.meta.lctx import LocalDecl
from nanolean.meta.store import MetaStore

_NAME = re.compile(r"\.match_\d+$")
_ALTERNATIVE = "_alternative"


@dataclass(frozen=True)
class Matcher:
    """The shape of a matcher's arguments: parameters, motive, terms, alternatives."""

    num_params: int
    num_targets: int
    num_fields: tuple[int, ...]
    """For each alternative, how many variables its patterns have."""

    @property
    def first_alternative(self) -> int:
        """The place of the first alternative among the arguments."""
        return self.num_params + 1 + self.num_targets

    @property
    def arity(self) -> int:
        """How many arguments there are before those of the result."""
        return self.first_alternative + len(self.num_fields)


_MATCHERS: WeakKeyDictionary[DefInfo, Matcher | None] = WeakKeyDictionary()


def matcher_of(env: Constants, fn: Expr) -> Matcher | None:
    """The shape of the matcher that `fn` is, None for any other term."""
    if not isinstance(fn, Const) or ".match_" not in fn.name:
        return None
    info = env.get(fn.name)
    return as_matcher(info) if info is not None else None


def as_matcher(info: ConstantInfo) -> Matcher | None:
    """The shape of a constant that is a matcher by its name and its type."""
    if ".match_" not in info.name or not isinstance(info, DefInfo) or not _NAME.search(info.name):
        return None
    if info not in _MATCHERS:
        _MATCHERS[info] = _read(info.type)
    return _MATCHERS[info]


def _read(type_: Expr) -> Matcher | None:
    binders: list[Pi] = []
    while isinstance(type_, Pi):
        binders.append(type_)
        type_ = type_.body
    place = next((i for i, binder in enumerate(binders) if binder.name == "motive"), None)
    head, targets = get_app_fn_args(type_)
    if place is None or head is not BVar(len(binders) - 1 - place):
        return None
    expected = [BVar(len(binders) - 2 - place - i) for i in range(len(targets))]
    if any(target is not wanted for target, wanted in zip(targets, expected)) or not _is_motive(binders[place].type):
        return None
    alternatives = binders[place + 1 + len(targets) :]
    for k, alternative in enumerate(alternatives):
        if any(has_loose_bvar(alternative.type, k + i) for i in range(len(targets))):
            return None
    return Matcher(place, len(targets), tuple(_count_binders(alternative.type) for alternative in alternatives))


def _is_motive(type_: Expr) -> bool:
    while isinstance(type_, Pi):
        type_ = type_.body
    return isinstance(type_, Sort)


def _count_binders(type_: Expr) -> int:
    count = 0
    while isinstance(type_, Pi):
        type_, count = type_.body, count + 1
    return count


def reduce_matcher(
    store: MetaStore, fn: Const, args: list[Expr], whnf_core: Callable[[MetaStore, Expr], Expr]
) -> Expr | None:
    """The alternative that a matcher applied to arguments selects, with its variables put in; None if it is stuck."""
    matcher = matcher_of(store.env, fn)
    if matcher is None or len(args) < matcher.arity:
        return None
    info = store.env[fn.name]
    assert isinstance(info, DefInfo)
    first = matcher.first_alternative
    marks = [_mark(store, i) for i in range(len(matcher.num_fields))]
    reduced = whnf_core(store, beta(info.value_at(fn.levels), [*args[:first], *marks]))
    head, fields = get_app_fn_args(reduced)
    if not isinstance(head, FVar) or not head.id.startswith(_ALTERNATIVE):
        return None
    alternative = args[first + int(head.id[len(_ALTERNATIVE) :])]
    return beta(alternative, [*fields, *args[matcher.arity :]])


def _mark(store: MetaStore, index: int) -> Expr:
    """A variable that stands for an alternative while the matcher computes."""
    fvar_id = f"{_ALTERNATIVE}{index}"
    if fvar_id not in store.fvars:
        store.fvars[fvar_id] = LocalDecl(fvar_id, "h", PROP)
    return FVar(fvar_id)
