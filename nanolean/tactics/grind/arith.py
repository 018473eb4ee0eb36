"""Linear arithmetic in the search, and products of numbers as sums of sorted monomials."""

from collections.abc import Iterator

from nanolean.kernel.expr import (
    Const,
    Expr,
    FVar,
    Lit,
    abstract,
    collect_fvars,
    get_app_fn_args,
    instantiate_rev,
    mk_app,
    subterms,
)
from nanolean.kernel.level import ONE
from nanolean.meta.lctx import LocalContext
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import NAT_TYPE
from nanolean.meta.store import Product
from nanolean.proof_errors import TacticError
from nanolean.tactics.eq_proof import Step, mk_eq, mk_eq_refl, trans
from nanolean.tactics.grind.egraph import EGraph, Explainer, mk_not
from nanolean.tactics.grind.state import Build, State
from nanolean.tactics.omega import solve
from nanolean.tactics.simp_engine import Simplifier
from nanolean.tactics.simp_procs import reduce_arith
from nanolean.tactics.simp_rules import RuleIndex, rules_of_constant

NAT_ADD, NAT_MUL, NAT_POW = Const("Nat.add"), Const("Nat.mul"), Const("Nat.pow")
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
        # `x * y` where `y = a + b` is known is `x * a + x * b`.
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
    if root is None:
        return e
    for member in graph.members[root]:
        # A member that contains the term would be put into itself, without end.
        name = graph.shapes(member).name
        if isinstance(member, Lit) or (name in ("Nat.add", "Nat.mul") and e not in subterms(member)):
            return member
    return e


def _is_nonlinear(state: State, e: Expr) -> bool:
    shape = state.graph.shapes(e)
    if len(shape.args) != 2:
        return False
    a, b = shape.args
    if shape.name == "Nat.pow" and not (_summands(b) or (isinstance(b, Lit) and b.value <= MAX_EXPONENT)):
        return False
    # A multiple is linear, `omega` reads it.
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
        case "Nat.pow":
            count = 1
            for exponent in _summands(b):
                count *= _monomials(mk_app(NAT_POW, a, exponent))
            return count
        case _:
            return 1


def _summands(exponent: Expr) -> list[Expr]:
    """Return `n` and `1` of `n + 1`; nothing of what is no sum."""
    fn, args = get_app_fn_args(exponent)
    return list(args) if fn is NAT_ADD and len(args) == 2 else []


def _multiply_out(state: State, e: Expr) -> Step:
    """The sum of monomials that a product is equal to; the product itself where that takes too long.

    Remembered for each pattern of variables: most products come again, in other branches, states and theorems.
    """
    mctx = state.mctx
    mentioned = collect_fvars(e)
    variables = [term for term in state.graph.place if isinstance(term, FVar) and term.id in mentioned]
    types = tuple(mctx.fvars[variable.id].type for variable in variables)
    # A sum depends on its variables by their types, and by their order, in which the factors are sorted. A type that
    # mentions variables is not closed under the renaming to come.
    if len(variables) < len(mentioned) or e.has_mvar or any(type_.has_fvar for type_ in types):
        return _sorted_sum(state, e)
    key = (abstract(e, variables), types)
    product = mctx.caches.products.get(key)
    if product is None:
        before = mctx.budget.left
        step = _sorted_sum(state, e)
        proof = step.proof and abstract(step.proof, variables)
        product = Product(abstract(step.expr, variables), proof, before - mctx.budget.left)
        mctx.caches.products[key] = product
    else:
        # As if it were done again: what a tactic can do within its steps must not depend on what ran before it.
        mctx.budget.spend(product.steps)
    if product.sum is key[0]:
        return Step(e)
    proof = product.proof and instantiate_rev(product.proof, variables)
    return Step(instantiate_rev(product.sum, variables), proof)


