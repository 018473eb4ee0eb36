"""What a run asks of whatever works on its attempts: tasks from a source in, attempts out, snapshot, stop.

`ActorPool` works with threads of this process, `cluster` with hosts that come and go. Each hands out what its task
source gives and brings back the attempt; only the rank whose pool it is numbers and logs attempts, so matchmaker,
buffers and resuming do not depend on where an attempt was made.
"""

import math
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

from nanoproof.actors.fleet import ProofWatch
from nanoproof.actors.tasks import NULL_OBSERVER, Interrupted, Observer, ProofsLost, Stopped, Task, TaskSource
from nanoproof.common.distributed import gather_json
from nanoproof.lean import types
from nanoproof.prover.attempt import Attempt

IDLE_POLL_SECONDS = 0.1
"""How often an actor without a task asks for one: a task that another rank hands over comes without a word."""
BLAME_SECONDS = 5.0
"""How long the watch over ranks may take to see that one is gone."""


class WatchedActor(Protocol):
    """The state of an actor that the timeline needs."""

    number: int
    state: str
    since: float

    @property
    def paused(self) -> bool: ...


class Pauses:
    """When the model was paused for training: what waits for it then does not wait because it is slow.

    Times are those of `time.monotonic`.
    """

    def __init__(self) -> None:
        # Of the newest pauses, begin and end. No wait for the model is as long as 64 steps of training.
        self._times: deque[tuple[float, float]] = deque(maxlen=64)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Count the time in the block as a pause."""
        self._times.append((time.monotonic(), math.inf))
        try:
            yield
        finally:
            self._times[-1] = (self._times[-1][0], time.monotonic())

    @property
    def now(self) -> bool:
        """Whether there is a pause at this moment."""
        return bool(self._times) and self._times[-1][1] == math.inf

    def outside(self, began: float, ended: float) -> list[tuple[float, float]]:
        """Return the parts of a span that lie in no pause, in order."""
        parts = []
        for start, end in tuple(self._times):  # a copy: another thread begins pauses
            if end <= began or start >= ended:
                continue
            if start > began:
                parts.append((began, start))
            began = min(end, ended)
        if began < ended:
            parts.append((began, ended))
        return parts


class AttemptPool(ABC):
    """Works on the tasks of a source that can be exchanged at any time; an attempt that was begun is finished first."""

    def __init__(
        self,
        addresses: Iterable[str],
        check: Callable[[], None] = lambda: None,
        patience_seconds: float = float("inf"),
        asked_to_end: Callable[[], bool] = lambda: False,
        observer: Observer = NULL_OBSERVER,
        lost_proofs: int = 0,
        max_staleness: int | None = None,
    ) -> None:
        """`addresses` are the servers known so far. While the main thread waits, `check` is called, which raises to end
        the wait, and `asked_to_end`, whose True ends it with Interrupted. All ranks make theirs together.

        `patience_seconds`: a wait ends too if no Lean process is within reach for so long. `lost_proofs` is the limit
        of a `ProofWatch`, which ends a wait with ProofsLost. An attempt of collection that was begun more than
        `max_staleness` revisions of the weights ago is dropped and counted, and its theorem is tried again.
        """
        self._condition = threading.Condition()
        self._source: TaskSource | None = None
        self._put_back: list[tuple[TaskSource, Task]] = []
        self._closing = threading.Event()
        self._check, self._patience_seconds = check, patience_seconds
        self._asked_to_end, self.observer = asked_to_end, observer
        self.pauses = Pauses()
        self.max_staleness = max_staleness
        self.revision = self.stale = 0
        self.older: int | None = None
        """The revision before, while new weights are on their way to those who answer with them."""
        self._error: Exception | None = None
        self._defects = 0
        """Attempts in a row that met errors of ours."""
        all_addresses = [address for of_rank in gather_json([*addresses]) for address in of_rank]
        self.proofs = ProofWatch(all_addresses, lost_proofs)

    # -- What kinds of pools differ in -----------------------------------------------------------------------------

    @property
    @abstractmethod
    def size(self) -> int:
        """How many attempts it works on at a time."""

    @abstractmethod
    def watched(self) -> Sequence[WatchedActor]:
        """Return the actors whose states the timeline shows, as far as they are known here."""

    @abstractmethod
    def snapshot(self) -> dict[str, Any]:
        """Return `servers` and `actors`, the state of each, for the monitor; and what else a kind of pool shows."""

    @abstractmethod
    def out_of_reach(self) -> tuple[float, str]:
        """Return for how many seconds no Lean process has been within reach, and why."""

    def weights_changed(self, revision: int) -> None:
        """Note that the policy has new weights; attempts that begin from now on are made with these."""
        self.revision = revision

    def join(self, timeout: float = 20.0) -> None:  # noqa: B027 (some pools have nothing to do)
        """Wait, once it was stopped, until everything that it started has ended."""

    # -- Tasks -----------------------------------------------------------------------------------------------------

    @property
    def closing(self) -> bool:
        return self._closing.is_set()

    def locked(self) -> threading.Condition:
        """Return the pool's lock, as a context manager: task sources are left alone meanwhile."""
        return self._condition

    def set_source(self, source: TaskSource | None) -> None:
        """Draw tasks from `source` from now on; attempts under way go back to the source they came from."""
        with self._condition:
            self._source = source
            self._condition.notify_all()

    def take(self) -> tuple[TaskSource, Task]:
        """Wait for a task. Raises Stopped when the pool closes."""
        with self._condition:
            while not self.closing:
                taken = self.take_now()
                if taken is not None:
                    return taken
                self._condition.wait(IDLE_POLL_SECONDS)
        raise Stopped

    def take_now(self) -> tuple[TaskSource, Task] | None:
        """Take a task without waiting; None if there is none at present."""
        with self._condition:
            source, task = self._source, None
            # First what was put back: an evaluation waits for the last of its theorems.
            if self._put_back:
                source, task = self._put_back.pop(0)
            elif source is not None:
                task = source.next()
            if source is None or task is None:
                return None
            # While some replicas answer with old weights, an attempt counts as made with these.
            revision = self.revision
            if self.older is not None:
                revision = self.older
            return source, replace(task, revision=revision)

    def put_back(self, source: TaskSource, task: Task) -> None:
        """Leave a task to whoever is free next, as it cannot be done where it was."""
        with self._condition:
            self._put_back.append((source, task))
            self._condition.notify_all()

    def hand_over(self) -> None:
        """Leave what was put back to other ranks, as far as its source can hand it over."""
        with self._condition:
            self._put_back = [(source, task) for source, task in self._put_back if not source.hand_over(task)]

    def finish(self, source: TaskSource, task: Task, attempt: Attempt, address: str) -> bool:
        """Hand an attempt, on the server at `address`, to its source; returns False if it was too old for that."""
        if attempt.lost and attempt.check is not None:
            attempt = replace(attempt, check={**attempt.check, "server": address})
        self.proofs.note(address, attempt)
        with self._condition:
            is_collected = source.purpose == "collect" and task.work is None
            age = self.revision - task.revision
            # An error is not learned from, whatever its age: the theorem would only meet it once more. Evaluations are
            # made while no weights change.
            is_stale = is_collected and self.max_staleness is not None and age > self.max_staleness
            is_taken = not is_stale or attempt.outcome == "error"
            if is_taken:
                if is_collected:
                    attempt = replace(attempt, revisions=(task.revision, self.revision))
                source.finish(task, attempt)
            else:
                self.stale += 1
                # The theorem again, not a new one: it is long searches that become too old, those of hard theorems.
                self._put_back.append((source, task))
            self._condition.notify_all()
        return is_taken

    # -- Waiting, and the end --------------------------------------------------------------------------------------

    def fail(self, error: Exception) -> None:
        """Note that something the pool needs died of `error`: who waits for attempts raises it."""
        with self._condition:
            self._error = self._error or error
            self._condition.notify_all()

    def wait(self, done: Callable[[], bool], poll_seconds: float = 0.1) -> None:
        """Wait until `done()`; raises the error of `fail` if there is one, and Interrupted if asked to end.

        Raises ServerUnavailable if no Lean process was within reach for the pool's patience, and ProofsLost.
        """
        while True:
            self._check()
            seconds, reason = self.out_of_reach()
            if seconds > self._patience_seconds:
                patience = f"{self._patience_seconds:g} s"
                raise types.ServerUnavailable(f"no Lean process was to be had for {patience} ({reason})")
            lost = self.proofs.over()
            if lost is not None:  # it may be empty, where another rank knows why
                raise ProofsLost(lost)
            if self._asked_to_end():
                raise Interrupted
            with self._condition:
                if self._error is not None:
                    raise self._error
                if done():
                    return
                self._condition.wait(poll_seconds)

    def blame(self, seconds: float = BLAME_SECONDS) -> None:
        """Raise what `check` finds in the next seconds, if anything: who looks for lost ranks needs a moment."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._check()
            time.sleep(0.05)

    def stop(self) -> None:
        """Tell all that work to stop and give up their attempts."""
        self._closing.set()
        with self._condition:
            self._condition.notify_all()
