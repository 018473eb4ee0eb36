"""Actor threads: each holds one Lean process and turns tasks into attempts.

A pool has one thread for each of its process slots. What the threads work on is decided by a task source that can be
exchanged at any time; an attempt that was begun is finished first, so nothing half-done is thrown away.
"""

import logging
import random
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Literal, Protocol, TypeVar

from nanoproof.common.dist import gather_json
from nanoproof.common.errors import UserError
from nanoproof.common.suggestion import Policy, PolicyError, PolicyUnavailable, Suggestion
from nanoproof.lean.errors import AccessDenied, LeanError, ServerBusy, ServerUnavailable
from nanoproof.lean.fleet import FleetServer
from nanoproof.lean.theorem import Theorem
from nanoproof.lean.wire import Branch, CheckReport, LeanSession, TacticApplied, TacticFailed
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.prover import Prover
from nanoproof.selfplay.records.observer import NO_TRACE, NULL_OBSERVER, AttemptTrace, Observer
from nanoproof.selfplay.server_watch import Reach, ServerWatch

log = logging.getLogger(__name__)
T = TypeVar("T")

OUT_OF_REACH = frozenset({ServerUnavailable.__name__, ServerBusy.__name__, AccessDenied.__name__})
"""Why an attempt ended that says nothing about its theorem: its server was gone, or had no process for it any more."""
MAX_RETURNS = 4
"""How often a task may go back to the others. A theorem whose server is gone each time has probably ended it."""
MAX_DEFECTS = 3
"""So many attempts that end in errors of ours, with none in between that ends well, end the run."""
IDLE_POLL_SECONDS = 0.1
LEASE_TIMEOUT_SECONDS = 30.0
FIRST_BACKOFF_SECONDS = 0.5
MAX_BACKOFF_SECONDS = 30.0
SWITCH_SECONDS = 0.0005
"""How long a thread may keep the interpreter. The model's thread gives it up at every tensor operation and must get it
back from the actors; Python's 5 ms would cost more than the operation."""


@dataclass(frozen=True, slots=True)
class Task:
    """One theorem to try. `index` is the source's own number for it; `seed` decides the attempt's random choices.

    `returns` is how often it was begun and left to another actor, as the server was gone. `may_disprove`: the negation
    may be what is tried, if the prover's options ask for that. `trace` is told how the attempt goes.
    """

    theorem: Theorem
    num_simulations: int
    index: int
    seed: int
    returns: int = 0
    may_disprove: bool = True
    trace: AttemptTrace = NO_TRACE


class TaskSource(Protocol):
    """Hands out tasks and takes the attempts back. Its methods are called under the pool's lock."""

    purpose: Literal["collect", "evaluate"]

    def next(self) -> Task | None:
        """The next task; None if there is none at present."""
        ...

    def finish(self, task: Task, attempt: Attempt) -> None:
        """Take the attempt at a task that `next` gave."""
        ...

    def hand_over(self, task: Task) -> bool:
        """Leave a task that `next` gave to whichever rank is next to ask; False if it has to stay with this rank."""
        ...


ProverFactory = Callable[[str, Policy], Prover]


class Interrupted(Exception):
    """Somebody asked the run to end; raised in the main thread where it waits for actors."""


class Stopped(Exception):
    """The pool is closing; the attempt at hand is given up."""


