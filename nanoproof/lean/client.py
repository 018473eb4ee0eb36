"""The client of Lean servers: what users name on the command line, and where leases come from."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from nanoproof.lean.address import Address, parse_address
from nanoproof.lean.errors import LeanError, ProtocolError
from nanoproof.lean.leases import LeaseKeeper
from nanoproof.lean.session import HttpLeanSession, ServerFeatures
from nanoproof.lean.transport import TOKEN_VARIABLE, ClientConfig, Transport

__all__ = ["ClientConfig", "LeanServerClient", "ask_all"]

_STATUS_SECONDS = 10.0
_MAX_PROCESSES = 100_000


class LeanServerClient:
    """One Lean server. Safe for several threads, whose sessions share kept-alive connections.

    `address` is `host:port`. Without a `token` the one in the environment (`TOKEN_VARIABLE`) is sent, if there is one.
    """

    def __init__(self, address: str | Address, token: str | None = None, config: ClientConfig | None = None) -> None:
        where = parse_address(address) if isinstance(address, str) else address
        self.address = str(where)
        self.config = config or ClientConfig()
        token = os.environ.get(TOKEN_VARIABLE) if token is None else token
        self._keeper = LeaseKeeper(Transport(where, token, self.config.connect_seconds))
        self._features = ServerFeatures()

    @property
    def leases(self) -> int:
        """How many leases this client holds, or could not return yet."""
        return self._keeper.held

    def status(self) -> dict[str, Any]:
        """What the server says about itself; raises `ServerUnavailable` at once if it cannot be reached."""
        code, body = self._keeper.transport.get("/status", _STATUS_SECONDS, attempts=1)
        if code != 200 or not isinstance(body, dict) or "max_processes" not in body:
            raise ProtocolError(f"{self.address} is no Lean server (GET /status answered {code}: {str(body)[:100]})")
        count = body["max_processes"]
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= _MAX_PROCESSES:
            raise ProtocolError(f"{self.address} is no Lean server (its max_processes is {str(count)[:100]!r})")
        return body

    def lease(self, timeout: float = 60.0) -> HttpLeanSession:
        """Lease a process, waiting up to `timeout` seconds for a free one.

        Raises `ServerBusy` if none came free, and `ServerUnavailable` if the server cannot be reached.
        """
        return HttpLeanSession(self._keeper, self.config, self._features, timeout)


def ask_all(clients: Sequence[LeanServerClient]) -> list[dict[str, Any] | LeanError]:
    """The status of each server, or why it has none; all are asked at the same time."""

    def ask(client: LeanServerClient) -> dict[str, Any] | LeanError:
        try:
            return client.status()
        except LeanError as error:
            return error

    with ThreadPoolExecutor(max_workers=max(1, min(32, len(clients)))) as threads:
        return list(threads.map(ask, clients))
