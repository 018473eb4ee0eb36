"""Steps about sums, products and divisors whose certificate is computed: what is left to Lean is to multiply out.

That two numbers have no common divisor follows from a combination of them that is 1, and that all large numbers are
sums of fours and fives from one such sum for each remainder; neither is in the state.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, permutations

from nanoproof.policy import printed_types as printed
from nanoproof.policy.polynomials import Polynomial, divide, is_numeral, polynomial, written
from nanoproof.policy.printed_types import Tokens
from nanoproof.policy.statement_definitions import application

LARGEST_COIN = 7
"""By more remainders a case distinction is longer than anybody writes."""
LARGEST_MULTIPLE = 7
"""Of one number, where a combination is looked for: `3 * (2 * n + 1) = 2 * (3 * n + 1) + 1`."""
MOST_DIVISIONS = 4
"""Steps of a long division of polynomials: their quotients in exercises have one or two monomials."""


class CertificateSteps:
    """The steps for one goal: its target, the types of the hypotheses that can be named, and a maker of new names."""

    def __init__(self, target: Tokens, types: Mapping[str, Tokens], fresh: Callable[..., list[str]]) -> None:
        self._target, self._types, self._fresh = target, types, fresh

    def congruences(self) -> Iterator[str]:
        """Yield `rw` of the parts of a sum or product modulo `m` by equations modulo `m` that the context has."""
        sides = printed.sides(self._target, "=")
        if sides is None:
            return
        left, right = _modulo(sides[0]), _modulo(sides[1])
        if left is None or right is None or left[1] != right[1]:
            return
        equations: dict[tuple[Tokens, Tokens], str] = {}
        for name, type_ in self._types.items():
            for first, second, rewriting in _congruence(name, type_, left[1]):
                equations.setdefault((first, second), rewriting)
        parts: list[tuple[str, tuple[Tokens, Tokens] | None, tuple[Tokens, Tokens] | None]] = [
            ("Nat.add_mod", _last_two(left[0], "+"), _last_two(right[0], "+")),
            ("Nat.mul_mod", _last_two(left[0], "*"), _last_two(right[0], "*")),
            ("Nat.pow_succ, Nat.pow_succ, Nat.mul_mod", _power_before(left[0]), _power_before(right[0])),
        ]
        for lemmas, of_left, of_right in parts:
            if of_left is None or of_right is None:
                continue
            needed = []
            for pair in dict.fromkeys(zip(of_left, of_right)):
                if pair[0] != pair[1]:
                    needed.append(equations.get(pair))
            if needed and None not in needed:
                back = "← " + lemmas.rpartition(" ")[2]
                yield f"rw [{', '.join(chain([lemmas], filter(None, needed), [back]))}]"

    def whole_proofs(self) -> Iterator[str]:
        """Yield whole proofs by a certificate."""
        yield from self.coprime()
        yield from self.divisors_of_one()
        yield from self.euclid()
        yield from self.euclid_for_primes()
        yield from self.gcd_of_sums()
        yield from self.two_coins()
        yield from self.quotient_with_remainder()

    def coprime(self) -> Iterator[str]:
        """Yield that two numbers have no common divisor: by a combination that is 1, or as divisors of such numbers."""
        sides = printed.split_at(self._target, ("=",))
        numbers = application(sides[0][1:]) if len(sides) == 2 and sides[0][:1] == ("Nat.gcd",) else []
        if len(numbers) != 2 or sides[1] != ("1",):
            return
        first, second = numbers
        left = ("Nat.gcd_dvd_left _ _", "Nat.gcd_dvd_right _ _")
        for smaller, larger, (of_smaller, of_larger) in ((first, second, left), (second, first, left[::-1])):
            for multiple in range(1, LARGEST_MULTIPLE + 1):
                quotient = _with_remainder_one(smaller, (str(multiple), "*", *printed.in_brackets(larger)))
                if quotient is not None:
                    yield _by_combination(smaller, quotient, of_smaller, str(multiple), of_larger)
                    break
            for type_ in self._types.values():
                equation = printed.split_at(type_, ("=",))
                for more, less in (equation, equation[::-1]) if len(equation) == 2 else ():
                    # `a * x = b * y + 1`
                    times = _quotient(more, larger)
                    other = _with_remainder_one(smaller, less)
                    if times is not None and other is not None:
                        yield _by_combination(smaller, other, of_smaller, times, of_larger)
        # A divisor of both divides what they divide, and so the 1 that is known to be the greatest for these.
        for name, type_ in reversed(tuple(self._types.items())):
            known = printed.split_at(type_, ("=",))
            if len(known) == 2 and known[0][:1] == ("Nat.gcd",) and known[1] == ("1",):
                divides = "exact Nat.dvd_trans (Nat.gcd_dvd_{side} _ _) (by assumption)"
                either = f"{divides.format(side='left')} | {divides.format(side='right')}"
                yield f"refine Nat.eq_one_of_dvd_one ({name} ▸ Nat.dvd_gcd ?_ ?_) <;> first | {either}"

    def divisors_of_one(self) -> Iterator[str]:
        """Yield that what divides two numbers is 1, where a combination of them is."""
        sides = printed.sides(self._target, "=")
        if sides is None or sides[1] != ("1",):
            return
        multiples: dict[str, Tokens] = {}
        for name, type_ in self._types.items():
            division = printed.sides(type_, "∣")
            if division is not None and division[0] == sides[0]:
                multiples[name] = division[1]
        for (first, smaller), (second, larger) in permutations(multiples.items(), 2):
            quotient = _with_remainder_one(smaller, larger)
            if quotient is not None:
                yield _by_combination(smaller, quotient, first, "1", second)

    def euclid(self) -> Iterator[str]:
        """Yield that what divides a product and has no divisor with one factor divides the other."""
        sides = printed.sides(self._target, "∣")
        if sides is None:
            return
        divisor, wanted = sides
        coprime: dict[Tokens, str] = {}
        for name, type_ in self._types.items():
            known = printed.split_at(type_, ("=",))
            numbers = application(known[0][1:]) if len(known) == 2 and known[0][:1] == ("Nat.gcd",) else []
            if len(numbers) == 2 and known[1] == ("1",) and divisor in numbers:
                factor = numbers[1 - numbers.index(divisor)]
                coprime[factor] = name
                if numbers[0] == factor:
                    in_order = (printed.argument_text(divisor), printed.argument_text(factor))
                    coprime[factor] = f"Nat.gcd_comm {' '.join(in_order)}, {name}"
        for name, type_ in self._types.items():
            division = printed.split_at(type_, ("∣",))
            factors = _factors(division[-1])
            if len(division) != 2 or printed.stripped(division[0]) != divisor or len(factors) != 2:
                continue
            for factor, other in (factors, factors[::-1]):
                if other == wanted and factor in coprime:
                    rules = f"Nat.gcd_mul_right, Nat.gcd_mul_left, {coprime[factor]}"
                    multiple = f"Nat.dvd_mul_right {printed.argument_text(divisor)} {printed.argument_text(wanted)}"
                    if factors[0] == wanted:
                        multiple = f"Nat.dvd_mul_left {printed.argument_text(divisor)} {printed.argument_text(wanted)}"
                    yield f"simpa [{rules}] using Nat.dvd_gcd ({multiple}) {name}"

    def euclid_for_primes(self) -> Iterator[str]:
        """Yield Euclid's lemma for a `p` with the divisors 1 and `p` alone: its gcd with `a` is one of them."""
        claims = printed.split_at(self._target, ("∨",))
        if len(claims) != 2:
            return
        first_claim, second_claim = printed.sides(claims[0], "∣"), printed.sides(claims[1], "∣")
        if first_claim is None or second_claim is None or first_claim[0] != second_claim[0]:
            return
        prime, first, second = printed.argument_text(first_claim[0]), first_claim[1], second_claim[1]
        a, b = printed.argument_text(first), printed.argument_text(second)
        for name, type_ in self._types.items():
            division = printed.split_at(type_, ("∣",))
            if len(division) != 2 or _factors(division[1]) != [printed.stripped(first), printed.stripped(second)]:
                continue
            for divisors, fact in self._types.items():
                if fact[:1] == ("∀",) and "∣" in fact and "∨" in fact and prime in fact:
                    new = self._fresh("h")[0]
                    cases = f"rcases {divisors} (Nat.gcd {prime} {a}) (Nat.gcd_dvd_left {prime} {a}) with {new} | {new}"
                    common = f"exact Or.inl ({new} ▸ Nat.gcd_dvd_right {prime} {a})"
                    rules = f"Nat.gcd_mul_right, Nat.gcd_mul_left, {new}"
                    coprime = f"simpa [{rules}] using Nat.dvd_gcd (Nat.dvd_mul_right {prime} {b}) {name}"
                    yield f"{cases} <;> first | {common} | exact Or.inr (by {coprime})"

    def gcd_of_sums(self) -> Iterator[str]:
        """Yield Euclid's step where a greatest common divisor is one with a sum: `gcd a (a + b) = gcd a b`."""
        for place, token in enumerate(self._target):
            numbers = application(self._target[place + 1 :])[:2] if token == "Nat.gcd" else []
            if len(numbers) == 2 and len(numbers[0]) == 1 and {"+", numbers[0][0]} <= set(numbers[1]):
                yield f"simp [Nat.gcd_rec {numbers[0][0]}]"

    def quotient_with_remainder(self) -> Iterator[str]:
        """Yield quotient and remainder where the goal is that there are such: `∃ q r, n = 3 * q + r ∧ r < 3`."""
        bound, body = printed.read_binders(self._target[1:]) if self._target[:1] == ("∃",) else ([], ())
        names = []
        for argument in bound:
            names.append(argument.name)
        for part in printed.split_at(body, ("∧",)) if len(names) == 2 else ():
            sides = printed.split_at(printed.stripped(part), ("=",))
            for number, total in (sides, sides[::-1]) if len(sides) == 2 else ():
                for summand in printed.split_at(total, ("+",)):
                    factors = _factors(summand)
                    quotient = next((name for name in names if (name,) in factors), None)
                    if len(factors) != 2 or quotient is None or not number or set(names) & set(number):
                        continue
                    divisor = printed.argument_text(factors[1 - factors.index((quotient,))])
                    amount = printed.argument_text(number)
                    values = [f"{amount} / {divisor}", f"{amount} % {divisor}"]
                    witnesses = ", ".join(values if names[0] == quotient else values[::-1])
                    if is_numeral((divisor,)):
                        yield f"exact ⟨{witnesses}, by omega⟩"
                    else:
                        yield f"refine ⟨{witnesses}, ?_⟩ <;> simp_all [Nat.div_add_mod, Nat.mod_lt]"

    def two_coins(self) -> Iterator[str]:
        """Yield a sum of two coins for each remainder, where the goal is that all numbers from some on have one."""
        bound, body = printed.read_binders(self._target[1:]) if self._target[:1] == ("∃",) else ([], ())
        sides = printed.sides(body, "=")
        if len(bound) != 2 or sides is None:
            return
        for number, total in (sides, sides[::-1]):
            summands = printed.split_at(total, ("+",))
            coins = []
            for argument in bound:
                for summand in summands:
                    factors = _factors(summand)
                    if len(factors) == 2 and (argument.name,) in factors:
                        coin = factors[1 - factors.index((argument.name,))]
                        coins.append(int(coin[0]) if is_numeral(coin) else 0)
            if len(summands) != 2 or len(coins) != 2 or not 1 < coins[0] <= LARGEST_COIN or not coins[1]:
                continue
            # With as many of the second coin as there are remainders by the first, one of them leaves none.
            amount = printed.argument_text(number)
            new = self._fresh("h")[0]
            sums = []
            for count in range(coins[0]):
                rest = amount if count == 0 else f"({amount} - {coins[1] * count})"
                sums.append(f"exact ⟨{rest} / {coins[0]}, {count}, by omega⟩")
            values = " ∨ ".join(f"{amount} % {coins[0]} = {rest}" for rest in range(coins[0]))
            cases = f"rcases (by omega : {values}) with {' | '.join([new] * coins[0])}"
            yield f"{cases} <;> first | {' | '.join(sums)}"

    def multiplied(self, functions: Sequence[str]) -> Iterator[str]:
        """Yield an inequality times the factor that one of its sides has in the goal, as in a proof of Bernoulli's.

        Where functions of the statement or the context have a factor of their own, `fac (n + 1) = (n + 1) * fac n`, the
        one that shows is less than that: `2 ^ (n + 1) < fac (n + 1)`.
        """
        new = self._fresh("h")[0]
        have_factors = bool(functions) or any(type_[:1] == ("∀",) and "*" in type_ for type_ in self._types.values())
        unfolding = f"grind [{', '.join([*functions, 'Nat.pow_succ'])}]"
        if not printed.is_term(self._target, printed.RELATIONS):
            return
        for name, type_ in reversed(tuple(self._types.items())):
            for relation in ("≤", "<"):
                sides = printed.sides(type_, relation)
                if sides is None:
                    continue
                for factor in _factors_beside(sides, self._target):
                    following = _following(self._target) if have_factors and is_numeral(factor) else ""
                    if following:
                        at_most = f"(by omega : {factor[0]} ≤ {following})"
                        yield f"have {new} := Nat.mul_le_mul {name} {at_most} <;> {unfolding}"
                    product = f"have {new} := Nat.mul_le_mul_right {printed.argument_text(factor)} {name}"
                    yield f"{product} <;> {unfolding}"
                    yield product


