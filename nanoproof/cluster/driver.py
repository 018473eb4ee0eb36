"""The driver: rank 0 of a run, which alone gives hosts their tasks and takes their attempts.

`HostPool` is a `RemotePool` whose links are hosts on the nodes of a cluster. It makes a host on every node that has
processors for one, has one call to each host under way, which brings tasks there and attempts back, and makes another
host or replica where one is gone. What it needs of Ray is in `RayNodes`: the unit of Ray's work is a batch of attempts,
never a tactic or a question to the network.
"""

import copy
import ipaddress
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol

from nanoproof.actors.fleet import Fleet, Reach
from nanoproof.actors.remote import Link, RemotePool
from nanoproof.cluster.host import PolicyEndpoint, PolicyReplica, ProverHost, new_token
from nanoproof.common.errors import UserError
from nanoproof.lean.client import ClientConfig
from nanoproof.rl.collection import Collection
from nanoproof.rl.options import RLConfig

log = logging.getLogger(__name__)

EXCHANGE_SECONDS = 1.0
"""How long a call to a host without a finished attempt takes: so often its state is seen."""
LOOK_SECONDS = 1.0
RESTART_SECONDS = 5.0
"""How long a node is left alone after its host ended."""
SWAP_SECONDS = 120.0
"""A replica that has not taken new weights by then is replaced."""
MAX_STARTS = 5
"""So many times in a row a host may end on a node before any attempt of it does: then the node is left out."""
LEAN_LABEL, SLOTS_LABEL = "nanoproof-lean", "nanoproof-slots"
"""Labels of a node: Lean servers for its host (see `lean_label`), and how many attempts it works on at a time."""

# -- What is needed of Ray -------------------------------------------------------------------------------------------


