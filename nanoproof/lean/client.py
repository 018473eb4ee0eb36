"""Clients of Lean servers: one server, and several as one fleet, with status reports and circuit breakers."""

import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from nanoproof.common.web.http_client import Address, read_address
from nanoproof.lean.project.layout import EMBEDDED_LEAN
from nanoproof.lean.session import HttpLeanSession, ServerFeatures
from nanoproof.lean.transport import TOKEN_VARIABLE, ClientConfig, LeaseKeeper, Transport
from nanoproof.lean.types import LeanError, ProtocolError, ServerBusy, ServerUnavailable

DEFAULT_PORT = 8000
_STATUS_SECONDS = 10.0
_MAX_PROCESSES = 100_000
"""A server that claims more does not tell the truth; actors are dealt out by this number."""
_FIRST_REST_SECONDS = 1.0
_MAX_REST_SECONDS = 60.0
_TRIAL_SECONDS = 60.0
"""How long others wait for the outcome of a trial; a trial whose thread died must not close the server for good."""
_POLL_SECONDS = 0.25

# -- One server ------------------------------------------------------------------------------------------------------


class AddressError(LeanError):
    """The text is no address of a Lean server."""


def parse_address(text: str) -> Address:
    """Read `host`, `host:port` or `http://host:port`; the port is 8000 if left out. Raises `AddressError`."""
    try:
        return read_address(text, DEFAULT_PORT)
    except ValueError as error:
        raise AddressError(f"not the address of a Lean server: {error}") from error


def _address(address: str | Address) -> Address:
    if isinstance(address, str):
        return parse_address(address)
    return address


class LeanServerClient:
    """One Lean server. Safe for several threads, whose sessions share kept-alive connections.

    `address` is `host:port`. Without a `token` the one in the environment (`TOKEN_VARIABLE`) is sent, if there is one.
    """

    def __init__(self, address: str | Address, token: str | None = None, config: ClientConfig | None = None) -> None:
        where = _address(address)
        # The token as it was passed: whoever makes a second client of this one (another process, say) reads its own
        # environment where there was none.
        self.address, self.token = str(where), token
        self.config = config or ClientConfig()
        if token is None:
            token = os.environ.get(TOKEN_VARIABLE)
        self._keeper = LeaseKeeper(Transport(where, token, self.config.connect_seconds))
        self._features = ServerFeatures()

    @property
    def leases(self) -> int:
        """Number of leases that this client holds, or could not return yet."""
        return self._keeper.held

    def status(self) -> dict[str, Any]:
        """Fetch the server's status.

        Raises `ServerUnavailable` at once if it cannot be reached, and `ProtocolError` if it is no Lean server.
        """
        code, body = self._keeper.transport.get("/status", _STATUS_SECONDS, attempts=1)
        if code != 200 or not isinstance(body, dict) or "max_processes" not in body:
            raise ProtocolError(f"{self.address} is no Lean server (GET /status answered {code}: {str(body)[:100]})")
        count = body["max_processes"]
        # JSON's true and false are integers to Python.
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= _MAX_PROCESSES:
            raise ProtocolError(f"{self.address} is no Lean server (its max_processes is {str(count)[:100]!r})")
        return body

    def lease(self, timeout: float = 60.0) -> HttpLeanSession:
        """Lease a process, waiting up to `timeout` seconds for a free one.

        Raises `ServerBusy` if none came free, and `ServerUnavailable` if the server cannot be reached.
        """
        return HttpLeanSession(self._keeper, self.config, self._features, timeout)

    def forget_leases(self) -> None:
        """Return no process from now on: the server ends, with all of them."""
        self._keeper.forget()


def fetch_statuses(clients: Sequence[LeanServerClient]) -> list[dict[str, Any] | LeanError]:
    """Fetch the status of each server, or the error in its place; all at the same time."""

    def ask(client: LeanServerClient) -> dict[str, Any] | LeanError:
        try:
            return client.status()
        except LeanError as error:
            return error

    with ThreadPoolExecutor(max_workers=max(1, min(32, len(clients)))) as threads:
        return list(threads.map(ask, clients))


# -- Several servers as one ------------------------------------------------------------------------------------------


