"""Random claims of linear arithmetic on natural numbers, as Lean text and as Python text to find counterexamples."""

import itertools
import random
from collections.abc import Callable
from typing import NamedTuple

NAMES = "xyzw"
SMALL_BOX = {2: 25, 3: 10, 4: 6}
LARGE_BOX = {2: 60, 3: 24, 4: 12}
"""How many values each variable takes, by the number of variables."""


class Text(NamedTuple):
    """One term or proposition in both languages."""

    lean: str
    python: str


class Claim(NamedTuple):
    """Variables, hypotheses and conclusion."""

    names: str
    hyps: list[Text]
    goal: Text

    @property
    def statement(self) -> str:
        """Binders and proposition."""
        hyps = "".join(f"(h{i} : {hyp.lean}) " for i, hyp in enumerate(self.hyps))
        return f"({' '.join(self.names)} : Nat) {hyps}: {self.goal.lean}"

    def counterexample(self, thorough: bool = False) -> tuple[int, ...] | None:
        """Values for which the hypotheses hold and the conclusion does not, None if none was found."""
        parts = [*(hyp.python for hyp in self.hyps), f"not ({self.goal.python})"]
        refutes = eval(f"lambda {', '.join(self.names)}: {' and '.join(f'({part})' for part in parts)}")
        count = len(self.names)
        box = (LARGE_BOX if thorough else SMALL_BOX)[count]
        found = next((values for values in itertools.product(range(box), repeat=count) if refutes(*values)), None)
        return _search_far(refutes, count) if found is None and thorough else found


def _search_far(refutes: Callable[..., bool], count: int) -> tuple[int, ...] | None:
    chance = random.Random(count)
    for _ in range(40_000):
        values = tuple(chance.randint(0, chance.choice([1, 5, 20, 100])) for _ in range(count))
        if refutes(*values):
            return values
    return None


class Maker:
    """Makes random terms and propositions over some variables."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.names = NAMES[: self.chance.choice([2, 2, 3, 3, 4])]

    def linear(self) -> Text:
        """A sum of multiples of variables, and perhaps a number."""
        parts = []
        for name in self.names:
            if self.chance.random() < 0.65:
                times = self.chance.randint(0, 5)
                parts.append(name if times == 1 else f"{times} * {name}")
        if not parts or self.chance.random() < 0.5:
            parts.append(str(self.chance.randint(0, 9)))
        self.chance.shuffle(parts)
        text = " + ".join(parts)
        return Text(text, text)

    def term(self) -> Text:
        """A linear term, at times below a truncated subtraction, a quotient or a remainder."""
        kind = self.chance.random()
        a, number = self.linear(), self.chance.randint(1, 5)
        if kind < 0.7:
            return a
        if kind < 0.84:
            b = self.linear()
            return Text(f"({a.lean}) - ({b.lean})", f"max(({a.python}) - ({b.python}), 0)")
        if kind < 0.93:
            return Text(f"({a.lean}) % {number}", f"({a.python}) % {number}")
        return Text(f"({a.lean}) / {number}", f"({a.python}) // {number}")

    def relation(self) -> Text:
        """Two terms compared, or a divisibility."""
        a, b = self.term(), self.term()
        if self.chance.random() < 0.12:
            number = self.chance.randint(1, 5)
            return Text(f"{number} ∣ {a.lean}", f"({a.python}) % {number} == 0")
        lean, python = self.chance.choice(
            [("=", "=="), ("=", "=="), ("≤", "<="), ("≤", "<="), ("<", "<"), (">", ">"), ("≥", ">="), ("≠", "!=")]
        )
        return Text(f"{a.lean} {lean} {b.lean}", f"{a.python} {python} {b.python}")

    def proposition(self) -> Text:
        """A relation, or one connective over relations."""
        kind, a = self.chance.random(), self.relation()
        if kind < 0.7:
            return a
        if kind < 0.77:
            return Text(f"¬({a.lean})", f"not ({a.python})")
        b = self.relation()
        if kind < 0.86:
            return Text(f"({a.lean}) ∨ ({b.lean})", f"({a.python}) or ({b.python})")
        if kind < 0.93:
            return Text(f"({a.lean}) ∧ ({b.lean})", f"({a.python}) and ({b.python})")
        if kind < 0.97:
            return Text(f"({a.lean}) → ({b.lean})", f"not ({a.python}) or ({b.python})")
        return Text(f"({a.lean}) ↔ ({b.lean})", f"({a.python}) == ({b.python})")


def random_claim(seed: int) -> Claim:
    """One to four hypotheses and a conclusion that have nothing to do with each other."""
    maker = Maker(seed)
    hyps = [maker.proposition() for _ in range(maker.chance.randint(1, 4))]
    return Claim(maker.names, hyps, maker.proposition())


def derived_claim(seed: int) -> Claim:
    """A claim that holds: the conclusion adds up multiples of the hypotheses and leaves something over."""
    maker = Maker(seed)
    hyps, low, high = [], [], [str(maker.chance.randint(0, 3))]
    for _ in range(maker.chance.randint(1, 4)):
        a, b, times = maker.term(), maker.term(), maker.chance.randint(0, 4)
        hyps.append(Text(f"{a.lean} ≤ {b.lean}", f"{a.python} <= {b.python}"))
        low.append(f"{times} * ({a.lean})")
        high.append(f"({b.lean}) * {times}")
    return Claim(maker.names, hyps, Text(f"{' + '.join(low)} ≤ {' + '.join(high)}", "True"))
