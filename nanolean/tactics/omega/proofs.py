"""From a certificate to a proof term, made of the lemmas in `library/11_linear.lean`.

Every sum that takes part gets its code over the list of the atoms that occur; then inequalities are added up by adding
codes, and the kernel compares the codes of both sides. `Terms` are the pieces of such a statement.
"""

from collections.abc import Iterable
from typing import NamedTuple

from nanolean.kernel.expr import Const, Expr, Lit, mk_app
from nanolean.kernel.level import ONE, ZERO
from nanolean.meta.reduce import NAT_ADD, NAT_TYPE
from nanolean.tactics.constructors import BOOL, BOOL_TRUE
from nanolean.tactics.eq_proof import mk_eq_refl
from nanolean.tactics.omega.sums import NAT_MUL, Atoms, Fact, Form, Leaf, Quotient, Rounded, Sum, Why

ONE_LIT = Lit(1)
BY_COMPUTATION = mk_eq_refl(ONE, BOOL, BOOL_TRUE)
CONS = mk_app(Const("List.cons", (ZERO,)), NAT_TYPE)
NIL = mk_app(Const("List.nil", (ZERO,)), NAT_TYPE)


class Code(NamedTuple):
    """A proof of `Omega.Code xs B value code weight` and its last two arguments."""

    proof: Expr
    code: Expr
    weight: Expr


class Inequality(NamedTuple):
    """A proof of `Omega.Le xs B low high weight`, its last three arguments, and the value of the last one."""

    proof: Expr
    low: Expr
    high: Expr
    weight: Expr


class Claim(NamedTuple):
    """`left ≤ right`, for this reason."""

    left: Sum
    right: Sum
    why: Why


def _plus(a: Expr, b: Expr) -> Expr:
    return mk_app(NAT_ADD, a, b)


def _times(n: int, e: Expr) -> Expr:
    return mk_app(NAT_MUL, Lit(n), e)


def split_form(atoms: Atoms, form: Form) -> tuple[Sum, Sum]:
    """Sums with `left ≤ right` equivalent to `form ≥ 0`."""
    left = atoms.write({i: -a for i, a in form.items() if a < 0})
    right = atoms.write({i: a for i, a in form.items() if a > 0})
    return left, right


def negative_constant(parts: dict[Leaf, int]) -> int:
    """Return the constant that remains when the leaves of a refutation are added up."""
    return sum(times * leaf.form.get(0, 0) for leaf, times in parts.items())


