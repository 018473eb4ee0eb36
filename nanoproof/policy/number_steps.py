"""Steps about natural numbers that only have to be computed: quotients, remainders, the few values that are left.

`n * n = 4 * j + 1` for `n = 2 * k + 1` has the witness `k * k + k`, which no network of a million parameters finds and
which long division gives. What the steps claim is small enough for `omega`, or for `grind` once it is multiplied out.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from math import gcd

from nanoproof.policy import printed_types as printed
from nanoproof.policy.polynomials import Polynomial, divide, is_numeral, polynomial, square_root, written
from nanoproof.policy.printed_types import Tokens

NUMBERS = (("Nat",), ("ℕ",))
LARGEST_MODULUS = 8
"""By remainders modulo a larger number a case distinction is longer than anybody writes."""
LARGEST_DIVISOR = 6
"""Nor by quotients, whose cases have to be multiplied out."""
LARGEST_PRODUCT = 1_000
"""Of small primes' powers, which are taken one by one."""
MOST_CASES = 27
"""Of the remainders of two or three numbers together."""
MOST_VALUES = 12
MOST_DIVIDED = 2
"""Variables in turn that an equation makes multiples: it goes on like this for ever."""


class NumberSteps:
    """The steps for one goal: its target, the types of the hypotheses that can be named, and a maker of new names."""

    def __init__(self, target: Tokens, types: Mapping[str, Tokens], fresh: Callable[..., list[str]]) -> None:
        self._target, self._types, self._fresh = target, types, fresh
        self._numbers = [name for name, type_ in types.items() if type_ in NUMBERS]

    def quotients(self) -> Iterator[str]:
        """Yield variables as multiples with a remainder, where a hypothesis says the remainder; then by cases."""
        known: set[tuple[str, str]] = set()
        k = self._fresh("k")[0]
        for type_ in self._types.values():
            sides = printed.split_at(type_, ("=",))
            if len(sides) != 2 or len(sides[0]) != 3 or not is_numeral(sides[1]):
                continue
            number, operation, modulus = sides[0]
            if operation == "%" and number in self._numbers and is_numeral((modulus,)):
                known.add((number, modulus))
                value = f"{modulus} * {k} + {sides[1][0]}"
                yield f"obtain ⟨{k}, rfl⟩ : ∃ {k}, {number} = {value} := ⟨{number} / {modulus}, by omega⟩"
        claims = [self._target, *filter(printed.is_proposition, self._types.values())]
        mentioned = []
        for number in self._numbers:
            if any(number in claim for claim in claims):
                mentioned.append(number)
        for modulus in self._moduli() or self._modulus_of_squares(claims):
            # As in `3 ∣ a * a + b * b`, which says nothing of `a` alone.
            if 1 < len(mentioned) <= 3 and int(modulus) ** len(mentioned) <= MOST_CASES:
                together = []
                for number, quotient in zip(mentioned, self._fresh(*["k"] * len(mentioned))):
                    together.append(_residues(number, quotient, modulus))
                yield " <;> ".join([*together, "first | omega | grind"])
            for number in mentioned:
                if number in self._target and (number, modulus) not in known:
                    cases = _residues(number, k, modulus)
                    if int(modulus) <= LARGEST_DIVISOR:
                        yield f"{cases} <;> grind"
                    yield self._table(number, modulus, "∣" in self._target)
                    if int(modulus) <= LARGEST_DIVISOR:
                        yield cases

    def divided(self) -> Iterator[str]:
        """Yield variables as multiples where an equation says that their powers are: `a * a = 2 * (b * b)`.

        First `a`, and then, as `2 * (k * k) = b * b`, also `b`.
        """
        for type_ in self._types.values():
            equation = type_
            tactics: list[str] = []
            while (multiple := self._multiple(equation)) is not None and len(tactics) < MOST_DIVIDED:
                variable, modulus = multiple
                k = self._fresh(*["k"] * (len(tactics) + 1))[-1]
                tactics.append(f"{_residues(variable, k, modulus)} <;> (try grind)")
                equation = printed.instance(equation, {variable: (modulus, "*", k)})
            if tactics:
                yield " <;> ".join(tactics)

    def _multiple(self, equation: Tokens) -> tuple[str, str] | None:
        """Return a variable and the number that divides its power by an equation of products; None if it says none."""
        sides = printed.sides(equation, "=")
        if sides is None or {"*", "^"}.isdisjoint(equation):
            return None
        for power, multiple in (sides, sides[::-1]):
            left, right = polynomial(power), polynomial(multiple)
            if not left or not right or len(left) != 1 or () in left or () in right:
                continue
            (factors, times), *_ = left.items()
            modulus = gcd(*right.values()) // gcd(times, *right.values())
            if len(set(factors)) == 1 and printed.is_name(factors[0]) and 1 < modulus <= LARGEST_DIVISOR:
                return factors[0], str(modulus)
        return None

    def _modulus_of_squares(self, claims: list[Tokens]) -> list[str]:
        """Return 2 where an equation is to be impossible that has a square: those are 0 or 1 by 4."""
        if "≠" not in self._target and self._target != ("False",):
            return []
        for claim in claims:
            for first, symbol, second in zip(claim, claim[1:], claim[2:]):
                if (symbol == "*" and first == second) or (symbol, second) == ("^", "2"):
                    return ["2"]
        return []

    def parts_of_modulus(self) -> Iterator[str]:
        """Yield that a power of a prime divides, or the remainder by it, where the goal is about a number like 24.

        `omega` puts the parts together: what 8 and 3 divide 24 divides. Of the last digit it is 2 and 5.
        """
        division, equation = printed.sides(self._target, "∣"), printed.sides(self._target, "=")
        dividend, modulus, remainder = "", 0, None
        if division is not None and is_numeral(division[0]):
            dividend, modulus = printed.text_of(division[1]), int(division[0][0])
        elif equation is not None and equation[0][-2:-1] == ("%",) and is_numeral(equation[0][-1:]):
            dividend, modulus = printed.text_of(equation[0][:-2]), int(equation[0][-1])
            remainder = int(equation[1][0]) if is_numeral(equation[1]) else None
        parts = _prime_powers(modulus)
        if not LARGEST_DIVISOR < modulus <= LARGEST_PRODUCT or len(parts) == 1 or max(parts) > LARGEST_MODULUS:
            return
        if division is None and remainder is None:
            return
        known = {printed.text_of(type_) for type_ in self._types.values()}
        new, other = self._fresh("h", "h")
        for part in parts:
            # One step for each: all of them together are longer than a step may be.
            claim = f"{part} ∣ {dividend}"
            if remainder is not None:
                claim = f"{dividend} % {part} = {remainder % part}"
            if claim in known:
                continue
            for number in self._numbers:
                if number in self._target:
                    yield f"have {new} : {claim} := by {self._table(number, str(part), remainder is None, other)}"
            return

    def without_subtraction(self) -> Iterator[str]:
        """Yield `s n + 1 = f n` for `s n = f n - 1`: of that an induction's hypothesis says more."""
        for whole, difference in printed.both_ways(printed.sides(self._target, "=")):
            parts = printed.split_at(difference, ("-",))
            if len(parts) == 2 and printed.is_term(difference, ("-", "+", "*", "^")) and "-" not in whole:
                claim = f"{printed.text_of(whole)} + {printed.argument_text(parts[1])} = {printed.text_of(parts[0])}"
                yield f"suffices {self._fresh('h')[0]} : {claim} by omega"

    def _table(self, number: str, modulus: str, divides: bool, new: str = "") -> str:
        """Return the tactic that computes a goal about remainders for each remainder of a number, powers too."""
        new = new or self._fresh("h")[0]
        values = " ∨ ".join(f"{number} % {modulus} = {rest}" for rest in range(int(modulus)))
        names = " | ".join([new] * int(modulus))
        computed = f"simp [Nat.pow_succ, Nat.add_mod, Nat.mul_mod, {new}]"
        cases = f"rcases (by omega : {values}) with {names} <;> first | omega | {computed}"
        return f"apply Nat.dvd_of_mod_eq_zero <;> {cases}" if divides else cases

    def _moduli(self) -> list[str]:
        """List the small numerals by which something is divided, in the goal first."""
        moduli: dict[str, None] = {}
        for type_ in (self._target, *self._types.values()):
            for before, token, after in zip(type_, type_[1:], type_[2:]):
                if token == "%" and is_numeral((after,)):
                    moduli[after] = None
                elif token == "∣" and is_numeral((before,)):
                    moduli[before] = None
        return [modulus for modulus in moduli if 1 < int(modulus) <= LARGEST_MODULUS]

    def bounded(self) -> Iterator[str]:
        """Yield a case for each value of a variable that a numeral bounds, and the bound that a divisor has."""
        new = self._fresh("h")[0]
        for name, type_ in reversed(tuple(self._types.items())):
            if len(type_) != 3 or type_[0] not in self._numbers or not is_numeral(type_[2:]):
                continue
            number, relation, bound = type_
            if relation == "∣":
                # What it divides is a numeral and no 0, so `omega` knows that it is positive.
                yield f"have {new} := Nat.le_of_dvd (by omega) {name}"
            elif relation in ("<", "≤"):
                count = int(bound) + (relation == "≤")
                if count > MOST_VALUES:
                    continue
                values = [f"{number} = {value}" for value in range(count)]
                cases = f"rcases (by omega : {' ∨ '.join(values)}) with {' | '.join(['rfl'] * count)}"
                yield f"{cases} <;> omega"
                yield f"{cases} <;> simp_all"

    def rearranged(self) -> Iterator[str]:
        """Yield `m + 1 + n` in an argument as `m + n + 1`, which the case of an induction or a definition is about."""
        for before, first, plus, number, then, last in zip(*(self._target[start:] for start in range(6))):
            is_argument = before == "(" and plus == then == "+" and is_numeral((number,))
            if is_argument and printed.is_name(first) and printed.is_name(last):
                yield f"rw [Nat.add_right_comm {first} {number} {last}]"

    def differences(self) -> Iterator[str]:
        """Yield the larger side of an inequality as the smaller one and a rest, where it is a variable."""
        k = self._fresh("k")[0]
        for name, type_ in reversed(tuple(self._types.items())):
            for relation, lemma in (("≤", "Nat.exists_eq_add_of_le"), ("<", "Nat.exists_eq_add_of_lt")):
                sides = printed.split_at(type_, (relation,))
                if len(sides) != 2 or len(sides[1]) != 1 or not printed.is_term(type_, (relation,)):
                    continue
                larger = sides[1][0]
                if larger in self._numbers and larger not in sides[0]:
                    if relation == "≤" and (larger, "-", sides[0][0]) in zip(
                        self._target, self._target[1:], self._target[2:]
                    ):
                        # Of `t (n - m)` the induction is over the rest, once it is `t k`.
                        yield f"obtain ⟨{k}, rfl⟩ := {lemma} {name} <;> simp only [Nat.add_sub_cancel_left]"
                    yield f"obtain ⟨{k}, rfl⟩ := {lemma} {name}"

    def solutions(self, variable: str, body: Tokens) -> Iterator[str]:
        """Yield what an existential's `variable` has to be by the equation that is its `body`, or a multiple."""
        sides = printed.split_at(body, ("=",))
        if len(sides) == 2 and printed.is_term(body, ("=",)):
            for term, with_variable in (sides, sides[::-1]):
                solution = _solution(term, with_variable, variable)
                if solution is not None:
                    yield f"exact ⟨{solution}, by grind⟩"
        for number, symbol, modulus, equals, rest in zip(*(body[start:] for start in range(5))):
            if (number, symbol, equals) == (variable, "%", "=") and is_numeral((modulus,)) and self._numbers:
                yield f"exact ⟨{modulus} * ({self._numbers[-1]} + 1) + {rest}, by omega⟩"
        for divisor, token, multiple in zip(body, body[1:], body[2:]):
            if token == "∣" and multiple == variable and self._numbers:
                yield f"refine ⟨{divisor} * ({self._numbers[-1]} + 1), ?_⟩"

    def larger(self) -> Iterator[str]:
        """Yield witnesses that are larger than a number of the context."""
        for number in reversed(self._numbers[-2:]):
            yield f"refine ⟨{number} + 1, ?_⟩"


