"""Replicas of the policy behind HTTP: new weights drop no question, and a replica that is gone is not waited for.

What they write is what the network writes by itself, also where one of them is lost meanwhile.
"""

import copy
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import torch

from nanoproof.cluster import driver, host
from nanoproof.cluster.host import PolicyReplica, ReplicatedModel, ReplicatedPolicy
from nanoproof.cluster.nodes import Node
from nanoproof.inference.language_model import GenerationOptions
from nanoproof.inference.own_model import OwnModel
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.tokenizer import train_tokenizer
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.search.policy import BadState, PolicyAccessDenied, PolicyClosed
from tests.cluster.scripted_host import texts
from tests.helpers import free_port

TOKEN = "of-this-run"
SAMPLING = SamplingConfig(num_sampled_tactics=3, max_gen_tokens=6)


def network(tokenizer, seed):
    torch.manual_seed(seed)
    config = GPTConfig(vocab_size=tokenizer.vocab_size, depth=1, aspect_ratio=16, head_dim=16, sequence_len=64)
    model = GPT.create(config, "cpu", torch.float64)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0.0, 0.2)
    return model


@pytest.fixture(scope="module")
def world():
    tokenizer = train_tokenizer(["rw [h]", "exact h", "simp", "Nat.add_comm"], 460)
    first, second = network(tokenizer, 0), network(tokenizer, 1)
    replica = PolicyReplica(copy.deepcopy(first), tokenizer, SAMPLING, False, "127.0.0.1", TOKEN, 0)
    yield replica, first.state_dict(), second.state_dict()
    replica._endpoint.close()
    replica._policy.close()


def test_new_weights_are_swapped_in_while_questions_are_under_way_and_none_is_lost(world):
    replica, first, second = world
    policy = ReplicatedPolicy(TOKEN)
    policy.use([replica.address()])
    before, steps, errors = policy.suggest("⊢ p", 1), [], []

    def ask(number):
        try:
            for turn in range(6):
                policy.suggest(f"⊢ p{number} {turn}", turn)
                steps.append(policy.step)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    assert replica.load(7, second) == 7
    for thread in threads:
        thread.join()
    after = policy.suggest("⊢ p", 1)
    assert errors == [] and len(steps) == 24 and steps[-1] == 7
    assert after != before
    assert replica.load(8, first) == 8
    assert policy.suggest("⊢ p", 1) == before and policy.step == 8


def test_a_replica_that_is_gone_is_passed_over(world):
    replica, *_ = world
    policy = ReplicatedPolicy(TOKEN)
    policy.use([f"127.0.0.1:{free_port()}", replica.address()])
    policy._replicas[0].patience_seconds = 0.0
    assert policy.suggest("⊢ p", 3).value >= 1


def test_without_the_token_of_the_run_nothing_is_answered(world):
    replica, *_ = world
    policy = ReplicatedPolicy("another")
    policy.use([replica.address()])
    with pytest.raises(PolicyAccessDenied):
        policy.suggest("⊢ p", 0)


def test_questions_wait_while_there_is_no_replica_until_the_host_closes():
    policy, ended = ReplicatedPolicy(TOKEN), []

    def ask():
        with pytest.raises(PolicyClosed):
            policy.suggest("⊢ p", 0)
        ended.append(True)

    thread = threading.Thread(target=ask)
    thread.start()
    assert thread.is_alive()
    policy.close()
    thread.join(30)
    assert ended == [True]


# -- Texts -----------------------------------------------------------------------------------------------------------

WRITING = GenerationOptions(num_samples=3, max_new_tokens=12, stop=("m",))
PROMPTS = [f"theorem t{number} : {'p' * number}<|tactic|>" for number in range(6)]


@pytest.fixture
def own(world):
    replica, *_ = world
    model = OwnModel("sft/run", copy.deepcopy(replica._model), replica._policy.engine.tokenizer)
    yield model
    model.close()