def _following(target: Tokens) -> str:
    """Return the `n + 1` or `n.succ` that a function is applied to in a text, the first; an empty text for none."""
    for place, token in enumerate(target):
        if not printed.is_name(token):
            continue
        for argument in printed.arguments_of(target, place)[:1]:
            variable, _, field = argument[0].rpartition(".")
            if argument[1:] == ("+", "1") and printed.is_name(argument[0]):
                return printed.text_of(argument)
            if len(argument) == 1 and variable and field == "succ":
                return f"{variable} + 1"
    return ""


def _factors_beside(sides: tuple[Tokens, Tokens], target: Tokens) -> Iterator[Tokens]:
    """Yield what one of the sides is multiplied by in the target; of a power `b ^ (n + 1)` it is `b`."""
    seen: list[Tokens] = []
    if len(sides[0]) == len(sides[1]) == 1:
        # Of a variable many products are there by chance; its bound by a numeral is missing where it is squared, as in
        # `n * n ≤ 2 ^ n` from 4 on. By rules `≤` goes on to `n.succ`.
        is_mentioned = not {sides[1][0], f"{sides[1][0]}.succ"}.isdisjoint(target)
        if is_numeral(sides[0]) and is_mentioned and ("*" in target or "^" in target):
            yield sides[1]
        return
    for side in sides:
        base_and_exponent = printed.split_at(side, ("^",))
        if len(base_and_exponent) == 2 and len(base_and_exponent[1]) == 1:
            base, exponent = base_and_exponent
            following = (*base, "^", "(", *exponent, "+", "1", ")")
            if _has(target, following) or _has(target, (*base, "^", f"{exponent[0]}.succ")):
                seen.append(printed.stripped(base))
        for product in _products(target):
            factors = _factors(product)
            if len(factors) == 2 and side in factors:
                seen.append(factors[1 - factors.index(side)])
    yield from dict.fromkeys(seen)


