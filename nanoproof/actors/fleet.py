"""The Lean processes of a rank, watches over their servers, and options whose defaults follow the Lean that is used."""

import argparse
import itertools
import logging
import math
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from nanoproof.common.config import group, opt, validated
from nanoproof.common.distributed import DistInfo, SharedCounter, broadcast_json, on_main
from nanoproof.common.errors import UserError
from nanoproof.common.option_groups import LeanOptions
from nanoproof.common.process import Closing
from nanoproof.data.sources.catalog import SOLVERS, Followed
from nanoproof.lean.client import ClientConfig, FleetServer, LeanFleet, ServerReport, runs_nanolean
from nanoproof.lean.embedded import EmbeddedServers, start_embedded
from nanoproof.lean.probe import require_working
from nanoproof.lean.project.layout import EMBEDDED_LEAN
from nanoproof.lean.solvers import AUTO
from nanoproof.lean.types import AccessDenied, ProcessLost, ServerBusy, ServerTimeout, ServerUnavailable
from nanoproof.prover.attempt import Attempt

log = logging.getLogger(__name__)

# -- Options of commands that prove ----------------------------------------------------------------------------------


_BATCHES = "leave it out: batches of the network are as large as there is work and memory for"
EARLIER_FLAGS = {
    "--lean-server": "--lean-servers",
    "--num-actors": "every Lean process has an actor; give --lean-processes, or the servers their --max-processes",
    "--distributed": "leave it out: torchrun starts ranks on several machines, --lean-servers names Lean elsewhere",
    "--infra-file": "there is no such file any more: name the Lean servers with --lean-servers HOST:PORT ...",
    "--inference-server-port": "leave it out: the network needs no server (python -m nanoproof.inference is one)",
    **dict.fromkeys(("--batch-time-limit", "--batch-max-gen-samples", "--batch-max-prompt-tokens"), _BATCHES),
}
"""Flags of earlier versions, for commands that prove (`Parser.add_earlier`)."""
EARLIER_FLAGS_OF_CLUSTERS = {
    "--distributed": "write --cluster auto, and provers run on other hosts too; beside that torchrun starts ranks on "
    "several machines, and --lean-servers names Lean elsewhere",
}
"""The same, for commands whose provers may run on a cluster."""


@validated("fleet")
class FleetOptions:
    """Lean processes."""

    lean: LeanOptions = group(LeanOptions, "lean-")
    lean_processes: int = opt(8, "Processes of the embedded server of each rank.", min=1)
    lean_tactic_seconds: float = opt(
        5.0, "How long one tactic may run (the embedded prover counts steps instead).", above=0, advanced=True
    )
    lean_lost_proofs: int = opt(
        5,
        "Found proofs in a row that the final check may lose, through no fault of theirs, before all ends (0: any).",
        min=0,
        constant=True,
    )


# -- Watches over servers --------------------------------------------------------------------------------------------

OUTAGES = frozenset(
    error.__name__ for error in (ServerTimeout, ProcessLost, ServerUnavailable, ServerBusy, AccessDenied)
)
"""How a server loses at one moment whatever is in its final check: eight proofs at once are one loss, not eight."""
REST_SECONDS = 300.0
"""How long a server that loses proofs is left alone, where others do not lose them."""
ASK_SECONDS = 1.0
"""How often a rank asks whether another one has seen enough: each time is a request to the rendezvous store."""
MAX_REASON = 400

Reach = Literal["up", "down", "gone"]
"""`gone` is a state of all servers together, when the last one is down."""


@dataclass(slots=True)
class _Server:
    actors: int
    """How many actors it has."""
    cut_off: set[int] = field(default_factory=set)
    """The numbers of those that cannot reach it."""
    down_since: float | None = None
    reason: str = ""
    returns: int = 0
    """How often an actor that was cut off got a process again."""


