"""Lean and the policy as one attempt sees them: timed, and with random choices that are the attempt's own."""

import hashlib
import time
from collections import Counter
from collections.abc import Sequence

from nanoproof.lean.theorem import Theorem
from nanoproof.lean.wire import Branch, CheckReport, LeanCalls, TacticApplied, TacticFailed
from nanoproof.search.policy import Policy, Suggestion


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
    """Lean, timed."""

    def __init__(self, session: LeanCalls) -> None:
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
    """A policy, timed (waiting for its turn in a batch counts).

    Asking about a state again draws fresh samples; what is drawn depends on `seed`, the state and how often this
    attempt asked about it, not on other attempts.
    """

    def __init__(self, policy: Policy, seed: int) -> None:
        self._policy, self._seed = policy, seed
        self._asked: Counter[str] = Counter()
        self.watch = Stopwatch()

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        times = self._asked[state_text]
        self._asked[state_text] += 1
        digest = hashlib.blake2b(f"{self._seed}/{seed}/{times}\n{state_text}".encode(), digest_size=8).digest()
        with self.watch:
            return self._policy.suggest(state_text, int.from_bytes(digest, "little") >> 1)
