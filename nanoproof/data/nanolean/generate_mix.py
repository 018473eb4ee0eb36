"""Mixtures: problems of the other families under connectives, packed hypotheses, predicates and quantifiers."""

import itertools
import random
import re
from collections.abc import Callable

from nanoproof.data.nanolean.generate_cancel import cancel_problem, exists_problem
from nanoproof.data.nanolean.generate_equations import equation_problem, identity_problem
from nanoproof.data.nanolean.generate_induction import induction_problem
from nanoproof.data.nanolean.generate_logic import pred_problem, prop_problem
from nanoproof.data.nanolean.generate_order import divides_problem, order_problem
from nanoproof.data.nanolean.generate_terms import Formula, atom, show, subterms
from nanoproof.data.nanolean.problem import Problem, Step, render

Generator = Callable[[random.Random, int], Problem | None]

_PARTS: tuple[tuple[Generator, int], ...] = (
    (identity_problem, 3),
    (equation_problem, 2),
    (order_problem, 4),
    (divides_problem, 3),
    (cancel_problem, 3),
    (exists_problem, 2),
    (induction_problem, 2),
    (prop_problem, 2),
    (pred_problem, 2),
)
_WORD = re.compile(r"(?<![\w.'])[A-Za-z_][\w']*")
_PROPS = ("p", "q", "r", "s")
_NUMBERS = ("a", "b", "c", "d", "e", "n", "m", "k", "l", "x", "y", "z", "w", "u", "v", "i", "j")
_PREDICATES = ("P", "Q", "S", "T", "A", "B", "C", "D")
MAX_STATEMENT = 132


def mixed_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """One or two wraps around a problem of another family."""
    problem = _part(rng, max(1, difficulty - 2))
    for _ in range(1 + (difficulty > 2 and rng.random() < 0.5)):
        if problem is None:
            return None
        problem = rng.choice((_pair, _pair, _side, _packed, _implication, _guarded, _transported, _by_cases))(
            rng, problem, difficulty
        )
    if problem is None or len(problem.statement()) > MAX_STATEMENT:
        return None
    return problem


def _part(rng: random.Random, difficulty: int) -> Problem | None:
    generator = rng.choices([g for g, _ in _PARTS], [w for _, w in _PARTS])[0]
    for _ in range(6):
        problem = generator(rng, rng.randint(1, difficulty))
        if problem is not None and len(problem.statement()) <= 84:
            return problem
    return None


def used_names(problem: Problem) -> set[str]:
    """Every word of the statement and the proof, so that a name outside is fresh."""
    return set(_WORD.findall(problem.statement() + "\n" + render(problem.proof)))


def _fresh(used: set[str], pool: tuple[str, ...]) -> str:
    name = next(n for n in itertools.chain(pool, (f"{pool[0]}{i}" for i in itertools.count(1))) if n not in used)
    used.add(name)
    return name


def _fresh_hypothesis(used: set[str]) -> str:
    return _fresh(used, ("h",))


def _with(problem: Problem, goal: Formula, proof: Step, **changes: tuple) -> Problem:
    variables = changes.get("variables", problem.variables)
    hypotheses = changes.get("hypotheses", problem.hypotheses)
    return Problem("mixed", variables, hypotheses, goal, proof)


