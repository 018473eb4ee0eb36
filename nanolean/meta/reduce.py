"""Reduction of terms with metavariables, under a transparency; natural numbers read as `base + k`."""

from weakref import WeakKeyDictionary

from nanolean.kernel.declaration import ConstantInfo, Constants, DefInfo, RecInfo
from nanolean.kernel.expr import (
    App,
    BVar,
    Const,
    Expr,
    FVar,
    Lam,
    Let,
    Lit,
    MVar,
    Proj,
    get_app_fn,
    get_app_fn_args,
    instantiate,
    mk_app,
    replace,
    subterms,
)
from nanolean.kernel.reduce import (
    NAT_FUNCTIONS,
    NAT_POW,
    NAT_SUCC,
    beta,
    compute,
    fold_nat,
    reduce_head,
    reduce_proj,
    to_literal,
)
from nanolean.meta.matchers import as_matcher, recursive_argument, reduce_matcher, unfold_by_equations, unfolding_name
from nanolean.meta.store import MetaStore

NAT = "Nat"
NAT_TYPE = Const(NAT)
NAT_ADD = Const("Nat.add")
NAT_MAJOR = 3
"""Which argument of `Nat.rec` is the number."""
EVALUATED = NAT_FUNCTIONS.keys() - {"Nat.gcd"}
"""What Lean's `evalNat` computes at any transparency."""


def const_name(e: Expr) -> str:
    """Return the name of the constant that a term is, empty for any other term."""
    if isinstance(e, Const):
        return e.name
    return ""


def const_info(env: Constants, e: Expr) -> ConstantInfo | None:
    """Return the declaration of the constant that a term is, None for any other term."""
    if isinstance(e, Const):
        return env.get(e.name)
    return None


def nat_offset(store: MetaStore, e: Expr) -> tuple[Expr | None, int]:
    """Split the term into `base + k` with the largest `k`; the base None stands for zero (then `k` is the number)."""
    plus = 0
    while True:
        if isinstance(e, Lit):
            return None, plus + e.value
        if isinstance(e, Const):
            # As `isOffset` and `evalNat` of Lean's Meta/Offset.lean: `succ`, `+ literal` and closed arithmetic are
            # read, definitions are not unfolded.
            if e.name == "Nat.zero":
                return None, plus
            return e, plus
        if isinstance(e, MVar) and e.id in store.assignment:
            e = store.instantiate(e)
            continue
        if not isinstance(e, App):
            return e, plus
        fn = e.fn
        if isinstance(fn, Const) and fn.name == "Nat.succ":
            plus, e = plus + 1, e.arg
        elif isinstance(e.arg, Lit) and isinstance(fn, App) and fn.fn is NAT_ADD:
            plus, e = plus + e.arg.value, fn.arg
        else:
            if e.has_fvar or e.has_mvar:
                return e, plus
            value = eval_nat(store, e)
            if value is None:
                return e, plus
            return None, plus + value


def eval_nat(store: MetaStore, e: Expr) -> int | None:
    """Evaluate arithmetic on literals, at any transparency; None for anything else."""
    value = to_literal(e)
    if value is not None or not isinstance(e, App):
        return value
    if e.fn is NAT_SUCC:
        inner = eval_nat(store, e.arg)
        return None if inner is None else inner + 1
    if not (isinstance(e.fn, App) and isinstance(e.fn.fn, Const) and e.fn.fn.name in EVALUATED):
        return None
    left = eval_nat(store, e.fn.arg)
    if left is None:
        return None
    right = eval_nat(store, e.arg)
    if right is None:
        return None
    # `computes_literals`: the environment has checked that the constant means what Python computes for it.
    info = store.env.get(e.fn.fn.name)
    if not isinstance(info, DefInfo) or not info.computes_literals:
        return None
    return compute_number(store, e.fn.fn.name, left, right)


def compute_number(store: MetaStore, name: str, a: int, b: int) -> int | None:
    """Compute an operation on two numbers, paid for by its size; None for other names and what is too large."""
    if name not in NAT_FUNCTIONS:
        return None
    value = compute(name, a, b, store.budget.spend, store.caches.max_exponent)
    if isinstance(value, bool):  # of `Nat.beq` and `Nat.ble`, and a `bool` is an `int` to Python
        return None
    return value


