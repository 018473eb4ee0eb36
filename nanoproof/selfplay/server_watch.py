"""Which Lean servers the actors of a rank have at present: told once when it changes, and who waits is woken."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

log = logging.getLogger(__name__)

Reach = Literal["up", "down", "gone"]
"""`gone` is said of all servers together, when there is no other."""


@dataclass(slots=True)
class _Server:
    actors: int
    cut_off: set[int] = field(default_factory=set)
    down_since: float | None = None
    reason: str = ""
    returns: int = 0


class ServerWatch:
    """What actors found out about their servers. Safe for many threads.

    A server is down when all its actors are cut off from it: when some are, it may be busy. `tell(address, state,
    actors)` is called for each change: `down` and `up` of one server with the number of its actors; with the address
    `all`, `gone` when the last one went down and `up` when one is back.
    """

    def __init__(self, addresses: Iterable[str], tell: Callable[[str, Reach, int], None] | None = None) -> None:
        """`addresses` are those of the actors, one for each."""
        self._servers = {address: _Server(actors) for address, actors in Counter(addresses).items()}
        self._tell = tell or (lambda address, state, actors: None)
        self._changed = threading.Condition()
        self._closed = False
        self._gone_since: float | None = None

    @property
    def gone_seconds(self) -> float:
        """For how long no server has been within reach; 0 if one is."""
        since = self._gone_since
        return 0.0 if since is None else time.monotonic() - since

    @property
    def reason(self) -> str:
        """What the first of the actors that are cut off met; empty if none is."""
        return next((server.reason for server in self._servers.values() if server.cut_off), "")

    def doubtful(self, address: str) -> bool:
        """Whether an actor is cut off from a server at present."""
        return bool(self._servers[address].cut_off)

    def snapshot(self) -> list[dict[str, Any]]:
        """Address, state, actors and how many of them are cut off, of each server."""
        return [
            {
                "address": address,
                "state": "up" if server.down_since is None else "down",
                "actors": server.actors,
                "cut_off": len(server.cut_off),
                "error": server.reason if server.cut_off else "",
            }
            for address, server in self._servers.items()
        ]

    def failed(self, address: str, actor: int, reason: str) -> None:
        """An actor could not reach its server, or got no process of it."""
        with self._changed:
            server = self._servers[address]
            server.cut_off.add(actor)
            server.reason = reason
            if server.down_since is not None or len(server.cut_off) < server.actors:
                return
            server.down_since = time.monotonic()
            log.warning("Lean server %s is lost to its %d actors, which wait: %s", address, server.actors, reason)
            self._tell(address, "down", server.actors)
            if all(other.down_since is not None for other in self._servers.values()):
                self._gone_since = time.monotonic()
                log.error("no Lean server is within reach; all actors wait, and go on when one is back")
                self._tell("all", "gone", sum(other.actors for other in self._servers.values()))

    def reached(self, address: str, actor: int) -> None:
        """An actor got a process of its server: all that wait for it may try."""
        server = self._servers[address]
        if not server.cut_off:
            return
        with self._changed:
            server.cut_off.discard(actor)
            server.returns += 1
            self._changed.notify_all()
            if server.down_since is None:
                return
            seconds, server.down_since = time.monotonic() - server.down_since, None
            log.warning("Lean server %s is back after %.0f s", address, seconds)
            self._tell(address, "up", server.actors)
            if self._gone_since is not None:
                self._gone_since = None
                self._tell("all", "up", server.actors)

    def wait(self, address: str, seconds: float) -> bool:
        """Wait, less if another actor reaches the server meanwhile; True as soon as the watch is closed."""
        deadline = time.monotonic() + seconds
        with self._changed:
            server = self._servers[address]
            before = server.returns
            while not self._closed and server.returns == before and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
            return self._closed

    def close(self) -> None:
        """Wake all that wait."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
