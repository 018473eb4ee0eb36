"""Problems of propositional and predicate logic, true intuitionistically; the proofs come from `logic_search`."""

import random

from nanolean.data.logic_search import LogicSearch, holds, scope
from nanolean.data.problem import FALSE, Formula, Names, Problem, atom, show, substitute, var

MAX_BUDGET = 14
MAX_CHARACTERS = 96


def _formula(rng: random.Random, atoms: list[Formula], depth: int) -> Formula:
    """A random formula over the atoms, at most `depth` connectives deep."""
    if depth == 0 or rng.random() < 0.3:
        return ("not", rng.choice(atoms)) if rng.random() < 0.15 else rng.choice(atoms)
    op = rng.choices(("∧", "∨", "→", "↔", "not"), (30, 26, 28, 6, 10))[0]
    if op == "not":
        return ("not", _formula(rng, atoms, depth - 1))
    left, right = _formula(rng, atoms, depth - 1), _formula(rng, atoms, depth - 1)
    return (op, left, right) if left != right else left


def prop_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """Make a random provable sequent in which every hypothesis is needed."""
    names = Names(rng)
    atoms = [atom(names.fresh("prop")) for _ in range(rng.randint(2, 3 + (difficulty > 3)))]
    depth = 1 if difficulty == 1 else 2 if difficulty < 5 else 3
    hypotheses = [_formula(rng, atoms, rng.randint(1, depth)) for _ in range(rng.randint(0, 3))]
    goal = _formula(rng, atoms, rng.randint(0 if hypotheses else 1, depth))
    if len(set(hypotheses)) < len(hypotheses) or not holds(hypotheses, goal):
        return None
    if any(holds(hypotheses[:k] + hypotheses[k + 1 :], goal) for k in range(len(hypotheses))):
        return None
    return _solve("prop", names, rng, [(a[1], "Prop") for a in atoms], hypotheses, goal, propositional=True)


def _solve(
    family: str,
    names: Names,
    rng: random.Random,
    variables: list[tuple[str, str]],
    hypotheses: list[Formula],
    goal: Formula,
    propositional: bool,
) -> Problem | None:
    """Looks for the proof; unused variables are dropped from the statement."""
    context = tuple((names.fresh("hyp"), formula) for formula in hypotheses)
    mentioned = _mentioned([*hypotheses, goal])
    kept = tuple(v for v in variables if v[0] in mentioned)
    terms = scope([name for name, kind in kept if kind == "Nat"])
    search = LogicSearch(names, rng, propositional, plain=rng.random() < 0.6)
    step = search.prove(context, goal, terms, MAX_BUDGET)
    if step is None:
        return None
    problem = Problem(family, kept, context, goal, step)
    return problem if len(problem.statement()) <= MAX_CHARACTERS + 24 else None


def _mentioned(formulas: list[Formula]) -> set[str]:
    text = " ".join(show(f) for f in formulas)
    return set(text.replace("(", " ").replace(")", " ").replace("¬", " ").replace(",", " ").split())


# ---------------------------------------------------------------------------------------------------------------------
# Predicate logic


def pred_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """Make a problem: a schema with its letters filled in, or a derivation from rules and facts about predicates."""
    return _schema_problem(rng, difficulty) if rng.random() < 0.6 else _rules_problem(rng, difficulty)


# Hypotheses and conclusion; A, B, C stand for formulas about x, E for one about x and y, p for a closed proposition.
_SCHEMAS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("∀A→B", "∀A"), "∀B"),
    (("∀A→B", "∃A"), "∃B"),
    (("∀A→B", "∀B→C"), "∀A→C"),
    (("∃A∧B",), "∃A"),
    (("∃A∧B",), "∃B∧A"),
    (("∀A∧B",), "∀B"),
    (("∀A∧B",), "∀B∧A"),
    (("∀A", "∀B"), "∀A∧B"),
    (("∃A",), "∃A∨B"),
    (("∃A∨B", "∀A→B"), "∃B"),
    (("∃A∨B",), "∃B∨A"),
    (("∀A→B", "∃A∧C"), "∃B∧C"),
    (("∃A", "∀B"), "∃A∧B"),
    (("∀¬A",), "¬∃A"),
    (("¬∃A",), "∀¬A"),
    (("∃¬A",), "¬∀A"),
    (("∀A→B", "∃¬B"), "∃¬A"),
    (("∀A→B", "¬∃B"), "¬∃A"),
    (("∀A→p", "∃A"), "p"),
    (("∃A→p", "∀A"), "p"),
    (("∀p→A", "p"), "∀A"),
    (("∀A∨B", "∀A→C", "∀B→C"), "∀C"),
    (("∀A→B∧C", "∃A"), "∃C"),
    (("∀A→B", "∀A→C", "∃A"), "∃B∧C"),
    (("∀A↔B", "∃A"), "∃B"),
    (("∀A↔B", "∀B"), "∀A"),
    (("∀A↔B",), "∀B↔A"),
    (("∀A→B", "∀B→A"), "∀A↔B"),
    (("∀A→B→C", "∀A∧B"), "∀C"),
    (("∀A∧B→C",), "∀A→B→C"),
    (("∀A∨B→C",), "∀B→C"),
    (("∃A∧¬B", "∀A→B∨C"), "∃C"),
    (("∀x∀yE",), "∀y∀xE"),
    (("∃x∃yE",), "∃y∃xE"),
    (("∃x∀yE",), "∀y∃xE"),
    (("∀x∀yE→S",), "∀x∀y¬S→¬E"),
    (("∀x∀yE→S", "∃x∃yE"), "∃x∃yS"),
)