class Actor(threading.Thread):
    """One thread with one leased process. `snapshot` says what it is doing, for the monitor."""

    def __init__(self, number: int, client: FleetServer, policy: Policy, make: ProverFactory, pool: "ActorPool"):
        super().__init__(name=f"actor-{number}", daemon=True)
        self.number, self._client, self._pool = number, client, pool
        watched = _WatchedPolicy(policy, self)
        self._provers = {purpose: make(purpose, watched) for purpose in ("collect", "evaluate")}
        self._session: LeanSession | None = None
        self._backoff = FIRST_BACKOFF_SECONDS
        self.state: str = "idle"
        self.theorem, self.simulations, self.budget = "", 0, 0
        self.trace: AttemptTrace = NO_TRACE
        self.seconds: dict[str, float] = {"model": 0.0, "lean": 0.0, "idle": 0.0, "error": 0.0}
        self.since = time.monotonic()

    def snapshot(self) -> dict[str, Any]:
        """State (idle, model, lean or error) and for how long, theorem, simulations so far, seconds in each state."""
        return {
            "actor": self.number,
            "state": self.state,
            "state_seconds": round(time.monotonic() - self.since, 2),
            "theorem": self.theorem,
            "simulations": self.simulations,
            "budget": self.budget,
            "server": self._client.address,
            "seconds": {name: round(value, 2) for name, value in self.seconds.items()},
        }

    def enter(self, state: str) -> str:
        """Note that the actor is now in `state`; returns the state that it left."""
        now = time.monotonic()
        previous = self.state
        self.seconds[previous] += now - self.since
        if previous != "idle":
            self._pool.observer.span(self.number, previous, self.since, now)
        self.state, self.since = state, now
        return previous

    def run(self) -> None:
        """Work until the pool closes."""
        try:
            while True:
                session = self._ensure_session()
                source, task = self._pool.take()
                if task.returns and self._pool.servers.doubtful(self._client.address):
                    self._drop_session()  # it may be this server that is gone: see, before the task is blamed for it
                    try:
                        session = self._lease()
                    except LeanError as error:
                        self._pool.put_back(source, task)
                        self._wait_before_retry(str(error))
                        continue
                self.theorem, self.simulations, self.budget = task.theorem.id, 0, task.num_simulations
                attempt = self._attempt(session, source.purpose, task)
                self.theorem = ""
                self.enter("idle")
                out_of_reach = attempt.stop_reason in OUT_OF_REACH
                if out_of_reach and task.returns < MAX_RETURNS:
                    self._pool.put_back(source, replace(task, returns=task.returns + 1))
                else:
                    self._pool.finish(source, task, attempt)
                if attempt.outcome == "error":
                    self._drop_session()  # may take long, if its server does
                if out_of_reach:
                    self._wait_before_retry(attempt.message)
        except Stopped:
            pass
        except Exception as error:  # it must reach the main thread
            if not self._pool.closing:
                log.error("actor %d failed: %s", self.number, error, exc_info=not isinstance(error, UserError))
                self._pool.fail(error)
        finally:
            self._drop_session()

    def _attempt(self, session: LeanSession, purpose: str, task: Task) -> Attempt:
        """Try a task. What we did not foresee costs the attempt; three times in a row, it is raised.

        Raises PolicyUnavailable if the policy cannot be reached, and Stopped if the pool closes meanwhile.
        """
        rng = random.Random(task.seed)
        self.trace = task.trace
        try:
            attempt = self._provers[purpose].prove(
                _WatchedSession(session, self),
                task.theorem,
                task.num_simulations,
                rng,
                self._should_stop,
                task.trace.begin,
                may_disprove=task.may_disprove,
            )
        except (PolicyUnavailable, Stopped, UserError):
            raise
        except Exception as error:
            if not isinstance(error, PolicyError):  # such an error is about this attempt's question alone
                self._pool.defect(error, f"{task.theorem.id} of {task.theorem.dataset}, seed {task.seed}")
            text, name = str(error) or repr(error), type(error).__name__
            attempt = Attempt(
                task.theorem, "error", text, budget=task.num_simulations, seed=task.seed, stop_reason=name
            )
        if self._pool.closing:
            raise Stopped
        return attempt

    def _should_stop(self) -> bool:
        self.simulations += 1
        return self._pool.closing

    def _ensure_session(self) -> LeanSession:
        while self._session is None:
            if self._pool.closing:
                raise Stopped
            try:
                return self._lease()
            except LeanError as error:
                self._wait_before_retry(str(error))
        return self._session

    def _lease(self) -> LeanSession:
        self._session = self._client.lease(timeout=LEASE_TIMEOUT_SECONDS)
        self._backoff = FIRST_BACKOFF_SECONDS
        self._pool.servers.reached(self._client.address, self.number)
        return self._session

    def _wait_before_retry(self, reason: str) -> None:
        previous = self.enter("error")
        self._pool.cut_off(self._client.address, self.number, reason)
        log.debug("actor %d waits up to %.1f s: %s", self.number, self._backoff, reason)
        if self._pool.servers.wait(self._client.address, self._backoff):
            raise Stopped
        self._backoff = min(2 * self._backoff, MAX_BACKOFF_SECONDS)
        self.enter(previous)

    def _drop_session(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            try:
                session.close()
            except LeanError as error:
                log.info("actor %d: returning its process failed: %s", self.number, error)


class ActorPool:
    """The actors of one rank and the task source that they all draw from."""

    def __init__(
        self,
        slots: Sequence[FleetServer],
        policy: Policy,
        make_prover: ProverFactory,
        check: Callable[[], None] = lambda: None,
        patience_seconds: float = float("inf"),
        asked_to_end: Callable[[], bool] = lambda: False,
        observer: Observer = NULL_OBSERVER,
        tell_server: Callable[[str, Reach, int], None] | None = None,
    ) -> None:
        """Start an actor for each slot. While the main thread waits, `check` is called, which raises to end the wait,
        and `asked_to_end`, which ends it as `interrupt` does.

        `patience_seconds`: a wait ends too if no actor gets a process of its server for so long. `tell_server` is what
        a `ServerWatch` tells of servers.
        """
        sys.setswitchinterval(SWITCH_SECONDS)
        self._condition = threading.Condition()
        self._source: TaskSource | None = None
        self._put_back: list[tuple[TaskSource, Task]] = []
        self._closing = threading.Event()
        self._interrupted = False
        self._check, self._patience_seconds = check, patience_seconds
        self._asked_to_end, self.observer = asked_to_end, observer
        self._error: Exception | None = None
        self._defects = 0
        self.servers = ServerWatch([client.address for client in slots], tell_server)
        self.actors = [Actor(number, client, policy, make_prover, self) for number, client in enumerate(slots)]
        for actor in self.actors:
            actor.start()

    @property
    def closing(self) -> bool:
        return self._closing.is_set()

    def interrupt(self) -> None:
        """End the present and all later waits of the main thread (safe in a signal handler)."""
        self._interrupted = True

    def locked(self) -> threading.Condition:
        """The pool's lock, as a context manager: task sources are left alone meanwhile."""
        return self._condition

    def set_source(self, source: TaskSource | None) -> None:
        """From now on actors draw tasks from `source`; attempts under way go back to the source they came from."""
        with self._condition:
            self._source = source
            self._condition.notify_all()

    def take(self) -> tuple[TaskSource, Task]:
        """Wait for a task (actors call this). Raises Stopped when the pool closes."""
        with self._condition:
            while not self.closing:
                if self._put_back:
                    return self._put_back.pop(0)
                source = self._source
                task = source.next() if source is not None else None
                if source is not None and task is not None:
                    return source, task
                self._condition.wait(IDLE_POLL_SECONDS)
        raise Stopped

    def put_back(self, source: TaskSource, task: Task) -> None:
        """Leave a task to the next actor that is free, as the server of this one is out of reach (actors call this)."""
        with self._condition:
            self._put_back.append((source, task))
            self._condition.notify_all()

    def cut_off(self, address: str, actor: int, reason: str) -> None:
        """Note that a server gives an actor no process (actors call this).

        When none is left, what was put back goes to other ranks, as far as its source can hand it over.
        """
        self.servers.failed(address, actor, reason)
        if self.servers.gone_seconds:
            with self._condition:
                self._put_back = [(source, task) for source, task in self._put_back if not source.hand_over(task)]

    def finish(self, source: TaskSource, task: Task, attempt: Attempt) -> None:
        """Hand an attempt to its source (actors call this)."""
        with self._condition:
            if attempt.outcome != "error":
                self._defects = 0
            source.finish(task, attempt)
            self._condition.notify_all()

    def defect(self, error: Exception, where: str) -> None:
        """Note that an attempt met an error of ours (actors call this). Raises it if there is nothing but errors."""
        log.error("an error that was not foreseen, at %s", where, exc_info=error)
        with self._condition:
            self._defects += 1
            if self._defects >= MAX_DEFECTS:
                raise error

    def fail(self, error: Exception) -> None:
        """Note that an actor died of `error` (actors call this)."""
        with self._condition:
            self._error = self._error or error
            self._condition.notify_all()

    def wait(self, done: Callable[[], bool], poll_seconds: float = 0.1) -> None:
        """Wait until `done()`; raises an actor's error if one died of it, and Interrupted after `interrupt`.

        Raises ServerUnavailable if no actor had a process within reach for the pool's patience.
        """
        while True:
            self._check()
            self._check_reach()
            self._interrupted |= self._asked_to_end()
            with self._condition:
                if self._interrupted:
                    raise Interrupted
                if self._error is not None:
                    raise self._error
                if done():
                    return
                self._condition.wait(poll_seconds)

    def _check_reach(self) -> None:
        if self.servers.gone_seconds > self._patience_seconds:
            raise ServerUnavailable(
                f"no Lean process was to be had for {self._patience_seconds:g} s ({self.servers.reason})"
            )

    def stop(self) -> None:
        """Tell all actors to stop and give up their attempts. Close the policy next, so that none waits for it."""
        self._closing.set()
        self.servers.close()
        with self._condition:
            self._condition.notify_all()

    def join(self, timeout: float = 20.0) -> None:
        """Wait for the actors to end and to return their processes."""
        deadline = time.monotonic() + timeout
        for actor in self.actors:
            actor.join(max(0.0, deadline - time.monotonic()))


def wait_together(pool: ActorPool, done: Callable[[], bool]) -> None:
    """`pool.wait` on all ranks; raises Interrupted on all of them if the wait of one was ended so (a collective)."""
    interrupted = False
    try:
        pool.wait(done)
    except Interrupted:
        interrupted = True
    try:
        interrupted = any(gather_json(interrupted))
    except RuntimeError:  # another rank is gone, and with it the launcher's wish that this one goes on
        if not interrupted:
            raise
    if interrupted:
        raise Interrupted


class _WatchedPolicy:
    """Notes that its actor waits for the model."""

    def __init__(self, policy: Policy, actor: Actor) -> None:
        self._policy, self._actor = policy, actor

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        previous = self._actor.enter("model")
        try:
            suggestion = self._policy.suggest(state_text, seed)
        finally:
            self._actor.enter(previous)
        self._actor.trace.suggested(state_text, suggestion)
        return suggestion


class _WatchedSession:
    """Notes that its actor waits for Lean."""

    def __init__(self, session: LeanSession, actor: Actor) -> None:
        self._session, self._actor = session, actor

    def start(self, theorem: Theorem) -> Branch:
        return self._watch(lambda: self._session.start(theorem))

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]:
        results = self._watch(lambda: self._session.apply(branch, tactics))
        self._actor.trace.applied(branch.state.text, tactics, results)
        return results

    def check(self, source: str) -> CheckReport:
        return self._watch(lambda: self._session.check(source))

    def close(self) -> None:
        self._session.close()

    def __enter__(self) -> "_WatchedSession":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def _watch(self, call: Callable[[], T]) -> T:
        previous = self._actor.enter("lean")
        try:
            return call()
        finally:
            self._actor.enter(previous)
