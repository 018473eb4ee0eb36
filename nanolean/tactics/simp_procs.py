"""Computed rewriting steps of the simplifier: arithmetic on literals, offsets (`x + 3 = 5`), constructor clashes.

Each procedure has the name under which Lean knows it and answers a `Step`, or None where it does not apply.
"""

from collections.abc import Callable

from nanolean.kernel.declaration import DefInfo
from nanolean.kernel.expr import App, BVar, Const, Expr, Lam, Lit, Proj, get_app_fn_args, mk_app
from nanolean.kernel.level import ONE
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import NAT_ADD, NAT_TYPE, compute_number, mk_offset, nat_offset
from nanolean.tactics.constructors import (
    BOOL,
    BOOL_FALSE,
    BOOL_TRUE,
    as_ctor,
    injection_equations,
    refute_clash,
)
from nanolean.tactics.eq_proof import (
    FALSE,
    TRUE,
    Step,
    congr_args,
    match_eq,
    mk_eq,
    mk_eq_false,
    mk_eq_refl,
    mk_eq_true,
    mk_propext,
    trans,
)
from nanolean.tactics.matching import Match
from nanolean.tactics.simp_rules import rules_of_constant

Proc = Callable[[MetaContext, Expr], Step | None]


def _nat_args(e: Expr) -> tuple[int, int] | None:
    """The two literals that an operation is applied to."""
    if isinstance(e, App) and isinstance(e.arg, Lit) and isinstance(e.fn, App) and isinstance(e.fn.arg, Lit):
        return e.fn.arg.value, e.arg.value
    return None


def reduce_arith(mctx: MetaContext, e: Expr) -> Step | None:
    """`2 + 3` to `5`, likewise `* - ^ / % gcd ==`, and `succ 2`."""
    fn, args = get_app_fn_args(e)
    if not isinstance(fn, Const):
        return None
    if fn.name == "Nat.succ" and len(args) == 1 and isinstance(args[0], Lit):
        return Step(Lit(args[0].value + 1))
    numbers = _nat_args(e)
    if numbers is None:
        return None
    if fn.name == "Nat.beq":
        return Step(BOOL_TRUE if numbers[0] == numbers[1] else BOOL_FALSE)
    value = compute_number(mctx, fn.name, *numbers)
    if value is None:
        return None
    return Step(Lit(value))  # without a proof: the kernel computes literals too


def _false_step(prop: Expr, refutation: Expr) -> Step:
    return Step(FALSE, mk_eq_false(prop, refutation))


def reduce_eq(mctx: MetaContext, e: Expr) -> Step | None:
    """Equations between numbers: `2 = 3` to `False`, `x + 3 = 5` and `5 = x + 3` to `x = 2`, `x + 1 = 0` to `False`."""
    sides = match_eq(e)
    if sides is None or sides[1] is not NAT_TYPE:
        return None
    (base_a, plus_a), (base_b, plus_b) = nat_offset(mctx, sides[2]), nat_offset(mctx, sides[3])
    if base_a is None and base_b is None and plus_a == plus_b:
        return Step(TRUE, mk_eq_true(e, mk_eq_refl(ONE, NAT_TYPE, sides[2])))
    step = _cancel(
        mctx,
        e,
        (base_a, plus_a, base_b, plus_b),
        "Nat.add_right_cancel_iff",
        lambda a, b: mk_eq(ONE, NAT_TYPE, a, b),
    )
    # `5 = x + 3` ends as `x = 2`, like `x + 3 = 5`.
    if step is not None and base_a is None and base_b is not None:
        turned = _turned(step.expr)
        step = turned and trans(mctx, e, step, turned)
    return step or reduce_clash(mctx, e)


def _turned(equation: Expr) -> Step | None:
    """`a = b` to `b = a`."""
    sides = match_eq(equation)
    if sides is None:
        return None
    level, type_, lhs, rhs = sides
    result = mk_eq(level, type_, rhs, lhs)
    return Step(result, mk_propext(equation, result, mk_app(Const("eq_comm", (level,)), type_, lhs, rhs)))