def _schema_problem(rng: random.Random, difficulty: int) -> Problem | None:
    names = Names(rng)
    x, y = names.fresh("bound"), names.fresh("bound")
    predicates = [names.fresh("pred") for _ in range(3)]
    relation = names.fresh("rel")
    prop, constant = names.fresh("prop"), names.fresh("nat")
    compound = 0.08 * difficulty
    letters = {"p": atom(prop), "E": atom(relation, var(x), var(y)), "S": atom(relation, var(y), var(x))}
    for letter, predicate in zip("ABC", predicates, strict=True):
        body = atom(predicate, var(x))
        if rng.random() < 0.1:
            body = atom(relation, var(x), var(constant))
        if rng.random() < compound:
            other = rng.choice([atom(prop), *(atom(p, var(x)) for p in predicates if p != predicate)])
            body = (rng.choice("∧∨→"), body, other)
        letters[letter] = body
    chosen = rng.choice(_SCHEMAS)
    hypotheses, goal = [_read(text, letters, x, y) for text in chosen[0]], _read(chosen[1], letters, x, y)
    if difficulty > 2 and rng.random() < 0.5 and goal[0] == "ex":
        rest = rng.choice([("∧", atom(prop), goal), ("∨", goal, atom(prop))])
        hypotheses, goal = ([*hypotheses, atom(prop)] if rest[0] == "∧" else hypotheses), rest
    if goal[0] == "all" and goal[2][0] != "all" and rng.random() < 0.3:
        goal = substitute(goal[2], goal[1], var(constant))
    if hypotheses and rng.random() < 0.25:
        *hypotheses, last = hypotheses
        goal = ("→", last, goal)
    if goal in hypotheses or len(set(hypotheses)) < len(hypotheses):
        return None
    return _solve("pred", names, rng, _variables(predicates, relation, prop, constant), hypotheses, goal, False)


def _variables(predicates: list[str], relation: str, prop: str, *constants: str) -> list[tuple[str, str]]:
    return [
        *((p, "Nat → Prop") for p in predicates),
        (relation, "Nat → Nat → Prop"),
        (prop, "Prop"),
        *((c, "Nat") for c in constants),
    ]


def _read(text: str, letters: dict[str, Formula], x: str, y: str) -> Formula:
    """Reads a schema such as `∀A→B` or `∃x∀yE`; a quantifier without a name binds x and reaches to the end."""
    formula, rest = _read_level(text, letters, x, y, 0)
    assert not rest, f"schema {text!r} ends with {rest!r}"
    return formula


_LEVELS = ("↔", "→", "∨", "∧")


def _read_level(text: str, letters: dict[str, Formula], x: str, y: str, level: int) -> tuple[Formula, str]:
    if level == len(_LEVELS):
        return _read_unit(text, letters, x, y)
    left, rest = _read_level(text, letters, x, y, level + 1)
    if rest.startswith(_LEVELS[level]):
        right, rest = _read_level(rest[1:], letters, x, y, level)
        return (_LEVELS[level], left, right), rest
    return left, rest


def _read_unit(text: str, letters: dict[str, Formula], x: str, y: str) -> tuple[Formula, str]:
    if text[0] == "¬":
        body, rest = _read_unit(text[1:], letters, x, y)
        return ("not", body), rest
    if text[0] in "∀∃":
        named = len(text) > 1 and text[1] in "xy"
        bound = y if named and text[1] == "y" else x
        body, rest = _read_level(text[2 if named else 1 :], letters, x, y, 0)
        return ("all" if text[0] == "∀" else "ex", bound, body), rest
    return letters[text[0]], text[1:]


def _rules_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """Backward from `P t`: each predicate follows from others by a rule, until facts are reached."""
    names = Names(rng)
    x = names.fresh("bound")
    predicates = [names.fresh("pred") for _ in range(4)]
    constants = [names.fresh("nat") for _ in range(1 + (rng.random() < 0.4))]
    prop, relation = names.fresh("prop"), names.fresh("rel")
    hypotheses: list[Formula] = []

    def derive(goal: Formula, depth: int, unused: list[str]) -> None:
        if depth == 0 or not unused:
            fact = ("all", x, atom(goal[1], var(x))) if rng.random() < 0.15 else goal
            hypotheses.append(fact)
            return
        width = 2 if len(unused) > 1 and rng.random() < 0.3 else 1
        premises = [atom(p, goal[2]) for p in unused[:width]]
        conclusion: Formula = goal
        if rng.random() < 0.2:
            conclusion = ("∧", goal, atom(prop)) if rng.random() < 0.5 else ("∧", atom(prop), goal)
        rule = conclusion
        for premise in reversed(premises):
            rule = ("→", premise, rule)
        general = ("all", x, substitute(rule, goal[2][1], var(x)))
        hypotheses.append(general if rng.random() < 0.8 else rule)
        for k, premise in enumerate(premises):
            derive(premise, depth - 1, unused[width:] if k == 0 else [])

    target = atom(predicates[0], var(rng.choice(constants)))
    derive(target, min(3, 1 + difficulty // 2), predicates[1:])
    goal: Formula = target
    wrap = rng.random()
    if wrap < 0.2:
        goal = ("ex", x, atom(predicates[0], var(x)))
    elif wrap < 0.3:
        goal = ("not", ("not", goal))
    elif wrap < 0.4:
        hypotheses.append(("not", goal))
        goal = rng.choice([FALSE, atom(prop)])
    if rng.random() < 0.3:
        *hypotheses, last = hypotheses
        goal = ("→", last, goal)
    rng.shuffle(hypotheses)
    if len(set(hypotheses)) < len(hypotheses):
        return None
    return _solve("pred", names, rng, _variables(predicates, relation, prop, *constants), hypotheses, goal, False)
