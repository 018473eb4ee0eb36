"""Problems that need induction: functions and predicates given by their equations, and laws of powers and sums."""

import random
from collections.abc import Callable

from nanolean.data.problem import Formula, Names, Problem, Step, Term, arg, chain, num, show, substitute, var

_SUCC = num(1)


def _fn(f: str, t: Term) -> Term:
    return ("fn", f, t)


def induction_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """Make a problem of one of the kinds below; harder ones want a stronger statement or more arithmetic."""
    easy: list[Callable[[random.Random, int], Problem | None]] = [_predicate, _closed_form, _constant]
    harder: list[Callable[[random.Random, int], Problem | None]] = [
        _predicate,
        _closed_form,
        _two_functions,
        _bound,
        _power,
    ]
    return rng.choice(easy if difficulty == 1 else harder)(rng, difficulty)


def _parameter(rng: random.Random, names: Names, c: str) -> tuple[Term, tuple[tuple[str, str], ...]]:
    """A number that the equations mention, and the variables it needs."""
    pick = rng.random()
    if pick < 0.3:
        return num(rng.randint(1, 5)), ()
    if pick < 0.6:
        return var(c), ((c, "Nat"),)
    if pick < 0.8:
        return (rng.choice("+*"), var(c), num(rng.randint(2, 4))), ((c, "Nat"),)
    other = names.take("d", "e", "b")
    return (rng.choice("+*"), var(c), var(other)), ((c, "Nat"), (other, "Nat"))


def _by_induction(n: str, zero: Step, succ: Step) -> Step:
    return Step(f"induction {n} with | zero => ?_ | succ {n} ih => ?_", (zero, succ))


def _exact(*arguments: str) -> Step:
    return Step("exact " + " ".join(arguments))


def _names(rng: random.Random) -> tuple[Names, str, str, str]:
    """The supply of names, the variable of the induction, the bound variable of the equations, a parameter."""
    names = Names(rng)
    n, x = (
        names.take(*rng.choice((("n",), ("k",), ("a",), ("m",)))),
        names.take(*rng.choice((("k", "i"), ("x", "y"), ("m", "i")))),
    )
    return names, n, x, names.take("c", "d", "b")


def _over_all(
    rng: random.Random, n: str, goal: Formula, proof: Step
) -> tuple[tuple[tuple[str, str], ...], Formula, Step]:
    """The induction variable before the colon or under a quantifier."""
    if rng.random() < 0.35:
        return (), ("all", n, goal), Step(f"intro {n}", (proof,))
    return ((n, "Nat"),), goal, proof


# ---- predicates


def _predicate(rng: random.Random, difficulty: int) -> Problem | None:
    names, n, x, _ = _names(rng)
    p, q = names.fresh("pred"), names.fresh("pred")
    h0, hs = names.take("h0", "hz"), names.take("hs", "h1")
    here = ("atom", p, var(n))
    base: Formula = ("atom", p, num(0))
    step: Formula = ("all", x, ("→", ("atom", p, var(x)), ("atom", p, ("+", var(x), _SUCC))))
    succ = chain([f"apply {hs}", "exact ih"]) if rng.random() < 0.5 else _exact(hs, n, "ih")
    variables: tuple[tuple[str, str], ...] = ((p, "Nat → Prop"),)
    hypotheses = [(h0, base), (hs, step)]
    kind = rng.randrange(5) if difficulty > 1 else rng.randrange(2)
    if kind == 1 and difficulty <= 3:
        return _numeral_instance(rng, (p, base, step), (h0, hs), difficulty)
    if kind == 2:
        hq = names.take("hq", "h2")
        hypotheses.append((hq, ("all", x, ("→", ("atom", p, var(x)), ("atom", q, var(x))))))
        variables = ((p, "Nat → Prop"), (q, "Nat → Prop"))
        proof = Step(f"apply {hq}", (_by_induction(n, _exact(h0), succ),))
        bound, goal, proof = _over_all(rng, n, ("atom", q, var(n)), proof)
        return Problem("induction", (*variables, *bound), tuple(hypotheses), goal, proof)
    if kind == 3:
        return _even_or_odd(rng, names, (n, x, p, q), (h0, hs))
    if kind == 4:
        return _strengthened(rng, names, (n, x, p, q), (h0, hs))
    bound, goal, proof = _over_all(rng, n, here, _by_induction(n, _exact(h0), succ))
    return Problem("induction", (*variables, *bound), tuple(hypotheses), goal, proof)


