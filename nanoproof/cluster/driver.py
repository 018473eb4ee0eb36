"""The driver: rank 0 of a run, which alone gives hosts their tasks and takes their attempts.

`HostPool` is a `RemotePool` whose links are hosts on the nodes of a cluster. It makes a host on every node that has
processors for one, has one call to each host under way, which brings tasks there and attempts back, and makes another
host or replica where one is gone. What it needs of Ray is in `RayNodes`: the unit of Ray's work is a batch of attempts,
never a tactic or a question to the network.
"""

import argparse
import copy
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, NamedTuple

from nanoproof.actors.fleet import Fleet, FleetOptions, Reach, open_fleet
from nanoproof.actors.remote import PURPOSES, Link, ProverSpec, Purpose, RemotePool
from nanoproof.cluster.host import PolicyEndpoint, ReplicatedModel, new_token
from nanoproof.cluster.nodes import Lost, Node, Nodes, RayNodes, lean_servers_of, slots_of
from nanoproof.common.distributed import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.evaluation.command import EvalCommand, opened
from nanoproof.evaluation.plan import Target
from nanoproof.inference.engine import Engine
from nanoproof.inference.language_model import LanguageModel
from nanoproof.inference.open_model import CachedModel
from nanoproof.inference.own_model import OwnModel
from nanoproof.lean.client import ClientConfig
from nanoproof.lean.project.layout import EMBEDDED_LEAN
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.policy.server import ServedPolicy
from nanoproof.policy.tactic_policy import TacticPolicy
from nanoproof.policy.text_policy import TextPolicy
from nanoproof.rl.collection import Collection
from nanoproof.rl.learner import Learner
from nanoproof.rl.options import ClusterOptions, RLConfig
from nanoproof.search.policy import Policy

log = logging.getLogger(__name__)

EXCHANGE_SECONDS = 1.0
"""How long a call to a host without a finished attempt takes: so often its state is seen."""
LOOK_SECONDS = 1.0
RESTART_SECONDS = 5.0
"""How long a node is left alone after its host ended."""
SWAP_SECONDS = 120.0
"""A replica that has not taken new weights by then is replaced."""
START_SECONDS = 300.0
"""A replica that has not started by then is replaced: on a busy machine torch alone takes a minute."""
HANG_SECONDS = 60.0
"""A host or replica that answers nothing for so long hangs, and another one is made.

Hosts answer within a second or two (`EXCHANGE_SECONDS`), and replicas say where they are while they compute; the rest
is for machines that swap. Ray itself tells only of processes that have ended, nothing of one that is stopped (SIGSTOP,
a debugger, a frozen container).
"""
MAX_STARTS = 5
"""So many times in a row a host may end on a node before any attempt of it does: then the node is left out."""

# -- Hosts as a pool -------------------------------------------------------------------------------------------------


