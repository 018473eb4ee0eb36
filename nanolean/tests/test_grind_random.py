"""`grind` on random problems whose truth is known by brute force: nothing false is proved, and nearly everything true.

Every proof passes the kernel (`proves`). The seeds are fixed, so the figures do not vary.
"""

import itertools
import random
from collections.abc import Callable, Iterator

from nanolean.proof_errors import ProofError
from nanolean.tests.library import sized
from nanolean.tests.proving import proves

ENOUGH = 0.95
Formula = tuple  # ("atom", name) | (connective, part, ...)
Ground = tuple  # (symbol, argument, ...)


def _is_proved(statement: str) -> bool:
    try:
        return proves(statement, "grind")
    except ProofError:
        return False


def _compare(problems: Iterator[tuple[str, bool]], wanted: int) -> float:
    """The share of true statements that is proved, over `wanted` true and as many false ones; asserts soundness."""
    proved = seen_true = seen_false = 0
    while min(seen_true, seen_false) < wanted:
        statement, is_true = next(problems)
        if (seen_true if is_true else seen_false) >= wanted:
            continue
        found = _is_proved(statement)
        assert is_true or not found, f"proved, but false: {statement}"
        proved += found
        seen_true += is_true
        seen_false += not is_true
    return proved / seen_true


# -- propositions ------------------------------------------------------------------------------------------------------

CONNECTIVES: dict[str, Callable[[bool, bool], bool]] = {
    "∧": lambda a, b: a and b,
    "∨": lambda a, b: a or b,
    "→": lambda a, b: b or not a,
    "↔": lambda a, b: a == b,
}


def _formula(rng: random.Random, depth: int, atoms: str) -> Formula:
    if depth == 0 or rng.random() < 0.15:
        return ("atom", rng.choice(atoms))
    connective = rng.choice(["∧", "∨", "→", "→", "↔", "¬"])
    count = 1 if connective == "¬" else 2
    return (connective, *[_formula(rng, depth - 1, atoms) for _ in range(count)])


def _holds(formula: Formula, row: dict[str, bool]) -> bool:
    if formula[0] == "atom":
        return row[formula[1]]
    parts = [_holds(part, row) for part in formula[1:]]
    return not parts[0] if formula[0] == "¬" else CONNECTIVES[formula[0]](*parts)


def _show(formula: Formula) -> str:
    if formula[0] == "atom":
        return formula[1]
    if formula[0] == "¬":
        return f"¬{_show(formula[1])}"
    return f"({_show(formula[1])} {formula[0]} {_show(formula[2])})"


def _propositions(rng: random.Random) -> Iterator[tuple[str, bool]]:
    while True:
        atoms = "pqrs"[: rng.choice([3, 4])]
        formula = _formula(rng, rng.choice([3, 4]), atoms)
        rows = (dict(zip(atoms, row)) for row in itertools.product([False, True], repeat=len(atoms)))
        yield f"(p q r s : Prop) : {_show(formula)}", all(_holds(formula, row) for row in rows)


def test_propositions_against_truth_tables() -> None:
    assert _compare(_propositions(random.Random(7)), sized(100)) >= ENOUGH


# -- equations ---------------------------------------------------------------------------------------------------------


def _term(rng: random.Random, depth: int) -> Ground:
    if depth == 0 or rng.random() < 0.3:
        return (rng.choice("abcd"),)
    symbol, count = rng.choice([("f", 1), ("g", 1), ("k", 2)])
    return (symbol, *[_term(rng, depth - 1) for _ in range(count)])


def _show_term(term: Ground) -> str:
    if len(term) == 1:
        return term[0]
    return f"({term[0]} {' '.join(_show_term(part) for part in term[1:])})"


def _subterms(term: Ground) -> set[Ground]:
    return {term}.union(*[_subterms(part) for part in term[1:]])


def _follows(equations: list[tuple[Ground, Ground]], goal: tuple[Ground, Ground]) -> bool:
    """Naive congruence closure: classes of all subterms, merged until nothing changes."""
    terms = sorted(set().union(*[_subterms(side) for pair in [*equations, goal] for side in pair]))
    root = {term: term for term in terms}

    def merge(a: Ground, b: Ground) -> bool:
        old, new = root[a], root[b]
        for term in terms:
            if root[term] == old:
                root[term] = new
        return old != new

    for a, b in equations:
        merge(a, b)
    changed = True
    while changed:
        changed = False
        for a, b in itertools.combinations(terms, 2):
            same_shape = len(a) == len(b) > 1 and a[0] == b[0]
            if same_shape and all(root[x] == root[y] for x, y in zip(a[1:], b[1:])):
                changed = merge(a, b) or changed
    return root[goal[0]] == root[goal[1]]


