"""One thread that drives the engine for any number of threads that submit prompts.

There is no barrier: a prompt joins the engine at its next step, beside what is being decoded, and the thread that waits
for it is woken alone when the completion is there. Each pending completion has a lock of its own to wait on; the
conditions of the worker are waited on by the worker itself, and by threads that pause it.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from nanoproof.inference.backend import cpu_threads
from nanoproof.inference.engine import Engine
from nanoproof.inference.sampling import Completion, EngineRequest, SamplingOptions
from nanoproof.search.policy import BadState, ModelFailed, PolicyCancelled, PolicyClosed, PolicyTimeout

POLL_SECONDS = 0.5
"""How often a waiting thread checks whether it was cancelled."""


def compute_here(device: torch.device, threads: int | None) -> None:
    """Prepare the present thread for computing on a device, on `threads` CPU threads (default: `cpu_threads`)."""
    if threads is None:
        threads = cpu_threads()
    torch.set_num_threads(threads)
    if device.type == "cuda":
        # The current device is a thread's own, and begins as the first: rank 1 would compute on the GPU of rank 0.
        torch.cuda.set_device(device)


@dataclass(frozen=True)
class WorkerStats:
    """Prompts so far by outcome (a withdrawn one was cancelled), steps of the engine, and seconds spent in them."""

    asked: int = 0
    answered: int = 0
    failed: int = 0
    withdrawn: int = 0
    steps: int = 0
    busy_seconds: float = 0.0


class PendingCompletion:
    """A submitted prompt and its future completion. Ended when `completion` or `error` is set."""

    __slots__ = ("_ended", "completion", "error", "options", "prompt", "request", "seed")

    def __init__(self, prompt: Sequence[int], options: SamplingOptions, seed: int) -> None:
        self.prompt, self.options, self.seed = prompt, options, seed
        self.request: EngineRequest | None = None
        self.completion: Completion | None = None
        self.error: BaseException | None = None
        # Held until the end. A condition of all prompts would wake every waiting thread for each prompt that has ended.
        self._ended = threading.Lock()
        self._ended.acquire()

    def end(self, completion: Completion | None, error: BaseException | None = None) -> None:
        """Set the outcome and wake the waiting thread (the worker calls this, once)."""
        self.completion, self.error = completion, error
        self._ended.release()

    @property
    def ended(self) -> bool:
        return self.completion is not None or self.error is not None

    def wait(self, seconds: float) -> bool:
        """Wait for the outcome; returns False if `seconds` passed before. One thread at a time."""
        if not self._ended.acquire(timeout=seconds):
            return False
        self._ended.release()  # so that a second call returns at once
        return True


class EngineWorker:
    """Completes prompts with an engine that it owns, on a thread of its own."""

    def __init__(self, engine: Engine, prepare: Callable[[], None] = lambda: None) -> None:
        """`prepare` runs once, first, on the worker's thread."""
        self.engine, self._prepare = engine, prepare
        self._lock = threading.Lock()
        self._wake_worker = threading.Condition(self._lock)
        """Notified when there is something to do for the sleeping worker."""
        self._state_changed = threading.Condition(self._lock)
        """Notified when the worker idles, resumes, has renewed the weights or has ended."""
        self._arrived: dict[PendingCompletion, None] = {}
        self._cancelled: list[PendingCompletion] = []
        self._active: dict[EngineRequest, PendingCompletion] = {}
        self._paused = self._idle = self._sleeping = self._closed = self._dead = self._renewing = False
        self._broken: BaseException | None = None
        self.stats = WorkerStats()
        self._thread = threading.Thread(target=self._run, name="policy-worker", daemon=True)
        self._thread.start()

    # -- completions -----------------------------------------------------------------------------------------------

    def submit(self, prompt: Sequence[int], options: SamplingOptions, seed: int) -> PendingCompletion:
        """Submit a prompt; `result` waits for it. Raises PolicyClosed, or ModelFailed if the worker is dead."""
        pending = PendingCompletion(prompt, options, seed)
        self.submit_all([pending])
        return pending

    def submit_all(self, pending: Sequence[PendingCompletion]) -> None:
        """Submit prompts that begin in the same step of the engine, as far as it has room; raises as `submit` does.

        One after the other they would be in batches that depend on when the worker looks, and so would the last bits of
        what they are answered.
        """
        with self._lock:
            self._check_open()
            self._arrived.update(dict.fromkeys(pending))
            self._wake()

    def result(
        self, pending: PendingCompletion, deadline: float | None = None, cancelled: Callable[[], bool] | None = None
    ) -> Completion:
        """Wait for a completion until `deadline` (of `time.monotonic`), or until `cancelled()`, polled twice a second.

        Raises PolicyTimeout or PolicyCancelled (the prompt is cancelled then), PolicyClosed, BadState if the engine
        can never take such a prompt, or ModelFailed.
        """
        while True:
            left = float("inf")
            if deadline is not None:
                left = deadline - time.monotonic()
            if cancelled is not None:
                if cancelled():
                    self.cancel(pending)
                    raise PolicyCancelled("the request was cancelled")
                left = min(left, POLL_SECONDS)
            timeout = max(0.0, left)
            if left > threading.TIMEOUT_MAX:
                timeout = -1.0  # for ever, as locks have it; beyond the maximum they raise OverflowError
            if pending.wait(timeout):
                break
            if deadline is not None and time.monotonic() >= deadline:
                self.cancel(pending)
                raise PolicyTimeout("the policy did not answer before the deadline")
        if pending.completion is not None:
            return pending.completion
        error = pending.error
        assert error is not None
        if isinstance(error, (BadState, PolicyClosed)):
            # A new one: the instance may be that of many threads, and raising adds to its traceback.
            raise type(error)(str(error))
        raise ModelFailed(f"the model failed: {type(error).__name__}: {error}") from error

    def cancel(self, pending: PendingCompletion) -> None:
        """Cancel a prompt: its samples leave the engine at the next step."""
        with self._lock:
            if not (pending.ended or self._dead):
                self._arrived.pop(pending, None)
                # Only the worker's thread may touch the engine, which may be in the middle of a step.
                self._cancelled.append(pending)
                self._wake()

    @property
    def num_open(self) -> int:
        """Number of prompts without completion yet."""
        with self._lock:
            return len(self._arrived) + len(self._active)

    # -- control ---------------------------------------------------------------------------------------------------

    def pause(self, release: bool = False) -> None:
        """Start no more prompts; returns when those in the engine are completed. Others keep waiting.

        With `release` the engine frees its memory for keys and values.
        """
        with self._lock:
            self._paused = True
            self._wake()
            self._state_changed.wait_for(lambda: self._idle or self._dead or not self._paused)
            if release and self._idle and not self._dead:
                self.engine.release()

    def resume(self) -> None:
        """Let the engine copy the model's present weights while it is idle, and continue (paused before or not).

        Raises ModelFailed if the worker has ended because of that.
        """
        with self._lock:
            self._paused = True
            self._wake()
            self._state_changed.wait_for(lambda: self._idle or self._dead)
            if self._closed:
                return
            self._check_open()
            self.engine.refresh()
            self._paused = self._idle = False
            self._state_changed.notify_all()
            self._wake()

    def renew(self) -> None:
        """Let the engine copy the model's present weights between two of its steps; returns once it has.

        Nothing is paused: prompts in the engine are begun again with these weights (see `Engine.refresh`). The model
        must not change meanwhile. Raises ModelFailed if the worker has ended because of that.
        """
        with self._lock:
            self._renewing = not (self._dead or self._closed)
            self._wake()
            self._state_changed.wait_for(lambda: not self._renewing or self._dead)
            if not self._closed:
                self._check_open()

    def close(self) -> None:
        """End the worker; waiting threads get PolicyClosed."""
        with self._lock:
            self._closed = True
            self._wake()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _check_open(self) -> None:
        if self._closed:
            raise PolicyClosed("the policy is closed")
        if self._broken is not None:
            raise ModelFailed(f"the model failed before: {self._broken}") from self._broken

    def _wake(self) -> None:
        # While it computes it looks for arrivals after each step anyway.
        if self._sleeping:
            self._wake_worker.notify()

    # -- the worker's thread ---------------------------------------------------------------------------------------

    def _run(self) -> None:
        reason: BaseException = PolicyClosed("the policy was closed")
        try:
            self._prepare()
            while self._receive():
                if self._active:
                    self._step()
        except BaseException as error:  # raised by `result`
            reason = error
        self._end(reason)

    def _receive(self) -> bool:
        """Wait until there is something to do, then submit to the engine and cancel; returns False when closed."""
        with self._lock:
            while not self._has_work():
                if self._paused and not self._idle:
                    self._idle = True
                    self._state_changed.notify_all()
                self._sleeping = True
                self._wake_worker.wait()
                self._sleeping = False
            if self._closed:
                return False
            cancelled, self._cancelled = self._cancelled, []
            renewing = self._renewing
        # Without the lock from here on: who submits meanwhile does not wait for the engine.
        withdrawn = 0
        for pending in cancelled:
            if pending.ended:  # it was completed in the last step, or is in the list twice
                continue
            withdrawn += 1
            pending.end(None, PolicyCancelled("the request was cancelled"))
            if pending.request is not None:
                del self._active[pending.request]
                self.engine.cancel(pending.request)
        if renewing:
            self.engine.refresh()
            with self._lock:
                self._renewing = False
                self._state_changed.notify_all()
        # Arrivals are taken out only now: should the engine fail above, `_end` still finds them, and fails them.
        arrived: dict[PendingCompletion, None] = {}
        with self._lock:
            if not self._paused:
                arrived, self._arrived = self._arrived, arrived
        for pending in arrived:
            try:
                pending.request = self.engine.submit(pending.prompt, pending.options, pending.seed)
                self._active[pending.request] = pending
            except ValueError as error:
                pending.end(None, BadState(str(error)))
            except Exception as error:  # it concerns this prompt only
                pending.end(None, error)
        self._count(asked=len(arrived), withdrawn=withdrawn)
        return True

    def _has_work(self) -> bool:
        arrivals = bool(self._arrived) and not self._paused
        return bool(self._closed or self._renewing or self._active or self._cancelled or arrivals)

    def _step(self) -> None:
        began = time.perf_counter()
        try:
            ended = self.engine.step()
        except Exception as error:  # raised by `result`
            self._fail(error)
            return
        seconds = time.perf_counter() - began
        failed = sum(request.error is not None for request in ended)
        answered = sum(request.completion is not None for request in ended)
        # Before the waiting threads are woken: who has an answer finds it counted.
        self._count(steps=1, busy_seconds=seconds, failed=failed, answered=answered)
        for request in ended:
            pending = self._active.pop(request, None)
            if pending is not None:
                pending.end(request.completion, request.error)
        # It would be waited for without end.
        if self._active and self.engine.idle:
            self._fail(RuntimeError("the engine lost a request"))

    def _fail(self, error: Exception) -> None:
        """Fail all active prompts. Raises the error if the engine is of no more use."""
        all_pending, self._active = list(self._active.values()), {}
        try:
            for pending in all_pending:
                assert pending.request is not None
                self.engine.cancel(pending.request)
            if not self.engine.idle or self.engine.broken:
                raise error
        finally:
            self._count(failed=len(all_pending))
            for pending in all_pending:
                pending.end(None, error)

    def _end(self, reason: BaseException) -> None:
        with self._lock:
            self._dead = True
            if not self._closed:
                self._broken = reason
            left = [*self._active.values(), *self._arrived]
            self._active, self._arrived = {}, {}
            self._state_changed.notify_all()
        for pending in left:
            pending.end(None, reason)

    def _count(self, **more: float) -> None:
        totals = {name: getattr(self.stats, name) + number for name, number in more.items()}
        # A new object, so that other threads read counts of one moment without a lock.
        self.stats = replace(self.stats, **totals)
