"""Hosts whose Lean and policy are scripted, and take a moment for each theorem; the rest of them is real."""

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
import torch

from nanoproof.actors.fleet import Fleet
from nanoproof.cluster import driver, host
from nanoproof.cluster.nodes import Lost, Node, RayNodes
from nanoproof.common.files import read_jsonl
from nanoproof.data.theorems import theorem_sets as sets
from nanoproof.evaluation import command
from nanoproof.inference.language_model import TextSample
from nanoproof.lean.types import Branch, Theorem
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.search.policy import Suggestion
from scripts import prover_eval
from tests.evaluation import scripted_whole
from tests.fakes.lean import ScriptedLean
from tests.rl import small
from tests.training import small as small_network

SECONDS = 0.2


class Session(ScriptedLean):
    def start(self, theorem: Theorem) -> Branch:
        time.sleep(SECONDS)
        return super().start(theorem)


class Client(small.ScriptedClient):
    def lease(self, timeout: float) -> Session:
        return Session(small.SCRIPT)


class Policy(host.ReplicatedPolicy):
    """Knows the script; no server is asked."""

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        return small.policy().suggest(state_text, seed)


class ScriptedHost(host.ProverHost):
    """Proves every theorem."""

    policy_class = Policy

    def _open_slots(self, config: Mapping[str, Any]) -> list[Any]:
        return [Client() for _ in range(config["slots"])]


# -- Whole proofs ------------------------------------------------------------------------------------------------------


def writing_network() -> tuple[GPT, Tokenizer]:
    """A network whose samples are the same in every batch, and its tokenizer."""
    words = small_network.tokenizer()
    model = small_network.model(words, sequence_len=96)
    model.compute_dtype = torch.float64
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0.0, 0.2)
    return model, words


def texts(answers: Sequence[Sequence[TextSample]]) -> list[list[tuple[str, int, bool]]]:
    """What was written; batch mates change the last bits of log-probabilities, which are float32."""
    return [[(sample.text, sample.num_tokens, sample.finished) for sample in samples] for samples in answers]


class VerifyingHost(host.ProverHost):
    """Verifies whole proofs, as `scripted_whole` does."""

    def _open_slots(self, config: Mapping[str, Any]) -> list[Any]:
        return [scripted_whole.Client() for _ in range(config["slots"])]


class ScriptedNodes(RayNodes):
    host_class = ScriptedHost


class VerifyingNodes(RayNodes):
    host_class = VerifyingHost


class LocalReplica:
    """A replica in this process, whose methods are called as those of Ray's actors are."""

    def __init__(self, nodes: "LocalNodes", replica: host.PolicyReplica) -> None:
        self.replica = replica
        self.load, self.address = (
            SimpleNamespace(remote=partial(nodes.call, self, call)) for call in (replica.load, replica.address)
        )

    def close(self) -> None:
        self.replica._policy.close()  # first, so that nobody waits for an answer
        self.replica._endpoint.close()


class LocalNodes:
    """A cluster of two nodes without Ray: what runs there are threads of this process.

    `kill` loses a host, as it is, and `kill_replica` a replica, which answers no more.
    """

    host_class: ClassVar[type[host.ProverHost]] = VerifyingHost
    made: ClassVar[list["LocalNodes"]] = []

    def __init__(self, address: str) -> None:
        self.address, self.here = address, "127.0.0.1"
        self.hosts: list[host.ProverHost] = []
        self.replicas: list[LocalReplica] = []
        self.dead: set[Any] = set()
        self.lost = 0
        """Answers that a dead host owed."""
        self._calls: dict[Future[Any], Any] = {}
        self._threads = ThreadPoolExecutor(8)
        self.made.append(self)

    def alive(self) -> list[Node]:
        return [Node("a", "127.0.0.1", 2, {}), Node("b", "127.0.0.1", 2, {}), Node("head", "127.0.0.1", 0, {})]

    def start_host(self, node: Node, cpus: int, config: dict[str, Any]) -> host.ProverHost:
        self.hosts.append(self.host_class(config))
        return self.hosts[-1]

    def start_replica(self, node: Node, gpus: int, model: GPT, *what: Any) -> LocalReplica:
        self.replicas.append(LocalReplica(self, host.PolicyReplica(copy.deepcopy(model), *what)))
        return self.replicas[-1]

    def put(self, value: Any) -> Any:
        return value

    def call(self, one: Any, method: Callable[..., Any], *given: Any) -> Future[Any]:
        promise = self._threads.submit(method, *given)
        self._calls[promise] = one
        return promise

    def exchange(self, one: host.ProverHost, given: dict[str, Any]) -> Future[Any]:
        return self.call(one, one.exchange, given)

    def ready(self, promises: Sequence[Future[Any]], seconds: float) -> list[Future[Any]]:
        return [*wait(promises, seconds, FIRST_COMPLETED).done]

    def result(self, promise: Future[Any], seconds: float | None = None) -> Any:
        one = self._calls.pop(promise)
        if one in self.dead:
            self.lost += 1
            raise Lost("the actor died")
        return promise.result()

    def kill(self) -> None:
        """Lose the first host."""
        self.dead.add(self.hosts[0])

    def kill_replica(self) -> None:
        """Lose the first replica."""
        self.dead.add(self.replicas[0])
        self.replicas[0].close()

    def end(self, one: Any) -> None:
        one.close()

    def close(self) -> None:
        self._threads.shutdown()


def script_evaluations(patch: pytest.MonkeyPatch, nodes: Any) -> None:
    """Have `prover_eval` run over scripts, on the hosts of `nodes` where it has a cluster."""
    patch.setitem(sets.DATASETS, "scripted", scripted_whole.scripted_theorems)
    patch.setattr(command, "open_fleet", scripted_whole.open_fleet)
    patch.setattr(command, "open_language_model", scripted_whole.open_model)
    patch.setattr(command, "whole_proof_prompts", scripted_whole.prompts)
    patch.setattr(prover_eval, "targets_of", scripted_whole.targets_of)
    patch.setattr(scripted_whole.Lean, "met", set())
    script_cluster(patch, nodes)


def script_cluster(patch: pytest.MonkeyPatch, nodes: Any) -> None:
    """Have commands use `nodes` where they have a cluster, with a Lean that has a name and no certificates."""
    patch.setattr(driver, "RayNodes", nodes)
    patch.setattr(driver, "lean_of_hosts", lambda *_: Fleet([], None, "scripted", "scripted"))
    patch.setattr(driver, "RESTART_SECONDS", 0.0)
    patch.setattr(LocalNodes, "made", [])


def evaluate(
    path: Path, *more: object, cluster: str | None = None, replicas: int = 0
) -> dict[tuple[str, int], dict[str, Any]]:
    """Evaluate the scripted model; returns its samples, without the times and without which of equal ones was first.

    Samples of a statement that Lean refuses come without what was written: the model is asked for those alone that are
    begun before the refusal is known, and which these are is for the threads.
    """
    where = [] if cluster is None else ["--cluster", cluster, "--policy-replicas", replicas]
    line = scripted_whole.words(path, "--policy", "model", "--model-path", "x", *where, *more)
    assert prover_eval.main(line) == 0
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for record in read_jsonl(path / "results.jsonl"):
        key = record["theorem"]["id"], record.get("sample", 0)
        assert key not in found
        record.get("counts", {}).pop("copies", None)
        dropped = {"seconds"}
        if record["stop_reason"] == "TheoremRejected":
            dropped |= {"text", "seed", "counts"}
        found[key] = {name: value for name, value in record.items() if name not in dropped}
    return dict(sorted(found.items()))


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
