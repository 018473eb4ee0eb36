"""The prover: from a list of hypotheses to a proof of `False`, with case distinctions on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from nanolean.kernel.expr import Const, Expr, Lit, collect_fvars, get_app_fn_args, mk_app
from nanolean.kernel.level import ONE
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import NAT_TYPE, const_name
from nanolean.tactics.eq_proof import FALSE, match_eq, mk_eq
from nanolean.tactics.omega.elimination import Problem
from nanolean.tactics.omega.proofs import BY_COMPUTATION, refutation_proof
from nanolean.tactics.omega.propositions import Both, Either, Proved, Relation, apply_lemma, is_linear_fact, open_fact
from nanolean.tactics.omega.sums import Atoms, Fact, Refutation, add_forms, ground_value, scale_form

MIN = Const("Min.min")

Known = Relation | Either


def facts_about(mctx: MetaContext, atom: Expr) -> Iterator[Known]:
    """Yield what is known about an atom by the operation that it is made with."""
    fn, args = get_app_fn_args(atom)
    # The facts that `omega` of Lean adds for each atom (`analyzeAtom` of Elab/Tactic/Omega/OmegaM.lean).
    match const_name(fn), args:
        case "Nat.sub", [a, b]:
            total = apply_lemma("Nat.add", atom, b)
            cases = apply_lemma("Nat.le", total, a), apply_lemma("Nat.le", atom, Lit(0))
            yield Either(*cases, apply_lemma("Omega.sub_cases", a, b))
            yield Relation("le", a, total, apply_lemma("Omega.sub_le_add", a, b))
            yield Relation("le", atom, a, apply_lemma("Nat.sub_le", a, b))
        case "Nat.div" | "Nat.mod", [a, b]:
            yield from _division_facts(mctx, a, b)
        case "Nat.pow", [a, b]:
            smaller = _predecessor(b)
            if smaller is not None and ground_value(mctx, a) is not None:
                product = apply_lemma("Nat.mul", mk_app(fn, a, smaller), a)
                yield Relation("eq", atom, product, apply_lemma("Nat.pow_succ", a, smaller))
        case "Min.min" | "Max.max", [a, b]:
            proof = apply_lemma("Nat.min_def" if fn is MIN else "Nat.max_def", a, b)
            equation = match_eq(mctx.infer_type(proof))
            assert equation is not None, "the definition is an equation"
            yield Relation("eq", atom, equation[3], proof)
        case "ite", [type_, condition, _, a, b] if type_ is NAT_TYPE:
            positive = apply_lemma("And", condition, mk_eq(ONE, NAT_TYPE, atom, a))
            negative = apply_lemma("And", apply_lemma("Not", condition), mk_eq(ONE, NAT_TYPE, atom, b))
            yield Either(positive, negative, apply_lemma("Omega.ite_cases", *args[1:]))


def _division_facts(mctx: MetaContext, a: Expr, b: Expr) -> Iterator[Known]:
    """`b * (a / b) + a % b = a` and `a % b < b` where `b` is a number; for 0 that `a / 0` is 0."""
    divisor = ground_value(mctx, b)
    if divisor is None:
        return
    quotient, remainder = apply_lemma("Nat.div", a, b), apply_lemma("Nat.mod", a, b)
    total = apply_lemma("Nat.add", apply_lemma("Nat.mul", b, quotient), remainder)
    yield Relation("eq", total, a, apply_lemma("Nat.div_add_mod", a, b))
    if divisor == 0:
        yield Relation("eq", quotient, Lit(0), apply_lemma("Nat.div_zero", a))
    else:
        yield Relation("lt", remainder, b, apply_lemma("Omega.mod_lt", a, b, BY_COMPUTATION))


def _predecessor(e: Expr) -> Expr | None:
    """`k` where the term is `k + 1` or `Nat.succ k`."""
    fn, args = get_app_fn_args(e)
    if fn is Const("Nat.succ") and len(args) == 1:
        return args[0]
    return args[0] if fn is Const("Nat.add") and len(args) == 2 and args[1] is Lit(1) else None


class Branch:
    """What is assumed in one case: the constraints, the case distinctions that are left, the atoms that are known."""

    def __init__(
        self, atoms: Atoms, problem: Problem, choices: Iterable[Either] = (), known: Iterable[int] = ()
    ) -> None:
        self.atoms = atoms
        self.problem = problem
        self.choices = list(choices)
        self.known = set(known)

    def clone(self) -> Branch:
        """Return a copy that can be changed on its own."""
        return Branch(self.atoms, self.problem.clone(), self.choices, self.known)

    def assume(self, prop: Expr, proof: Expr) -> None:
        """Take in a proposition; raises `Refutation` if that is plainly contradictory."""
        todo = [Proved(prop, proof)]
        while todo:
            fact = todo.pop()
            self.atoms.mctx.budget.spend(2)
            match open_fact(self.atoms.mctx, fact):
                case Proved() as simpler:
                    todo.append(simpler)
                case Both(parts):
                    todo += parts[::-1]
                case Either() as choice:
                    # A side that says nothing of numbers can never be refuted, so its case would stay open.
                    if all(is_linear_fact(self.atoms.mctx, side) for side in (choice.left, choice.right)):
                        self.choices.append(choice)
                case Relation() as relation:
                    self._relate(relation)

    def _relate(self, relation: Relation) -> None:
        """Add a relation, and what is known about the atoms in it."""
        todo: list[Known] = [relation]
        while todo:
            item = todo.pop()
            if isinstance(item, Either):
                self.choices.append(item)
                continue
            left, right = self.atoms.read(item.left), self.atoms.read(item.right)
            # Facts about an atom bring atoms of their own, each of which is known once.
            new = [i for i in sorted({**left.form, **right.form}) if i and i not in self.known]
            for i in new:
                self.known.add(i)
                atom = self.atoms.read(self.atoms.terms[i])
                # Atoms are natural numbers.
                self.problem.add(Fact("nonneg", self.atoms.read(Lit(0)), atom, None, atom.form))
                todo += facts_about(self.atoms.mctx, atom.term)
            form = add_forms(right.form, left.form, -1)
            # `a < b` of whole numbers is `a + 1 ≤ b`.
            if item.relation == "lt":
                form = add_forms(form, {0: 1}, -1)
            self.problem.add(Fact(item.relation, left, right, item.proof, form))
            if item.relation == "eq":
                self.problem.add(Fact("eq_symm", left, right, item.proof, scale_form(form, -1)))


class Case(NamedTuple):
    """A refutation that may use an assumption, the local of this id."""

    assumption: str
    proof: Expr


class Prover:
    """Refutes branches; the proofs it returns are terms of type `False`."""

    def __init__(self, mctx: MetaContext) -> None:
        self.mctx = mctx
        self.atoms = Atoms(mctx)
        self.failed: Problem | None = None
        """The first case in which no contradiction was found."""

    def prove_false(self, facts: Iterable[tuple[Expr, Expr]]) -> Expr | None:
        """Build a proof of `False` from proved propositions, given as pairs (proposition, proof)."""
        branch = Branch(self.atoms, Problem(self.atoms, self.mctx.budget))
        try:
            for prop, proof in facts:
                branch.assume(prop, proof)
            return self.refute(branch)
        except Refutation as refutation:
            return refutation_proof(self.atoms, refutation.parts)

    def refute(self, branch: Branch) -> Expr | None:
        """Build a proof that the branch is contradictory, with case distinctions where needed; else None."""
        proof = self.refute_at_once(branch)
        if proof is not None:
            return proof
        if not branch.choices:
            self.failed = self.failed or branch.problem
            return None
        # A case that contradicts the rest at once is no split: only the other side goes on. Lean splits the first one.
        for choice in branch.choices:
            for side in (0, 1):
                case = self._refute_case(branch, choice, side, self.refute_at_once)
                if case is not None:
                    return self._complete(branch, choice, side, case)
        case = self._refute_case(branch, branch.choices[0], 0, self.refute)
        return None if case is None else self._complete(branch, branch.choices[0], 0, case)

    def _refute_case(
        self, branch: Branch, choice: Either, side: int, refute: Callable[[Branch], Expr | None]
    ) -> Case | None:
        prop = (choice.left, choice.right)[side]
        assumption = self.mctx.fresh_local("h", prop)
        inner = branch.clone()
        inner.choices.remove(choice)
        try:
            inner.assume(prop, assumption.fvar)
            proof = refute(inner)
        except Refutation as refutation:
            proof = refutation_proof(self.atoms, refutation.parts)
        return None if proof is None else Case(assumption.fvar_id, proof)

    def _complete(self, branch: Branch, choice: Either, side: int, case: Case) -> Expr | None:
        """The refutation of a branch, given that of one case; the other case is left out where nothing needs it."""
        if case.assumption not in collect_fvars(case.proof):
            return case.proof
        other = self._refute_case(branch, choice, 1 - side, self.refute)
        if other is None:
            return None
        if other.assumption not in collect_fvars(other.proof):
            return other.proof
        cases = [self.mctx.mk_lambda([done.assumption], done.proof) for done in (case, other)]
        if side == 1:
            cases.reverse()
        return mk_app(Const("Or.elim"), choice.left, choice.right, FALSE, choice.proof, *cases)

    def refute_at_once(self, branch: Branch) -> Expr | None:
        """Build such a proof without case distinctions; None if there is none."""
        try:
            branch.problem.solve_equations()
            # A copy: elimination forgets constraints, and the cases need all of them. Solved equations are kept.
            branch.problem.clone().run()
        except Refutation as refutation:
            return refutation_proof(self.atoms, refutation.parts)
        return None
