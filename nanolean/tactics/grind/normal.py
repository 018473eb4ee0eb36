"""The form in which `grind` keeps terms: one node for what is equal at sight.

Every step here is definitional, so facts keep their proofs: metavariables put in, reducible definitions unfolded
(`a ≠ b`, `a > b`), beta and eta, `a < b` as `a + 1 ≤ b`, numbers as literals and `x + k`, binder names erased.
"""

from nanolean.kernel.declaration import DefInfo
from nanolean.kernel.expr import (
    App,
    BVar,
    Const,
    Expr,
    Lam,
    Let,
    Lit,
    Pi,
    Proj,
    erase,
    get_app_fn_args,
    has_loose_bvar,
    instantiate,
    mk_app,
)
from nanolean.kernel.reduce import beta
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import NAT_ADD

NAT_LE = Const("Nat.le")
MAX_OFFSET = 1000
"""Offsets up to this size are put together: the kernel compares `x + 2 + 3` and `x + 5` by counting."""
MAX_BITS = 512
"""Products and powers of literals with more bits than this stay as they are."""


class Normalizer:
    """Normal forms over one metavariable context, each computed once."""

    def __init__(self, mctx: MetaContext) -> None:
        self.mctx = mctx
        self._seen: dict[Expr, Expr] = {}

    def __call__(self, e: Expr) -> Expr:
        """The normal form of a term, equal to it by definition."""
        return erase(self._normal(self.mctx.instantiate(e)))

    def _normal(self, e: Expr) -> Expr:
        done = self._seen.get(e)
        if done is None:
            self.mctx.budget.spend(1)
            done = self._seen[e] = self._step(e)
        return done

    def _step(self, e: Expr) -> Expr:
        if isinstance(e, App):
            return self._application(e)
        if isinstance(e, Pi):
            return Pi("", self._normal(e.type), self._normal(e.body))
        if isinstance(e, Lam):
            return _eta(Lam("", self._normal(e.type), self._normal(e.body)))
        if isinstance(e, Let):
            return self._normal(instantiate(e.body, e.value))
        if isinstance(e, Proj):
            return Proj(e.struct, e.idx, self._normal(e.expr))
        # Reducible constants are names only, as in Lean's preprocessing (`unfoldReducible`).
        if isinstance(e, Const):
            return Lit(0) if e.name == "Nat.zero" else self._unfolded(e, []) or e
        return e

    def _application(self, e: App) -> Expr:
        fn, args = get_app_fn_args(e)
        if isinstance(fn, Lam):
            return self._normal(beta(fn, args))
        if isinstance(fn, Const):
            unfolded = self._unfolded(fn, args)
            if unfolded is not None:
                return unfolded
        return _arithmetic(fn, [self._normal(arg) for arg in args])

    def _unfolded(self, fn: Const, args: list[Expr]) -> Expr | None:
        info = self.mctx.env.get(fn.name)
        if not isinstance(info, DefInfo) or not info.reducible:
            return None
        return self._normal(beta(info.value_at(fn.levels), args))


def _eta(fn: Lam) -> Expr:
    """`f` for `fun x => f x`."""
    body = fn.body
    if isinstance(body, App) and body.arg is BVar(0) and not has_loose_bvar(body.fn, 0):
        return instantiate(body.fn, fn.type)
    return fn


def _arithmetic(fn: Expr, args: list[Expr]) -> Expr:
    """The application, computed where it is arithmetic on literals, and with `succ` and `<` written as `+ 1`."""
    if not isinstance(fn, Const):
        return mk_app(fn, *args)
    if fn.name == "Nat.succ" and len(args) == 1:
        return mk_plus(args[0], 1)
    if len(args) == 2:
        a, b = args
        # One relation of order for arithmetic and for patterns; `a < b` unfolds to it.
        if fn.name == "Nat.lt":
            return mk_app(NAT_LE, mk_plus(a, 1), b)
        if isinstance(b, Lit):
            if isinstance(a, Lit):
                value = _compute(fn.name, a.value, b.value)
                if value is not None:
                    return Lit(value)
            if fn is NAT_ADD:
                return mk_plus(a, b.value)
    return mk_app(fn, *args)


def mk_plus(base: Expr, number: int) -> Expr:
    """`base + number` as one literal or one offset; the base is in normal form."""
    if number == 0:
        return base
    if isinstance(base, Lit):
        return Lit(base.value + number)
    inner, plus = split_offset(base)
    if plus and plus + number <= MAX_OFFSET:
        return mk_app(NAT_ADD, inner, Lit(plus + number))
    return mk_app(NAT_ADD, base, Lit(number))


def split_offset(e: Expr) -> tuple[Expr, int]:
    """`x` and `k` of a term `x + k` in normal form; `k = 0` for any other term."""
    if isinstance(e, App) and isinstance(e.arg, Lit) and isinstance(e.fn, App) and e.fn.fn is NAT_ADD:
        return e.fn.arg, e.arg.value
    return e, 0


def _compute(name: str, a: int, b: int) -> int | None:
    match name:
        case "Nat.add":
            return a + b
        case "Nat.sub":
            return max(a - b, 0)
        case "Nat.mul" if a.bit_length() + b.bit_length() <= MAX_BITS:
            return a * b
        case "Nat.pow" if a.bit_length() * b <= MAX_BITS:
            return a**b
        # Lean defines `a / 0` as 0 and `a % 0` as `a`.
        case "Nat.div" if b == 0:
            return 0
        case "Nat.div":
            return a // b
        case "Nat.mod" if b == 0:
            return a
        case "Nat.mod":
            return a % b
        case _:
            return None


def beta_app(fn: Expr, arg: Expr) -> Expr:
    """`fn arg`, contracted where `fn` is a `fun`."""
    return instantiate(fn.body, arg) if isinstance(fn, Lam) else App(fn, arg)


def arrow_parts(e: Expr) -> tuple[Expr, Expr] | None:
    """Both sides of a function type that does not depend on its argument."""
    if not isinstance(e, Pi) or has_loose_bvar(e.body, 0):
        return None
    return e.type, instantiate(e.body, e.type)
