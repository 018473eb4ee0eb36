"""Which theorem to try next, and how hard: theorems that are neither settled nor hopeless are drawn most.

The matchmaker is a pure function of the outcomes it has seen, in the order (step, rank, sequence), so every rank that
has seen the same outcomes is in the same state; each rank draws with its own random generator.
"""

import math
import random
from array import array
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from nanoproof.common.config import Presets, check, opt, preset_values, validated
from nanoproof.prover.attempt import Attempt

WEIGHT_UNIT = 1_000_000
"""Weights are whole multiples of 1 / WEIGHT_UNIT, so that their sums are exact."""

Event = Literal["proven", "one tactic", "disproven", "unproven", "not disproven", "error", "refused"]
"""How an attempt ended, as far as the matchmaker is concerned: `one tactic` is a proof of one tactic, `not disproven` a
try at the negation that found nothing, `refused` an error by which Lean refused the statement."""


@validated("matchmaker")
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
        # The published pseudocode, whose number of simulations is a constant.
        "alphaproof-pseudocode": {
            "trust": 8,
            "trust_proved": 12,
            "base_simulations": 1000,
            "simulations_mult": 1.0,
            "max_simulations": 1000,
            "rules": "pseudocode",
        },
        # A run of half an hour attempts a theorem a few times: what it cannot prove has to be given up sooner.
        "small": {"trust": 3, "trust_proved": 3, "base_simulations": 16, "max_simulations": 64},
    }

    trust: int = opt(4, "Attempts without error after which a theorem's outcomes count.", min=1, constant=True)
    trust_proved: int = opt(6, "Proofs in a row after which a theorem is settled.", min=1, constant=True)
    low: float = opt(
        0.001, "Weight of a theorem that is settled, trivial, or refused by Lean.", min=0, max=1, constant=True
    )
    undecided: float = opt(
        0.1,
        "Weight of a theorem that was never proved in `trust` attempts, or whose last `trust` were errors.",
        min=0,
        max=1,
        constant=True,
    )
    base_simulations: int = opt(64, "Simulations of a first attempt.", min=1, advanced=True)
    simulations_mult: float = opt(1.5, "Factor on the simulations for each recent failure.", min=1, constant=True)
    max_simulations: int = opt(
        1024,
        "Most simulations of one attempt; with `recent_failures` trust no more than base x mult^trust either.",
        min=1,
        advanced=True,
    )
    recent_failures: Literal["trust", "trailing"] = opt(
        "trust",
        "Failures that raise the simulations: those among the last `trust` attempts, or all since the last proof.",
        constant=True,
    )

    rules: Literal["paper", "pseudocode"] = opt(
        "paper",
        "pseudocode: as AlphaProof's published pseudocode weighs (settled after `trust` attempts that were all proofs; "
        "a proof of one tactic settles nothing; a failed disproof counts, whatever was proved).",
        constant=True,
    )

    def __post_init__(self) -> None:
        # With floats the sum of a million weights depends on the order of the changes, and a resumed run would draw
        # other theorems than the run that it resumes.
        for name, value in (("low", self.low), ("undecided", self.undecided)):
            exact = abs(value * WEIGHT_UNIT - round(value * WEIGHT_UNIT)) < 1e-6
            check(exact, f"matchmaker.{name} must be a multiple of {1 / WEIGHT_UNIT:.6f}, got {value}", "matchmaker")

    @property
    def most_failures(self) -> int:
        """Failures in a row that are counted: by then the budget is as large as it gets. 0 if they do not matter."""
        growth = self.max_simulations / self.base_simulations
        if self.recent_failures != "trailing" or self.simulations_mult == 1 or growth <= 1:
            return 0
        # One more than the least n with mult^n >= growth, as the logarithms are rounded. Without a bound each number
        # of failures would be a standing of its own.
        return math.ceil(math.log(growth) / math.log(self.simulations_mult)) + 1

    @classmethod
    def preset(
        cls, name: Literal["default", "alphaproof", "alphaproof-pseudocode", "small"], **overrides: object
    ) -> "MatchmakerConfig":
        """Make the preset `name`; `alphaproof` is that of the published system. Raises ValueError for other names."""
        return cls(**{**preset_values(cls, name), **overrides})


def event_of(attempt: Attempt) -> Event:
    """Classify how an attempt ended."""
    if attempt.outcome == "error" and attempt.refused:
        return "refused"
    if attempt.outcome == "proven" and attempt.num_tactics == 1:
        return "one tactic"
    if attempt.outcome == "unproven" and attempt.disproving:
        return "not disproven"
    return attempt.outcome


@dataclass(frozen=True, slots=True)
class Assignment:
    """The number of a theorem to try, the simulations to spend on it, and whether it has a proof already."""

    index: int
    num_simulations: int
    proven: bool = False


