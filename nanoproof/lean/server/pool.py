"""The processes of a server: started in the background, leased to one client each, replaced when they end."""

import itertools
import logging
import threading
import time
from collections import Counter
from typing import Any

from nanoproof.lean.server.backend import Backend
from nanoproof.lean.server.lease import Lease, ProcessGone
from nanoproof.lean.server.repl_process import ReplError, ReplProcess
from nanoproof.lean.server.settings import ServerSettings

log = logging.getLogger(__name__)

_TICK_SECONDS = 1.0
_MAX_BACKOFF_SECONDS = 30.0
_FAILURES_BEFORE_GIVING_UP = 2


class LeaseNotFound(LookupError):
    """No lease has this id: it was never given, was returned, or expired."""


class TooManyWaiting(Exception):
    """More callers wait for a process than the server has room for."""


class CannotStart(Exception):
    """Processes keep failing to start; the message is the reason of the last failure."""


class Pool:
    """Processes, free and leased. All public methods may be called from any thread.

    A keeper thread starts processes as they are wanted, takes back idle leases and kills processes that use too much
    memory. It is the only thread that creates processes, because they end together with the thread that made them.
    """

    def __init__(self, settings: ServerSettings, backend: Backend) -> None:
        self._settings = settings
        self._backend = backend
        self._changed = threading.Condition()
        self._free: list[tuple[ReplProcess, int | None]] = []
        self._starting: set[ReplProcess] = set()
        self._leases: dict[int, Lease] = {}
        self._ids = itertools.count(1)
        self._waiting = 0
        self._closed = False
        self._has_started = False
        self._failures = 0
        self._start_error: str | None = None
        self._retry_at = 0.0
        self._counts: Counter[str] = Counter()
        self._keeper = threading.Thread(target=self._keep, name="lean-pool", daemon=True)

    def start(self) -> None:
        """Begin to start processes; with `warmup`, wait until all are ready (`CannotStart` if that fails)."""
        self._keeper.start()
        if not self._settings.warmup:
            return
        with self._changed:
            while len(self._free) < self._capacity:
                if self._failures >= _FAILURES_BEFORE_GIVING_UP:
                    raise CannotStart(self._start_error)
                self._changed.wait(_TICK_SECONDS)

    def get(self, blocking: bool, seconds: float) -> Lease | None:
        """Lease a process; None if none came free in time. Raises `TooManyWaiting` or `CannotStart`."""
        deadline = time.monotonic() + (seconds if blocking else 0.0)
        with self._changed:
            if self._waiting >= self._settings.max_waiting:
                raise TooManyWaiting
            self._waiting += 1
            self._changed.notify_all()
            try:
                while len(self._leases) >= self._settings.max_processes or (taken := self._take()) is None:
                    if self._closed or self._hopeless():
                        raise CannotStart(self._start_error or "the server is shutting down")
                    remaining = deadline - time.monotonic()
                    if remaining <= 0:
                        return None
                    self._changed.wait(min(remaining, _TICK_SECONDS))
                lease = Lease(next(self._ids), *taken, self._backend, self._settings.max_uses, self._replace)
                self._leases[lease.id] = lease
                return lease
            finally:
                self._waiting -= 1

    def find(self, lease_id: int) -> Lease:
        """The lease with this id; raises `LeaseNotFound`."""
        with self._changed:
            lease = self._leases.get(lease_id)
        if lease is None:
            raise LeaseNotFound(lease_id)
        return lease

    def give_back(self, lease_id: int) -> bool:
        """End a lease and clean its process for the next one; False if there is no such lease (any more)."""
        with self._changed:
            lease = self._leases.get(lease_id)
        if lease is None:
            return False
        with lease.lock:
            base_env = lease.base_env
            old = lease.process
            process = lease.release()
            with self._changed:
                if self._leases.pop(lease_id, None) is None:
                    return False
                if process is not None and not self._closed and process.uses < self._settings.max_uses:
                    self._free.append((process, base_env))
                    old = None
                elif process is not None:
                    self._counts["recycled"] += 1
                self._changed.notify_all()
            if old is not None:
                old.close()
        return True

    def status(self) -> dict[str, Any]:
        """How many processes are in which state, whether the pool can serve, and each process's memory."""
        with self._changed:
            processes = [
                *((process, "available") for process, _ in self._free),
                *((lease.process, "used") for lease in self._leases.values() if lease.process),
                *((process, "starting") for process in self._starting),
            ]
            counts = {
                "available_processes": len(self._free),
                "used_processes": len(self._leases),
                "starting_processes": len(self._starting),
                "stopping_processes": 0,
                "max_processes": self._settings.max_processes,
                "ready": bool(self._free or self._leases),
                "waiting_requests": self._waiting,
                "error": self._start_error,
                "totals": dict(self._counts),
            }
        memory = [{"pid": p.pid, "state": state, "resident_bytes": p.resident_bytes()} for p, state in processes]
        return {**counts, "processes": memory}

    def close(self) -> None:
        """Kill every process; requests under way end with an error."""
        with self._changed:
            self._closed = True
            doomed = [
                *(process for process, _ in self._free),
                *self._starting,
                *(lease.process for lease in self._leases.values() if lease.process),
            ]
            self._changed.notify_all()
        for process in doomed:
            process.kill()
        if self._keeper.is_alive():
            self._keeper.join(_TICK_SECONDS * 5)

    @property
    def _capacity(self) -> int:
        return self._settings.max_processes + self._settings.spares

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
        return None

    def _replace(self) -> tuple[ReplProcess, int | None]:
        """A new process for a lease that lost its own; waits for it as long as a start may take."""
        deadline = time.monotonic() + self._settings.start_seconds
        with self._changed:
            self._changed.notify_all()
            while (taken := self._take()) is None:
                if self._closed or self._failures >= _FAILURES_BEFORE_GIVING_UP or time.monotonic() > deadline:
                    raise ProcessGone(f"Subprocess has terminated and cannot be replaced: {self._start_error}")
                self._changed.wait(_TICK_SECONDS)
            return taken

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
            if idle <= 0:
                self._check_leases()
                self._check_memory()
                next_check = time.monotonic() + _TICK_SECONDS

    def _missing(self) -> int:
        """How many processes to start now. The first one starts alone: it may fill a cache that the others use."""
        if time.monotonic() < self._retry_at:
            return 0
        live = len(self._free) + len(self._starting) + sum(lease.process is not None for lease in self._leases.values())
        return (self._wanted() if self._has_started else 1) - live

    def _wanted(self) -> int:
        """How many processes there should be: all with `warmup`, else those in demand and one to spare."""
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
            self._counts["started"] += 1
        threading.Thread(target=self._prepare, args=(process,), name=f"lean-start-{process.pid}", daemon=True).start()

    def _prepare(self, process: ReplProcess) -> None:
        try:
            base_env = self._backend.prepare(process)
        except ReplError as error:
            with self._changed:
                self._starting.discard(process)
            self._failed(str(error) or type(error).__name__)
            return
        with self._changed:
            self._starting.discard(process)
            self._has_started = True
            self._failures = 0
            self._start_error = None
            if self._closed:
                process.kill()
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
            self._retry_at = time.monotonic() + min(_MAX_BACKOFF_SECONDS, 0.1 * 4.0**self._failures)
            self._counts["failed_starts"] += 1
            self._changed.notify_all()
        log.warning("a Lean process did not start: %s", reason)

    def _check_leases(self) -> None:
        """Take back leases that nobody has used for too long."""
        now = time.monotonic()
        with self._changed:
            idle = [lease for lease in self._leases.values() if now - lease.last_used > self._settings.lease_seconds]
        for lease in idle:
            if not lease.lock.acquire(blocking=False):
                continue
            try:
                if time.monotonic() - lease.last_used > self._settings.lease_seconds:
                    log.warning("lease %d expired", lease.id)
                    self._counts["expired"] += self.give_back(lease.id)
            finally:
                lease.lock.release()

    def _check_memory(self) -> None:
        """Kill what uses too much memory, and drop free processes that have died."""
        limit = self._settings.memory_limit_gb
        with self._changed:
            dead = [entry for entry in self._free if not entry[0].alive]
            self._free = [entry for entry in self._free if entry[0].alive]
            leased = [lease.process for lease in self._leases.values() if lease.process]
        for process, _ in dead:
            process.close()
        if limit is None:
            return
        for process in leased:
            if process.resident_bytes() > limit * 2**30:
                log.warning("process %d uses more than %g GB and is killed", process.pid, limit)
                self._counts["killed_for_memory"] += 1
                process.kill()
