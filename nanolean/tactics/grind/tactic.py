"""The tactic `grind`: the list in brackets, the search, and its start from everything in the context."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from nanolean.elab.names import constant_name
from nanolean.kernel.budget import Budget, BudgetExceeded
from nanolean.kernel.declaration import DefInfo
from nanolean.kernel.expr import Const, Expr, Let, Pi, collect_fvars, get_app_fn, guarded, mk_app
from nanolean.meta.lctx import LocalDecl
from nanolean.meta.mctx import MetaContext
from nanolean.proof_errors import ElabError, TacticError
from nanolean.syntax import GrindStx, Ident, SimpLemma
from nanolean.tactics.constructors import mk_false_elim
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.eq_proof import FALSE, mk_eq, mk_eq_refl
from nanolean.tactics.goals import intro
from nanolean.tactics.grind.arith import add_products, arithmetic_refutes, implied_equality, is_relation
from nanolean.tactics.grind.egraph import IMPLIES, NOT, EGraph, Explainer, OutOfTerms, Shape, mk_not
from nanolean.tactics.grind.ematch import instantiate_theorems, unfold_definitions
from nanolean.tactics.grind.logic import exists_parts, saturate
from nanolean.tactics.grind.normal import Normalizer, beta_app
from nanolean.tactics.grind.state import State, Theorem, global_theorem


@dataclass
class Lemmas:
    """What a call may use beside the hypotheses."""

    theorems: list[Theorem] = field(default_factory=list)
    definitions: list[str] = field(default_factory=list)


def read_lemmas(ctx: TacticContext, lemmas: Sequence[SimpLemma]) -> Lemmas:
    """Resolve the lemmas of a list; an error names the lemma that is of no use."""
    read = Lemmas()
    for lemma in lemmas:
        try:
            _read(ctx, lemma, read)
        except (ElabError, TacticError) as error:
            raise error.at(lemma.pos, lemma.end) from None
    return read


def _read(ctx: TacticContext, lemma: SimpLemma, into: Lemmas) -> None:
    term = lemma.term
    if not isinstance(term, Ident) or term.explicit or term.levels is not None:
        raise TacticError("invalid `grind` parameter, identifier expected")
    if ctx.lctx.find(term.name) is not None:
        raise TacticError(f"redundant parameter `{term.name}`, `grind` uses local hypotheses automatically")
    info = ctx.state.env[constant_name(ctx.state, term.name)]
    if lemma.erase:
        raise TacticError(f"`{info.name}` is not marked with the `[grind]` attribute")
    if ctx.mctx.is_prop(info.type):
        theorem = global_theorem(ctx.mctx, info, Normalizer(ctx.mctx)(info.type))
        if theorem is None:
            raise TacticError(f"invalid E-matching theorem `{info.name}`, failed to find patterns")
        into.theorems.append(theorem)
    elif isinstance(info, DefInfo) and not lemma.symm:
        into.definitions.append(info.name)
    else:
        raise TacticError(f"invalid `grind` parameter, `{info.name}` is not a theorem, definition, or inductive type")


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
    """Build a proof of `False` from the facts of a state, None where the search finds none."""
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
        # Witnesses first, as what is known of them may close the branch; `omega` last, which reads all facts anew.
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
    # `∃ h : p, q`: the witness is a proof, and `p` a fact.
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
        # The case was not needed: one branch closes both.
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
    choice: Expr | None = None
    for name in ("Or", "And", "Iff", IMPLIES, "ite"):
        for e in graph.heads.get(name, ()):
            if not _needs_cases(state, e, name):
                continue
            part = next((part for part in _parts(graph.shapes(e)) if graph.is_open(part)), None)
            # What the user wrote before what instances brought, so that the search stays near the goal.
            key = (graph.generation[e], graph.place[e])
            if part is not None and (best is None or key < best):
                best, choice = key, part
    return choice


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


STEPS = 20_000
"""Elementary steps that one call may take (0.1 s); of 304 that proved a goal in searches none took more than 7,600."""


@tactic(GrindStx)
def grind_tactic(ctx: TacticContext, stx: GrindStx) -> None:
    """`grind [h, ← g]`: search for a contradiction from the hypotheses and the negated goal.

    It splits cases, derives equations by congruence, uses the lemmas in brackets, multiplies out, and knows linear
    arithmetic. A plain implication is not split: what is known must make its premise true.

    ```lean
    example (f : Nat → Nat) (a b : Nat) (h : a = b) (h1 : f b = 3) : f a < 4 := by
      grind
    ```

    Differs from Lean: Lean knows more theories and has lemmas of its own (`@[grind]`, without effect here); this is
    a bounded search that proves less, and its message names the goal alone.
    """
    if ctx.target.has_mvar:
        raise ctx.with_goal("`grind` failed, the goal contains metavariables")
    lemmas = read_lemmas(ctx, stx.lemmas)
    with ctx.focus():
        ctx.goals = [_introduce(ctx.mctx, ctx.main)]
        proof = _bounded(ctx.mctx, lambda: _prove(ctx, lemmas))
        if proof is None:
            raise ctx.with_goal("`grind` failed")
        ctx.close(proof)


def _introduce(mctx: MetaContext, goal: str) -> str:
    """The goal after all binders that it shows, also those of `¬p` and `a ≠ b`."""
    while True:
        target = mctx.whnf(mctx.instantiate(mctx.decl(goal).type), "reducible")
        if not isinstance(target, Pi | Let) and get_app_fn(target) is not NOT:
            return goal
        _, goal = intro(mctx, goal, None)


def _bounded(mctx: MetaContext, work: Callable[[], Expr | None]) -> Expr | None:
    """Run a search on a budget of its own, paid from the one there is; None where that does not suffice."""
    budget = mctx.budget
    # A failed `grind` must not use up what the tactics after it need.
    mctx.budget = Budget(min(budget.left, STEPS))
    granted = mctx.budget.left
    try:
        return guarded(work)
    except (BudgetExceeded, OutOfTerms):
        return None
    finally:
        spent = granted - max(mctx.budget.left, 0)
        mctx.budget = budget
        budget.spend(spent)


def _prove(ctx: TacticContext, lemmas: Lemmas) -> Expr | None:
    """A proof of the main goal from its context and the lemmas."""
    mctx, target = ctx.mctx, ctx.target
    state = State(mctx, EGraph(mctx), Normalizer(mctx), theorems=list(lemmas.theorems))
    state.definitions = tuple(lemmas.definitions)
    for decl in ctx.lctx:
        _assume(state, decl)
    if not mctx.is_prop(target):
        absurdity = refute(state, Limits())
        return None if absurdity is None else mk_false_elim(mctx, target, absurdity)
    negation = mctx.fresh_local("h", mk_not(target))
    if target is not FALSE:
        state.add_fact(negation.type, lambda ex: negation.fvar)
    absurdity = refute(state, Limits())
    if absurdity is None or target is FALSE:
        return absurdity
    # The hypotheses contradict each other, whatever the goal.
    if negation.fvar_id not in collect_fvars(absurdity):
        return mk_false_elim(mctx, target, absurdity)
    return mk_app(Const("Classical.byContradiction"), target, mctx.mk_lambda([negation.fvar_id], absurdity))


def _assume(state: State, decl: LocalDecl) -> None:
    """Make a hypothesis a fact, and the value of a `let` an equation."""
    mctx = state.mctx
    type_ = mctx.instantiate(decl.type)
    if type_.has_mvar:
        return
    if mctx.is_prop(type_):
        state.add_fact(type_, lambda ex: decl.fvar)
    elif decl.value is not None:
        value = mctx.instantiate(decl.value)
        level = mctx.sort_level(type_)
        if level is not None and not value.has_mvar:
            state.add_fact(mk_eq(level, type_, decl.fvar, value), lambda ex: mk_eq_refl(level, type_, decl.fvar))