def reduce_le(mctx: MetaContext, e: Expr) -> Step | None:
    """`2 ≤ 3` to `True`, `3 ≤ 2` to `False`, `x + 3 ≤ 5` to `x ≤ 2`."""
    fn, args = get_app_fn_args(e)
    if not (isinstance(fn, Const) and fn.name == "Nat.le" and len(args) == 2):
        return None
    sides = (*nat_offset(mctx, args[0]), *nat_offset(mctx, args[1]))
    if sides[0] is None and sides[2] is None:
        return _compare_numbers(e, sides[1], sides[3])
    return _cancel(mctx, e, sides, "Nat.add_le_add_iff_right", lambda a, b: mk_app(fn, a, b))


def reduce_lt(mctx: MetaContext, e: Expr) -> Step | None:
    """`2 < 3` to `True`, `3 < 2` to `False`, `x + 3 < 5` to `x < 2`."""
    fn, args = get_app_fn_args(e)
    if not (isinstance(fn, Const) and fn.name == "Nat.lt" and len(args) == 2):
        return None
    sides = (*nat_offset(mctx, args[0]), *nat_offset(mctx, args[1]))
    if sides[0] is None and sides[2] is None:
        return _compare_numbers(e, sides[1] + 1, sides[3])
    return _cancel(mctx, e, sides, "Nat.add_lt_add_iff_right", lambda a, b: mk_app(fn, a, b))


def _compare_numbers(e: Expr, low: int, high: int) -> Step:
    """`low ≤ high` (the proposition `e` by definition) by evaluating `Nat.ble`."""
    numbers = (Lit(low), Lit(high))
    if low <= high:
        proof = mk_app(Const("Nat.le_of_ble_eq_true"), *numbers, mk_eq_refl(ONE, BOOL, BOOL_TRUE))
        return Step(TRUE, mk_eq_true(e, proof))
    differ = mk_app(Const("ne_true_of_eq_false"), mk_app(Const("Nat.ble"), *numbers), mk_eq_refl(ONE, BOOL, BOOL_FALSE))
    return _false_step(e, mk_app(Const("Nat.not_le_of_not_ble_eq_true"), *numbers, differ))


def _cancel(
    mctx: MetaContext,
    e: Expr,
    sides: tuple[Expr | None, int, Expr | None, int],
    lemma: str,
    relate: Callable[[Expr, Expr], Expr],
) -> Step | None:
    """Take the common offset from both sides of a relation, by a lemma `a + k ~ b + k ↔ a ~ b`."""
    base_a, plus_a, base_b, plus_b = sides
    common = min(plus_a, plus_b)
    info = mctx.env.get(lemma)
    if common == 0 or info is None:
        return None
    lhs, rhs = mk_offset(base_a, plus_a - common), mk_offset(base_b, plus_b - common)
    rule = rules_of_constant(info)[0]
    match = Match(mctx, len(rule.types), open_levels=False)
    if lhs is rhs or not match.match(rule.lhs, relate(_plus(lhs, common), _plus(rhs, common))):
        return None
    result = relate(lhs, rhs)
    equivalence = match.fill(rule.proof)
    assert equivalence is not None, "the left side determines all arguments"
    return Step(result, mk_propext(e, result, equivalence))


def _plus(e: Expr, number: int) -> Expr:
    return mk_app(NAT_ADD, e, Lit(number))


def reduce_clash(mctx: MetaContext, e: Expr) -> Step | None:
    """`C₁ .. = C₂ ..` with different constructors to `False`."""
    sides = match_eq(e)
    if sides is None:
        return None
    left = as_ctor(mctx, sides[2], reduce=False)
    right = as_ctor(mctx, sides[3], reduce=False) if left is not None else None
    if left is None or right is None or left.ctor is right.ctor:
        return None
    # `e = False` from `¬e`: the refutation is a function of the equation.
    local = mctx.fresh_local("h", e)
    absurdity = refute_clash(mctx, e, local.fvar)
    if absurdity is None:
        return None
    return _false_step(e, mctx.mk_lambda([local.fvar_id], absurdity))


