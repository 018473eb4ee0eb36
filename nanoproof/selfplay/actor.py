"""An actor: a thread that holds one Lean process and turns tasks into attempts. Their pool: `actor_pool.py`."""

import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from nanoproof.common.errors import UserError
from nanoproof.lean.errors import AccessDenied, LeanError, ServerBusy, ServerUnavailable
from nanoproof.lean.fleet import FleetServer
from nanoproof.lean.theorem import Theorem
from nanoproof.lean.wire import Branch, CheckReport, LeanCalls, LeanSession, TacticApplied, TacticFailed
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.prover import Prover
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Node
from nanoproof.search.policy import Policy, PolicyError, PolicyUnavailable, Suggestion
from nanoproof.selfplay.records.observer import NO_TRACE, AttemptTrace
from nanoproof.selfplay.tasks import Stopped, Task

if TYPE_CHECKING:
    from nanoproof.selfplay.actor_pool import ActorPool

log = logging.getLogger(__name__)
T = TypeVar("T")
ProverFactory = Callable[[str, Policy], Prover]

OUT_OF_REACH = frozenset({ServerUnavailable.__name__, ServerBusy.__name__, AccessDenied.__name__})
"""Why an attempt ended that says nothing about its theorem: its server was gone, or had no process for it any more."""
MAX_RETURNS = 4
"""How often a task may go back to the others. A theorem whose server is gone each time has probably ended it."""
LEASE_TIMEOUT_SECONDS = 30.0
FIRST_BACKOFF_SECONDS = 0.5
MAX_BACKOFF_SECONDS = 30.0


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
        self.theorem, self.budget = "", 0
        self.search = SearchLog()
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
            "simulations": self.search.counts.simulations,
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
                self._let_rest()
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
                self.theorem, self.search, self.budget = task.theorem.id, SearchLog(), task.num_simulations
                attempt = self._attempt(session, source.purpose, task)
                self.theorem = ""
                self.enter("idle")
                out_of_reach = attempt.stop_reason in OUT_OF_REACH
                if out_of_reach and task.returns < MAX_RETURNS:
                    self._pool.put_back(source, replace(task, returns=task.returns + 1))
                else:
                    self._pool.finish(source, task, attempt, self._client.address)
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
        """Try a task. What the policy or we could not do costs the attempt; if nothing else comes, it is raised.

        Raises PolicyUnavailable if the policy cannot be reached, and Stopped if the pool closes meanwhile.
        """
        self.trace = task.trace
        try:
            attempt = self._prove(_WatchedLean(session, self), self._provers[purpose], task)
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

    def _prove(self, lean: "_WatchedLean", prover: Prover, task: Task) -> Attempt:
        if task.again is not None:
            return prover.try_again(lean, *task.again, lambda: self._pool.closing)
        return prover.prove(
            lean,
            task.theorem,
            task.num_simulations,
            random.Random(task.seed),
            lambda: self._pool.closing,
            self._begin,
            may_disprove=task.may_disprove,
        )

    def _let_rest(self) -> None:
        """Leave a server alone that loses proofs, while others do not."""
        while seconds := self._pool.proofs.rest_seconds(self._client.address):
            self._drop_session()
            previous = self.enter("error")
            if self._pool.servers.wait(self._client.address, seconds):
                raise Stopped
            self.enter(previous)

    def _begin(self, root: Node, search: SearchLog) -> None:
        self.search = search
        self.trace.begin(root, search)

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


def _failed(task: Task, error: Exception) -> Attempt:
    text, name = str(error) or repr(error), type(error).__name__
    return Attempt(task.theorem, "error", text, budget=task.num_simulations, seed=task.seed, stop_reason=name)


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


class _WatchedLean:
    """Notes that its actor waits for Lean."""

    def __init__(self, session: LeanCalls, actor: Actor) -> None:
        self._session, self._actor = session, actor

    def start(self, theorem: Theorem) -> Branch:
        return self._watch(lambda: self._session.start(theorem))

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]:
        results = self._watch(lambda: self._session.apply(branch, tactics))
        self._actor.trace.applied(branch.state.text, tactics, results)
        return results

    def check(self, source: str) -> CheckReport:
        return self._watch(lambda: self._session.check(source))

    def _watch(self, call: Callable[[], T]) -> T:
        previous = self._actor.enter("lean")
        try:
            return call()
        finally:
            self._actor.enter(previous)
