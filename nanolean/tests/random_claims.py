"""Random claims about numbers and propositions whose truth is known by trying values, and random tactics for them."""

from collections.abc import Callable, Iterator
from itertools import product
from random import Random
from typing import NamedTuple

VARIABLES = ("a", "b", "c")
LETTERS = ("p", "q", "r")

Values = tuple[int, ...]
Number = tuple[str, Callable[[Values], int]]
Formula = tuple[str, Callable[[Values], bool]]


class RandomClaim(NamedTuple):
    """Binders and proposition as text, and whether it holds for all values that were tried."""

    text: str
    holds: bool


def claim(rng: Random, kind: str) -> RandomClaim:
    """A claim of a kind: "linear", "products" or "logic"."""
    if kind == "logic":
        return _logic(rng)
    return _arithmetic(rng, kind == "products")


# -- numbers


def _arithmetic(rng: Random, products: bool) -> RandomClaim:
    names = VARIABLES[: rng.choice([1, 2, 2, 3])]
    hypotheses = [_relation(rng, len(names), products) for _ in range(rng.choice([0, 0, 1, 1, 2]))]
    goal = _relation(rng, len(names), products)
    if rng.random() < 0.3:
        goal = _combination(rng, goal, _relation(rng, len(names), products))
    size = {1: 40, 2: 21, 3: 11}[len(names)]
    text = f"({' '.join(names)} : Nat)" + "".join(f" (h{i} : {h[0]})" for i, h in enumerate(hypotheses))
    holds = all(
        goal[1](values) or not all(h[1](values) for h in hypotheses)
        for values in product(range(size), repeat=len(names))
    )
    return RandomClaim(f"{text} : {goal[0]}", holds)


def _combination(rng: Random, left: Formula, right: Formula) -> Formula:
    (a, f), (b, g) = left, right
    match rng.randrange(4):
        case 0:
            return f"{a} ∧ {b}", lambda v: f(v) and g(v)
        case 1:
            return f"{a} ∨ {b}", lambda v: f(v) or g(v)
        case 2:
            return f"{a} → {b}", lambda v: not f(v) or g(v)
        case _:
            return f"¬ ({a})", lambda v: not f(v)


def _relation(rng: Random, count: int, products: bool) -> Formula:
    (a, f), (b, g) = _sum(rng, count, products), _sum(rng, count, products)
    match rng.randrange(7):
        case 0 | 1:
            return f"{a} = {b}", lambda v: f(v) == g(v)
        case 2 | 3:
            return f"{a} ≤ {b}", lambda v: f(v) <= g(v)
        case 4:
            return f"{a} < {b}", lambda v: f(v) < g(v)
        case 5:
            return f"{a} ≠ {b}", lambda v: f(v) != g(v)
        case _:
            k = rng.randrange(2, 5)
            return f"{k} ∣ {a}", lambda v: f(v) % k == 0


def _sum(rng: Random, count: int, products: bool) -> Number:
    text, value = _summand(rng, count, products)
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        text, value = _grow(rng, (text, value), _summand(rng, count, products))
    return text, value


def _grow(rng: Random, left: Number, right: Number) -> Number:
    (a, f), (b, g) = left, right
    if rng.random() < 0.2:
        return f"{a} - {b}", lambda v: max(0, f(v) - g(v))
    return f"{a} + {b}", lambda v: f(v) + g(v)


def _summand(rng: Random, count: int, products: bool) -> Number:
    at = rng.randrange(count)
    name = VARIABLES[at]
    match rng.randrange(6):
        case 0 | 1 | 2:
            return name, lambda v: v[at]
        case 3:
            k = rng.randrange(2, 4)
            return f"{k} * {name}", lambda v: k * v[at]
        case 4 if products:
            other = rng.randrange(count)
            return f"{name} * {VARIABLES[other]}", lambda v: v[at] * v[other]
        case _:
            k = rng.randrange(4)
            return str(k), lambda v: k


# -- propositions


def _logic(rng: Random) -> RandomClaim:
    names = LETTERS[: rng.choice([1, 2, 2, 3])]
    text, value = _formula(rng, len(names), rng.choice([2, 3, 3]))
    holds = all(value(values) for values in product((0, 1), repeat=len(names)))
    return RandomClaim(f"({' '.join(names)} : Prop) : {text}", holds)