@pytest.fixture
def lost():
    """A replica that ends in the midst of its first request: it says which models it has, and then breaks off."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            body = b'{"data": [{"id": "policy"}]}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self):
            asked.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(b": the model is at work\n\n")
            self.close_connection = True

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def written_by(model, options=WRITING):
    try:
        return model.generate(PROMPTS, options, range(len(PROMPTS)))
    finally:
        model.close()


def test_replicas_write_what_the_network_writes_by_itself(world, own):
    replica, *_ = world
    alone = own.generate(PROMPTS, WRITING, range(len(PROMPTS)))
    answered = replica.status()["answered"]
    spread = ReplicatedModel(own, lambda: [replica.address()], TOKEN, 2)
    assert (spread.name, spread.batches, spread.num_tokens("simp")) == ("sft/run", 2, own.num_tokens("simp"))
    written = written_by(spread)
    assert texts(written) == texts(alone)
    assert [each.logprob for each in written[0]] == pytest.approx([each.logprob for each in alone[0]], rel=1e-6)
    assert replica.status()["answered"] - answered == len(PROMPTS)
    assert {sample.finished for samples in alone for sample in samples} == {True, False}
    assert any(sample.text for samples in alone for sample in samples)


def test_what_a_lost_replica_was_asked_another_one_writes_or_else_this_process(world, own, lost, monkeypatch):
    replica, *_ = world
    monkeypatch.setattr(host, "ONE_REPLICA_SECONDS", 0.0)
    alone = texts(own.generate(PROMPTS, WRITING, range(len(PROMPTS))))
    address, asked = lost
    answered = replica.status()["answered"]
    assert texts(written_by(ReplicatedModel(own, lambda: [address, replica.address()], TOKEN))) == alone
    assert asked and replica.status()["answered"] - answered == len(PROMPTS)
    nobody = f"127.0.0.1:{free_port()}"
    assert texts(written_by(ReplicatedModel(own, lambda: [address, nobody], TOKEN))) == alone
    assert texts(written_by(ReplicatedModel(own, lambda: [], TOKEN))) == alone


def test_what_the_network_cannot_write_is_an_error_and_no_lost_replica(world, own):
    replica, *_ = world
    with pytest.raises(BadState, match="this model writes at most 62 tokens"):
        written_by(
            ReplicatedModel(own, lambda: [replica.address()], TOKEN), options=GenerationOptions(1, max_new_tokens=64)
        )


def test_a_model_that_is_closed_writes_nothing_more(world, own):
    spread = ReplicatedModel(own, lambda: [], TOKEN)
    spread.close()
    with pytest.raises(PolicyClosed):
        spread.generate(PROMPTS, WRITING, range(len(PROMPTS)))


class Actor:
    """A replica as Ray has it: each call is a promise, here its name."""

    def __init__(self, name):
        self.name = name
        self.load = self.address = self

    def remote(self, *given):
        return self.name


class StoppedNodes:
    """Nodes with replicas of which those in `stopped` answer nothing, as Ray's do whose process is stopped."""

    def __init__(self):
        self.stopped, self.ended = set(), []

    def ready(self, promises, seconds):
        return [promise for promise in promises if promise not in self.stopped]

    def result(self, promise, seconds=None):
        return promise

    def end(self, actor):
        self.ended.append(actor.name)


@pytest.fixture
def two_replicas():
    cluster = StoppedNodes()
    replicas = driver.Replicas(cluster, lambda: None, 0)
    for name in ("a", "b"):
        replicas._replicas[Actor(name)] = Node(name, name, 1, {}), name
    return cluster, replicas


def test_a_replica_that_is_stopped_is_noticed_and_one_that_is_slow_is_kept(two_replicas, monkeypatch):
    cluster, replicas = two_replicas
    cluster.stopped.add("a")
    replicas._look()
    replicas._look()
    assert cluster.ended == [] and len(replicas._replicas) == 2
    cluster.stopped.clear()  # it answers the question that it was asked first
    replicas._look()
    cluster.stopped.add("b")
    replicas._look()
    monkeypatch.setattr(driver, "HANG_SECONDS", -1.0)
    replicas._look()
    assert cluster.ended == ["b"] and [address for _, address in replicas._replicas.values()] == ["a"]


def test_new_weights_wait_for_all_stopped_replicas_together(two_replicas):
    cluster, replicas = two_replicas
    cluster.stopped |= {"a", "b"}
    for actor in list(replicas._replicas):
        replicas._swapped(actor.name, actor, time.monotonic() - 1.0)
    assert cluster.ended == ["a", "b"] and not replicas._replicas
