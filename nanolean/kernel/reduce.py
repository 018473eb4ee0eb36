"""Computation in an environment: single steps, and weak head normal forms, on which inference and conversion stand."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from nanolean.kernel.budget import Budget, BudgetExceeded, allow_deep_recursion
from nanolean.kernel.declaration import Constants, CtorInfo, DefInfo, InductiveInfo, QuotInfo, RecInfo, TheoremInfo
from nanolean.kernel.expr import (
    App,
    Const,
    Expr,
    FVar,
    Lam,
    Let,
    Lit,
    Proj,
    Sort,
    get_app_fn,
    get_app_fn_args,
    instantiate,
    instantiate_rev,
    mk_app,
)
from nanolean.kernel.level import ZERO, always_equal

NAT = Const("Nat")
NAT_ZERO = Const("Nat.zero")
NAT_SUCC = Const("Nat.succ")
NAT_ADD = Const("Nat.add")
NAT_POW = Const("Nat.pow")
BOOL = Const("Bool")
BOOL_FALSE = Const("Bool.false")
BOOL_TRUE = Const("Bool.true")

MAX_LITERAL_BITS = 1 << 24
"""Powers and products that would be larger are not computed. Lean's kernel stops powers of 2 there, others later."""
MAX_EXPONENT = 1 << 24
"""Powers of 2 and more with larger exponents are not computed, as in Lean's kernel (lean4#4637)."""
MAX_EXPONENT_BITS = 32
"""Lean's kernel reads no larger exponents, for powers of 0 and 1 either, whose values are small."""
BITS_PER_STEP = 128
"""Reading and writing numbers costs one elementary step for each so many bits of them."""
PRODUCTS_PER_STEP = 1 << 23
"""Multiplying `a` and `b` bits costs one step for each so many of the `a * b` products of their bits."""
DIVISIONS_PER_STEP = 1 << 19
"""The same for division, remainder and greatest common divisor, which take longer."""

Spend = Callable[[int], None]
"""Takes elementary steps from a budget."""


class Ops(Protocol):
    """What the steps need from the caller."""

    def whnf(self, e: Expr) -> Expr:
        """Weak head normal form."""

    def infer(self, e: Expr) -> Expr:
        """Infer the type of a term that is known to have one."""

    def is_def_eq(self, a: Expr, b: Expr) -> bool:
        """Definitional equality."""


def beta(fn: Expr, args: Sequence[Expr]) -> Expr:
    """`fn` applied to the arguments with the head redexes contracted."""
    start = 0
    while fn.__class__ is Lam and start < len(args):
        end = start
        while fn.__class__ is Lam and end < len(args):
            fn = fn.body
            end += 1
        fn = instantiate_rev(fn, args[start:end])
        start = end
        if fn.__class__ is App and start < len(args) and get_app_fn(fn).__class__ is Lam:
            fn, inner = get_app_fn_args(fn)
            args, start = [*inner, *args[start:]], 0
    return mk_app(fn, *args[start:])


def unfold(env: Constants, const: Expr) -> Expr | None:
    """Return the value of a constant that is a definition or theorem (opaque constants are never unfolded)."""
    if const.__class__ is Const:
        info: Any = env.get(const.name)
        levels = const.levels
        # A proof is data to a recursor that may make data of it, such as that of `And`: Lean unfolds theorems for it.
        if (info.__class__ is DefInfo or info.__class__ is TheoremInfo) and len(levels) == len(info.level_params):
            value: Expr = info.value_at(levels)
            return value
    return None


def unfold_app(env: Constants, e: Expr) -> Expr | None:
    """Unfold the head constant of the term and contract the head redexes."""
    if e.__class__ is not App:
        return unfold(env, e)
    value = unfold(env, get_app_fn(e))
    return None if value is None else beta(value, get_app_fn_args(e)[1])


def literal_to_ctor(e: Expr) -> Expr:
    """`Nat.zero` or `Nat.succ n` for a literal; other terms as they are."""
    if e.__class__ is Lit:
        value = e.value
        return NAT_ZERO if value == 0 else App(NAT_SUCC, Lit(value - 1))
    return e


def ctor_of(env: Constants, e: Expr) -> CtorInfo | None:
    """Return the constructor at the head of a term."""
    head = get_app_fn(e)
    info = env.get(head.name) if isinstance(head, Const) else None
    return info if isinstance(info, CtorInfo) else None


