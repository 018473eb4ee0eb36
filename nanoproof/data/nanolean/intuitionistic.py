"""Whether an intuitionistic propositional formula holds: Dyckhoff's contraction-free sequent calculus (G4ip).

Every rule makes the sequent smaller in a well-founded order, so the procedure ends without a loop check.
"""

from functools import lru_cache

from nanoproof.data.nanolean.generate_terms import FALSE, Formula


@lru_cache(maxsize=100_000)
def _normal(formula: Formula) -> Formula:
    """Negation and equivalence in terms of → and ∧."""
    head = formula[0]
    if head == "not":
        return ("→", _normal(formula[1]), FALSE)
    if head == "↔":
        left, right = _normal(formula[1]), _normal(formula[2])
        return ("∧", ("→", left, right), ("→", right, left))
    if head in ("∧", "∨", "→"):
        return (head, _normal(formula[1]), _normal(formula[2]))
    return formula


def holds(hypotheses: list[Formula], goal: Formula) -> bool:
    """Whether `goal` follows intuitionistically from the hypotheses; anything but connectives counts as an atom."""
    return _prove(frozenset(_normal(h) for h in hypotheses), _normal(goal))


@lru_cache(maxsize=100_000)
def _prove(context: frozenset[Formula], goal: Formula) -> bool:
    if goal in context or FALSE in context:
        return True
    if goal[0] == "∧":
        return _prove(context, goal[1]) and _prove(context, goal[2])
    if goal[0] == "→":
        return _prove(context | {goal[1]}, goal[2])
    for formula in context:
        premises = _invert_left(formula, context)
        if premises is not None:
            rest = context - {formula}
            return all(_prove(rest | added, goal) for added in premises)
    if goal[0] == "∨" and (_prove(context, goal[1]) or _prove(context, goal[2])):
        return True
    for formula in context:
        if formula[0] == "→" and formula[1][0] == "→":
            (_, (_, c, d), b) = formula
            rest = context - {formula}
            if _prove(rest | {("→", d, b), c}, d) and _prove(rest | {b}, goal):
                return True
    return False


def _invert_left(formula: Formula, context: frozenset[Formula]) -> list[frozenset[Formula]] | None:
    """What replaces the formula in each premise of its invertible left rule; None if it has none."""
    head = formula[0]
    if head == "∧":
        return [frozenset(formula[1:])]
    if head == "∨":
        return [frozenset({formula[1]}), frozenset({formula[2]})]
    if head != "→":
        return None
    (_, a, b) = formula
    if a == FALSE:
        return [frozenset()]
    if a[0] == "∧":
        return [frozenset({("→", a[1], ("→", a[2], b))})]
    if a[0] == "∨":
        return [frozenset({("→", a[1], b), ("→", a[2], b)})]
    if a[0] != "→" and a in context:
        return [frozenset({b})]
    return None
