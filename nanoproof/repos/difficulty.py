"""How hard theorems are by the length of their proofs, and in which order to learn from repositories.

LeanAgent's curriculum (Kumarappan et al. 2024, section 3): the difficulty of a theorem is e^n for a proof of n tactics,
infinite if it has a `sorry`, and unknown for a proof without tactics. The 33rd and the 67th percentile of all
repositories' finite difficulties part Easy, Medium and Hard. Those of unknown difficulty are dealt out in thirds, and
the repository with the most Easy theorems comes first.

As e^n grows with n, categories are decided on n itself, so that no proof is too long; infinite difficulties are no part
of the percentiles.
"""

import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar, get_args

T = TypeVar("T")

Category = Literal["Easy", "Medium", "Hard", "Hard (No proof)"]
CATEGORIES: tuple[Category, ...] = get_args(Category)
PERCENTILES = (33.0, 67.0)
SHOWN = 3
"""How many theorems of a category a summary names."""


def difficulty(num_tactics: int, has_sorry: bool) -> float | None:
    """Return e^n for n tactics; infinity with a `sorry`, None without tactics.

    From 710 tactics on, where e^n is too large for a float, it is the largest float.
    """
    if has_sorry:
        return math.inf
    if num_tactics == 0:
        return None
    try:
        return math.exp(num_tactics)
    except OverflowError:
        return sys.float_info.max


def percentile(values: Sequence[float], percent: float) -> float:
    """Return a percentile of sorted values, linear between neighbours. Raises ValueError without values."""
    if not values:
        raise ValueError("there is no percentile of no values")
    # Linear interpolation, as LeanAgent's thresholds are computed.
    place = (len(values) - 1) * percent / 100
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


@dataclass(frozen=True, slots=True)
class Item(Generic[T]):
    """A theorem in a curriculum: whatever stands for it, and what decides its difficulty."""

    what: T
    num_tactics: int
    has_sorry: bool

    @property
    def difficulty(self) -> float | None:
        """e^n, infinite, or unknown."""
        return difficulty(self.num_tactics, self.has_sorry)


@dataclass(frozen=True)
class Thresholds:
    """Up to which number of tactics a proof is Easy, and Medium; and the same as difficulties, for readers."""

    easy: float
    medium: float
    easy_difficulty: float
    medium_difficulty: float

    @classmethod
    def of(cls, lengths: Iterable[int]) -> "Thresholds | None":
        """Return the thresholds for numbers of tactics, those without `sorry`; None without any."""
        known = sorted(length for length in lengths if length > 0)
        if not known:
            return None
        # Shown beside the others because LeanAgent speaks of e^n. They are no e^easy: between two lengths the
        # percentile is linear in whatever it is of.
        rated = [difficulty(length, False) or 0.0 for length in known]
        low, high = PERCENTILES
        return cls(percentile(known, low), percentile(known, high), percentile(rated, low), percentile(rated, high))

    def category(self, num_tactics: int) -> Category:
        """Return the category of a proof without `sorry` that has tactics."""
        if num_tactics <= self.easy:
            return "Easy"
        return "Medium" if num_tactics <= self.medium else "Hard"


@dataclass(frozen=True)
class Curriculum(Generic[T]):
    """Repositories in the order in which to learn from them, each with its theorems by category."""

    order: tuple[str, ...]
    categories: Mapping[str, Mapping[Category, Sequence[Item[T]]]]
    thresholds: Thresholds | None
    """None where no theorem has a finite difficulty."""
    counts: Mapping[Category, int] = field(init=False)
    """Over all repositories."""

    def __post_init__(self) -> None:
        counts: Counter[Category] = Counter(dict.fromkeys(CATEGORIES, 0))
        for parts in self.categories.values():
            for name in CATEGORIES:
                counts[name] += len(parts[name])
        object.__setattr__(self, "counts", counts)

    @classmethod
    def of(cls, repositories: Mapping[str, Sequence[Item[T]]]) -> "Curriculum[T]":
        """Sort theorems into categories, and repositories by their Easy ones, most first; equal ones stay in order."""
        lengths = []
        for items in repositories.values():
            lengths += [item.num_tactics for item in items if not item.has_sorry]
        thresholds = Thresholds.of(lengths)
        categories = {name: _sorted_out(items, thresholds) for name, items in repositories.items()}
        # `sorted` is stable: of equally many Easy ones the repository that was added first comes first.
        order = sorted(repositories, key=lambda name: -len(categories[name]["Easy"]))
        return cls(tuple(order), categories, thresholds)

    def summary(self) -> Iterator[str]:
        """Yield the lines of a summary: the hardest of each category and repository, shares, and thresholds."""
        for name in self.order:
            yield f"{name}:"
            for category in CATEGORIES:
                items = self.categories[name][category]
                hardest = sorted(items, key=_rank, reverse=True)[:SHOWN]
                if items:
                    yield f"  {category}: {len(items):,}, such as {', '.join(map(_shown, hardest))}"
        total = sum(self.counts.values())
        shares = [f"{name} {count:,} ({100 * count / max(total, 1):.1f}%)" for name, count in self.counts.items()]
        yield f"{total:,} theorems: {', '.join(shares)}"
        limits = self.thresholds
        if limits is not None:
            yield (
                f"thresholds: Easy up to {limits.easy_difficulty:.6g} (e^n of n <= {limits.easy:.4g} tactics), "
                f"Medium up to {limits.medium_difficulty:.6g} (n <= {limits.medium:.4g})"
            )


def _sorted_out(items: Sequence[Item[T]], thresholds: Thresholds | None) -> dict[Category, list[Item[T]]]:
    parts: dict[Category, list[Item[T]]] = {category: [] for category in CATEGORIES}
    unknown = []
    for item in items:
        if item.has_sorry:
            parts["Hard (No proof)"].append(item)
        elif item.num_tactics:
            assert thresholds is not None, "there are thresholds where a proof has tactics"
            parts[thresholds.category(item.num_tactics)].append(item)
        else:
            unknown.append(item)
    # LeanAgent's thirds go by the order in the file, and what does not divide is Hard.
    third = len(unknown) // 3
    parts["Easy"] += unknown[:third]
    parts["Medium"] += unknown[third : 2 * third]
    parts["Hard"] += unknown[2 * third :]
    return parts


def _rank(item: Item[T]) -> float:
    # Not by the difficulty, which is the same for all proofs of 710 tactics and more.
    return math.inf if item.has_sorry else item.num_tactics


def _shown(item: Item[T]) -> str:
    rating = item.difficulty
    shown = "term" if rating is None else f"{rating:.6g}"
    return f"{item.what} ({shown})"
