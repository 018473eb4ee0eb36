"""Evaluation of a policy on a benchmark, over all actors of all ranks.

Ranks take theorems from a shared counter as they become free, so a slow theorem holds up nobody, and no collective is
pending while they work. Every attempt is written down as it ends.
"""

import hashlib
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from nanoproof.actors.actor import wait_together
from nanoproof.actors.pool import AttemptPool
from nanoproof.actors.tasks import Task
from nanoproof.common.distributed import DistInfo, SharedCounter, SharedQueue, barrier, gather_json, on_main
from nanoproof.common.terminal import Progress
from nanoproof.evaluation.results import EvaluationFiles, Mode
from nanoproof.evaluation.summary import theorem_key
from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.prover import NULL_ATTEMPT_OBSERVER, AttemptObserver
from nanoproof.prover.replay import SecondTry, second_tries
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Node

RETRY_SHARE, RETRY_LEAST_SECONDS = 0.25, 60.0
"""Tactics that ran out of time are tried once more for as long a part of the time of an evaluation, or so many seconds:
most of them may never end."""
_LOOK_SECONDS = 0.3
"""How often a rank that has no theorem looks for those that another left."""
# A theorem that is left to another rank goes through a queue of numbers: its index, and in the last bits how often it
# was begun. Three bits hold `MAX_RETURNS`, after which an attempt ends in an error.
_RETURNS_BITS = 3
_RETURNS_MASK = (1 << _RETURNS_BITS) - 1


@dataclass(frozen=True)
class Workload:
    """The theorems with the indices `todo` are to be tried once each, with so many simulations.

    `seed` decides the random choices of all attempts. With `retry_timeouts`, tactics that ran out of time in attempts
    without a proof are tried once more in the end.
    """

    theorems: Sequence[Theorem]
    todo: Sequence[int]
    num_simulations: int
    seed: int
    retry_timeouts: bool = False


class CountedSource(ABC):
    """A source that counts, over all ranks, how many of `total` attempts are done and how many theorems are proved."""

    purpose: Literal["collect", "evaluate"] = "evaluate"

    def __init__(self, name: str, total: int) -> None:
        """All ranks make theirs with the same `name`, which was never used before."""
        self._total = total
        self._done, self._solved = (SharedCounter(f"{name}/{what}") for what in ("done", "solved"))
        self.done = self.solved = 0

    @abstractmethod
    def next(self) -> Task | None:
        """Return the next task; None if there is none at present."""

    @abstractmethod
    def finish(self, task: Task, attempt: Attempt) -> None:
        """Take the attempt at a task."""

    def hand_over(self, task: Task) -> bool:
        """Return False: the task stays with this rank."""
        return False

    def finished(self) -> bool:
        """Update `done` and `solved`, and return whether all is done, on whichever rank."""
        self.solved, self.done = self._solved.add(0), self._done.add(0)
        return self.done >= self._total


class EvaluationSource(CountedSource):
    """Hands out the theorems of a workload, each once over all ranks.

    `keep` takes the attempts; it is called under the pool's lock. With `retry_timeouts`, `given_up` has this rank's
    attempts without a proof in which tactics ran out of time, and these.
    """

    def __init__(self, name: str, work: Workload, keep: Callable[[Attempt], None]) -> None:
        super().__init__(f"evaluation/{name}", len(work.todo))
        self._work, self._keep = work, keep
        self.given_up: list[tuple[Task, Attempt, tuple[SecondTry, ...]]] = []
        self._next, self._left = SharedCounter(f"evaluation/{name}/next"), SharedQueue(f"evaluation/{name}/left")
        self._exhausted, self._look_again = False, 0.0

    def next(self) -> Task | None:
        """Return the next theorem that no rank has begun."""
        if not self._exhausted:
            turn = self._next.add(1) - 1
            self._exhausted = turn >= len(self._work.todo)
            if not self._exhausted:
                return self._task(self._work.todo[turn])
        if time.monotonic() < self._look_again:
            return None
        self._look_again = time.monotonic() + _LOOK_SECONDS
        left = self._left.take()
        if left is None:
            return None
        return replace(self._task(left >> _RETURNS_BITS), returns=left & _RETURNS_MASK)

    def _task(self, index: int) -> Task:
        theorem = self._work.theorems[index]
        trace = _LogKept() if self._work.retry_timeouts else NULL_ATTEMPT_OBSERVER
        return Task(theorem, self._work.num_simulations, index, attempt_seed(self._work.seed, theorem), trace=trace)

    def hand_over(self, task: Task) -> bool:
        """Leave the theorem to whichever rank is next to ask."""
        self._left.put((task.index << _RETURNS_BITS) + min(task.returns, _RETURNS_MASK))
        return True

    def finish(self, task: Task, attempt: Attempt) -> None:
        """Keep the attempt. What is counted has been kept."""
        self._keep(attempt)
        if attempt.outcome == "proven":
            self._solved.add(1)
        if isinstance(task.trace, _LogKept) and attempt.outcome == "unproven":
            tries = second_tries(task.trace.log)
            if tries:
                # Without its observer: that has the whole tree, of which the tries are all that is still needed.
                self.given_up.append((replace(task, trace=NULL_ATTEMPT_OBSERVER), attempt, tries))
        # Last, and so that no rank ends the evaluation while the line of this attempt is not with the system.
        self._done.add(1)