def _equations(rng: random.Random, show: Callable[[int, str, str], str], type_: str) -> Iterator[tuple[str, bool]]:
    """Problems whose equations are written by `show(number, left, right)`, as premises named by the number."""
    while True:
        equations = [(_term(rng, 2), _term(rng, 2)) for _ in range(rng.choice([3, 4, 5]))]
        goal = (_term(rng, 2), _term(rng, 2))
        if goal[0] == goal[1]:
            continue
        premises = " ".join(show(i, _show_term(a), _show_term(b)) for i, (a, b) in enumerate(equations))
        header = f"(a b c d : {type_}) (f g : {type_} → {type_}) (k : {type_} → {type_} → {type_})"
        statement = f"{header} {premises} : {_show_term(goal[0])} = {_show_term(goal[1])}"
        yield statement if type_ == "Nat" else f"({type_} : Type) {statement}", _follows(equations, goal)


def test_equations_against_naive_congruence_closure() -> None:
    problems = _equations(random.Random(11), lambda i, a, b: f"(h{i} : {a} = {b})", "α")
    assert _compare(problems, sized(80)) >= ENOUGH


def test_equations_that_arithmetic_gives() -> None:
    rng = random.Random(13)
    ways = (
        "(h{i} : {a} = {b})",
        "(h{i} : {a} + 2 = {b} + 2)",
        "(h{i} : {a} ≤ {b}) (l{i} : {b} ≤ {a})",
        "(h{i} : {a} ≤ {b}) (l{i} : ¬{a} < {b})",
    )

    def show(i: int, a: str, b: str) -> str:
        return rng.choice(ways).format(i=i, a=a, b=b)

    assert _compare(_equations(rng, show, "Nat"), sized(40)) >= ENOUGH


# -- numbers -----------------------------------------------------------------------------------------------------------

SIZE = 4
"""Counterexamples are looked for among numbers below this, with values of `f` below it."""


def _linear(rng: random.Random) -> str:
    atom = rng.choice(["x", "y", "f x", "f y", "f (x + 1)"])
    return rng.choice([atom, f"{atom} + {rng.randrange(3)}", str(rng.randrange(3))])


def _relation(rng: random.Random) -> tuple[str, str, str]:
    return _linear(rng), rng.choice(["≤", "<", "=", "≠"]), _linear(rng)


def _refuted(premises: list[tuple[str, str, str]], goal: tuple[str, str, str]) -> bool:
    """Whether small numbers and a function between them satisfy the premises but not the goal."""
    checks = [compile(_python(*relation), "relation", "eval") for relation in [*premises, goal]]
    for values in itertools.product(range(SIZE), repeat=SIZE + 1):
        for x, y in itertools.product(range(SIZE), repeat=2):
            scope = {"x": x, "y": y, "f": lambda n, values=values: values[min(n, SIZE)]}
            if all(eval(check, scope) for check in checks[:-1]) and not eval(checks[-1], scope):
                return True
    return False


def _python(left: str, relation: str, right: str) -> str:
    sign = {"≤": "<=", "<": "<", "=": "==", "≠": "!="}[relation]
    sides = [
        side.replace("f (", "f((").replace("1)", "1))").replace("f x", "f(x)").replace("f y", "f(y)")
        for side in (left, right)
    ]
    return f"{sides[0]} {sign} {sides[1]}"


def test_nothing_false_about_numbers_and_a_function_is_proved() -> None:
    rng = random.Random(17)
    proved = 0
    for _ in range(sized(300)):
        premises, goal = [_relation(rng) for _ in range(3)], _relation(rng)
        shown = " ".join(f"(h{i} : {' '.join(relation)})" for i, relation in enumerate(premises))
        if _is_proved(f"(x y : Nat) (f : Nat → Nat) {shown} : {' '.join(goal)}"):
            proved += 1
            assert not _refuted(premises, goal), f"proved, but false: {premises} {goal}"
    assert proved > 20