def _sorted_variables(variables: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Propositions and functions first, numbers last, as people write them."""
    order = ("Nat → Prop", "Nat → Nat → Prop", "Nat → Nat", "Prop", "Nat")
    return tuple(sorted(variables, key=lambda v: order.index(v[1])))


# ---- wraps


def _pair(rng: random.Random, problem: Problem, difficulty: int) -> Problem | None:
    """A conjunction of two unrelated statements."""
    other = _part(rng, max(1, difficulty - 3))
    if other is None or len(show(problem.goal)) > 40 or len(show(other.goal)) > 40:
        return None
    other = _renamed_apart(other, used_names(problem))
    return _with(
        problem,
        ("∧", problem.goal, other.goal),
        Step("constructor", (problem.proof, other.proof)),
        variables=_sorted_variables((*problem.variables, *other.variables)),
        hypotheses=(*problem.hypotheses, *other.hypotheses),
    )


def _renamed_apart(problem: Problem, used: set[str]) -> Problem:
    """The same problem with names that do not occur in `used`."""
    mine = used_names(problem)
    taken = used | mine
    names: dict[str, str] = {}
    for name, kind in problem.variables:
        if name in used:
            pool = {"Nat": _NUMBERS, "Prop": _PROPS}.get(kind, _PREDICATES if "Prop" in kind else ("f", "g", "s", "t"))
            names[name] = _fresh(taken, pool)
    for name, _ in problem.hypotheses:
        if name in used:
            names[name] = _fresh_hypothesis(taken)
    return _renamed(problem, names)


def _renamed(problem: Problem, names: dict[str, str]) -> Problem:
    def formula(e: tuple) -> tuple:
        if e[0] == "raw":
            return ("raw", _WORD.sub(lambda found: names.get(found.group(), found.group()), e[1]))
        return tuple(formula(a) if isinstance(a, tuple) else names.get(a, a) if isinstance(a, str) else a for a in e)

    def step(s: Step) -> Step:
        tactic = _WORD.sub(lambda found: names.get(found.group(), found.group()), s.tactic)
        return Step(tactic, tuple(step(child) for child in s.children))

    return Problem(
        problem.family,
        tuple((names.get(n, n), kind) for n, kind in problem.variables),
        tuple((names.get(n, n), formula(f)) for n, f in problem.hypotheses),
        formula(problem.goal),
        step(problem.proof),
    )


def _side(rng: random.Random, problem: Problem, difficulty: int) -> Problem | None:
    """A disjunction one side of which holds."""
    del difficulty
    used = used_names(problem)
    p = _fresh(used, _PROPS)
    variables = _sorted_variables((*problem.variables, (p, "Prop")))
    other: Formula = atom(p) if rng.random() < 0.6 else ("not", atom(p))
    if rng.random() < 0.5:
        return _with(problem, ("∨", problem.goal, other), Step("left", (problem.proof,)), variables=variables)
    return _with(problem, ("∨", other, problem.goal), Step("right", (problem.proof,)), variables=variables)


def _packed(rng: random.Random, problem: Problem, difficulty: int) -> Problem | None:
    """Two hypotheses packed into a conjunction."""
    del rng, difficulty
    if len(problem.hypotheses) < 2:
        return None
    used = used_names(problem)
    h = _fresh_hypothesis(used)
    (first, f), (second, g) = problem.hypotheses[:2]
    step = Step(f"cases {h} with | intro {first} {second} => ?_", (problem.proof,))
    return _with(problem, problem.goal, step, hypotheses=((h, ("∧", f, g)), *problem.hypotheses[2:]))


def _implication(rng: random.Random, problem: Problem, difficulty: int) -> Problem | None:
    """The last hypothesis moves into the goal; another one may follow."""
    del difficulty
    if not problem.hypotheses:
        return None
    name, formula = problem.hypotheses[-1]
    goal, step, rest = ("→", formula, problem.goal), Step(f"intro {name}", (problem.proof,)), problem.hypotheses[:-1]
    if rest and rng.random() < 0.4:
        name, formula = rest[-1]
        goal, step, rest = ("→", formula, goal), Step(f"intro {name}", (step,)), rest[:-1]
    return _with(problem, goal, step, hypotheses=rest)


def _guarded(rng: random.Random, problem: Problem, difficulty: int) -> Problem | None:
    """A hypothesis holds only under a condition that is given as well, or the goal is what a condition asks for."""
    del difficulty
    used = used_names(problem)
    p, h = _fresh(used, _PROPS), _fresh_hypothesis(used)
    variables = _sorted_variables((*problem.variables, (p, "Prop")))
    if problem.hypotheses and rng.random() < 0.5:
        name, formula = problem.hypotheses[-1]
        guard = _fresh_hypothesis(used)
        given = (*problem.hypotheses[:-1], (guard, ("→", atom(p), formula)), (h, atom(p)))
        step = Step(f"have {name} : {show(formula)} := {guard} {h}", (problem.proof,))
        return _with(problem, problem.goal, step, variables=variables, hypotheses=given)
    if "induction" in render(problem.proof):
        return None
    given = (*problem.hypotheses, (h, ("→", problem.goal, atom(p))))
    return _with(problem, atom(p), Step(f"apply {h}", (problem.proof,)), variables=variables, hypotheses=given)


def _transported(rng: random.Random, problem: Problem, difficulty: int) -> Problem | None:
    """From a one-step equation `s = t` to `P s → P t`."""
    del rng, difficulty
    s, t = problem.goal[1:] if problem.goal[0] == "=" else (None, None)
    if s is None or t is None or problem.proof.size > 1 or t in set(subterms(s)) or s in set(subterms(t)):
        return None
    used = used_names(problem)
    predicate, h, equation = _fresh(used, _PREDICATES), _fresh_hypothesis(used), _fresh(used, ("e", "he"))
    first = f"have {equation} : {show(problem.goal)} := by {problem.proof.tactic}"
    return _with(
        problem,
        atom(predicate, t),
        Step(first, (Step(f"rw [← {equation}]", (Step(f"exact {h}"),)),)),
        variables=_sorted_variables((*problem.variables, (predicate, "Nat → Prop"))),
        hypotheses=(*problem.hypotheses, (h, atom(predicate, s))),
    )


def _by_cases(rng: random.Random, problem: Problem, difficulty: int) -> Problem | None:
    """A hypothesis holds in either of two forms; the proof is made twice."""
    if not problem.hypotheses or problem.proof.size > 4:
        return None
    used = used_names(problem)
    h = _fresh_hypothesis(used)
    name, formula = problem.hypotheses[-1]
    other: Formula | None = None
    closing: Step | None = None
    if rng.random() < 0.5:
        other, closing = ("false",), Step("contradiction")
    elif formula[0] in ("=", "≤", "<", "∣", "atom"):
        p, q = _fresh(used, _PROPS), _fresh_hypothesis(used)
        extra = _fresh_hypothesis(used)
        other = ("∧", atom(p), ("not", atom(p)))
        closing = Step(f"cases {name} with | intro {q} {extra} => ?_", (Step("contradiction"),))
        problem = _with(
            problem, problem.goal, problem.proof, variables=_sorted_variables((*problem.variables, (p, "Prop")))
        )
    if other is None or closing is None:
        return None
    sides = [(formula, problem.proof), (other, closing)]
    if rng.random() < 0.5:
        sides.reverse()
    step = Step(f"cases {h} with | inl {name} => ?_ | inr {name} => ?_", (sides[0][1], sides[1][1]))
    given = (*problem.hypotheses[:-1], (h, ("∨", sides[0][0], sides[1][0])))
    del difficulty
    return _with(problem, problem.goal, step, hypotheses=given)
