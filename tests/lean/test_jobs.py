"""Jobs on Lean processes: their order, those that come again, and what ends the work."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from nanoproof.lean.jobs import Jobs
from nanoproof.lean.types import LeanError


class Sessions:
    """Numbered sessions; `events` are their openings and closings."""

    def __init__(self) -> None:
        self.events: list[str] = []

    @contextmanager
    def open(self) -> Iterator[int]:
        number = self.events.count("open")
        self.events.append("open")
        yield number
        self.events.append(f"close {number}")


def fail(job: object, error: LeanError) -> bool:
    raise error


def test_jobs_are_done_by_their_order_and_equal_ones_as_they_were_put() -> None:
    done: list[str] = []
    jobs: Jobs[int, str] = Jobs(
        [Sessions().open], lambda session, job: done.append(job) is not None, fail, order=lambda job: (len(job),)
    )
    jobs.run(["bb", "c", "aa", "a"])
    assert done == ["c", "a", "bb", "aa"]


def test_threads_wait_for_a_job_that_may_come_again() -> None:
    tried: list[tuple[int, str]] = []
    both = threading.Barrier(2, timeout=20.0)

    def work(session: int, job: str) -> bool:
        if len(tried) < 2:
            both.wait()  # each thread has one job in hand, and none waits
        tried.append((session, job))
        return job == "again" and tried.count((session, job)) < 2

    sessions: list[Callable[[], AbstractContextManager[int]]] = [Sessions().open, Sessions().open]
    Jobs(sessions, work, fail).run(["again", "once"])
    assert [job for _, job in tried].count("again") in (2, 3) and len(tried) >= 3


def test_after_a_failure_of_lean_the_job_is_tried_in_a_fresh_process() -> None:
    sessions, errors = Sessions(), []

    def work(session: int, job: str) -> bool:
        if session == 0:
            raise LeanError("lost")
        return False

    def lean_failed(job: str, error: LeanError) -> bool:
        errors.append((job, str(error)))
        return True

    Jobs([sessions.open], work, lean_failed).run(["a"])
    assert errors == [("a", "lost")]
    assert sessions.events == ["open", "close 0", "open", "close 1"]


@pytest.mark.parametrize("error", [LeanError("gone"), ZeroDivisionError()])
def test_what_nobody_handles_ends_all_work_and_is_raised(error: Exception) -> None:
    done = []

    def work(session: int, job: int) -> bool:
        done.append(job)
        raise error

    with pytest.raises(type(error)):
        Jobs([Sessions().open], work, fail).run([1, 2, 3])
    assert done == [1]


def test_work_that_is_stopped_leaves_the_other_jobs() -> None:
    done: list[int] = []
    jobs: Jobs[int, int] = Jobs(
        [Sessions().open], lambda session, job: done.append(job) is not None, fail, stopped=lambda: len(done) == 2
    )
    jobs.run([1, 2, 3])
    assert done == [1, 2]
