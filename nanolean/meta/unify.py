"""Definitional equality with metavariables, of universe levels too."""

from collections.abc import Sequence

from nanolean.kernel.budget import BudgetExceeded
from nanolean.kernel.declaration import CtorInfo, InductiveInfo
from nanolean.kernel.expr import (
    App,
    Const,
    Expr,
    Lam,
    Lit,
    MVar,
    Pi,
    Proj,
    Sort,
    erase,
    get_app_fn_args,
    instantiate,
    mk_app,
)
from nanolean.kernel.level import ZERO, IMax, Level, LMVar, Max, Succ, equiv, simplify
from nanolean.meta.assign import assign_flex
from nanolean.meta.infer import infer_type, is_prop
from nanolean.meta.reduce import (
    NAT_TYPE,
    const_info,
    definition,
    fold_numbers,
    mk_offset,
    nat_offset,
    unfold,
    whnf,
    whnf_core,
)
from nanolean.meta.store import MetaStore


def levels_def_eq(store: MetaStore, left: Sequence[Level], right: Sequence[Level]) -> bool:
    """Return whether two lists of levels can be made equal, one by one."""
    return all(level_def_eq(store, a, b) for a, b in zip(left, right))


def level_def_eq(store: MetaStore, a: Level, b: Level) -> bool:
    """Return whether two levels are equal or can be made so; undecidable equations are postponed and count as equal."""
    if a is b:
        return True
    a, b = store.instantiate_level(a), store.instantiate_level(b)
    if a is b:
        return True
    if not (a.has_mvar or b.has_mvar):
        return equiv(a, b)
    decided = _decide(store, a, b)
    if decided is None:
        a, b = simplify(a), simplify(b)
        decided = a is b or _decide(store, a, b)
    if decided is None:
        # `max ?u 1 = 2` has more than one solution. Lean's Meta/LevelDefEq.lean postpones it too
        # (`postponeIsLevelDefEq`) and looks again when all else is known.
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
            # `?u = ?u + 1`: no level is above itself.
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
                # `imax u v = 0` says that `v = 0`, for any `u`.
                return level_def_eq(store, y.right, ZERO)
    # Sufficient and not necessary, `max u v = max v u` is true as well: so a failure is no answer here.
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
        # What is still undecided counts as solvable; the kernel has the last word on the finished term.
        if len(store.postponed_levels) >= len(todo):
            return True
    return True


def is_def_eq(store: MetaStore, a: Expr, b: Expr) -> bool:
    """Return whether `a` and `b` (of one type) are equal by definition; assigns metavariables only when they are."""
    if a is b:
        return True
    mark = store.save()
    try:
        equal = _def_eq(store, a, b)
    except RecursionError:
        store.restore(mark)
        # To the user both are the same: the problem is too large. A plain RecursionError would be taken for a fault of
        # ours.
        raise BudgetExceeded("maximum recursion depth has been reached") from None
    except BudgetExceeded:
        store.restore(mark)
        raise
    if not equal:
        store.restore(mark)
    return equal


def _attempt(store: MetaStore, a: Expr, b: Expr) -> bool:
    """`_def_eq` that undoes its assignments when it fails."""
    mark = store.save()
    if _def_eq(store, a, b):
        return True
    store.restore(mark)
    return False


def _def_eq(store: MetaStore, a: Expr, b: Expr) -> bool:
    if a is b:
        return True
    store.budget.spend()
    if a.has_mvar:
        a = store.instantiate(a)
    if b.has_mvar:
        b = store.instantiate(b)
    # Terms are shared, so equal ones up to the names of binders are found without a walk.
    if a is b or erase(a) is erase(b):
        return True
    if not (a.has_mvar or b.has_mvar):
        key = (a, b)
        equal = store.caches.equal.get((store.transparency, key))
        if equal is None:
            equal = store.caches.equal[(store.transparency, key)] = _compare(store, a, b)
        return equal
    return _compare(store, a, b)


def _compare(store: MetaStore, a: Expr, b: Expr) -> bool:
    # Cheapest first, much as in `Lean.Meta.isExprDefEqAux`: what needs no reduction, then `whnf_core` of both sides,
    # eta, offsets, delta, congruence. Proof irrelevance comes last, unlike there: it has to infer types.
    quick = _quick(store, a, b)
    if quick is not None:
        return quick
    a_whnf, b_whnf = whnf_core(store, a), whnf_core(store, b)
    if a_whnf is not a or b_whnf is not b:
        return _def_eq(store, a_whnf, b_whnf)
    for step in (_eta_lambda, _offsets, _lazy_unfold):
        decided = step(store, a, b)
        if decided is not None:
            return decided
    mark = store.save()
    if _congruent(store, a, b):
        return True
    store.restore(mark)
    # Numbers are no proofs and have no fields; most of what `omega` and `grind` compare are numbers.
    if isinstance(a, App) and not (a.has_mvar or b.has_mvar) and infer_type(store, a) is NAT_TYPE:
        return False
    if _eta_structure(store, a, b) or _eta_structure(store, b, a) or _proof_irrelevant(store, a, b):
        return True
    return _no_fields(store, a, b)


