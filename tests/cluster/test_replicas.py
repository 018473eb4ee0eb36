"""Replicas of the policy behind HTTP: new weights drop no question, and a replica that is gone is not waited for."""

import copy
import threading

import pytest
import torch

from nanoproof.cluster.host import PolicyReplica, ReplicatedPolicy
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.tokenizer import train_tokenizer
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.search.policy import PolicyAccessDenied, PolicyClosed
from tests.helpers import free_port

TOKEN = "of-this-run"
SAMPLING = SamplingConfig(num_sampled_tactics=3, max_gen_tokens=6)


def network(tokenizer, seed):
    torch.manual_seed(seed)
    model = GPT.create(
        GPTConfig(vocab_size=tokenizer.vocab_size, depth=1, aspect_ratio=16, head_dim=16, sequence_len=64)
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0.0, 0.2)
    return model


@pytest.fixture(scope="module")
def world():
    tokenizer = train_tokenizer(["rw [h]", "exact h", "simp", "Nat.add_comm"], 460)
    first, second = network(tokenizer, 0), network(tokenizer, 1)
    replica = PolicyReplica(copy.deepcopy(first), tokenizer, SAMPLING, "127.0.0.1", TOKEN, 0)
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
