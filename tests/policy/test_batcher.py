"""Batching: what waits goes together, errors reach their own requester, pause and close do what they say."""

import threading
from collections.abc import Callable, Iterator, Sequence

import pytest

from nanoproof.policy.batcher import Batcher, BatcherClosed


class Recorder:
    """Answers a number with its square, remembers the batches, and can be held at the start of a batch."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.entered = threading.Semaphore(0)
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, requests: Sequence[int]) -> list[int]:
        self.batches.append(list(requests))
        self.entered.release()
        assert self.gate.wait(10)
        if 13 in requests:
            raise RuntimeError("unlucky")
        return [request * request for request in requests]


class Asker(threading.Thread):
    """A thread that asks once and keeps what it got."""

    def __init__(self, ask: Callable[[int], int], request: int) -> None:
        super().__init__(daemon=True)
        self._ask, self._request = ask, request
        self.result: int | Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            self.result = self._ask(self._request)
        except Exception as error:
            self.result = error

    def outcome(self) -> int | Exception | None:
        self.join(10)
        assert not self.is_alive()
        return self.result


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def batcher(recorder: Recorder) -> Iterator[Batcher[int, int]]:
    with Batcher(recorder, max_batch=4) as batcher:
        yield batcher


def wait_for_queue(batcher: Batcher[int, int], length: int) -> None:
    for _ in range(2000):
        if batcher.waiting == length:
            return
        threading.Event().wait(0.005)
    raise AssertionError(f"{batcher.waiting} requests wait, not {length}")


def ask_while_busy(batcher: Batcher[int, int], recorder: Recorder, requests: list[int]) -> list[Asker]:
    """Let request 0 occupy the worker until all of `requests` wait behind it."""
    recorder.gate.clear()
    first = Asker(batcher.ask, 0)
    assert recorder.entered.acquire(timeout=10)
    askers = []
    for index, request in enumerate(requests):
        askers.append(Asker(batcher.ask, request))
        wait_for_queue(batcher, index + 1)
    recorder.gate.set()
    assert first.outcome() == 0
    return askers


def test_a_lone_request_is_answered_at_once(batcher: Batcher[int, int]) -> None:
    assert batcher.ask(7) == 49


def test_what_waits_becomes_the_next_batches_in_order(batcher: Batcher[int, int], recorder: Recorder) -> None:
    askers = ask_while_busy(batcher, recorder, [1, 2, 3, 4, 5, 6])
    assert [asker.outcome() for asker in askers] == [1, 4, 9, 16, 25, 36]
    assert recorder.batches == [[0], [1, 2, 3, 4], [5, 6]]


def test_equal_requests_of_a_batch_are_computed_once(batcher: Batcher[int, int], recorder: Recorder) -> None:
    askers = ask_while_busy(batcher, recorder, [3, 5, 3])
    assert [asker.outcome() for asker in askers] == [9, 25, 9]
    assert recorder.batches[1] == [3, 5]
    assert (batcher.stats.batches, batcher.stats.requests, batcher.stats.distinct) == (2, 4, 3)


def test_an_error_reaches_only_its_requester(batcher: Batcher[int, int], recorder: Recorder) -> None:
    askers = ask_while_busy(batcher, recorder, [2, 13, 4])
    assert askers[0].outcome() == 4
    assert str(askers[1].outcome()) == "unlucky"
    assert askers[2].outcome() == 16
    assert batcher.ask(5) == 25, "the worker goes on"


def test_pause_waits_for_the_batch_in_work_and_starts_no_other(batcher: Batcher[int, int], recorder: Recorder) -> None:
    recorder.gate.clear()
    first = Asker(batcher.ask, 1)
    assert recorder.entered.acquire(timeout=10)
    pausing = threading.Thread(target=batcher.pause, daemon=True)
    pausing.start()
    pausing.join(0.05)
    assert pausing.is_alive()
    recorder.gate.set()
    pausing.join(10)
    assert first.outcome() == 1
    second = Asker(batcher.ask, 2)
    wait_for_queue(batcher, 1)
    second.join(0.05)
    assert recorder.batches == [[1]]
    batcher.resume()
    assert second.outcome() == 4


def test_close_releases_those_who_wait(recorder: Recorder) -> None:
    batcher = Batcher(recorder, max_batch=4)
    batcher.pause()
    waiting = Asker(batcher.ask, 1)
    wait_for_queue(batcher, 1)
    batcher.close()
    assert isinstance(waiting.outcome(), BatcherClosed)
    with pytest.raises(BatcherClosed):
        batcher.ask(2)


def test_many_threads_get_their_own_answers(batcher: Batcher[int, int], recorder: Recorder) -> None:
    askers = [Asker(batcher.ask, number) for number in range(100, 160)]
    assert [asker.outcome() for asker in askers] == [number * number for number in range(100, 160)]
    assert sorted(request for batch in recorder.batches for request in batch) == list(range(100, 160))
    assert max(map(len, recorder.batches)) <= 4


def test_a_wrong_number_of_answers_is_an_error() -> None:
    with Batcher[int, int](lambda requests: [], max_batch=4) as batcher, pytest.raises(ValueError, match="shorter"):
        batcher.ask(1)


def test_a_batch_may_wait_for_company(recorder: Recorder) -> None:
    with Batcher(recorder, max_batch=2, wait_seconds=30.0) as batcher:
        askers = [Asker(batcher.ask, 1), Asker(batcher.ask, 2)]
        assert [asker.outcome() for asker in askers] == [1, 4]
    assert [sorted(batch) for batch in recorder.batches] == [[1, 2]]


def test_the_worker_prepares_itself_first() -> None:
    threads: list[str] = []

    def note() -> None:
        threads.append(threading.current_thread().name)

    def compute(requests: Sequence[int]) -> Sequence[int]:
        note()
        return requests

    with Batcher(compute, max_batch=1, prepare=note) as batcher:
        assert batcher.ask(1) == 1
    assert threads == ["batcher", "batcher"]