@dataclass
class _Host:
    node: Node
    actor: Any
    link: Link
    deadline: float
    """When the call under way has to be answered."""


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
        super().__init__(works=options.config.get("worker") is not None, **waits)
        self._nodes, self._options, self._report = nodes, options, report
        self._report_server = report_server or (lambda address, state, actors: None)
        self._weights, self._look = weights, look
        self._hosts: dict[str, _Host] = {}
        self._calls: dict[Any, _Host] = {}
        self._tried: dict[str, _Tried] = {}
        self._next_look = 0.0
        self._waiting = False
        self._brought: int | None = None
        self._thread = threading.Thread(target=self._run, name="cluster", daemon=True)
        self._thread.start()

    def weights_changed(self, revision: int) -> None:
        """Bring new weights to all replicas; returns when they have them.

        Those that have them not yet answer with the ones before, which attempts that begin meanwhile count as theirs.
        """
        with self.locked():
            self.older = self._brought
            super().weights_changed(revision)
        self._weights(revision)
        self.older, self._brought = None, revision

    def join(self, timeout: float = 20.0) -> None:
        """Wait for the thread, and end the hosts."""
        self._thread.join(timeout)

    def _run(self) -> None:
        try:
            while not self.closing:
                self.turn()
        except Exception as error:
            # What fails while the pool closes belongs to its end, and is no failure of the run.
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
            # That it is ready is not that it is here: the answer may lie on a node that has stopped since.
            try:
                self._take(host, self._nodes.result(promise, HANG_SECONDS))
            except Lost as error:
                self._lose(host, str(error))
            else:
                self._call(host)
        now = time.monotonic()
        for host in list(self._calls.values()):
            if now > host.deadline:
                waited = START_SECONDS if not host.link.status else HANG_SECONDS
                self._lose(host, f"it hangs: no answer for {waited:.0f} s")

    def _start_hosts(self, now: float) -> None:
        alive = {node.id: node for node in self._nodes.alive()}
        # A node without processors is one for the learner alone. The warning comes once for each such time.
        waiting = all(node.cpus < 1 for node in alive.values())
        if waiting and not self._waiting:
            log.warning("no node of the cluster has processors for a host: attempts wait for one (ray start --address)")
        self._waiting = waiting
        for host in [host for name, host in self._hosts.items() if name not in alive]:
            self._lose(host, "its node has left the cluster")
        for node in alive.values():
            tried = self._tried.setdefault(node.id, _Tried())
            if node.id in self._hosts or node.cpus < 1 or tried.times >= MAX_STARTS or now < tried.again:
                continue
            config = self._options.config
            cpus = min(self._options.cpus, node.cpus)
            try:
                slots = slots_of(node.labels) or cpus
                servers = lean_servers_of(node.labels) or config["lean_servers"]
            except ValueError as error:
                # left out, and not used without the label: it may have been meant to keep a Lean of another version out
                tried.times = MAX_STARTS
                log.error("node %s (%s) is left out: %s", node.id[:8], node.address, error)
                continue
            # What the node's labels say goes before the run's own options.
            actor = self._nodes.start_host(node, cpus, {**config, "slots": slots, "lean_servers": servers})
            host = _Host(node, actor, Link(f"{node.address} {node.id[:8]}", slots), 0.0)
            self._hosts[node.id] = host
            self.connect(host.link)
            log.info("host %s joins: %d attempts at a time", host.link.name, slots)
            self._report("host", host=host.link.name, state="joined", slots=slots)
            self._call(host)

    def _call(self, host: _Host) -> None:
        tasks = self.grant(host.link, host.link.size - len(host.link.given))
        # the first answer waits for the host itself: its processors, torch, and its Lean server
        host.deadline = time.monotonic() + (HANG_SECONDS if host.link.status else START_SECONDS)
        # A host with nothing new to do is back soon: tasks that come up meanwhile wait for its next call.
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
                # An attempt that ended shows that the node works: only losses in a row count against it.
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
        # A host may be lost twice in one turn: its call fails, and its node has left.
        if self._hosts.pop(host.node.id, None) is None:
            return
        tried = self._tried[host.node.id]
        tried.times, tried.again = tried.times + 1, time.monotonic() + RESTART_SECONDS
        log.warning("host %s is gone, its %d attempts go to others: %s", host.link.name, len(host.link.given), reason)
        self._report("host", host=host.link.name, state="gone", given_again=len(host.link.given), reason=reason[:300])
        self.disconnect(host.link, reason)
        # Also where it hangs: Ray ends a stopped worker (2.60), and its processors are free for the next host.
        self._nodes.end(host.actor)
        if tried.times >= MAX_STARTS:
            log.error("node %s is left out: %d hosts in a row ended there: %s", host.node.id[:8], MAX_STARTS, reason)


# -- A run with a cluster --------------------------------------------------------------------------------------------


def place_of_replica(nodes: Sequence[Node], used: Sequence[str]) -> tuple[Node, int] | None:
    """Choose the node of a new replica, and how many GPUs it takes there; `used` are the nodes of the others.

    A GPU that no replica has yet comes first. A node without processors, such as the learner's, gets none.
    """
    nodes = [node for node in nodes if node.cpus > 0]
    if free := [node for node in nodes if node.gpus > used.count(node.id)]:
        return max(free, key=lambda node: node.gpus - used.count(node.id)), 1
    return (min(nodes, key=lambda node: used.count(node.id)), 0) if nodes else None


class Network(NamedTuple):
    """What replicas are made of."""

    model: GPT
    tokenizer: Tokenizer
    sampling: SamplingConfig
    batch_invariant: bool = False

    @classmethod
    def of(cls, engine: Engine, sampling: SamplingConfig | None = None) -> "Network":
        """Return the network of an engine; replicas compute as it does."""
        return cls(engine.model, engine.tokenizer, sampling or SamplingConfig(), engine.limits.batch_invariant)


