"""Collection: attempts at theorems that the matchmaker picks, logged as they finish and exchanged between ranks.

An attempt is numbered (step, rank, sequence), where `step` counts collections and never goes back. Matchmaker and
buffers are functions of the attempts in that order, so every rank holds the same, and a resumed run rebuilds them.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Literal

from nanoproof.common.dist import DistInfo, SharedCounter, gather_json
from nanoproof.common.errors import UserError
from nanoproof.lean.theorem import Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.selfplay.attempt_stream import attempt_of, logged_attempts, number_of
from nanoproof.selfplay.buffers import Buffers
from nanoproof.selfplay.matchmaker import Matchmaker, event_of
from nanoproof.selfplay.records.attempt_log import AttemptLog
from nanoproof.selfplay.records.observer import NULL_OBSERVER, Observer
from nanoproof.selfplay.tasks import Task

BEFORE_THIS_RUN = -1
"""The step of attempts of an earlier run."""
REFUSALS_AT_LEAST, REFUSALS_PER_ACTOR = 50, 10
"""So many refused statements in a row say that no statement will be accepted. Other attempts take longer: where half of
a data set is refused, each actor meets one refusal before it is at work."""
LEARNED_FIELDS = ("number", "theorem", "outcome", "disproving", "stop_reason", "num_tactics", "transitions", "counts")
"""What ranks must know of each other's attempts; also how a proof was lost, if one was."""


class Experience:
    """What all attempts so far have taught: the matchmaker's histories and the buffers. The same on every rank."""

    def __init__(self, theorems: Sequence[Theorem], matchmaker: Matchmaker, buffers: Buffers) -> None:
        self.theorems, self.matchmaker, self.buffers = theorems, matchmaker, buffers
        self.attempts = self.proofs = 0
        self.ever_proven: set[tuple[str, str]] = set()
        self._index = {name_of(theorem): index for index, theorem in enumerate(theorems)}

    def learn(self, step: int, attempts: Sequence[Attempt]) -> int:
        """Take in the attempts of one step, in order; returns how many transitions they hold."""
        for attempt in attempts:
            self.attempts += 1
            if attempt.outcome == "proven":
                self.proofs += 1
                self.ever_proven.add(name_of(attempt.theorem))
            index = self._index.get(name_of(attempt.theorem))
            if index is not None:
                self.matchmaker.update(index, event_of(attempt))
        return self.buffers.add(attempts, step)


