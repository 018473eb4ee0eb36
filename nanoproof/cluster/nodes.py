"""A Ray cluster as the driver sees it: its nodes, what is started on them, and what Ray tells of what was lost there.

All that nanoproof uses of Ray is in `RayNodes`; `Nodes` is the part that simulated clusters stand in for.
"""

import atexit
import ipaddress
import logging
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from nanoproof.cluster.host import PolicyReplica, ProverHost
from nanoproof.common.errors import UserError

T = TypeVar("T")
HEAD_SECONDS = 30.0
"""A cluster whose head does not answer for so long has none any more: then the run ends."""
RAY_SECONDS = 240
"""After so many seconds without its head Ray ends the process, with nothing said that a user could follow."""
CLOSE_SECONDS = 20.0
CONNECT_SECONDS = 10.0
ASK_SECONDS = 60.0
_REFUSED = 3
_ASK_WITHOUT_TOKEN = f"""
import sys
from ray._raylet import GcsClient
from ray.exceptions import AuthenticationError
try:
    GcsClient(address=sys.argv[1]).get_all_node_info(timeout=20)
except AuthenticationError:
    sys.exit({_REFUSED})
"""
MOST_SLOTS = 4096
LEAN_LABEL, SLOTS_LABEL = "nanoproof-lean", "nanoproof-slots"
"""Labels of a node: Lean servers for its host (see `lean_label`), and how many attempts it works on at a time."""

# -- What is needed of Ray -------------------------------------------------------------------------------------------


class Node(NamedTuple):
    """A node of the cluster that is alive."""

    id: str
    address: str
    cpus: int
    labels: Mapping[str, str]
    gpus: int = 0


class Nodes(Protocol):
    """A cluster, as far as the driver needs it. What it calls lost raises `Lost` where its result is asked for."""

    def alive(self) -> list[Node]:
        """List the nodes."""
        ...

    def start_host(self, node: Node, cpus: int, config: dict[str, Any]) -> Any:
        """Start a host on a node."""
        ...

    def exchange(self, host: Any, given: dict[str, Any]) -> Any:
        """Call `exchange` of a host; returns a promise of the answer at once."""
        ...

    def ready(self, promises: Sequence[Any], seconds: float) -> list[Any]:
        """Return those that are kept or broken; waits for the first, at most so long."""
        ...

    def result(self, promise: Any, seconds: float | None = None) -> Any:
        """Return what was promised. Raises Lost, also where that takes longer than `seconds`."""
        ...

    def end(self, actor: Any) -> None:
        """End a host or a replica."""
        ...


class Lost(Exception):
    """A host or a replica is gone, or failed; the message says how."""