class Replicas:
    """The replicas of a policy, made anew where one is gone; with a count of 0 the command's own policy is served."""

    def __init__(
        self,
        nodes: RayNodes,
        network: Callable[[], Network],
        count: int,
        own: Callable[[], ServedPolicy] | None = None,
        token: str | None = None,
    ) -> None:
        """`network` is asked once, and has the weights to publish; `own` is the command's policy."""
        self._nodes, self._make_network, self._count, self._own_policy = nodes, network, count, own
        self.token = token or new_token()
        self._own: PolicyEndpoint | None = None
        self._replicas: dict[Any, tuple[Node, str]] = {}
        self._asked: dict[Any, tuple[Any, float]] = {}
        """Replicas that have been asked whether they are there and have not answered: the promise, and since when."""
        # The first is for the tables and is held for moments; the second while replicas start, which takes minutes, so
        # that `addresses` never waits for a start.
        self._lock, self._mending = threading.Lock(), threading.Lock()
        self._looking: threading.Thread | None = None
        self._network: Network | None = None
        self._model: Any = None
        self._next_look = self._next_start = 0.0
        self._closed = False
        self._latest: tuple[int, Any] | None = None
        """Step and weights, in the object store, that replicas are to have; the learner's own change meanwhile."""

    def addresses(self, node: Node) -> list[str]:
        """List the servers that a host on a node is to ask, those on the same node first."""
        if self._own is not None:
            return [self._own.address]
        with self._lock:
            ordered = sorted(self._replicas.values(), key=lambda replica: (replica[0].id != node.id, replica[1]))
        return [address for _, address in ordered]

    def publish(self, step: int) -> None:
        """Bring the learner's weights to all replicas, and wait until they have them.

        Without any it waits for new ones; one that is missing beside others is made meanwhile (`look`).
        """
        if self._count == 0:
            if self._own is None:
                assert self._own_policy is not None, "somebody has to serve"
                self._own = PolicyEndpoint(self._own_policy(), self._nodes.here, self.token, step)
            self._own.changed(step)
            return
        if self._network is None:
            self._network = self._make_network()
            self._model = self._nodes.put(copy.deepcopy(self._network.model).to("cpu"))
        state = self._network.model.state_dict()
        weights = {name: value.detach().cpu().clone() for name, value in state.items()}
        self._latest = step, self._nodes.put(weights)
        with self._lock:
            calls = {actor.load.remote(*self._latest): actor for actor in self._replicas}
        if not calls:
            self.mend()
        deadline = time.monotonic() + SWAP_SECONDS  # of all together: several may hang
        for promise, actor in calls.items():
            self._swapped(promise, actor, deadline)

    def _swapped(self, promise: Any, actor: Any, deadline: float) -> None:
        """Wait until a replica has new weights; one that does not take them, or was lost meanwhile, is lost."""
        try:
            while not self._nodes.ready([promise], LOOK_SECONDS):
                if actor not in self._replicas:
                    return
                if time.monotonic() > deadline:
                    raise Lost(f"it has not taken new weights for {SWAP_SECONDS:.0f} s")
            self._nodes.result(promise, HANG_SECONDS)
        except Lost as error:
            self._lose(actor, str(error))

    def mend(self) -> None:
        """Start replicas that are missing, each where the fewest are."""
        with self._mending:
            if self._latest is not None:
                self._mend()

    def _mend(self) -> None:
        assert self._network is not None and self._latest is not None, "replicas are made of what was published"
        used = [node.id for node, _ in self._replicas.values()]
        if len(used) >= self._count or self._closed or time.monotonic() < self._next_start:
            return
        # All are started before any is waited for: on a busy machine the import of torch alone takes a minute.
        started, latest = [], self._latest
        while len(used) < self._count and (place := place_of_replica(self._nodes.alive(), used)) is not None:
            node, gpus = place
            used.append(node.id)
            what = (self._model, *self._network[1:], node.address, self.token)
            actor = self._nodes.start_replica(node, gpus, *what)
            started.append((node, actor, actor.load.remote(*latest), actor.address.remote()))
        for node, actor, loaded, listens in started:
            try:
                self._nodes.result(loaded, START_SECONDS)
                address = self._nodes.result(listens, START_SECONDS)
            except Lost as error:
                log.warning("a replica of the policy did not start on %s: %s", node.address, error)
                self._nodes.end(actor)  # it may wait for a place yet
                self._next_start = time.monotonic() + RESTART_SECONDS
                continue
            with self._lock:
                self._replicas[actor] = node, address
                newer = None if self._latest is latest else actor.load.remote(*self._latest)
            # Weights that were published while it started: `publish` did not know of it, and does not wait for it.
            if newer is not None:
                self._swapped(newer, actor, time.monotonic() + SWAP_SECONDS)
            # `close` came while it started, and ended only what was in the table by then.
            if self._closed:
                self._nodes.end(actor)

    def listed(self) -> list[str]:
        """List the servers for a caller in this process, and look at them if it is time to."""
        if (now := time.monotonic()) >= self._next_look:
            self._next_look = now + LOOK_SECONDS
            self.look()
        with self._lock:
            return sorted(address for _, address in self._replicas.values())

    def look(self) -> None:
        """Replace replicas that have ended (the driver's thread calls this now and then, and does not wait for it)."""
        if self._looking is None or not self._looking.is_alive():
            self._looking = threading.Thread(target=self._look, name="replicas", daemon=True)
            self._looking.start()

    def _look(self) -> None:
        with self._lock:
            now = time.monotonic()
            self._asked = {actor: asked for actor, asked in self._asked.items() if actor in self._replicas}
            for actor in self._replicas:
                if actor not in self._asked:
                    self._asked[actor] = actor.address.remote(), now
            asked = dict(self._asked)
        for actor, (promise, since) in asked.items():
            try:
                # A look takes a second for any number of replicas; what is not answered stays open for the next.
                if self._nodes.ready([promise], LOOK_SECONDS / len(asked)):
                    del self._asked[actor]
                    self._nodes.result(promise, HANG_SECONDS)
                elif time.monotonic() > since + HANG_SECONDS:  # before that it may be at work on new weights
                    raise Lost(f"it hangs: no answer for {HANG_SECONDS:.0f} s")
            except Lost as error:
                self._lose(actor, str(error))
        try:
            self.mend()
        except UserError as error:  # the head is gone; whoever needs the cluster itself says so, too
            log.warning("no replicas are made: %s", error)

    def _lose(self, actor: Any, reason: str) -> None:
        with self._lock:
            if actor not in self._replicas:
                return
            _, address = self._replicas.pop(actor)
        log.warning("the replica of the policy at %s is gone, another is made: %s", address, reason)
        self._nodes.end(actor)

    def close(self) -> None:
        """End what serves the policy."""
        self._closed = True
        if self._own is not None:
            self._own.close()
        with self._lock:
            actors = list(self._replicas)
        for actor in actors:
            self._nodes.end(actor)


