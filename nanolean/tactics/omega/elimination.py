"""The search for a contradiction between linear inequalities, in Python integers.

As in Lean's `omega` (Pugh's Omega test without dark and grey shadows): constraints with the same coefficients are kept
as one interval; coefficients are divided by their gcd and bounds rounded; equations are solved first, where no
coefficient is 1 after naming a quotient; then variables are eliminated by Fourier and Motzkin's method. Every
constraint carries the reason why it holds, as a combination of known facts.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd
from typing import NamedTuple

from nanolean.kernel.budget import Budget
from nanolean.kernel.expr import Const, Lit, mk_app
from nanolean.tactics.omega.sums import (
    Atoms,
    Fact,
    Form,
    Leaf,
    Quotient,
    Refutation,
    Rounded,
    Why,
    add_forms,
    scale_form,
)

Key = tuple[tuple[int, int], ...]
"""Coefficients without common divisor, in the order of the atoms, the first one positive."""


class Bound(NamedTuple):
    """A bound of a linear form, and why it holds."""

    value: int
    why: Why


class Interval(NamedTuple):
    """What is known about the values of a linear form."""

    low: Bound | None = None
    high: Bound | None = None

    @property
    def is_point(self) -> bool:
        """Whether both bounds are the same."""
        return self.low is not None and self.high is not None and self.low.value == self.high.value


class Constraint(NamedTuple):
    """`form ≥ 0` and why."""

    form: Form
    why: Why


class Equation(NamedTuple):
    """`form = 0` for a form in which the atom `solved` has the coefficient 1 or -1; both halves of it."""

    solved: int
    up: Constraint
    down: Constraint


def constraints_of(key: Key, interval: Interval) -> Iterable[Constraint]:
    """Yield the halves of an interval as inequalities."""
    if interval.low is not None:
        yield Constraint({0: -interval.low.value, **dict(key)}, interval.low.why)
    if interval.high is not None:
        yield Constraint({0: interval.high.value, **{i: -a for i, a in key}}, interval.high.why)


def combine(a: Constraint, times_a: int, b: Constraint, times_b: int) -> Constraint:
    """Add two constraints with positive multipliers."""
    form = add_forms(scale_form(a.form, times_a), b.form, times_b)
    return Constraint(form, add_reasons(a.why, times_a, b.why, times_b))


def add_reasons(a: Why, times_a: int, b: Why, times_b: int) -> Why:
    """Return the reason for the sum of two forms."""
    # A rounded constraint holds for its form times a scale, so sums are brought to a common one, with the gcd taken
    # out: coefficients would grow with each step.
    scale = a.scale * b.scale
    times_a, times_b = times_a * b.scale, times_b * a.scale
    parts = {leaf: times_a * times for leaf, times in a.parts.items()}
    for leaf, times in b.parts.items():
        parts[leaf] = parts.get(leaf, 0) + times_b * times
    common = gcd(scale, *parts.values())
    if common > 1:
        parts = {leaf: times // common for leaf, times in parts.items()}
    return Why(parts, scale // common)


class Problem:
    """A set of constraints. Every method raises `Refutation` as soon as they contradict each other."""

    def __init__(self, atoms: Atoms, budget: Budget) -> None:
        self.atoms = atoms
        self.budget = budget
        self.intervals: dict[Key, Interval] = {}
        self.points: list[Key] = []
        self.equations: list[Equation] = []
        self.given: list[Leaf] = []
        """What was added from outside."""

    def clone(self) -> Problem:
        """Return a copy that can be changed on its own."""
        result = Problem(self.atoms, self.budget)
        result.intervals = dict(self.intervals)
        result.points = list(self.points)
        result.equations = list(self.equations)
        result.given = list(self.given)
        return result

    # -- constraints -----------------------------------------------------------------------------------------------

    def add(self, leaf: Leaf) -> None:
        """Add a fact."""
        self.given.append(leaf)
        self._insert_unsolved(Constraint(leaf.form, Why({leaf: 1}, 1)))

    def _insert_unsolved(self, constraint: Constraint) -> None:
        """Add a constraint, with the equations that have been solved put into it."""
        for equation in self.equations:
            constraint = self._substitute(constraint, equation)
        self.insert(constraint)

    def insert(self, constraint: Constraint) -> None:
        """Add a constraint, in lowest terms and rounded, to the interval of its form."""
        form, why = constraint
        self.budget.spend(1 + (len(form) + len(why.parts)) // 8)
        constant = form.get(0, 0)
        items = sorted((i, a) for i, a in form.items() if i)
        if not items:
            if constant < 0:
                raise Refutation(why.parts)
            return
        divisor = gcd(*(a for _, a in items))
        # `2x + 4y ≥ 3` is `x + 2y ≥ 2` for whole numbers: this rounding is what Fourier-Motzkin alone does not have.
        if divisor > 1:
            items = [(i, a // divisor) for i, a in items]
            constant, rest = divmod(constant, divisor)
            why = Why(why.parts, why.scale * divisor)
            if rest:
                why = Why({Rounded({0: constant, **dict(items)}, why): 1}, 1)
        # One key for a form and its negation, so that lower and upper bounds meet in one interval.
        if items[0][1] > 0:
            self._narrow(tuple(items), Bound(-constant, why), None)
        else:
            self._narrow(tuple((i, -a) for i, a in items), None, Bound(constant, why))

    def _narrow(self, key: Key, low: Bound | None, high: Bound | None) -> None:
        old = self.intervals.get(key, Interval())
        if low is None or (old.low is not None and old.low.value >= low.value):
            low = old.low
        if high is None or (old.high is not None and old.high.value <= high.value):
            high = old.high
        if low is old.low and high is old.high:
            return
        new = self.intervals[key] = Interval(low, high)
        if low is not None and high is not None:
            if low.value > high.value:
                raise Refutation(add_reasons(low.why, 1, high.why, 1).parts)
            if new.is_point:
                self.points.append(key)

    # -- equations -------------------------------------------------------------------------------------------------

    def solve_equations(self) -> None:
        """Eliminate an atom by every equation."""
        while True:
            self.points = [key for key in self.points if self.intervals.get(key, Interval()).is_point]
            if not self.points:
                return
            # An equation with the smallest coefficient, as Lean (`selectEquality`).
            key = min(self.points, key=lambda point: (min(abs(a) for _, a in point), len(point)))
            up, down = constraints_of(key, self.intervals.pop(key))
            solved = min(key, key=lambda item: abs(item[1]))[0]
            if abs(up.form[solved]) == 1:
                self._eliminate(Equation(solved, up, down))
            else:
                self._name_quotient(up, down, solved)

    def _eliminate(self, equation: Equation) -> None:
        self.equations.append(equation)
        concerned = [key for key in self.intervals if any(i == equation.solved for i, _ in key)]
        removed = [(key, self.intervals.pop(key)) for key in concerned]
        for key, interval in removed:
            for constraint in constraints_of(key, interval):
                self.insert(self._substitute(constraint, equation))

    def _substitute(self, constraint: Constraint, equation: Equation) -> Constraint:
        factor = constraint.form.get(equation.solved, 0)
        if not factor:
            return constraint
        self.budget.spend(1 + (len(constraint.form) + len(constraint.why.parts)) // 8)
        # Multipliers must be positive, so the half of the equation with the other sign is added.
        opposite = equation.down if factor * equation.up.form[equation.solved] > 0 else equation.up
        return combine(constraint, 1, opposite, abs(factor))

    def _name_quotient(self, up: Constraint, down: Constraint, solved: int) -> None:
        """Replace an equation by one in which `solved`, whose coefficient `m` is the smallest, has the coefficient 1.

        Writing the others as `m * q + r` gives `m * (x + k) + n = 0` with the remainders in `n`. So `m` divides `n`;
        with an atom for `n / m` the equation becomes `x + k + n / m = 0`, beside `m * (n / m) = n`. Of the equation
        and its negation one has a remainder of at most `m / 2`; with that one the coefficients shrink quickly.
        """
        m = abs(up.form[solved])
        up, down = min((up, down), (down, up), key=lambda halves: _smallest_remainder(halves[0].form, m))
        n = self.atoms.write({i: a % m for i, a in up.form.items() if a % m})
        small = self.atoms.write({i: a // m for i, a in up.form.items() if a // m > 0})
        large = self.atoms.write({i: -(a // m) for i, a in up.form.items() if a // m < 0})
        quotient = self.atoms.read(mk_app(Const("Nat.div"), n.term, Lit(m)))
        product = self.atoms.multiple(m, quotient)
        proof = Quotient(n, m, small, large, down.why, up.why)
        form = add_forms(n.form, product.form, -1)
        at_most = Fact("eq", product, n, proof, form)
        at_least = Fact("eq_symm", product, n, proof, scale_form(form, -1))
        nonneg = Fact("nonneg", self.atoms.read(Lit(0)), quotient, None, quotient.form)
        self._insert_unsolved(Constraint(nonneg.form, Why({nonneg: 1}, 1)))
        for half, fact in ((up, at_least), (down, at_most)):
            definition = Constraint(fact.form, Why({fact: 1}, 1))
            self._insert_unsolved(definition)
            self._insert_unsolved(combine(half, 1, definition, 1))

    # -- inequalities ----------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Eliminate atoms until nothing is left; returns if there is no contradiction to be found."""
        self.solve_equations()
        while self.intervals:
            for atom in self._choose():
                self._eliminate_inequalities(atom)
            self.solve_equations()

    def _choose(self) -> list[int]:
        """The atoms to eliminate: all that are bounded on one side only, otherwise the one that costs least."""
        counts: dict[int, list[int]] = {}
        for key, interval in self.intervals.items():
            self.budget.spend()
            for i, a in key:
                count = counts.setdefault(i, [0, 0, 1, 1])
                for bounded, place in ((interval.low, a < 0), (interval.high, a > 0)):
                    if bounded is not None:
                        count[place] += 1
                        count[place + 2] = max(count[place + 2], abs(a))
        # Bounded on one side only an atom can be as large as needed: its constraints go without a trace.
        one_sided = [i for i, (lower, upper, _, _) in counts.items() if not (lower and upper)]
        return one_sided or [min(counts, key=lambda i: (*_cost(counts[i]), i))]

    def _eliminate_inequalities(self, atom: int) -> None:
        lower: list[Constraint] = []
        upper: list[Constraint] = []
        for key in [key for key in self.intervals if any(i == atom for i, _ in key)]:
            for constraint in constraints_of(key, self.intervals.pop(key)):
                (lower if constraint.form[atom] > 0 else upper).append(constraint)
        for low in lower:
            for high in upper:
                a, b = low.form[atom], -high.form[atom]
                common = gcd(a, b)
                self.budget.spend(1 + (len(low.why.parts) + len(high.why.parts)) // 8)
                self.insert(combine(low, b // common, high, a // common))


def _smallest_remainder(form: Form, m: int) -> int:
    return min(a % m for i, a in form.items() if i and a % m)


def _cost(count: list[int]) -> tuple[bool, int]:
    """Whether integer solutions may be lost by an elimination, and how many constraints it makes; as in Lean.

    None are lost where all lower or all upper bounds have the coefficient 1.
    """
    lower, upper, largest_lower, largest_upper = count
    return min(largest_lower, largest_upper) > 1, lower * upper
