"""Actors, threads that each hold one Lean process and turn tasks into attempts, and their pool.

What actors work on is decided by a task source that can be exchanged at any time; an attempt that was begun is finished
first, so nothing half-done is thrown away.
"""

import logging
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

from nanoproof.actors.fleet import Reach, ServerWatch
from nanoproof.actors.live_tree import LiveTree
from nanoproof.actors.pool import AttemptPool
from nanoproof.actors.tasks import NULL_OBSERVER, Interrupted, Observer, ProofsLost, Stopped, Task, TaskSource
from nanoproof.common.distributed import gather_json
from nanoproof.common.errors import UserError
from nanoproof.lean import types
from nanoproof.lean.client import FleetServer
from nanoproof.lean.lean_file import PLACEHOLDER
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.check import TrustingSession
from nanoproof.prover.prover import NULL_ATTEMPT_OBSERVER, AttemptObserver, Prover
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Node
from nanoproof.search.policy import Policy, PolicyError, PolicyUnavailable, Suggestion

log = logging.getLogger(__name__)

ProverFactory = Callable[[str, Policy], Prover]
"""Makes the prover for a purpose, `collect` or `evaluate`."""

OUT_OF_REACH = frozenset({types.ServerUnavailable.__name__, types.ServerBusy.__name__, types.AccessDenied.__name__})
"""Stop reasons that mean nothing for the theorem: its server was gone, or had no process for it any more."""
MAX_RETURNS = 4
"""How often a task may go back to the others. A theorem whose server is gone each time has probably ended it."""
LEASE_TIMEOUT_SECONDS = 30.0
FIRST_BACKOFF_SECONDS = 0.5
MAX_BACKOFF_SECONDS = 30.0
"""How long an actor waits at most before it tries a lost server again; doubled from the first each time."""
MAX_DEFECTS = 3
"""So many attempts of each actor that end in errors of ours, with none in between that ends well, end the run."""
JOIN_SECONDS = 10.0
"""How long the end of a run waits for actors that are in the middle of a call: so does the one who sent the signal."""
SWITCH_SECONDS = 0.0005
"""How long a thread may keep the interpreter. The model's thread gives it up at every tensor operation and must get it
back from the actors; Python's 5 ms would cost more than the operation."""