def refused_power(store: MetaStore, e: Expr) -> str:
    """Explain that a power of numbers in the term stays as it is for its exponent; empty for other terms."""
    limit = store.caches.max_exponent
    for node in subterms(e):
        match node:
            case App(App(fn, _), Lit(exponent)) if fn is NAT_POW and exponent > limit:
                return (
                    f"\nexponent {exponent} exceeds the threshold {limit}, exponentiation operation was not evaluated, "
                    "use `set_option exponentiation.threshold <num>` to set a new threshold"
                )
    return ""


def mk_offset(base: Expr | None, plus: int) -> Expr:
    """`base + plus` in the form that goals show: a literal, the base itself, or `Nat.add base literal`."""
    if base is None:
        return Lit(plus)
    return base if plus == 0 else App(App(NAT_ADD, base), Lit(plus))


UNFOLD_STEPS = 10
"""What unfolding a definition costs, in elementary steps."""


def whnf(store: MetaStore, e: Expr) -> Expr:
    """Weak head normal form under the store's transparency."""
    if not e.has_mvar:
        cache = store.caches.whnf[store.transparency]
        normal = cache.get(e)
        if normal is None:
            normal = cache[e] = _whnf(store, e)
        return normal
    return _whnf(store, e)


def _whnf(store: MetaStore, e: Expr) -> Expr:
    while True:
        e = whnf_core(store, e)
        # Numbers first: by its definition `Nat.mul 200 300` would be counted out.
        new = fold_numbers(store, e) or unfold(store, e)
        if new is None:
            return e
        e = new


def whnf_core(store: MetaStore, e: Expr) -> Expr:
    """Weak head normal form without unfolding definitions (major premises of recursors do unfold)."""
    while True:
        cls = e.__class__
        if cls is App:
            new = _app_step(store, e)
        elif cls is FVar:
            new = store.fvars[e.id].value  # type: ignore[attr-defined]
        elif cls is MVar:
            new = store.assignment.get(e.id)  # type: ignore[attr-defined]
        elif isinstance(e, Let):
            new = instantiate(e.body, e.value)
        elif isinstance(e, Proj):
            # The structure is reduced at the current transparency, so that `(f x).1` is stuck where `f` may not unfold.
            new = reduce_proj(store.env, e, store.whnf)
        else:
            return e
        if new is None:
            return e
        store.budget.spend()
        e = new


def _app_step(store: MetaStore, e: Expr) -> Expr | None:
    """One step at the head of an application, None if there is none."""
    fn, args = get_app_fn_args(e)
    if isinstance(fn, Const):
        if fn.name == "Nat.rec" and store.transparency != "default":  # there `n + 3` unfolds to a successor by itself
            args = _with_successor(store, args)
        return reduce_head(store.env, fn, args, store) or reduce_matcher(store, fn, args, whnf_core)
    if isinstance(fn, Lam):
        return beta(fn, args)
    if isinstance(fn, MVar):
        if fn.id in store.assignment or fn.id in store.delayed:
            # A delayed `?d x` stays where its goal is still open, and is no step then.
            new = store.instantiate(e)
            if new is not e:
                return new
        return None
    head = whnf_core(store, fn)
    return None if head is fn else beta(head, args)


def _with_successor(store: MetaStore, args: list[Expr]) -> list[Expr]:
    """The arguments of `Nat.rec`, with a number `n + 3` written as the successor of `n + 2`.

    `cleanupNatOffsetMajor` of Lean's Meta/WHNF.lean: a match on `n + 1` is decided at any transparency, in `simp` too.
    """
    if len(args) > NAT_MAJOR:
        match store.whnf(args[NAT_MAJOR]):
            case App(App(fn, base), Lit(plus)) if fn is NAT_ADD and plus:
                successor = App(NAT_SUCC, mk_offset(base, plus - 1))
                return [*args[:NAT_MAJOR], successor, *args[NAT_MAJOR + 1 :]]
    return args


def fold_numbers(store: MetaStore, e: Expr) -> Expr | None:
    """Evaluate an operation on closed numbers, None for anything else, and for powers with large exponents."""
    # At other transparencies operations on literals are computed by `eval_nat`, where offsets are read.
    if e.__class__ is not App or store.transparency != "default":
        return None
    return fold_nat(store.env, e, store.whnf, store.budget.spend, store.caches.max_exponent)


