"""Requests of many threads, answered in batches by one worker thread.

There is no barrier: whenever the worker is free it takes what waits (up to a limit) and answers that, so batches are
large under load and small otherwise. Equal requests in one batch are computed once.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, TypeVar

Request = TypeVar("Request", bound=Hashable)
Answer = TypeVar("Answer")


class BatcherClosed(Exception):
    """The batcher was closed before or while this request waited."""


@dataclass(frozen=True)
class BatcherStats:
    """Work so far: batches, requests in them, distinct requests, and seconds spent computing."""

    batches: int = 0
    requests: int = 0
    distinct: int = 0
    busy_seconds: float = 0.0


class _Waiting(Generic[Request, Answer]):
    """A request, and the thread that waits for its answer."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.done = threading.Event()
        self.answer: Answer | None = None
        self.error: BaseException | None = None


class Batcher(Generic[Request, Answer]):
    """Collects requests into batches for `compute`, which only ever runs on the worker thread."""

    def __init__(
        self,
        compute: Callable[[Sequence[Request]], Sequence[Answer]],
        max_batch: int,
        wait_seconds: float = 0.0,
        prepare: Callable[[], None] = lambda: None,
    ) -> None:
        """`compute` answers distinct requests in order; a batch waits up to `wait_seconds` for company.

        `prepare` runs once, first, on the worker thread.
        """
        self._compute, self._max_batch, self._wait_seconds, self._prepare = compute, max_batch, wait_seconds, prepare
        self._queue: deque[_Waiting[Request, Answer]] = deque()
        self._changed = threading.Condition()
        self._paused = self._busy = self._closed = False
        self._stats = BatcherStats()
        self._worker = threading.Thread(target=self._work, name="batcher", daemon=True)
        self._worker.start()

    def __enter__(self) -> "Batcher[Request, Answer]":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def stats(self) -> BatcherStats:
        return self._stats

    @property
    def waiting(self) -> int:
        """How many requests wait for a batch."""
        return len(self._queue)

    def ask(self, request: Request) -> Answer:
        """The answer to `request`; blocks until a batch with it is computed.

        Raises what `compute` raised for this request, or BatcherClosed.
        """
        waiting = _Waiting[Request, Answer](request)
        with self._changed:
            if self._closed:
                raise BatcherClosed("the batcher is closed")
            self._queue.append(waiting)
            self._changed.notify_all()
        waiting.done.wait()
        if waiting.error is not None:
            raise waiting.error
        return waiting.answer  # type: ignore[return-value]

    def pause(self) -> None:
        """Start no more batches; returns when the one in work is done. Requests keep waiting."""
        with self._changed:
            self._paused = True
            self._changed.wait_for(lambda: not self._busy)

    def resume(self) -> None:
        """Go on after `pause`."""
        with self._changed:
            self._paused = False
            self._changed.notify_all()

    def close(self) -> None:
        """Finish the batch in work and end the worker; whoever waits gets BatcherClosed."""
        with self._changed:
            self._closed = True
            left = list(self._queue)
            self._queue.clear()
            self._changed.notify_all()
        for waiting in left:
            waiting.error = BatcherClosed("the batcher was closed")
            waiting.done.set()
        if threading.current_thread() is not self._worker:
            self._worker.join()

    def _work(self) -> None:
        self._prepare()
        while (batch := self._take()) is not None:
            started = time.perf_counter()
            distinct = list(dict.fromkeys(waiting.request for waiting in batch))
            answers = self._answer(distinct)
            for waiting in batch:
                result = answers[waiting.request]
                if isinstance(result, _Failed):
                    waiting.error = result.error
                else:
                    waiting.answer = result
            seconds = self._stats.busy_seconds + time.perf_counter() - started
            self._stats = BatcherStats(
                self._stats.batches + 1,
                self._stats.requests + len(batch),
                self._stats.distinct + len(distinct),
                seconds,
            )
            with self._changed:
                self._busy = False
                self._changed.notify_all()
            for waiting in batch:
                waiting.done.set()

    def _take(self) -> list[_Waiting[Request, Answer]] | None:
        """The next batch, marked as in work; None when the batcher is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or (self._queue and not self._paused))
            if self._wait_seconds > 0:
                self._changed.wait_for(lambda: self._closed or len(self._queue) >= self._max_batch, self._wait_seconds)
                self._changed.wait_for(lambda: self._closed or (self._queue and not self._paused))
            if self._closed:
                return None
            batch = [self._queue.popleft() for _ in range(min(len(self._queue), self._max_batch))]
            self._busy = True
            return batch

    def _answer(self, requests: list[Request]) -> dict[Request, "Answer | _Failed"]:
        """Answers by request; when a batch fails, its requests are tried alone, so that only the culprit's fails."""
        try:
            return dict(zip(requests, self._compute(requests), strict=True))
        except Exception as error:  # handed to whoever asked
            if len(requests) == 1:
                return {requests[0]: _Failed(error)}
        alone: dict[Request, Answer | _Failed] = {}
        for request in requests:
            alone |= self._answer([request])
        return alone


@dataclass(frozen=True)
class _Failed:
    error: Exception
