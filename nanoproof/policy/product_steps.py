"""Steps about products: factors that both sides of a relation have are cancelled, divisors are multiplied up, squares
and orders compared.

Each is one tactic for what would be one for each factor: in `c * (a * (d * d)) ≤ d * (b * c) * d` three are cancelled,
and `a * b ∣ b * c * e` for `a ∣ e` has the quotient `c * k` where `e = a * k`. The search alone lost its way in these.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

from nanoproof.policy import printed_types as printed
from nanoproof.policy.number_steps import NUMBERS
from nanoproof.policy.polynomials import Polynomial, divide, polynomial, square_root, written
from nanoproof.policy.printed_types import Tokens

_SORTED = "Nat.mul_comm, Nat.mul_left_comm, Nat.mul_assoc"
_POSITIVE = "(by simp_all [Nat.pos_iff_ne_zero])"
_CANCELLING = {
    "=": "Nat.eq_of_mul_eq_mul_left {positive} {product}",
    "≤": "Nat.le_of_mul_le_mul_left {product} {positive}",
    "<": "(Nat.mul_lt_mul_left {positive}).mp {product}",
}
"""How `a = b`, `a ≤ b` or `a < b` follows from the same of `c * a` and `c * b`, by lemmas of Lean's core."""

MOST_MEANS = 3
"""Inequalities between two squares and their product that are tried: so many has `a b + b c + c a ≤ a² + b² + c²`."""
_RELATIONS = ("=", "≤", "<")
_MULTIPLIED_OUT = f"Nat.pow_two, Nat.mul_add, Nat.add_mul, {_SORTED}"
"""Rules for sums of sorted products."""


