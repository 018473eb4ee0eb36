"""Problems that undo operations (cancellation) and problems that ask for a number (existence)."""

import random

from nanolean.data.generate_equations import expression
from nanolean.data.generate_order import Derivation, finish
from nanolean.data.problem import FALSE, Formula, Names, Problem, Step, Term, arg, chain, num, show, var


def _cancel_lemma(relation: str, side: str) -> str:
    return {
        "=": f"Nat.add_{side}_cancel",
        "≤": f"Nat.le_of_add_le_add_{side}",
        "<": f"Nat.lt_of_add_lt_add_{side}",
    }[relation]


def _iff_lemma(relation: str, side: str) -> str:
    return {
        "=": f"Nat.add_{side}_cancel_iff",
        "≤": f"Nat.add_le_add_iff_{side}",
        "<": f"Nat.add_lt_add_iff_{side}",
    }[relation]


def cancel_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """`a + x = a + y` and the like in a hypothesis, the inner relation in the goal."""
    pick = rng.random()
    if pick < 0.35:
        return _layers_problem(rng, difficulty)
    if pick < 0.75:
        return _factors_problem(rng, difficulty)
    if pick < 0.87:
        return _zero_problem(rng, difficulty)
    return _no_number_problem(rng, difficulty)


def _layers_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """Layers `+ a` around both sides; each is turned into place, then removed by an equivalence, outermost first."""
    d = Derivation(rng, Names(rng))
    relation = rng.choice(("=", "=", "≤", "<"))
    left: Term = d.fresh()
    right: Term = d.fresh() if rng.random() < 0.8 else ("+", d.fresh(), num(1))
    goal: Formula = (relation, left, right)
    tactics: list[str] = []
    h = d.names.fresh("hyp")
    for _ in range(rng.randint((difficulty + 1) // 2, difficulty)):
        layer: Term = d.known() if rng.random() < 0.75 else num(rng.randint(1, 3))
        side = rng.choice(("left", "right"))
        pair = [("+", layer, t) if side == "left" else ("+", t, layer) for t in (left, right)]
        steps = [f"rw [{_iff_lemma(relation, side)}] at {h}"]
        turned = rng.random() < 0.45
        if turned:
            k = rng.randrange(2)
            (_, s, t) = pair[k]
            pair[k] = ("+", t, s)
            steps.insert(0, f"rw [Nat.add_comm {arg(t)} {arg(s)}] at {h}")
            if pair[0] == pair[1] or ("+", t, s) in (left, right) or t == s:
                return None
        left, right = pair[0], pair[1]
        tactics = steps + tactics
    last = f"exact {h}"
    if not any("comm" in t for t in tactics) and len(tactics) <= 2 and rng.random() < 0.6:
        return _by_lemma(d, relation, (left, right), goal, h, tactics)
    d.hypotheses.append((h, (relation, left, right)))
    proof = chain([*tactics, last])
    if rng.random() < 0.15:
        d.hypotheses.pop()
        return finish("cancel", d, ("→", (relation, left, right), goal), Step(f"intro {h}", (proof,)))
    return finish("cancel", d, goal, proof)


_FACTOR_LEMMAS = {
    ("=", "left"): "apply Nat.eq_of_mul_eq_mul_left {}",
    ("=", "right"): "apply Nat.eq_of_mul_eq_mul_right {}",
    ("≤", "left"): "refine Nat.le_of_mul_le_mul_left ?_ {}",
    ("≤", "right"): "refine Nat.le_of_mul_le_mul_right ?_ {}",
}


def _factors_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """Positive factors around both sides, taken into the goal one by one, innermost first, and turned into place."""
    d = Derivation(rng, Names(rng))
    relation = rng.choice(("=", "≤"))
    left: Term = d.fresh()
    right: Term = d.fresh() if rng.random() < 0.8 else ("+", d.fresh(), num(1))
    goal: Formula = (relation, left, right)
    tactics: list[str] = []
    known: dict[Term, str] = {}
    for _ in range(rng.randint(1, (difficulty + 2) // 2)):
        factor = rng.choice([*known, d.fresh()]) if known else d.fresh()
        positive = known.get(factor) or _positive(rng, d, factor)
        if rng.random() < 0.25:
            factor, positive = ("+", factor, num(1)), f"(Nat.zero_lt_succ {arg(factor)})"
        else:
            known[factor] = positive
        side = rng.choice(("left", "right"))
        pair = [("*", factor, t) if side == "left" else ("*", t, factor) for t in (left, right)]
        tactics.append(_FACTOR_LEMMAS[relation, side].format(positive))
        k = rng.randrange(2)
        (_, s, t) = pair[k]
        if rng.random() < 0.4 and s != t and ("*", s, t) not in (left, right):
            pair[k] = ("*", t, s)
            tactics.append(f"rw [Nat.mul_comm {arg(s)} {arg(t)}]")
        left, right = pair
        if left == right:
            return None
    h = d.assume((relation, left, right))
    return finish("cancel", d, goal, chain([*tactics, f"exact {h}"]))


def _positive(rng: random.Random, d: Derivation, factor: Term) -> str:
    """A hypothesis that says that the factor is not 0, and the proof that it is positive."""
    if rng.random() < 0.7:
        return d.assume(("<", num(0), factor))
    return f"(Nat.pos_of_ne_zero {d.assume(('≠', factor, num(0)))})"


def _by_lemma(
    d: Derivation, relation: str, sides: tuple[Term, Term], goal: Formula, h: str, tactics: list[str]
) -> Problem | None:
    """The same by the one-directional lemmas: `exact Nat.add_left_cancel (Nat.add_right_cancel h)`."""
    term = h
    for tactic in tactics:
        side = "left" if "left" in tactic else "right"
        term = f"{_cancel_lemma(relation, side)} {term if term == h else f'({term})'}"
    d.hypotheses.append((h, (relation, *sides)))
    return finish("cancel", d, goal, Step(f"exact {term}"))


def _zero_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """A sum or product that is zero."""
    d = Derivation(rng, Names(rng))
    h = d.names.fresh("hyp")
    terms = [d.fresh() for _ in range(2 + (difficulty > 3))]
    if rng.random() < 0.6:
        total: Term = terms[0]
        for term in terms[1:]:
            total = ("+", total, term)
        d.hypotheses.append((h, ("=", total, num(0))))
        k = rng.randrange(len(terms))
        proof = f"Nat.eq_zero_of_add_eq_zero_{'left' if k == len(terms) - 1 else 'right'} {h}"
        for depth in range(len(terms) - 2, 0, -1):
            if k == len(terms) - 1:
                break
            proof = f"Nat.eq_zero_of_add_eq_zero_{'left' if k == depth else 'right'} ({proof})"
            if k == depth:
                break
        return finish("cancel", d, ("=", terms[k], num(0)), Step(f"exact {proof}"))
    a, b = terms[:2]
    d.hypotheses.append((h, ("=", ("*", a, b), num(0))))
    n = d.names.take("hn", "hm")
    d.hypotheses.append((n, ("≠", a, num(0))))
    cases = Step(
        f"cases Nat.eq_zero_of_mul_eq_zero {h} with | inl h1 => ?_ | inr h2 => ?_",
        (Step("contradiction"), Step("exact h2")),
    )
    if {h, n} & {"h1", "h2"}:
        return None
    return finish("cancel", d, ("=", b, num(0)), cases)


def _no_number_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """An equation without a solution, such as `a + 1 = 0` or `k + a + 1 = k`."""
    d = Derivation(rng, Names(rng))
    h = d.names.fresh("hyp")
    a = d.fresh()
    k = d.fresh() if difficulty > 1 else None
    if k is None:
        d.hypotheses.append((h, ("=", ("+", a, num(1)), num(0))))
        proof = Step("contradiction") if rng.random() < 0.3 else Step(f"exact Nat.add_one_ne_zero {arg(a)} {h}")
        return finish("cancel", d, FALSE, proof)
    left: Term = ("+", k, ("+", a, num(1)))
    d.hypotheses.append((h, ("=", left, k)))
    proof = chain([f"rw [Nat.add_eq_left] at {h}", f"exact Nat.add_one_ne_zero {arg(a)} {h}"])
    if rng.random() < 0.5:
        d.hypotheses[-1] = (h, ("=", ("+", ("+", a, num(1)), k), k))
        proof = chain([f"rw [Nat.add_eq_right] at {h}", f"exact Nat.add_one_ne_zero {arg(a)} {h}"])
    goal: Formula = FALSE
    if rng.random() < 0.4:
        goal = ("=", a, k)
        proof = Step("exfalso", (proof,))
    return finish("cancel", d, goal, proof)


# ---------------------------------------------------------------------------------------------------------------------
# Existence


def exists_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """Make a problem that needs a witness, perhaps after taking hypotheses apart."""
    pick = rng.random()
    if pick < 0.35:
        return _number_problem(rng, difficulty)
    if pick < 0.7:
        return _witness_from_equation(rng, difficulty)
    return _divisor_problem(rng, difficulty)


def _number_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """`∃ x, x + 3 = 7` and its conjunctions; the witness is a numeral."""
    names = Names(rng)
    d = Derivation(rng, names)
    x = names.fresh("bound")
    value = rng.randint(0, 4 + 2 * difficulty)
    facts: list[Formula] = []
    for _ in range(rng.randint(1, min(3, 1 + difficulty // 2))):
        k = rng.randint(1, 5)
        facts.append(
            rng.choice(
                [
                    ("=", ("+", var(x), num(k)), num(value + k)),
                    ("=", ("+", num(k), var(x)), num(value + k)),
                    ("=", ("*", num(k), var(x)), num(value * k)),
                    ("≤", num(max(0, value - k)), var(x)),
                    ("<", var(x), num(value + k)),
                    ("≤", var(x), num(value)),
                    ("=", ("*", var(x), var(x)), num(value * value)),
                ]
            )
        )
    if (not any(f[0] == "=" for f in facts) and len(facts) < 2) or len(set(facts)) < len(facts):
        return None
    body = facts[-1]
    for fact in reversed(facts[:-1]):
        body = ("∧", fact, body)
    return finish("exists", d, ("ex", x, body), Step(f"exists {value}"))


def _witness_from_equation(rng: random.Random, difficulty: int) -> Problem | None:
    """The witness is a term: `∃ x, a + x = b` from `b = a + c`, perhaps under another ∃."""
    names = Names(rng)
    d = Derivation(rng, names)
    x = names.fresh("bound")
    a, b = d.fresh(), d.fresh()
    c = expression(rng, [d.fresh(), num(rng.randint(1, 4))], rng.randint(1, 1 + (difficulty > 2)), "+*")
    if c[0] == "num":
        return None
    turned = rng.random() < 0.4
    total: Term = ("+", c, a) if turned else ("+", a, c)
    h = d.names.fresh("hyp")
    goal: Formula = ("ex", x, ("=", ("+", a, var(x)), b))
    ending = [f"rw [{h}]"] + ([f"rw [Nat.add_comm {arg(c)} {arg(a)}]"] if turned else [])
    if difficulty > 2 and rng.random() < 0.6:
        bound = names.fresh("bound")
        given: Formula = ("ex", bound, ("=", b, ("+", a, ("+", var(bound), c))))
        d.hypotheses.append((h, given))
        w, e = names.take("w", "k", "t"), names.take("hw", "hk")
        witness: Term = ("+", var(w), c)
        proof = chain([f"cases {h} with | intro {w} {e} => ?_", f"exists {show(witness)}", f"rw [{e}]"])
        return finish("exists", d, goal, proof)
    d.hypotheses.append((h, ("=", b, total)))
    proof = chain([f"exists {show(c)}", *ending])
    if rng.random() < 0.3:
        p = names.fresh("pred")
        name = d.assume(("atom", p, c))
        goal = ("ex", x, ("∧", ("=", ("+", a, var(x)), b), ("atom", p, var(x))))
        proof = Step(f"exists {show(c)}", (Step("constructor", (chain(ending), Step(f"exact {name}"))),))
        problem = finish("exists", d, goal, proof)
        if problem is None:
            return None
        binders = ((p, "Nat → Prop"), *problem.variables)
        return Problem(problem.family, binders, problem.hypotheses, goal, proof)
    return finish("exists", d, goal, proof)


def _divisor_problem(rng: random.Random, difficulty: int) -> Problem | None:
    """Divisibility taken apart by hand: witnesses of the hypotheses make the witness of the goal."""
    names = Names(rng)
    d = Derivation(rng, names)
    k = d.fresh()
    pieces: list[Term] = []
    opening: list[str] = []
    rewriting: list[str] = []
    total: Term | None = None
    for _ in range(rng.randint(1, 1 + (difficulty > 2) + (difficulty > 4))):
        b = d.fresh()
        if rng.random() < 0.75:
            h = d.assume(("∣", k, b))
            w, e = names.take("c", "w", "u", "v", "i", "j"), names.take("hc", "hd", "he", "hf")
            opening.append(f"cases {h} with | intro {w} {e} => ?_")
            rewriting.append(f"rw [{e}]")
            piece = var(w)
        else:
            h = d.assume(("=", b, ("*", k, d.fresh())))
            rewriting.append(f"rw [{h}]")
            piece = var(d.variables[-1])
        total = b if total is None else ("+", total, b)
        pieces.append(piece)
    assert total is not None
    factor = d.known() if rng.random() < 0.4 else None
    witness = pieces[0]
    for piece in pieces[1:]:
        witness = ("+", witness, piece)
    closing = ["rw [Nat.mul_add]"] * (len(pieces) - 1)
    if factor is not None and factor not in (k, total):
        total, witness = ("*", total, factor), ("*", witness, factor)
        if len(pieces) > 1:
            return None
        closing = [f"rw [Nat.mul_assoc {arg(k)} {arg(pieces[0])} {arg(factor)}]"]
    proof = chain([*opening, f"exists {show(witness)}", *rewriting, *closing])
    goal: Formula = ("∣", k, total)
    if rng.random() < 0.3:
        x = names.fresh("bound")
        goal = ("ex", x, ("=", total, ("*", k, var(x))))
    return finish("exists", d, goal, proof)