def _quick(store: MetaStore, a: Expr, b: Expr) -> bool | None:
    """Cases that need no reduction: sorts, binders, literals, flexible heads."""
    if a.__class__ is b.__class__:
        if isinstance(a, Sort) and isinstance(b, Sort):
            return level_def_eq(store, a.level, b.level)
        if isinstance(a, Lit):
            return False
        if isinstance(a, Lam | Pi) and isinstance(b, Lam | Pi):
            return _binders(store, a, b)
    if a.has_mvar or b.has_mvar:
        return _flexible(store, a, b)
    return None


def _binders(store: MetaStore, a: Lam | Pi, b: Lam | Pi) -> bool:
    if not _def_eq(store, a.type, b.type):
        return False
    if not (a.body.loose or b.body.loose):
        return _def_eq(store, a.body, b.body)
    local = store.fresh_local(a.name, a.type).fvar
    return _def_eq(store, instantiate(a.body, local), instantiate(b.body, local))


# -- flexible heads ---------------------------------------------------------------------------------------------------


def _flex(store: MetaStore, e: Expr) -> tuple[MVar, list[Expr]] | None:
    """Head and arguments where the head is a metavariable that may be assigned."""
    if not e.has_mvar:
        return None
    fn, args = get_app_fn_args(e)
    return (fn, args) if isinstance(fn, MVar) and store.is_assignable(fn.id) else None


def _flexible(store: MetaStore, a: Expr, b: Expr) -> bool | None:
    left, right = _flex(store, a), _flex(store, b)
    if left is None and right is None:
        return None
    if left is not None and right is not None:
        if left[0] is right[0]:
            # `?m a = ?m b` follows from `a = b` and may hold without it, for a constant `?m`: None lets other rules
            # try.
            return _all_equal(store, left[1], right[1]) or None
        # The one without arguments is assigned, of two alike the newer one: what was there before keeps its name in
        # messages.
        if (left[1] and not right[1]) or (_newer(right[0], left[0]) and bool(left[1]) == bool(right[1])):
            left, right, a, b = right, left, b, a
    for side, value in ((left, b), (right, a)):
        if side is None:
            continue
        mark = store.save()
        # Both directions: the value may be out of scope for one and not for the other.
        if assign_flex(store, side[0], side[1], value, _def_eq):
            return True
        store.restore(mark)
    return _assign_reduced(store, left, b) or _assign_reduced(store, right, a)


def _newer(a: MVar, b: MVar) -> bool:
    return int(a.id[1:]) > int(b.id[1:])


def _assign_reduced(store: MetaStore, side: tuple[MVar, list[Expr]] | None, value: Expr) -> bool | None:
    """Second chance: the value after reduction may fit where the value itself mentions too much."""
    if side is None:
        return None
    reduced = whnf_core(store, value)
    if reduced is value:
        # Only for `?m a`: a plain `?m` takes any term that it may see as it is, or nothing that this unfolds to.
        if not side[1]:
            return None
        unfolded = unfold(store, value)
        if unfolded is None:
            return None
        reduced = unfolded
    return _attempt(store, mk_app(side[0], *side[1]), reduced)


# -- rigid terms ------------------------------------------------------------------------------------------------------


def _eta_lambda(store: MetaStore, a: Expr, b: Expr) -> bool | None:
    for fn, other in ((a, b), (b, a)):
        if isinstance(fn, Lam) and not isinstance(other, Lam):
            other_type = whnf(store, infer_type(store, other))
            if not isinstance(other_type, Pi):
                return False
            local = store.fresh_local(fn.name, fn.type).fvar
            return _def_eq(store, fn.type, other_type.type) and _def_eq(
                store, instantiate(fn.body, local), App(other, local)
            )
    return None


def _offsets(store: MetaStore, a: Expr, b: Expr) -> bool | None:
    """`x + 3 = y + 2`, `x + 1 = 5`, `succ x = y + 1`."""
    # `isDefEqOffsetNat` of Lean's Meta/Offset.lean: large literals are compared as numbers. As nested `succ`,
    # `n + 1000 = 1001` would take a thousand levels of recursion.
    base_a, plus_a = nat_offset(store, a)
    if base_a is not None and plus_a == 0:
        return None
    base_b, plus_b = nat_offset(store, b)
    if base_b is not None and plus_b == 0:
        return None
    if base_a is None and base_b is None:
        return plus_a == plus_b
    # `2 = n + 3` is false for every `n`.
    if (base_a is None and plus_a < plus_b) or (base_b is None and plus_b < plus_a):
        return False
    common = min(plus_a, plus_b)
    if common == 0:
        return None
    return _def_eq(store, mk_offset(base_a, plus_a - common), mk_offset(base_b, plus_b - common))