def _products(target: Tokens) -> Iterator[Tokens]:
    """Yield the products among the summands of both sides of a relation."""
    for side in printed.split_at(target, printed.RELATIONS, 1):
        for summand in printed.split_at(printed.stripped(side), ("+", "-")):
            if "*" in summand:
                yield summand


def _factors(product: Tokens) -> list[Tokens]:
    """Return what a product is made of; of a term that is none itself."""
    factors = []
    for factor in printed.split_at(printed.stripped(product), ("*",)):
        factors.append(printed.stripped(factor))
    return factors


def _has(target: Tokens, part: Tokens) -> bool:
    return any(target[place : place + len(part)] == part for place in range(len(target)))


def _by_combination(smaller: Tokens, quotient: str, of_smaller: str, times: str, of_larger: str) -> str:
    """Write that a divisor of two numbers divides 1, the difference of multiples of them."""
    number, quotient = printed.argument_text(smaller), printed.argument_text(printed.tokens_of(quotient))
    first = f"Nat.dvd_trans ({of_smaller}) (Nat.dvd_mul_right {number} {quotient})"
    second = f"Nat.dvd_trans ({of_larger}) ⟨{times}, by grind⟩"
    return f"exact Nat.eq_one_of_dvd_one ((Nat.dvd_add_right ({first})).mp ({second}))"


