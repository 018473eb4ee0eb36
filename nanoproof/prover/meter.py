"""Lean and the policy as one attempt sees them: timed, watched, and with random choices that are the attempt's own."""

import hashlib
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Literal

from nanoproof.lean.theorem import Theorem
from nanoproof.lean.wire import Branch, CheckReport, LeanCalls, TacticApplied, TacticFailed
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Node
from nanoproof.search.policy import Policy, Suggestion


class AttemptObserver:
    """Whoever is told how an attempt proceeds; this one takes note of nothing. Its methods must not take long."""

    __slots__ = ()

    def begin(self, root: Node, log: SearchLog) -> None:
        """Its search begins, in which both grow; what was told before is of another try."""

    def waiting(self, on: Literal["lean", "model"]) -> AbstractContextManager[object]:
        """What to be in while the attempt waits for an answer of Lean or of the policy."""
        return nullcontext()

    def suggested(self, state: str, suggestion: Suggestion) -> None:
        """What the policy said of a state."""

    def applied(self, state: str, tactics: Sequence[str], results: Sequence[TacticApplied | TacticFailed]) -> None:
        """What Lean said to tactics in a state."""


NOBODY = AttemptObserver()


class Stopwatch:
    """Adds up the seconds spent inside its `with` blocks."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._started = 0.0

    def __enter__(self) -> "Stopwatch":
        self._started = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._started


class MeteredLean:
    """Lean, timed and watched."""

    def __init__(self, session: LeanCalls, observer: AttemptObserver = NOBODY) -> None:
        self._session, self._observer = session, observer
        self.watch = Stopwatch()
        self.tactics = 0

    def start(self, theorem: Theorem) -> Branch:
        with self.watch, self._observer.waiting("lean"):
            return self._session.start(theorem)

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]:
        self.tactics += len(tactics)
        with self.watch, self._observer.waiting("lean"):
            results = self._session.apply(branch, tactics)
        self._observer.applied(branch.state.text, tactics, results)
        return results

    def check(self, source: str) -> CheckReport:
        with self.watch, self._observer.waiting("lean"):
            return self._session.check(source)


class MeteredPolicy:
    """A policy, timed (waiting for its turn in a batch counts) and watched.

    Asking about a state again draws fresh samples; what is drawn depends on `seed`, the state and how often this
    attempt asked about it, not on other attempts.
    """

    def __init__(self, policy: Policy, seed: int, observer: AttemptObserver = NOBODY) -> None:
        self._policy, self._seed, self._observer = policy, seed, observer
        self._asked: Counter[str] = Counter()
        self.watch = Stopwatch()

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        times = self._asked[state_text]
        self._asked[state_text] += 1
        digest = hashlib.blake2b(f"{self._seed}/{seed}/{times}\n{state_text}".encode(), digest_size=8).digest()
        with self.watch, self._observer.waiting("model"):
            suggestion = self._policy.suggest(state_text, int.from_bytes(digest, "little") >> 1)
        self._observer.suggested(state_text, suggestion)
        return suggestion
