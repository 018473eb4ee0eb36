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
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np
import torch

from nanoproof.actors.fleet import STEPS_NOT_SECONDS
from nanoproof.actors.remote import ProverSpec, Purpose, RelayPool, from_plain
from nanoproof.common.web import http_server
from nanoproof.inference.language_model import GenerationOptions, TextSample
from nanoproof.inference.model_options import EndpointOptions, EngineLimits
from nanoproof.inference.openai_model import OpenAIModel
from nanoproof.inference.own_model import OwnModel
from nanoproof.lean.client import ClientConfig, FleetServer, LeanFleet
from nanoproof.lean.embedded import EmbeddedServers, start_embedded
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy.client import RemotePolicy
from nanoproof.policy.models import model_policy
from nanoproof.policy.protocol import SamplingConfig, ServiceOptions
from nanoproof.policy.served_models import ServedModels, served_policy
from nanoproof.policy.server import PolicyService, ServedPolicy, create_app
from nanoproof.policy.tactic_policy import TacticPolicy
from nanoproof.search.policy import (
    BadState,
    PolicyBusy,
    PolicyClosed,
    PolicyError,
    PolicyTimeout,
    PolicyUnreachable,
    Suggestion,
)

log = logging.getLogger(__name__)

RETRY_SECONDS = 0.5
ONE_REPLICA_SECONDS = 2.0
"""How long a replica that does not answer is asked again before another one is."""
WRITE_SECONDS = 86_400.0
"""So long a replica may write at a text; while it does, it says so every ten seconds."""
SILENCE_SECONDS = 60.0
"""A replica that says nothing for so long, as its node is gone without a word, is left."""
MOST_REPLICAS = 5
"""A prompt at which so many replicas fail is written by the command."""
REQUESTS = 64
"""Prompts for which texts are being written at a time."""
HTTP_THREADS = 256
WRITER = "policy"
"""The name under which a replica's network writes texts."""

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
            # Each exchange brings the list, about once a second, and it is nearly always the same.
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
                    suggestion = replica.suggest(state_text, seed)
                except (PolicyUnreachable, PolicyBusy, PolicyTimeout):  # asking again gives the same answer
                    continue
                self.step = self.step if replica.step is None else replica.step
                return suggestion
            time.sleep(RETRY_SECONDS)
        raise PolicyClosed("the host is closing")

    def close(self) -> None:
        """Let those that wait go."""
        self._closed = True


