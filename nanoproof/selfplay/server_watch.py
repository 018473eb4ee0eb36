"""What actors find out about their Lean servers: which are within reach, and which lose the proofs that are found."""

import itertools
import logging
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from nanoproof.common.dist import SharedCounter
from nanoproof.lean.errors import AccessDenied, ProcessLost, ServerBusy, ServerTimeout, ServerUnavailable
from nanoproof.prover.attempt import Attempt

log = logging.getLogger(__name__)

OUTAGES = frozenset(
    error.__name__ for error in (ServerTimeout, ProcessLost, ServerUnavailable, ServerBusy, AccessDenied)
)
"""How a server loses at one moment whatever is in its final check."""
REST_SECONDS = 300.0
"""How long a server that loses proofs is left alone, where others do not lose them."""
ASK_SECONDS = 1.0
"""How often a rank asks whether another one has seen enough."""
MAX_REASON = 400

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
    """Which servers the actors of a rank have at present: told once when it changes, and who waits is woken.

    Safe for many threads.

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


class Streak:
    """How often in a row something went wrong, over all ranks, without a collective."""

    def __init__(self, name: str) -> None:
        self._name, self._turn = name, SharedCounter(f"{name}/turn")
        self._counts: dict[int, SharedCounter] = {}

    def wrong(self) -> int:
        """It went wrong; how often by now."""
        return self._count(self._turn.add(0)).add(1)

    def right(self) -> None:
        """It went right: count from 0 again."""
        turn = self._turn.add(0)
        if turn == 0 or self._count(turn).add(0) > 0:
            self._turn.add(1)

    def standing(self) -> tuple[bool, int]:
        """Whether it ever went right, and how often it went wrong since."""
        turn = self._turn.add(0)
        return turn > 0, self._count(turn).add(0)

    def _count(self, turn: int) -> SharedCounter:
        return self._counts.setdefault(turn, SharedCounter(f"{self._name}/{turn}"))


class ProofWatch:
    """Which servers lose the proofs that are found: the final check says neither that they hold nor that they do not.

    After `limit` of them in a row a server rests. If all servers that proofs were found on lose them, or if no proof
    was ever accepted and so many were lost altogether, it is time to end. All ranks count together; safe for many
    threads.
    """

    _numbers = itertools.count()

    def __init__(self, addresses: Iterable[str], limit: int) -> None:
        """`addresses` are the servers of all ranks; a `limit` of 0 is none. All ranks make theirs together."""
        name = f"proofs/{next(self._numbers)}"
        self._limit = limit
        self._streaks = {address: Streak(f"{name}/{address}") for address in sorted(set(addresses))}
        self._told = SharedCounter(f"{name}/over")
        self._lock = threading.Lock()
        self._outages: dict[str, float] = {}
        self._rests: dict[str, float] = {}
        self._over: str | None = None
        self._ask_again = 0.0

    def note(self, address: str, attempt: Attempt) -> None:
        """Take note of an attempt that has ended (actors call this)."""
        if self._limit == 0:
            return
        if attempt.outcome in ("proven", "disproven"):
            self._streaks[address].right()
        elif attempt.lost_by_server and self._is_news(address, attempt):
            reason = f"{attempt.lost}: {' '.join(attempt.message.split())[:MAX_REASON]}"
            self._note_loss(address, reason)

    def over(self) -> str | None:
        """Why it is time to end, None if it is not; empty if another rank knows that."""
        if self._limit and self._over is None and time.monotonic() >= self._ask_again:
            self._ask_again = time.monotonic() + ASK_SECONDS
            if self._told.add(0) > 0 and self._over is None:
                self._over = ""
        return self._over

    def rest_seconds(self, address: str) -> float:
        """How long a server is to be left alone yet; 0 if it is well, as far as this rank knows."""
        return max(0.0, self._rests.get(address, 0.0) - time.monotonic())

    def _is_news(self, address: str, attempt: Attempt) -> bool:
        """Whether a loss counts: of those in the final check when a server breaks down only the first does."""
        if attempt.lost not in OUTAGES:
            return True
        now = time.monotonic()
        began = now - attempt.seconds.get("simplify", 0.0) - attempt.seconds.get("check", 0.0)
        with self._lock:
            if began < self._outages.get(address, -math.inf):
                return False
            self._outages[address] = now
            return True

    def _note_loss(self, address: str, reason: str) -> None:
        count = self._streaks[address].wrong()
        standings = {name: streak.standing() for name, streak in self._streaks.items()}
        lost = {name: times for name, (_, times) in standings.items() if times}
        ever = [name for name, (accepted, _) in standings.items() if accepted]
        with self._lock:
            if all(lost.get(name, 0) >= self._limit for name in {*lost, *ever}) or (
                not ever and sum(lost.values()) >= self._limit
            ):
                self._over = self._over or _verdict(lost, reason)
                self._told.add(1)
            elif count >= self._limit:
                self._rests[address] = time.monotonic() + REST_SECONDS
                level = logging.WARNING if count == self._limit else logging.INFO
                told = _verdict({address: count}, reason)
                log.log(level, "%s; it rests for %.0f s, as other servers do not lose them", told, REST_SECONDS)


def _verdict(lost: dict[str, int], reason: str) -> str:
    """What is to be said of servers that lost so many proofs each."""
    total = sum(lost.values())
    where = ", ".join(name if len(lost) == 1 else f"{name} ({times})" for name, times in lost.items())
    return (
        f"the final check lost the last {total} proofs that were found, through no fault of theirs: "
        f"Lean server{'s' if len(lost) > 1 else ''} {where}, last with {reason}; to see what is wrong: "
        f"python -m nanoproof.lean.probe --lean-servers {' '.join(lost)}"
    )
