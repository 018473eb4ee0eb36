"""Reinforcement learning from end to end: embedded servers, and a network on a data set that is learned in seconds."""

import pytest

from nanoproof.common.files import read_json, read_jsonl
from nanoproof.model.checkpoint import load_model
from nanoproof.policy.tactic_policy import TacticPolicy
from nanoproof.rl import __main__ as rl
from nanoproof.rl.learner import Learner
from tests.helpers import wait_for
from tests.rl import tiny


@pytest.mark.nightly
def test_a_network_proves_with_real_servers_learns_from_it_and_is_evaluated(folder, tmp_path):
    path = tmp_path / "rl"
    assert rl.main(["--model-path", str(folder / "sft"), *tiny.rl_words(folder, path, 2)]) == 0
    metrics = list(read_jsonl(path / "metrics.jsonl"))
    assert [record["step"] for record in metrics] == [1, 2]
    assert all(record["proofs"] > 0 and record["transitions"] >= 8 for record in metrics)
    found = [event for event in read_jsonl(path / "events.jsonl") if event["kind"] == "evaluation"]
    assert [event["step"] for event in found] == [0, 2] and found[-1]["solved"] > 0
    assert load_model(path)[2]["step"] == 2
    assert read_json(path / "args.json")["num_steps"] == 2
    assert "device" in read_json(path / "meta.json")["decisions"]
    assert read_json(path / "status_r0.json")["phase"] == "stopped"
    assert list((path / "evals").glob("*/proofs/*.lean"))
    assert len(list((path / "evals").glob("2_*/proofs/*.ndjson"))) == found[-1]["certificates"] == found[-1]["solved"]


def test_an_asynchronous_run_proves_while_it_trains_and_goes_on_with_the_weights_of_each_step(
    folder, tmp_path, monkeypatch
):
    # The compiled backend has its copy of the weights outside of torch, where nothing could be compared.
    monkeypatch.setenv("NANOPROOF_ENGINE_ISA", "none")
    path, policies, update, answered = tmp_path / "rl", [], Learner.update, []

    def update_beside_inference(learner, *args):
        (policy,) = policies
        losses = update(learner, *args)
        before = policy.stats.answered
        wait_for(lambda: policy.stats.answered > before)  # in training: nothing of the loop runs but this
        answered.append(policy.stats.answered - before)
        assert any(not same for same in agree(policy, learner))
        return losses

    def agree(policy, learner):
        ours = policy.engine._backend._network.parameters()
        return [mine.equal(theirs) for mine, theirs in zip(ours, learner.model.parameters(), strict=True)]

    def renew(policy):
        real_renew(policy)
        assert all(agree(policy, policy.engine))

    init, real_renew = TacticPolicy.__init__, TacticPolicy.renew
    monkeypatch.setattr(TacticPolicy, "__init__", lambda self, *a, **k: (policies.append(self), init(self, *a, **k))[1])
    monkeypatch.setattr(TacticPolicy, "renew", renew)
    monkeypatch.setattr(Learner, "update", update_beside_inference)
    words = ["--model-path", str(folder / "sft"), *tiny.rl_words(folder, path, 2), "--asynchronous"]
    assert rl.main(words) == 0
    assert len(answered) == 4 and min(answered) > 0
    metrics = list(read_jsonl(path / "metrics.jsonl"))
    assert all(record["proofs"] > 0 and record["errors"] == record["stale"] == 0 for record in metrics)
    status = read_json(path / "status_r0.json")
    assert all(actor["seconds"]["paused"] == 0 < actor["seconds"]["model"] for actor in status["actors"])
    found = [event for event in read_jsonl(path / "events.jsonl") if event["kind"] == "evaluation"]
    assert [event["step"] for event in found] == [0, 2] and found[-1]["solved"] > 0
