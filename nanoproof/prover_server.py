"""Join this machine to the cluster of a running RL run, so that a host with provers is made on it.

It asks the run's monitor for the address of the cluster and starts a Ray node, which ends with this command. Ray's
membership takes the place of registering: the run makes a host on every node that joins, and goes on without it when
the node leaves.
"""

import importlib.util
import os
import re
import sys
from collections.abc import Sequence

import requests

from nanoproof.common.config import Parser, add_flags, check, from_args, opt, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.web.http_client import read_address
from nanoproof.monitor.server import TOKEN_VARIABLE

ASK_SECONDS = 10.0
_CLUSTER = re.compile(r"Ray at (\S+?),")


@validated("node")
class NodeOptions:
    """Node."""

    rl_server: str | None = opt(None, "The run's monitor, HOST:PORT, which knows the cluster.", metavar="H:P")
    lean_server: tuple[str, ...] = opt(
        (), "Lean servers for the host here (none: those of the run, or an embedded one).", metavar="H:P"
    )
    num_actors: int = opt(8, "Attempts at a time, and processors that Ray gives to the host.", min=1)
    port: int | None = opt(None, "Not needed any more: the run finds its hosts by the cluster.", min=0, max=65535)
    monitor_token: str | None = opt(None, "Token that the monitor asks for (default: NANOPROOF_MONITOR_TOKEN).")

    def __post_init__(self) -> None:
        check(self.rl_server is not None, "give --rl-server HOST:PORT: the monitor of a run that has --cluster")


def cluster_of(monitor: str, token: str | None) -> str:
    """Ask a monitor for the address of its run's cluster. Raises UserError if there is none."""
    try:
        where = read_address(monitor, 5050)
    except ValueError as error:
        raise UserError(f"--rl-server {error}") from error
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        answer = requests.get(f"http://{where}/api/run", headers=headers, timeout=ASK_SECONDS)
        about = answer.json() if answer.ok else {}
    except (requests.RequestException, ValueError) as error:
        reason = type(error).__name__
        raise UserError(
            f"--rl-server {where}: no monitor of a run (python -m nanoproof.rl --cluster ...) answers there ({reason})"
        ) from error
    identity = about.get("identity") or about
    found = _CLUSTER.match(str((identity.get("decisions") or {}).get("cluster", "")))
    if found is None:
        raise UserError(
            f"--rl-server {where}: that run has no cluster; start it by python -m nanoproof.rl --cluster ADDRESS "
            "(docs/scaling.md)"
        )
    return found[1]


def node_command(address: str, options: NodeOptions) -> list[str]:
    """Return the command that starts a node of the cluster, with the labels that the run's driver reads."""
    from nanoproof.cluster.nodes import LEAN_LABEL, SLOTS_LABEL, lean_label

    labels = {SLOTS_LABEL: str(options.num_actors)}
    if options.lean_server:
        labels[LEAN_LABEL] = lean_label(options.lean_server)
    words = ["start", f"--address={address}", f"--num-cpus={options.num_actors}", "--block"]
    words.append("--labels=" + ",".join(f"{name}={value}" for name, value in labels.items()))
    return [sys.executable, "-m", "ray.scripts.scripts", *words]


def main(argv: Sequence[str] | None = None) -> int:
    """Start a node of the run's cluster in place of this process."""
    parser = Parser(prog="python -m nanoproof.prover_server", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, NodeOptions)
    there_are_none = "name the run's monitor with --rl-server, or nodes' Lean servers with nanoproof.rl --lean-servers"
    parser.add_earlier({"--infra-file": f"there is no such file any more: {there_are_none}"})
    options = from_args(NodeOptions, parser.parse_args(argv))
    address = cluster_of(options.rl_server or "", options.monitor_token or os.environ.get(TOKEN_VARIABLE))
    if importlib.util.find_spec("ray") is None:
        raise UserError("joining a cluster needs Ray: pip install 'nanoproof[cluster]'")
    from nanoproof.cluster.nodes import require_token

    require_token([address.rpartition(":")[0]])
    command = node_command(address, options)
    sys.stdout.flush()
    os.execv(command[0], command)


if __name__ == "__main__":
    run_main(main)
