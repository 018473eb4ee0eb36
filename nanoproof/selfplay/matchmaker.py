"""Which theorem to try next, and how hard: theorems that are neither settled nor hopeless are drawn most.

The matchmaker is a pure function of the outcomes it was told, in the order (step, rank, sequence), so every rank that
was told the same outcomes is in the same state; each rank draws with its own random generator.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from nanoproof.common.config import Presets, check, opt, preset_values, validate
from nanoproof.prover.attempt import Outcome

WEIGHT_UNIT = 1_000_000  # weights are whole multiples of 1 / WEIGHT_UNIT, so that their sums are exact
_LETTERS: dict[Outcome, str] = {"proven": "p", "disproven": "d", "unproven": "u", "error": "e"}
_REFUSED = "r"  # an error, too: Lean refuses the statement


@dataclass(frozen=True)
class MatchmakerConfig:
    """Matchmaker"""

    PRESETS: ClassVar[Presets] = {
        "default": {},
        "alphaproof": {
            "trust": 8,
            "trust_proved": 12,
            "base_simulations": 250,
            "simulations_mult": 1.17,
            "max_simulations": 16_000,
            "recent_failures": "trailing",
        },
    }

    trust: int = opt(4, "Attempts without error after which a theorem's outcomes count.", min=1)
    trust_proved: int = opt(6, "Proofs in a row after which a theorem is settled.", min=1)
    low: float = opt(0.001, "Weight of a theorem that is settled or trivial.", min=0, max=1)
    undecided: float = opt(
        0.1,
        "Weight of a theorem that was never proved in `trust` attempts, or whose last `trust` were errors.",
        min=0,
        max=1,
    )
    base_simulations: int = opt(64, "Simulations of a first attempt.", min=1)
    simulations_mult: float = opt(1.5, "Factor on the simulations for each recent failure.", min=1)
    max_simulations: int = opt(1024, "Most simulations of one attempt.", min=1)
    recent_failures: Literal["trust", "trailing"] = opt(
        "trust",
        "Failures that raise the simulations: those among the last `trust` attempts, or all since the last proof.",
    )

    def __post_init__(self) -> None:
        validate(self, "matchmaker")
        for name, value in (("low", self.low), ("undecided", self.undecided)):
            exact = abs(value * WEIGHT_UNIT - round(value * WEIGHT_UNIT)) < 1e-6
            check(exact, f"matchmaker.{name} must be a multiple of {1 / WEIGHT_UNIT:.6f}, got {value}")

    @classmethod
    def preset(cls, name: Literal["default", "alphaproof"], **overrides: object) -> "MatchmakerConfig":
        """The constants of `name`; `alphaproof` are those of the published system. ValueError for other names."""
        return cls(**{**preset_values(cls, name), **overrides})


@dataclass(frozen=True, slots=True)
class Assignment:
    """The number of a theorem to try, and the simulations to spend on it."""

    index: int
    num_simulations: int


@dataclass(slots=True)
class History:
    """The outcomes of one theorem: one letter each, oldest first, and whether some proof had a single tactic."""

    outcomes: str = ""
    one_tactic: bool = False

    @property
    def decided(self) -> str:
        """The outcomes without errors."""
        return self.outcomes.replace("e", "").replace(_REFUSED, "")

    @property
    def refused(self) -> bool:
        """Whether Lean refused the statement twice in a row; errors of servers are no news about the theorem."""
        return self.outcomes.replace("e", "").endswith(2 * _REFUSED)


def weight(history: History, config: MatchmakerConfig) -> float:
    """How often a theorem with this history is drawn, relative to the others; the first rule that applies decides.

    A theorem is left for good if it was disproved or is refused. One that only ever meets failing servers and processes
    may itself be the reason: it becomes rarer, until an attempt at it ends without an error.
    """
    decided = history.decided
    if "d" in decided or history.refused:
        return 0.0
    if history.one_tactic:
        return config.low
    if history.outcomes.endswith("e" * config.trust):
        return config.undecided
    if len(decided) < config.trust:
        return 1.0
    if "p" not in decided:
        return config.undecided
    if decided.endswith("p" * config.trust_proved):
        return config.low
    return 1.0


def budget(history: History, config: MatchmakerConfig) -> int:
    """Simulations for the next attempt: `base * mult^failures`, capped."""
    decided = history.decided
    if config.recent_failures == "trailing":
        failures = len(decided) - len(decided.rstrip("u"))
    else:
        failures = decided[-config.trust :].count("u")
    try:
        return min(config.max_simulations, round(config.base_simulations * config.simulations_mult**failures))
    except OverflowError:
        return config.max_simulations


class Matchmaker:
    """Draws theorems, which it knows by number, by weight: exactly and in O(log n). Keeps the history of each."""

    def __init__(self, num_theorems: int, config: MatchmakerConfig) -> None:
        self.config = config
        self._histories = [History() for _ in range(num_theorems)]
        self._weights = FenwickTree([self._units(history) for history in self._histories])

    def assign(self, rng: random.Random) -> Assignment | None:
        """A theorem with probability proportional to its weight; None if all weights are 0."""
        if self._weights.total == 0:
            return None
        index = self._weights.find(rng.randrange(self._weights.total))
        return Assignment(index, budget(self._histories[index], self.config))

    def update(self, index: int, outcome: Outcome, num_tactics: int = 0, refused: bool = False) -> None:
        """Tell the outcome of an attempt; to be called in the order (step, rank, sequence) of the attempts.

        `refused` says of an error that Lean refused the statement.
        """
        history = self._histories[index]
        history.outcomes += _REFUSED if refused else _LETTERS[outcome]
        history.one_tactic |= outcome == "proven" and num_tactics == 1
        self._weights.set(index, self._units(history))

    def weight(self, index: int) -> float:
        """How often a theorem is drawn now, relative to the others."""
        return weight(self._histories[index], self.config)

    def to_state(self) -> list[list[Any]]:
        """What was told so far as plain JSON data: [number, outcomes, whether a proof had one tactic] per theorem."""
        return [[i, h.outcomes, h.one_tactic] for i, h in enumerate(self._histories) if h.outcomes]

    @classmethod
    def from_state(cls, num_theorems: int, config: MatchmakerConfig, state: list[list[Any]]) -> "Matchmaker":
        """The matchmaker that wrote `state`."""
        matchmaker = cls(num_theorems, config)
        for index, outcomes, one_tactic in state:
            matchmaker._histories[index] = History(outcomes, one_tactic)
            matchmaker._weights.set(index, matchmaker._units(matchmaker._histories[index]))
        return matchmaker

    def _units(self, history: History) -> int:
        return round(weight(history, self.config) * WEIGHT_UNIT)


class FenwickTree:
    """Whole-number weights with their sum, O(log n) changes, and O(log n) search by running sum."""

    def __init__(self, weights: Sequence[int]) -> None:
        self._weights = list(weights)
        self._tree = [0, *weights]
        self._top = 1
        while self._top * 2 <= len(self._weights):
            self._top *= 2
        for i in range(1, len(self._tree)):
            parent = i + (i & -i)
            if parent < len(self._tree):
                self._tree[parent] += self._tree[i]
        self.total = sum(weights)

    def set(self, index: int, weight: int) -> None:
        """Give `index` another weight (>= 0)."""
        change = weight - self._weights[index]
        self._weights[index] = weight
        self.total += change
        node = index + 1
        while node < len(self._tree):
            self._tree[node] += change
            node += node & -node

    def find(self, target: int) -> int:
        """The index i with `sum(weights[:i]) <= target < sum(weights[:i + 1])`, for 0 <= target < total."""
        assert 0 <= target < self.total
        position, step = 0, self._top
        while step:
            if position + step < len(self._tree) and self._tree[position + step] <= target:
                position += step
                target -= self._tree[position]
            step //= 2
        return position