class _LogKept(AttemptObserver):
    """Keeps the log of a search."""

    def __init__(self) -> None:
        self.log = SearchLog()

    def begin(self, root: Node, log: SearchLog) -> None:
        self.log = log


class RetrySource(CountedSource):
    """Has tactics that ran out of time tried once more, in one theorem of this rank at a time: nothing else runs then.

    `keep` takes the attempts as they are afterwards. `total` are the theorems of all ranks; after `seconds` the rest is
    left as it is.
    """

    def __init__(
        self,
        name: str,
        given_up: Sequence[tuple[Task, Attempt, tuple[SecondTry, ...]]],
        keep: Callable[[Attempt], None],
        total: int,
        seconds: float,
    ) -> None:
        super().__init__(f"evaluation/{name}/again", total)
        # Time is short: first the theorems that only lack this one tactic, likelier tactics before others.
        self._todo, self._keep = deque(sorted(given_up, key=_hope)), keep
        self._busy, self._deadline = False, time.monotonic() + seconds

    def next(self) -> Task | None:
        """Return the next theorem, once the one before it is done."""
        if self._busy or not self._todo:
            return None
        if time.monotonic() > self._deadline:
            self._done.add(len(self._todo))
            self._todo.clear()
            return None
        self._busy = True
        task, attempt, tries = self._todo.popleft()
        return replace(task, again=(attempt, tries))

    def finish(self, task: Task, attempt: Attempt) -> None:
        """Keep the attempt; as it was if the server failed."""
        # A server that fails now takes no verdict away: the line that is there stays the newest without an error. A
        # proof that it lost is worth a new line, as unproven, which the theorem was before.
        if attempt.outcome == "error" and attempt.lost:
            self._keep(replace(attempt, outcome="unproven"))
        elif attempt.outcome != "error":
            self._keep(attempt)
        if attempt.outcome == "proven":
            self._solved.add(1)
        self._done.add(1)
        self._busy = False


def _hope(given_up: tuple[Task, Attempt, tuple[SecondTry, ...]]) -> tuple[bool, float]:
    """Return a key for sorting theorems by their best tactic that ran out of time, the most hopeful first."""
    _, _, tries = given_up
    return not tries[0].proof, -tries[0].prior


def attempt_seed(seed: int, theorem: Theorem) -> int:
    """Derive the seed of the attempt at a theorem: the same for every actor and among any other theorems."""
    # 48 bits, which JavaScript reads without rounding from a file of JSON.
    digest = hashlib.blake2b(f"{seed}/{theorem_key(theorem)}".encode(), digest_size=6).digest()
    return int.from_bytes(digest, "little")


def try_theorems(
    pool: AttemptPool,
    name: str,
    work: Workload,
    keep: Callable[[Attempt], None],
    title: str = "evaluate",
    show: bool = True,
) -> None:
    """Try the theorems of a workload once each, and `keep` the attempts as they end; `show` progress under a `title`.

    With `retry_timeouts` an attempt without a proof, in which tactics ran out of time, may come to `keep` once more in
    the end, when these were tried again. All ranks call it together, with the same `name` that was never used before.
    The actors are left without a task source afterwards, unless the wait is ended by an exception.
    """
    started = time.monotonic()
    source, total = EvaluationSource(name, work, keep), len(work.theorems)
    # Of an evaluation that is continued the bar begins with what was done before.
    work_off(pool, source, Progress(total, title, "theorems", show=show, initial=total - len(work.todo)))
    if work.retry_timeouts and (retries := sum(gather_json(len(source.given_up)))):
        seconds = max(RETRY_LEAST_SECONDS, RETRY_SHARE * (time.monotonic() - started))
        again = RetrySource(name, source.given_up, keep, retries, seconds)
        work_off(pool, again, Progress(retries, f"{title}, what ran out of time", "theorems", show=show))


def work_off(pool: AttemptPool, source: CountedSource, progress: Progress) -> None:
    """Have the actors work until the source is finished, and show progress; all ranks call it together."""
    pool.set_source(source)
    with progress:
        wait_together(pool, lambda: _advance(source, progress))
    pool.set_source(None)


def _advance(source: CountedSource, progress: Progress) -> bool:
    before = source.done
    finished = source.finished()
    if source.done > before:
        progress.update(source.done - before, note=f"{source.solved} proved")
    return finished


def evaluate(
    pool: AttemptPool,
    name: str,
    files: EvaluationFiles,
    dist: DistInfo,
    mode: Mode = "new",
    about: dict[str, Any] | None = None,
    extra: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Evaluate the theorems of `files`, write the results there as they come, and return the summary.

    All ranks call it together, with the same `name` that was never used before, and get the same summary. `about` is
    what to note about this part of the work, `extra` goes into the summary. Raises UserError if `mode` does not allow
    for what is there already, and what ends the pool's wait: everything that was done is written then. The pool stops.
    """
    todo = on_main(lambda: files.begin(about or {}, mode))
    started = time.monotonic()
    if todo:
        settings = files.settings
        title = f"evaluate {settings.dataset} {settings.split}"
        retry = bool(settings.retry_timeouts)
        work = Workload(files.theorems, todo, settings.num_simulations, settings.seed, retry)
        with files.writer(dist.rank) as writer:
            try:
                try_theorems(pool, name, work, writer.add, title, dist.is_main)
            except BaseException:
                pool.stop()  # no attempt that ends now can be written any more
                raise
        barrier()  # a network's file system promises to show what others wrote once they have closed it
    return on_main(lambda: files.finish(time.monotonic() - started, extra))