def reduce_rec(env: Constants, info: RecInfo, fn: Const, args: Sequence[Expr], ops: Ops) -> Expr | None:
    """Reduce a recursor by one step, where its major premise is (or can be made) a constructor."""
    major_idx = info.major_idx
    if len(args) <= major_idx or len(fn.levels) != len(info.level_params):
        return None
    major = args[major_idx]
    if info.k:
        major = _major_by_k(env, info, major, ops) or major
    major = literal_to_ctor(ops.whnf(major))
    ctor = ctor_of(env, major)
    if ctor is None or ctor.induct != info.induct:
        expanded = _major_by_eta(env, info, major, ops)
        if expanded is None:
            return None
        major, ctor = expanded
    fields = get_app_fn_args(major)[1][ctor.num_params :]
    if len(fields) != ctor.num_fields:
        return None
    shared = args[: info.num_params + info.num_motives + info.num_minors]
    result = instantiate_rev(info.rhs_at(ctor.idx, fn.levels), [*shared, *fields])
    return beta(result, args[major_idx + 1 :]) if len(args) > major_idx + 1 else result


def _major_by_k(env: Constants, info: RecInfo, major: Expr, ops: Ops) -> Expr | None:
    """The only constructor, when the type of the major premise fits it."""
    if ctor_of(env, major) is not None:
        return None
    type_ = ops.whnf(ops.infer(major))
    head, args = get_app_fn_args(type_)
    if not (isinstance(head, Const) and head.name == info.induct) or type_.has_mvar:
        return None
    candidate = mk_app(Const(info.rules[0].ctor, head.levels), *args[: info.num_params])
    return candidate if ops.is_def_eq(type_, ops.infer(candidate)) else None


def _major_by_eta(env: Constants, info: RecInfo, major: Expr, ops: Ops) -> tuple[Expr, CtorInfo] | None:
    """A structure that is not a constructor application, written as its constructor applied to its projections."""
    induct = env.get(info.induct)
    if not isinstance(induct, InductiveInfo) or not induct.is_structure or induct.is_prop:
        return None
    ctor = env.get(induct.ctors[0])
    assert isinstance(ctor, CtorInfo)
    type_ = ops.whnf(ops.infer(major))
    head, args = get_app_fn_args(type_)
    if not (isinstance(head, Const) and head.name == info.induct):
        return None
    sort = ops.whnf(ops.infer(type_))
    if not isinstance(sort, Sort) or always_equal(sort.level, ZERO):
        return None  # a family in `Sort u` is a proposition where `u` is 0, and proofs have no projections to data
    fields = [Proj(info.induct, i, major) for i in range(ctor.num_fields)]
    return mk_app(Const(ctor.name, head.levels), *args[: ctor.num_params], *fields), ctor


def reduce_quot(fn: Const, args: Sequence[Expr], ops: Ops) -> Expr | None:
    """`Quot.lift f h (Quot.mk r a)` is `f a`; `Quot.ind h (Quot.mk r a)` is `h a`."""
    places = {"Quot.lift": (3, 5), "Quot.ind": (3, 4)}.get(fn.name)
    if places is None or len(args) <= places[1]:
        return None
    fn_idx, major_idx = places
    head, parts = get_app_fn_args(ops.whnf(args[major_idx]))
    if not (isinstance(head, Const) and head.name == "Quot.mk" and len(parts) == 3):
        return None
    return beta(args[fn_idx], [parts[2], *args[major_idx + 1 :]])


def reduce_head(env: Constants, fn: Expr, args: Sequence[Expr], ops: Ops) -> Expr | None:
    """Reduce a recursor or quotient at the head of an application by one step."""
    if fn.__class__ is not Const:
        return None
    info: Any = env.get(fn.name)
    if info.__class__ is RecInfo:
        return reduce_rec(env, info, fn, args, ops)
    if info.__class__ is QuotInfo:
        return reduce_quot(fn, args, ops)
    return None


def reduce_proj(env: Constants, e: Proj, whnf: Callable[[Expr], Expr]) -> Expr | None:
    """Return the field, where the structure reduces to its constructor."""
    value = whnf(e.expr)
    ctor = ctor_of(env, value)
    if ctor is None or ctor.induct != e.struct:
        return None
    args = get_app_fn_args(value)[1]
    place = ctor.num_params + e.idx
    return args[place] if place < len(args) else None


NAT_FUNCTIONS: dict[str, Callable[[int, int], int | bool]] = {
    "Nat.add": lambda a, b: a + b,
    "Nat.mul": lambda a, b: a * b,
    "Nat.sub": lambda a, b: a - b if a > b else 0,
    "Nat.pow": lambda a, b: a**b,
    "Nat.div": lambda a, b: a // b if b else 0,
    "Nat.mod": lambda a, b: a % b if b else a,
    "Nat.gcd": math.gcd,
    "Nat.beq": lambda a, b: a == b,
    "Nat.ble": lambda a, b: a <= b,
}
"""The operations that are computed with Python numbers, once the environment has checked what they mean."""


