"""Natural numbers as `base + k`: the one reading of literals, `Nat.succ`, `Nat.zero` and `Nat.add _ literal`."""

from __future__ import annotations

from nanolean.kernel.declaration import DefInfo
from nanolean.kernel.expr import App, Const, Expr, Lit, MVar, subterms
from nanolean.kernel.reduce import NAT_FUNCTIONS, NAT_POW, NAT_SUCC, compute, to_literal
from nanolean.meta.store import MetaStore

NAT = "Nat"
NAT_TYPE = Const(NAT)
NAT_ADD = Const("Nat.add")
EVALUATED = NAT_FUNCTIONS.keys() - {"Nat.gcd"}
"""What Lean's `evalNat` computes at any transparency."""


def nat_offset(store: MetaStore, e: Expr) -> tuple[Expr | None, int]:
    """The term as `base + k` with the largest `k`; the base None stands for zero (then `k` is the number)."""
    plus = 0
    while True:
        if isinstance(e, Lit):
            return None, plus + e.value
        if isinstance(e, Const):
            return (None, plus) if e.name == "Nat.zero" else (e, plus)
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
            value = None if e.has_fvar or e.has_mvar else eval_nat(store, e)
            return (e, plus) if value is None else (None, plus + value)


def eval_nat(store: MetaStore, e: Expr) -> int | None:
    """The number that arithmetic on literals denotes, at any transparency; None for anything else."""
    value = to_literal(e)
    if value is not None or not isinstance(e, App):
        return value
    if e.fn is NAT_SUCC:
        inner = eval_nat(store, e.arg)
        return None if inner is None else inner + 1
    if not (isinstance(e.fn, App) and isinstance(e.fn.fn, Const) and e.fn.fn.name in EVALUATED):
        return None
    left = eval_nat(store, e.fn.arg)
    right = None if left is None else eval_nat(store, e.arg)
    if left is None or right is None:
        return None
    info = store.env.get(e.fn.fn.name)
    if not isinstance(info, DefInfo) or not info.computes_literals:
        return None
    return compute_number(store, e.fn.fn.name, left, right)


def compute_number(store: MetaStore, name: str, a: int, b: int) -> int | None:
    """The number that an operation makes of two, paid for by its size; None for other names and what is too large."""
    if name not in NAT_FUNCTIONS:
        return None
    value = compute(name, a, b, store.budget.spend, store.caches.max_exponent)
    return None if isinstance(value, bool) else value


def refused_power(store: MetaStore, e: Expr) -> str:
    """What to tell of a term in which a power of numbers stays as it is for its exponent; empty for other terms."""
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
