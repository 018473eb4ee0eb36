"""The table of theorems: search, filter and sort over what the attempts come to."""

from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any, get_args

from nanoproof.monitor.attempts import OUTCOMES, AttemptStore, TheoremStats
from nanoproof.monitor.record_schema import TheoremRow, Theorems, TheoremSort

SORTS: tuple[str, ...] = get_args(TheoremSort)
_KEPT_QUESTIONS = 16
_BIGGEST = float("inf")
_KEYS: dict[str, Callable[[TheoremStats], Any]] = {
    "id": lambda one: one.id,
    "dataset": lambda one: one.dataset,
    "outcome": lambda one: one.outcome,
    "attempts": lambda one: one.attempts,
    "proven": lambda one: one.proven,
    "budget": lambda one: one.budget,
    "simulations": lambda one: one.simulations,
    "seconds": lambda one: one.seconds,
    "tactics": lambda one: _BIGGEST if one.tactics is None else one.tactics,
    "first": lambda one: _BIGGEST if one.first_proven is None else one.first_proven,
    "last": lambda one: one.last,
}


class TheoremTable:
    """Answers of the same question are kept until something changes, whoever asks."""

    def __init__(self, attempts: AttemptStore) -> None:
        self._attempts = attempts
        self._version = -1
        self._kept: OrderedDict[tuple[Any, ...], list[TheoremStats]] = OrderedDict()
        self._datasets: dict[str, int] = {}
        self._outcomes: dict[str, int] = {}

    def page(
        self, q: str, dataset: str | None, outcome: str | None, sort: str, descending: bool, page: int, size: int
    ) -> Theorems:
        """A page of the theorems that fit."""
        if self._version != self._attempts.version:
            self._version = self._attempts.version
            self._kept.clear()
            self._datasets = dict(sorted(Counter(one.dataset for one in self._attempts.theorems).items()))
            found = Counter(one.outcome for one in self._attempts.theorems)
            self._outcomes = {name: found[number] for number, name in enumerate(OUTCOMES)}
        question = (q.lower(), dataset, outcome, sort, descending)
        if question not in self._kept:
            self._kept[question] = self._choose(*question)
            if len(self._kept) > _KEPT_QUESTIONS:
                self._kept.popitem(last=False)
        chosen = self._kept[question]
        return {
            "items": [theorem_row(one) for one in chosen[(page - 1) * size : page * size]],
            "total": len(chosen),
            "page": page,
            "size": size,
            "datasets": self._datasets,
            "outcomes": self._outcomes,
        }

    def _choose(
        self, q: str, dataset: str | None, outcome: str | None, sort: str, descending: bool
    ) -> list[TheoremStats]:
        number = None if outcome is None else OUTCOMES.index(outcome)
        words = q.split()
        chosen = [
            one
            for one in self._attempts.theorems
            if (dataset is None or one.dataset == dataset)
            and (number is None or one.outcome == number)
            and (not words or all(word in one.id.lower() for word in words))
        ]
        key = _KEYS[sort]
        if sort in ("tactics", "first"):  # those without a proof come last, either way
            with_proof = [one for one in chosen if one.tactics is not None]
            without = [one for one in chosen if one.tactics is None]
            return sorted(with_proof, key=key, reverse=descending) + without
        return sorted(chosen, key=key, reverse=descending)


def theorem_row(one: TheoremStats) -> TheoremRow:
    """A theorem as the page gets it."""
    return {
        "dataset": one.dataset,
        "id": one.id,
        "outcome": OUTCOMES[one.outcome],
        "attempts": one.attempts,
        "proven": one.proven,
        "disproven": one.disproven,
        "errors": one.errors,
        "budget": one.budget,
        "simulations": one.simulations,
        "seconds": round(one.seconds, 3),
        "tactics": one.tactics,
        "first_proven": one.first_proven,
        "last_step": one.last_step,
        "last_time": one.last_time,
    }