def _numeral_instance(
    rng: random.Random, predicate: tuple[str, Formula, Formula], names: tuple[str, str], difficulty: int
) -> Problem:
    """`P 3` from the two facts: no induction, the step is applied as often as needed."""
    (p, base, step), (h0, hs) = predicate, names
    k = rng.randint(1, 1 + 2 * difficulty)
    return Problem(
        "induction",
        ((p, "Nat → Prop"),),
        ((h0, base), (hs, step)),
        ("atom", p, num(k)),
        chain([f"apply {hs}"] * k + [f"exact {h0}"]),
    )


def _even_or_odd(
    rng: random.Random, names: Names, letters: tuple[str, str, str, str], given: tuple[str, str]
) -> Problem:
    """`P n ∨ Q n` from steps that change sides."""
    (n, x, p, q), (h0, hs) = letters, given
    ht = names.take("ht", "h2")
    at = var(x), ("+", var(x), _SUCC)
    hypotheses = (
        (h0, ("atom", p, num(0))),
        (hs, ("all", x, ("→", ("atom", p, at[0]), ("atom", q, at[1])))),
        (ht, ("all", x, ("→", ("atom", q, at[0]), ("atom", p, at[1])))),
    )
    split = Step(
        "cases ih with | inl h1 => ?_ | inr h2 => ?_" if ht != "h2" else "cases ih with | inl h3 => ?_ | inr h4 => ?_",
        (
            chain(["right", f"apply {hs}", "exact h1" if ht != "h2" else "exact h3"]),
            chain(["left", f"apply {ht}", "exact h2" if ht != "h2" else "exact h4"]),
        ),
    )
    proof = _by_induction(n, chain(["left", f"exact {h0}"]), split)
    bound, goal, proof = _over_all(rng, n, ("∨", ("atom", p, var(n)), ("atom", q, var(n))), proof)
    return Problem("induction", ((p, "Nat → Prop"), (q, "Nat → Prop"), *bound), hypotheses, goal, proof)


def _strengthened(
    rng: random.Random, names: Names, letters: tuple[str, str, str, str], given: tuple[str, str]
) -> Problem:
    """`P n ∧ Q n` where each side needs the other."""
    (n, x, p, q), (h0, hs) = letters, given
    ht = names.take("ht", "h3")
    then = ("+", var(x), _SUCC)
    hypotheses = (
        (h0, ("∧", ("atom", p, num(0)), ("atom", q, num(0)))),
        (hs, ("all", x, ("→", ("atom", p, var(x)), ("atom", q, then)))),
        (ht, ("all", x, ("→", ("atom", q, var(x)), ("atom", p, then)))),
    )
    succ = Step(
        "cases ih with | intro h4 h5 => ?_",
        (Step("constructor", (chain([f"apply {ht}", "exact h5"]), chain([f"apply {hs}", "exact h4"]))),),
    )
    proof = _by_induction(n, _exact(h0), succ)
    bound, goal, proof = _over_all(rng, n, ("∧", ("atom", p, var(n)), ("atom", q, var(n))), proof)
    return Problem("induction", ((p, "Nat → Prop"), (q, "Nat → Prop"), *bound), hypotheses, goal, proof)


# ---- functions with a closed form


def _function(names: Names, x: str, f: str, start: Term, follow: Callable[[Term], Term]) -> list[tuple[str, Formula]]:
    """`f 0 = start` and `∀ x, f (x + 1) = follow (f x)`."""
    h0, hs = names.take("h0", "hz"), names.take("hs", "h1")
    equation = ("=", _fn(f, ("+", var(x), _SUCC)), follow(_fn(f, var(x))))
    return [(h0, ("=", _fn(f, num(0)), start)), (hs, ("all", x, equation))]


