"""What runs on the nodes of a cluster: hosts, which make attempts, and replicas of the policy, which they ask by HTTP.

Neither knows of Ray: `driver` makes actors of these classes. A host searches with threads, as a rank does, and has a
Lean server on its own node, or servers that it is given. A replica is our engine behind the usual policy server; new
weights are swapped in between two steps of the engine, while requests wait.
"""

import logging
import os
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch

from nanoproof.actors.fleet import STEPS_NOT_SECONDS
from nanoproof.actors.remote import ProverSpec, Purpose, RelayPool, from_plain
from nanoproof.common.web import http_server
from nanoproof.lean.client import ClientConfig, FleetServer, LeanFleet
from nanoproof.lean.embedded import EmbeddedServers, start_embedded
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy.client import RemotePolicy
from nanoproof.policy.factory import model_policy
from nanoproof.policy.protocol import SamplingConfig, ServiceOptions
from nanoproof.policy.server import PolicyService, ServedPolicy, create_app
from nanoproof.search.policy import PolicyBusy, PolicyClosed, PolicyTimeout, PolicyUnreachable, Suggestion

log = logging.getLogger(__name__)

RETRY_SECONDS = 0.5
ONE_REPLICA_SECONDS = 2.0
"""How long a replica that does not answer is asked again before another one is."""

# -- The policy that a host asks -------------------------------------------------------------------------------------


class ReplicatedPolicy:
    """Several policy servers with the same weights as one policy: the first that answers is kept, in the order given.

    While none is there, questions wait: the driver makes new ones and tells where they are. Safe for many threads.
    """

    def __init__(self, token: str) -> None:
        self._token, self._lock = token, threading.Lock()
        self._replicas: list[RemotePolicy] = []
        self._closed = False
        self.step = 0

    def use(self, addresses: Sequence[str]) -> None:
        """Ask these servers from now on, the first one first."""
        with self._lock:
            known = {replica.address: replica for replica in self._replicas}
            if [*known] == [*addresses]:
                return
            self._replicas = [
                known.get(address) or RemotePolicy(address, self._token, patience_seconds=ONE_REPLICA_SECONDS)
                for address in addresses
            ]

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        """Suggest tactics and a value. Raises PolicyClosed, and what a server says of the state."""
        while not self._closed:
            with self._lock:
                replicas = list(self._replicas)
            for replica in replicas:
                try:
                    found = replica.suggest(state_text, seed)
                except (PolicyUnreachable, PolicyBusy, PolicyTimeout):  # asking again gives the same answer
                    continue
                self.step = self.step if replica.step is None else replica.step
                return found
            time.sleep(RETRY_SECONDS)
        raise PolicyClosed("the host is closing")

    def close(self) -> None:
        """Let those that wait go."""
        self._closed = True


# -- Hosts -----------------------------------------------------------------------------------------------------------