def _with_remainder_one(divisor: Tokens, number: Tokens) -> str | None:
    """Return `q` with `number = divisor * q + 1`, by long division; None where that is not what is left."""
    remaining, by = polynomial(number), polynomial(divisor)
    if not remaining or not by or remaining[()] < 1:
        return None
    remaining = Polynomial(remaining)
    remaining[()] -= 1
    remaining = +remaining
    quotient = Polynomial()
    # Any order of monomials that multiplication keeps will do; degree first is such a one.
    leading = max(by, key=lambda monomial: (len(monomial), monomial))
    for _ in range(MOST_DIVISIONS):
        if not remaining:
            return written(quotient)
        highest = max(remaining, key=lambda monomial: (len(monomial), monomial))
        part = divide(Polynomial({highest: remaining[highest]}), Polynomial({leading: by[leading]}))
        if part is None:
            return None
        (factors, times), *_ = part.items()
        quotient[factors] += times
        for monomial, count in by.items():
            remaining[tuple(sorted(monomial + factors))] -= count * times
        if min(remaining.values()) < 0:
            return None
        remaining = +remaining
    return None


def _quotient(multiple: Tokens, divisor: Tokens) -> str | None:
    """Return how often a monomial is in a polynomial; None where that does not come out even."""
    sum_, monomial = polynomial(multiple), polynomial(divisor)
    quotient = divide(sum_, monomial) if sum_ and monomial and len(monomial) == 1 else None
    return None if quotient is None else written(quotient)


