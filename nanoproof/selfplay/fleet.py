"""The Lean processes that a rank may use: its share of the slots of all servers, or an embedded server of its own."""

import argparse
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from types import TracebackType

from nanoproof.common.config import from_args
from nanoproof.common.dist import DistInfo, broadcast_json, on_main
from nanoproof.common.errors import UserError
from nanoproof.lean.client import ClientConfig
from nanoproof.lean.embedded import EmbeddedServers, start_embedded
from nanoproof.lean.fleet import FleetServer, LeanFleet, ServerReport, runs_nanolean
from nanoproof.lean.probe import refuse_broken
from nanoproof.lean.project.layout import EMBEDDED_LEAN
from nanoproof.selfplay.fleet_options import AUTO, FleetOptions, Followed

log = logging.getLogger(__name__)

STEPS_NOT_SECONDS = ClientConfig(tactic_seconds=300.0)
"""The embedded prover ends every tactic after a number of steps, so that its answers do not depend on how busy the
machine is. The clock is there for a process that hangs."""


class Fleet:
    """One server for each process slot of this rank. Use it as a context manager: it ends what it started."""

    def __init__(
        self,
        slots: list[FleetServer],
        embedded: EmbeddedServers | None,
        description: str,
        lean: str | None,
        is_real: bool | None = None,
    ) -> None:
        """`lean` is the version of Lean that the servers say they run, None if they do not say it; `is_real` says
        whether all of them run real Lean, by default as `lean` has it."""
        self.slots, self._embedded, self.description, self.lean = slots, embedded, description, lean
        self.is_real = lean not in (None, EMBEDDED_LEAN) if is_real is None else is_real

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
    """Connect to the servers of `options` (the slots of each dealt to the ranks in turn), or start an embedded one.

    Raises UserError if a server cannot be reached or fails at what every proof needs (`lean.probe`), if they run
    different versions of Lean, and if there is no slot for this rank.
    """
    if not options.lean.servers:
        embedded = start_embedded(options.lean_processes)
        servers = LeanFleet(embedded.addresses, embedded.token, STEPS_NOT_SECONDS).servers
        slots = [server for server in servers for _ in range(options.lean_processes // len(servers))]
        text = f"embedded NanoLean at {', '.join(embedded.addresses)} with {len(slots)} processes (no --lean-servers)"
        return Fleet(slots, embedded, text, EMBEDDED_LEAN)
    config = ClientConfig(tactic_seconds=options.lean_tactic_seconds)
    fleet = LeanFleet(options.lean.servers, token=options.lean.token, config=config)
    reports = fleet.check()
    on_main(lambda: refuse_broken([server.address for server in fleet.servers], options.lean.token))
    lean = _lean_version(reports)
    if lean == EMBEDDED_LEAN:
        fleet = LeanFleet(options.lean.servers, token=options.lean.token, config=STEPS_NOT_SECONDS)
    counts = broadcast_json([report.status["max_processes"] for report in reports if report.status is not None])
    dealt = deal_slots(counts, dist.rank, dist.world_size)
    if not dealt:
        raise UserError(f"--lean-servers offer {sum(counts)} processes, too few for {dist.world_size} ranks")
    addresses = ", ".join(server.address for server in fleet.servers)
    text = f"Lean server {addresses}, believed at its word ({len(dealt)} of {sum(counts)} processes)"
    is_real = not any(runs_nanolean(report.status) for report in reports if report.status is not None)
    return Fleet([fleet.servers[server] for server in dealt], None, text, lean, is_real)


def follow_lean(args: argparse.Namespace, data: Mapping[str, Followed]) -> None:
    """Put what it stands for in the place of each `auto` among the options `data`; a line says so if servers are named.

    Raises UserError (ServerUnavailable) if a server cannot be reached, and if some run NanoLean and others real Lean.
    """
    followed = {name: value for name, value in data.items() if getattr(args, name) in (AUTO, (AUTO,), [AUTO])}
    if not followed:
        return
    options = from_args(FleetOptions, args)
    flags = ["--" + name.replace("_", "-") for name in followed]
    is_real = bool(options.lean.servers) and _all_are_real(options, flags)
    for name, value in followed.items():
        setattr(args, name, value.real if is_real else value.nanolean)
    if options.lean.servers and os.environ.get("RANK", "0") == "0":
        kind = "real Lean" if is_real else "NanoLean"
        values = [getattr(args, name) for name in followed]
        chosen = [f"{flag} {text if isinstance(text, str) else ' '.join(text)}" for flag, text in zip(flags, values)]
        print(f"{kind} at {', '.join(options.lean.servers)}: {', '.join(chosen)}", file=sys.stderr, flush=True)


def _all_are_real(options: FleetOptions, flags: Sequence[str]) -> bool:
    """Whether all servers run real Lean; False if none does. Raises UserError that asks for `flags` if some do."""
    reports = LeanFleet(options.lean.servers, token=options.lean.token).check()
    kinds = {report.address: runs_nanolean(report.status or {}) for report in reports}
    if len(set(kinds.values())) > 1:
        nanolean, real = (", ".join(at for at, found in kinds.items() if found is kind) for kind in (True, False))
        raise UserError(
            f"--lean-servers: {nanolean} run NanoLean and {real} real Lean; say for which: {' '.join(flags)}"
        )
    return False in kinds.values()


def _lean_version(reports: list[ServerReport]) -> str | None:
    """What the servers agree on. Raises UserError if they run different versions of Lean."""
    versions = {report.address: (report.status or {}).get("versions") for report in reports}
    said = {address: found.get("lean") if isinstance(found, dict) else None for address, found in versions.items()}
    known = sorted({str(version) for version in said.values() if version})
    if len(known) > 1:
        texts = ", ".join(f"{address} has {version}" for address, version in said.items() if version)
        raise UserError(f"--lean-servers run different versions of Lean: {texts}")
    return known[0] if known else None


def deal_slots(counts: list[int], rank: int, world_size: int) -> list[int]:
    """Servers of this rank's slots: every `world_size`-th of all slots, so that each rank has some of each server."""
    return [server for server, count in enumerate(counts) for _ in range(count)][rank::world_size]
