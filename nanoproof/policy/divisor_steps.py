"""Steps about divisors and greatest common divisors, with the facts about coprime numbers that everybody uses.

That two numbers have no common divisor follows from a combination of them that is 1, which is not in the state. Of a
number that has none with each factor of a product, it is a lemma of every text that it has none with the product.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, permutations

from nanoproof.policy import printed_types as printed
from nanoproof.policy.number_steps import NUMBERS
from nanoproof.policy.polynomials import Polynomial, divide, polynomial, written
from nanoproof.policy.printed_types import Tokens
from nanoproof.policy.statement_definitions import Proposition, application

_COPRIME_PRODUCT = (
    "∀ x y z, Nat.gcd x y = 1 → Nat.gcd x z = 1 → Nat.gcd x (y * z) = 1 := (by intro x y z h1 h2 <;> "
    "exact Nat.eq_one_of_dvd_one (h2 ▸ Nat.dvd_gcd (Nat.gcd_dvd_left _ _) (by simpa [Nat.gcd_mul_right, h1] using "
    "Nat.dvd_gcd (Nat.dvd_mul_right_of_dvd (Nat.gcd_dvd_left x (y * z)) z) (Nat.gcd_dvd_right x (y * z)))))"
)
_COPRIME_PRODUCT_LEFT = (
    "∀ x y z, Nat.gcd y x = 1 → Nat.gcd z x = 1 → Nat.gcd (y * z) x = 1 := (by intro x y z h1 h2 <;> "
    "exact Nat.eq_one_of_dvd_one (h2 ▸ Nat.dvd_gcd (by simpa [Nat.gcd_mul_right, h1] using Nat.dvd_gcd "
    "(Nat.gcd_dvd_left (y * z) x) (Nat.dvd_mul_right_of_dvd (Nat.gcd_dvd_right (y * z) x) z)) (Nat.gcd_dvd_right _ _)))"
)
"""What divides `x` and `y * z` divides `x * z` and `y * z`, whose gcd is `z` where that of `x` and `y` is 1."""
LARGEST_MULTIPLE = 7
"""Of one number, where a combination is looked for: `3 * (2 * n + 1) = 2 * (3 * n + 1) + 1`."""
MOST_DIVISIONS = 4
"""Steps of a long division of polynomials: their quotients in exercises have one or two monomials."""


class DivisorSteps:
    """The steps for one goal: its target, the types of the hypotheses that can be named, and a maker of new names."""

    def __init__(self, target: Tokens, types: Mapping[str, Tokens], fresh: Callable[..., list[str]]) -> None:
        self._target, self._types, self._fresh = target, types, fresh
        # The hypotheses `gcd a b = 1`, by the pair of their numbers; and those `a ∣ b`, with `a` and `b`.
        self._coprime: dict[tuple[Tokens, Tokens], str] = {}
        self._divisions: list[tuple[str, Tokens, Tokens]] = []
        for name, type_ in types.items():
            numbers, division = _coprime_numbers(type_), printed.sides(type_, "∣")
            if numbers is not None:
                self._coprime[numbers] = name
            if division is not None:
                self._divisions.append((name, *division))

    def whole_proofs(self) -> Iterator[str]:
        """Yield what most often ends a proof that numbers divide each other, or are coprime."""
        yield from self.in_gcds()
        yield from self.coprime()
        yield from self.coprime_products()
        yield from self.divisors_of_one()
        yield from self.euclid()
        yield from self.products_of_coprime()
        yield from self.euclid_for_primes()
        yield from self.gcd_of_sums()
        yield from self.greatest()
        yield from self.prime_factors()
        yield from self.common_factors()
        yield from self.sums_of_multiples()
        yield from self.at_small_divisors()

    def in_gcds(self) -> Iterator[str]:
        """Yield what writes `Nat.Coprime a b` as `Nat.gcd a b = 1`, of which the lemmas of the library are."""
        if any("Nat.Coprime" in type_ for type_ in (self._target, *self._types.values())):
            yield "simp only [← Nat.coprime_iff_gcd_eq_one] at *"

    def coprime(self) -> Iterator[str]:
        """Yield that two numbers have no common divisor: by a combination that is 1, or as divisors of such numbers."""
        numbers = _coprime_numbers(self._target)
        if numbers is not None:
            # That the gcd divides each of the numbers, which Lean finds from the goal.
            yield from self._by_combinations(*numbers, "Nat.gcd_dvd_left _ _", "Nat.gcd_dvd_right _ _")
            yield from self._by_combinations(*numbers[::-1], "Nat.gcd_dvd_right _ _", "Nat.gcd_dvd_left _ _")
            for name in reversed(self._coprime.values()):
                yield from self._by_known_gcd(name, numbers)

    def _by_combinations(self, smaller: Tokens, larger: Tokens, of_smaller: str, of_larger: str) -> Iterator[str]:
        """Yield combinations that are 1: `m * larger = q * smaller + 1`, or those that an equation of the context has.

        `of_smaller` and `of_larger` prove that the common divisor divides each of the numbers.
        """
        for multiple in self._multiples():
            quotient = _with_remainder_one(smaller, (*multiple, "*", *printed.in_brackets(larger)))
            if quotient is not None:
                yield _by_combination(smaller, quotient, of_smaller, printed.text_of(multiple), of_larger)
                break
        for type_ in self._types.values():
            for more, less in printed.both_ways(printed.split_at(type_, ("=",))):
                # `a * x = b * y + 1`
                times = _quotient(more, larger)
                quotient = _with_remainder_one(smaller, less)
                if times is not None and quotient is not None:
                    yield _by_combination(smaller, quotient, of_smaller, times, of_larger)

    def _by_known_gcd(self, name: str, numbers: tuple[Tokens, Tokens]) -> Iterator[str]:
        """Yield that the divisor of both numbers divides two others too, whose gcd a hypothesis says to be 1."""
        of_both = f"refine Nat.eq_one_of_dvd_one ({name} ▸ Nat.dvd_gcd ?_ ?_)"
        if "∣" in chain.from_iterable(self._types.values()):
            ways = [f"exact Nat.dvd_trans (Nat.gcd_dvd_{side} _ _) (by assumption)" for side in ("left", "right")]
            yield f"{of_both} <;> first | {' | '.join(ways)}"
        for total, side, other_side in ((numbers[0], "left", "right"), (numbers[1], "right", "left")):
            if len(printed.split_at(total, ("+",))) == 2:
                # Of `a + b` and `a` it divides `b` as well.
                of_total, of_number = f"Nat.gcd_dvd_{side} _ _", f"Nat.gcd_dvd_{other_side} _ _"
                ways = [f"exact {of_total}", f"exact {of_number}"]
                for known in ("right", "left"):
                    ways.append(f"exact (Nat.dvd_add_iff_{known} ({of_number})).mpr ({of_total})")
                yield f"{of_both} <;> first | {' | '.join(ways)}"

    def _multiples(self) -> Iterator[Tokens]:
        """Yield what a number of the goal may be multiplied by: `(n + 1) * (2 * n + 1) = n * (2 * n + 3) + 1`."""
        for numeral in range(1, LARGEST_MULTIPLE + 1):
            yield (str(numeral),)
        for name, type_ in self._types.items():
            if name in self._target and type_ in NUMBERS:
                yield (name,)
                yield ("(", name, "+", "1", ")")

    def coprime_products(self) -> Iterator[str]:
        """Yield the lemma that what is coprime to factors is so to their product, and to the powers of a number."""
        numbers = _coprime_numbers(self._target)
        if numbers is None:
            return
        new, k = self._fresh("h", "k")
        first, second = numbers
        of_products, of_powers = self._known_lemmas()
        base_and_exponent = printed.split_at(second, ("^",))
        is_power = len(base_and_exponent) == 2
        if of_products[0] is None and len(printed.factors(first)) > 1:
            yield f"have {new} : {_COPRIME_PRODUCT_LEFT}"
        if of_products[1] is None and (is_power or len(printed.factors(second)) > 1):
            yield f"have {new} : {_COPRIME_PRODUCT}"
        elif of_products[1] is not None and len(printed.factors(second)) > 1:
            # The facts about the factors may be proofs of their own, such as `gcd (a + b) a = 1`.
            yield f"apply {of_products[1]}"
        if of_powers is None and of_products[1] is not None and is_power:
            by_induction = f"by intro x y {k} h <;> induction {k} <;> simp_all [Nat.pow_succ]"
            yield f"have {new} : ∀ x y {k}, Nat.gcd x y = 1 → Nat.gcd x (y ^ {k}) = 1 := {by_induction}"
        elif of_powers is not None:
            yield from self._by_powers(of_powers, first, base_and_exponent[0])

    def _by_powers(self, lemma: str, first: Tokens, base: Tokens) -> Iterator[str]:
        """Yield what is left of `gcd (a ^ m) (b ^ n) = 1` by the lemma on powers, once for each of them."""
        of_first = printed.split_at(first, ("^",))
        for (left, right), name in self._coprime.items():
            wanted = {printed.stripped(of_first[0]), printed.stripped(base)}
            if {left, right} != wanted:
                continue
            proof = name if printed.stripped(base) == right else f"((Nat.gcd_comm _ _).trans {name})"
            if len(of_first) == 2:
                # Once for the exponent on the right, and once more, with the numbers changed, for that on the left.
                turned = name if printed.stripped(base) == left else f"((Nat.gcd_comm _ _).trans {name})"
                proof = f"((Nat.gcd_comm _ _).trans ({lemma} _ _ _ {turned}))"
            yield f"exact {lemma} _ _ _ {proof}"

    def _known_lemmas(self) -> tuple[list[str | None], str | None]:
        """Return the hypotheses that are the lemmas on products, on the left and on the right, and that on powers."""
        of_products: list[str | None] = [None, None]
        of_powers = None
        for name, type_ in self._types.items():
            fact = printed.read_fact(type_)
            numbers = _coprime_numbers(fact.conclusion) if fact.premises else None
            if numbers is None:
                continue
            for place, number in enumerate(numbers):
                if "*" in number:
                    of_products[place] = name
            if "^" in numbers[1]:
                of_powers = name
        return of_products, of_powers

    def greatest(self) -> Iterator[str]:
        """Yield that a number which divides another is their gcd, where it is to be 1: `a ∣ b ^ n`."""
        sides = printed.sides(self._target, "=")
        for name, divisor, _ in self._divisions:
            if self._coprime and sides == (divisor, ("1",)):
                yield f"refine (Nat.gcd_eq_left {name}).symm.trans ?_ <;> clear {name}"

    def common_factors(self) -> Iterator[str]:
        """Yield what writes `c * a - c * b` as `c * (a - b)`, in a hypothesis or the goal."""
        at_each = [(self._target, "")]
        for name, type_ in self._types.items():
            at_each.append((type_, f" at {name}"))
        for type_, place in at_each:
            division = printed.sides(type_, "∣")
            terms = printed.split_at(division[1], ("-",)) if division is not None else []
            if len(terms) != 2:
                continue
            first, second = printed.factors(terms[0]), printed.factors(terms[1])
            if len(first) == len(second) == 2:
                if first[0] == second[0]:
                    yield f"rw [← Nat.mul_sub]{place}"
                elif first[1] == second[1]:
                    yield f"rw [← Nat.sub_mul]{place}"

    def sums_of_multiples(self) -> Iterator[str]:
        """Yield that a number divides a sum each of whose summands has a factor which it divides, as a gcd does both.

        Of products with the same first factor the rest is compared: `a * b ∣ a * k`.
        """
        sides = printed.sides(self._target, "∣")
        if sides is None:
            return
        divided: dict[Tokens, str] = {sides[0]: f"(Nat.dvd_refl {printed.argument_text(sides[0])})"}
        numbers = application(sides[0][1:]) if sides[0][:1] == ("Nat.gcd",) else []
        if len(numbers) == 2:
            texts = f"{printed.argument_text(numbers[0])} {printed.argument_text(numbers[1])}"
            divided[numbers[1]] = f"(Nat.gcd_dvd_right {texts})"
            divided[numbers[0]] = f"(Nat.gcd_dvd_left {texts})"
        for name, divisor, number in self._divisions:
            if divisor == sides[0]:
                divided[number] = name
        proof = _of_summands(sides[1], divided)
        if proof is not None and sides[1] not in divided:
            yield f"exact {proof}"
        # Lean's core cancels the first factor of a product; the rest is a claim of its own.
        factors = [printed.factors(sides[0]), printed.factors(sides[1])]
        if min(map(len, factors)) == 2 and factors[0][0] == factors[1][0]:
            yield f"refine Nat.mul_dvd_mul_left {printed.argument_text(factors[0][0])} ?_"

    def at_small_divisors(self) -> Iterator[str]:
        """Yield what a prime number is not divided by: of `∀ d, d ∣ p → ..` the cases of 2 and 3."""
        first, second = self._fresh("h", "h")
        for name, type_ in self._types.items():
            fact = printed.read_fact(type_)
            premise = printed.sides(fact.premises[0].type, "∣") if len(fact.premises) == 1 else None
            is_about_divisors = premise is not None and premise[0] in [(variable,) for variable in fact.names]
            if is_about_divisors and len(fact.names) == 1 and "%" in self._target:
                yield f"have {first} := {name} 2 <;> have {second} := {name} 3 <;> omega"

    def proper_divisors(self, propositions: Sequence[Proposition]) -> Iterator[str]:
        """Yield that a number is a prime, as the statement defines it, or has a divisor between 1 and itself.

        That each number has a prime divisor is a strong induction over these two cases.
        """
        case, divides, other, at_least, at_most, d = self._fresh("h", "h", "h", "h", "h", "d")
        for prime in propositions:
            bound, *rest = printed.split_at(prime.body, ("∧",))
            fact = printed.read_fact(rest[0]) if len(rest) == 1 else None
            is_prime = fact is not None and len(fact.premises) == 1 and "∣" in fact.premises[0].type
            if not is_prime or len(prime.variables) != 1 or prime.variables[0] not in bound:
                continue
            for name, type_ in self._types.items():
                if type_[:2] != ("¬", prime.name):
                    continue
                number = printed.stripped(type_[2:])
                if any(type_[1:] == ("∣", *number) for type_ in self._types.values()):
                    continue  # it has been found
                # That it is none says, by the laws of classical logic, that there is a divisor other than 1 and itself.
                larger = printed.text_of(printed.instance(bound, {prime.variables[0]: (d,)}))
                smaller = f"{d} < {printed.argument_text(number)}"
                proof = f"have h := Nat.le_of_dvd (by omega) {divides} <;> "
                proof += f"have h' := Nat.pos_of_dvd_of_pos {divides} (by omega) <;> omega"
                yield " <;> ".join(
                    [
                        f"obtain ⟨{d}, {divides}⟩ := Classical.not_forall.mp (fun {case} => {name} ⟨by omega, {case}⟩)",
                        f"obtain ⟨{divides}, {other}⟩ := Classical.not_imp.mp {divides}",
                        f"obtain ⟨{at_least}, {at_most}⟩ : {larger} ∧ {smaller} := (by {proof})",
                    ]
                )
            body = printed.read_binders(self._target[1:])[1] if self._target[:1] == ("∃",) else ()
            yield from self._divisors_of_divisors(prime.name, body)
            division = printed.sides(printed.split_at(body, ("∧",))[-1], "∣")
            if division is None or prime.name not in body:
                continue
            is_prime_claim = (prime.name, *division[1])
            known = self._types.values()
            if is_prime_claim not in known and ("¬", *is_prime_claim) not in known:
                # A prime is a divisor of itself, which ends the first case.
                whole = printed.argument_text(division[1])
                ends = f"exact ⟨{whole}, {case}, Nat.dvd_refl {whole}⟩"
                yield f"by_cases {case} : {prime.name} {whole} <;> (try {ends})"

    def _divisors_of_divisors(self, prime: str, body: Tokens) -> Iterator[str]:
        """Yield the prime that divides a divisor of a number, where one is looked for that divides the number."""
        wanted = printed.sides(printed.split_at(body, ("∧",))[-1], "∣")
        if wanted is None:
            return
        for is_prime, type_ in self._types.items():
            for first, divisor, number in self._divisions:
                for second, of_number, multiple in self._divisions:
                    if type_ == (prime, *divisor) and of_number == number and multiple == wanted[1]:
                        yield f"exact ⟨_, {is_prime}, Nat.dvd_trans {first} {second}⟩"

    def prime_factors(self) -> Iterator[str]:
        """Yield the induction by which a prime divides a factor of a power, or of what a function multiplies."""
        divides_a_factor = False
        variables: dict[str, None] = {}
        for type_ in self._types.values():
            fact = printed.read_fact(type_)
            if len(fact.premises) == 1 and "∣" in fact.premises[0].type and "∣" in fact.conclusion:
                divides_a_factor = divides_a_factor or "∨" in fact.conclusion
            division = printed.sides(type_, "∣")
            if division is None and self._target[:1] == ("¬",):
                division = printed.sides(self._target[1:], "∣")
            if division is None:
                continue
            # Of `a ^ n` the induction is over `n`; of `f n` there is nothing else.
            for name in printed.split_at(division[1], ("^",))[-1]:
                if self._types.get(name) in NUMBERS:
                    variables[name] = None
        if not divides_a_factor or printed.in_induction(self._types):
            return
        for name in variables:
            yield f"induction {name} <;> grind [Nat.pow_succ, Nat.dvd_one, Nat.le_of_dvd]"

    def divisors_of_one(self) -> Iterator[str]:
        """Yield that what divides two numbers is 1, where a combination of them is."""
        sides = printed.sides(self._target, "=")
        if sides is None or sides[1] != ("1",):
            return
        multiples: dict[str, Tokens] = {}
        for name, divisor, number in self._divisions:
            if divisor == sides[0]:
                multiples[name] = number
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
        for numbers, name in self._coprime.items():
            if divisor in numbers:
                factor = numbers[1 - numbers.index(divisor)]
                coprime[factor] = name
                if numbers[0] == factor:
                    in_order = f"{printed.argument_text(divisor)} {printed.argument_text(factor)}"
                    coprime[factor] = f"Nat.gcd_comm {in_order}, {name}"
        for name, product in self._multiples_of(divisor):
            factors = printed.factors(product)
            for factor, other in printed.both_ways(factors):
                if other == wanted and factor in coprime:
                    rules = f"Nat.gcd_mul_right, Nat.gcd_mul_left, {coprime[factor]}"
                    multiple = f"Nat.dvd_mul_right {printed.argument_text(divisor)} {printed.argument_text(wanted)}"
                    if factors[0] == wanted:
                        multiple = f"Nat.dvd_mul_left {printed.argument_text(divisor)} {printed.argument_text(wanted)}"
                    yield f"simpa [{rules}] using Nat.dvd_gcd ({multiple}) {name}"

    def products_of_coprime(self) -> Iterator[str]:
        """Yield that the product of two coprime numbers divides what both divide: the quotient by one of them."""
        sides = printed.sides(self._target, "∣")
        factors = printed.factors(sides[0]) if sides is not None else []
        if sides is None or len(factors) != 2 or len(sides[1]) != 1:
            return
        first, second = factors
        by_divisor: dict[Tokens, str] = {}
        for name, divisor, number in self._divisions:
            if number == sides[1]:
                by_divisor[divisor] = name
        coprime = self._coprime.get((second, first))
        a, b = printed.argument_text(first), printed.argument_text(second)
        if (first, second) in self._coprime:
            coprime = f"Nat.gcd_comm {b} {a}, {self._coprime[first, second]}"
        if coprime is not None and first in by_divisor and second in by_divisor:
            k = self._fresh("k")[0]
            rules = f"Nat.gcd_mul_right, Nat.gcd_mul_left, {coprime}"
            both = f"Nat.dvd_gcd (Nat.dvd_mul_right {b} {k}) {by_divisor[second]}"
            quotient = f"obtain ⟨{k}, rfl⟩ := {by_divisor[first]}"
            yield f"{quotient} <;> exact Nat.mul_dvd_mul_left {a} (by simpa [{rules}] using {both})"

    def _multiples_of(self, divisor: Tokens) -> Iterator[tuple[str, Tokens]]:
        """Yield proofs that a number divides another: hypotheses, and equations such as `a * x = b * y`."""
        for name, type_ in self._types.items():
            division = printed.sides(type_, "∣")
            if division is not None and division[0] == divisor:
                yield name, division[1]
            for product, multiple in printed.both_ways(printed.sides(type_, "=")):
                factors = printed.factors(multiple)
                if len(factors) == 2 and divisor in factors:
                    quotient = printed.text_of(factors[1 - factors.index(divisor)])
                    claim = f"{printed.argument_text(divisor)} ∣ {printed.text_of(product)}"
                    yield f"(⟨{quotient}, by grind⟩ : {claim})", product

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
            wanted = [printed.stripped(first), printed.stripped(second)]
            if len(division) != 2 or printed.factors(division[1]) != wanted:
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


def _coprime_numbers(type_: Tokens) -> tuple[Tokens, Tokens] | None:
    """Return the numbers of `Nat.gcd a b = 1`; None for what says something else."""
    sides = printed.sides(type_, "=")
    if sides is None or sides[0][:1] != ("Nat.gcd",) or sides[1] != ("1",):
        return None
    numbers = application(sides[0][1:])
    return (numbers[0], numbers[1]) if len(numbers) == 2 else None


def _of_summands(term: Tokens, divided: Mapping[Tokens, str]) -> str | None:
    """Write that a number divides a term, by proofs that it divides some factor of each summand; None where not."""
    term = printed.stripped(term)
    if term in divided:
        return divided[term]
    summands = printed.split_at(term, ("+",))
    if len(summands) > 1:
        proofs = [_of_summands(summand, divided) for summand in summands]
        proof = proofs[0]
        for other in proofs[1:]:
            proof = None if proof is None or other is None else f"(Nat.dvd_add {proof} {other})"
        return proof
    factors = printed.split_at(term, ("*",))
    if len(factors) < 2 or not printed.is_term(term):
        return None
    last = printed.stripped(factors[-1])
    others = printed.stripped(term[: len(term) - len(factors[-1]) - 1])
    for part, rest, side in ((others, last, "right"), (last, others, "left")):
        proof = _of_summands(part, divided)
        if proof is not None:
            return f"(Nat.dvd_mul_{side}_of_dvd {proof} {printed.argument_text(rest)})"
    return None


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
