"""The client of Lean servers: what users name on the command line, and where leases come from."""

import os
from collections.abc import Iterable
from typing import Any

from nanoproof.lean.address import Address, parse_address
from nanoproof.lean.errors import ProtocolError
from nanoproof.lean.session import HttpLeanSession, ServerFeatures
from nanoproof.lean.transport import TOKEN_VARIABLE, ClientConfig, Transport

__all__ = ["ClientConfig", "LeanServerClient", "check_servers"]

_STATUS_SECONDS = 10.0


class LeanServerClient:
    """One Lean server. Safe for several threads: every lease has a connection of its own.

    `address` is `host:port`. Without a `token` the one in the environment (`TOKEN_VARIABLE`) is sent, if there is one.
    """

    def __init__(self, address: str | Address, token: str | None = None, config: ClientConfig | None = None) -> None:
        self._address = parse_address(address) if isinstance(address, str) else address
        self.address = str(self._address)
        self.config = config or ClientConfig()
        self._token = os.environ.get(TOKEN_VARIABLE) if token is None else token
        self._features = ServerFeatures()

    def status(self) -> dict[str, Any]:
        """What the server says about itself; raises `ServerUnavailable` at once if it cannot be reached."""
        transport = self._connect()
        try:
            code, body = transport.get("/status", _STATUS_SECONDS, attempts=1)
        finally:
            transport.close()
        if code != 200 or not isinstance(body, dict) or "max_processes" not in body:
            raise ProtocolError(f"{self.address} is no Lean server (GET /status answered {code}: {str(body)[:100]})")
        return body

    def lease(self, timeout: float = 60.0) -> HttpLeanSession:
        """Lease a process, waiting up to `timeout` seconds for a free one; raises `ServerUnavailable`."""
        return HttpLeanSession(self._connect(), self.config, self._features, timeout)

    def _connect(self) -> Transport:
        return Transport(self._address, self._token, self.config.connect_seconds)


def check_servers(addresses: Iterable[str | Address], token: str | None = None) -> list[dict[str, Any]]:
    """The status of each server, for commands to call before they start; raises one line that names a dead one."""
    return [LeanServerClient(address, token).status() for address in addresses]