class ProverHost:
    """Actors with their Lean processes on one node, which take tasks and give attempts back by `exchange`."""

    policy_class: ClassVar[type[ReplicatedPolicy]] = ReplicatedPolicy

    def __init__(self, config: Mapping[str, Any]) -> None:
        """`config` has `slots`, how many attempts it works on at a time; the addresses `lean_servers` (none: a server
        of its own), `lean_token` and `client`; `policy_token`; the specs `collect` and `evaluate`; `lost_proofs`; and
        maybe `worker`, what makes a `Worker`: without it there are searches only.

        Raises UserError if there is no Lean.
        """
        self._embedded: EmbeddedServers | None = None
        slots = self._open_slots(config)
        self._policy = self.policy_class(config["policy_token"])
        self._told: list[dict[str, Any]] = []
        self._arrived = threading.Condition()
        specs: dict[Purpose, ProverSpec] = {
            "collect": ProverSpec.from_json(config["collect"]),
            "evaluate": ProverSpec.from_json(config["evaluate"]),
        }
        self._pool = RelayPool(
            slots,
            self._policy,
            lambda purpose, asked: specs["collect" if purpose == "collect" else "evaluate"].make(
                asked, lambda: f"step {self._policy.step}"
            ),
            self._tell,
            config["lost_proofs"],
            config["worker"]() if config.get("worker") else None,
        )
        threading.Thread(target=self._watch, name="watch", daemon=True).start()

    def _open_slots(self, config: Mapping[str, Any]) -> list[FleetServer]:
        """Return the Lean server of each actor; starts one if none is given."""
        token, client = config["lean_token"], from_plain(ClientConfig, config["client"])
        addresses = list(config["lean_servers"])
        if not addresses:
            self._embedded = start_embedded(config["slots"])
            addresses, token, client = self._embedded.addresses, self._embedded.token, STEPS_NOT_SECONDS
        servers = LeanFleet(addresses, token, client).servers
        return [servers[number % len(servers)] for number in range(config["slots"])]

    def _tell(self, what: dict[str, Any]) -> None:
        with self._arrived:
            self._told.append(what)
            self._arrived.notify()

    def _watch(self) -> None:
        try:
            self._pool.wait(lambda: self._pool.closing, 1.0)
        except Exception as error:
            self._tell({"failed": f"{type(error).__name__}: {error}"})

    def exchange(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Take `tasks` and the addresses of `replicas`, nearest first; return what was `told` since, and the `status`.

        Waits for an attempt that ends, at most for the `seconds` given.
        """
        self._policy.use(given["replicas"])
        for task in given["tasks"]:
            self._pool.give(task)
        deadline = time.monotonic() + given["seconds"]
        with self._arrived:
            while not self._told and (left := deadline - time.monotonic()) > 0:
                self._arrived.wait(left)
            told, self._told = self._told, []
        return {"told": told, "status": {**self._pool.status(), "pid": os.getpid()}}

    def close(self) -> None:
        """Stop the actors and the Lean server."""
        self._pool.stop()
        self._policy.close()
        self._pool.join()
        if self._embedded is not None:
            self._embedded.close()


# -- Replicas of the policy ------------------------------------------------------------------------------------------


class PolicyEndpoint:
    """A policy behind the usual HTTP, on a free port."""

    def __init__(self, policy: ServedPolicy, address: str, token: str, step: int) -> None:
        """Listen on `address`; only who has the `token` is answered. `step` is that of the weights."""
        options = ServiceOptions(address=address, port=0, max_requests=4096, max_open_states=65536)
        http_server.allow_many_connections()
        self._listener = http_server.bind(options)
        host, port = self._listener.getsockname()[:2]
        self.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self.policy = policy
        self._service = PolicyService(policy, options, {"step": step})
        threads = ServiceOptions(max_requests=256)  # requests wait in sockets, not in threads, beyond that
        self._server = http_server.HttpServer(create_app(self._service, token), threads, self._listener)
        self._thread = threading.Thread(target=self._server.run, name="policy-http", daemon=True)
        self._thread.start()

    def changed(self, step: int) -> None:
        """Note that the policy has the weights of a step: answers say so."""
        self._service.model["step"] = step

    def close(self) -> None:
        """Stop listening; those that wait are sent away."""
        self._service.drain()
        self._server.close()


class PolicyReplica:
    """A copy of the network, which answers hosts and takes new weights by their revision."""

    def __init__(
        self, model: GPT, tokenizer: Tokenizer, sampling: SamplingConfig, address: str, token: str, step: int = -1
    ) -> None:
        """Serve a network at `address` of this node, with weights of no known step until `load`."""
        self._model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        self._policy = model_policy(self._model, tokenizer, sampling)
        self._endpoint = PolicyEndpoint(self._policy, address, token, step)
        self.step = step

    def address(self) -> str:
        """Return where it listens."""
        return self._endpoint.address

    def load(self, step: int, weights: Mapping[str, Any]) -> int:
        """Swap weights in between two steps of the engine; requests wait, and none is lost. Returns the step."""
        if step != self.step:
            self._policy.pause()
            try:
                self._model.load_state_dict(weights)
                self.step = step
                self._endpoint.changed(step)
            finally:
                self._policy.resume()
        return self.step

    def status(self) -> dict[str, Any]:
        """Return step, address and how many states were answered."""
        return {"step": self.step, "address": self._endpoint.address, "answered": self._policy.stats.answered}


def new_token() -> str:
    """Return a token for the policy servers of one run."""
    return secrets.token_urlsafe(32)