@contextmanager
def open_cluster(config: RLConfig, collection: Collection) -> Iterator[str]:
    """Connect to the cluster of a run, on whose hosts the attempts of `collection` are made; describes it.

    Raises UserError as `RayNodes` does.
    """
    options = config.cluster
    nodes = RayNodes(options.cluster or "auto")
    learner = collection.learner
    assert isinstance(learner, Learner), "hosts of a cluster have networks of ours"

    def own_policy() -> TacticPolicy:
        assert isinstance(collection.policy, TacticPolicy)
        return collection.policy

    replicas = Replicas(
        nodes,
        lambda: Network(learner.model, learner.tokenizer, own_policy().sampling),
        options.policy_replicas,
        own_policy,
    )
    specs = {purpose: collection.spec(purpose) for purpose in PURPOSES}
    host_settings = host_config(config.fleet, specs, replicas.token)

    def make_pool(fleet: Fleet, **waits: Any) -> HostPool:
        hosts = HostOptions({**host_settings, "worker": collection.worker()}, options.prover_cpus, replicas.addresses)
        return HostPool(nodes, hosts, weights=replicas.publish, look=replicas.look, **waits)

    collection.pool_maker = make_pool
    try:
        yield f"Ray at {nodes.address}, {len(nodes.alive())} nodes"
    finally:
        replicas.close()
        nodes.close()


def host_config(fleet: FleetOptions, specs: Mapping[Purpose, ProverSpec], policy_token: str) -> dict[str, Any]:
    """Return what a `ProverHost` is made of, but for its slots."""
    return {
        "lean_servers": list(fleet.lean.servers),
        "lean_token": fleet.lean.token,
        "client": asdict(ClientConfig(tactic_seconds=fleet.lean_tactic_seconds)),
        "policy_token": policy_token,
        "lost_proofs": fleet.lean_lost_proofs,
        **{purpose: spec.to_json() for purpose, spec in specs.items()},
    }


def lean_of_hosts(options: FleetOptions, dist: DistInfo) -> AbstractContextManager[Fleet]:
    """Open the Lean processes of this rank; none on rank 0, whose hosts start their own, unless servers are named."""
    if dist.is_main and not options.lean.servers:
        return Fleet([], None, "embedded NanoLean on each host of the cluster", EMBEDDED_LEAN)
    return open_fleet(options, dist)