class Builder:
    """Builds one refutation."""

    def __init__(self, atoms: Atoms, parts: dict[Leaf, int]) -> None:
        self.atoms = atoms
        self.parts = parts
        self.claims: dict[Leaf, tuple[Claim, ...]] = {}
        self._codes: dict[Sum, Code] = {}
        self._leaves: dict[Leaf, Inequality] = {}
        self._places: dict[int, int] = {}
        self._lists: list[Expr] = []
        self._base: Expr = ONE_LIT

    def build(self) -> Expr:
        """Build the proof of `False`."""
        sums = self._survey()
        self._list_atoms(sums)
        # A linear form is coded as one number, its coefficients as digits in a base that no sum of them reaches. The
        # kernel adds and compares such numbers with its literals, and not term by term.
        self._base = Lit(self._needed_base())
        total = self._add_up(self.parts)
        m = -negative_constant(self.parts) - 1
        return self._lemma(
            "contradict",
            *(total.low, total.high, total.weight, Lit(m), total.proof, BY_COMPUTATION, BY_COMPUTATION),
            tail=True,
        )

    # -- preparation -----------------------------------------------------------------------------------------------

    def _survey(self) -> list[Sum]:
        """Collect the sums that occur, and what is claimed on the way."""
        sums: list[Sum] = []
        # Reasons of reasons too: a rounded constraint rests on a sum, which may hold rounded ones.
        todo = list(self.parts)
        seen = set(todo)
        while todo:
            leaf = todo.pop()
            claims = self.claims[leaf] = tuple(self._claims_of(leaf))
            if isinstance(leaf, Fact):
                sums += (leaf.left, leaf.right)
            for claim in claims:
                sums += (claim.left, claim.right)
                todo += [part for part in claim.why.parts if part not in seen]
                seen.update(claim.why.parts)
        return sums

    def _claims_of(self, leaf: Leaf) -> Iterable[Claim]:
        if isinstance(leaf, Rounded):
            yield Claim(*split_form(self.atoms, leaf.form), leaf.why)
        elif isinstance(leaf.proof, Quotient):
            quotient = leaf.proof
            small = self.atoms.add(quotient.n, self.atoms.multiple(quotient.m, quotient.small))
            large = self.atoms.multiple(quotient.m, quotient.large)
            yield Claim(small, large, quotient.le)
            yield Claim(large, small, quotient.ge)

    def _list_atoms(self, sums: Iterable[Sum]) -> None:
        """Give each atom its place in the list `1 :: x₁ :: .. :: xₙ`; `_lists` has the list from each place on."""
        todo, seen = list(sums), set()
        while todo:
            part = todo.pop()
            if part.atom:
                # Only atoms that take part: each costs a digit in every code.
                self._places.setdefault(part.atom, len(self._places) + 1)
            for inner in part.parts:
                if inner not in seen:
                    seen.add(inner)
                    todo.append(inner)
        lists = [NIL]
        for atom in reversed(self._places):
            lists.append(mk_app(CONS, self.atoms.terms[atom], lists[-1]))
        lists.append(mk_app(CONS, ONE_LIT, lists[-1]))
        self._lists = lists[::-1]

    def _needed_base(self) -> int:
        """A base that is larger than every sum of coefficients that is compared."""
        # Otherwise a sum would carry into the next digit, and forms that differ could have one code.
        needed = _weight(self.parts) - negative_constant(self.parts) + 1
        for claims in self.claims.values():
            for claim in claims:
                sides = claim.why.scale * (claim.right.weight + 1 + claim.left.weight)
                needed = max(needed, _weight(claim.why.parts) + sides + self._gap(claim) + 2)
        return needed

    def _gap(self, claim: Claim) -> int:
        """The `m` with which the failure of a claim contradicts its reason."""
        scale, constant = claim.why.scale, negative_constant(claim.why.parts)
        form_constant = claim.right.form.get(0, 0) - claim.left.form.get(0, 0)
        return scale * (form_constant + 1) - constant - 1

    # -- terms -----------------------------------------------------------------------------------------------------

    def _lemma(self, name: str, *args: Expr, tail: bool = False) -> Expr:
        """A lemma over the list of all atoms; with `tail` over the list after the 1."""
        self.atoms.mctx.budget.spend(4)
        return mk_app(Const(f"Omega.{name}"), self._lists[1 if tail else 0], self._base, *args)

    def _code(self, of: Sum) -> Code:
        code = self._codes.get(of)
        if code is None:
            code = self._codes[of] = self._make_code(of)
        return code

    def _make_code(self, of: Sum) -> Code:
        if of.kind == "number":
            return Code(mk_app(Const("Omega.number"), self._base, self._lists[1], of.term), of.term, of.term)
        if of.kind == "atom":
            return self._atom_code(of.atom)
        if of.kind == "add":
            (left, right) = of.parts
            a, b = self._code(left), self._code(right)
            args = (left.term, right.term, a.code, b.code, a.weight, b.weight, a.proof, b.proof)
            return Code(self._lemma("add", *args), _plus(a.code, b.code), _plus(a.weight, b.weight))
        (part,) = of.parts
        a = self._code(part)
        if of.kind == "succ":
            proof = self._lemma("succ", part.term, a.code, a.weight, a.proof, tail=True)
            return Code(proof, _plus(a.code, ONE_LIT), _plus(a.weight, ONE_LIT))
        number = of.term.fn.arg if of.kind == "left" else of.term.arg  # type: ignore[attr-defined]
        proof = self._lemma(f"mul_{of.kind}", part.term, a.code, a.weight, number, a.proof)
        return Code(proof, mk_app(NAT_MUL, number, a.code), mk_app(NAT_MUL, number, a.weight))

    def _atom_code(self, atom: int) -> Code:
        place, term = self._places[atom], self.atoms.terms[atom]
        # The proof has a lemma for each place before the atom.
        self.atoms.mctx.budget.spend(4 * place)
        proof = mk_app(Const("Omega.head"), self._base, term, self._lists[place + 1])
        code: Expr = ONE_LIT
        for i in range(place - 1, -1, -1):
            before = self._lists[i].fn.arg  # type: ignore[attr-defined]
            proof = mk_app(Const("Omega.tail"), self._base, self._lists[i + 1], term, code, ONE_LIT, before, proof)
            code = mk_app(NAT_MUL, self._base, code)
        return Code(proof, code, ONE_LIT)

    def _add_up(self, parts: dict[Leaf, int]) -> Inequality:
        total: Inequality | None = None
        for leaf, times in parts.items():
            term = self._leaf(leaf)
            if times > 1:
                term = self._multiple(times, term)
            total = term if total is None else self._sum(total, term)
        assert total is not None, "a sum has parts"
        return total

    def _multiple(self, times: int, a: Inequality) -> Inequality:
        proof = self._lemma("le_mul", a.low, a.high, a.weight, Lit(times), a.proof)
        return Inequality(proof, _times(times, a.low), _times(times, a.high), _times(times, a.weight))

    def _sum(self, a: Inequality, b: Inequality) -> Inequality:
        args = (a.low, a.high, a.weight, b.low, b.high, b.weight, a.proof, b.proof)
        low, high, weight = _plus(a.low, b.low), _plus(a.high, b.high), _plus(a.weight, b.weight)
        return Inequality(self._lemma("le_add", *args), low, high, weight)

    def _leaf(self, leaf: Leaf) -> Inequality:
        inequality = self._leaves.get(leaf)
        if inequality is None:
            inequality = self._leaves[leaf] = self._make_leaf(leaf)
        return inequality

    def _make_leaf(self, leaf: Leaf) -> Inequality:
        if isinstance(leaf, Rounded):
            (claim,) = self.claims[leaf]
            return self._related("le", claim.left, claim.right, self._derive(claim))
        if leaf.relation == "nonneg":
            right = self._code(leaf.right)
            proof = self._lemma("nonneg", leaf.right.term, right.code, right.weight, right.proof)
            return Inequality(proof, Lit(0), right.code, right.weight)
        fact = leaf.proof
        if isinstance(fact, Quotient):
            le, ge = (self._derive(claim) for claim in self.claims[leaf])
            terms = (fact.n.term, Lit(fact.m), fact.small.term, fact.large.term)
            fact = mk_app(Const("Omega.quotient"), *terms, BY_COMPUTATION, le, ge)
        assert fact is not None, "a fact has a proof"
        return self._related(leaf.relation, leaf.left, leaf.right, fact)

    def _related(self, relation: str, left: Sum, right: Sum, proof: Expr) -> Inequality:
        """A relation between sums as an inequality between their codes."""
        a, b = self._code(left), self._code(right)
        args = (left.term, a.code, a.weight, right.term, b.code, b.weight, a.proof, b.proof, proof)
        result = self._lemma(f"of_{relation}", *args, tail=relation == "lt")
        if relation == "lt":
            return Inequality(result, _plus(a.code, ONE_LIT), b.code, _plus(_plus(a.weight, ONE_LIT), b.weight))
        if relation == "eq_symm":
            return Inequality(result, b.code, a.code, _plus(b.weight, a.weight))
        return Inequality(result, a.code, b.code, _plus(a.weight, b.weight))

    def _derive(self, claim: Claim) -> Expr:
        reason, left, right = self._add_up(claim.why.parts), self._code(claim.left), self._code(claim.right)
        return self._lemma(
            "derive",
            *(reason.low, reason.high, reason.weight),
            *(claim.left.term, left.code, left.weight, claim.right.term, right.code, right.weight),
            *(Lit(claim.why.scale), Lit(self._gap(claim)), reason.proof, left.proof, right.proof),
            *(BY_COMPUTATION, BY_COMPUTATION),
            tail=True,
        )


def _weight(parts: dict[Leaf, int]) -> int:
    """The sum of all coefficients on both sides."""
    return sum(times * _leaf_weight(leaf) for leaf, times in parts.items())


def _leaf_weight(leaf: Leaf) -> int:
    if isinstance(leaf, Rounded):
        return sum(abs(a) for a in leaf.form.values())
    if leaf.relation == "nonneg":
        return leaf.right.weight
    return leaf.left.weight + leaf.right.weight + (leaf.relation == "lt")


def refutation_proof(atoms: Atoms, parts: dict[Leaf, int]) -> Expr:
    """Build a proof of `False` from leaves that add up to a negative number."""
    return Builder(atoms, parts).build()
