"""The search of `grind`: saturate, open `∃`, instantiate, compute, and split where nothing else helps."""

from __future__ import annotations

from dataclasses import dataclass

from nanolean.kernel.expr import Const, Expr, collect_fvars, mk_app
from nanolean.tactics.eq_proof import FALSE
from nanolean.tactics.grind.arith import arithmetic_refutes, implied_equality, is_relation
from nanolean.tactics.grind.definitions import unfold_definitions
from nanolean.tactics.grind.egraph import IMPLIES, Shape
from nanolean.tactics.grind.ematch import instantiate_theorems
from nanolean.tactics.grind.explain import Explainer, mk_not
from nanolean.tactics.grind.logic import saturate
from nanolean.tactics.grind.normal import beta_app
from nanolean.tactics.grind.products import add_products
from nanolean.tactics.grind.quantifiers import exists_parts
from nanolean.tactics.grind.state import State

MAX_DEPTH = 9
"""How many case splits may be open at a time."""
MAX_ROUNDS = 5
"""How many rounds of instantiation come before each case split."""
MAX_SPLITS = 200
"""How many case splits the whole search may make."""


@dataclass
class Limits:
    """What the search has left."""

    splits: int = MAX_SPLITS


@dataclass
class Opened:
    """An `∃` that a branch has opened: from here on there are `witness` and `hyp : p witness`."""

    exists: Expr
    witness: str
    hyp: str


def refute(state: State, limits: Limits, depth: int = 0) -> Expr | None:
    """A proof of `False` from the facts of a state, None where the search finds none."""
    opened: list[Opened] = []
    proof = _refute(state, limits, depth, opened)
    if proof is None:
        return None
    explainer = Explainer(state.graph)
    for step in reversed(opened):
        proof = _close_witness(explainer, step, proof)
    return proof


def _refute(state: State, limits: Limits, depth: int, opened: list[Opened]) -> Expr | None:
    for rounds_left in range(MAX_ROUNDS, -1, -1):
        saturate(state)
        while state.conflict is None and state.existentials:
            opened.append(_open_witness(state, state.existentials.pop(0)))
            saturate(state)
        while state.conflict is None and add_products(state):
            saturate(state)
        if state.conflict is not None:
            return state.refutation()
        proof = arithmetic_refutes(state)
        if proof is not None:
            return proof
        if rounds_left == 0 or not _more_facts(state):
            break
    return None if depth >= MAX_DEPTH else _split(state, limits, depth)


def _more_facts(state: State) -> bool:
    """Unfold definitions, instantiate theorems, else ask arithmetic for an equality; whether anything is new."""
    unfolded = unfold_definitions(state)
    return instantiate_theorems(state) or unfolded or implied_equality(state)


# -- existence ---------------------------------------------------------------------------------------------------------


def _open_witness(state: State, e: Expr) -> Opened:
    parts = exists_parts(e)
    assert parts is not None
    _, type_, predicate = parts
    generation = state.graph.generation[e]
    witness = state.mctx.fresh_local("w", type_)
    hyp = state.mctx.fresh_local("h", beta_app(predicate, witness.fvar))
    if state.mctx.is_prop(type_):
        state.add_fact(type_, lambda ex: witness.fvar, generation)
    else:
        state.graph.add(witness.fvar, generation)
    state.add_fact(hyp.type, lambda ex: hyp.fvar, generation)
    return Opened(e, witness.fvar_id, hyp.fvar_id)


def _close_witness(ex: Explainer, step: Opened, proof: Expr) -> Expr:
    """The proof with the witness and its property bound, by `Exists.elim`."""
    if {step.witness, step.hyp}.isdisjoint(collect_fvars(proof)):
        return proof
    parts = exists_parts(step.exists)
    assert parts is not None
    head, type_, predicate = parts
    body = ex.mctx.mk_lambda([step.witness, step.hyp], proof)
    return mk_app(Const("Exists.elim", head.levels), type_, predicate, FALSE, ex.holds(step.exists), body)


# -- cases -------------------------------------------------------------------------------------------------------------


def _split(state: State, limits: Limits, depth: int) -> Expr | None:
    """A proof by cases on an undecided part of a decided connective."""
    prop = _choose(state)
    if prop is None or limits.splits <= 0:
        return None
    limits.splits -= 1
    proofs = []
    for case in (prop, mk_not(prop)):
        hyp = state.mctx.fresh_local("h", case)
        branch = state.copy()
        branch.add_fact(case, lambda ex, hyp=hyp: hyp.fvar)  # type: ignore[misc]
        proof = refute(branch, limits, depth + 1)
        if proof is None:
            return None
        if hyp.fvar_id not in collect_fvars(proof):
            return proof
        proofs.append(state.mctx.mk_lambda([hyp.fvar_id], proof))
    return mk_app(Const("Classical.byCases"), prop, FALSE, *proofs)


def _choose(state: State) -> Expr | None:
    """What to split on: the undecided part of the first connective of the lowest generation.

    As in Lean, an implication that holds is split only where its left side is about numbers.
    """
    graph = state.graph
    best: tuple[int, int] | None = None
    found: Expr | None = None
    for name in ("Or", "And", "Iff", IMPLIES, "ite"):
        for e in graph.heads.get(name, ()):
            if not _needs_cases(state, e, name):
                continue
            part = next((part for part in _parts(graph.shapes(e)) if graph.is_open(part)), None)
            key = (graph.generation[e], graph.place[e])
            if part is not None and (best is None or key < best):
                best, found = key, part
    return found


def _needs_cases(state: State, e: Expr, name: str) -> bool:
    """Whether what is known of a term leaves open how its parts stand."""
    graph = state.graph
    if name == "ite":
        return True
    if name == IMPLIES:
        return graph.is_true(e) and is_relation(graph, graph.shapes(e).args[0])
    if name == "Iff":
        return not graph.is_open(e)
    return graph.is_false(e) if name == "And" else graph.is_true(e)


def _parts(shape: Shape) -> list[Expr]:
    """The propositions that decide a term."""
    return [shape.args[i] for i in shape.watched] or [shape.args[i] for i in shape.free]