class Node(NamedTuple):
    """A node of the cluster that is alive."""

    id: str
    address: str
    cpus: int
    labels: Mapping[str, str]


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
        try:
            import ray
            from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
        except ImportError as error:
            raise UserError("--cluster needs Ray: pip install 'nanoproof[cluster]'") from error
        if address != "auto":
            require_token([address.rpartition(":")[0]])
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
        self._ray, self._affinity = ray, NodeAffinitySchedulingStrategy
        self._host, self._replica = ray.remote(self.host_class), ray.remote(PolicyReplica)
        try:
            require_token([node.address for node in self.alive()])
        except UserError:
            ray.shutdown()
            raise
        self.node_id: str = ray.get_runtime_context().get_node_id()
        self.address: str = ray.get_runtime_context().gcs_address

    def close(self) -> None:
        """Leave the cluster: what was started there ends."""
        self._ray.shutdown()

    def alive(self) -> list[Node]:
        """List the nodes. Raises UserError if the cluster's head does not tell them."""
        try:
            nodes = self._ray.nodes()
        except Exception as error:  # Ray has no one class for that
            reason = " ".join(str(error).split())[:200]
            raise UserError(f"the head of the Ray cluster is gone ({reason}); start one, then --resume-from") from error
        return [
            Node(
                node["NodeID"],
                node["NodeManagerAddress"],
                int(node["Resources"].get("CPU", 0)),
                node.get("Labels") or {},
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
            raise Lost(" ".join(str(error).split())[:300] or type(error).__name__) from error

    def end(self, actor: Any) -> None:
        """End an actor."""
        self._ray.kill(actor)


def lean_label(servers: Sequence[str]) -> str:
    """Write addresses of Lean servers as the value of a label, where Ray allows no colon: `lean1_8000__lean2_8000`."""
    return "__".join(server.replace(":", "_") for server in servers)


def lean_servers(label: str) -> list[str]:
    """Read what `lean_label` wrote."""
    return [server.replace("_", ":") for server in label.split("__")]


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


# -- Hosts as a pool -------------------------------------------------------------------------------------------------


@dataclass
class _Host:
    node: Node
    actor: Any
    link: Link
    fed: int = 0


@dataclass
class _Tried:
    """How often in a row hosts of a node ended before any attempt of them did, and when the next may start."""

    times: int = 0
    again: float = 0.0


@dataclass(frozen=True)
class HostOptions:
    """How hosts are made: what `ProverHost` takes, and how many processors each has on a node at most."""

    config: dict[str, Any]
    cpus: int
    replicas: Callable[[Node], list[str]] = field(default=lambda node: [])


class HostPool(RemotePool):
    """Hosts on the nodes of a cluster, each with one call under way. One thread does all of it."""

    def __init__(
        self,
        nodes: Nodes,
        options: HostOptions,
        report: Callable[..., None] = lambda kind, **fields: None,
        report_server: Callable[[str, Reach, int], None] | None = None,
        weights: Callable[[int], None] = lambda revision: None,
        look: Callable[[], None] = lambda: None,
        **waits: Any,
    ) -> None:
        """`report` is called with `host` and what became of one, `weights` with a revision that hosts are to use from
        then on, and `look` now and then; `waits` are the arguments of `RemotePool`.
        """
        super().__init__(**waits)
        self._nodes, self._options, self._report = nodes, options, report
        self._report_server = report_server or (lambda address, state, actors: None)
        self._weights, self._look = weights, look
        self._hosts: dict[str, _Host] = {}
        self._calls: dict[Any, _Host] = {}
        self._tried: dict[str, _Tried] = {}
        self._next_look = 0.0
        self._thread = threading.Thread(target=self._run, name="cluster", daemon=True)
        self._thread.start()

    def weights_changed(self, revision: int) -> None:
        """Bring new weights to all replicas; returns when they have them."""
        super().weights_changed(revision)
        self._weights(revision)

    def join(self, timeout: float = 20.0) -> None:
        """Wait for the thread, and end the hosts."""
        self._thread.join(timeout)

    def _run(self) -> None:
        try:
            while not self.closing:
                self.turn()
        except Exception as error:
            if not self.closing:
                self.fail(error)
        for host in self._hosts.values():
            self._nodes.end(host.actor)

    def turn(self, seconds: float = 0.1) -> None:
        """Look for nodes if it is time, wait for answers of hosts for so long, and give those new tasks."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + LOOK_SECONDS
            self._look()
            self._start_hosts(now)
        if not self._calls:
            time.sleep(seconds)
            return
        for promise in self._nodes.ready(list(self._calls), seconds):
            host = self._calls.pop(promise)
            try:
                self._take(host, self._nodes.result(promise))
            except Lost as error:
                self._lose(host, str(error))
            else:
                self._call(host)

    def _start_hosts(self, now: float) -> None:
        alive = {node.id: node for node in self._nodes.alive()}
        for host in [host for name, host in self._hosts.items() if name not in alive]:
            self._lose(host, "its node has left the cluster")
        for node in alive.values():
            tried = self._tried.setdefault(node.id, _Tried())
            if node.id in self._hosts or node.cpus < 1 or tried.times >= MAX_STARTS or now < tried.again:
                continue
            config, labels = self._options.config, node.labels
            cpus = min(self._options.cpus, node.cpus)
            slots = int(labels.get(SLOTS_LABEL, cpus))
            servers = lean_servers(labels[LEAN_LABEL]) if labels.get(LEAN_LABEL) else config["lean_servers"]
            actor = self._nodes.start_host(node, cpus, {**config, "slots": slots, "lean_servers": servers})
            host = _Host(node, actor, Link(f"{node.address} {node.id[:8]}", slots))
            self._hosts[node.id] = host
            self.connect(host.link)
            log.info("host %s joins: %d attempts at a time", host.link.name, slots)
            self._report("host", host=host.link.name, state="joined", slots=slots)
            self._call(host)

    def _call(self, host: _Host) -> None:
        tasks = self.grant(host.link, host.link.size - len(host.link.given))
        replicas = self._options.replicas(host.node)
        self._calls[
            self._nodes.exchange(
                host.actor, {"tasks": tasks, "replicas": replicas, "seconds": EXCHANGE_SECONDS if tasks else 0.2}
            )
        ] = host

    def _take(self, host: _Host, answer: Mapping[str, Any]) -> None:
        host.link.status = answer["status"]
        for what in answer["told"]:
            if "done" in what:
                self._tried[host.node.id].times = 0
                self.accept(host.link, what["done"])
            elif "returned" in what:
                self.take_back(host.link, what["returned"])
            elif "server" in what:
                self._report_server(*what["server"])
            elif "failed" in what:
                raise Lost(what["failed"])

    def _lose(self, host: _Host, reason: str) -> None:
        self._calls = {promise: other for promise, other in self._calls.items() if other is not host}
        if self._hosts.pop(host.node.id, None) is None:
            return
        tried = self._tried[host.node.id]
        tried.times, tried.again = tried.times + 1, time.monotonic() + RESTART_SECONDS
        log.warning("host %s is gone, its %d attempts go to others: %s", host.link.name, len(host.link.given), reason)
        self._report("host", host=host.link.name, state="gone", given_again=len(host.link.given), reason=reason[:300])
        self.disconnect(host.link, reason)
        self._nodes.end(host.actor)
        if tried.times >= MAX_STARTS:
            log.error("node %s is left out: %d hosts in a row ended there: %s", host.node.id[:8], MAX_STARTS, reason)


# -- A run with a cluster --------------------------------------------------------------------------------------------


class Replicas:
    """The replicas of a run's policy, made anew where one is gone; without any, the learner's own policy is served."""

    def __init__(self, nodes: RayNodes, collection: Collection, count: int) -> None:
        self._nodes, self._collection, self._count = nodes, collection, count
        self.token = new_token()
        self._own: PolicyEndpoint | None = None
        self._replicas: dict[Any, tuple[Node, str]] = {}
        self._lock, self._mending = threading.Lock(), threading.Lock()
        self._looking: threading.Thread | None = None
        self._model: Any = None
        self._latest: tuple[int, Any] | None = None
        """Step and weights, in the object store, that replicas are to have; the learner's own change meanwhile."""

    def addresses(self, node: Node) -> list[str]:
        """List the servers that a host on a node is to ask, those on the same node first."""
        if self._own is not None:
            return [self._own.address]
        with self._lock:
            ordered = sorted(self._replicas.values(), key=lambda one: (one[0].id != node.id, one[1]))
        return [address for _, address in ordered]

    def publish(self, step: int) -> None:
        """Bring the learner's weights to all replicas, and wait until they have them."""
        if self._count == 0:
            if self._own is None:
                (here,) = [node for node in self._nodes.alive() if node.id == self._nodes.node_id]
                self._own = PolicyEndpoint(self._collection.policy, here.address, self.token, step)
            self._own.changed(step)
            return
        model = self._collection.learner.model
        if self._model is None:
            self._model = self._nodes.put(copy.deepcopy(model).to("cpu"))
        weights = {name: value.detach().cpu().clone() for name, value in model.state_dict().items()}
        self._latest = step, self._nodes.put(weights)
        self.mend()
        with self._lock:
            calls = {actor.load.remote(*self._latest): actor for actor in self._replicas}
        for promise, actor in calls.items():
            try:
                self._nodes.result(promise, SWAP_SECONDS)
            except Lost as error:
                self._lose(actor, str(error))

    def mend(self) -> None:
        """Start replicas that are missing, each where the fewest are."""
        with self._mending:
            self._mend()

    def _mend(self) -> None:
        while len(self._replicas) < self._count:
            nodes = [node for node in self._nodes.alive() if node.cpus > 0]
            if not nodes:
                return
            used = [node.id for node, _ in self._replicas.values()]
            node = min(nodes, key=lambda one: used.count(one.id))
            learner, policy = self._collection.learner, self._collection.policy
            gpus = 1 if learner.dist.device.type == "cuda" else 0
            what = (self._model, learner.tokenizer, policy.sampling, node.address, self.token)
            actor = self._nodes.start_replica(node, gpus, *what)
            try:
                assert self._latest is not None, "replicas are made of what was published"
                self._nodes.result(actor.load.remote(*self._latest), SWAP_SECONDS)
                address = self._nodes.result(actor.address.remote(), SWAP_SECONDS)
            except Lost as error:
                log.warning("a replica of the policy did not start on %s: %s", node.address, error)
                return
            with self._lock:
                self._replicas[actor] = node, address

    def look(self) -> None:
        """Replace replicas that have ended (the driver's thread calls this now and then, and does not wait for it)."""
        if self._looking is None or not self._looking.is_alive():
            self._looking = threading.Thread(target=self._look, name="replicas", daemon=True)
            self._looking.start()

    def _look(self) -> None:
        with self._lock:
            calls = {actor.address.remote(): actor for actor in self._replicas}
        for promise, actor in calls.items():
            try:
                self._nodes.result(promise, LOOK_SECONDS)
            except Lost as error:
                if "timed out" not in str(error).lower():  # it may be at work on new weights
                    self._lose(actor, str(error))
        if self._latest is not None:
            self.mend()

    def _lose(self, actor: Any, reason: str) -> None:
        with self._lock:
            if actor not in self._replicas:
                return
            _, address = self._replicas.pop(actor)
        log.warning("the replica of the policy at %s is gone, another is made: %s", address, reason)
        self._nodes.end(actor)

    def close(self) -> None:
        """End what serves the policy."""
        if self._own is not None:
            self._own.close()
        for actor in self._replicas:
            self._nodes.end(actor)


@contextmanager
def open_cluster(config: RLConfig, collection: Collection) -> Iterator[str]:
    """Connect to the cluster of a run, on whose hosts the attempts of `collection` are made; describes it.

    Raises UserError as `RayNodes` does.
    """
    options = config.cluster
    nodes = RayNodes(options.cluster or "auto")
    replicas = Replicas(nodes, collection, options.policy_replicas)
    lean = config.fleet.lean
    made: dict[str, Any] = {
        "lean_servers": list(lean.servers),
        "lean_token": lean.token,
        "client": asdict(ClientConfig(tactic_seconds=config.fleet.lean_tactic_seconds)),
        "policy_token": replicas.token,
        "lost_proofs": config.fleet.lean_lost_proofs,
        "collect": collection.spec("collect").to_json(),
        "evaluate": collection.spec("evaluate").to_json(),
    }

    def make_pool(fleet: Fleet, **waits: Any) -> HostPool:
        hosts = HostOptions(made, options.prover_cpus, replicas.addresses)
        return HostPool(nodes, hosts, weights=replicas.publish, look=replicas.look, **waits)

    collection.pool_maker = make_pool
    try:
        yield f"Ray at {nodes.address}, {len(nodes.alive())} nodes"
    finally:
        replicas.close()
        nodes.close()
