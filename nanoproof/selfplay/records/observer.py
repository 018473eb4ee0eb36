"""What actors and task sources tell whoever records a run, and what is kept of an attempt while it runs, so that its
tree and samples can be written down when it has ended.

An actor only ever appends to a list of bounded length here.
"""

from collections.abc import Sequence
from typing import Protocol

from nanoproof.lean.wire import TacticApplied, TacticFailed
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.meter import NOBODY, AttemptObserver
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Node
from nanoproof.search.policy import Suggestion

Number = tuple[int, int, int]
"""Step, rank and sequence of an attempt."""
MAX_STATES = 200
"""So many states of an attempt are remembered with what the model made of them."""


class Observer(Protocol):
    """Whoever is told what actors do. Its methods are called while others wait: they only take note."""

    def trace(self) -> AttemptObserver:
        """For an attempt that is about to begin."""
        ...

    def finished(self, number: Number, attempt: Attempt, trace: AttemptObserver) -> bool:
        """An attempt has ended, and is logged under this number; whether its tree is to be kept."""
        ...

    def span(self, actor: int, state: str, began: float, ended: float) -> None:
        """An actor was in a state between two readings of `time.monotonic`."""
        ...


class Trace(AttemptObserver):
    """Keeps the tree, and what model and Lean said of the first states."""

    __slots__ = ("results", "root", "suggestions")

    def __init__(self) -> None:
        self.root: Node | None = None
        self.suggestions: list[tuple[str, Suggestion]] = []
        self.results: list[tuple[str, Sequence[str], Sequence[TacticApplied | TacticFailed]]] = []

    def begin(self, root: Node, log: SearchLog) -> None:
        self.root, self.suggestions, self.results = root, [], []

    def suggested(self, state: str, suggestion: Suggestion) -> None:
        if len(self.suggestions) < MAX_STATES:
            self.suggestions.append((state, suggestion))

    def applied(self, state: str, tactics: Sequence[str], results: Sequence[TacticApplied | TacticFailed]) -> None:
        if len(self.results) < MAX_STATES:
            self.results.append((state, tactics, results))


class NullObserver:
    """Takes note of nothing."""

    def trace(self) -> AttemptObserver:
        return NOBODY

    def finished(self, number: Number, attempt: Attempt, trace: AttemptObserver) -> bool:
        return False

    def span(self, actor: int, state: str, began: float, ended: float) -> None:
        pass


NULL_OBSERVER = NullObserver()
