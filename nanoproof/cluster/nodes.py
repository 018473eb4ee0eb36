"""A Ray cluster as the driver sees it: its nodes, what is started on them, and what Ray tells of what was lost there.

All that nanoproof uses of Ray is in `RayNodes`; `Nodes` is the part that simulated clusters stand in for.
"""

import atexit
import ipaddress
import logging
import os
import socket
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

    def result(self, promise: Any) -> Any:
        """Return what was promised. Raises Lost."""
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
        except (ConnectionError, RuntimeError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            raise UserError(f"--cluster {address}: no Ray cluster answers there ({reason})") from error
        self._gone = False
        self._ray, self._affinity = ray, NodeAffinitySchedulingStrategy
        self._host, self._replica = ray.remote(self.host_class), ray.remote(PolicyReplica)
        try:
            require_token([node.address for node in self.alive()])
        except UserError:
            ray.shutdown()
            raise
        context = ray.get_runtime_context()
        self.address: str = context.gcs_address
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
        if not first or not rest:
            return list(first)
        more, _ = self._ray.wait(rest, num_returns=len(rest), timeout=0)
        return [*first, *more]

    def result(self, promise: Any, seconds: float | None = None) -> Any:
        """Return what was promised."""
        try:
            return self._ray.get(promise, timeout=seconds)
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


def lean_servers(label: str) -> list[str]:
    """Read what `lean_label` wrote."""
    return [server.replace("_", ":") for server in label.split("__")]


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
        except (OSError, OverflowError) as error:
            reason = str(error)
    raise UserError(f"--cluster {address}: no Ray cluster answers there ({reason})")


def require_token(addresses: Sequence[str]) -> None:
    """Raise UserError if a cluster is reached by others than this machine, and does not ask for a token.

    Whoever reaches a port of Ray runs code there: it unpickles what comes.
    """
    if os.environ.get("RAY_AUTH_MODE") == "token":
        return
    for address in addresses:
        host = address.removeprefix("ray://").strip("[]")
        try:
            loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
        except ValueError:
            loopback = False
        if not loopback:
            raise UserError(
                f"--cluster: {host} is not this machine's loopback, and Ray runs code of whoever reaches it: set "
                "RAY_AUTH_MODE=token (and RAY_AUTH_TOKEN_PATH) here and on all nodes (docs/scaling.md)"
            )