def _prime_powers(number: int) -> list[int]:
    """Return the powers of primes whose product a number is, 8 and 3 for 24."""
    parts = []
    prime = 2
    while number > 1:
        part = 1
        while number % prime == 0:
            part *= prime
            number //= prime
        if part > 1:
            parts.append(part)
        prime += 1
    return parts or [number]


def _residues(number: str, k: str, modulus: str) -> str:
    """Return the tactic that takes a number as each of the multiples of the modulus with a remainder."""
    values = [f"{number} = {modulus} * {k}"]
    values += [f"{number} = {modulus} * {k} + {rest}" for rest in range(1, int(modulus))]
    pattern = " | ".join(["rfl"] * len(values))
    return f"obtain ⟨{k}, {pattern}⟩ : ∃ {k}, {' ∨ '.join(values)} := ⟨{number} / {modulus}, by omega⟩"


def _solution(term: Tokens, with_variable: Tokens, variable: str) -> str | None:
    """Return what `variable` is in `term = c * variable + d` by long division, or in `term = variable * variable`.

    None where it does not come out even.
    """
    wanted, given = polynomial(term), polynomial(with_variable)
    if wanted is None or given is None or any(variable in monomial for monomial in wanted):
        return None
    if given == Polynomial({(variable, variable): 1}):
        root = square_root(wanted)
        return None if root is None else written(root)
    factors: Polynomial = Counter()
    for monomial, times in given.items():
        if variable not in monomial:
            wanted[monomial] -= times
        elif monomial.count(variable) == 1:
            remaining = list(monomial)
            remaining.remove(variable)
            factors[tuple(remaining)] += times
        else:
            return None
    if len(factors) != 1 or any(times < 0 for times in wanted.values()):
        return None
    quotient = divide(+wanted, factors)
    return None if quotient is None else written(quotient)