def _closed_form(rng: random.Random, difficulty: int) -> Problem | None:
    """`f n = c * n`, `f n = n + c`, `f n = c ^ n` and what may be added to them."""
    names, n, x, c = _names(rng)
    f = names.fresh("fn")
    parameter, parameters = _parameter(rng, names, c)
    kind = rng.randrange(6) if difficulty > 1 else rng.choice((0, 2, 3))
    start: Term = num(0)
    if kind in (0, 1):
        follow, closed = (lambda t: ("+", t, parameter)), ("*", var(n), parameter)
        ending = [f"rw [Nat.add_one_mul {n}]"]
        zero = ["rw [Nat.zero_mul]"]
        if rng.random() < 0.5:
            closed, ending, zero = (
                ("*", parameter, var(n)),
                [f"rw [Nat.mul_add_one {arg(parameter)} {n}]"],
                ["rw [Nat.mul_zero]"],
            )
    elif kind in (2, 3):
        start = parameter
        follow, closed = (lambda t: ("+", t, _SUCC)), ("+", var(n), parameter)
        ending, zero = [f"rw [Nat.add_right_comm {n} {arg(parameter)} 1]"], ["rw [Nat.zero_add]"]
        if rng.random() < 0.5:
            closed, ending, zero = (
                ("+", parameter, var(n)),
                [f"rw [Nat.add_assoc {arg(parameter)} {n} 1]"],
                ["rw [Nat.add_zero]"],
            )
    else:
        start = num(1)
        follow, closed = (lambda t: ("*", t, parameter)), ("^", parameter, var(n))
        ending, zero = ["rw [Nat.pow_succ]"], ["rw [Nat.pow_zero]"]
        if rng.random() < 0.4:
            follow = lambda t: ("*", parameter, t)  # noqa: E731
            ending = ["rw [Nat.pow_succ]", f"rw [Nat.mul_comm {arg(parameter)}]"]
    if kind == 1:
        shift = num(rng.randint(1, 3))
        start, closed = shift, ("+", closed, shift)
        zero = [*zero, "rw [Nat.zero_add]"]
        ending = [*ending, "rw [Nat.add_right_comm]"]
    hypotheses = _function(names, x, f, start, follow)
    (h0, _), (hs, _) = hypotheses
    proof = _by_induction(n, chain([f"rw [{h0}]", *zero]), chain([f"rw [{hs}]", "rw [ih]", *ending]))
    bound, goal, proof = _over_all(rng, n, ("=", _fn(f, var(n)), closed), proof)
    return Problem("induction", ((f, "Nat → Nat"), *parameters, *bound), tuple(hypotheses), goal, proof)


def _constant(rng: random.Random, difficulty: int) -> Problem | None:
    """A function that does not change."""
    del difficulty
    names, n, x, c = _names(rng)
    f = names.fresh("fn")
    value, parameters = _parameter(rng, names, c)
    hypotheses = _function(names, x, f, value, lambda t: t)
    (h0, _), (hs, _) = hypotheses
    succ = chain([f"rw [{hs}]", "exact ih"]) if rng.random() < 0.6 else chain([f"rw [{hs}]", "rw [ih]"])
    bound, goal, proof = _over_all(rng, n, ("=", _fn(f, var(n)), value), _by_induction(n, _exact(h0), succ))
    return Problem("induction", ((f, "Nat → Nat"), *parameters, *bound), tuple(hypotheses), goal, proof)


def _two_functions(rng: random.Random, difficulty: int) -> Problem | None:
    """Two functions with the same equations agree, or one is a multiple of the other."""
    names, n, x, c = _names(rng)
    f, g = names.fresh("fn"), names.fresh("fn")
    parameter, parameters = _parameter(rng, names, c)
    op = rng.choice("+*")
    at = ("+", var(x), _SUCC)
    h0, hf, hg = names.take("h0", "hz"), names.take("hf", "h1"), names.take("hg", "h2")
    own: list[tuple[str, Formula]] = [
        (hf, ("all", x, ("=", _fn(f, at), (op, _fn(f, var(x)), parameter)))),
        (hg, ("all", x, ("=", _fn(g, at), (op, _fn(g, var(x)), parameter)))),
    ]
    goal: Formula = ("=", _fn(f, var(n)), _fn(g, var(n)))
    zero: Formula = ("=", _fn(f, num(0)), _fn(g, num(0)))
    proof = _by_induction(n, _exact(h0), chain([f"rw [{hf}]", f"rw [{hg}]", "rw [ih]"]))
    if difficulty > 3 and op == "+" and rng.random() < 0.6:
        d = num(rng.randint(1, 3))
        zero = ("=", _fn(f, num(0)), ("+", _fn(g, num(0)), d))
        goal = ("=", _fn(f, var(n)), ("+", _fn(g, var(n)), d))
        ending = f"rw [Nat.add_right_comm (g {n}) {arg(d)} {arg(parameter)}]".replace("(g ", f"({g} ")
        proof = _by_induction(n, _exact(h0), chain([f"rw [{hf}]", f"rw [{hg}]", "rw [ih]", ending]))
    bound, goal, proof = _over_all(rng, n, goal, proof)
    return Problem(
        "induction", ((f, "Nat → Nat"), (g, "Nat → Nat"), *parameters, *bound), ((h0, zero), *own), goal, proof
    )