class ServerWatch:
    """Knows which servers the actors of a rank can reach, reports changes once, and wakes those that wait.

    Safe for many threads.

    A server is down when all its actors are cut off from it: when some are, it may be busy. `report(address, state,
    actors)` is called for each change: `down` and `up` of one server with the number of its actors; with the address
    `all`, `gone` when the last one went down and `up` when one is back.
    """

    def __init__(self, addresses: Iterable[str], report: Callable[[str, Reach, int], None] | None = None) -> None:
        """`addresses` are those of the actors, one for each."""
        self._servers = {address: _Server(actors) for address, actors in Counter(addresses).items()}
        self._report = report or (lambda address, state, actors: None)
        self._changed = threading.Condition()
        self._closed = False
        self._gone_since: float | None = None

    @property
    def gone_seconds(self) -> float:
        """Seconds for which no server has been within reach; 0 if one is."""
        since = self._gone_since
        return 0.0 if since is None else time.monotonic() - since

    @property
    def reason(self) -> str:
        """The error of the first actor that is cut off; empty if none is."""
        return next((server.reason for server in self._servers.values() if server.cut_off), "")

    def doubtful(self, address: str) -> bool:
        """Return whether an actor is cut off from a server at present."""
        return bool(self._servers[address].cut_off)

    def snapshot(self) -> list[dict[str, Any]]:
        """Return address, state, actors and how many of them are cut off, of each server."""
        servers = []
        for address, server in self._servers.items():
            state, error = "up", ""
            if server.down_since is not None:
                state = "down"
            if server.cut_off:
                error = server.reason
            cut_off = len(server.cut_off)
            servers.append(
                {"address": address, "state": state, "actors": server.actors, "cut_off": cut_off, "error": error}
            )
        return servers

    def failed(self, address: str, actor: int, reason: str) -> None:
        """Note that an actor could not reach its server, or got no process of it."""
        with self._changed:
            server = self._servers[address]
            server.cut_off.add(actor)
            server.reason = reason
            if server.down_since is not None or len(server.cut_off) < server.actors:
                return
            server.down_since = time.monotonic()
            log.warning("Lean server %s is lost to its %d actors, which wait: %s", address, server.actors, reason)
            self._report(address, "down", server.actors)
            if all(other.down_since is not None for other in self._servers.values()):
                self._gone_since = time.monotonic()
                log.error("no Lean server is within reach; all actors wait, and resume when one is back")
                self._report("all", "gone", sum(other.actors for other in self._servers.values()))

    def reached(self, address: str, actor: int) -> None:
        """Note that an actor got a process of its server: all that wait for it may try."""
        server = self._servers[address]
        if not server.cut_off:  # without the lock: it is so at nearly every lease
            return
        with self._changed:
            server.cut_off.discard(actor)
            server.returns += 1
            self._changed.notify_all()
            if server.down_since is None:
                return
            seconds, server.down_since = time.monotonic() - server.down_since, None
            log.warning("Lean server %s is back after %.0f s", address, seconds)
            self._report(address, "up", server.actors)
            if self._gone_since is not None:
                self._gone_since = None
                self._report("all", "up", server.actors)

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
    """Counts failures in a row over all ranks, without a collective.

    A shared counter can only be added to. So each row of failures has a counter of its own, and another one, `turn`,
    says which: a success adds one to it.
    """

    def __init__(self, name: str) -> None:
        self._name, self._turn = name, SharedCounter(f"{name}/turn")
        self._counts: dict[int, SharedCounter] = {}

    def failed(self) -> int:
        """Count a failure; returns how many in a row there are by now."""
        return self._count(self._turn.add(0)).add(1)

    def succeeded(self) -> None:
        """Count from 0 again."""
        turn = self._turn.add(0)
        # Only the first success, and one after failures: a counter for each proof would fill the store.
        if turn == 0 or self._count(turn).add(0) > 0:
            self._turn.add(1)

    def standing(self) -> tuple[bool, int]:
        """Return whether there was ever a success, and the failures since."""
        turn = self._turn.add(0)
        return turn > 0, self._count(turn).add(0)

    def _count(self, turn: int) -> SharedCounter:
        return self._counts.setdefault(turn, SharedCounter(f"{self._name}/{turn}"))