def _sorted_sum(state: State, e: Expr) -> Step:
    mctx = state.mctx
    index = RuleIndex(rule for name in RULES for rule in rules_of_constant(mctx.env[name]))
    locals_ = LocalContext(mctx.fvars[term.id] for term in state.graph.place if isinstance(term, FVar))
    try:
        # First distributed and sorted, then the numbers in front: in one run each would undo the other.
        sorted_ = Simplifier(mctx, locals_, [index], (reduce_arith, _power)).run(e)
        return trans(mctx, e, sorted_, Simplifier(mctx, locals_, [], (_number_first,)).run(sorted_.expr))
    except TacticError:
        return Step(e)


def _power(mctx: MetaContext, e: Expr) -> Step | None:
    """`x ^ (m + n)` to `x ^ m * x ^ n`, `x ^ 3` to `x ^ 2 * x`, `x ^ 1` to `x` and `x ^ 0` to 1, as Lean's `grind`."""
    fn, args = get_app_fn_args(e)
    if fn is not NAT_POW or len(args) != 2:
        return None
    base = args[0]
    if summands := _summands(args[1]):
        first, second = (mk_app(NAT_POW, base, summand) for summand in summands)
        return Step(mk_app(NAT_MUL, first, second), mk_app(Const("Nat.pow_add"), base, *summands))
    if not isinstance(args[1], Lit):
        return None
    exponent = args[1].value
    if exponent == 0:
        return Step(Lit(1), mk_app(Const("Nat.pow_zero"), base))
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


RELATIONS = ("Nat.le", "Nat.dvd", "Eq")
OPERATIONS = {"Nat.add", "Nat.sub", "Nat.mul", "Nat.div", "Nat.mod", "Nat.pow"}
MAX_QUERIES = 8
"""How many equalities one branch may ask for."""

Facts = dict[Expr, Build]
"""Propositions about numbers, each with a way to prove it."""


def arithmetic_refutes(state: State) -> Expr | None:
    """Build a proof of `False` from what is known of numbers, None where there is none or nothing is new."""
    facts = dict(_facts(state))
    # `omega` begins from nothing each time: the same facts would be refused again.
    if not _is_arithmetic(state, facts) or state.refuted == set(facts):
        return None
    state.refuted = set(facts)
    return _solve(Explainer(state.graph), facts)


def implied_equality(state: State) -> bool:
    """Join two numbers that must be equal and whose equality makes terms congruent; whether there were such."""
    facts: Facts | None = None
    for a, b in _wanted(state):
        if (a, b) in state.asked or len(state.asked) >= MAX_QUERIES:
            continue
        state.asked.add((a, b))
        if facts is None:
            facts = dict(_facts(state))
        if _join_if_equal(state, facts, a, b):
            return True
    return False


def _join_if_equal(state: State, facts: Facts, a: Expr, b: Expr) -> bool:
    equation = mk_eq(ONE, NAT_TYPE, a, b)
    hyp = state.mctx.fresh_local("h", mk_not(equation))
    # `a = b` follows if `a ≠ b` contradicts the facts.
    absurdity = _solve(Explainer(state.graph), {**facts, hyp.type: lambda _: hyp.fvar})
    if absurdity is None:
        return False
    proof = mk_app(Const("Classical.byContradiction"), equation, state.mctx.mk_lambda([hyp.fvar_id], absurdity))
    state.graph.merge(a, b, lambda _: proof)
    return True


def _solve(ex: Explainer, facts: Facts) -> Expr | None:
    """`omega` on the facts; their proofs are built once it is known which are used."""
    mctx = ex.mctx
    hyps = {mctx.fresh_local("h", prop).fvar_id: build for prop, build in facts.items()}
    proof = solve(mctx, [(mctx.fvars[fvar_id].type, FVar(fvar_id)) for fvar_id in hyps])
    if proof is None:
        return None
    # A proof from the graph may be long, and `omega` uses few of the facts.
    used = [fvar_id for fvar_id in collect_fvars(proof) if fvar_id in hyps]
    return mk_app(mctx.mk_lambda(used, proof), *[hyps[fvar_id](ex) for fvar_id in used])


