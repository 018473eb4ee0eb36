"""Sums of products of natural numbers, as Lean prints them: multiplied out, divided, and written again."""

from collections import Counter
from math import isqrt

from nanoproof.policy import printed_types as printed
from nanoproof.policy.printed_types import Tokens

MOST_MONOMIALS = 24
LARGEST_EXPONENT = 4

Monomial = tuple[str, ...]
"""The factors of a product, sorted; nothing for 1."""
Polynomial = Counter[Monomial]
"""Coefficients, all positive."""


def polynomial(term: Tokens) -> Polynomial | None:
    """Multiply a term out; None where it has other operations, or too many monomials."""
    term = printed.stripped(term)
    summands = printed.split_at(term, ("+",))
    if len(summands) > 1:
        total: Polynomial = Counter()
        for summand in summands:
            part = polynomial(summand)
            if part is None:
                return None
            total.update(part)
        return total if len(total) <= MOST_MONOMIALS else None
    factors = printed.split_at(term, ("*",))
    if len(factors) > 1:
        return _product([polynomial(factor) for factor in factors])
    base_and_exponent = printed.split_at(term, ("^",))
    if len(base_and_exponent) == 2 and is_numeral(base_and_exponent[1]):
        exponent = int(base_and_exponent[1][0])
        return _product([polynomial(base_and_exponent[0])] * exponent) if exponent <= LARGEST_EXPONENT else None
    if is_numeral(term):
        value = int(term[0])
        return Counter({(): value}) if value else Counter()
    # An application such as `f n` is a variable like any other.
    if term and all(printed.is_name(token) or token in "()" for token in term):
        return Counter({(printed.argument_text(term),): 1})
    return None


def _product(factors: list[Polynomial | None]) -> Polynomial | None:
    result: Polynomial = Counter({(): 1})
    for factor in factors:
        if factor is None or len(result) * len(factor) > MOST_MONOMIALS:
            return None
        expanded: Polynomial = Counter()
        for left, times in result.items():
            for right, more in factor.items():
                expanded[tuple(sorted(left + right))] += times * more
        result = expanded
    return result


def divide(multiple: Polynomial, divisor: Polynomial) -> Polynomial | None:
    """Divide each monomial by the only one of `divisor`; None where one is no multiple of it."""
    (factors, number), *_ = divisor.items()
    result: Polynomial = Counter()
    for monomial, times in multiple.items():
        remaining = Counter(monomial)
        remaining.subtract(factors)
        if times % number or any(count < 0 for count in remaining.values()):
            return None
        result[tuple(sorted(remaining.elements()))] = times // number
    return result


def square_root(square: Polynomial) -> Polynomial | None:
    """Return the monomial whose square this is, as `2 * a * b` of `4 * (a * a) * (b * b)`; None if there is none."""
    if len(square) != 1:
        return None
    (factors, times), *_ = square.items()
    root = isqrt(times)
    halves: list[str] = []
    for factor, count in sorted(Counter(factors).items()):
        halves += [factor] * (count // 2)
    if root * root != times or 2 * len(halves) != len(factors):
        return None
    return Counter({tuple(halves): root})


def written(sum_: Polynomial) -> str:
    """Write a polynomial; the largest products first."""
    monomials = []
    for monomial, times in sorted(sum_.items(), key=lambda item: (-len(item[0]), item[0])):
        coefficient = [str(times)] if times != 1 or not monomial else []
        monomials.append(" * ".join([*coefficient, *monomial]))
    return " + ".join(monomials) or "0"


def is_numeral(term: Tokens) -> bool:
    """Tell whether a term is a numeral small enough to compute with."""
    # Of more digits nothing is computed here; Python refuses to read some thousands of them.
    return len(term) == 1 and term[0].isdecimal() and len(term[0]) < 10
