"""Which theorems are for training, validation and test, so that no theorem ever changes sides.

Ours: a theorem's split is a pure function of what the theorem is, so that adding a repository moves none.

- `random`: a hash of its full name decides, 60/20/20. The name alone, so that neither an edit above the theorem nor a
  file that moves, nor a copy of its library in another repository, takes it to the other side. Nameless ones
  (`example`) go by their statement.
- `novel_premises`: a premise is held out if a hash of its name is below a threshold; theorems whose tactics name one
  are for validation or test (a hash of their own name says which), the others are for training. So every theorem that
  is not for training uses a premise that no training theorem uses, by construction, in any collection of repositories.
  How many theorems that takes depends on how often the held-out premises are used: `HoldOut.choose` picks, of eight
  independent hashes and all thresholds, what comes nearest to 40% on the theorems at hand. It is chosen once and kept
  (in the store, or the database's file): later repositories are split by the same, their sizes are what they are.

LeanDojo's: `LeanDojoSplits` shuffles with seed 3407 and takes the rarest premises first (LeanDojo, Yang et al. 2023,
section 4, and its code). The sizes are exact, and everything is drawn again when a theorem is added.
"""

import hashlib
import random
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol, get_args

from nanoproof.common.errors import UserError
from nanoproof.repos.traced_files import TracedTactic, TracedTheorem

