"""The generator of true statements: families, levels 1 to 6, distinct up to renaming, the same for the same seed."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nanoproof.data.nanolean.generate_cancel import cancel_problem, exists_problem
from nanoproof.data.nanolean.generate_equations import equation_problem, identity_problem
from nanoproof.data.nanolean.generate_induction import induction_problem
from nanoproof.data.nanolean.generate_lists import list_problem
from nanoproof.data.nanolean.generate_logic import pred_problem, prop_problem
from nanoproof.data.nanolean.generate_mix import mixed_problem
from nanoproof.data.nanolean.generate_order import divides_problem, order_problem
from nanoproof.data.nanolean.problem import Problem
from nanoproof.data.nanolean.statement_key import statement_key

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
        """The theorem with `sorry`."""
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
    return _collect(family, f"{seed}", per_level, excluded, is_trivial, patience)


def shown_problems(family: str, seed: int, per_level: dict[int, int], excluded: frozenset[str]) -> list[Named]:
    """Problems whose proofs are shown: as `family_problems`, but one statement may come under several names.

    To use whatever names are there is the first thing to be learned, and it takes many examples.
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
) -> list[Named]:
    room = Counter(per_level)
    tried: set[str] = set()
    seen: set[str] = set()
    found: list[Named] = []
    failures = 0
    for problem in _candidates(family, seed, room):
        if failures > patience or not +room:
            break
        failures += 1
        if problem is None or room[problem.level] <= 0 or len(problem.statement()) > MAX_STATEMENT:
            continue
        if problem.statement() in tried:
            continue
        tried.add(problem.statement())
        key = statement_key(problem.source("t"))
        if key in excluded or (key in seen and not renamed):
            continue
        seen.add(key)
        if is_trivial is not None and is_trivial(problem.source("t")):
            continue
        room[problem.level] -= 1
        number = per_level[problem.level] - room[problem.level]
        kind = "s" if renamed else ""
        found.append(Named(f"{family}_l{problem.level}_{kind}{number:04d}", problem, key))
        failures = 0
    return found


def _candidates(family: str, seed: str, room: Counter[int]) -> Iterator[Problem | None]:
    """Tries with difficulties of levels that still have room; one generator per try, so that each can be repeated."""
    generator = FAMILIES[family]
    attempt = 0
    while True:
        open_levels = [level for level in LEVELS if room[level] > 0] or list(LEVELS)
        difficulty = open_levels[attempt % len(open_levels)]
        rng = random.Random(f"{family}/{seed}/{attempt}")
        yield generator(rng, min(6, difficulty + rng.choice((0, 0, 0, 1))))
        attempt += 1