def _facts(state: State) -> Iterator[tuple[Expr, Build]]:
    """Decided relations between numbers, and the equalities of each class of numbers."""
    graph = state.graph
    for name in RELATIONS:
        for e in graph.heads.get(name, ()):
            # True equations come with their class, below.
            if name == "Eq" and (graph.shapes(e).args[0] is not NAT_TYPE or graph.is_true(e)):
                continue
            if graph.is_true(e):
                yield e, lambda ex, e=e: ex.holds(e)  # type: ignore[misc]
            elif graph.is_false(e):
                yield mk_not(e), lambda ex, e=e: ex.fails(e)  # type: ignore[misc]
    for root, members in graph.members.items():
        if len(members) > 1 and state.mctx.infer_type(root) is NAT_TYPE:
            for member in members:
                if member is not root:
                    equation = mk_eq(ONE, NAT_TYPE, member, root)
                    yield equation, lambda ex, a=member, b=root: ex.equal(a, b)  # type: ignore[misc]


def is_relation(graph: EGraph, prop: Expr) -> bool:
    """Return whether a proposition is a relation between numbers."""
    shape = graph.shapes(prop)
    return shape.name in RELATIONS and (shape.name != "Eq" or shape.args[0] is NAT_TYPE)


def _is_arithmetic(state: State, facts: Facts) -> bool:
    """Whether there is anything in the facts that congruence does not see: an order or an operation."""
    heads = state.graph.heads
    return bool(facts) and any(name in heads for name in (*OPERATIONS, "Nat.le", "Nat.dvd"))


def _wanted(state: State) -> Iterator[tuple[Expr, Expr]]:
    """Numbers at the same place of two applications that would be congruent if they were equal."""
    graph = state.graph
    for head, terms in graph.heads.items():
        if head in OPERATIONS or head in RELATIONS or head == "":
            continue
        # Equalities are asked only where congruence waits for one (as in Nelson and Oppen's combination), since each is
        # a call of `omega`.
        apart = [e for e in terms if graph.table.get(graph.signature(e) or ()) is e]
        for i, e in enumerate(apart):
            for other in apart[:i]:
                pair = _single_difference(state, e, other)
                if pair is not None and not graph.same(e, other) and _may_be_equal(state, *pair):
                    yield pair


def _single_difference(state: State, a: Expr, b: Expr) -> tuple[Expr, Expr] | None:
    """The only arguments in which two terms differ, if those are numbers."""
    graph = state.graph
    left, right = graph.shapes(a), graph.shapes(b)
    if len(left.args) != len(right.args) or left.head is not right.head:
        return None
    pairs = [(x, y) for x, y in zip(left.args, right.args) if not graph.same(x, y)]
    if len(pairs) != 1 or any(x not in graph.root for x in pairs[0]):
        return None
    if state.mctx.infer_type(pairs[0][0]) is not NAT_TYPE:
        return None
    return pairs[0]


def _may_be_equal(state: State, a: Expr, b: Expr) -> bool:
    """Whether it is worth asking: both occur in arithmetic, and they are not different literals or known to differ."""
    graph = state.graph
    if isinstance(graph.value.get(graph.root[a]), Lit) and isinstance(graph.value.get(graph.root[b]), Lit):
        return False
    equation = mk_eq(ONE, NAT_TYPE, a, b)
    return not (equation in graph.root and graph.is_false(equation)) and all(_is_used(state, x) for x in (a, b))


def _is_used(state: State, e: Expr) -> bool:
    graph = state.graph
    if any(
        graph.shapes(member).name in OPERATIONS or isinstance(member, Lit) for member in graph.members[graph.root[e]]
    ):
        return True
    return any(
        graph.shapes(use).name in OPERATIONS or graph.shapes(use).name in RELATIONS for use in graph.uses[graph.root[e]]
    )