class RayNodes:
    """A Ray cluster."""

    host_class: ClassVar[type[ProverHost]] = ProverHost

    def __init__(self, address: str) -> None:
        """Connect. Raises UserError if there is no such cluster, if Ray is not installed, and if it is open to others
        without a token."""
        # Before the import: Ray reads its settings once for each process.
        os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", str(RAY_SECONDS))
        try:
            import ray
            from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
        except ImportError as error:
            raise UserError("--cluster needs Ray: pip install 'nanoproof[cluster]'") from error
        if address != "auto":
            require_token([address.rpartition(":")[0]])
            require_answer(address, ray.util.get_node_ip_address())
        try:
            ray.init(
                address=address,
                log_to_driver=False,
                logging_level=logging.WARNING,
                namespace="nanoproof",
                configure_logging=False,
            )
        except ray.exceptions.AuthenticationError as error:
            raise UserError(
                f"--cluster {address}: it asks for another token, or for one where none is set: RAY_AUTH_MODE=token "
                "and RAY_AUTH_TOKEN_PATH of the cluster have to be set here, too (docs/scaling.md)"
            ) from error
        except (ConnectionError, RuntimeError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            raise UserError(f"--cluster {address}: no Ray cluster answers there ({reason})") from error
        self._gone = False
        self._ray, self._affinity = ray, NodeAffinitySchedulingStrategy
        self._host, self._replica = ray.remote(self.host_class), ray.remote(PolicyReplica)
        context = ray.get_runtime_context()
        self.address: str = context.gcs_address
        try:
            # Once more, of all nodes: `auto` names no address, and a head on loopback says nothing of the others.
            addresses = [node.address for node in self.alive()]
            require_token(addresses)
            if not all(map(is_loopback, addresses)):
                require_refusal(self.address)
        except UserError:
            ray.shutdown()
            raise
        self.here: str = next(node.address for node in self.alive() if node.id == context.get_node_id())
        """The address of this process's node, where others reach it."""

    def close(self) -> None:
        """Leave the cluster: what was started there ends."""
        if self._gone:  # Ray would end this process before it could tell why the run ends
            atexit.unregister(self._ray.shutdown)
        else:
            within(CLOSE_SECONDS, self._ray.shutdown)

    def alive(self) -> list[Node]:
        """List the nodes. Raises UserError if the cluster's head does not tell them in time."""
        try:
            nodes = within(HEAD_SECONDS, self._ray.nodes)
            reason = f"no answer for {HEAD_SECONDS:.0f} s"
        except Exception as error:  # Ray has no one class for that
            nodes, reason = None, " ".join(str(error).split())[:200]
        if nodes is None:
            self._gone = True
            raise UserError(
                f"the head of the Ray cluster is gone ({reason}): start head and nodes again, then --resume-from"
            )
        return [
            Node(
                node["NodeID"],
                node["NodeManagerAddress"],
                int(node["Resources"].get("CPU", 0)),
                node.get("Labels") or {},
                int(node["Resources"].get("GPU", 0)),
            )
            for node in nodes
            if node["Alive"]
        ]

    def _place(self, node: Node, **resources: Any) -> dict[str, Any]:
        # A host that Ray put elsewhere (`soft`) would take processors of a node that has its own. The driver makes
        # new ones itself, as it counts how often one ends, and an actor that Ray restarts would have lost its tasks.
        return {"scheduling_strategy": self._affinity(node.id, soft=False), "max_restarts": 0, **resources}

    def start_host(self, node: Node, cpus: int, config: dict[str, Any]) -> Any:
        """Start a host that takes so many processors of a node."""
        return self._host.options(max_concurrency=4, **self._place(node, num_cpus=cpus)).remote(config)

    def start_replica(self, node: Node, gpus: int, *what: Any) -> Any:
        """Start a replica of the policy on a node."""
        return self._replica.options(max_concurrency=4, **self._place(node, num_cpus=0, num_gpus=gpus)).remote(*what)

    def put(self, value: Any) -> Any:
        """Put a value into the object store, once for all nodes."""
        return self._ray.put(value)

    def exchange(self, host: Any, given: dict[str, Any]) -> Any:
        """Call `exchange` of a host."""
        return host.exchange.remote(given)

    def ready(self, promises: Sequence[Any], seconds: float) -> list[Any]:
        """Return the promises that are kept or broken."""
        first, rest = self._ray.wait(list(promises), num_returns=1, timeout=seconds)
        # `wait` gives no more than it is asked for, even where more are ready; those are asked for without a wait.
        if not first or not rest:
            return list(first)
        more, _ = self._ray.wait(rest, num_returns=len(rest), timeout=0)
        return [*first, *more]

    def result(self, promise: Any, seconds: float | None = None) -> Any:
        """Return what was promised."""
        try:
            return self._ray.get(promise, timeout=seconds)
        # That it took too long (GetTimeoutError) is one of these, too.
        except self._ray.exceptions.RayError as error:
            raise Lost(short_reason(str(error)) or type(error).__name__) from error

    def end(self, actor: Any) -> None:
        """End an actor; without its head a cluster ends by itself."""
        if not self._gone:
            self._ray.kill(actor)


def within(seconds: float, call: Callable[[], T]) -> T | None:
    """Return what a call returns or raise what it raises; None if that takes longer, and it goes on by itself."""
    answers: list[T] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            answers.append(call())
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="ray-call", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    return answers[0] if answers else None


def short_reason(text: str) -> str:
    """Shorten what Ray says of an actor that is gone to what went wrong, where it tells that."""
    line = " ".join(text.split())
    for sign in ("Worker exit detail: ", "The actor died because its node has died", "The process receives a SIGTERM"):
        if sign in line:
            line = line[line.index(sign) :].removeprefix("Worker exit detail: ").partition(" Some common causes")[0]
            break
    return line[:300]


def lean_label(servers: Sequence[str]) -> str:
    """Write addresses of Lean servers as the value of a label, where Ray allows no colon: `lean1_8000__lean2_8000`."""
    return "__".join(server.replace(":", "_") for server in servers)


def lean_servers_of(labels: Mapping[str, str]) -> list[str]:
    """Read the Lean servers that a node's label names (`lean_label` wrote it); none without the label.

    Raises ValueError that says what is wrong with it.
    """
    label = labels.get(LEAN_LABEL)
    if not label:
        return []
    servers = []
    for part in label.split("__"):
        # Names of hosts have no underscore (RFC 1123), so that what separates parts is never part of one.
        host, _, port = part.rpartition("_")
        if not host or "_" in host or not re.fullmatch(r"\d{1,5}", port, re.ASCII) or not 0 < int(port) < 65536:
            raise ValueError(f"its label {LEAN_LABEL}={label!r} is not of the form HOST_PORT__HOST_PORT")
        servers.append(f"{host}:{port}")
    return servers


def slots_of(labels: Mapping[str, str]) -> int | None:
    """Read how many attempts a node's label has it work on at a time; None without the label.

    Raises ValueError that says what is wrong with it.
    """
    label = labels.get(SLOTS_LABEL)
    if label is None:
        return None
    if not re.fullmatch(r"\d{1,6}", label, re.ASCII) or not 0 < int(label) <= MOST_SLOTS:
        raise ValueError(f"its label {SLOTS_LABEL}={label!r} is no number from 1 to {MOST_SLOTS}")
    return int(label)


def require_answer(address: str, own: str) -> None:
    """Raise UserError if nothing listens at an address: Ray would try for minutes. Ray takes loopback for `own`."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    names = [host.strip("[]"), *([own] if host in ("localhost", "127.0.0.1", "[::1]") else [])]
    if not port.isdecimal() or not host:
        raise UserError(f"--cluster {address}: give HOST:PORT of the cluster's head, or auto")
    for name in names:
        try:
            with socket.create_connection((name, int(port)), CONNECT_SECONDS):
                return
        # OverflowError is of a port above 65535.
        except (OSError, OverflowError) as error:
            reason = str(error)
    raise UserError(f"--cluster {address}: no Ray cluster answers there ({reason})")


def is_loopback(address: str) -> bool:
    """Tell whether an address is reached by this machine only."""
    host = address.removeprefix("ray://").strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    # A name: it may be resolved to any machine, so it counts as one that others reach.
    except ValueError:
        return False


def require_token(addresses: Sequence[str]) -> None:
    """Raise UserError if a cluster is reached by others than this machine, and no token is set here for it.

    Whoever reaches a port of Ray runs code there: it unpickles what comes.
    """
    if os.environ.get("RAY_AUTH_MODE") == "token":
        return
    for address in addresses:
        if not is_loopback(address):
            raise UserError(
                f"--cluster: {address.removeprefix('ray://').strip('[]')} is not this machine's loopback, and Ray runs "
                "code of whoever reaches it: set RAY_AUTH_MODE=token (and RAY_AUTH_TOKEN_PATH) here and on all nodes "
                "(docs/scaling.md)"
            )


def require_refusal(address: str) -> None:
    """Raise UserError unless the head at an address refuses who has no token.

    A driver that has one is let in by a head that asks for none (Ray 2.60), and the environment here says nothing of
    the head's. So it is asked from a process without the token: Ray reads its settings once for each process.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    command = [sys.executable, "-c", _ASK_WITHOUT_TOKEN, address]
    try:
        done = subprocess.run(
            command, env={**environment, "RAY_AUTH_MODE": "disabled"}, capture_output=True, timeout=ASK_SECONDS
        )
    except subprocess.TimeoutExpired:
        reason = f"it did not answer for {ASK_SECONDS:.0f} s"
    else:
        if done.returncode == _REFUSED:
            return
        if done.returncode == 0:
            raise UserError(
                f"--cluster: the head at {address} lets in who has no token, and Ray runs code of whoever reaches it: "
                "end the cluster, and start head and nodes with RAY_AUTH_MODE=token (docs/scaling.md)"
            )
        reason = done.stderr.decode(errors="replace").strip().rpartition("\n")[2][:200]
    raise UserError(f"--cluster: whether the head at {address} asks for a token cannot be told: {reason}")
