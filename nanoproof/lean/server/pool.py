"""The pool of a server's processes: started in the background, leased to one client each, replaced when they end."""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram

from nanoproof.lean.server.backend import Backend, ServerSettings
from nanoproof.lean.server.lease import ProcessGone, ServerLease
from nanoproof.lean.server.repl_process import ReplError, ReplProcess

log = logging.getLogger(__name__)

_TICK_SECONDS = 1.0
_SHORTEST_LEASE_SECONDS = 1.0
_MAX_BACKOFF_SECONDS = 30.0
_FAILURES_BEFORE_GIVING_UP = 2
"""Starts that fail in a row before callers are told; one alone may be an accident, such as a full memory."""
_MAX_WAITING_PER_LEASE = 4
_LARGEST_LEASE_ID = 2**53 - 1  # the largest integer that every JSON reader has, those with floats as well
_TACTIC_BUCKETS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


class LeaseNotFound(LookupError):
    """No lease has this id: it was never given, was returned, or expired."""


class TooManyWaiting(Exception):
    """Too many callers wait for a process, or for their turn with one."""


class CannotStart(Exception):
    """Processes keep failing to start; the message is the reason of the last failure."""


class ShuttingDown(Exception):
    """The server accepts no more work."""


class Metrics:
    """The Prometheus metrics of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = self._counter("requests", "HTTP requests answered, by route and status.", "route", "status")
        self.tactics = self._counter("tactics", "Tactics tried, by how they ended.", "outcome")
        self.tactic_seconds = Histogram(
            "nanoproof_lean_tactic_seconds",
            "Seconds that a tactic took, refused ones included.",
            buckets=_TACTIC_BUCKETS,
            registry=self.registry,
        )
        self.starts = self._counter("starts", "Lean processes started, by how it went.", "outcome")
        self.ends = self._counter("restarts", "Lean processes that ended or were replaced, by reason.", "reason")
        self.leases = self._counter("leases", "Events in the life of leases.", "event")

    def _counter(self, name: str, help: str, *labels: str) -> Counter:
        return Counter(f"nanoproof_lean_{name}_total", help, labels, registry=self.registry)

    def tactic(self, outcome: str, seconds: float) -> None:
        """Count one tactic, with its outcome and duration."""
        self.tactics.labels(outcome).inc()
        self.tactic_seconds.observe(seconds)


class Pool:
    """Processes, free and leased. All public methods may be called from any thread.

    A keeper thread starts processes as they are wanted, takes back idle leases and kills processes that use too much
    memory. It is the only thread that creates processes, because they end together with the thread that made them.
    """

    def __init__(self, settings: ServerSettings, backend: Backend) -> None:
        self.metrics = Metrics()
        self._settings = settings
        self._backend = backend
        self._changed = threading.Condition()
        self._free: list[tuple[ReplProcess, int | None]] = []
        self._starting: set[ReplProcess] = set()
        self._leases: dict[int, ServerLease] = {}
        self._ending: set[ServerLease] = set()
        self._waiting = 0
        self._waiting_for_turn = 0
        self._replacing = 0
        self.closing = False
        """True once no more work is accepted."""
        self._closed = False
        self._has_started = False
        self._failures = 0
        self._start_error: str | None = None
        self._retry_at = 0.0
        self._keeper = threading.Thread(target=self._keep, name="lean-pool", daemon=True)

    def start(self) -> None:
        """Start the keeper thread; with `warmup`, wait until all processes are ready (`CannotStart` if that fails)."""
        self._keeper.start()
        if not self._settings.warmup:
            return
        with self._changed:
            while len(self._free) < self._capacity:
                if self._closed or self._failures >= _FAILURES_BEFORE_GIVING_UP:
                    raise CannotStart(self._start_error or "the server is shutting down")
                self._changed.wait(_TICK_SECONDS)

    def get(
        self,
        blocking: bool,
        seconds: float,
        gone: Callable[[], bool] = lambda: False,
        idle_seconds: float | None = None,
        fresh_environments: bool = True,
    ) -> ServerLease | None:
        """Lease a process; None if none came free in time, or if the caller is `gone` before.

        The lease may be idle for `idle_seconds`, where that is less than the settings say. For `fresh_environments` see
        `ServerLease`.
        Raises `TooManyWaiting`, `CannotStart` or `ShuttingDown`.
        """
        deadline = time.monotonic() + (seconds if blocking else 0.0)
        with self._changed:
            if self._waiting >= self._settings.max_waiting:
                raise TooManyWaiting
            self._waiting += 1
            self._changed.notify_all()
            try:
                while not self._may_lease() or (taken := self._take()) is None:
                    if self.closing:
                        raise ShuttingDown
                    if self._hopeless():
                        raise CannotStart(self._start_error)
                    remaining = deadline - time.monotonic()
                    if remaining <= 0 or gone():
                        return None
                    # In short waits: that the caller has hung up wakes nobody.
                    self._changed.wait(min(remaining, _TICK_SECONDS))
                idle = self._settings.lease_seconds
                if idle_seconds is not None:
                    idle = min(idle, max(idle_seconds, _SHORTEST_LEASE_SECONDS))
                lease = ServerLease(self._new_id(), *taken, self._backend, self, idle, fresh_environments)
                self._leases[lease.id] = lease
                self.metrics.leases.labels("given").inc()
                return lease
            finally:
                self._waiting -= 1

    @contextmanager
    def use(self, lease_id: int) -> Iterator[ServerLease]:
        """Wait for exclusive use of the lease with this id; raises `LeaseNotFound` or `TooManyWaiting`."""
        lease = self._wait_for_turn(lease_id)
        try:
            if lease.ended:  # while this waited for its turn; it must not get a process then
                raise LeaseNotFound(lease_id)
            yield lease
        finally:
            lease.last_used = time.monotonic()
            lease.lock.release()
            # It was returned meanwhile, by a caller that found the lock taken.
            if lease.ended:
                self._try_to_retire(lease)

    def find(self, lease_id: int) -> ServerLease:
        """Return the lease with this id, which others may be using; raises `LeaseNotFound`."""
        with self._changed:
            lease = self._leases.get(lease_id)
        if lease is None:
            raise LeaseNotFound(lease_id)
        return lease

    def heartbeat(self, lease_id: int) -> ServerLease:
        """Record that the client of a lease still needs it, and return it; raises `LeaseNotFound`."""
        lease = self.find(lease_id)
        lease.last_used = time.monotonic()
        return lease

    def give_back(self, lease_id: int) -> bool:
        """End a lease and reset its process for the next one; False if there is no such lease (any more).

        A request in progress on it is killed with its process: nobody needs its result.
        """
        lease = self._end(lease_id)
        if lease is None:
            return False
        self.metrics.leases.labels("returned").inc()
        if not self._try_to_retire(lease):
            lease.kill("abandoned", "its lease was returned")
        return True

    def count_processes(self) -> tuple[dict[str, Any], list[tuple[ReplProcess, str]]]:
        """Return the fields of `/status` on the pool, with numbers of processes by state, and each with its state."""
        with self._changed:
            processes = [(process, "available") for process, _ in self._free]
            processes += [(lease.process, "used") for lease in self._leases.values() if lease.process]
            processes += [(process, "starting") for process in self._starting]
            processes += [(lease.process, "stopping") for lease in self._ending if lease.process]
            counts = {
                "available_processes": len(self._free),
                "used_processes": len(self._leases),
                "starting_processes": len(self._starting),
                "stopping_processes": len(self._ending),
                "max_processes": self._settings.max_processes,
                "ready": not self.closing and bool(self._free or self._leases),
                "shutting_down": self.closing,
                "waiting_requests": self._waiting,
                "error": self._start_error,
            }
        return counts, processes

    def drain(self) -> None:
        """Give no more leases; those that are given can be used until `close`."""
        with self._changed:
            self.closing = True
            self._changed.notify_all()

    def close(self) -> None:
        """Kill every process; requests in progress end with an error."""
        with self._changed:
            self.closing = self._closed = True
            free, self._free = self._free, []
            starting = list(self._starting)
            leases = [*self._leases.values(), *self._ending]
            self._changed.notify_all()
        for process in starting:
            process.kill()
        for lease in leases:
            lease.kill("shutdown", "the server is shutting down")
        for process, _ in free:
            process.close()
        self._backend.close()
        if self._keeper.is_alive():
            self._keeper.join(_TICK_SECONDS * 5)

    def replace(self, lease: ServerLease) -> tuple[ReplProcess, int | None]:
        """Return a new process, with its base environment, for a lease that lost its own.

        It has priority over new leases, and waits as long as a start may take. Raises `ProcessGone`.
        """
        deadline = time.monotonic() + self._settings.start_seconds
        with self._changed:
            self._replacing += 1
            self._changed.notify_all()
            try:
                while (taken := self._take()) is None:
                    if self._closed or lease.ended:
                        raise ProcessGone("Subprocess has terminated and is not replaced: the lease has ended")
                    if self._failures >= _FAILURES_BEFORE_GIVING_UP or time.monotonic() > deadline:
                        raise ProcessGone(f"Subprocess has terminated and cannot be replaced: {self._start_error}")
                    self._changed.wait(_TICK_SECONDS)
                return taken
            finally:
                self._replacing -= 1

    def recycle_reason(self, process: ReplProcess) -> str | None:
        """Return why a process should not be used for another lease or proof, None if it may be."""
        if process.uses >= self._settings.max_uses:
            return "uses"
        if process.is_busy:
            return "runaway"
        limit = self._settings.recycle_gb
        if limit is not None and process.resident_bytes() > limit * 2**30:
            return "size"
        return None

    def note_end(self, reason: str) -> None:
        """Count a process that ended or was given up, and wake the keeper thread, which starts another one."""
        self.metrics.ends.labels(reason).inc()
        with self._changed:
            self._changed.notify_all()

    def _new_id(self) -> int:
        """Draw an id that no client guesses, nor remembers from a server that ran here before."""
        while (number := 1 + secrets.randbelow(_LARGEST_LEASE_ID)) in self._leases:
            pass
        return number

    def _wait_for_turn(self, lease_id: int) -> ServerLease:
        """Return the lease, locked for the caller."""
        with self._changed:
            lease = self.find(lease_id)
            if lease.lock.acquire(blocking=False):
                return lease
            # Who waits holds a thread of the server; without a limit one client could take them all.
            if lease.waiting >= _MAX_WAITING_PER_LEASE or self._waiting_for_turn >= self._settings.max_waiting:
                raise TooManyWaiting
            lease.waiting += 1
            self._waiting_for_turn += 1
        lease.lock.acquire()
        with self._changed:
            lease.waiting -= 1
            self._waiting_for_turn -= 1
        return lease

    def _end(self, lease_id: int) -> ServerLease | None:
        """Remove a lease from the table; the last holder of its lock retires it."""
        with self._changed:
            lease = self._leases.pop(lease_id, None)
            if lease is not None:
                lease.ended = True
                self._ending.add(lease)
                self._changed.notify_all()
            return lease

    def _try_to_retire(self, lease: ServerLease) -> bool:
        """Retire an ended lease unless a request is in progress, which then does so when it ends."""
        if not lease.lock.acquire(blocking=False):
            return False
        try:
            self._retire(lease)
        finally:
            lease.lock.release()
        return True

    def _retire(self, lease: ServerLease) -> None:
        """Make the process of an ended lease free again; the caller holds the lock of the lease."""
        base_env = lease.base_env
        process = lease.release()
        with self._changed:
            self._ending.discard(lease)
            if process is not None and not self._closed:
                self._free.append((process, base_env))
                process = None
            self._changed.notify_all()
        if process is not None:
            process.close()

    @property
    def _capacity(self) -> int:
        return self._settings.max_processes + self._settings.spares

    def _may_lease(self) -> bool:
        """Tell whether another lease may be given; lost processes are replaced first. The caller holds the lock."""
        # Who lost a process in the middle of a proof has already waited, and holds a lease that helps nobody.
        free = len(self._free) - self._replacing
        return not self.closing and free > 0 and len(self._leases) < self._settings.max_processes

    def _hopeless(self) -> bool:
        return self._failures >= _FAILURES_BEFORE_GIVING_UP and not self._free and not self._leases

    def _take(self) -> tuple[ReplProcess, int | None] | None:
        """Take a free process if there is one; the caller holds the lock."""
        while self._free:
            process, base_env = self._free.pop()
            if process.alive:
                process.uses += 1
                self._changed.notify_all()
                return process, base_env
            process.close()
            self.metrics.ends.labels("crash").inc()
        return None

    def _keep(self) -> None:
        next_check = time.monotonic() + _TICK_SECONDS
        while True:
            with self._changed:
                if self._closed:
                    return
                missing, idle = self._missing(), next_check - time.monotonic()
                if missing <= 0 and idle > 0:
                    self._changed.wait(idle)
                    continue
            for _ in range(missing):
                self._spawn()
            # Checks read the memory of every process, which is too much to do at each change.
            if idle <= 0:
                self._check_leases()
                self._check_processes()
                next_check = time.monotonic() + _TICK_SECONDS

    def _missing(self) -> int:
        """Return how many processes to start now; the first starts alone, as it may fill a cache that others use."""
        if time.monotonic() < self._retry_at:
            return 0
        # A lease that lost its process has none until `replace` finds one, so that another one is wanted.
        leased = sum(lease.process is not None for lease in self._leases.values())
        live = len(self._free) + len(self._starting) + len(self._ending) + leased
        wanted = 1
        if self._has_started:
            wanted = self._wanted()
        return wanted - live

    def _wanted(self) -> int:
        """Return how many processes there should be: all with `warmup`, else those in demand and the spare ones."""
        if self._settings.warmup:
            return self._capacity
        return min(self._capacity, len(self._leases) + self._waiting + max(1, self._settings.spares))

    def _spawn(self) -> None:
        try:
            process = self._backend.spawn()
        except OSError as error:
            self._failed(str(error))
            return
        with self._changed:
            self._starting.add(process)
            if self._closed:  # `close` came before this process was in the set that it kills
                process.kill()
        threading.Thread(target=self._prepare, args=(process,), name=f"lean-start-{process.pid}", daemon=True).start()

    def _prepare(self, process: ReplProcess) -> None:
        try:
            base_env = self._backend.prepare(process)
        except ReplError as error:
            with self._changed:
                self._starting.discard(process)
            self._failed(str(error) or type(error).__name__)
            return
        self.metrics.starts.labels("started").inc()
        if not self._has_started and (reason := process.limits.reason):
            how = "its process is killed"
            if process.limits.heeds_timeout:
                how = "the REPL does, and it runs on"
            log.warning("Lean cannot stop a tactic that runs out of time, so %s: %s", how, reason)
        with self._changed:
            self._starting.discard(process)
            self._has_started = True
            self._failures = 0
            self._start_error = None
            if self._closed:
                process.close()
            else:
                self._free.append((process, base_env))
            self._changed.notify_all()

    def _failed(self, reason: str) -> None:
        reason = " ".join(reason.split())
        with self._changed:
            if self._closed:
                return
            self._failures += 1
            self._start_error = reason
            self._retry_at = time.monotonic() + min(_MAX_BACKOFF_SECONDS, 0.1 * 4.0 ** min(self._failures, 10))
            self.metrics.starts.labels("failed").inc()
            self._changed.notify_all()
        log.warning("a Lean process did not start: %s", reason)

    def _check_leases(self) -> None:
        """Take back leases that were idle for too long; one with a request in progress is in use."""
        now = time.monotonic()
        with self._changed:
            idle = [lease for lease in self._leases.values() if lease.last_used < now - lease.idle_seconds]
        for lease in idle:
            if not lease.lock.acquire(blocking=False):
                continue
            try:
                if lease.last_used < now - lease.idle_seconds and self._end(lease.id) is not None:
                    log.warning("a lease that was idle for %g s has expired", lease.idle_seconds)
                    self.metrics.leases.labels("expired").inc()
                    self._retire(lease)
            finally:
                lease.lock.release()
            if lease.ended:  # by its client meanwhile, who found the lock taken
                self._try_to_retire(lease)

    def _check_processes(self) -> None:
        """Kill leased processes that use too much memory, and drop free ones that have died."""
        with self._changed:
            leases = list(self._leases.values())
            dead = [process for process, _ in self._free if not process.alive]
            self._free = [entry for entry in self._free if entry[0] not in dead]
        for process in dead:
            process.close()
            self.metrics.ends.labels("crash").inc()
        limit = self._settings.memory_limit_gb
        if limit is None:
            return
        for lease in leases:
            leased = lease.process
            if leased is not None and leased.resident_bytes() > limit * 2**30:
                log.warning("process %d uses more than %g GB and is killed", leased.pid, limit)
                lease.kill("memory", f"it used more than {limit:g} GB of memory and was killed")