# ---- bounds


def _bound(rng: random.Random, difficulty: int) -> Problem | None:
    """Growth of a function from one number to the next gives a bound."""
    names, n, x, c = _names(rng)
    f = names.fresh("fn")
    hs = names.take("hs", "h", "h1")
    at = ("+", var(x), _SUCC)
    kind = rng.randrange(3)
    if kind == 0:
        given: Formula = ("all", x, ("≤", _fn(f, var(x)), _fn(f, at)))
        goal: Formula = ("≤", _fn(f, num(0)), _fn(f, var(n)))
        zero = _exact(f"Nat.le_refl ({f} 0)")
        succ = (
            _exact(f"Nat.le_trans ih ({hs} {n})")
            if rng.random() < 0.5
            else chain(["apply Nat.le_trans ih", f"exact {hs} {n}"])
        )
    elif kind == 1:
        given = ("all", x, ("<", _fn(f, var(x)), _fn(f, at)))
        goal = ("≤", var(n), _fn(f, var(n)))
        zero = _exact(f"Nat.zero_le ({f} 0)")
        succ = chain(["apply Nat.lt_of_le_of_lt ih", f"exact {hs} {n}"])
    else:
        start, parameters = _parameter(rng, names, c)
        given = ("all", x, ("≤", _fn(f, at), _fn(f, var(x))))
        goal = ("≤", _fn(f, var(n)), start)
        h0 = names.take("h0", "hz")
        hypotheses = ((h0, ("≤", _fn(f, num(0)), start)), (hs, given))
        proof = _by_induction(n, _exact(h0), chain([f"apply Nat.le_trans ({hs} {n})", "exact ih"]))
        bound, goal, proof = _over_all(rng, n, goal, proof)
        return Problem("induction", ((f, "Nat → Nat"), *parameters, *bound), hypotheses, goal, proof)
    proof = _by_induction(n, zero, succ)
    if difficulty > 3 and rng.random() < 0.5:
        extra = var(c)
        goal = (goal[0], goal[1], ("+", goal[2], extra))
        bound, goal, proof = _over_all(rng, n, goal, Step("apply Nat.le_add_right_of_le", (proof,)))
        return Problem("induction", ((f, "Nat → Nat"), (c, "Nat"), *bound), ((hs, given),), goal, proof)
    bound, goal, proof = _over_all(rng, n, goal, proof)
    return Problem("induction", ((f, "Nat → Nat"), *bound), ((hs, given),), goal, proof)


# ---- powers and positivity


def _power(rng: random.Random, difficulty: int) -> Problem | None:
    """Laws of powers that the library does not state."""
    del difficulty
    names, n, _, c = _names(rng)
    b: Term = ("+", var(c), _SUCC)
    if rng.random() < 0.4:
        b = num(rng.randint(2, 5))
    parameters = ((c, "Nat"),) if b[0] == "+" else ()
    power = ("^", b, var(n))
    positive = "apply Nat.zero_lt_succ"
    if rng.random() < 0.5:
        goal: Formula = ("<", num(0), power)
        zero = Step("exact Nat.zero_lt_one")
        succ = Step("rw [Nat.pow_succ]", (Step("apply Nat.mul_pos", (Step("exact ih"), Step(positive))),))
    else:
        goal = ("≤", num(1), power)
        zero = Step("exact Nat.le_refl 1")
        succ = Step("rw [Nat.pow_succ]", (Step("apply Nat.mul_pos", (Step("exact ih"), Step(positive))),))
    if rng.random() < 0.4:
        k = names.take("k", "m", "i")
        hypothesis = names.fresh("hyp")
        goal = substitute(("<", num(0), ("^", var(k), var(n))), k, var(k))
        succ = Step("rw [Nat.pow_succ]", (Step("apply Nat.mul_pos", (Step("exact ih"), _exact(hypothesis))),))
        bound, goal, proof = _over_all(rng, n, goal, _by_induction(n, Step("exact Nat.zero_lt_one"), succ))
        given = (hypothesis, ("<", num(0), var(k)))
        return Problem("induction", ((k, "Nat"), *bound), (given,), goal, proof)
    bound, goal, proof = _over_all(rng, n, goal, _by_induction(n, zero, succ))
    if show(goal) == show(power):
        return None
    return Problem("induction", (*parameters, *bound), (), goal, proof)
