"""Products of numbers as sums of sorted monomials, so that linear arithmetic sees `x * y` and `y * x` as one atom.

`(x + 2) * (y * x)` becomes `x * (x * y) + 2 * (x * y)`: first the simplifier multiplies out and sorts, then the numbers
in each monomial move to its front.
"""

from __future__ import annotations

from nanolean.errors import TacticError
from nanolean.kernel.expr import Const, Expr, FVar, Lit, get_app_fn_args, mk_app, subterms
from nanolean.kernel.level import ONE
from nanolean.meta.lctx import LocalContext
from nanolean.meta.mctx import MetaContext
from nanolean.meta.offset import NAT_TYPE
from nanolean.tactics.eq_proof import Step, mk_eq_refl, trans
from nanolean.tactics.grind.state import State
from nanolean.tactics.simp_engine import Simplifier
from nanolean.tactics.simp_procs import reduce_arith
from nanolean.tactics.simp_rules import RuleIndex, rules_of_constant

NAT_MUL, NAT_POW = Const("Nat.mul"), Const("Nat.pow")
RULES = (
    "Nat.left_distrib",
    "Nat.right_distrib",
    "Nat.mul_assoc",
    "Nat.mul_comm",
    "Nat.mul_left_comm",
    "Nat.mul_one",
    "Nat.one_mul",
    "Nat.mul_zero",
    "Nat.zero_mul",
)
MAX_EXPONENT = 4
"""Powers up to this one are multiplied out."""
MAX_MONOMIALS = 16
"""Products with more monomials stay as they are."""
MAX_PRODUCTS = 12
"""How many products one branch multiplies out."""


def add_products(state: State) -> bool:
    """Join the products and powers that are not linear to their sums of monomials; whether there was a new one."""
    graph = state.graph
    new = [e for name in ("Nat.mul", "Nat.pow") for e in graph.heads.get(name, ()) if _is_nonlinear(state, e)]
    progress = False
    for e in new:
        if len(state.products) >= MAX_PRODUCTS:
            break
        if e not in state.products:
            state.products.add(e)
            _join_to_sum(state, e)
            progress = True
        replaced = _with_sums(state, e)
        if replaced not in graph.root:
            graph.add(replaced, graph.generation[e])
            state.products.add(replaced)
            _join_to_sum(state, replaced)
            progress = True
    return progress


def _join_to_sum(state: State, e: Expr) -> None:
    graph = state.graph
    step = _multiply_out(state, e) if _is_nonlinear(state, e) else Step(e)
    target = state.normal(step.expr)
    if target is e:
        return
    graph.add(target, graph.generation[e])
    proof = step.proof or mk_eq_refl(ONE, NAT_TYPE, e)
    graph.merge(e, target, lambda ex: proof)


def _with_sums(state: State, e: Expr) -> Expr:
    """The product with each variable in it replaced by a number, sum or product that it is equal to."""
    fn, args = get_app_fn_args(e)
    if isinstance(fn, Const) and fn.name in ("Nat.add", "Nat.mul") and len(args) == 2:
        return mk_app(fn, *[_with_sums(state, arg) for arg in args])
    if fn is NAT_POW and len(args) == 2:
        return mk_app(fn, _with_sums(state, args[0]), args[1])
    graph = state.graph
    root = graph.root.get(e)
    for member in graph.members[root] if root is not None else ():
        name = graph.shapes(member).name
        if isinstance(member, Lit) or (name in ("Nat.add", "Nat.mul") and e not in subterms(member)):
            return member
    return e


def _is_nonlinear(state: State, e: Expr) -> bool:
    shape = state.graph.shapes(e)
    if len(shape.args) != 2:
        return False
    a, b = shape.args
    if shape.name == "Nat.pow" and not (isinstance(b, Lit) and b.value <= MAX_EXPONENT):
        return False
    if shape.name == "Nat.mul" and (isinstance(a, Lit) or isinstance(b, Lit)):
        return False
    return _monomials(e) <= MAX_MONOMIALS


def _monomials(e: Expr) -> int:
    """How many monomials a term has when it is multiplied out, before any are put together."""
    fn, args = get_app_fn_args(e)
    if not isinstance(fn, Const) or len(args) != 2:
        return 1
    a, b = args
    match fn.name:
        case "Nat.add":
            return _monomials(a) + _monomials(b)
        case "Nat.mul":
            return _monomials(a) * _monomials(b)
        case "Nat.pow" if isinstance(b, Lit) and b.value <= MAX_EXPONENT:
            return _monomials(a) ** b.value
        case _:
            return 1


def _multiply_out(state: State, e: Expr) -> Step:
    """The sum of monomials that a product is equal to; the product itself where that takes too long."""
    mctx = state.mctx
    index = RuleIndex(rule for name in RULES for rule in rules_of_constant(mctx.env[name]))
    locals_ = LocalContext(mctx.fvars[term.id] for term in state.graph.place if isinstance(term, FVar))
    try:
        sorted_ = Simplifier(mctx, locals_, [index], (reduce_arith, _power)).run(e)
        return trans(mctx, e, sorted_, Simplifier(mctx, locals_, [], (_number_first,)).run(sorted_.expr))
    except TacticError:
        return Step(e)


def _power(mctx: MetaContext, e: Expr) -> Step | None:
    """`x ^ 3` to `x ^ 2 * x`, `x ^ 1` to `x`."""
    fn, args = get_app_fn_args(e)
    if fn is not NAT_POW or len(args) != 2 or not isinstance(args[1], Lit):
        return None
    base, exponent = args[0], args[1].value
    if exponent == 1:
        return Step(base, mk_app(Const("Nat.pow_one"), base))
    if not 2 <= exponent <= MAX_EXPONENT:
        return None
    smaller = Lit(exponent - 1)
    return Step(mk_app(NAT_MUL, mk_app(NAT_POW, base, smaller), base), mk_app(Const("Nat.pow_succ"), base, smaller))


def _number_first(mctx: MetaContext, e: Expr) -> Step | None:
    """`x * 2` to `2 * x`, `x * (2 * y)` to `2 * (x * y)`, `2 * (3 * x)` to `6 * x`."""
    fn, args = get_app_fn_args(e)
    if fn is not NAT_MUL or len(args) != 2:
        return None
    a, b = args
    if isinstance(b, Lit) and not isinstance(a, Lit):
        return Step(mk_app(NAT_MUL, b, a), mk_app(Const("Nat.mul_comm"), a, b))
    inner, parts = get_app_fn_args(b)
    if inner is not NAT_MUL or len(parts) != 2 or not isinstance(parts[0], Lit):
        return None
    k, rest = parts
    if isinstance(a, Lit):
        assert isinstance(k, Lit)
        product = mk_app(NAT_MUL, mk_app(NAT_MUL, a, k), rest)
        assoc = mk_app(Const("Nat.mul_assoc"), a, k, rest)
        folded = mk_app(NAT_MUL, Lit(a.value * k.value), rest)
        return Step(folded, mk_app(Const("Eq.symm", (ONE,)), NAT_TYPE, product, e, assoc))
    return Step(mk_app(NAT_MUL, k, mk_app(NAT_MUL, a, rest)), mk_app(Const("Nat.mul_left_comm"), a, k, rest))