def _lazy_unfold(store: MetaStore, a: Expr, b: Expr) -> bool | None:
    """Unfold one side or both by one step and continue; None when neither unfolds."""
    info_a, info_b = definition(store, a), definition(store, b)
    if info_a is None and info_b is None:
        folded_a, folded_b = fold_numbers(store, a), fold_numbers(store, b)
        if folded_a is None and folded_b is None:
            return None
        return _def_eq(store, folded_a or a, folded_b or b)
    # Lazy delta reduction, as in Lean's kernel: equal heads are compared by their arguments first, which mostly decides
    # it, and of two different definitions the one that is built on the other (greater height) unfolds.
    if info_a is not None and info_a is info_b:
        mark = store.save()
        if _congruent(store, a, b):
            return True
        store.restore(mark)
    new_a = new_b = None
    if info_a is not None and (info_b is None or info_a.height >= info_b.height):
        new_a = unfold(store, a)
    if info_b is not None and (info_a is None or info_b.height >= info_a.height or new_a is None):
        new_b = unfold(store, b)
    # The higher one was stuck on its recursion; the lower one may still move.
    if new_a is None and new_b is None and info_a is not None:
        new_a = unfold(store, a)
    if new_a is None and new_b is None:
        return None
    return _def_eq(store, new_a or a, new_b or b)


def _congruent(store: MetaStore, a: Expr, b: Expr) -> bool:
    """Equal heads and equal arguments; leaves assignments behind when it fails."""
    if isinstance(a, Proj) and isinstance(b, Proj):
        return a.idx == b.idx and a.struct == b.struct and _def_eq(store, a.expr, b.expr)
    fn_a, args_a = get_app_fn_args(a)
    fn_b, args_b = get_app_fn_args(b)
    if len(args_a) != len(args_b):
        return False
    if isinstance(fn_a, Const) and isinstance(fn_b, Const):
        same_head = fn_a.name == fn_b.name and levels_def_eq(store, fn_a.levels, fn_b.levels)
    # A metavariable at the head that cannot be assigned (a goal) is equal to itself only.
    elif args_a and not isinstance(fn_a, Const | MVar):
        same_head = fn_a is fn_b or _def_eq(store, fn_a, fn_b)
    else:
        same_head = fn_a is fn_b
    return same_head and _all_equal(store, args_a, args_b)


def _all_equal(store: MetaStore, left: Sequence[Expr], right: Sequence[Expr]) -> bool:
    # a plain loop: `all` over a generator would take C stack at every level of the recursion
    if len(left) != len(right):
        return False
    for a, b in zip(left, right):  # noqa: SIM110
        if not _def_eq(store, a, b):
            return False
    return True


def _eta_structure(store: MetaStore, a: Expr, b: Expr) -> bool:
    """`a = ⟨x, y⟩` by `a.1 = x` and `a.2 = y`, for data structures."""
    fn, args = get_app_fn_args(b)
    if not isinstance(fn, Const):
        return False
    ctor = store.env.get(fn.name)
    if not isinstance(ctor, CtorInfo) or len(args) != ctor.num_params + ctor.num_fields:
        return False
    struct = store.env.get(ctor.induct)
    # Between two constructor applications congruence has decided already; for propositions irrelevance is the rule.
    if not isinstance(struct, InductiveInfo) or not struct.is_structure or struct.is_prop or _is_ctor_app(store, a):
        return False
    if not _attempt(store, infer_type(store, a), infer_type(store, b)):
        return False
    mark = store.save()
    fields = args[ctor.num_params :]
    if all(_def_eq(store, Proj(struct.name, i, a), field) for i, field in enumerate(fields)):
        return True
    store.restore(mark)
    return False


def _is_ctor_app(store: MetaStore, e: Expr) -> bool:
    fn, _ = get_app_fn_args(e)
    info = const_info(store.env, fn)
    return info is not None and info.kind == "ctor"


def _no_fields(store: MetaStore, a: Expr, b: Expr) -> bool:
    """Two elements of one structure without fields, such as `PUnit`."""
    if a.has_mvar or b.has_mvar or isinstance(a, Sort | Pi | Lit | Lam):
        return False
    type_ = whnf(store, infer_type(store, a))
    head, _ = get_app_fn_args(type_)
    info = const_info(store.env, head)
    if not isinstance(info, InductiveInfo) or not info.is_structure:
        return False
    ctor = store.env.get(info.ctors[0])
    return isinstance(ctor, CtorInfo) and ctor.num_fields == 0 and _attempt(store, type_, infer_type(store, b))


def _proof_irrelevant(store: MetaStore, a: Expr, b: Expr) -> bool:
    if isinstance(a, Sort | Pi | Lit) or isinstance(b, Sort | Pi | Lit):
        return False
    type_ = infer_type(store, a)
    # Only after congruence has failed: equal proofs are told faster, and metavariables inside of them get values by it.
    return is_prop(store, type_) and _attempt(store, type_, infer_type(store, b))