# -- Evaluations with a cluster --------------------------------------------------------------------------------------


@contextmanager
def opened_over_hosts(
    options: ClusterOptions, args: argparse.Namespace, targets: Sequence[Target]
) -> Iterator[EvalCommand]:
    """Open an evaluation as `opened` does; rank 0's attempts are made on the hosts of a cluster.

    Searches there ask its policy, or replicas of it; whole proofs are written by its model, or replicas, and verified
    there. Raises UserError as `RayNodes` does, and for policies that are not a model.
    """
    if args.policy != "model" or args.policy_server is not None:
        raise UserError("--cluster needs --model-path: its hosts ask the model of this process")
    if args.retry_timeouts and not getattr(args, "whole_proofs", False):
        log.info("tactics that ran out of time are not tried once more: hosts of a cluster do not tell of them")
        args.retry_timeouts = False
    with ExitStack() as stack:
        command = stack.enter_context(opened(args, targets, lean_of_hosts))
        if command.dist.is_main:
            nodes = RayNodes(options.cluster or "auto")
            stack.callback(nodes.close)
            log.info("cluster: Ray at %s, %d nodes", nodes.address, len(nodes.alive()))
            evaluating = _Evaluating(nodes, options, command, stack)
            command.pool_maker = evaluating.make_pool
            if options.policy_replicas:
                command.spread_writer = partial(writing_replicas, nodes, options.policy_replicas)
        yield command


@contextmanager
def writing_replicas(nodes: RayNodes, count: int, model: LanguageModel) -> Iterator[LanguageModel]:
    """Have replicas on the nodes write the texts of a model, as long as the context lasts.

    Raises UserError for a model that is none of ours.
    """
    own = model.model if isinstance(model, CachedModel) else model
    if not isinstance(own, OwnModel):
        raise UserError(f"--policy-replicas: replicas are made of checkpoints of ours, {model.name} is none")
    replicas = Replicas(nodes, lambda: Network.of(own.engine), count)
    spread = ReplicatedModel(own, replicas.listed, replicas.token, count)
    try:
        replicas.publish(0)
        log.info("replicas that write: %s", ", ".join(replicas.listed()) or "none yet, the command does until then")
        yield model.over(spread) if isinstance(model, CachedModel) else spread
    finally:
        spread.close()
        replicas.close()


@contextmanager
def spread_over_cluster(options: ClusterOptions, model: LanguageModel) -> Iterator[LanguageModel]:
    """Have replicas on the nodes of a cluster write the texts of a model. Raises UserError as `RayNodes` does."""
    nodes = RayNodes(options.cluster or "auto")
    try:
        with writing_replicas(nodes, options.policy_replicas, model) as spread:
            yield spread
    finally:
        nodes.close()


class _Evaluating:
    """Makes the pools of an evaluation, one for each model."""

    def __init__(self, nodes: RayNodes, options: ClusterOptions, command: EvalCommand, stack: ExitStack) -> None:
        self._nodes, self._options, self._stack, self._command = nodes, options, stack, command
        self._token = new_token()
        specs: dict[Purpose, ProverSpec] = {purpose: command.spec() for purpose in PURPOSES}
        self._made = host_config(command.fleet_options, specs, self._token)

    def make_pool(self, policy: Policy, **waits: Any) -> HostPool:
        """Serve the policy to hosts, or send them texts to verify. Raises UserError if it is not of one model alone."""
        cpus, count = self._options.prover_cpus, self._options.policy_replicas
        if self._command.whole.whole_proofs:
            hosts = HostOptions({**self._made, "worker": self._command.verifier()}, cpus)
            return HostPool(self._nodes, hosts, **waits)
        if not isinstance(policy, TacticPolicy | TextPolicy):
            raise UserError(
                "--cluster: hosts ask one model alone, without premises, a model of values or of the steps remaining"
            )
        if count and not isinstance(policy, TacticPolicy):
            raise UserError("--policy-replicas: replicas are made of checkpoints of ours, with the prompts of theirs")

        def network() -> Network:
            assert isinstance(policy, TacticPolicy)
            return Network.of(policy.engine, policy.sampling)

        replicas = Replicas(self._nodes, network, count, lambda: policy, self._token)
        self._stack.callback(replicas.close)
        replicas.publish(0)
        hosts = HostOptions(self._made, cpus, replicas.addresses)
        return HostPool(self._nodes, hosts, look=replicas.look if count else lambda: None, **waits)
