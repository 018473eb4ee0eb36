"""Embedded servers that tests borrow, one after the other: to start one takes 1.5 s of processor."""

import time

from nanoproof.lean.client import LeanServerClient
from nanoproof.lean.embedded import EmbeddedServers
from nanoproof.lean.transport import forget_leases_of
from nanoproof.lean.types import LeanError

_BUSY = ("used_processes", "starting_processes", "stopping_processes", "waiting_requests")
_RETURN_SECONDS = 0.5
_idle: dict[int, list[EmbeddedServers]] = {}
"""Those that nobody uses, by the number of their processes."""


class BorrowedServers(EmbeddedServers):
    """An embedded server that is there again for others once it is closed, unless it has ended or is still at work."""

    def __init__(self) -> None:
        super().__init__()
        self._lent: EmbeddedServers | None = None
        self._size = 0

    def launch(self, num_processes: int):
        assert self._lent is None, "servers in the plural have tokens of their own"
        self._size = num_processes
        waiting = _idle.setdefault(num_processes, [])
        while waiting and self._lent is None:
            found = waiting.pop()
            if _is_idle(found):
                self._lent = found
            else:
                found.close()
        if self._lent is None:
            self._lent = EmbeddedServers()
            self._lent.launch(num_processes)

    def wait_ready(self, seconds: float) -> None:
        assert self._lent is not None
        if not self._lent.addresses:
            self._lent.wait_ready(seconds)
        self.addresses, self.token = self._lent.addresses, self._lent.token

    def check(self) -> None:
        if self._lent is not None:
            self._lent.check()

    def close(self) -> None:
        lent, self._lent = self._lent, None
        if lent is None:
            return
        is_idle = _is_idle(lent)  # once the leases are returned that their keepers have yet to return
        for address in lent.addresses:
            forget_leases_of(address)
        if is_idle:
            _idle[self._size].append(lent)
        else:
            lent.close()


def _is_idle(servers: EmbeddedServers) -> bool:
    if not servers.addresses:
        return False
    client = LeanServerClient(servers.addresses[0], servers.token)
    deadline = time.monotonic() + _RETURN_SECONDS
    while time.monotonic() < deadline:
        try:
            status = client.status()
        except LeanError:
            return False
        if status["ready"] and not any(status[count] for count in _BUSY):
            return True
        time.sleep(0.01)
    return False


def close_all() -> None:
    """End the servers that nobody uses."""
    for servers in _idle.values():
        while servers:
            servers.pop().close()