class ReplicatedModel:
    """A network of ours whose texts replicas of it write. Any number of threads may share it.

    A prompt goes to the replica with the fewest, and where that fails to others; what none of them answers this process
    writes. The samples are the same wherever they are written, as far as the engine's are on another machine.
    """

    def __init__(self, own: OwnModel, addresses: Callable[[], Sequence[str]], token: str, batches: int = 1) -> None:
        """`own` is the network in this process, which stays open; `addresses` lists the servers that are there.

        `batches` says for how many batches at a time they suffice.
        """
        self.own, self.batches = own, max(1, batches)
        self.name, self.identity, self.special = own.name, own.identity, own.special
        self.addresses, self._token, self._closed = addresses, token, False
        self._lock = threading.Lock()
        self._writers: dict[str, OpenAIModel] = {}
        self._busy: Counter[str] = Counter()
        self._threads = ThreadPoolExecutor(REQUESTS, "replicated-model")

    def generate(
        self, prompts: Sequence[str], options: GenerationOptions, seeds: Sequence[int]
    ) -> list[list[TextSample]]:
        """Continue prompts, in order. Raises what the network in this process raises, and PolicyClosed."""
        futures: list[Future[list[TextSample]]] = []
        try:
            for prompt, seed in zip(prompts, seeds, strict=True):
                futures.append(self._threads.submit(self._write, prompt, options, seed))
            return [future.result() for future in futures]
        # `submit` to threads that were shut down raises RuntimeError, and what waited for one of them is cancelled.
        except (CancelledError, RuntimeError) as error:
            raise PolicyClosed(f"{self.name} was closed") from error
        finally:
            for future in futures:
                future.cancel()

    def _write(self, prompt: str, options: GenerationOptions, seed: int) -> list[TextSample]:
        failed: set[str] = set()
        while len(failed) < MOST_REPLICAS and (address := self._take(failed)) is not None:
            try:
                return self._writer(address).generate([prompt], options, [seed])[0]
            except BadState:  # the network in this process knows why
                break
            except PolicyError as error:
                log.warning("the replica at %s wrote nothing, another one is asked: %s", address, error)
                failed.add(address)
            finally:
                with self._lock:
                    self._busy[address] -= 1
        if self._closed:
            raise PolicyClosed(f"{self.name} was closed")
        return self.own.generate([prompt], options, [seed])[0]

    def _take(self, failed: set[str]) -> str | None:
        """Choose a replica that has not failed, and count it as busy."""
        there = self.addresses()
        with self._lock:
            left = [] if self._closed else [address for address in there if address not in failed]
            if not left:
                return None
            address = min(left, key=lambda other: self._busy[other])
            self._busy[address] += 1
        return address

    def _writer(self, address: str) -> OpenAIModel:
        """Return the client of a replica. Raises PolicyError if it does not answer."""
        with self._lock:
            writer = self._writers.get(address)
        if writer is not None:
            return writer
        # Outside of the lock, as a client asks its server at once. Of two that threads make together the first stays.
        options = EndpointOptions(requests=REQUESTS, timeout=WRITE_SECONDS, patience=ONE_REPLICA_SECONDS, stream=True)
        client = OpenAIModel(
            f"http://{address}/v1",
            WRITER,
            options,
            special=self.special,
            token=self._token,
            silence_seconds=SILENCE_SECONDS,
        )
        with self._lock:
            writer = self._writers.setdefault(address, client)
        if writer is not client or self._closed:
            client.close()
        return writer

    def score(self, prompt: str, continuation: str) -> float:
        """Return the log-probability of a continuation, by the network in this process."""
        return self.own.score(prompt, continuation)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return a vector for each text, by the network in this process."""
        return self.own.embed(texts)

    def num_tokens(self, text: str) -> int:
        """Return how many tokens a text has."""
        return self.own.num_tokens(text)

    def close(self) -> None:
        """Ask no more; calls that wait get PolicyClosed."""
        with self._lock:
            self._closed = True
            writers = list(self._writers.values())
        self._threads.shutdown(wait=False, cancel_futures=True)
        for writer in writers:
            writer.close()


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
        # Nobody waits on this node for the pool: what its actors fail with goes to the driver with the next exchange.
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
            reports, self._told = self._told, []
        return {"told": reports, "status": {**self._pool.status(), "pid": os.getpid()}}

    def close(self) -> None:
        """Stop the actors and the Lean server."""
        self._pool.stop()
        self._policy.close()
        self._pool.join()
        if self._embedded is not None:
            self._embedded.close()


# -- Replicas of the policy ------------------------------------------------------------------------------------------


class PolicyEndpoint:
    """A policy behind the usual HTTP, on a free port; a network of ours also writes texts."""

    def __init__(self, policy: ServedPolicy, address: str, token: str, step: int) -> None:
        """Listen on `address`; only who has the `token` is answered. `step` is that of the weights."""
        options = ServiceOptions(
            address=address,
            port=0,
            max_requests=4096,
            max_open_states=65536,
            max_samples=65536,
            longest_text=65536,
            longest_seconds=WRITE_SECONDS,
        )
        http_server.allow_many_connections()
        self._listener = http_server.bind(options)
        host, port = self._listener.getsockname()[:2]
        self.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self.policy = policy
        self._models: ServedModels | None = None
        if isinstance(policy, TacticPolicy):
            self._models = ServedModels([served_policy(WRITER, WRITER, policy)], HTTP_THREADS)
        self._service = PolicyService(policy, options, {"step": step}, self._models)
        threads = ServiceOptions(max_requests=HTTP_THREADS)  # requests wait in sockets, not in threads, beyond that
        self._server = http_server.HttpServer(create_app(self._service, token), threads, self._listener)
        self._thread = threading.Thread(target=self._server.run, name="policy-http", daemon=True)
        self._thread.start()

    def changed(self, step: int) -> None:
        """Note that the policy has the weights of a step: answers say so."""
        self._service.model["step"] = step

    def close(self) -> None:
        """Stop listening; those that wait are sent away."""
        self._service.drain()
        if self._models is not None:
            self._models.close()
        self._server.close()


class PolicyReplica:
    """A copy of the network, which answers hosts and takes new weights by their revision."""

    def __init__(
        self,
        model: GPT,
        tokenizer: Tokenizer,
        sampling: SamplingConfig,
        batch_invariant: bool,
        address: str,
        token: str,
        step: int = -1,
    ) -> None:
        """Serve a network at `address` of this node, with weights of no known step until `load`.

        `batch_invariant` is that of `EngineLimits`, where this node computes on a CPU.
        """
        on_gpu = torch.cuda.is_available()
        self._model = model.to("cuda" if on_gpu else "cpu").eval()
        limits = EngineLimits(batch_invariant=batch_invariant and not on_gpu)
        self._policy = model_policy(self._model, tokenizer, sampling, limits)
        self._endpoint = PolicyEndpoint(self._policy, address, token, step)
        self.step = step

    def address(self) -> str:
        """Return where it listens."""
        return self._endpoint.address

    def load(self, step: int, weights: Mapping[str, Any]) -> int:
        """Swap weights in between two steps of the engine; requests wait, and none is lost. Returns the step."""
        # The driver may bring a step twice: as it starts a replica, and as it publishes.
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
    return secrets.token_hex(32)