class ProductSteps:
    """The steps for one goal: its target, the types of the hypotheses that can be named, and a maker of new names."""

    def __init__(self, target: Tokens, types: Mapping[str, Tokens], fresh: Callable[..., list[str]]) -> None:
        self._target, self._types, self._fresh = target, types, fresh
        self._has_numbers = any(type_ in NUMBERS for type_ in types.values())

    def cancelled(self) -> Iterator[str]:
        """Yield the goal by a hypothesis both of whose sides have the same factors more than those of the goal."""
        for relation, lemma in _CANCELLING.items():
            wanted = printed.sides(self._target, relation)
            if wanted is None or not self._has_numbers:
                continue
            for name, type_ in reversed(tuple(self._types.items())):
                sides = printed.sides(type_, relation)
                if sides is None:
                    continue
                common = _common_factor(sides, wanted)
                if common is None and relation == "=":
                    common, name = _common_factor(sides[::-1], wanted), f"{name}.symm"
                if common is not None:
                    factor = " * ".join(common)
                    left = f"{factor} * {printed.argument_text(wanted[0])}"
                    right = f"{factor} * {printed.argument_text(wanted[1])}"
                    # Sorted, the hypothesis and this are the same.
                    product = f"(by simpa only [{_SORTED}] using {name} : {left} {relation} {right})"
                    yield f"exact {lemma.format(product=product, positive=_POSITIVE)}"

    def divided(self) -> Iterator[str]:
        """Yield the quotient where the goal is that a monomial divides a polynomial of which each monomial has it.

        If need be with other variables in the place of those that equations and divisors of the context say.
        """
        types = tuple(self._types.items())
        # Two hypotheses may say by what one variable can be divided, and the first one that is used replaces it.
        for in_order in (types, types[::-1]):
            divides, remaining = self._target, list(in_order)
            tactics: list[str] = []
            yield from _quotient(divides, remaining, tactics)
            while (replacement := self._replacement(divides, remaining, len(tactics))) is not None:
                tactic, variable, value = replacement
                tactics.append(tactic)
                divides = printed.instance(divides, {variable: value})
                remaining = [(name, printed.instance(type_, {variable: value})) for name, type_ in remaining]
                yield from _quotient(divides, remaining, tactics)

    def _replacement(
        self, divides: Tokens, types: list[tuple[str, Tokens]], number: int
    ) -> tuple[str, str, Tokens] | None:
        """Return a tactic by which a variable of the goal is replaced, the variable, and its value; None at the end."""
        for name, type_ in types:
            for variable, value in printed.both_ways(printed.sides(type_, "=")):
                if _is_variable(variable, value, divides):
                    return f"subst {name}", variable[0], value
            division = printed.sides(type_, "∣")
            if division is not None and _is_variable(division[1], division[0], divides):
                new = self._fresh(*["k"] * (number + 1))[number]
                return f"obtain ⟨{new}, rfl⟩ := {name}", division[1][0], (*printed.in_brackets(division[0]), "*", new)
        return None

    def maxima(self) -> Iterator[str]:
        """Yield that a power to a maximum is no less than those to each of the two, which `omega` does not know.

        A tree of height `max l.height r.height + 1` has fewer than `2 ^ (max l.height r.height + 1)` nodes.
        """
        left, right = self._fresh("h", "h")
        for place, token in enumerate(self._target):
            exponent = printed.arguments_of(self._target, place)[:1]
            if token != "^" or not exponent or "max" not in exponent[0]:
                continue
            maximum = exponent[0].index("max")
            terms = [printed.argument_text(argument) for argument in printed.arguments_of(exponent[0], maximum)]
            if len(terms) != 2:
                continue
            facts = []
            for name, side in ((left, "left"), (right, "right")):
                less = f"(Nat.le_max_{side} {' '.join(terms)})"
                facts.append(f"have {name} := Nat.pow_le_pow_right (by omega : 0 < {self._target[place - 1]}) {less}")
            if "+" in exponent[0]:
                # `omega` takes `2 ^ (k + 1)` for `2 * 2 ^ k`, but not `2 ^ (1 + k)`.
                yield " <;> ".join([*facts, "simp only [Nat.pow_add, Nat.pow_one]", "omega"])
            yield " <;> ".join(facts)
            return

    def means(self) -> Iterator[str]:
        """Yield `x y + x y ≤ x² + y²` for what one side of a relation has the squares of, the other one the product.

        Of such inequalities are Cauchy's and those about means made, and that `a² + b² = a b` has no solution but 0.
        """
        instances: dict[str, None] = {}
        for left, right in self._related_sums():
            smaller, larger = (
                left - right,
                right - left,
            )  # counters keep what is positive: what one has beyond the other
            roots = []
            for monomial, times in larger.items():
                root = square_root(Polynomial({monomial: times}))
                if root is not None and monomial:
                    roots.append(written(Polynomial(dict.fromkeys(root, 1))))
            for x, y in combinations(sorted(roots), 2):
                product = polynomial(printed.tokens_of(f"({x}) * ({y})"))
                if product is not None and product.keys() <= smaller.keys():
                    instances[f"{_as_factor(x)} {_as_factor(y)}"] = None
        if not instances or not self._has_numbers:
            return
        # For any two numbers: to prove it once is shorter than for each pair.
        lemma, x, y, case, k, *names = self._fresh("h", "x", "y", "h", "k", *["h"] * MOST_MEANS)
        claim = f"∀ {x} {y} : Nat, {x} * {y} + {x} * {y} ≤ {x} * {x} + {y} * {y}"
        cases = f"rcases Nat.le_total {x} {y} with {case} | {case}"
        proof = f"intro {x} {y} <;> {cases} <;> obtain ⟨{k}, rfl⟩ := Nat.exists_eq_add_of_le {case} <;> grind"
        steps = [f"have {lemma} : {claim} := (by {proof})"]
        for name, instance in zip(names, instances):
            steps.append(f"have {name} := {lemma} {instance}")
        yield " <;> ".join([*steps, "grind"])
        # For Cauchy's inequality NanoLean's `grind` has too many products; sorted sums are linear for `omega`.
        yield " <;> ".join([*steps, f"clear {lemma}", f"simp only [{_MULTIPLIED_OUT}] at *", "omega"])
        yield " <;> ".join([*steps, f"clear {lemma}"])

    def _related_sums(self) -> Iterator[tuple[Polynomial, Polynomial]]:
        """Yield the sides of the goal and of the hypotheses, multiplied out: the one that is to be smaller first."""
        for type_, is_goal in ((self._target, True), *((known, False) for known in self._types.values())):
            for relation in _RELATIONS:
                sides = printed.sides(type_, relation)
                if sides is None or {"*", "^"}.isdisjoint(type_):
                    continue
                left, right = polynomial(sides[0]), polynomial(sides[1])
                if left is None or right is None:
                    continue
                if is_goal or relation == "=":
                    yield left, right
                if not is_goal:
                    yield right, left

    def ordered(self) -> Iterator[str]:
        """Yield the goal that two numbers are equal, or in order, by what the other orders would say of products.

        As `s² ≤ n < (s + 1)²` has one solution, and `b q + r = b s + t` with `r, t < b` one quotient.
        """
        multiplied: set[str] = set()
        for type_ in self._types.values():
            if not {"*", "^"}.isdisjoint(type_) and printed.is_proposition(type_) and type_[:1] not in (("∀",), ("∃",)):
                multiplied.update(type_)
        order, product = self._fresh("h", "h")
        for goal in printed.split_at(self._target, ("∧",)):
            for relation in _RELATIONS:
                sides = printed.sides(printed.stripped(goal), relation)
                if sides is None or not all(self._is_linear(side) for side in sides):
                    continue
                if not any(
                    token in multiplied and self._types.get(token) in NUMBERS for token in (*sides[0], *sides[1])
                ):
                    continue
                left, right = printed.argument_text(sides[0]), printed.argument_text(sides[1])
                # From `s < t`, which is `s + 1 ≤ t`, follows `(s + 1) * (s + 1) ≤ t * t`.
                cases = f"rcases Nat.lt_trichotomy {left} {right} with {order} | {order} | {order}"
                proofs = ["omega", "grind", f"(have {product} := Nat.mul_le_mul {order} {order} <;> grind)"]
                for factor in self._multipliers(sides):
                    proofs.append(f"(have {product} := Nat.mul_le_mul_left {factor} {order} <;> grind)")
                yield f"{cases} <;> first | {' | '.join(proofs)}"
                return

    def _is_linear(self, side: Tokens) -> bool:
        """Tell whether a side is a sum of variables, numerals and multiples, such as `a + 2 * b`."""
        sum_ = polynomial(side)
        return bool(sum_) and all(len(monomial) <= 1 for monomial in sum_ or ())

    def _multipliers(self, sides: tuple[Tokens, Tokens]) -> list[str]:
        """Return the variables by which a hypothesis multiplies what the sides are, at most two."""
        factors: dict[str, None] = {}
        for type_ in self._types.values():
            for first, symbol, second in zip(type_, type_[1:], type_[2:]):
                for factor, other in ((first, second), (second, first)):
                    if symbol == "*" and self._types.get(factor) in NUMBERS and (other,) in sides and factor != other:
                        factors[factor] = None
        return list(factors)[:2]


