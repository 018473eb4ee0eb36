"""Unification of universe levels.

An equation that cannot be decided yet (`max ?u ?v = max ?w 1`) is put on `store.postponed_levels`; it is tried again
when `solve_postponed` is called, and the kernel has the last word on whatever is left.
"""

from __future__ import annotations

from collections.abc import Sequence

from nanolean.kernel.level import ZERO, IMax, Level, LMVar, Max, Succ, equiv, normalize
from nanolean.meta.store import MetaStore


def levels_def_eq(store: MetaStore, left: Sequence[Level], right: Sequence[Level]) -> bool:
    """Whether two lists of levels can be made equal, one by one."""
    return all(level_def_eq(store, a, b) for a, b in zip(left, right))


def level_def_eq(store: MetaStore, a: Level, b: Level) -> bool:
    """Whether two levels are equal or can be made so; undecidable equations are postponed and count as equal."""
    if a is b:
        return True
    a, b = store.instantiate_level(a), store.instantiate_level(b)
    if a is b:
        return True
    if not (a.has_mvar or b.has_mvar):
        return equiv(a, b)
    decided = _decide(store, a, b)
    if decided is None:
        a, b = normalize(a), normalize(b)
        decided = a is b or _decide(store, a, b)
    if decided is None:
        store.postpone_level(a, b)
        return True
    return decided


def _decide(store: MetaStore, a: Level, b: Level) -> bool | None:
    for x, y in ((a, b), (b, a)):
        if isinstance(x, LMVar) and store.is_level_assignable(x):
            if not _occurs(x, y):
                store.assign_level(x, y)
                return True
            if isinstance(y, Max) and x in (y.left, y.right):
                # `?u = max ?u v` has the solution `?u = v` when that is free of `?u`, as Lean takes it.
                other = y.right if y.left is x else y.left
                if not _occurs(x, other):
                    store.assign_level(x, other)
                    return True
            if isinstance(y, Succ):
                return False
    if isinstance(a, Succ) and isinstance(b, Succ):
        return level_def_eq(store, a.of, b.of)
    for x, y in ((a, b), (b, a)):
        if x is ZERO:
            if isinstance(y, Succ):
                return False
            if isinstance(y, Max):
                return level_def_eq(store, y.left, ZERO) and level_def_eq(store, y.right, ZERO)
            if isinstance(y, IMax):
                return level_def_eq(store, y.right, ZERO)
    if (isinstance(a, Max) and isinstance(b, Max)) or (isinstance(a, IMax) and isinstance(b, IMax)):
        mark = store.save()
        if level_def_eq(store, a.left, b.left) and level_def_eq(store, a.right, b.right):
            return True
        store.restore(mark)
    return None


def _occurs(mvar: LMVar, level: Level) -> bool:
    if not level.has_mvar:
        return False
    match level:
        case Succ(of):
            return _occurs(mvar, of)
        case Max(left, right) | IMax(left, right):
            return _occurs(mvar, left) or _occurs(mvar, right)
        case _:
            return level is mvar


def solve_postponed(store: MetaStore) -> bool:
    """Try postponed equations again until none gets simpler; False if one of them turns out to be false."""
    while store.postponed_levels:
        todo = store.take_postponed_levels()
        if not all(level_def_eq(store, a, b) for a, b in todo):
            return False
        if len(store.postponed_levels) >= len(todo):
            return True
    return True
