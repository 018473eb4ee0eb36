"""Linear arithmetic in the search: refuting what is known of numbers, and equalities that it implies.

`omega` gets the decided relations and the classes of numbers as hypotheses; only those that its proof uses are proved
from the graph. An equality is looked for where it would make two applications congruent.
"""

from __future__ import annotations

from collections.abc import Iterator

from nanolean.kernel.expr import Const, Expr, FVar, Lit, collect_fvars, mk_app
from nanolean.kernel.level import ONE
from nanolean.meta.offset import NAT_TYPE
from nanolean.tactics.eq_proof import mk_eq
from nanolean.tactics.grind.egraph import EGraph
from nanolean.tactics.grind.explain import Explainer, mk_not
from nanolean.tactics.grind.state import Build, State
from nanolean.tactics.omega import solve

RELATIONS = ("Nat.le", "Nat.dvd", "Eq")
OPERATIONS = {"Nat.add", "Nat.sub", "Nat.mul", "Nat.div", "Nat.mod", "Nat.pow"}
MAX_QUERIES = 8
"""How many equalities one branch may ask for."""

Facts = dict[Expr, Build]
"""Propositions about numbers, each with a way to prove it."""


def arithmetic_refutes(state: State) -> Expr | None:
    """A proof of `False` from what is known of numbers, None where there is none or nothing is new."""
    facts = dict(_facts(state))
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
        facts = dict(_facts(state)) if facts is None else facts
        if _join_if_equal(state, facts, a, b):
            return True
    return False


def _join_if_equal(state: State, facts: Facts, a: Expr, b: Expr) -> bool:
    equation = mk_eq(ONE, NAT_TYPE, a, b)
    hyp = state.mctx.fresh_local("h", mk_not(equation))
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
    used = [fvar_id for fvar_id in collect_fvars(proof) if fvar_id in hyps]
    return mk_app(mctx.mk_lambda(used, proof), *[hyps[fvar_id](ex) for fvar_id in used])


def _facts(state: State) -> Iterator[tuple[Expr, Build]]:
    """Decided relations between numbers, and the equalities of each class of numbers."""
    graph = state.graph
    for name in RELATIONS:
        for e in graph.heads.get(name, ()):
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
    """Whether a proposition is a relation between numbers."""
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
    if len(pairs) != 1 or pairs[0][0] not in graph.root or state.mctx.infer_type(pairs[0][0]) is not NAT_TYPE:
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
