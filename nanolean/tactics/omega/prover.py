"""The prover: from a list of hypotheses to a proof of `False`, with case distinctions on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from nanolean.kernel.expr import Const, Expr, Lit, collect_fvars, mk_app
from nanolean.meta.mctx import MetaContext
from nanolean.tactics.eq_proof import FALSE
from nanolean.tactics.omega.certificate import Fact, Refutation
from nanolean.tactics.omega.operations import Known, facts_about
from nanolean.tactics.omega.proofs import refutation_proof
from nanolean.tactics.omega.propositions import (
    Both,
    Either,
    Proved,
    Relation,
    is_linear_fact,
    open_fact,
)
from nanolean.tactics.omega.search import Problem
from nanolean.tactics.omega.sums import Atoms, add_forms, scale_form


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
        """A copy that can be changed on its own."""
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
            new = [i for i in sorted({**left.form, **right.form}) if i and i not in self.known]
            for i in new:
                self.known.add(i)
                atom = self.atoms.read(self.atoms.terms[i])
                self.problem.add(Fact("nonneg", self.atoms.read(Lit(0)), atom, None, atom.form))
                todo += facts_about(self.atoms.mctx, atom.term)
            form = add_forms(right.form, left.form, -1)
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
        """A proof of `False` from proved propositions, given as pairs (proposition, proof)."""
        branch = Branch(self.atoms, Problem(self.atoms, self.mctx.budget))
        try:
            for prop, proof in facts:
                branch.assume(prop, proof)
            return self.refute(branch)
        except Refutation as refutation:
            return refutation_proof(self.atoms, refutation.parts)

    def refute(self, branch: Branch) -> Expr | None:
        """A proof that the branch is contradictory, with case distinctions where needed; None if there is none."""
        found = self.refute_at_once(branch)
        if found is not None:
            return found
        if not branch.choices:
            self.failed = self.failed or branch.problem
            return None
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
        if other is None or other.assumption not in collect_fvars(other.proof):
            return None if other is None else other.proof
        cases = [self.mctx.mk_lambda([done.assumption], done.proof) for done in (case, other)]
        if side == 1:
            cases.reverse()
        return mk_app(Const("Or.elim"), choice.left, choice.right, FALSE, choice.proof, *cases)

    def refute_at_once(self, branch: Branch) -> Expr | None:
        """The same without case distinctions."""
        try:
            branch.problem.solve_equations()
            branch.problem.clone().run()
        except Refutation as refutation:
            return refutation_proof(self.atoms, refutation.parts)
        return None
