"""What `omega` knows about operations that are atoms to it: `-`, `/`, `%`, `^`, `min`, `max` and `if`."""

from __future__ import annotations

from collections.abc import Iterator

from nanolean.kernel.expr import Const, Expr, Lit, get_app_fn_args, mk_app
from nanolean.kernel.level import ONE
from nanolean.meta.mctx import MetaContext
from nanolean.meta.offset import NAT_TYPE
from nanolean.tactics.eq_proof import match_eq, mk_eq
from nanolean.tactics.omega.proofs import BY_COMPUTATION
from nanolean.tactics.omega.propositions import Either, Relation
from nanolean.tactics.omega.sums import ground_value

MIN = Const("Min.min")

Known = Relation | Either


def facts_about(mctx: MetaContext, atom: Expr) -> Iterator[Known]:
    """What is known about an atom by the operation that it is made with."""
    fn, args = get_app_fn_args(atom)
    match fn.name if isinstance(fn, Const) else "", args:
        case "Nat.sub", [a, b]:
            total = _apply("Nat.add", atom, b)
            cases = _apply("Nat.le", total, a), _apply("Nat.le", atom, Lit(0))
            yield Either(*cases, _apply("Omega.sub_cases", a, b))
            yield Relation("le", a, total, _apply("Omega.sub_le_add", a, b))
            yield Relation("le", atom, a, _apply("Nat.sub_le", a, b))
        case "Nat.div" | "Nat.mod", [a, b]:
            yield from _division_facts(mctx, a, b)
        case "Nat.pow", [a, b]:
            smaller = _predecessor(b)
            if smaller is not None and ground_value(mctx, a) is not None:
                product = _apply("Nat.mul", mk_app(fn, a, smaller), a)
                yield Relation("eq", atom, product, _apply("Nat.pow_succ", a, smaller))
        case "Min.min" | "Max.max", [a, b]:
            proof = _apply("Nat.min_def" if fn is MIN else "Nat.max_def", a, b)
            equation = match_eq(mctx.infer_type(proof))
            assert equation is not None, "the definition is an equation"
            yield Relation("eq", atom, equation[3], proof)
        case "ite", [type_, condition, _, a, b] if type_ is NAT_TYPE:
            positive = _apply("And", condition, mk_eq(ONE, NAT_TYPE, atom, a))
            negative = _apply("And", _apply("Not", condition), mk_eq(ONE, NAT_TYPE, atom, b))
            yield Either(positive, negative, _apply("Omega.ite_cases", *args[1:]))


def _division_facts(mctx: MetaContext, a: Expr, b: Expr) -> Iterator[Known]:
    """`b * (a / b) + a % b = a` and `a % b < b` where `b` is a number; for 0 that `a / 0` is 0."""
    divisor = ground_value(mctx, b)
    if divisor is None:
        return
    quotient, remainder = _apply("Nat.div", a, b), _apply("Nat.mod", a, b)
    total = _apply("Nat.add", _apply("Nat.mul", b, quotient), remainder)
    yield Relation("eq", total, a, _apply("Nat.div_add_mod", a, b))
    if divisor == 0:
        yield Relation("eq", quotient, Lit(0), _apply("Nat.div_zero", a))
    else:
        yield Relation("lt", remainder, b, _apply("Omega.mod_lt", a, b, BY_COMPUTATION))


def _apply(name: str, *args: Expr) -> Expr:
    return mk_app(Const(name), *args)


def _predecessor(e: Expr) -> Expr | None:
    """`k` where the term is `k + 1` or `Nat.succ k`."""
    fn, args = get_app_fn_args(e)
    if fn is Const("Nat.succ") and len(args) == 1:
        return args[0]
    return args[0] if fn is Const("Nat.add") and len(args) == 2 and args[1] is Lit(1) else None