def _is_variable(term: Tokens, value: Tokens, divides: Tokens) -> bool:
    return len(term) == 1 and printed.is_name(term[0]) and term[0] in divides and term[0] not in value


def _factors(term: Tokens) -> Counter[str]:
    """Return what a product is made of, in their texts and however it is bracketed; another term is its only factor."""
    term = printed.stripped(term)
    parts = printed.split_at(term, ("*",))
    if len(parts) == 1 or len(printed.split_at(term, ("+", "-", "/", "%", "::", "++"))) > 1:
        return Counter([printed.argument_text(term)])
    factors: Counter[str] = Counter()
    for part in parts:
        factors.update(_factors(part))
    return factors


def _common_factor(sides: tuple[Tokens, Tokens], wanted: tuple[Tokens, Tokens]) -> list[str] | None:
    """Return the factors by which both sides are products of what is wanted; None where there are none, or others."""
    rests = []
    for side, factor in zip(sides, wanted):
        rest = _factors(side)
        rest.subtract(_factors(factor))
        rests.append(rest)
    if rests[0] != rests[1] or any(count < 0 for count in rests[0].values()):
        return None
    return list(rests[0].elements()) or None


def _quotient(divides: Tokens, types: list[tuple[str, Tokens]], tactics: list[str]) -> Iterator[str]:
    """Yield the tactics and then the quotient, if the division comes out even: at once, or by what a hypothesis has."""
    sides = printed.sides(divides, "∣")
    if sides is None or sides[0] == sides[1]:
        return
    direct = _witness(*sides)
    if direct is not None:
        yield " <;> ".join([*tactics, f"exact {direct}"])
        return
    for name, type_ in reversed(types):
        # `a ∣ x * y` where `x * y` divides what is wanted; a variable in its place has been replaced.
        division = printed.sides(type_, "∣")
        if division is None or len(division[1]) == 1:
            continue
        above = _witness(division[1], sides[1])
        below = _witness(sides[0], division[0])
        if above is not None and sides[0] == division[0]:
            yield " <;> ".join([*tactics, f"exact Nat.dvd_trans {name} {above}"])
        elif above is not None and below is not None:
            yield " <;> ".join([*tactics, f"exact Nat.dvd_trans {below} (Nat.dvd_trans {name} {above})"])


def _witness(divisor: Tokens, multiple: Tokens) -> str | None:
    """Return the proof that one term divides another, by the quotient of their polynomials; None where it has none."""
    monomial, sum_ = polynomial(divisor), polynomial(multiple)
    if not monomial or not sum_ or len(monomial) != 1:
        return None
    quotient = divide(sum_, monomial)
    if quotient is None:
        return None
    # `grind` multiplies out, but not too many factors; those of one monomial only have to be put in order.
    proof = "ac_rfl" if quotient.total() == 1 and () not in quotient else "grind"
    return f"⟨{written(quotient)}, by {proof}⟩"


def _as_factor(root: str) -> str:
    return f"({root})" if " " in root else root
