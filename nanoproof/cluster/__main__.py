"""`python -m nanoproof.cluster status`: what the hosts of a run are doing, by the status that the run writes."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser, add_flags, from_args, opt
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import read_object
from nanoproof.common.run_dir import home, resolve_run_dir

STATUS = "status_r0.json"
"""File of a run: what rank 0 is doing."""


@dataclass(frozen=True)
class StatusOptions:
    """Run."""

    run_dir: str | None = opt(None, "Run directory (default: the newest run of RL whose attempts are made elsewhere).")


def newest_run() -> Path:
    """Find the run that wrote last of those with hosts. Raises UserError if there is none."""
    files = sorted(home().glob(f"rl/*/{STATUS}"), key=lambda file: -file.stat().st_mtime)
    for file in files:
        if "hosts" in (read_object(file) or {}):
            return file.parent
    raise UserError(f"no run in {home() / 'rl'} has hosts: python -m nanoproof.rl --cluster ADDRESS makes one")


def describe(status: Mapping[str, Any], seconds_ago: float) -> list[str]:
    """Write the status of a run in lines: the whole, then each host with its Lean servers."""
    hosts, remote = status.get("hosts", []), status.get("remote", {})
    rate = sum(host["attempts_per_minute"] for host in hosts)
    phase = f"{status.get('phase', '?')}, step {status.get('step', '?')}"
    lines = [
        f"{phase}, written {seconds_ago:.0f} s ago: {len(hosts)} hosts, {sum(host['size'] for host in hosts)} attempts "
        f"at a time, {rate:.1f} attempts a minute",
        f"attempts {remote.get('attempts', 0)}, made again after a loss {remote.get('given_again', 0)}, too old "
        f"{remote.get('stale', 0)}, revision of the weights {remote.get('revision', 0)}",
    ]
    for host in hosts:
        servers = [server for server in status.get("servers", []) if server.get("host") == host["host"]]
        lean = ", ".join(f"{server['address']} {server['state']}" for server in servers) or "not heard of yet"
        lines.append(
            f"  {host['host']}: {host['under_way']} of {host['size']} under way, {host['attempts']} attempts, "
            f"{host['attempts_per_minute']:.1f} a minute, Lean {lean}"
        )
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Print the status of a run's hosts."""
    parser = Parser(prog="python -m nanoproof.cluster", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["status"], help="what to show")
    add_flags(parser, StatusOptions)
    options = from_args(StatusOptions, parser.parse_args(argv))
    path = newest_run() if options.run_dir is None else resolve_run_dir(options.run_dir)
    file = path / STATUS
    status = read_object(file)
    if status is None or "hosts" not in status:
        raise UserError(f"{path}: its attempts are not made elsewhere; --cluster does that")
    print(path)
    for line in describe(status, time.time() - file.stat().st_mtime):
        print(line)
    return 0


if __name__ == "__main__":
    run_main(main)