def reduce_injective(mctx: MetaContext, e: Expr) -> Step | None:
    """`C a b = C c d` to `a = c ∧ b = d` (Lean's `C.injEq`), for constructors whose fields are plain data."""
    sides = match_eq(e)
    if sides is None:
        return None
    left = as_ctor(mctx, sides[2], reduce=False)
    right = as_ctor(mctx, sides[3], reduce=False) if left is not None else None
    if left is None or right is None or left.ctor is not right.ctor or not left.fields:
        return None
    local = mctx.fresh_local("h", e)
    parts = injection_equations(mctx, e, local.fvar)
    # A field without an equation (a proof, or of a dependent type) would be lost in the other direction.
    if parts is None or len(parts) != len(left.fields):
        return None
    result, forth = parts[-1].equation, parts[-1].proof
    for part in reversed(parts[:-1]):
        forth = mk_app(Const("And.intro"), part.equation, result, part.proof, forth)
        result = mk_app(Const("And"), part.equation, result)
    assumption = mctx.fresh_local("h", result)
    equations = [part.equation for part in parts]
    steps: list[Step | None] = [
        Step(field, proof) for field, proof in zip(right.fields, _conjuncts(equations, result, assumption.fvar))
    ]
    ctor = mk_app(Const(left.ctor.name, left.levels), *left.params)
    back = congr_args(mctx, ctor, left.fields, steps).proof
    assert back is not None, "there is a field"
    mp, mpr = mctx.mk_lambda([local.fvar_id], forth), mctx.mk_lambda([assumption.fvar_id], back)
    return Step(result, mk_propext(e, result, mk_app(Const("Iff.intro"), e, result, mp, mpr)))


def _conjuncts(parts: list[Expr], whole: Expr, proof: Expr) -> list[Expr]:
    """Proofs of the parts of `whole = p₁ ∧ p₂ ∧ ..`."""
    proofs = []
    for part in parts[:-1]:
        rest = get_app_fn_args(whole)[1][1]
        proofs.append(mk_app(Const("And.left"), part, rest, proof))
        whole, proof = rest, mk_app(Const("And.right"), part, rest, proof)
    return [*proofs, proof]


def reduce_projection(mctx: MetaContext, e: Expr) -> Step | None:
    """`{ width := a, height := b }.width` to `a`: Lean's simplifier does so by itself (`Simp.Config.proj`)."""
    fn, args = get_app_fn_args(e)
    info = mctx.env.get(fn.name) if isinstance(fn, Const) and args else None
    if not isinstance(info, DefInfo):
        return None
    value = info.value
    for _ in args:
        if not isinstance(value, Lam):
            return None
        value = value.body
    if not (isinstance(value, Proj) and value.expr == BVar(0)):
        return None
    structure = as_ctor(mctx, args[-1], reduce=False)
    return None if structure is None else Step(structure.fields[value.idx])


PROCS: dict[str, Proc] = {
    "Nat.reduceAdd": reduce_arith,
    "Nat.reduceMul": reduce_arith,
    "Nat.reduceSub": reduce_arith,
    "Nat.reducePow": reduce_arith,
    "Nat.reduceDiv": reduce_arith,
    "Nat.reduceMod": reduce_arith,
    "Nat.reduceGcd": reduce_arith,
    "Nat.reduceSucc": reduce_arith,
    "Nat.reduceBeq": reduce_arith,
    "Nat.reduceEqDiff": reduce_eq,
    "Nat.reduceLeDiff": reduce_le,
    "Nat.reduceLTLE": reduce_lt,
    "reduceCtorEq": reduce_clash,
}
"""Lean's name of each procedure. Several names may stand for one function here, which then does the work of all."""

DEFAULT_PROCS: tuple[Proc, ...] = (*dict.fromkeys(PROCS.values()), reduce_injective, reduce_projection)


def find_proc(mctx: MetaContext, name: str) -> Proc | None:
    """Return the procedure that a name stands for, also `C.injEq` for a constructor `C`."""
    ctor = mctx.env.get(name.removesuffix(".injEq"))
    if name.endswith(".injEq") and ctor is not None and ctor.kind == "ctor":
        return reduce_eq if ctor.name == "Nat.succ" else reduce_injective
    return PROCS.get(name)