def compute(name: str, a: int, b: int, spend: Spend, max_exponent: int = MAX_EXPONENT) -> int | bool | None:
    """Compute an operation of `NAT_FUNCTIONS`, paid for by its size beforehand.

    None where it would have more than `MAX_LITERAL_BITS`, or for a power with an exponent above `max_exponent`; where
    that is the kernel's, for powers of 0 and 1 with exponents that have more than `MAX_EXPONENT_BITS`.
    """
    bits_a, bits_b = a.bit_length(), b.bit_length()
    steps = (bits_a + bits_b) // BITS_PER_STEP
    if name == "Nat.pow":
        if bits_b > MAX_EXPONENT_BITS or (b > max_exponent and (a > 1 or max_exponent < MAX_EXPONENT)):
            return None
        # The value decides what it costs, not the exponent: that of 0 and 1 is small, and powers of 2 are shifted.
        is_power_of_two = a & (a - 1) == 0
        bits = (bits_a - is_power_of_two) * b if a > 1 else 1
        if bits > MAX_LITERAL_BITS:
            return None
        if is_power_of_two and a > 1:
            spend(steps + bits // BITS_PER_STEP)
            return 1 << bits
        steps += bits // BITS_PER_STEP + (bits // 2) ** 2 // PRODUCTS_PER_STEP
    elif name == "Nat.mul":
        if bits_a + bits_b > MAX_LITERAL_BITS:
            return None
        steps += bits_a * bits_b // PRODUCTS_PER_STEP
    elif name in ("Nat.div", "Nat.mod", "Nat.gcd"):
        steps += bits_a * bits_b // DIVISIONS_PER_STEP
    spend(steps)
    return NAT_FUNCTIONS[name](a, b)


def nat_offset(env: Constants, e: Any) -> tuple[Expr | None, int]:
    """Split a number into `base + offset` (syntactically: `succ`, literals, `+ literal`); no base for a numeral."""
    offset = 0
    while True:
        if e.__class__ is Lit:
            return None, offset + e.value
        if e is NAT_ZERO:
            return None, offset
        if e.__class__ is not App:
            return e, offset
        if e.fn is NAT_SUCC:
            offset += 1
        elif e.arg.__class__ is Lit and e.fn.__class__ is App and e.fn.fn is NAT_ADD and _is_computed(env, "Nat.add"):
            offset += e.arg.value
            e = e.fn
        else:
            return e, offset
        e = e.arg


def add_offset(env: Constants, base: Expr | None, offset: int) -> Expr:
    """Rebuild the term that `nat_offset` splits; with `Nat.add` only where the kernel knows what `Nat.add` computes."""
    if base is None:
        return Lit(offset)
    if offset > 1 and _is_computed(env, "Nat.add"):
        return mk_app(NAT_ADD, base, Lit(offset))
    for _ in range(offset):  # then `nat_offset` has met as many successors
        base = App(NAT_SUCC, base)
    return base


def _is_computed(env: Constants, name: str) -> bool:
    info: Any = env.get(name)
    return info.__class__ is DefInfo and info.computes_literals


def to_literal(e: Expr) -> int | None:
    """Return the number that a literal, `Nat.zero` or successors of these denote (syntactically)."""
    offset = 0
    while e.__class__ is App and e.fn is NAT_SUCC:
        e = e.arg
        offset += 1
    if e.__class__ is Lit:
        return e.value + offset
    return offset if e is NAT_ZERO else None


def _for_nothing(steps: int) -> None:
    """The budget of who has none."""


def fold_nat(
    env: Constants,
    e: Expr,
    whnf: Callable[[Expr], Expr],
    spend: Spend = _for_nothing,
    max_exponent: int = MAX_EXPONENT,
) -> Expr | None:
    """Evaluate an operation of `Nat` applied to numbers to a literal or a `Bool`; large ones cost steps.

    Raises `BudgetExceeded` where `compute` refuses: counting the value out by the definition takes longer still. Where
    `max_exponent` is lower than the kernel's, powers with larger exponents are no values, and the answer is None.
    """
    if e.__class__ is not App or e.has_fvar:
        return None
    fn, second = e.fn, e.arg
    if fn is NAT_SUCC:
        value = to_literal(whnf(second))
        return None if value is None else Lit(value + 1)
    if fn.__class__ is not App or fn.fn.__class__ is not Const or fn.fn.name not in NAT_FUNCTIONS:
        return None
    if not _is_computed(env, fn.fn.name):
        return None
    left = to_literal(whnf(fn.arg))
    right = None if left is None else to_literal(whnf(second))
    if left is None or right is None:
        return None
    result = compute(fn.fn.name, left, right, spend, max_exponent)
    if result is None:
        if max_exponent < MAX_EXPONENT and fn.fn is NAT_POW and right > max_exponent:
            return None
        raise BudgetExceeded("a number is too large")
    if result.__class__ is bool:
        return BOOL_TRUE if result else BOOL_FALSE
    return Lit(result)


DEFAULT_STEPS = 3_000_000

LocalTypes = Mapping[str, tuple[Expr, Expr | None]]


class Reducer:
    """Computes in an environment and a local context (free variable id -> its type and, for a `let`, its value)."""

    def __init__(self, env: Constants, lctx: LocalTypes | None = None, budget: Budget | int = DEFAULT_STEPS) -> None:
        allow_deep_recursion()
        self.env = env
        self.lctx: LocalTypes = lctx or {}
        self.budget = Budget(budget) if isinstance(budget, int) else budget
        self.depth = 0
        self._opened: dict[tuple[int, Expr], FVar] = {}
        self._opened_types: dict[FVar, Expr] = {}
        self._whnf_core: dict[Expr, Expr] = {}
        self._whnf: dict[Expr, Expr] = {}

    def infer(self, e: Expr) -> Expr:
        """Infer the type of a term that is known to have one."""
        raise NotImplementedError

    def is_def_eq(self, a: Expr, b: Expr) -> bool:
        """Definitional equality of two terms that are known to have types."""
        raise NotImplementedError

    def open_local(self, type_: Expr) -> FVar:
        """Make a variable for a binder of that type. Open variables nest: set `depth` back when leaving the binder.

        The variable is new among those that are open (they have smaller depths), so no term at hand contains it.
        """
        key = (self.depth, type_)
        self.depth += 1
        fvar = self._opened.get(key)
        if fvar is None:
            fvar = self._opened[key] = FVar(f"kernel.{len(self._opened)}")
            self._opened_types[fvar] = type_
        return fvar

    def whnf_core(self, e: Expr) -> Expr:
        """Weak head normal form without unfolding definitions and without computing literals."""
        cls = e.__class__
        if cls is not App and cls is not Proj and cls is not Let and cls is not FVar:
            return e
        found = self._whnf_core.get(e)
        if found is not None:
            return found
        try:
            result = self._reduce_core(e)
        except RecursionError:
            raise BudgetExceeded("the computation is nested too deeply") from None
        self._whnf_core[e] = result
        return result

    def _reduce_core(self, e: Expr) -> Expr:
        env = self.env
        while True:
            self.budget.spend()
            match e:
                case App():
                    fn, args = get_app_fn_args(e)
                    if fn.__class__ is Lam:
                        e = beta(fn, args)
                    elif fn.__class__ is Const:
                        step = reduce_head(env, fn, args, self)
                        if step is None:
                            return e
                        e = step
                    else:
                        head = self.whnf_core(fn)
                        if head is fn:
                            return e
                        e = mk_app(head, *args)
                case Let(_, _, value, body):
                    e = instantiate(body, value)
                case Proj():
                    step = reduce_proj(env, e, self.whnf)
                    if step is None:
                        return e
                    e = step
                case FVar(id):
                    declared = self.lctx.get(id)
                    if declared is None or declared[1] is None:
                        return e
                    e = declared[1]
                case _:
                    return e

    def whnf(self, e: Expr) -> Expr:
        """Weak head normal form: nothing at the head can be computed or unfolded any more."""
        cls = e.__class__
        if cls is not App and cls is not Const and cls is not Proj and cls is not Let and cls is not FVar:
            return e
        found = self._whnf.get(e)
        if found is not None:
            return found
        try:
            result = e
            while True:
                result = self.whnf_core(result)
                step = self.fold(result) or unfold_app(self.env, result)
                if step is None:
                    break
                result = step
        except RecursionError:
            raise BudgetExceeded("the computation is nested too deeply") from None
        self._whnf[e] = result
        return result

    def fold(self, e: Expr) -> Expr | None:
        """Evaluate an operation of `Nat` applied to numbers, None for other terms; large numbers cost more."""
        return fold_nat(self.env, e, self.whnf, self.budget.spend)
