"""Problems about equations of natural numbers: laws of arithmetic, and rewriting with hypotheses."""

import random
from dataclasses import dataclass

from nanoproof.data.nanolean.generate_terms import Formula, Term, num, replace, show, subterms, var, variables
from nanoproof.data.nanolean.problem import Names, Problem, Step, chain, nat_variables
from nanoproof.data.nanolean.rewriting import (
    LAWS,
    Rewrite,
    expression,
    has_ground_operation,
    rewrites,
    shortest_arguments,
)

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
    """The walk as `rw` steps on the goal `left = right`; None unless it closes the goal exactly at the last step.

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
    """An identity: a term and what a random walk by laws of arithmetic makes of it."""
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
        """The equation as it stands in the statement."""
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
