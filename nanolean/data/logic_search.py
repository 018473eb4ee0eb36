"""Logic: whether a propositional formula holds intuitionistically, and the search for a short proof by steps."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from nanolean.data.problem import FALSE, Formula, Names, Step, Term, arg, match, show, substitute


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
    """Return whether `goal` follows intuitionistically from the hypotheses; all but connectives are atoms."""
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


MAX_NODES = 800
# Names for what quantifiers bring into scope; those bound in the statement are taken already: nothing is captured.
BOUND_NAMES = ("x", "y", "z", "n", "m", "k", "i", "j", "w")

Context = tuple[tuple[str, Formula], ...]


@dataclass(frozen=True)
class Rule:
    """A hypothesis read as `premises → conclusion`, with `term` the Lean term for it (holes filled in by `{x}`)."""

    term: str
    holes: tuple[str, ...]
    premises: tuple[Formula, ...]
    conclusion: Formula


@dataclass(frozen=True)
class Sequent:
    """A node of the search: prove `goal` from `context` with at most `budget` tactics.

    `terms` are the numbers in scope, `names` those that are still free, and `seen` the sequents above this one.
    """

    context: Context
    goal: Formula
    terms: tuple[Term, ...]
    budget: int
    names: Names
    seen: frozenset[tuple[frozenset[Formula], Formula]] = frozenset()


class GaveUp(Exception):
    """The search visited too many nodes."""


class LogicSearch:
    """One search; `plain` asks for one rule per tactic, otherwise terms such as `⟨h.2, h.1⟩` are used."""

    def __init__(self, names: Names, rng: random.Random, propositional: bool, plain: bool = True) -> None:
        self.names = names
        self.rng = rng
        self.propositional = propositional
        self.plain = plain
        self.nodes = 0
        self.projections = rng.random() < 0.3
        self.numbered = rng.random() < 0.5
        self.symbols = rng.random() < 0.5

    def prove(self, hypotheses: Context, goal: Formula, terms: tuple[Term, ...], budget: int) -> Step | None:
        """Search a proof of at most `budget` tactics; None if there is none. `terms` are the numbers in scope."""
        for limit in range(1, budget + 1):
            try:
                step = self._search(Sequent(hypotheses, goal, terms, limit, self.names.copy()))
            except GaveUp:
                return None
            if step is not None:
                return step
        return None

    def _search(self, at: Sequent) -> Step | None:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise GaveUp
        if at.budget <= 0:
            return None
        closing = self._close(at)
        if closing is not None:
            return Step(closing)
        key = (frozenset(f for _, f in at.context), at.goal)
        if at.budget == 1 or key in at.seen:
            return None
        if self.propositional and not holds([f for _, f in at.context], at.goal):
            return None
        at = replace(at, seen=at.seen | {key})
        forced = self._forced(at)
        if forced is not False:
            return forced
        for option in self._options(at):
            if option is not None:
                return option
        return None

    # ---- closing a goal by one tactic

    def _close(self, at: Sequent) -> str | None:
        context, goal = at.context, at.goal
        by_formula = {f: name for name, f in context}
        if goal in by_formula:
            return f"exact {by_formula[goal]}" if self.rng.random() < 0.85 else "assumption"
        if goal[0] in ("=", "≤") and goal[1] == goal[2]:
            return "rfl" if goal[0] == "=" else f"exact Nat.le_refl {arg(goal[1])}"
        if FALSE in by_formula or any(f[0] == "not" and f[1] in by_formula for f in by_formula):
            return "contradiction"
        for name, formula in context:
            part = self._part(name, formula, goal)
            if part is not None:
                return f"exact {part}"
        for rule in self._rules(context):
            found = match(rule.conclusion, goal, set(rule.holes), {})
            if found is None or len(rule.premises) + len(rule.holes) > 2 or set(rule.holes) - found.keys():
                continue
            arguments = [by_formula.get(_instance(p, found)) for p in rule.premises]
            if None not in arguments:
                return "exact " + " ".join([_fill(rule, found), *(str(a) for a in arguments)])
        if goal[0] == "ex":
            for name, formula in context:
                found = match(goal[2], formula, {goal[1]}, {})
                if found is not None and goal[1] in found:
                    return f"exact ⟨{show(found[goal[1]])}, {name}⟩"
        if not self.plain:
            return self._close_by_term(by_formula, goal)
        return None

    def _part(self, name: str, formula: Formula, goal: Formula) -> str | None:
        if formula[0] == "∧" and self.projections and goal in formula[1:]:
            first = goal == formula[1]
            return name + ((".1" if first else ".2") if self.numbered else (".left" if first else ".right"))
        return None

    def _close_by_term(self, by_formula: dict[Formula, str], goal: Formula) -> str | None:
        if goal[0] == "∧" and goal[1] in by_formula and goal[2] in by_formula:
            return f"exact ⟨{by_formula[goal[1]]}, {by_formula[goal[2]]}⟩"
        if goal[0] == "∨":
            for side, constructor in ((1, "Or.inl"), (2, "Or.inr")):
                if goal[side] in by_formula:
                    return f"exact {constructor} {by_formula[goal[side]]}"
        return None

    # ---- moves that lose nothing

    def _forced(self, at: Sequent) -> Step | Literal[False] | None:
        """The result of an invertible move, or False when there is none."""
        context, goal, names = at.context, at.goal, at.names
        if goal[0] in ("→", "not"):
            name = names.take("h")
            result = goal[2] if goal[0] == "→" else FALSE
            return self._one(f"intro {name}", replace(at, context=(*context, (name, goal[1])), goal=result))
        if goal[0] == "all":
            x = names.take(*BOUND_NAMES)
            body = substitute(goal[2], goal[1], ("var", x))
            return self._one(f"intro {x}", replace(at, goal=body, terms=(*at.terms, ("var", x))))
        for name, formula in context:
            if formula[0] in ("∧", "↔", "ex") and not self._useless(context, name, goal):
                return self._split(at, name, name, formula)
        if goal[0] in ("∧", "↔"):
            parts = goal[1:] if goal[0] == "∧" else (("→", goal[1], goal[2]), ("→", goal[2], goal[1]))
            return self._many("constructor", at, [(context, part) for part in parts])
        for name, formula in context:
            if formula[0] == "∨" and not self._useless(context, name, goal):
                return self._split(at, name, name, formula)
        return False

    def _useless(self, context: Context, name: str, goal: Formula) -> bool:
        return self.propositional and holds([f for n, f in context if n != name], goal)

    def _split(self, at: Sequent, used: str, term: str, formula: Formula) -> Step | None:
        """`cases` on a conjunction, disjunction, equivalence or existence; the hypothesis itself goes away."""
        names, goal = at.names, at.goal
        rest = tuple((n, f) for n, f in at.context if n != used)
        if formula[0] == "∨":
            name = names.take("h1", "h2", "h3")
            other = name if self.rng.random() < 0.5 else names.take("h2", "h3", "h4")
            tactic = f"cases {term} with | inl {name} => ?_ | inr {other} => ?_"
            goals = [((*rest, (name, formula[1])), goal), ((*rest, (other, formula[2])), goal)]
            return self._many(tactic, at, goals)
        if formula[0] == "ex":
            x, h = names.take(*BOUND_NAMES), names.take("hx", "hy")
            body = substitute(formula[2], formula[1], ("var", x))
            tactic = f"cases {term} with | intro {x} {h} => ?_"
            return self._one(tactic, replace(at, context=(*rest, (h, body)), terms=(*at.terms, ("var", x))))
        first, second = names.take("h1", "h2", "h3"), names.take("h2", "h3", "h4")
        parts = formula[1:]
        if formula[0] == "↔":
            parts = (("→", formula[1], formula[2]), ("→", formula[2], formula[1]))
        tactic = f"cases {term} with | intro {first} {second} => ?_"
        return self._one(tactic, replace(at, context=(*rest, (first, parts[0]), (second, parts[1]))))

    # ---- choices

    def _options(self, at: Sequent) -> Iterator[Step | None]:
        context, goal = at.context, at.goal
        if goal[0] == "∨":
            yield self._one("left", replace(at, goal=goal[1]))
            yield self._one("right", replace(at, goal=goal[2]))
        if goal[0] == "ex":
            for term in at.terms:
                body = substitute(goal[2], goal[1], term)
                if not any(f == body for _, f in context):
                    yield self._one(f"exists {arg(term)}", replace(at, goal=body))
        rules = list(self._rules(context))
        for rule in rules:
            found = match(rule.conclusion, goal, set(rule.holes), {})
            if found is not None and not set(rule.holes) - found.keys() and rule.premises:
                goals = [(context, _instance(p, found)) for p in rule.premises]
                yield self._many(f"apply {rule.term.split()[0]}", at, goals)
        yield from self._forward(at, rules)
        if goal != FALSE and any(f[0] == "not" or (f[0] == "→" and f[2] == FALSE) for _, f in context):
            yield self._one("exfalso", replace(at, goal=FALSE))

    def _forward(self, at: Sequent, rules: list[Rule]) -> Iterator[Step | None]:
        """Uses a rule all of whose premises are there: `cases h h1 with ..` or `have h2 : q := h h1`."""
        by_formula = {f: name for name, f in at.context}
        for rule in rules:
            for found in _instances(rule, list(by_formula), at.terms):
                result = _instance(rule.conclusion, found)
                if result in by_formula or (not rule.premises and not rule.holes):
                    continue
                arguments = [by_formula[_instance(p, found)] for p in rule.premises]
                term = " ".join([_fill(rule, found), *arguments])
                inner = replace(at, names=at.names.copy())
                if result[0] in ("∨", "∧", "ex"):
                    yield self._split(inner, rule.term if not rule.holes else "", term, result)
                elif result != FALSE:
                    name = inner.names.take("h2", "h3", "h4")
                    tactic = f"have {name} : {show(result)} := {term}"
                    yield self._one(tactic, replace(inner, context=(*at.context, (name, result))))

    def _rules(self, context: Context) -> Iterator[Rule]:
        for name, formula in context:
            holes: list[str] = []
            while formula[0] == "all":
                holes.append(formula[1])
                formula = formula[2]
            premises: list[Formula] = []
            while formula[0] in ("→", "not"):
                premises.append(formula[1])
                formula = formula[2] if formula[0] == "→" else FALSE
            if premises or holes:
                yield Rule(name, tuple(holes), tuple(premises), formula)

    # ---- putting steps together

    def _one(self, tactic: str, left: Sequent) -> Step | None:
        """The tactic and the proof of the sequent that it leaves; `left.budget` still counts the tactic."""
        child = self._search(replace(left, budget=left.budget - 1, names=left.names.copy()))
        return None if child is None else Step(tactic, (child,))

    def _many(self, tactic: str, at: Sequent, goals: list[tuple[Context, Formula]]) -> Step | None:
        """The tactic and proofs of the goals that it leaves, which share the budget."""
        children: list[Step] = []
        left = at.budget - 1
        for k, (context, goal) in enumerate(goals):
            reserve = len(goals) - 1 - k
            limits = range(1, left - reserve + 1)
            tries = (
                self._search(replace(at, context=context, goal=goal, budget=limit, names=at.names.copy()))
                for limit in limits
            )
            child = next((step for step in tries if step is not None), None)
            if child is None:
                return None
            children.append(child)
            left -= child.size
        return Step(tactic, tuple(children))


def _instance(formula: Formula, found: dict[str, Term]) -> Formula:
    for name, value in found.items():
        formula = substitute(formula, name, value)
    return formula


def _fill(rule: Rule, found: dict[str, Term]) -> str:
    return " ".join([rule.term, *(arg(found[x]) for x in rule.holes)])


def _instances(rule: Rule, facts: list[Formula], terms: tuple[Term, ...]) -> Iterator[dict[str, Term]]:
    """Ways to fill the holes so that every premise is among the facts."""
    partial: list[dict[str, Term]] = [{}]
    for premise in rule.premises:
        partial = [
            more
            for found in partial
            for fact in facts
            if (more := match(premise, fact, set(rule.holes), found)) is not None
        ]
    for found in partial:
        missing = [x for x in rule.holes if x not in found]
        if not missing:
            yield found
        elif len(missing) == 1 and len(terms) <= 4:
            for term in terms:
                yield {**found, missing[0]: term}


def scope(names: list[str]) -> tuple[Term, ...]:
    """Return the number variables of a statement as terms to try."""
    return tuple(("var", name) for name in names)