def _modulo(side: Tokens) -> tuple[Tokens, Tokens] | None:
    """Read `a % m`; None for what is no remainder."""
    parts = printed.split_at(side, ("%",))
    is_sum = len(printed.split_at(side, ("+", "-"))) > 1
    # `a * b % m` is `(a * b) % m`, but `a % m * b` is a product.
    if len(parts) != 2 or not printed.is_term(side) or is_sum or len(printed.split_at(parts[1], ("*", "/"))) > 1:
        return None
    return printed.stripped(parts[0]), printed.stripped(parts[1])


def _congruence(name: str, type_: Tokens, modulus: Tokens) -> Iterator[tuple[Tokens, Tokens, str]]:
    """Yield what `a % m = b % m` makes the same, either way, with the text that rewrites by it."""
    sides = printed.sides(type_, "=")
    if sides is not None:
        first, second = _modulo(sides[0]), _modulo(sides[1])
        if first is not None and second is not None and first[1] == second[1] == modulus:
            yield first[0], second[0], name
            yield second[0], first[0], f"← {name}"


def _power_before(term: Tokens) -> tuple[Tokens, Tokens] | None:
    """Split `b ^ (n + 1)` into `b ^ n` and `b`."""
    base_and_exponent = printed.split_at(term, ("^",))
    if len(base_and_exponent) != 2 or not printed.is_term(term) or printed.split_at(term, ("+", "*"))[0] != term:
        return None
    base, exponent = base_and_exponent[0], printed.stripped(base_and_exponent[1])
    if len(exponent) < 3 or exponent[-2:] != ("+", "1"):
        return None
    return (*base, "^", *printed.in_brackets(exponent[:-2])), printed.stripped(base)


def _last_two(term: Tokens, symbol: str) -> tuple[Tokens, Tokens] | None:
    """Split `a + b + c` as Lean reads it, `a + b` and `c`; None for another operation."""
    if symbol == "*" and len(printed.split_at(term, ("+", "-"))) > 1:
        return None
    parts = printed.split_at(term, (symbol,))
    if len(parts) < 2:
        return None
    return printed.stripped(term[: len(term) - len(parts[-1]) - 1]), printed.stripped(parts[-1])
