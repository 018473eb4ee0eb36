"""The generator of true statements: families, levels 1 to 6, distinct up to renaming, the same for the same seed."""

import itertools
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nanolean.data.generate_cancel import cancel_problem, exists_problem
from nanolean.data.generate_equations import equation_problem, identity_problem
from nanolean.data.generate_induction import induction_problem
from nanolean.data.generate_lists import list_problem
from nanolean.data.generate_logic import pred_problem, prop_problem
from nanolean.data.generate_order import divides_problem, order_problem
from nanolean.data.problem import Formula, Problem, Step, atom, render, show, subterms
from nanolean.data.statement_key import statement_key

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
MAX_MIXED = 132


def mixed_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """Make a problem of another family with one or two wraps around it."""
    problem = _part(rng, max(1, difficulty - 2))
    for _ in range(1 + (difficulty > 2 and rng.random() < 0.5)):
        if problem is None:
            return None
        problem = rng.choice((_pair, _pair, _side, _packed, _implication, _guarded, _transported, _by_cases))(
            rng, problem, difficulty
        )
    if problem is None or len(problem.statement()) > MAX_MIXED:
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
    """Collect every word of the statement and the proof, so that any other name is fresh."""
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


LEVELS = (1, 2, 3, 4, 5, 6)
FAMILIES: dict[str, Callable[[random.Random, int], Problem | None]] = {
    "prop": prop_problem,
    "pred": pred_problem,
    "nat_identity": identity_problem,
    "equation": equation_problem,
    "cancel": cancel_problem,
    "order": order_problem,
    "divides": divides_problem,
    "exists": exists_problem,
    "induction": induction_problem,
    "lists": list_problem,
    "mixed": mixed_problem,
}
MAX_STATEMENT = 140
"""Longest statement in characters; the model reads a few hundred tokens."""
PATIENCE = 400
"""Tries in a row without a new problem after which a family is taken to have given what it has."""


@dataclass(frozen=True)
class Named:
    """A problem with its place: id `<family>_l<level>_<number>` and its key."""

    id: str
    problem: Problem
    key: str

    @property
    def level(self) -> int:
        """1 (easiest) to 6."""
        return self.problem.level

    def source(self) -> str:
        """Return the theorem with `sorry`."""
        return self.problem.source(self.id)


def family_problems(
    family: str,
    seed: int,
    per_level: dict[int, int],
    excluded: frozenset[str],
    is_trivial: Callable[[str], bool] | None = None,
    patience: int = PATIENCE,
) -> list[Named]:
    """Distinct problems of one family, at most `per_level[level]` of each level, none with a key in `excluded`.

    Those whose source `is_trivial` are left out. Deterministic in its arguments. A family gives fewer once `patience`
    tries in a row have brought nothing new.
    """
    return list(_collect(family, f"{seed}", per_level, excluded, is_trivial, patience))


def shown_problems(family: str, seed: int, per_level: dict[int, int], excluded: frozenset[str]) -> Iterator[Named]:
    """Problems whose proofs are shown: as `family_problems`, but one statement may come under several names.

    The first thing to learn is to use whatever names the goal has, and it takes many examples. They come one by one, so
    that a statement that was read for its key can be proved before the next one is read.
    """
    return _collect(family, f"{seed}/shown", per_level, excluded, None, PATIENCE, renamed=True)


def _collect(
    family: str,
    seed: str,
    per_level: dict[int, int],
    excluded: frozenset[str],
    is_trivial: Callable[[str], bool] | None,
    patience: int,
    renamed: bool = False,
) -> Iterator[Named]:
    remaining = Counter(per_level)
    tried: set[str] = set()
    seen: set[str] = set()
    kind = "s" if renamed else ""
    failures = 0
    for problem in _candidates(family, seed, remaining):
        if failures > patience or not +remaining:
            break
        failures += 1
        if problem is None or remaining[problem.level] <= 0 or len(problem.statement()) > MAX_STATEMENT:
            continue
        if problem.statement() in tried:
            continue
        tried.add(problem.statement())
        number = per_level[problem.level] - remaining[problem.level] + 1
        name = f"{family}_l{problem.level}_{kind}{number:04d}"
        # Under the name that it may get: the same text is then read once, for its key and for its proof.
        source = problem.source(name)
        key = statement_key(source)
        if key in excluded or (key in seen and not renamed):
            continue
        seen.add(key)
        if is_trivial is not None and is_trivial(source):
            continue
        remaining[problem.level] -= 1
        failures = 0
        yield Named(name, problem, key)


def _candidates(family: str, seed: str, remaining: Counter[int]) -> Iterator[Problem | None]:
    """Problems of levels that still lack some; one random generator per try, so that each can be repeated."""
    generator = FAMILIES[family]
    attempt = 0
    while True:
        open_levels = [level for level in LEVELS if remaining[level] > 0] or list(LEVELS)
        difficulty = open_levels[attempt % len(open_levels)]
        rng = random.Random(f"{family}/{seed}/{attempt}")
        yield generator(rng, min(6, difficulty + rng.choice((0, 0, 0, 1))))
        attempt += 1