def _formula(rng: Random, count: int, depth: int) -> Formula:
    if depth == 0 or rng.random() < 0.1:
        if rng.random() < 0.08:
            return ("True", lambda v: True) if rng.random() < 0.5 else ("False", lambda v: False)
        at = rng.randrange(count)
        return LETTERS[at], lambda v: bool(v[at])
    a, f = _formula(rng, count, depth - 1)
    if rng.random() < 0.2:
        return f"¬ ({a})", lambda v: not f(v)
    b, g = _formula(rng, count, depth - 1)
    match rng.randrange(5):
        case 0:
            return f"({a}) ∧ ({b})", lambda v: f(v) and g(v)
        case 1:
            return f"({a}) ∨ ({b})", lambda v: f(v) or g(v)
        case 2:
            return f"(({a}) ↔ ({b}))", lambda v: f(v) == g(v)
        case _:
            return f"({a}) → ({b})", lambda v: not f(v) or g(v)


def claims(seed: int, kind: str, holds: bool) -> Iterator[RandomClaim]:
    """Endless different claims of a kind, all true or all false."""
    rng = Random(seed)
    seen = set()
    while True:
        found = claim(rng, kind)
        if found.holds == holds and found.text not in seen:
            seen.add(found.text)
            yield found


# -- tactics

LEMMAS = """
Nat.add_comm Nat.add_assoc Nat.mul_comm Nat.le_antisymm Nat.le_trans Nat.lt_irrefl Nat.zero_le Nat.sub_self
Nat.add_sub_cancel Nat.succ_le_succ Nat.le_of_lt_succ Nat.lt_of_le_of_lt Nat.add_left_cancel Nat.zero_add
Nat.not_lt_zero Nat.eq_zero_of_add_eq_zero_left absurd And.intro Or.inl Or.inr Iff.intro id Classical.em
"""
PLAIN = """
intro h; intro; intros; rfl; assumption; constructor; left; right; exfalso; contradiction; trivial; decide; simp
simp_all; omega; grind; ac_rfl; symm; split; subst_vars; injections; funext x; congr; and_intros; rotate_left; ext x
simp at *; simp [*]; simp only [*]; all_goals simp_all; all_goals omega; try omega; repeat constructor; skip; done
first | rfl | omega | grind; intro h <;> simp_all; intros <;> assumption; rintro ⟨h, x⟩; rintro (h | h); nofun
"""
LEMMA_NAMES = LEMMAS.split()
PLAIN_TACTICS = [text.strip() for text in PLAIN.replace("\n", ";").split(";") if text.strip()]
NAMES = ["h0", "h1", "a", "b", "c", "p", "q", "r", "h", "x", "this"]


def tactic(rng: Random) -> str:
    """Some tactic, sensible or not."""
    name, other, lemma = rng.choice(NAMES), rng.choice(NAMES), rng.choice(LEMMA_NAMES)
    term = rng.choice([f"{name}.1", f"{name}.2", f"{name} {other}", f"⟨{name}, {other}⟩", f"fun h => {name}"])
    forms = [
        lambda: rng.choice(PLAIN_TACTICS),
        lambda: rng.choice(PLAIN_TACTICS),
        lambda: (
            f"{rng.choice(['cases', 'induction', 'rcases', 'revert', 'subst', 'injection', 'clear', 'unfold'])} {name}"
        ),
        lambda: f"{rng.choice(['exact', 'apply', 'refine', 'have := ', 'simpa using', 'simp at'])} {name}",
        lambda: (
            f"{rng.choice(['exact', 'apply', 'rw', 'simp'])} {rng.choice([lemma, f'[{lemma}]', f'({lemma} {name})'])}"
        ),
        lambda: f"rw [{rng.choice(['', '← '])}{rng.choice([name, lemma])}]{rng.choice(['', f' at {other}', ' at *'])}",
        lambda: f"exact {term}",
        lambda: f"by_cases h : {rng.choice(['a = b', 'a ≤ 1', 'p', 'q', 'p ∧ q', 'a < b'])}",
        lambda: f"have h : {rng.choice(['a = b', 'False', 'p', 'a ≤ b', '1 = 1'])} := by {rng.choice(PLAIN_TACTICS)}",
        lambda: f"{rng.choice(['obtain', 'rcases'])} ⟨x, h⟩ := {name}",
        lambda: (
            f"{rng.choice(['show', 'change', 'suffices h :'])} {rng.choice(['False', 'True', 'a = a', 'p', 'a ≤ b'])}"
        ),
        lambda: f"specialize {name} {other}",
        lambda: f"generalize {name} = x{rng.choice(['', ' at *'])}",
        lambda: (
            f"refine {rng.choice(['?_', '⟨?_, ?_⟩', f'{lemma} ?_ ?_', f'absurd {name} ?_', 'Or.inl ?_', '.inr ?_'])}"
        ),
        lambda: f"exists {rng.choice(['0', '1', 'a', 'b'])}",
    ]
    return rng.choice(forms)()
