"""Replay and negative buffers: the newest distinct examples that the attempts gave.

Both are pure functions of the sequence of attempts, so a resumed run rebuilds them from its logs, and draws from them
what it would have drawn.
"""

from collections import Counter, OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from nanoproof.data.transitions import Transition
from nanoproof.prover.attempt import Attempt
from nanoproof.search.expand import solver_pattern

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class _Entry(NamedTuple, Generic[V]):
    """An item, the collection step that it came from, and its place in the list that samples are drawn from."""

    item: V
    step: int
    place: int


class WindowBuffer(Generic[K, V]):
    """The newest `window` items with distinct keys; adding a known key replaces its item and makes it new again.

    Each item remembers the collection step that it came from. Whatever the buffer is asked for takes a time that does
    not depend on its size, lists of all items excepted.
    """

    def __init__(self, window: int) -> None:
        self.window = window
        self._entries: OrderedDict[K, _Entry[V]] = OrderedDict()  # oldest first
        self._keys: list[K] = []  # by place
        self._steps = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def add(self, key: K, item: V, step: int) -> list[V]:
        """Add one item; returns the items that are gone: the one of this key, or the oldest if there are too many."""
        gone = []
        known = self._entries.pop(key, None)
        if known is not None:
            gone.append(known.item)
            self._steps -= known.step
            place = known.place
        else:
            place = len(self._keys)
            self._keys.append(key)
        self._entries[key] = _Entry(item, step, place)
        self._steps += step
        while len(self._entries) > self.window:
            _, entry = self._entries.popitem(last=False)
            self._leave(entry)
            gone.append(entry.item)
        return gone

    def discard(self, key: K) -> None:
        """Take an item out, if it is there."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._leave(entry)

    def _leave(self, entry: _Entry[V]) -> None:
        """The last key takes the place of one that is gone."""
        self._steps -= entry.step
        last = self._keys.pop()
        if entry.place < len(self._keys):
            self._keys[entry.place] = last
            moved = self._entries[last]
            self._entries[last] = moved._replace(place=entry.place)  # an OrderedDict keeps the order of known keys

    def sample(self, rng: np.random.Generator, count: int) -> list[V]:
        """`count` items, uniformly with replacement. Raises IndexError if the buffer is empty."""
        if not self._keys:
            raise IndexError("the buffer is empty")
        return [self._entries[self._keys[place]].item for place in rng.integers(len(self._keys), size=count)]

    def items(self) -> list[V]:
        """All items, oldest first."""
        return [entry.item for entry in self._entries.values()]

    def entries(self) -> list[tuple[K, V, int]]:
        """Key, item and the step that it came from, oldest first."""
        return [(key, entry.item, entry.step) for key, entry in self._entries.items()]

    def staleness(self, step: int) -> float:
        """Mean number of collection steps since the items came in (0 for an empty buffer)."""
        return step - self._steps / len(self._entries) if self._entries else 0.0


class Buffers:
    """What training draws from: transitions of proofs, and tactics that Lean refused.

    A tactic of a proof that is in the replay buffer is no failed one, even if Lean once refused it in the same state.
    Nothing that uses one of the `solvers` gets in: with `--disable-solvers` the search leaves it out too.
    """

    def __init__(self, replay_window: int, negative_window: int, solvers: Sequence[str] = ()) -> None:
        self._solver = solver_pattern(tuple(solvers)) if solvers else None
        self.replay: WindowBuffer[tuple[str, str], Transition] = WindowBuffer(replay_window)
        self.negative: WindowBuffer[tuple[str, str], Transition] = WindowBuffer(negative_window)
        self.depths: Counter[int] = Counter()
        """How many transitions of the replay buffer have each depth."""

    def add(self, attempts: Iterable[Attempt], step: int) -> int:
        """Add what the attempts gave; returns the number of transitions among it."""
        count = 0
        for attempt in attempts:
            for state, tactic, depth in attempt.transitions:
                if self._uses_solver(tactic):
                    continue
                key = (state, tactic)
                gone = self.replay.add(key, Transition(state, tactic, depth), step)
                self.depths[depth] += 1
                self.depths.subtract(item.depth for item in gone)
                self.negative.discard(key)
                count += 1
            if self.negative.window:
                for state, tactic in attempt.failed_tactics:
                    if (state, tactic) not in self.replay and not self._uses_solver(tactic):
                        self.negative.add((state, tactic), Transition(state, tactic, 1), step)
        return count

    def _uses_solver(self, tactic: str) -> bool:
        return self._solver is not None and self._solver.search(tactic) is not None
