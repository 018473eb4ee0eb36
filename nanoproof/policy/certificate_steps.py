"""Steps about sums, products and remainders whose certificate is computed: what is left to Lean is to multiply out.

That all large numbers are sums of fours and fives follows from one such sum for each remainder, which are not in the
state.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from nanoproof.policy import printed_types as printed
from nanoproof.policy.polynomials import is_numeral
from nanoproof.policy.printed_types import Tokens

LARGEST_COIN = 7
"""By more remainders a case distinction is longer than anybody writes."""


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

    def quotient_with_remainder(self) -> Iterator[str]:
        """Yield quotient and remainder where the goal is that there are such: `∃ q r, n = 3 * q + r ∧ r < 3`."""
        bound, body = printed.read_binders(self._target[1:])
        names = [argument.name for argument in bound]
        if self._target[:1] != ("∃",) or len(names) != 2:
            return
        for part in printed.split_at(body, ("∧",)):
            for number, total in printed.both_ways(printed.split_at(printed.stripped(part), ("=",))):
                for summand in printed.split_at(total, ("+",)):
                    factors = printed.factors(summand)
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
                    factors = printed.factors(summand)
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
            factors = printed.factors(product)
            if len(factors) == 2 and side in factors:
                seen.append(factors[1 - factors.index(side)])
    yield from dict.fromkeys(seen)


def _products(target: Tokens) -> Iterator[Tokens]:
    """Yield the products among the summands of both sides of a relation."""
    for side in printed.split_at(target, printed.RELATIONS, 1):
        for summand in printed.split_at(printed.stripped(side), ("+", "-")):
            if "*" in summand:
                yield summand


def _has(target: Tokens, part: Tokens) -> bool:
    return any(target[place : place + len(part)] == part for place in range(len(target)))


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