def _between(began: float, ended: float, parts: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Yield what of a span lies in none of its `parts`, which are in order."""
    for start, end in (*parts, (ended, ended)):
        if start > began:
            yield began, start
        began = max(began, end)


class Actor(threading.Thread, AttemptObserver):
    """One thread with one leased process, which watches its attempt. `snapshot` and `viewer` are for the monitor."""

    def __init__(self, number: int, client: FleetServer, policy: Policy, make: ProverFactory, pool: "ActorPool"):
        super().__init__(name=f"actor-{number}", daemon=True)
        self.number, self._client, self._pool = number, client, pool
        self._provers = {purpose: make(purpose, policy) for purpose in ("collect", "evaluate")}
        self._session: types.LeanSession | None = None
        self._backoff = FIRST_BACKOFF_SECONDS
        self.state: str = "idle"
        self.theorem, self.dataset, self.purpose, self.budget = "", "", "", 0
        self.attempts = 0
        self.root: Node | None = None
        self.search = SearchLog()
        self.viewer: LiveTree | None = None
        self.trace: AttemptObserver = NULL_ATTEMPT_OBSERVER
        self.seconds: dict[str, float] = dict.fromkeys(("model", "lean", "idle", "error", "paused"), 0.0)
        self.since = time.monotonic()

    def snapshot(self) -> dict[str, Any]:
        """Return the state and for how long, theorem, simulations, and the seconds spent in each state so far.

        States are idle, model, lean, error, and paused: waiting for a model that is paused for training.
        """
        return {
            "actor": self.number,
            "state": "paused" if self.paused else self.state,
            "state_seconds": round(time.monotonic() - self.since, 2),
            "theorem": self.theorem,
            "simulations": self.search.counts.simulations,
            "budget": self.budget,
            "server": self._client.address,
            "seconds": {name: round(value, 2) for name, value in self.seconds.items()},
        }

    @property
    def paused(self) -> bool:
        """Whether it waits for a model that is paused for training."""
        return self.state == "model" and self._pool.pauses.now

    def enter(self, state: str) -> str:
        """Note that the actor is now in `state`; returns the state that it left."""
        now = time.monotonic()
        previous = self.state
        spans = [(self.since, now)]
        if previous == "model":
            spans = self._pool.pauses.outside(self.since, now)
        seconds = sum(end - began for began, end in spans)
        self.seconds[previous] += seconds
        self.seconds["paused"] += now - self.since - seconds
        if previous != "idle":
            for began, end in spans:
                self._pool.observer.span(self.number, previous, began, end)
        if previous == "model":
            for began, end in _between(self.since, now, spans):
                self._pool.observer.span(self.number, "paused", began, end)
        self.state, self.since = state, now
        return previous

    # -- Observing the attempt at hand -----------------------------------------------------------------------------

    def begin(self, root: Node, log: SearchLog) -> None:
        """Note that the search of the attempt begins."""
        self.root, self.search = root, log
        self.trace.begin(root, log)

    @contextmanager
    def waiting(self, on: Literal["lean", "model"]) -> Iterator[None]:
        """Count the time in the block as waiting for Lean or for the model."""
        previous = self.enter(on)
        try:
            yield
        finally:
            self.enter(previous)

    def suggested(self, state: str, suggestion: Suggestion) -> None:
        """Note what the model suggests in a state."""
        self.trace.suggested(state, suggestion)

    def applied(
        self, state: str, tactics: Sequence[str], results: Sequence[types.TacticApplied | types.TacticFailed]
    ) -> None:
        """Note what Lean answered to tactics in a state."""
        self.trace.applied(state, tactics, results)

    # -- Work ------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Work until the pool closes."""
        try:
            while True:
                self._wait_while_resting()
                session = self._ensure_session()
                source, task = self._pool.take()
                if task.returns and self._pool.servers.doubtful(self._client.address):
                    self._drop_session()  # it may be this server that is gone: see, before the task is blamed for it
                    try:
                        session = self._lease()
                    except types.LeanError as error:
                        self._pool.put_back(source, task)
                        self._wait_before_retry(str(error))
                        continue
                self._begin(source.purpose, task)
                attempt = self._attempt(session, source.purpose, task)
                viewer = self.viewer  # once: another thread takes it away
                if viewer is not None:
                    viewer.ended(self, attempt)
                self.theorem, self.root = "", None
                self.enter("idle")
                # That says nothing of the theorem, unless it ends every server that it meets.
                out_of_reach = attempt.stop_reason in OUT_OF_REACH
                if out_of_reach and task.returns < MAX_RETURNS:
                    self._pool.put_back(source, replace(task, returns=task.returns + 1))
                else:
                    self._pool.finish(source, task, attempt, self._client.address)
                # After the task is given on, as it may take long if its server does. A process in which something went
                # wrong may be what is wrong.
                if attempt.outcome == "error":
                    self._drop_session()
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

    def _begin(self, purpose: str, task: Task) -> None:
        self.dataset, self.purpose, self.root = task.theorem.dataset, purpose, None
        self.search, self.budget = SearchLog(), task.num_simulations
        self.theorem = task.theorem.id
        self.attempts += 1

    def _should_stop(self) -> bool:
        """Tell whether the pool closes; asked between simulations, when the tree is whole and can be shown."""
        viewer = self.viewer
        if viewer is not None:
            viewer.between(self)
        return self._pool.closing

    def _attempt(self, session: types.LeanSession, purpose: str, task: Task) -> Attempt:
        """Try a task. What the policy or we could not do costs the attempt; if nothing else comes, it is raised.

        Raises PolicyUnavailable if the policy cannot be reached, and Stopped if the pool closes meanwhile.
        """
        self.trace, prover = task.trace, self._provers[purpose]
        try:
            if task.work is not None:
                attempt = task.work.run(session, self)
            elif task.again is not None:
                attempt = prover.try_again(session, *task.again, self._should_stop, self)
            else:
                # By the seed of the task: whichever actor makes the attempt, it is the same.
                rng = random.Random(task.seed)
                lean: types.LeanCalls = session
                if purpose == "collect" and PLACEHOLDER in task.theorem.source:
                    # what is learned may rest on lemmas before it that are open; what is scored may not
                    lean = TrustingSession(session, given=task.theorem.source)
                attempt = prover.prove(
                    lean,
                    task.theorem,
                    task.num_simulations,
                    rng,
                    self._should_stop,
                    self,
                    may_disprove=task.may_disprove,
                    given=task.given,
                )
        except (PolicyUnavailable, Stopped):
            raise
        except PolicyError as error:  # about this attempt's question alone
            attempt = _failed(task, error)
        except UserError:
            raise
        except Exception as error:
            self._pool.defect(error, f"{task.theorem.id} of {task.theorem.dataset}, seed {task.seed}")
            attempt = _failed(task, error)
        if self._pool.closing:
            raise Stopped
        return attempt

    def _wait_while_resting(self) -> None:
        """Leave a server alone that loses proofs, while others do not."""
        while seconds := self._pool.proofs.rest_seconds(self._client.address):
            self._drop_session()
            previous = self.enter("error")
            if self._pool.servers.wait(self._client.address, seconds):
                raise Stopped
            self.enter(previous)

    def _ensure_session(self) -> types.LeanSession:
        while self._session is None:
            if self._pool.closing:
                raise Stopped
            try:
                return self._lease()
            except types.LeanError as error:
                self._wait_before_retry(str(error))
        return self._session

    def _lease(self) -> types.LeanSession:
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
        if session is None:
            return
        try:
            session.close()
        except types.LeanError as error:
            log.info("actor %d: returning its process failed: %s", self.number, error)


def _failed(task: Task, error: Exception) -> Attempt:
    text, name = str(error) or repr(error), type(error).__name__
    return Attempt(task.theorem, "error", text, budget=task.num_simulations, seed=task.seed, stop_reason=name)


class ActorPool(AttemptPool):
    """The actors of one rank, threads of this process, and the task source that they all draw from."""

    def __init__(
        self,
        slots: Sequence[FleetServer],
        policy: Policy,
        make_prover: ProverFactory,
        check: Callable[[], None] = lambda: None,
        patience_seconds: float = float("inf"),
        asked_to_end: Callable[[], bool] = lambda: False,
        observer: Observer = NULL_OBSERVER,
        report_server: Callable[[str, Reach, int], None] | None = None,
        lost_proofs: int = 0,
        max_staleness: int | None = None,
    ) -> None:
        """Start an actor for each slot; the other arguments are those of `AttemptPool`, and all ranks make theirs
        together. `report_server` is the `report` of a `ServerWatch`.
        """
        sys.setswitchinterval(SWITCH_SECONDS)
        addresses = [client.address for client in slots]
        super().__init__(addresses, check, patience_seconds, asked_to_end, observer, lost_proofs, max_staleness)
        self.servers = ServerWatch(addresses, report_server)
        self.actors = [Actor(number, client, policy, make_prover, self) for number, client in enumerate(slots)]
        for actor in self.actors:
            actor.start()

    @property
    def size(self) -> int:
        """How many attempts it works on at a time."""
        return len(self.actors)

    def watched(self) -> Sequence[Actor]:
        """Return the actors whose states the timeline shows."""
        return self.actors

    def snapshot(self) -> dict[str, Any]:
        """Return the state of each server and of each actor, for the monitor."""
        return {"servers": self.servers.snapshot(), "actors": [actor.snapshot() for actor in self.actors]}

    def cut_off(self, address: str, actor: int, reason: str) -> None:
        """Note that a server gives an actor no process (actors call this).

        When none is left, what was put back goes to other ranks, as far as its source can hand it over.
        """
        self.servers.failed(address, actor, reason)
        if self.servers.gone_seconds:
            self.hand_over()

    def defect(self, error: Exception, where: str) -> None:
        """Note that an attempt met an error of ours (actors call this). Raises it if there is nothing but errors."""
        log.error("an error that was not foreseen, at %s", where, exc_info=error)
        with self.locked():
            self._defects += 1
            if self._defects >= MAX_DEFECTS * len(self.actors):  # all of them meet one failure of the engine
                raise error

    def finish(self, source: TaskSource, task: Task, attempt: Attempt, address: str) -> bool:
        """Hand an attempt, on the server at `address`, to its source, if it is not too old (actors call this)."""
        if attempt.outcome != "error":
            with self.locked():
                self._defects = 0
        return super().finish(source, task, attempt, address)

    def out_of_reach(self) -> tuple[float, str]:
        """Return for how many seconds no server has been within reach, and why."""
        return self.servers.gone_seconds, self.servers.reason

    def stop(self) -> None:
        """Tell all actors to stop and give up their attempts. Close the policy next, so that none waits for it."""
        super().stop()
        self.servers.close()

    def join(self, timeout: float = 20.0) -> None:
        """Wait for the actors to end and to return their processes."""
        deadline = time.monotonic() + timeout
        for actor in self.actors:
            actor.join(max(0.0, deadline - time.monotonic()))


def wait_together(pool: AttemptPool, done: Callable[[], bool]) -> None:
    """Call `pool.wait` on all ranks (a collective); raises Interrupted or ProofsLost on all if one wait ended so.

    Where a rank is gone, raises what the pool's check finds: launchers then send a signal to the others, which is
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
    except RuntimeError:  # another rank is gone, and the launcher signals this one to end
        pool.blame()
        if not interrupted:
            raise
        endings = [{"interrupted": True, "lost": None}]  # nobody was found to be gone: it is the user's signal
    reasons = [ending["lost"] for ending in endings if ending["lost"] is not None]
    if reasons:
        raise ProofsLost(max(reasons, key=len))  # it is empty on ranks that know it from others
    if any(ending["interrupted"] for ending in endings):
        raise Interrupted
