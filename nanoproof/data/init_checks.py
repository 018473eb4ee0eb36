"""Asks Lean servers, many at a time, whether they accept the statements of theorems.

A refusal of the statement is a verdict. Whatever goes wrong between us and Lean is none: the theorem is tried again,
and in the end it counts as not checked.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from nanoproof.lean.errors import LeanError, ServerBusy, ServerUnavailable, TheoremRejected
from nanoproof.lean.session import HttpLeanSession
from nanoproof.lean.theorem import Theorem

log = logging.getLogger(__name__)

LEASE_SECONDS = 30.0
_JOIN_SECONDS = 5.0
_WARN_SECONDS = 60.0


class Servers(Protocol):
    """Where processes are leased from, such as a `LeanFleet`."""

    def lease(self, timeout: float = 60.0) -> HttpLeanSession: ...


@dataclass(frozen=True)
class Verdict:
    """Whether Lean accepts a theorem's statement, and what it says if not."""

    theorem: Theorem
    passing: bool
    message: str = ""


@dataclass(frozen=True)
class Patience:
    """How often a theorem is tried that servers fail on, how long to wait between, and for servers that are gone."""

    tries: int = 3
    pause_seconds: float = 2.0
    gone_seconds: float = 120.0


@dataclass
class _Task:
    theorem: Theorem
    failures: int = 0


class InitChecks:
    """The checks of some theorems by `workers` threads. `run` gives every verdict to `on_verdict`, in this thread."""

    def __init__(self, theorems: Sequence[Theorem], servers: Servers, workers: int, patience: Patience) -> None:
        self._servers, self._patience = servers, patience
        self._waiting = deque(_Task(theorem) for theorem in theorems)
        self._under_way = 0
        self._verdicts: deque[Verdict] = deque()
        self._changed = threading.Condition()
        self._stopped = False
        self._bug: BaseException | None = None
        self._last_answer = time.monotonic()
        self._last_warning = float("-inf")
        self._trouble = "no Lean server has answered"
        self.unchecked: list[tuple[Theorem, str]] = []
        """Theorems that no server could be asked about, with what went wrong last."""
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(workers)]

    def run(self, on_verdict: Callable[[Verdict], None]) -> None:
        """Check all. Raises ServerUnavailable if no server can be reached for long; verdicts until then were given."""
        for thread in self._threads:
            thread.start()
        try:
            while self._step(on_verdict):
                pass
        finally:
            with self._changed:
                self._stopped = True
                self._changed.notify_all()
            deadline = time.monotonic() + _JOIN_SECONDS
            for thread in self._threads:
                thread.join(max(0.0, deadline - time.monotonic()))

    def _step(self, on_verdict: Callable[[Verdict], None]) -> bool:
        """Hand over the next verdict; False if there will be none."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._verdicts or self._bug or not self._is_open(), self._patience.pause_seconds
            )
            if self._bug is not None:
                raise self._bug
            if not self._verdicts:
                if self._is_open() and not self._under_way:
                    self._check_patience()
                return self._is_open()
            verdict = self._verdicts.popleft()
        on_verdict(verdict)
        return True

    def _is_open(self) -> bool:
        return bool(self._waiting or self._under_way)

    def _check_patience(self) -> None:
        if time.monotonic() - self._last_answer > self._patience.gone_seconds:
            raise ServerUnavailable(self._trouble)

    def _work(self) -> None:
        """One worker: it keeps its process for one theorem after the other."""
        session: HttpLeanSession | None = None
        try:
            while True:
                if session is None:
                    session = self._lease()
                task = self._take() if session is not None else None
                if session is None or task is None:
                    return
                if not self._check(session, task):
                    with suppress(LeanError):
                        session.close()
                    session = None
        except BaseException as error:
            with self._changed:
                self._bug = self._bug or error
                self._changed.notify_all()
        finally:
            if session is not None:
                with suppress(LeanError):
                    session.close()

    def _lease(self) -> HttpLeanSession | None:
        """A process, waited for as long as there is work; None when all is done."""
        while True:
            with self._changed:
                if self._stopped or not self._is_open():
                    return None
            try:
                session = self._servers.lease(LEASE_SECONDS)
                self._last_answer = time.monotonic()
                return session
            except LeanError as error:
                with self._changed:
                    self._note_trouble(error)
                    self._changed.wait_for(lambda: self._stopped, self._patience.pause_seconds)

    def _note_trouble(self, error: LeanError) -> None:
        """A server that is busy, or still starts its processes, is well: it is waited for as long as it takes."""
        now = time.monotonic()
        if isinstance(error, ServerBusy):
            self._last_answer = now
        self._trouble = str(error)
        if now - self._last_warning > _WARN_SECONDS:
            self._last_warning = now
            log.warning("waiting for a Lean server: %s", error)

    def _take(self) -> _Task | None:
        """The next theorem; waits for those under way, which may come back. None when all is done."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._waiting or not self._under_way)
            if self._stopped or not self._waiting:
                return None
            self._under_way += 1
            return self._waiting.popleft()

    def _check(self, session: HttpLeanSession, task: _Task) -> bool:
        """Whether the process is still good after asking it about a theorem."""
        try:
            session.start(task.theorem)
            verdict = Verdict(task.theorem, True)
        except TheoremRejected as refusal:
            verdict = Verdict(task.theorem, False, str(refusal))
        except LeanError as error:
            self._try_again(task, error)
            return False
        with self._changed:
            self._under_way -= 1
            self._last_answer = time.monotonic()
            self._verdicts.append(verdict)
            self._changed.notify_all()
        return True

    def _try_again(self, task: _Task, error: LeanError) -> None:
        """Put a theorem back, unless servers have failed on it too often."""
        task.failures += 1
        with self._changed:
            self._under_way -= 1
            self._note_trouble(error)
            if task.failures >= self._patience.tries:
                self.unchecked.append((task.theorem, str(error)))
            else:
                self._waiting.append(task)
            self._changed.notify_all()
