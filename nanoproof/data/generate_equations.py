"""Problems about equations of natural numbers: laws of arithmetic, and rewriting with hypotheses."""

import random

from nanoproof.data.generate_terms import Formula, Term, num, replace, show, subterms, var, variables
from nanoproof.data.problem import Names, Problem, Step, chain, nat_variables
from nanoproof.data.rewriting import LAWS, Rewrite, expression, has_ground_operation, rewrites, shortest_arguments

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
    return _quantified(rng, names, problem)


def _quantified(rng: random.Random, names: Names, problem: Problem) -> Problem:
    """Now and then one variable or hypothesis moves to the right of the colon."""
    if rng.random() > 0.15 or problem.hypotheses or len(problem.variables) < 2:
        return problem
    (name, _) = problem.variables[-1]
    goal = ("all", name, problem.goal)
    return Problem(problem.family, problem.variables[:-1], (), goal, Step(f"intro {name}", (problem.proof,)))


# ---------------------------------------------------------------------------------------------------------------------
# Hypotheses that are equations


def equation_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """Variables defined by hypotheses; the goal holds after rewriting with them and a few laws."""
    names = Names(rng)
    base = [var(names.fresh("nat")) for _ in range(rng.randint(1, 2))]
    count = min(4, rng.randint(1, 1 + (difficulty + 1) // 2))
    hypotheses: list[tuple[str, Formula]] = []
    defined: list[Term] = []
    values: dict[str, Term] = {}
    for _ in range(count):
        x = var(names.fresh("nat"))
        value = expression(rng, [*base, *defined, *base, num(rng.randint(1, 3))], rng.randint(1, 2), "++*")
        hypotheses.append((names.fresh("hyp"), ("=", x, value) if rng.random() < 0.8 else ("=", value, x)))
        defined.append(x)
        values[x[1]] = value
    start = expression(
        rng, [*defined, *base] if rng.random() < 0.5 else defined, rng.randint(1, 2 + difficulty // 3), "+*"
    )
    tactics, end = _unfold(start, values, hypotheses, len(hypotheses))
    extra = rng.randint(max(0, 2 * difficulty - 6), 2 * difficulty - 2)
    used = walk(rng, end, {"add", "mul", "unit"} if rng.random() < 0.6 else {"add", "mul", "ring"}, extra)
    if used is None or not tactics:
        return None
    final = end
    for rewrite in used:
        final = rewrite.apply(final)
    if extra and final == end:
        return None
    more = rewriting_proof(rng, end, final, used) if used else []
    if more is None or start == final or (used and has_ground_operation(final)) or has_ground_operation(start):
        return None
    goal: Formula = ("=", start, final)
    needed = _needed(tactics, hypotheses)
    if len(needed) < len(hypotheses) or len(show(goal)) > 48:
        return None
    order = list(hypotheses)
    rng.shuffle(order)
    mentioned = nat_variables([f for _, f in order] + [goal])
    binders = [v[1] for v in (*base, *defined) if v[1] in mentioned]
    if not mentioned or (variables(final) & values.keys()) or any(f == goal for _, f in hypotheses):
        return None
    renamed = _rename_hypotheses(order)
    proof = chain([_translate(t, renamed) for t in tactics] + more)
    named = tuple((renamed[n], f) for n, f in order)
    return Problem("equation", _nat_binders(sorted(binders)), named, goal, proof)


def _rename_hypotheses(order: list[tuple[str, Formula]]) -> dict[str, str]:
    """Hypotheses are named in the order in which they stand."""
    fresh = [name for name, _ in order]
    fresh.sort(key=lambda name: int(name[1:] or 0))
    return {old: new for (old, _), new in zip(order, fresh, strict=True)}


def _translate(tactic: str, renamed: dict[str, str]) -> str:
    head, _, name = tactic.removesuffix("]").rpartition(" ")
    bare = name.removeprefix("[")
    return f"{head} {'[' if name.startswith('[') else ''}{renamed[bare]}]"


def _needed(tactics: list[str], hypotheses: list[tuple[str, Formula]]) -> set[str]:
    text = " ".join(tactics).replace("[", " ").replace("]", " ").split()
    return {name for name, _ in hypotheses if name in text}


def _unfold(
    start: Term, values: dict[str, Term], hypotheses: list[tuple[str, Formula]], limit: int
) -> tuple[list[str], Term]:
    """Rewrites defined variables away, last defined first; gives the tactics and the term that is left."""
    tactics: list[str] = []
    term = start
    for name, formula in reversed(hypotheses):
        forward = formula[1][0] == "var" and formula[1][1] in values and values[formula[1][1]] == formula[2]
        x = formula[1] if forward else formula[2]
        if x in set(subterms(term)) and len(tactics) < limit + 2:
            tactics.append(f"rw [{'' if forward else '← '}{name}]")
            term = replace(term, x, values[x[1]])
    return tactics, term