class CollectSource:
    """Hands out theorems by the matchmaker's weights; logs this rank's attempts and keeps them for the exchange."""

    purpose: Literal["collect", "evaluate"] = "collect"

    def __init__(
        self,
        experience: Experience,
        run_path: Path,
        dist: DistInfo,
        seed: int,
        first_step: int,
        observer: Observer = NULL_OBSERVER,
    ) -> None:
        self._experience, self._dist, self.step = experience, dist, first_step
        self._shared = LEARNED_FIELDS + (("failed_tactics",) if experience.buffers.negative.window else ())
        self._refusals, self._refusal = 0, ""
        self._observer = observer
        self._log = AttemptLog(run_path, dist.rank)
        self._rng = Random(f"{seed}/{dist.rank}/{first_step}")
        self._fresh: list[dict[str, Any]] = []
        self._under_way: set[int] = set()
        self._sequence = 0
        self._target, self._deadline = 1, float("inf")
        self._transitions = SharedCounter(f"transitions/{first_step}")
        self.collected = 0

    def next(self) -> Task | None:
        """A theorem that no other actor of this rank is at."""
        for _ in range(20):
            assignment = self._experience.matchmaker.assign(self._rng)
            if assignment is None:
                return None
            if assignment.index not in self._under_way:
                self._under_way.add(assignment.index)
                return Task(
                    self._experience.theorems[assignment.index],
                    assignment.num_simulations,
                    assignment.index,
                    self._rng.getrandbits(48),
                    may_disprove=not assignment.proven,  # it cannot be had, and would be half of the work
                    trace=self._observer.trace(),
                )
        return None

    def finish(self, task: Task, attempt: Attempt) -> None:
        """Log the attempt under the number of the current step."""
        self._under_way.discard(task.index)
        number = {"step": self.step, "rank": self._dist.rank, "sequence": self._sequence}
        self._sequence += 1
        record = {"number": number, "time": round(time.time(), 3), **attempt.to_json()}
        self._log.write(record, self._observer.finished(number_of(record), attempt, task.trace))
        told = (*self._shared, "check") if attempt.lost else self._shared
        self._fresh.append({name: record[name] for name in told if name in record})
        self.collected = self._transitions.add(len(attempt.transitions))
        self._refusals, self._refusal = (self._refusals + 1, attempt.message) if attempt.refused else (0, "")

    def hand_over(self, task: Task) -> bool:
        """No: the others have theorems enough, and this rank is at no other."""
        return False

    def begin(self, target: int, max_seconds: float | None) -> None:
        """Begin a collection of `target` transitions over all ranks, for at most so many seconds."""
        self._target = target
        self._deadline = time.monotonic() + max_seconds if max_seconds is not None else float("inf")

    def enough(self) -> bool:
        """Whether the ranks together have the transitions of this step, or one of them ran out of time.

        Raises UserError if Lean refuses statement after statement.
        """
        if self._refusals >= max(REFUSALS_AT_LEAST, REFUSALS_PER_ACTOR * len(self._under_way)):
            raise UserError(
                f"Lean refused the statements of the last {self._refusals} attempts; do the servers import what "
                f"the theorems of --datasets need? It said: {self._refusal}"
            )
        if time.monotonic() > self._deadline:
            self._transitions.add(self._target)
        self.collected = self._transitions.add(0)
        return self.collected >= self._target

    def drain(self) -> list[dict[str, Any]]:
        """The attempts of this step, which ends here: later ones count for the next. Call it under the pool's lock."""
        fresh, self._fresh = self._fresh, []
        self.step += 1
        self._transitions = SharedCounter(f"transitions/{self.step}")
        return fresh

    def exchange(self, fresh: list[dict[str, Any]]) -> tuple[int, list[Attempt]]:
        """All ranks' attempts of the step that was drained, in order (a collective)."""
        step = self.step - 1
        records = [record for share in gather_json(fresh) for record in share]
        return step, [attempt_of(record) for record in sorted(records, key=number_of)]

    def close(self) -> None:
        """Close the log."""
        self._log.close()


def name_of(theorem: Theorem) -> tuple[str, str]:
    """What a theorem is known by: data sets may use the same ids."""
    return theorem.dataset, theorem.id


def relearn(experience: Experience, run_path: Path, show: bool = False) -> int:
    """Learn from a run's log; returns the number of the next step. All ranks call it together, before any goes on.

    `show` progress where the log is long. Raises UserError if not all ranks found the same log.
    """
    next_step = 0
    for step, attempt in logged_attempts(run_path, show):
        experience.learn(step, [attempt])
        next_step = step + 1
    _compare(experience, run_path)
    return next_step


def relearn_other(experience: Experience, run_path: Path, show: bool = False) -> None:
    """Learn from the log of an earlier run, whose steps are not those of this one: all of it came before step 0.

    All ranks call it together. Raises UserError if not all ranks found the same log, as where that run still goes on.
    """
    for _, attempt in logged_attempts(run_path, show):
        experience.learn(BEFORE_THIS_RUN, [attempt])
    _compare(experience, run_path)


def _compare(experience: Experience, run_path: Path) -> None:
    """Raise UserError if not all ranks have learned from as many attempts (a collective)."""
    found = gather_json(experience.attempts)
    if len(set(found)) > 1:
        numbers = ", ".join(map(str, found))
        raise UserError(f"the ranks must see the same run directory {run_path}; they found {numbers} attempts in it")
