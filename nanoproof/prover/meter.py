"""Lean and the policy with a stopwatch: how many tactics were run and how long they took."""

import time
from collections.abc import Sequence

from nanoproof.common.suggestion import Policy, Suggestion
from nanoproof.lean.theorem import Theorem
from nanoproof.lean.wire import Branch, CheckReport, LeanSession, TacticApplied, TacticFailed


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
    """The calls of a `LeanSession` that an attempt makes, timed."""

    def __init__(self, session: LeanSession) -> None:
        self._session = session
        self.watch = Stopwatch()
        self.tactics = 0

    def start(self, theorem: Theorem) -> Branch:
        with self.watch:
            return self._session.start(theorem)

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]:
        self.tactics += len(tactics)
        with self.watch:
            return self._session.apply(branch, tactics)

    def check(self, source: str) -> CheckReport:
        with self.watch:
            return self._session.check(source)


class MeteredPolicy:
    """A policy, timed (waiting for its turn in a batch counts)."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.watch = Stopwatch()

    def suggest(self, state_text: str) -> Suggestion:
        with self.watch:
            return self._policy.suggest(state_text)
