"""Jobs on Lean processes: a thread for each process, which works until no job is left or something fails.

For jobs that are no attempts of a run (`actors` has those): statements to check, files to trace, the `sorry`s of a
project.
"""

import heapq
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Generic, TypeVar

from nanoproof.lean.types import LeanError

Session = TypeVar("Session")
Job = TypeVar("Job")

_POLL_SECONDS = 0.2
"""How soon a thread sees that it is to stop, and the one that waits for all of them a Ctrl-C."""
_JOIN_SECONDS = 10.0
"""How long the end waits, once something has failed, for threads in the middle of a call."""


class Jobs(Generic[Session, Job]):
    """Hands jobs to threads, each with a session of its own; `run` works on all of them.

    A session is opened for the first job of its thread, and anew after a job at which Lean failed: a process in which
    something went wrong may be what is wrong.
    """

    def __init__(
        self,
        sessions: Sequence[Callable[[], AbstractContextManager[Session]]],
        work: Callable[[Session, Job], bool],
        lean_failed: Callable[[Job, LeanError], bool],
        order: Callable[[Job], tuple[float, ...]] = lambda job: (),
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """`sessions` open the session of each thread. `work(session, job)` does a job and returns whether it has to
        come again; so does `lean_failed(job, error)`, on the same thread, after a LeanError of either. Any other
        exception, of these too, ends all work. Jobs come by `order`, equal ones as they were put.
        """
        self._sessions, self._work, self._lean_failed = sessions, work, lean_failed
        self._order, self._asked_to_stop = order, stopped
        self._changed = threading.Condition()
        self._waiting: list[tuple[tuple[float, ...], int, Job]] = []
        self._num_put = 0
        self._in_hand = 0
        self._failure: BaseException | None = None

    @property
    def stopped(self) -> bool:
        """Whether the work is to end before all jobs are done."""
        return self._failure is not None or self._asked_to_stop()

    def run(self, jobs: Iterable[Job]) -> None:
        """Work on jobs until none is left, or until the work is stopped. Raises what ended it."""
        for job in jobs:
            self._put(job)
        threads = [
            threading.Thread(target=self._run_thread, args=(open_session,), name=f"lean-job-{number}", daemon=True)
            for number, open_session in enumerate(self._sessions)
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive() and self._failure is None:
                    thread.join(_POLL_SECONDS)
        except BaseException as error:  # Ctrl-C
            self._failure = self._failure or error
        if self._failure is not None:
            deadline = time.monotonic() + _JOIN_SECONDS
            for thread in threads:
                thread.join(max(0.0, deadline - time.monotonic()))
            raise self._failure

    def _put(self, job: Job) -> None:
        with self._changed:
            # The number keeps equal jobs in their order, and two jobs from being compared.
            heapq.heappush(self._waiting, (self._order(job), self._num_put, job))
            self._num_put += 1
            self._changed.notify()

    def _take(self) -> Job | None:
        """Wait for a job; None if all are done or the work is stopped. One that others work on may come again."""
        with self._changed:
            while not self.stopped:
                if self._waiting:
                    self._in_hand += 1
                    return heapq.heappop(self._waiting)[-1]
                if not self._in_hand:
                    break
                self._changed.wait(_POLL_SECONDS)
            self._changed.notify_all()
            return None

    def _run_thread(self, open_session: Callable[[], AbstractContextManager[Session]]) -> None:
        try:
            with ExitStack() as stack:
                opened: list[Session] = []
                while (job := self._take()) is not None:
                    try:
                        if not opened:
                            opened.append(stack.enter_context(open_session()))
                        comes_again = self._work(opened[0], job)
                    except LeanError as error:
                        opened.clear()
                        stack.close()
                        comes_again = self._lean_failed(job, error)
                    # Put back before it is out of hand: other threads end when nothing waits and nothing is in hand.
                    if comes_again:
                        self._put(job)
                    with self._changed:
                        self._in_hand -= 1
                        self._changed.notify_all()
        except BaseException as error:  # of any kind: `run` raises it
            with self._changed:
                self._failure = self._failure or error
                self._changed.notify_all()