class CircuitBreaker:
    """Circuit breaker of one server; safe for many threads.

    After a failure it refuses requests for a time that doubles with each further failure. Then it allows a single
    trial: success closes the breaker, so that all requests are allowed again, failure opens it for longer.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._rest_ends = 0.0
        self._on_trial = False
        self.failures = 0
        self.reason = ""

    @property
    def rest_seconds(self) -> float:
        """How much longer requests are refused; 0 if they are allowed, or a trial is."""
        if not self.failures:
            return 0.0
        return max(0.0, self._rest_ends - self._clock())

    def allows_request(self) -> bool:
        """Tell whether the caller may ask the server now; it has to record success or failure then."""
        with self._lock:
            if self.failures == 0:
                return True
            if self._clock() < self._rest_ends:
                return False
            self._on_trial = True
            self._rest_ends = self._clock() + _TRIAL_SECONDS  # for all others, until this trial has ended
            return True

    def record_success(self) -> None:
        """Close the breaker: the server answered."""
        with self._lock:
            self.failures, self.reason, self._on_trial = 0, "", False

    def record_failure(self, reason: str) -> None:
        """Open the breaker for a while. Requests in progress when it opened, and fail too, count as one failure."""
        with self._lock:
            if self.failures and not self._on_trial:
                return
            self.failures, self._on_trial = self.failures + 1, False
            self.reason = reason
            # At random, so that the clients of a server that restarts do not all come back in the same second.
            rest = min(_MAX_REST_SECONDS, _FIRST_REST_SECONDS * 2 ** min(self.failures - 1, 10))
            self._rest_ends = self._clock() + rest * random.uniform(0.75, 1.25)


class FleetServer:
    """One server of a fleet; leases like a `LeanServerClient`, but fails at once while the breaker is open."""

    def __init__(self, client: LeanServerClient) -> None:
        self.client = client
        self.breaker = CircuitBreaker()

    @property
    def address(self) -> str:
        """`host:port`."""
        return self.client.address

    def lease(self, timeout: float = 60.0) -> HttpLeanSession:
        """Lease a process; raises `ServerBusy`, or `ServerUnavailable`, without a request while the breaker is open."""
        if not self.breaker.allows_request():
            seconds, reason = self.breaker.rest_seconds, self.breaker.reason
            raise ServerUnavailable(f"Lean server {self.address} is left alone for {seconds:.0f} s after: {reason}")
        try:
            session = self.client.lease(timeout)
        except ServerBusy:
            self.breaker.record_success()  # a full server is an answering one
            raise
        except LeanError as error:
            self.breaker.record_failure(str(error))
            raise
        self.breaker.record_success()
        return session


@dataclass(frozen=True, slots=True)
class ServerReport:
    """Status of a server, or why it has none, number of leases that this client holds, and time left of a pause."""

    address: str
    status: dict[str, Any] | None
    error: str
    leases: int
    rest_seconds: float


def runs_nanolean(status: Mapping[str, Any]) -> bool:
    """Tell whether a server's status names the embedded prover.

    A status without that information comes from real Lean: our servers always have it, and LeanTree's run nothing else.
    """
    versions = status.get("versions")
    lean_version = None
    if isinstance(versions, dict):
        lean_version = versions.get("lean")
    return EMBEDDED_LEAN in (status.get("backend"), lean_version)


class LeanFleet:
    """Clients of several servers. Safe for many threads."""

    def __init__(
        self, addresses: Iterable[str | Address], token: str | None = None, config: ClientConfig | None = None
    ) -> None:
        """Servers that are named twice are one; raises `AddressError` for what is no address."""
        distinct = dict.fromkeys(_address(address) for address in addresses)  # a dict keeps their order, a set does not
        clients = [LeanServerClient(address, token, config) for address in distinct]
        self.servers = [FleetServer(client) for client in clients]

    def lease(self, timeout: float = 60.0) -> HttpLeanSession:
        """Lease a process of whichever server has one, asking those first of which we hold the fewest.

        Raises `ServerBusy` if those that answer were busy for `timeout` seconds; if none answers, its error at once.
        """
        # One server queues its callers in their order, where several can only be asked in turn.
        if len(self.servers) == 1:
            return self.servers[0].lease(timeout)
        deadline = time.monotonic() + timeout
        while True:
            failure: LeanError = ServerUnavailable("no Lean server is given")
            for server in self._order():
                try:
                    return server.lease(timeout=0.0)
                except ServerBusy as busy:
                    failure = busy
                except LeanError as error:
                    # As long as one server works, the failures of others are no reason to stop waiting.
                    if not isinstance(failure, ServerBusy):
                        failure = error
            if not isinstance(failure, ServerBusy):
                raise failure
            if time.monotonic() >= deadline:
                names = ", ".join(server.address for server in self.servers)
                raise ServerBusy(f"no Lean server had a free process for {timeout:g} s: {names}") from failure
            pause = _POLL_SECONDS * random.uniform(0.5, 1.5)
            time.sleep(min(pause, max(0.0, deadline - time.monotonic())))

    def statuses(self) -> list[ServerReport]:
        """Fetch the status of all servers at the same time, and record success or failure with their breakers."""
        reports = []
        answers = fetch_statuses([server.client for server in self.servers])
        for server, answer in zip(self.servers, answers, strict=True):
            status, error = None, ""
            if isinstance(answer, LeanError):
                error = str(answer)
                server.breaker.record_failure(error)
            else:
                status = answer
                server.breaker.record_success()
            rest_seconds = server.breaker.rest_seconds
            reports.append(ServerReport(server.address, status, error, server.client.leases, rest_seconds))
        return reports

    def check(self) -> list[ServerReport]:
        """Fetch the status of all servers, before a command starts; raises `ServerUnavailable` that names dead ones."""
        reports = self.statuses()
        dead = [report.error for report in reports if report.status is None]
        if dead:
            raise ServerUnavailable("; ".join(dead))
        return reports

    def _order(self) -> Sequence[FleetServer]:
        # Failed servers last, then by our own leases, which need no request; ties at random, so that clients that know
        # nothing of each other do not all begin with the first server.
        def rank(server: FleetServer) -> tuple[bool, int, float]:
            return server.breaker.failures > 0, server.client.leases, random.random()

        return sorted(self.servers, key=rank)