class Standing(NamedTuple):
    """What the outcomes of one theorem come to: all that its weight and its budget depend on.

    Theorems with equal standings share one, and there are few: runs and windows end where they no longer matter.
    """

    disproven: bool = False
    one_tactic: bool = False
    """Whether some proof had a single tactic."""
    proven: bool = False
    refusals: int = 0
    """Times in a row that Lean refused the statement, up to 2; errors of servers in between are no news."""
    errors: int = 0
    """Other errors in a row at the end, up to `trust`."""
    recent: str = ""
    """The last `trust` outcomes without errors: `p` or `u` (unproven)."""
    proofs: int = 0
    """Proofs in a row at the end, errors left out, up to `trust_proved`."""
    failures: int = 0
    """Failures in a row at the end, errors left out, until they ask for the largest budget."""
    failed: bool = False
    """Whether some attempt without error failed; kept with `rules` pseudocode only, which asks for it."""


def updated(standing: Standing, event: Event, config: MatchmakerConfig) -> Standing:
    """Update the standing of a theorem once one more attempt has ended.

    That the negation could not be proved is a failure like any other, but no news about a theorem that has a proof:
    otherwise none would ever be settled where every other attempt tries to disprove. (In the published pseudocode it is
    a failure there too: 12 proofs in a row, with half of the attempts at the negation, come once in 4,096 tries.)
    """
    pseudocode = config.rules == "pseudocode"
    # Two counts, since they mean different things: hours without servers must retire no theorem, while Lean refuses a
    # statement twice only for what it says. A refusal needs a server that works, so that it ends a row of errors.
    if event == "error":
        return standing._replace(errors=min(standing.errors + 1, config.trust))
    if event == "refused":
        return standing._replace(errors=0, refusals=min(standing.refusals + 1, 2))
    without_errors = standing._replace(errors=0, refusals=0)
    if event == "disproven":
        return without_errors._replace(disproven=True)
    if event == "not disproven" and standing.proven and not pseudocode:
        return without_errors
    if event in ("unproven", "not disproven"):
        recent = (standing.recent + "u")[-config.trust :]
        failures = min(standing.failures + 1, config.most_failures)
        return without_errors._replace(recent=recent, proofs=0, failures=failures, failed=pseudocode)
    return without_errors._replace(
        one_tactic=standing.one_tactic or (event == "one tactic" and not pseudocode),
        proven=True,
        recent=(standing.recent + "p")[-config.trust :],
        proofs=min(standing.proofs + 1, config.trust_proved),
        failures=0,
    )


def weight(standing: Standing, config: MatchmakerConfig) -> float:
    """Weigh how often a theorem is drawn, relative to the others; the first rule that applies decides.

    A theorem is left for good if it was disproved. One that Lean refuses becomes rare, not more: the server may be what
    is wrong. One that only ever meets failing servers and processes may itself be the reason: it becomes rarer. Both
    are forgotten when an attempt at it ends without an error.
    """
    if standing.disproven:
        return 0.0
    if standing.one_tactic or standing.refusals == 2:
        return config.low
    if standing.errors == config.trust:
        return config.undecided
    # Before the count of attempts: `trust_proved` may be less than `trust`.
    if is_reliably_proved(standing, config):
        return config.low
    # Proved now and then: what is at the edge of the network's ability teaches most.
    if len(standing.recent) < config.trust or standing.proven:
        return 1.0
    return config.undecided


def is_reliably_proved(standing: Standing, config: MatchmakerConfig) -> bool:
    """Tell whether the last `trust_proved` attempts without error were all proofs.

    The pseudocode looks at the last 12 attempts of a list that may be shorter: from `trust` attempts on, it is enough
    that all there are were proofs.
    """
    if standing.proofs == config.trust_proved:
        return True
    return config.rules == "pseudocode" and standing.proofs >= config.trust and not standing.failed


def is_settled(standing: Standing, config: MatchmakerConfig) -> bool:
    """Tell whether a theorem has nothing more to teach: it is disproved, trivial, refused or reliably proved."""
    refused = standing.refusals == 2
    return standing.disproven or standing.one_tactic or refused or is_reliably_proved(standing, config)


def budget(standing: Standing, config: MatchmakerConfig) -> int:
    """Compute the simulations for the next attempt: `base * mult^failures`, capped."""
    if config.recent_failures == "trailing":
        failures = standing.failures
    else:
        failures = standing.recent.count("u")
    try:
        return min(config.max_simulations, round(config.base_simulations * config.simulations_mult**failures))
    except OverflowError:  # a large factor to the power of `trust`
        return config.max_simulations


