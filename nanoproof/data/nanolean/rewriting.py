"""Equations as `rw` uses them: laws of arithmetic with explicit arguments, applied to all instances in a goal."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from nanoproof.data.nanolean.generate_terms import (
    NUMBER_OPS,
    Term,
    arg,
    match,
    num,
    replace,
    substitute,
    subterms,
    var,
    variables,
)

_A, _B, _C = var("?a"), var("?b"), var("?c")


@dataclass(frozen=True)
class Law:
    """A library lemma `name args : left = right`; `group` says what kind of problem it belongs to."""

    name: str
    parameters: tuple[str, ...]
    left: Term
    right: Term
    group: str


LAWS: tuple[Law, ...] = (
    Law("Nat.add_comm", ("?a", "?b"), ("+", _A, _B), ("+", _B, _A), "add"),
    Law("Nat.add_assoc", ("?a", "?b", "?c"), ("+", ("+", _A, _B), _C), ("+", _A, ("+", _B, _C)), "add"),
    Law("Nat.add_left_comm", ("?a", "?b", "?c"), ("+", _A, ("+", _B, _C)), ("+", _B, ("+", _A, _C)), "add"),
    Law("Nat.add_right_comm", ("?a", "?b", "?c"), ("+", ("+", _A, _B), _C), ("+", ("+", _A, _C), _B), "add"),
    Law("Nat.mul_comm", ("?a", "?b"), ("*", _A, _B), ("*", _B, _A), "mul"),
    Law("Nat.mul_assoc", ("?a", "?b", "?c"), ("*", ("*", _A, _B), _C), ("*", _A, ("*", _B, _C)), "mul"),
    Law("Nat.mul_left_comm", ("?a", "?b", "?c"), ("*", _A, ("*", _B, _C)), ("*", _B, ("*", _A, _C)), "mul"),
    Law("Nat.mul_right_comm", ("?a", "?b", "?c"), ("*", ("*", _A, _B), _C), ("*", ("*", _A, _C), _B), "mul"),
    Law("Nat.mul_add", ("?a", "?b", "?c"), ("*", _A, ("+", _B, _C)), ("+", ("*", _A, _B), ("*", _A, _C)), "ring"),
    Law("Nat.add_mul", ("?a", "?b", "?c"), ("*", ("+", _A, _B), _C), ("+", ("*", _A, _C), ("*", _B, _C)), "ring"),
    Law("Nat.two_mul", ("?a",), ("*", num(2), _A), ("+", _A, _A), "ring"),
    Law("Nat.mul_two", ("?a",), ("*", _A, num(2)), ("+", _A, _A), "ring"),
    Law("Nat.pow_two", ("?a",), ("^", _A, num(2)), ("*", _A, _A), "pow"),
    Law("Nat.mul_pow", ("?a", "?b", "?c"), ("^", ("*", _A, _B), _C), ("*", ("^", _A, _C), ("^", _B, _C)), "pow"),
    Law("Nat.pow_add", ("?a", "?b", "?c"), ("^", _A, ("+", _B, _C)), ("*", ("^", _A, _B), ("^", _A, _C)), "pow"),
    Law("Nat.pow_mul", ("?a", "?b", "?c"), ("^", _A, ("*", _B, _C)), ("^", ("^", _A, _B), _C), "pow"),
    Law("Nat.add_zero", ("?a",), ("+", _A, num(0)), _A, "unit"),
    Law("Nat.zero_add", ("?a",), ("+", num(0), _A), _A, "unit"),
    Law("Nat.mul_one", ("?a",), ("*", _A, num(1)), _A, "unit"),
    Law("Nat.one_mul", ("?a",), ("*", num(1), _A), _A, "unit"),
    Law("Nat.mul_zero", ("?a",), ("*", _A, num(0)), num(0), "unit"),
    Law("Nat.zero_mul", ("?a",), ("*", num(0), _A), num(0), "unit"),
    Law("Nat.pow_zero", ("?a",), ("^", _A, num(0)), num(1), "unit"),
    Law("Nat.pow_one", ("?a",), ("^", _A, num(1)), _A, "unit"),
    Law("Nat.one_pow", ("?a",), ("^", num(1), _A), num(1), "unit"),
    Law("Nat.add_sub_cancel", ("?a", "?b"), ("-", ("+", _A, _B), _B), _A, "sub"),
    Law("Nat.add_sub_cancel_left", ("?a", "?b"), ("-", ("+", _A, _B), _A), _B, "sub"),
    Law("Nat.sub_self", ("?a",), ("-", _A, _A), num(0), "sub"),
    Law("Nat.sub_zero", ("?a",), ("-", _A, num(0)), _A, "sub"),
)


# Laws that people also use from right to left; turning a commutation round says nothing new.
REVERSIBLE = {
    f"Nat.{name}" for name in ("add_assoc", "mul_assoc", "mul_add", "add_mul", "two_mul", "pow_add", "mul_pow")
}

_HOLES = {"?a", "?b", "?c", "?f"}
# The two directions of every law by the operation at the top of the side that is looked for.
_BY_HEAD: dict[str, list[tuple[Law, Term, Term, bool]]] = {}
for _law in LAWS:
    _BY_HEAD.setdefault(_law.left[0], []).append((_law, _law.left, _law.right, False))
    if _law.name in REVERSIBLE:
        _BY_HEAD.setdefault(_law.right[0], []).append((_law, _law.right, _law.left, True))


@dataclass(frozen=True)
class Rewrite:
    """One use of an equation on a term: what it was called with, and from what to what it rewrites."""

    law: str
    backward: bool
    arguments: tuple[Term, ...]
    old: Term
    new: Term

    def apply(self, term: Term) -> Term:
        """All instances at once, as `rw` does."""
        return replace(term, self.old, self.new)

    def tactic(self, num_arguments: int | None = None) -> str:
        """`rw [← Nat.add_comm a b]`, with all or with the first few arguments."""
        given = self.arguments if num_arguments is None else self.arguments[:num_arguments]
        return f"rw [{'← ' if self.backward else ''}{' '.join([self.law, *(arg(a) for a in given)])}]"


def rewrites(term: Term, groups: set[str], backward: bool = True) -> Iterator[Rewrite]:
    """Every way to use a law of the groups at some place in the term."""
    for place in subterms(term):
        for law, old, new, reverse in _BY_HEAD.get(place[0], ()):
            if law.group not in groups or (reverse and not backward):
                continue
            rewrite = _instance(law, old, new, reverse, place)
            if rewrite is not None:
                yield rewrite


def instances(term: Term, law: Law, backward: bool) -> Iterator[Rewrite]:
    """Every way to use one law in one direction at some place in the term."""
    old, new = (law.right, law.left) if backward else (law.left, law.right)
    for place in subterms(term):
        rewrite = _instance(law, old, new, backward, place)
        if rewrite is not None:
            yield rewrite


def _instance(law: Law, old: Term, new: Term, backward: bool, place: Term) -> Rewrite | None:
    found = match(old, place, _HOLES, {})
    if found is None or len(found) < len(law.parameters):
        return None
    result = _fill(new, found)
    return (
        None if result == place else Rewrite(law.name, backward, tuple(found[p] for p in law.parameters), place, result)
    )


def _fill(pattern: Term, found: dict[str, Term]) -> Term:
    if pattern[0] == "var":
        return found.get(pattern[1], pattern)
    if pattern[0] == "num":
        return pattern
    start = 2 if pattern[0] == "fn" else 1
    return (*pattern[:start], *(_fill(part, found) for part in pattern[start:]))


def first_instance(term: Term, rewrite: Rewrite, law: Law, num_arguments: int) -> Term | None:
    """What `rw` with only the first few arguments would rewrite: the outermost, leftmost place that fits."""
    pattern = law.right if rewrite.backward else law.left
    holes = _HOLES - set(law.parameters[:num_arguments])
    for name, value in zip(law.parameters[:num_arguments], rewrite.arguments, strict=False):
        pattern = substitute(pattern, name, value)
    return next((t for t in subterms(term) if match(pattern, t, holes, {}) is not None), None)


def least_arguments(term: Term, rewrite: Rewrite, law: Law) -> int | None:
    """The fewest leading arguments that make `rw` hit the wanted place, None where even all of them do not."""
    for count in range(len(rewrite.arguments) + 1):
        if first_instance(term, rewrite, law, count) == rewrite.old:
            return count
    return None


def shortest_arguments(term: Term, rewrite: Rewrite) -> int:
    """The fewest leading arguments of a law of arithmetic that make `rw` hit the wanted place."""
    law = next(law for law in LAWS if law.name == rewrite.law)
    count = least_arguments(term, rewrite, law)
    return len(rewrite.arguments) if count is None else count


def expression(rng: random.Random, leaves: list[Term], size: int, ops: str) -> Term:
    """A random term with `size` leaves."""
    if size <= 1:
        return rng.choice(leaves)
    left = rng.randint(1, size - 1)
    op = rng.choice(ops)
    if op == "^":
        return ("^", expression(rng, leaves, max(1, size - 1), ops.replace("^", "") or "*"), num(2))
    return (op, expression(rng, leaves, left, ops), expression(rng, leaves, size - left, ops))


def has_ground_operation(term: Term) -> bool:
    """Whether numerals alone are combined somewhere; such places compute, so they are left out of problems."""
    return any(t[0] in NUMBER_OPS and not variables(t) for t in subterms(term))
