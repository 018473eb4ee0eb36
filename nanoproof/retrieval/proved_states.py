"""States that were proved, with the tactics that did it, and which of them a state is most like.

States are compared by their words (TF-IDF, see `vectors.WordEncoder`): retrieval of whole proofs by words has been
better than by dense vectors. The weights of words are those of the states at the beginning, so that a vector stays what
it is while states are added.

Shapes: N states, C channels.
"""

import threading
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from nanoproof.retrieval.corpus import context_text
from nanoproof.retrieval.vectors import WORD_CHANNELS, WordEncoder, embed

MOST_STATES = 1 << 15
"""States that are kept, the newest ones: a query reads all of their vectors, 128 MiB, in some ten milliseconds."""
Step = tuple[str, str]
"""A state and the tactic that was used there."""


class ProvedStep(NamedTuple):
    """A step of a proof that was found for a state, and the cosine of the two states."""

    state: str
    tactic: str
    likeness: float


class ProvedStates:
    """An index of proved states that grows. Any number of threads may ask while one adds.

    What it answers depends on the steps that were added and their order alone.
    """

    def __init__(self, encoder: WordEncoder, most: int = MOST_STATES) -> None:
        self._encoder, self._most = encoder, most
        self._lock = threading.Lock()
        self._places: dict[str, int] = {}
        self._states: list[str] = []
        self._tactics: list[list[str]] = []
        self._vectors_NC = np.zeros((0, WORD_CHANNELS), np.float32)
        self._next = 0
        """The place of the next state: once all are taken, that of the oldest one."""

    @classmethod
    def of(cls, steps: Iterable[Step], most: int = MOST_STATES) -> "ProvedStates":
        """Make the index of some steps, whose states say how rare words are."""
        listed = list(steps)
        states = dict.fromkeys(context_text(state) for state, _ in listed)
        index = cls(WordEncoder.of(states), most)
        index.add(listed)
        return index

    def __len__(self) -> int:
        return len(self._states)

    def add(self, steps: Iterable[Step]) -> None:
        """Add steps of proofs, in order. Of a state that is known only a new tactic is added."""
        listed = [(context_text(state), tactic) for state, tactic in steps]
        with self._lock:
            # The last of them, as more than there are places would replace each other.
            unknown = list(dict.fromkeys(state for state, _ in listed if state not in self._places))[-self._most :]
        vectors_NC = embed(self._encoder, unknown)
        with self._lock:
            for state, vector_C in zip(unknown, vectors_NC):
                self._put(state, vector_C)
            for state, tactic in listed:
                place = self._places.get(state)
                if place is not None and tactic not in self._tactics[place]:
                    self._tactics[place].append(tactic)

    def _put(self, state: str, vector_C: np.ndarray) -> None:
        place = self._next % self._most
        self._next += 1
        if place < len(self._states):
            del self._places[self._states[place]]
            self._states[place], self._tactics[place] = state, []
        else:
            self._states.append(state)
            self._tactics.append([])
        if place >= len(self._vectors_NC):
            # Twice as long each time: a copy for each state would be quadratic.
            larger_NC = np.zeros((min(self._most, max(1024, 2 * place)), WORD_CHANNELS), np.float32)
            larger_NC[: len(self._vectors_NC)] = self._vectors_NC
            self._vectors_NC = larger_NC
        self._vectors_NC[place] = vector_C
        self._places[state] = place

    def like(self, state: str, count: int) -> list[ProvedStep]:
        """Return the steps of the `count` states most like a state, the likest first; equal ones by age."""
        if count == 0 or not self._states:
            return []
        query_C = embed(self._encoder, [context_text(state)])[0]
        with self._lock:
            size = len(self._states)
            scores_N = self._vectors_NC[:size] @ query_C
            best = np.argsort(-scores_N, kind="stable")[:count]
            steps = []
            for place in best.tolist():
                for tactic in self._tactics[place]:
                    steps.append(ProvedStep(self._states[place], tactic, float(scores_N[place])))
        return steps
