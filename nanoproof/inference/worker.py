"""One thread that drives the engine for any number of threads that ask.

There is no barrier: what is asked joins the engine at its next step, beside what is being decoded, and who asked is
woken alone when the answer is there. Each question has a lock of its own to wait on; the condition of the worker is
waited on by the worker, and by who pauses it.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from nanoproof.inference.engine import Engine
from nanoproof.inference.sampling import Completion, EngineRequest, SamplingOptions
from nanoproof.search.policy import BadState, ModelFailed, PolicyCancelled, PolicyClosed, PolicyTimeout

POLL_SECONDS = 0.5
"""How often one that waits looks whether it was cancelled."""


@dataclass(frozen=True)
class WorkerStats:
    """What became of the questions so far, steps of the engine, and seconds spent in them."""

    asked: int = 0
    answered: int = 0
    failed: int = 0
    withdrawn: int = 0
    steps: int = 0
    busy_seconds: float = 0.0


class Question:
    """A prompt on its way through the worker. Ended when `completion` or `error` is set."""

    __slots__ = ("_ended", "completion", "error", "options", "prompt", "request", "seed")

    def __init__(self, prompt: Sequence[int], options: SamplingOptions, seed: int) -> None:
        self.prompt, self.options, self.seed = prompt, options, seed
        self.request: EngineRequest | None = None
        self.completion: Completion | None = None
        self.error: BaseException | None = None
        self._ended = threading.Lock()
        self._ended.acquire()

    def end(self, completion: Completion | None, error: BaseException | None = None) -> None:
        """Set the outcome and wake who waits (the worker calls this, once)."""
        self.completion, self.error = completion, error
        self._ended.release()

    @property
    def ended(self) -> bool:
        return self.completion is not None or self.error is not None

    def wait(self, seconds: float) -> bool:
        """Wait for the end; False if the time was over before. One thread at a time."""
        if not self._ended.acquire(timeout=seconds):
            return False
        self._ended.release()
        return True


class EngineWorker:
    """Answers prompts with an engine that nobody else may use, from a thread of its own."""

    def __init__(self, engine: Engine, prepare: Callable[[], None] = lambda: None) -> None:
        """`prepare` runs once, first, on the worker's thread."""
        self._engine, self._prepare = engine, prepare
        self._lock = threading.Lock()
        self._bell = threading.Condition(self._lock)
        """Rung for the worker."""
        self._settled = threading.Condition(self._lock)
        """Told when the worker rests or has ended."""
        self._arrived: dict[Question, None] = {}
        self._withdrawn: list[Question] = []
        self._active: dict[EngineRequest, Question] = {}
        self._paused = self._resting = self._sleeping = self._closed = self._gone = False
        self._broken: BaseException | None = None
        self._stats = WorkerStats()
        self._thread = threading.Thread(target=self._run, name="policy-worker", daemon=True)
        self._thread.start()

    # -- for those who ask -----------------------------------------------------------------------------------------

    def ask(self, prompt: Sequence[int], options: SamplingOptions, seed: int) -> Question:
        """Hand in a prompt; `answer` waits for what comes of it. Raises PolicyClosed, or ModelFailed if all is lost."""
        question = Question(prompt, options, seed)
        with self._lock:
            self._check_open()
            self._arrived[question] = None
            self._ring()
        return question

    def answer(
        self, question: Question, deadline: float | None = None, cancelled: Callable[[], bool] | None = None
    ) -> Completion:
        """Wait for the answer until `deadline` (of `time.monotonic`), or until `cancelled()`, looked at twice a second.

        Raises PolicyTimeout or PolicyCancelled (the question is withdrawn then), PolicyClosed, BadState if the engine
        has no room for such a question at all, or ModelFailed.
        """
        while True:
            left = float("inf") if deadline is None else deadline - time.monotonic()
            if cancelled is not None:
                if cancelled():
                    self.withdraw(question)
                    raise PolicyCancelled("the question was cancelled")
                left = min(left, POLL_SECONDS)
            if question.wait(max(0.0, left) if left <= threading.TIMEOUT_MAX else -1):
                break
            if deadline is not None and time.monotonic() >= deadline:
                self.withdraw(question)
                raise PolicyTimeout("the policy did not answer before the deadline")
        if question.completion is not None:
            return question.completion
        error = question.error
        assert error is not None
        if isinstance(error, (BadState, PolicyClosed)):
            raise type(error)(str(error))  # one instance may be there for many
        raise ModelFailed(f"the model failed: {type(error).__name__}: {error}") from error

    def withdraw(self, question: Question) -> None:
        """Nobody waits for the answer any more: its samples leave the engine at the next step."""
        with self._lock:
            if not (question.ended or self._gone):
                self._arrived.pop(question, None)
                self._withdrawn.append(question)
                self._ring()

    @property
    def num_open(self) -> int:
        """Questions that have no answer yet."""
        with self._lock:
            return len(self._arrived) + len(self._active)

    @property
    def stats(self) -> WorkerStats:
        return self._stats

    # -- for those who steer ---------------------------------------------------------------------------------------

    def pause(self, release: bool = False) -> None:
        """Begin no more questions; returns when those in the engine are answered. Others keep waiting.

        With `release` the engine gives back its memory for keys and values.
        """
        with self._lock:
            self._paused = True
            self._ring()
            self._settled.wait_for(lambda: self._resting or self._gone or not self._paused)
            if release and self._resting and not self._gone:
                self._engine.release()

    def resume(self) -> None:
        """Rest for a moment, let the engine take over the model's weights, and go on (paused before or not).

        Raises ModelFailed if the worker has ended because of that.
        """
        with self._lock:
            self._paused = True
            self._ring()
            self._settled.wait_for(lambda: self._resting or self._gone)
            if self._closed:
                return
            self._check_open()
            self._engine.refresh()
            self._paused = self._resting = False
            self._settled.notify_all()
            self._ring()

    def close(self) -> None:
        """End the worker; whoever waits gets PolicyClosed."""
        with self._lock:
            self._closed = True
            self._ring()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _check_open(self) -> None:
        if self._closed:
            raise PolicyClosed("the policy is closed")
        if self._broken is not None:
            raise ModelFailed(f"the model failed before: {self._broken}") from self._broken

    def _ring(self) -> None:
        if self._sleeping:
            self._bell.notify()

    # -- the worker's thread ---------------------------------------------------------------------------------------

    def _run(self) -> None:
        reason: BaseException = PolicyClosed("the policy was closed")
        try:
            self._prepare()
            while self._take_in():
                if self._active:
                    self._step()
        except BaseException as error:  # handed to whoever asked
            reason = error
        self._end(reason)

    def _take_in(self) -> bool:
        """Wait until there is something to do, then hand to the engine what has changed; False in the end."""
        with self._lock:
            while not (self._closed or self._active or self._withdrawn or (self._arrived and not self._paused)):
                if self._paused and not self._resting:
                    self._resting = True
                    self._settled.notify_all()
                self._sleeping = True
                self._bell.wait()
                self._sleeping = False
            if self._closed:
                return False
            withdrawn, self._withdrawn = self._withdrawn, []
        withdrawn = [question for question in dict.fromkeys(withdrawn) if not question.ended]
        for question in withdrawn:
            question.end(None, PolicyCancelled("the question was withdrawn"))
            if question.request is not None:
                del self._active[question.request]
                self._engine.cancel(question.request)
        with self._lock:  # only now: should the engine fail above, `_end` tells those who have just arrived
            arrived: dict[Question, None] = {}
            if not self._paused:
                arrived, self._arrived = self._arrived, arrived
        for question in arrived:
            try:
                question.request = self._engine.submit(question.prompt, question.options, question.seed)
                self._active[question.request] = question
            except ValueError as error:
                question.end(None, BadState(str(error)))
            except Exception as error:  # it concerns this question only
                question.end(None, error)
        self._count(asked=len(arrived), withdrawn=len(withdrawn))
        return True

    def _step(self) -> None:
        began = time.perf_counter()
        try:
            ended = self._engine.step()
        except Exception as error:  # handed to whoever asked
            self._fail(error)
            return
        seconds = time.perf_counter() - began
        self._count(steps=1, busy_seconds=seconds, failed=sum(request.error is not None for request in ended))
        self._count(answered=sum(request.completion is not None for request in ended))
        for request in ended:  # counted by the time that they know of it
            question = self._active.pop(request, None)
            if question is not None:
                question.end(request.completion, request.error)
        if self._active and self._engine.idle:
            self._fail(RuntimeError("the engine lost a request"))

    def _fail(self, error: Exception) -> None:
        """Give up what the engine works on. Raises what makes the engine useless for those who come later."""
        questions, self._active = list(self._active.values()), {}
        try:
            for question in questions:
                assert question.request is not None
                self._engine.cancel(question.request)
            if not self._engine.idle or self._engine.broken:
                raise error
        finally:
            self._count(failed=len(questions))
            for question in questions:
                question.end(None, error)

    def _end(self, reason: BaseException) -> None:
        with self._lock:
            self._gone = True
            self._broken = None if self._closed else reason
            left = [*self._active.values(), *self._arrived]
            self._active, self._arrived = {}, {}
            self._settled.notify_all()
        for question in left:
            question.end(None, reason)

    def _count(self, **more: float) -> None:
        self._stats = replace(self._stats, **{name: getattr(self._stats, name) + by for name, by in more.items()})
