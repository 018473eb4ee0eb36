"""The actor threads of a rank, one for each of its process slots.

What they work on is decided by a task source that can be exchanged at any time; an attempt that was begun is finished
first, so nothing half-done is thrown away.
"""

import logging
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from nanoproof.common.dist import gather_json
from nanoproof.lean.errors import ServerUnavailable
from nanoproof.lean.fleet import FleetServer
from nanoproof.prover.attempt import Attempt
from nanoproof.search.policy import Policy
from nanoproof.selfplay.actor import Actor, ProverFactory
from nanoproof.selfplay.records.observer import NULL_OBSERVER, Observer
from nanoproof.selfplay.server_watch import ProofWatch, Reach, ServerWatch
from nanoproof.selfplay.tasks import Interrupted, ProofsLost, Stopped, Task, TaskSource

log = logging.getLogger(__name__)

MAX_DEFECTS = 3
"""So many attempts of each actor that end in errors of ours, with none in between that ends well, end the run."""
IDLE_POLL_SECONDS = 0.1
BLAME_SECONDS = 5.0
SWITCH_SECONDS = 0.0005
"""How long a thread may keep the interpreter. The model's thread gives it up at every tensor operation and must get it
back from the actors; Python's 5 ms would cost more than the operation."""


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
        lost_proofs: int = 0,
    ) -> None:
        """Start an actor for each slot. While the main thread waits, `check` is called, which raises to end the wait,
        and `asked_to_end`, whose True ends it with Interrupted. All ranks make theirs together.

        `patience_seconds`: a wait ends too if no actor gets a process of its server for so long. `tell_server` is what
        a `ServerWatch` tells of servers, `lost_proofs` the limit of a `ProofWatch`, which ends a wait with ProofsLost.
        """
        sys.setswitchinterval(SWITCH_SECONDS)
        self._condition = threading.Condition()
        self._source: TaskSource | None = None
        self._put_back: list[tuple[TaskSource, Task]] = []
        self._closing = threading.Event()
        self._check, self._patience_seconds = check, patience_seconds
        self._asked_to_end, self.observer = asked_to_end, observer
        self._error: Exception | None = None
        self._defects = 0
        addresses = [client.address for client in slots]
        self.servers = ServerWatch(addresses, tell_server)
        self.proofs = ProofWatch((name for share in gather_json(addresses) for name in share), lost_proofs)
        self.actors = [Actor(number, client, policy, make_prover, self) for number, client in enumerate(slots)]
        for actor in self.actors:
            actor.start()

    @property
    def closing(self) -> bool:
        return self._closing.is_set()

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

    def finish(self, source: TaskSource, task: Task, attempt: Attempt, address: str) -> None:
        """Hand an attempt, on the server at `address`, to its source (actors call this)."""
        if attempt.lost and attempt.check is not None:
            attempt = replace(attempt, check={**attempt.check, "server": address})
        self.proofs.note(address, attempt)
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
            if self._defects >= MAX_DEFECTS * len(self.actors):  # one failure of the engine is told to all of them
                raise error

    def fail(self, error: Exception) -> None:
        """Note that an actor died of `error` (actors call this)."""
        with self._condition:
            self._error = self._error or error
            self._condition.notify_all()

    def wait(self, done: Callable[[], bool], poll_seconds: float = 0.1) -> None:
        """Wait until `done()`; raises an actor's error if one died of it, and Interrupted if asked to end.

        Raises ServerUnavailable if no actor had a process within reach for the pool's patience, and ProofsLost.
        """
        while True:
            self._check()
            self._check_reach()
            if (lost := self.proofs.over()) is not None:
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
    """`pool.wait` on all ranks (a collective); raises Interrupted or ProofsLost on all if the wait of one ended so.

    Where a rank is gone, raises what the pool's check says of it: launchers then send a signal to the others, which is
    not why the run ends.
    """
    interrupted, lost = False, None
    try:
        pool.wait(done)
    except Interrupted:
        interrupted = True
    except ProofsLost as error:
        lost = str(error)
    try:
        endings = gather_json({"interrupted": interrupted, "lost": lost})
    except RuntimeError:  # another rank is gone, and with it the launcher's wish that this one goes on
        pool.blame()
        if not interrupted:
            raise
        endings = [{"interrupted": True, "lost": None}]
    reasons = [ending["lost"] for ending in endings if ending["lost"] is not None]
    if reasons:
        raise ProofsLost(max(reasons, key=len))  # it is empty on ranks that were only told
    if any(ending["interrupted"] for ending in endings):
        raise Interrupted
