"""Replay and negative buffers: the newest distinct examples that the attempts gave.

Both are pure functions of the sequence of attempts, so a resumed run rebuilds them from its logs.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

import numpy as np

from nanoproof.data.transitions import Transition
from nanoproof.prover.attempt import Attempt

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class WindowBuffer(Generic[K, V]):
    """The newest `window` items with distinct keys; adding a known key replaces its item and makes it new again.

    Each item remembers the collection step that it came from.
    """

    def __init__(self, window: int) -> None:
        self.window = window
        self._items: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._order: list[K] | None = None

    def __len__(self) -> int:
        return len(self._items)

    def add(self, key: K, item: V, step: int) -> None:
        """Add one item, and drop the oldest one if there are too many."""
        self._items.pop(key, None)
        self._items[key] = (item, step)
        if len(self._items) > self.window:
            self._items.popitem(last=False)
        self._order = None

    def sample(self, rng: np.random.Generator, count: int) -> list[V]:
        """`count` items, uniformly with replacement. Raises IndexError if the buffer is empty."""
        if self._order is None:
            self._order = list(self._items)
        return [self._items[self._order[index]][0] for index in rng.integers(len(self._order), size=count)]

    def items(self) -> list[V]:
        """All items, oldest first."""
        return [item for item, _ in self._items.values()]

    def entries(self) -> list[tuple[K, V, int]]:
        """Key, item and the step that it came from, oldest first."""
        return [(key, item, step) for key, (item, step) in self._items.items()]

    def staleness(self, step: int) -> float:
        """Mean number of collection steps since the items came in (0 for an empty buffer)."""
        if not self._items:
            return 0.0
        return sum(step - added for _, added in self._items.values()) / len(self._items)


class Buffers:
    """What training draws from: transitions of proofs, and tactics that Lean refused."""

    def __init__(self, replay_window: int, negative_window: int) -> None:
        self.replay: WindowBuffer[tuple[str, str], Transition] = WindowBuffer(replay_window)
        self.negative: WindowBuffer[tuple[str, str], Transition] = WindowBuffer(negative_window)

    def add(self, attempts: Iterable[Attempt], step: int) -> int:
        """Add what the attempts gave; returns the number of transitions among it."""
        count = 0
        for attempt in attempts:
            for state, tactic, depth in attempt.transitions:
                self.replay.add((state, tactic), Transition(state, tactic, depth), step)
                count += 1
            if self.negative.window:
                for state, tactic in attempt.failed_tactics:
                    self.negative.add((state, tactic), Transition(state, tactic, 1), step)
        return count