class Matchmaker:
    """Draws theorems, which it knows by number, by weight: exactly and in O(log n).

    A theorem takes 12 bytes: the number of its standing, and a node in the tree of weights. What a standing comes to,
    and what an outcome makes of it, is worked out once. Among a million theorems a draw takes 5 microseconds, where
    `random.choices` takes 29 milliseconds (experiments.md, matchmaker and replay buffer).
    """

    def __init__(self, num_theorems: int, config: MatchmakerConfig) -> None:
        self.config = config
        # By number of standing: the standing itself, its weight in units, its budget.
        self._standings: list[Standing] = []
        self._units: list[int] = []
        self._budgets: list[int] = []
        self._numbers: dict[Standing, int] = {}
        # The number of the standing that an event leads to.
        self._after: dict[tuple[int, Event], int] = {}
        new = self._number(Standing())  # 0, which `standings` knows the theorems without attempts by
        self._of_theorem = array("I", [new]) * num_theorems
        self._weights = FenwickTree(num_theorems, self._units[new])
        self._withheld: set[int] = set()

    @property
    def exhausted(self) -> bool:
        """Whether no theorem is left to try."""
        return self._weights.total == 0

    def assign(self, rng: random.Random) -> Assignment | None:
        """Draw a theorem with probability proportional to its weight; None if all weights are 0."""
        total = self._weights.total
        if total == 0:
            return None
        index = self._weights.find(rng.randrange(total))
        number = self._of_theorem[index]
        return Assignment(index, self._budgets[number], self._standings[number].proven)

    def extend(self, count: int) -> None:
        """Add `count` theorems without attempts, whose numbers follow those that there are."""
        new = self._number(Standing())
        for _ in range(count):
            self._of_theorem.append(new)
            self._weights.append(self._units[new])

    def withhold(self, index: int) -> None:
        """Never draw a theorem again, as it is tried by a rule of its own; its standing is kept."""
        if index not in self._withheld:
            self._withheld.add(index)
            self._weights.add(index, -self._units[self._of_theorem[index]])

    def renew(self, index: int) -> None:
        """Forget the attempts at a theorem, as what is to be proved there is now another."""
        new = self._number(Standing())
        if index not in self._withheld:
            self._weights.add(index, self._units[new] - self._units[self._of_theorem[index]])
        self._of_theorem[index] = new

    def update(self, index: int, event: Event) -> None:
        """Record how an attempt ended; to be called in the order (step, rank, sequence) of the attempts."""
        before = self._of_theorem[index]
        now = self._after.get((before, event))
        if now is None:
            now = self._number(updated(self._standings[before], event, self.config))
            self._after[before, event] = now
        self._of_theorem[index] = now
        if index not in self._withheld:
            self._weights.add(index, self._units[now] - self._units[before])

    def standing(self, index: int) -> Standing:
        """Return the standing of a theorem."""
        return self._standings[self._of_theorem[index]]

    def weight(self, index: int) -> float:
        """Return the weight by which a theorem is drawn now."""
        if index in self._withheld:
            return 0.0
        return weight(self.standing(index), self.config)

    def standings(self) -> dict[int, Standing]:
        """Return the standings of all theorems with attempts, by index."""
        return {i: self._standings[number] for i, number in enumerate(self._of_theorem) if number}

    def distinct_standings(self) -> list[Standing]:
        """Return all standings that some theorem has or had."""
        return list(self._standings)

    def _number(self, standing: Standing) -> int:
        number = self._numbers.setdefault(standing, len(self._standings))
        if number == len(self._standings):
            self._standings.append(standing)
            self._units.append(round(weight(standing, self.config) * WEIGHT_UNIT))
            self._budgets.append(budget(standing, self.config))
        return number


class FenwickTree:
    """Whole-number weights with their sum, O(log n) changes, and O(log n) search by running sum.

    Fenwick 1994. Node n, from 1 on, has the sum of the `n & -n` weights (its lowest bit) that end with number n.
    """

    def __init__(self, size: int, weight: int) -> None:
        """Make `size` equal weights."""
        self._tree = array("q", (weight * (node & -node) for node in range(size + 1)))
        self._size, self.total = size, weight * size
        self._top = 1 << size.bit_length() >> 1  # the largest power of two up to `size`: where `find` begins

    def append(self, weight: int) -> None:
        """Add a weight at the end."""
        node, covered, below = self._size + 1, weight, 1
        # The nodes n - 1, n - 2, n - 4, ... have the sums of all other weights that node n covers.
        while below < (node & -node):
            covered += self._tree[node - below]
            below <<= 1
        self._tree.append(covered)
        self._size, self.total = node, self.total + weight
        self._top = 1 << node.bit_length() >> 1

    def add(self, index: int, change: int) -> None:
        """Change the weight of `index`, which must not become negative."""
        if not change:
            return
        self.total += change
        tree, size, node = self._tree, self._size, index + 1
        while node <= size:
            tree[node] += change
            node += node & -node

    def find(self, target: int) -> int:
        """Return the index i with `sum(weights[:i]) <= target < sum(weights[:i + 1])`, for 0 <= target < total."""
        assert 0 <= target < self.total
        tree, size, position, step = self._tree, self._size, 0, self._top
        # `position` weights lie before the answer, and `target` is what is left of it behind them.
        while step:
            node = position + step
            if node <= size and tree[node] <= target:
                position = node
                target -= tree[node]
            step >>= 1
        return position