class ProofWatch:
    """Knows which servers lose the proofs that are found: the final check neither accepts nor refuses them.

    After `limit` of them in a row a server rests. If all servers that proofs were found on lose them, or if no proof
    was ever accepted and so many were lost altogether, it is time to end. All ranks count together; safe for many
    threads.
    """

    _numbers = itertools.count()

    def __init__(self, addresses: Iterable[str], limit: int) -> None:
        """`addresses` are the servers of all ranks; a `limit` of 0 is none. All ranks make theirs together."""
        name = f"proofs/{next(self._numbers)}"
        self._limit = limit
        self._name = name
        self._streaks = {address: Streak(f"{name}/{address}") for address in sorted(set(addresses))}
        self._over_anywhere = SharedCounter(f"{name}/over")
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
            self._streak(address).succeeded()
        elif attempt.lost_by_server and self._is_news(address, attempt):
            reason = f"{attempt.lost}: {' '.join(attempt.message.split())[:MAX_REASON]}"
            self._note_loss(address, reason)

    def over(self) -> str | None:
        """Return why the run should end, None if it should not; empty if another rank knows why."""
        if self._limit and self._over is None and time.monotonic() >= self._ask_again:
            self._ask_again = time.monotonic() + ASK_SECONDS
            if self._over_anywhere.add(0) > 0 and self._over is None:
                self._over = ""
        return self._over

    def rest_seconds(self, address: str) -> float:
        """Return the seconds that a server is to be left alone yet; 0 if it is well, as far as this rank knows."""
        return max(0.0, self._rests.get(address, 0.0) - time.monotonic())

    def _streak(self, address: str) -> Streak:
        """Return the counts of a server, which may have come later than the watch."""
        with self._lock:
            return self._streaks.setdefault(address, Streak(f"{self._name}/{address}"))

    def _is_news(self, address: str, attempt: Attempt) -> bool:
        """Tell whether a loss counts: of those in the final check when a server breaks down only the first does."""
        if attempt.lost not in OUTAGES:
            return True
        now = time.monotonic()
        # When its proof was found: shortening it and checking it are what an outage interrupts.
        began = now - attempt.seconds.get("simplify", 0.0) - attempt.seconds.get("check", 0.0)
        with self._lock:
            if began < self._outages.get(address, -math.inf):
                return False
            self._outages[address] = now
            return True

    def _note_loss(self, address: str, reason: str) -> None:
        count = self._streak(address).failed()
        lost: dict[str, int] = {}
        ever_accepted: list[str] = []
        for name, streak in tuple(self._streaks.items()):  # a copy: other threads add servers
            accepted, failures = streak.standing()
            if failures:
                lost[name] = failures
            if accepted:
                ever_accepted.append(name)
        # Servers on which no proof was found yet say nothing of themselves.
        all_lose = all(lost.get(name, 0) >= self._limit for name in {*lost, *ever_accepted})
        # Where nothing was ever accepted it is no fault of one server: the limit is for all together.
        none_accepts = not ever_accepted and sum(lost.values()) >= self._limit
        with self._lock:
            if all_lose or none_accepts:
                self._over = self._over or _verdict(lost, reason)
                self._over_anywhere.add(1)
            elif count >= self._limit:
                self._rests[address] = time.monotonic() + REST_SECONDS
                level = logging.INFO
                if count == self._limit:  # once for each row of losses
                    level = logging.WARNING
                verdict = _verdict({address: count}, reason)
                log.log(level, "%s; it rests for %.0f s, as other servers do not lose them", verdict, REST_SECONDS)


def _verdict(lost: dict[str, int], reason: str) -> str:
    """Describe servers that lost so many proofs each."""
    total, servers = sum(lost.values()), f"server {next(iter(lost))}"
    if len(lost) > 1:
        servers = "servers " + ", ".join(f"{name} ({times})" for name, times in lost.items())
    return (
        f"the final check lost the last {total} proofs that were found, through no fault of theirs: "
        f"Lean {servers}, last with {reason}; to see what is wrong: "
        f"python -m nanoproof.lean.probe --lean-servers {' '.join(lost)}"
    )


# -- The fleet of a rank ---------------------------------------------------------------------------------------------

STEPS_NOT_SECONDS = ClientConfig(tactic_seconds=300.0)
"""The embedded prover ends every tactic after a number of steps, so that its answers do not depend on how busy the
machine is. The clock is there for a process that hangs."""


class Fleet(Closing):
    """One server for each process slot of this rank; a context manager that ends what it started."""

    def __init__(
        self,
        slots: list[FleetServer],
        embedded: EmbeddedServers | None,
        description: str,
        lean: str | None,
        is_real: bool | None = None,
    ) -> None:
        """`lean` is the version of Lean that the servers report, None if they report none; `is_real` is whether all of
        them run real Lean, by default as `lean` has it."""
        self.slots, self._embedded, self.description, self.lean = slots, embedded, description, lean
        if is_real is None:
            is_real = lean not in (None, EMBEDDED_LEAN)
        self.is_real = is_real

    def check(self) -> None:
        """Raise ServerUnavailable if the embedded server has died; servers of others are waited for by their actors."""
        if self._embedded is not None:
            self._embedded.check()

    def close(self) -> None:
        """End the embedded server, if there is one."""
        if self._embedded is not None:
            self._embedded.close()