def definition(store: MetaStore, e: Expr) -> DefInfo | None:
    """Return the definition at the head of a term, if the transparency lets it unfold."""
    fn = get_app_fn(e)
    if not isinstance(fn, Const):
        return None
    info = store.env.get(fn.name)
    if not isinstance(info, DefInfo) or info.irreducible or store.transparency == "none":
        return None
    if store.transparency == "reducible" and not info.reducible:
        return None
    return info


def unfold(store: MetaStore, e: Expr) -> Expr | None:
    """Unfold the definition at the head of the term and reduce, None if it does not unfold.

    A definition by recursion unfolds only where its recursor then computes, and what the recursor answers for smaller
    arguments is written with the definition again: `n + succ m` becomes `succ (n + m)`, `n + m` stays as it is.
    """
    info = definition(store, e)
    # Matchers reduce in `whnf_core`, by the alternative that is taken, and never show their inside.
    if info is None or as_matcher(info) is not None:
        return None
    fn, args = get_app_fn_args(e)
    assert isinstance(fn, Const)
    store.budget.spend(UNFOLD_STEPS)
    if fn is NAT_POW and _is_large_power(store, e, args):
        return None
    # `n + 3` is `succ (n + 2)` in one step and not by the recursor, which would take the literal apart.
    if fn is NAT_ADD and len(args) == 2 and isinstance(args[1], Lit) and args[1].value:
        return App(NAT_SUCC, mk_offset(args[0], args[1].value - 1))
    if recursive_argument(info) is not None and unfolding_name(store.env, fn.name) is not None:
        return unfold_by_equations(store, fn, args, whnf, whnf_core)
    shape = recursion_of(store.env, info)
    if shape is None:
        return beta(info.value_at(fn.levels), args)
    arity, major = shape
    if len(args) < arity:
        return None
    recursor = beta(info.value_at(fn.levels), args[:arity])
    step = _app_step(store, recursor)
    if step is None:
        return None
    assert isinstance(recursor, App)
    # The recursor's answer for the smaller argument is `T.rec .. m`, which nobody wrote: it is folded back into
    # `f .. m` for goals, and so that the next step unfolds by the same rule.
    step = _refolded(step, recursor.fn, mk_app(fn, *args[:major]), args[major + 1 : arity])
    return head_beta(mk_app(step, *args[arity:]))


def _is_large_power(store: MetaStore, e: Expr, args: list[Expr]) -> bool:
    """Tell a power of numbers that `fold_numbers` refuses, which Lean then unfolds until it is out of depth."""
    if e.has_fvar or e.has_mvar or len(args) != 2:
        return False
    base, exponent = to_literal(store.whnf(args[0])), to_literal(store.whnf(args[1]))
    return base is not None and exponent is not None and exponent > store.caches.max_exponent


_RECURSIONS: WeakKeyDictionary[DefInfo, tuple[int, int] | None] = WeakKeyDictionary()


def recursion_of(env: Constants, info: DefInfo) -> tuple[int, int] | None:
    """Return the number of arguments, and the place of the major premise, of `fun x₁ .. xₙ => T.rec .. xₖ`.

    None for definitions with other values.
    """
    if info not in _RECURSIONS:
        _RECURSIONS[info] = _find_recursion(env, info)
    return _RECURSIONS[info]


def _find_recursion(env: Constants, info: DefInfo) -> tuple[int, int] | None:
    body, arity = info.value, 0
    while isinstance(body, Lam):
        body, arity = body.body, arity + 1
    fn, args = get_app_fn_args(body)
    rec = const_info(env, fn)
    # The major premise comes last and is one of the bound variables, as in the definitions of core without `match`.
    if not isinstance(rec, RecInfo) or len(args) != rec.major_idx + 1 or not isinstance(args[-1], BVar):
        return None
    return arity, arity - 1 - args[-1].idx


def _refolded(e: Expr, recursor: Expr, before: Expr, after: list[Expr]) -> Expr:
    """The term with `recursor x` written as `before x after`."""

    def fold(node: Expr) -> Expr | None:
        if isinstance(node, App) and node.fn is recursor:
            return mk_app(before, replace(node.arg, fold), *after)
        return None

    return replace(e, fold)


def head_beta(e: Expr) -> Expr:
    """Contract the redexes at the head of the term."""
    fn, args = get_app_fn_args(e)
    return beta(fn, args) if isinstance(fn, Lam) else mk_app(fn, *args)
