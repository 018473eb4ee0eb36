"""Problems about order and divisibility, built bottom-up: a derivation gives the statement and its proof at once."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from nanolean.data.problem import FALSE, Formula, Names, Problem, Step, Term, arg, nat_variables, num, show, var

MAX_SIDE_CHARACTERS = 22


@dataclass
class Derivation:
    """What a derivation has assumed so far, in order, and the supply of names."""

    rng: random.Random
    names: Names
    variables: list[str] = field(default_factory=list)
    hypotheses: list[tuple[str, Formula]] = field(default_factory=list)

    def fresh(self) -> Term:
        """Return a new number variable."""
        self.variables.append(self.names.fresh("nat"))
        return var(self.variables[-1])

    def known(self) -> Term:
        """Return an existing variable, most of the time if there is one, else a new one."""
        if self.variables and (self.rng.random() < 0.7 or len(self.variables) >= 4):
            return var(self.rng.choice(self.variables))
        return self.fresh()

    def assume(self, formula: Formula) -> str:
        """Return the name of a hypothesis with this formula; the same one is not made twice."""
        for name, known in self.hypotheses:
            if known == formula:
                return name
        name = self.names.fresh("hyp")
        self.hypotheses.append((name, formula))
        return name


Fact = tuple[Formula, Step]
Rule = Callable[[Derivation, int], Fact]


def _build(d: Derivation, rules: dict[Rule, int], depth: int) -> Fact:
    rule = d.rng.choices(list(rules), list(rules.values()))[0]
    return rule(d, depth)


def _wrap(formula: Formula, tactic: str, *children: Step) -> Fact:
    return formula, Step(tactic, children)


# ---- a ≤ b


def _le(d: Derivation, depth: int) -> Fact:
    if depth <= 0:
        return _le_leaf(d)
    return _build(d, _LE_RULES, depth)


def _le_leaf(d: Derivation) -> Fact:
    if d.rng.random() < 0.25:
        a, b = d.known(), d.known()
        pick = d.rng.randrange(4)
        if pick == 0:
            return _wrap(("≤", a, ("+", a, b)), f"exact Nat.le_add_right {arg(a)} {arg(b)}")
        if pick == 1:
            return _wrap(("≤", a, ("+", b, a)), f"exact Nat.le_add_left {arg(a)} {arg(b)}")
        if pick == 2:
            return _wrap(("≤", num(0), a), f"exact Nat.zero_le {arg(a)}")
        return _wrap(("≤", a, a), f"exact Nat.le_refl {arg(a)}")
    a, b = d.fresh(), d.fresh()
    return _wrap(("≤", a, b), f"exact {d.assume(('≤', a, b))}")


def _le_trans(d: Derivation, depth: int) -> Fact:
    (_, m, t), step = _le(d, depth - 1)
    a = d.fresh()
    h = d.assume(("≤", a, m))
    if step.tactic.startswith("exact ") and d.rng.random() < 0.5:
        return _wrap(("≤", a, t), f"exact Nat.le_trans {h} {_as_argument(step)}")
    return _wrap(("≤", a, t), f"apply Nat.le_trans {h}", step)


def _as_argument(step: Step) -> str:
    term = step.tactic.removeprefix("exact ")
    return f"({term})" if " " in term else term


def _le_add(d: Derivation, depth: int) -> Fact:
    (_, s, t), first = _le(d, depth - 1)
    (_, u, v), second = _le(d, d.rng.randint(0, depth - 1))
    op, lemma = ("+", "Nat.add_le_add") if d.rng.random() < 0.7 else ("*", "Nat.mul_le_mul")
    if first.size == 1 and second.size == 1 and d.rng.random() < 0.4:
        tactic = f"exact {lemma} {_as_argument(first)} {_as_argument(second)}"
        return _wrap(("≤", (op, s, u), (op, t, v)), tactic)
    return _wrap(("≤", (op, s, u), (op, t, v)), f"apply {lemma}", first, second)


def _le_one_side(d: Derivation, depth: int) -> Fact:
    (_, s, t), step = _le(d, depth - 1)
    c = d.known()
    pick = d.rng.randrange(4)
    if pick == 0:
        return _wrap(("≤", ("+", s, c), ("+", t, c)), "apply Nat.add_le_add_right", step)
    if pick == 1:
        return _wrap(("≤", ("+", c, s), ("+", c, t)), "apply Nat.add_le_add_left", step)
    if pick == 2:
        return _wrap(("≤", ("*", s, c), ("*", t, c)), "apply Nat.mul_le_mul_right", step)
    return _wrap(("≤", ("*", c, s), ("*", c, t)), "apply Nat.mul_le_mul_left", step)


def _le_weaken(d: Derivation, depth: int) -> Fact:
    (_, s, t), step = _le(d, depth - 1)
    c: Term = d.known() if d.rng.random() < 0.6 else num(d.rng.randint(1, 2))
    return _wrap(("≤", s, ("+", t, c)), "apply Nat.le_add_right_of_le", step)


def _le_of_lt(d: Derivation, depth: int) -> Fact:
    (_, s, t), step = _lt(d, depth - 1)
    if step.size == 1 and step.tactic.startswith("exact ") and d.rng.random() < 0.5:
        return _wrap(("≤", s, t), f"exact Nat.le_of_lt {_as_argument(step)}")
    return _wrap(("≤", s, t), "apply Nat.le_of_lt", step)


def _le_of_eq(d: Derivation, depth: int) -> Fact:
    a, b = d.fresh(), d.fresh()
    return _wrap(("≤", a, b), f"exact Nat.le_of_eq {d.assume(('=', a, b))}")


def _le_rewrite(d: Derivation, depth: int) -> Fact:
    return _rewritten(d, _le(d, depth - 1))


def _lt_rewrite(d: Derivation, depth: int) -> Fact:
    return _rewritten(d, _lt(d, depth - 1))


def _rewritten(d: Derivation, fact: Fact) -> Fact:
    """A new variable stands for one side and is rewritten away."""
    (rel, s, t), step = fact
    a = d.fresh()
    if d.rng.random() < 0.5:
        return _wrap((rel, a, t), f"rw [{d.assume(('=', a, s))}]", step)
    return _wrap((rel, s, a), f"rw [{d.assume(('=', a, t))}]", step)


def _le_pow(d: Derivation, depth: int) -> Fact:
    (_, s, t), step = _le(d, depth - 1)
    c: Term = d.known() if d.rng.random() < 0.5 else num(2)
    return _wrap(("≤", ("^", s, c), ("^", t, c)), "apply Nat.pow_le_pow_left", step)


# ---- a < b


def _lt(d: Derivation, depth: int) -> Fact:
    if depth <= 0:
        return _lt_leaf(d)
    return _build(d, _LT_RULES, depth)


def _lt_leaf(d: Derivation) -> Fact:
    if d.rng.random() < 0.15:
        a = d.known()
        return _wrap(("<", a, ("+", a, num(1))), f"exact Nat.lt_add_one {arg(a)}")
    a, b = d.fresh(), d.fresh()
    return _wrap(("<", a, b), f"exact {d.assume(('<', a, b))}")


def _lt_trans(d: Derivation, depth: int) -> Fact:
    kind = d.rng.randrange(3)
    (_, m, t), step = _lt(d, depth - 1) if kind != 0 else _le(d, depth - 1)
    a = d.fresh()
    lemma = ("Nat.lt_of_lt_of_le", "Nat.lt_of_le_of_lt", "Nat.lt_trans")[kind]
    h = d.assume(("≤" if kind == 1 else "<", a, m))
    if step.tactic.startswith("exact ") and d.rng.random() < 0.5:
        return _wrap(("<", a, t), f"exact {lemma} {h} {_as_argument(step)}")
    return _wrap(("<", a, t), f"apply {lemma} {h}", step)


def _lt_succ(d: Derivation, depth: int) -> Fact:
    (_, s, t), step = _le(d, depth - 1)
    return _wrap(("<", s, ("+", t, num(1))), "apply Nat.lt_succ_of_le", step)


def _lt_one_side(d: Derivation, depth: int) -> Fact:
    (_, s, t), step = _lt(d, depth - 1)
    c = d.known()
    if d.rng.random() < 0.5:
        return _wrap(("<", ("+", s, c), ("+", t, c)), "apply Nat.add_lt_add_right", step)
    return _wrap(("<", ("+", c, s), ("+", c, t)), "apply Nat.add_lt_add_left", step)


def _lt_add(d: Derivation, depth: int) -> Fact:
    kind = d.rng.randrange(3)
    (_, s, t), first = _lt(d, depth - 1) if kind != 1 else _le(d, depth - 1)
    (_, u, v), second = _lt(d, depth - 1) if kind != 2 else _le(d, depth - 1)
    lemma = ("Nat.add_lt_add", "Nat.add_lt_add_of_le_of_lt", "Nat.add_lt_add_of_lt_of_le")[kind]
    return _wrap(("<", ("+", s, u), ("+", t, v)), f"apply {lemma}", first, second)


def _positive(d: Derivation, depth: int) -> Fact:
    """`0 < t`."""
    pick = d.rng.randrange(4) if depth > 0 else d.rng.randrange(2)
    a = d.known()
    if pick == 0:
        return _wrap(("<", num(0), ("+", a, num(1))), f"exact Nat.zero_lt_succ {arg(a)}")
    if pick == 1:
        return _wrap(("<", num(0), a), f"exact {d.assume(('<', num(0), a))}")
    (_, _, t), step = _positive(d, depth - 1)
    if pick == 2:
        (_, _, u), other = _positive(d, depth - 1)
        return _wrap(("<", num(0), ("*", t, u)), "apply Nat.mul_pos", step, other)
    if d.rng.random() < 0.5:
        return _wrap(("<", num(0), ("+", t, a)), "apply Nat.add_pos_left", step)
    return _wrap(("<", num(0), ("+", a, t)), "apply Nat.add_pos_right", step)


_LE_RULES: dict[Rule, int] = {
    _le_trans: 4, _le_add: 3, _le_one_side: 4, _le_weaken: 2, _le_of_lt: 2, _le_of_eq: 1, _le_rewrite: 2, _le_pow: 1,
}  # fmt: skip
_LT_RULES: dict[Rule, int] = {_lt_trans: 4, _lt_succ: 2, _lt_one_side: 2, _lt_add: 2, _positive: 2, _lt_rewrite: 1}

# ---- what the goal may be


def _goal(d: Derivation, depth: int) -> Fact:
    """An inequality, or what follows from two of them."""
    pick = d.rng.random()
    if pick < 0.5:
        return _le(d, depth)
    if pick < 0.72:
        return _lt(d, depth)
    (_, s, t), step = _lt(d, depth - 1)
    if pick < 0.8:
        return _wrap(("≠", s, t), "apply Nat.ne_of_lt", step)
    if pick < 0.88:
        h = d.assume(("<" if d.rng.random() < 0.5 else "≤", t, s))
        lemma = "Nat.lt_asymm" if d.hypotheses[-1][1][0] == "<" else "Nat.not_le_of_lt"
        name = d.names.copy().take("h2", "h3", "h4")
        inner = Step(f"have {name} : {show(('<', s, t))} := by {step.tactic}", (Step(f"exact {lemma} {name} {h}"),))
        return (FALSE, inner) if step.size == 1 else _le(d, depth)
    if pick < 0.95:
        return _wrap(("not", ("≤", t, s)), "apply Nat.not_le_of_lt", step)
    return _wrap(("∨", ("<", s, t), ("=", s, t)), "left", step)


def order_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """Chains and monotonicity of ≤ and <."""
    names = Names(rng)
    d = Derivation(rng, names)
    goal, proof = _goal(d, rng.randint((difficulty + 1) // 2, difficulty))
    return finish("order", d, goal, proof)


def finish(family: str, d: Derivation, goal: Formula, proof: Step) -> Problem | None:
    """Return the problem of a derivation; None when the statement is too long or trivial."""
    sides = [side for side in goal[1:] if isinstance(side, tuple)]
    if any(len(show(side)) > MAX_SIDE_CHARACTERS for side in sides) or len(d.hypotheses) > 5:
        return None
    if len(d.variables) > 6 or any(len(side) == 3 and side[1] == side[2] for side in [goal] if goal[0] != "false"):
        return None
    if any(len(f) == 3 and f[1] == f[2] for _, f in d.hypotheses):
        return None
    mentioned = nat_variables([f for _, f in d.hypotheses] + [goal])
    binders = tuple((name, "Nat") for name in sorted(d.variables) if name in mentioned)
    problem = Problem(family, binders, tuple(d.hypotheses), goal, proof)
    return problem if len(problem.statement()) <= 120 else None


# ---------------------------------------------------------------------------------------------------------------------
# Divisibility and existence


def _dvd(d: Derivation, depth: int) -> Fact:
    """`k ∣ t` by the lemmas of the library."""
    if depth <= 0:
        pick = d.rng.randrange(5)
        a, b = d.known(), d.known()
        if pick == 0:
            return _wrap(("∣", a, ("*", a, b)), f"exact Nat.dvd_mul_right {arg(a)} {arg(b)}")
        if pick == 1:
            return _wrap(("∣", a, ("*", b, a)), f"exact Nat.dvd_mul_left {arg(a)} {arg(b)}")
        a, b = d.fresh(), d.fresh()
        return _wrap(("∣", a, b), f"exact {d.assume(('∣', a, b))}")
    return _build(d, _DVD_RULES, depth)


def _dvd_trans(d: Derivation, depth: int) -> Fact:
    (_, m, t), step = _dvd(d, depth - 1)
    a = d.fresh()
    h = d.assume(("∣", a, m))
    if step.tactic.startswith("exact ") and d.rng.random() < 0.5:
        return _wrap(("∣", a, t), f"exact Nat.dvd_trans {h} {_as_argument(step)}")
    return _wrap(("∣", a, t), f"apply Nat.dvd_trans {h}", step)


def _dvd_add(d: Derivation, depth: int) -> Fact:
    (_, k, t), step = _dvd(d, depth - 1)
    c = d.known()
    if d.rng.random() < 0.4:
        h = d.assume(("∣", k, c))
        return _wrap(("∣", k, ("+", t, c)), "apply Nat.dvd_add", step, Step(f"exact {h}"))
    product = ("*", k, c)
    last = Step(f"exact Nat.dvd_mul_right {arg(k)} {arg(c)}")
    if d.rng.random() < 0.5:
        product, last = ("*", c, k), Step(f"exact Nat.dvd_mul_left {arg(k)} {arg(c)}")
    if d.rng.random() < 0.5:
        return _wrap(("∣", k, ("+", t, product)), "apply Nat.dvd_add", step, last)
    return _wrap(("∣", k, ("+", product, t)), "apply Nat.dvd_add", last, step)


def _dvd_factor(d: Derivation, depth: int) -> Fact:
    (_, k, t), step = _dvd(d, depth - 1)
    c = d.known()
    if d.rng.random() < 0.5:
        return _wrap(("∣", k, ("*", t, c)), "apply Nat.dvd_mul_right_of_dvd", step)
    return _wrap(("∣", k, ("*", c, t)), "apply Nat.dvd_mul_left_of_dvd", step)


def _dvd_product(d: Derivation, depth: int) -> Fact:
    (_, k, t), first = _dvd(d, depth - 1)
    (_, j, u), second = _dvd(d, d.rng.randint(0, depth - 1))
    return _wrap(("∣", ("*", k, j), ("*", t, u)), "apply Nat.mul_dvd_mul", first, second)


def _dvd_rewrite(d: Derivation, depth: int) -> Fact:
    (_, k, t), step = _dvd(d, depth - 1)
    a = d.fresh()
    return _wrap(("∣", k, a), f"rw [{d.assume(('=', a, t))}]", step)


_DVD_RULES: dict[Rule, int] = {_dvd_trans: 3, _dvd_add: 4, _dvd_factor: 3, _dvd_product: 2, _dvd_rewrite: 2}


def divides_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """Divisibility by the lemmas of the library."""
    names = Names(rng)
    d = Derivation(rng, names)
    goal, proof = _dvd(d, rng.randint((difficulty + 1) // 2, difficulty))
    return finish("divides", d, goal, proof)
