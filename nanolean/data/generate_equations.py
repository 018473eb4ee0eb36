"""Equations as `rw` uses them: laws of arithmetic with explicit arguments, applied to all instances in a goal."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from nanolean.data.problem import (
    NUMBER_OPS,
    Formula,
    Names,
    Problem,
    Step,
    Term,
    arg,
    chain,
    match,
    nat_variables,
    num,
    replace,
    show,
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
        """Rewrite all instances at once, as `rw` does."""
        return replace(term, self.old, self.new)

    def tactic(self, num_arguments: int | None = None) -> str:
        """`rw [← Nat.add_comm a b]`, with all or with the first few arguments."""
        given = self.arguments if num_arguments is None else self.arguments[:num_arguments]
        return f"rw [{'← ' if self.backward else ''}{' '.join([self.law, *(arg(a) for a in given)])}]"


def rewrites(term: Term, groups: set[str], backward: bool = True) -> Iterator[Rewrite]:
    """Yield every way to use a law of the groups at some position in the term."""
    for place in subterms(term):
        for law, old, new, reverse in _BY_HEAD.get(place[0], ()):
            if law.group not in groups or (reverse and not backward):
                continue
            rewrite = _instance(law, old, new, reverse, place)
            if rewrite is not None:
                yield rewrite


def instances(term: Term, law: Law, backward: bool) -> Iterator[Rewrite]:
    """Yield every way to use one law in one direction at some position in the term."""
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
    """Return what `rw` with only the first few arguments would rewrite: the outermost, leftmost match."""
    pattern = law.right if rewrite.backward else law.left
    holes = _HOLES - set(law.parameters[:num_arguments])
    for name, value in zip(law.parameters[:num_arguments], rewrite.arguments, strict=False):
        pattern = substitute(pattern, name, value)
    return next((t for t in subterms(term) if match(pattern, t, holes, {}) is not None), None)


def least_arguments(term: Term, rewrite: Rewrite, law: Law) -> int | None:
    """Return the fewest leading arguments that make `rw` hit the wanted position, None if not even all of them do."""
    for count in range(len(rewrite.arguments) + 1):
        if first_instance(term, rewrite, law, count) == rewrite.old:
            return count
    return None


def shortest_arguments(term: Term, rewrite: Rewrite) -> int:
    """Return the fewest leading arguments of a law of arithmetic that make `rw` hit the wanted position."""
    law = next(law for law in LAWS if law.name == rewrite.law)
    count = least_arguments(term, rewrite, law)
    return len(rewrite.arguments) if count is None else count


def expression(rng: random.Random, leaves: list[Term], size: int, ops: str) -> Term:
    """Draw a random term with `size` leaves."""
    if size <= 1:
        return rng.choice(leaves)
    left = rng.randint(1, size - 1)
    op = rng.choice(ops)
    if op == "^":
        return ("^", expression(rng, leaves, max(1, size - 1), ops.replace("^", "") or "*"), num(2))
    return (op, expression(rng, leaves, left, ops), expression(rng, leaves, size - left, ops))


def has_ground_operation(term: Term) -> bool:
    """Return whether an operation combines numerals only; such positions compute, so they are left out of problems."""
    return any(t[0] in NUMBER_OPS and not variables(t) for t in subterms(term))


MAX_TERM_CHARACTERS = 34

# What a problem is about: the groups of laws, the operations, how often.
_FLAVOURS: tuple[tuple[set[str], str, int], ...] = (
    ({"add"}, "+", 5),
    ({"mul"}, "*", 4),
    ({"add", "mul"}, "+*", 3),
    ({"ring", "add"}, "+*", 4),
    ({"ring", "mul"}, "+*", 3),
    ({"unit"}, "+*", 2),
    ({"unit", "add", "mul"}, "+*", 2),
    ({"pow", "mul"}, "*^", 2),
    ({"sub", "add", "unit"}, "+", 2),
)

# Laws that a person uses first: they bring a term nearer to a normal form.
EXPANDING = {law.name for law in LAWS if law.group in ("ring", "unit", "pow", "sub")}


def _nat_binders(names: list[str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, "Nat") for name in names)


def _seed_term(rng: random.Random, leaves: list[Term], size: int, ops: str, groups: set[str]) -> Term:
    """A term in which the laws of the groups find something to do."""
    term = expression(rng, leaves, size, ops)
    if "unit" in groups:
        for _ in range(rng.randint(1, 2)):
            place = rng.choice(list(subterms(term)))
            units: list[Term] = [("+", place, num(0)), ("+", num(0), place), ("*", place, num(1)), ("*", num(1), place)]
            units += [*units, ("^", place, num(1)), ("+", place, ("*", num(0), rng.choice(leaves)))]
            term = replace(term, place, rng.choice(units))
    if "ring" in groups:
        factor = rng.choice([*leaves, *leaves, num(2), ("+", rng.choice(leaves), num(1))])
        summed = ("+", rng.choice(leaves), rng.choice([*leaves, num(1)]))
        product = ("*", factor, summed) if rng.random() < 0.5 else ("*", summed, factor)
        term = product if size < 3 or rng.random() < 0.4 else ("+", product, rng.choice(leaves))
    if "pow" in groups:
        base = expression(rng, leaves, min(2, size), "*")
        term = ("^", base, rng.choice([num(2), *leaves, ("+", rng.choice(leaves), num(rng.randint(1, 2)))]))
        if rng.random() < 0.5:
            term = ("*", term, rng.choice(leaves))
    if "sub" in groups:
        a, b = rng.choice(leaves), expression(rng, leaves, rng.randint(1, 2), "+")
        total = ("+", a, b)
        term = rng.choice([("-", total, b), ("-", total, a), ("+", ("-", b, b), a), ("-", ("+", b, num(0)), b)])
        if rng.random() < 0.6:
            term = rng.choice([("+", term, rng.choice(leaves)), ("+", rng.choice(leaves), term)])
    return term


def walk(rng: random.Random, start: Term, groups: set[str], length: int) -> list[Rewrite] | None:
    """Random rewriting without coming back to a term; None when it gets stuck or too long."""
    term, seen, used = start, {start}, []
    for _ in range(length):
        options = [r for r in rewrites(term, groups, backward=rng.random() < 0.35) if r.apply(term) not in seen]
        options = [r for r in options if len(show(r.apply(term))) <= MAX_TERM_CHARACTERS]
        if not options:
            return None
        expanding = [r for r in options if r.law in EXPANDING and not r.backward]
        chosen = rng.choice(expanding if expanding and rng.random() < 0.7 else options)
        term = chosen.apply(term)
        seen.add(term)
        used.append(chosen)
    return used


def rewriting_proof(rng: random.Random, left: Term, right: Term, used: list[Rewrite]) -> list[str] | None:
    """Write the walk as `rw` steps on the goal `left = right`; None unless only the last step closes the goal.

    `rw` changes both sides, so the walk is replayed on the whole equation.
    """
    goal: Formula = ("=", left, right)
    tactics = []
    short = rng.random() < 0.5
    for rewrite in used:
        if goal[1] == goal[2] or rewrite.apply(goal) == goal:
            return None
        tactics.append(rewrite.tactic(shortest_arguments(goal, rewrite) if short else None))
        goal = rewrite.apply(goal)
    return tactics if goal[1] == goal[2] else None


def identity_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """Make an identity: a term and what a random walk by laws of arithmetic makes of it."""
    names = Names(rng)
    groups, ops, _ = rng.choices(_FLAVOURS, [weight for _, _, weight in _FLAVOURS])[0]
    leaves = [var(names.fresh("nat")) for _ in range(rng.randint(1 + (difficulty > 1), 3 + (difficulty > 3)))]
    if rng.random() < 0.2:
        leaves.append(num(rng.randint(1, 3)))
    size = rng.randint(2, 3 + difficulty // 2)
    start = _seed_term(rng, leaves, size, ops, groups)
    length = max(1, rng.randint(2 * difficulty - 1, 2 * difficulty + (difficulty > 3)))
    used = walk(rng, start, groups, length)
    if used is None or not variables(start) or has_ground_operation(start):
        return None
    end = start
    for rewrite in used:
        end = rewrite.apply(end)
    if has_ground_operation(end) or any(r.law in EXPANDING for r in rewrites(end, {"unit", "sub"}, backward=False)):
        return None
    left, right = (start, end) if rng.random() < 0.8 else (end, start)
    tactics = rewriting_proof(rng, left, right, used)
    if tactics is None:
        return None
    goal: Formula = ("=", left, right)
    binders = [v[1] for v in leaves if v[0] == "var" and v[1] in variables(goal)]
    problem = Problem("nat_identity", _nat_binders(binders), (), goal, chain(tactics))
    return _quantified(rng, problem)


def _quantified(rng: random.Random, problem: Problem) -> Problem:
    """Now and then the last variable is bound to the right of the colon."""
    if rng.random() > 0.15 or len(problem.variables) < 2:
        return problem
    (name, _) = problem.variables[-1]
    proof = Step(f"intro {name}", (problem.proof,))
    return Problem(problem.family, problem.variables[:-1], (), ("all", name, problem.goal), proof)


# ---------------------------------------------------------------------------------------------------------------------
# Hypotheses that are equations


@dataclass(frozen=True)
class Definition:
    """A hypothesis that says what a variable is: `x = value`, or turned round."""

    x: Term
    value: Term
    turned: bool

    def formula(self) -> Formula:
        """Return the equation as it stands in the statement."""
        return ("=", self.value, self.x) if self.turned else ("=", self.x, self.value)


def equation_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """Variables defined by hypotheses; the goal holds after rewriting with them and a few laws."""
    names = Names(rng)
    base = [var(names.fresh("nat")) for _ in range(rng.randint(1, 2))]
    definitions = _definitions(rng, names, base, min(4, rng.randint(1, 1 + (difficulty + 1) // 2)))
    defined = [definition.x for definition in definitions]
    leaves = [*defined, *base] if rng.random() < 0.5 else defined
    start = expression(rng, leaves, rng.randint(1, 2 + difficulty // 3), "+*")
    order, end = _unfold(start, definitions)
    if len(order) < len(definitions) or has_ground_operation(start):
        return None
    groups = {"add", "mul", "unit"} if rng.random() < 0.6 else {"add", "mul", "ring"}
    used = walk(rng, end, groups, rng.randint(max(0, 2 * difficulty - 6), 2 * difficulty - 2))
    if used is None:
        return None
    final = end
    for rewrite in used:
        final = rewrite.apply(final)
    laws = rewriting_proof(rng, end, final, used) if used else []
    goal: Formula = ("=", start, final)
    if laws is None or (used and has_ground_operation(final)) or len(show(goal)) > 48:
        return None
    if goal in [definition.formula() for definition in definitions]:
        return None
    return _equation(rng, names, goal, order, laws)


def _definitions(rng: random.Random, names: Names, base: list[Term], count: int) -> list[Definition]:
    definitions: list[Definition] = []
    for _ in range(count):
        x = var(names.fresh("nat"))
        leaves = [*base, *base, *(definition.x for definition in definitions), num(rng.randint(1, 3))]
        value = expression(rng, leaves, rng.randint(1, 2), "++*")
        definitions.append(Definition(x, value, turned=rng.random() < 0.2))
    return definitions


def _unfold(start: Term, definitions: list[Definition]) -> tuple[list[Definition], Term]:
    """Rewrites defined variables away, last defined first; gives what was used and the term that is left."""
    used: list[Definition] = []
    term = start
    for definition in reversed(definitions):
        if definition.x in set(subterms(term)):
            used.append(definition)
            term = replace(term, definition.x, definition.value)
    return used, term


def _equation(
    rng: random.Random, names: Names, goal: Formula, order: list[Definition], laws: list[str]
) -> Problem | None:
    """The problem whose proof unfolds the definitions in this order; its hypotheses are shuffled, then named."""
    shuffled = rng.sample(order, len(order))
    named = {definition.x: names.fresh("hyp") for definition in shuffled}
    unfolding = [f"rw [{'← ' if definition.turned else ''}{named[definition.x]}]" for definition in order]
    hypotheses = tuple((named[definition.x], definition.formula()) for definition in shuffled)
    mentioned = nat_variables([*(formula for _, formula in hypotheses), goal])
    return Problem("equation", _nat_binders(sorted(mentioned)), hypotheses, goal, chain([*unfolding, *laws]))