def open_fleet(options: FleetOptions, dist: DistInfo | None = None) -> Fleet:
    """Connect to the servers of `options` (the slots of each dealt to the ranks in turn), or start an embedded one.

    Raises UserError if a server cannot be reached or fails at what every proof needs (`lean.probe`), if they run
    different versions of Lean, and if there is no slot for this rank.
    """
    if not options.lean.servers:
        embedded = start_embedded(options.lean_processes)
        servers = LeanFleet(embedded.addresses, embedded.token, STEPS_NOT_SECONDS).servers
        slots: list[FleetServer] = []
        for server in servers:
            slots += [server] * (options.lean_processes // len(servers))
        text = f"embedded NanoLean at {', '.join(embedded.addresses)} with {len(slots)} processes (no --lean-servers)"
        return Fleet(slots, embedded, text, EMBEDDED_LEAN)
    config = ClientConfig(tactic_seconds=options.lean_tactic_seconds)
    fleet = LeanFleet(options.lean.servers, token=options.lean.token, config=config)
    reports = fleet.check()
    # A server may answer and still fail at what every proof needs; rank 0 alone asks, as it takes seconds.
    on_main(lambda: require_working([server.address for server in fleet.servers], options.lean.token))
    lean = _lean_version(reports)
    if lean == EMBEDDED_LEAN:
        fleet = LeanFleet(options.lean.servers, token=options.lean.token, config=STEPS_NOT_SECONDS)
    # Rank 0's: a server that is started anew meanwhile may offer others, and each slot must be dealt once.
    counts = broadcast_json([report.status["max_processes"] for report in reports if report.status is not None])
    rank, world_size = 0, 1
    if dist is not None:
        rank, world_size = dist.rank, dist.world_size
    dealt = deal_slots(counts, rank, world_size)
    if not dealt:
        raise UserError(f"--lean-servers offer {sum(counts)} processes, too few for {world_size} ranks")
    addresses = ", ".join(server.address for server in fleet.servers)
    text = f"Lean server {addresses}, believed at its word ({len(dealt)} of {sum(counts)} processes)"
    is_real = not any(runs_nanolean(report.status) for report in reports if report.status is not None)
    return Fleet([fleet.servers[server] for server in dealt], None, text, lean, is_real)


def follow_lean(args: argparse.Namespace, data: Mapping[str, Followed] = SOLVERS) -> None:
    """Replace each `auto` among the options `data` by what it stands for; prints a line if servers are named.

    Raises UserError (ServerUnavailable) if a server cannot be reached, and if some run NanoLean and others real Lean.
    """
    followed = {}
    for name, by_lean in data.items():
        if getattr(args, name) in (AUTO, (AUTO,), [AUTO]):  # as a default, or as the parser reads one or several values
            followed[name] = by_lean
    if not followed:
        return
    flags = ["--" + name.replace("_", "-") for name in followed]
    reports: list[ServerReport] = []
    if args.lean_servers:
        reports = LeanFleet(args.lean_servers, token=args.lean_token).check()
    is_real = bool(reports) and _all_are_real(reports, flags)
    has_mathlib = is_real and all("Mathlib" in ((report.status or {}).get("imports") or ()) for report in reports)
    settings = []
    for flag, (name, by_lean) in zip(flags, followed.items()):
        value = by_lean.nanolean
        if is_real:
            value = by_lean.real
        if has_mathlib and by_lean.mathlib is not None:
            value = by_lean.mathlib
        setattr(args, name, value)
        if isinstance(value, str):
            settings.append(f"{flag} {value}")
        else:
            settings.append(f"{flag} {' '.join(value)}")
    # Before the ranks know each other: torchrun tells each its number.
    if reports and os.environ.get("RANK", "0") == "0":
        kind = "NanoLean"
        if is_real:
            kind = "real Lean"
        text = f"{kind} at {', '.join(args.lean_servers)}, so by default {', '.join(settings)}"
        print(text, file=sys.stderr, flush=True)


def _all_are_real(reports: Sequence[ServerReport], flags: Sequence[str]) -> bool:
    """Tell whether all servers run real Lean, or none does. Raises UserError that asks for `flags` if some do."""
    nanolean, real = [], []
    for report in reports:
        if runs_nanolean(report.status or {}):
            nanolean.append(report.address)
        else:
            real.append(report.address)
    if nanolean and real:
        raise UserError(
            f"--lean-servers: {', '.join(nanolean)} run NanoLean and {', '.join(real)} real Lean; "
            f"say for which: {' '.join(flags)}"
        )
    return bool(real)


def _lean_version(reports: list[ServerReport]) -> str | None:
    """Return the version that the servers report, None if none does. Raises UserError if they report several."""
    version_of: dict[str, str] = {}
    for report in reports:
        versions = (report.status or {}).get("versions")  # LeanTree's own server reports none
        if isinstance(versions, dict) and versions.get("lean"):
            version_of[report.address] = str(versions["lean"])
    distinct = sorted(set(version_of.values()))
    if len(distinct) > 1:
        texts = ", ".join(f"{address} has {version}" for address, version in version_of.items())
        raise UserError(f"--lean-servers run different versions of Lean: {texts}")
    if not distinct:
        return None
    return distinct[0]


def deal_slots(counts: list[int], rank: int, world_size: int) -> list[int]:
    """Return the servers of this rank's slots: every `world_size`-th slot, so each rank has some of each server."""
    slots: list[int] = []
    for server, count in enumerate(counts):
        slots += [server] * count
    return slots[rank::world_size]