Split = Literal["train", "val", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
STRATEGIES = ("random", "novel_premises")

VAL_FRACTION = TEST_FRACTION = 0.2
SEED = 3407
"""LeanDojo's (arXiv:2109.08203)."""
HASHES = 8
"""Of 64 bits each, as many as a SHA-512 has; part of the rule, so that another number would move theorems."""
_SCALE = 2.0**-64
NO_GOALS = "no goals"
_BULLET = "·"

MergeKey = tuple[str, str, int, int, int, int]
"""What makes theorems of several repositories the same: path, full name, start and end."""


class Splits(Protocol):
    """Tells the split of a theorem, by `random` and by `novel_premises`."""

    def assign(self, theorem: TracedTheorem) -> tuple[Split, Split]:
        """Return the theorem's split in each of `STRATEGIES`."""
        ...

    def describe(self) -> dict[str, object]:
        """Return what a reader of the export has to know to draw the same."""
        ...


def exported_tactics(theorem: TracedTheorem) -> Iterator[TracedTactic]:
    """Yield the tactics that exports have: each once, none without a goal, none with the bullet `·` in it."""
    seen: set[tuple[str, str, str]] = set()
    for tactic in theorem.tactics:
        key = (tactic.state_before, tactic.tactic, tactic.state_after)
        # LeanDojo's own rule for what is a step to learn: a bullet's block is many steps, each listed by itself too.
        if tactic.state_before != NO_GOALS and _BULLET not in tactic.tactic and key not in seen:
            seen.add(key)
            yield tactic


def used_premises(theorem: TracedTheorem) -> set[str]:
    """Return the full names of the premises that a theorem's tactics name, as they are exported.

    These are the marks of `traced_tactics`, so that the property of `novel_premises` can be read off the exported
    files.
    """
    names = set()
    for tactic in exported_tactics(theorem):
        for premise in tactic.premises:
            if premise.start is not None:  # without a place, its mark is not exported
                names.add(premise.full_name)
    return names


def merge_key(theorem: TracedTheorem) -> MergeKey:
    """Return what makes theorems of several repositories the same."""
    return (theorem.path, theorem.full_name, *theorem.start, *theorem.end)


# -- Ours ------------------------------------------------------------------------------------------------------------


def _identity(theorem: TracedTheorem) -> str:
    """Return what the hash of a theorem is over."""
    last = theorem.full_name.rpartition(".")[2]
    # Lean names an `example` `_example`, and all of them alike: by that name alone they would be on one side together.
    if not last or last.startswith(("example", "_example")):
        return f"{theorem.full_name}\n{' '.join(theorem.statement.split())}"
    return theorem.full_name


def _fraction(purpose: str, text: str) -> float:
    """Hash a text to a number in [0, 1), independent for each purpose."""
    # Names of files that are not UTF-8 reach Python as lone surrogates; they hash like any others.
    digest = hashlib.sha256(f"{purpose}\0{text}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") * _SCALE


@lru_cache(maxsize=1 << 16)
def _premise_fractions(name: str) -> tuple[float, ...]:
    """Hash a premise's name to `HASHES` independent numbers in [0, 1)."""
    digest = hashlib.sha512(f"premise\0{name}".encode("utf-8", "surrogatepass")).digest()
    return tuple(int.from_bytes(digest[8 * i : 8 * i + 8], "big") * _SCALE for i in range(HASHES))


def random_split(theorem: TracedTheorem) -> Split:
    """Return the split of a theorem by a hash of its name: 20% val, 20% test, the rest train."""
    fraction = _fraction("random", _identity(theorem))
    if fraction < VAL_FRACTION:
        return "val"
    return "test" if fraction < VAL_FRACTION + TEST_FRACTION else "train"


@dataclass(frozen=True, slots=True)
class HoldOut:
    """Which premises are held out: those whose hash number `hash` is below a threshold."""

    hash: int
    below: float

    def holds(self, premise: str) -> bool:
        """Tell whether a premise is held out."""
        return _premise_fractions(premise)[self.hash] < self.below

    def __str__(self) -> str:
        return f"{self.hash}:{self.below!r}"

    @classmethod
    def parse(cls, text: str) -> "HoldOut":
        """Read what `str` wrote. Raises UserError for anything else."""
        number, _, below = text.partition(":")
        with suppress(ValueError):
            hold_out = cls(int(number), float(below))
            if 0 <= hold_out.hash < HASHES and 0.0 <= hold_out.below <= 1.0:
                return hold_out
        raise UserError(f"held-out premises are named by HASH:THRESHOLD, such as 0:0.1; got {text!r}")

    @classmethod
    def choose(cls, theorems: Iterable[TracedTheorem]) -> "HoldOut | None":
        """Choose what holds out nearest to 40% of the theorems; None if no theorem's tactics name a premise.

        Memory: `HASHES` numbers for each theorem.
        """
        # For each hash, the lowest number that a premise of each theorem has: the theorem is held out by every
        # threshold above it.
        lowest = [array("d") for _ in range(HASHES)]
        total = 0
        for theorem in theorems:
            total += 1
            used = list(map(_premise_fractions, used_premises(theorem)))
            if used:
                for column, values in zip(lowest, zip(*used, strict=True), strict=True):
                    column.append(min(values))
        wanted = (VAL_FRACTION + TEST_FRACTION) * total
        # Nearest first; of equally near ones the first hash and the lowest threshold, so that the choice is one.
        best: tuple[float, int, float] | None = None
        for number, column in enumerate(lowest):
            for count, below in _steps(column):
                candidate = (abs(count - wanted), number, below)
                if best is None or candidate < best:
                    best = candidate
        if best is None:
            return None
        return cls(best[1], best[2])


def _steps(lowest: Sequence[float]) -> Iterator[tuple[int, float]]:
    """Yield how many numbers are below each threshold that makes a difference, half-way between two of them."""
    ordered = sorted(lowest)
    for count, (here, after) in enumerate(zip(ordered, [*ordered[1:], 1.0]), start=1):
        if here < after:
            yield count, (here + after) / 2


@dataclass(frozen=True, slots=True)
class StableSplits:
    """Splits by hashes; without a `hold_out` no premise is held out, and `novel_premises` is all for training."""

    hold_out: HoldOut | None

    def assign(self, theorem: TracedTheorem) -> tuple[Split, Split]:
        """Return the theorem's split in each of `STRATEGIES`."""
        return random_split(theorem), self._by_premises(theorem)

    def _by_premises(self, theorem: TracedTheorem) -> Split:
        if self.hold_out is None or not any(map(self.hold_out.holds, used_premises(theorem))):
            return "train"
        half = VAL_FRACTION / (VAL_FRACTION + TEST_FRACTION)
        return "val" if _fraction("novel_premises", _identity(theorem)) < half else "test"

    def describe(self) -> dict[str, object]:
        """Return the rule and the premises held out."""
        return {"splits": "stable", "held_out_premises": self.hold_out and str(self.hold_out)}


# -- LeanDojo's ------------------------------------------------------------------------------------------------------


class LeanDojoSplits:
    """LeanDojo's drawing over a whole collection: exact sizes, `int(0.2 n)` for each of val and test.

    `random` is a shuffle cut in three. `novel_premises` goes through the premises from the rarest on and takes all
    theorems that use one out of training, until there are enough for val and test; what is left over by the last
    premise is for test. Memory: the names of all theorems and premises.
    """

    def __init__(self, theorems: Iterable[TracedTheorem], seed: int = SEED) -> None:
        keys: list[MergeKey] = []
        users: dict[str, list[int]] = {}
        for number, theorem in enumerate(theorems):
            keys.append(merge_key(theorem))
            for premise in sorted(used_premises(theorem)):
                users.setdefault(premise, []).append(number)
        # From here on in the order of LeanDojo's code: each shuffle takes from the random numbers of the next.
        rng = random.Random(seed)
        val, test = int(len(keys) * VAL_FRACTION), int(len(keys) * TEST_FRACTION)
        order = list(range(len(keys)))
        rng.shuffle(order)
        train = len(keys) - val - test
        drawn = _cut(order[:train], order[train : train + val], order[train + val :])
        novel = self._rarest_first(users, val + test)
        rng.shuffle(novel)
        left = sorted(set(range(len(keys))) - set(novel))
        by_premise = _cut(left, novel[:val], novel[val:])
        self._splits = {key: (drawn[number], by_premise[number]) for number, key in enumerate(keys)}
        self._seed = seed

    @staticmethod
    def _rarest_first(users: dict[str, list[int]], wanted: int) -> list[int]:
        chosen: dict[int, None] = {}  # a set in order
        for _, numbers in sorted(users.items(), key=lambda item: len(item[1])):
            if len(chosen) >= wanted:
                break
            chosen.update(dict.fromkeys(numbers))
        return list(chosen)

    def assign(self, theorem: TracedTheorem) -> tuple[Split, Split]:
        """Return the split of a theorem of the collection in each of `STRATEGIES`."""
        return self._splits[merge_key(theorem)]

    def describe(self) -> dict[str, object]:
        """Return the rule and the seed."""
        return {"splits": "leandojo", "seed": self._seed}


def _cut(train: Iterable[int], val: Iterable[int], test: Iterable[int]) -> dict[int, Split]:
    splits: dict[int, Split] = dict.fromkeys(train, "train")
    splits |= dict.fromkeys(val, "val")
    splits |= dict.fromkeys(test, "test")
    return splits
