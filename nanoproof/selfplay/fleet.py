"""The Lean processes that a rank may use: its share of the slots of all servers, or an embedded server of its own."""

import logging
from types import TracebackType

from nanoproof.common.dist import DistInfo, broadcast_json
from nanoproof.common.errors import UserError
from nanoproof.lean.embedded import EmbeddedServers, start_embedded
from nanoproof.lean.fleet import FleetServer, LeanFleet
from nanoproof.selfplay.options import FleetOptions

log = logging.getLogger(__name__)


class Fleet:
    """One server for each process slot of this rank. Use it as a context manager: it ends what it started."""

    def __init__(self, slots: list[FleetServer], embedded: EmbeddedServers | None, description: str) -> None:
        self.slots, self._embedded, self.description = slots, embedded, description

    def check(self) -> None:
        """Raise ServerUnavailable if the embedded server has died; servers of others are waited for by their actors."""
        if self._embedded is not None:
            self._embedded.check()

    def close(self) -> None:
        """End the embedded server, if there is one."""
        if self._embedded is not None:
            self._embedded.close()

    def __enter__(self) -> "Fleet":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def open_fleet(options: FleetOptions, dist: DistInfo) -> Fleet:
    """Connect to the servers of `options` (slots dealt round-robin over all ranks), or start an embedded one.

    Raises UserError (ServerUnavailable) if a server cannot be reached, and if there is no slot for this rank.
    """
    if not options.lean_servers:
        embedded = start_embedded(options.lean_processes)
        servers = LeanFleet(embedded.addresses).servers
        slots = [server for server in servers for _ in range(options.lean_processes // len(servers))]
        text = f"embedded NanoLean at {', '.join(embedded.addresses)} with {len(slots)} processes (no --lean-servers)"
        return Fleet(slots, embedded, text)
    fleet = LeanFleet(options.lean_servers, token=options.lean_token)
    counts = broadcast_json([report.status["max_processes"] for report in fleet.check() if report.status is not None])
    dealt = deal_slots(counts, dist.rank, dist.world_size)
    if not dealt:
        raise UserError(f"--lean-servers offer {sum(counts)} processes, too few for {dist.world_size} ranks")
    text = f"{len(dealt)} of {sum(counts)} processes of {', '.join(server.address for server in fleet.servers)}"
    return Fleet([fleet.servers[server] for server in dealt], None, text)


def deal_slots(counts: list[int], rank: int, world_size: int) -> list[int]:
    """Servers of this rank's slots: all slots in round-robin order over the servers, every `world_size`-th of them."""
    order = [server for turn in range(max(counts, default=0)) for server, count in enumerate(counts) if turn < count]
    return order[rank::world_size]
