"""What hosts do besides searches: the verdicts are those without a cluster, and a lost host takes none with it."""

import json
import threading
from collections import Counter
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace

import pytest

from nanoproof.actors.fleet import FleetOptions
from nanoproof.actors.remote import ProverSpec
from nanoproof.cluster import driver, host
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json
from nanoproof.evaluation import command
from nanoproof.inference.language_model import GenerationOptions, batches_at_once
from nanoproof.inference.own_model import OwnModel
from nanoproof.lean.types import Theorem
from nanoproof.policy.models import model_policy
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.policy.text_policy import TextPolicy
from nanoproof.prover.prover import ProverOptions
from nanoproof.prover.whole_proof import Candidate, Verification, Verifier
from nanoproof.rl.options import ClusterOptions
from nanoproof.search.config import SearchConfig
from tests.cluster.scripted_host import (
    LocalNodes,
    evaluate,
    lines,
    script_cluster,
    script_evaluations,
    texts,
    writing_network,
)
from tests.evaluation import scripted_whole
from tests.helpers import wait_for

THEOREM = Theorem("theorem t : True := by\n  sorry", "d", "t")


@pytest.fixture
def scripted(monkeypatch, nanoproof_home, tmp_path):
    script_evaluations(monkeypatch, LocalNodes)
    monkeypatch.setenv("CHECKED", str(tmp_path / "checked"))


def test_whole_proofs_have_the_verdicts_that_they_have_without_a_cluster(scripted, tmp_path, monkeypatch):
    for name, value in {"COPIES": "20", "CRASHES": "0.05", "TIMEOUTS": "0.05", "REFUSED": "t3"}.items():
        monkeypatch.setenv(name, value)
    more = ("--samples", 20, "--samples-at-once", 8, "--repair", 1)
    alone = evaluate(tmp_path / "alone", *more)
    once = Counter(lines(tmp_path / "checked"))
    scripted_whole.Lean.met.clear()
    spread = evaluate(tmp_path / "spread", *more, cluster="h:1")
    assert spread == alone
    assert {each["outcome"] for each in alone.values()} == {"proven", "unproven", "error"}
    assert any(each["counts"].get("repairs") for each in alone.values() if "counts" in each)
    assert Counter(lines(tmp_path / "checked")) - once == once
    ours, theirs = (read_json(tmp_path / name / "summary.json") for name in ("spread", "alone"))
    for summary in (ours, theirs):
        for depends_on_threads in ("copies", "tokens"):  # of the statement that is refused, as in `evaluate`
            assert summary["whole_proofs"].pop(depends_on_threads) > 0
    assert ours["whole_proofs"] == theirs["whole_proofs"]
    assert ours["settings"]["whole_proofs"] and ours["settings"] == theirs["settings"]


def test_a_lost_host_takes_no_sample_with_it_and_what_had_a_verdict_is_not_verified_again(
    scripted, tmp_path, monkeypatch
):
    monkeypatch.setenv("SLOW", "0.02")
    out, known = tmp_path / "out", []

    def kill():
        wait_for(lambda: len(lines(out / "results.jsonl")) >= 20, "results", 60)
        (nodes,) = LocalNodes.made
        nodes.kill()
        known.extend(lines(out / "results.jsonl"))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    found = evaluate(out, "--samples", 20, cluster="h:1")
    killer.join()
    assert len(found) == 100 and LocalNodes.made[0].lost
    right = {key for key, each in found.items() if f"exact {scripted_whole.RIGHT}" in each["text"]}
    assert {key for key, each in found.items() if each["outcome"] == "proven"} == right
    assert {each["outcome"] for each in found.values()} == {"proven", "unproven"}
    checked = Counter(lines(tmp_path / "checked"))
    assert len(checked) == 100 and checked.total() <= 100 + 2  # two were under way
    before = {json.loads(line)["text"].split(" -- ")[1] for line in known}
    again = {text.split(" -- ")[1] for text, count in checked.items() if count > 1}
    assert not before & again


@pytest.fixture(scope="module")
def network():
    return writing_network()


def test_replicas_write_the_proofs_that_the_command_would_and_a_lost_one_takes_none_with_it(
    scripted, tmp_path, monkeypatch, network
):
    limits = []

    @contextmanager
    def opened(spec, dist, texts, limits_given):
        limits.append(limits_given)
        model = OwnModel(spec, *network)
        yield model
        model.close()

    monkeypatch.setattr(command, "open_language_model", opened)
    monkeypatch.setattr(host, "ONE_REPLICA_SECONDS", 0.1)
    monkeypatch.setenv("SLOW", "0.01")
    more = ("--samples", 24, "--samples-at-once", 4, "--theorems-at-once", 2, "--proof-max-new-tokens", 12)
    alone, out = evaluate(tmp_path / "alone", *more), tmp_path / "out"

    def kill():
        wait_for(lambda: len(lines(out / "results.jsonl")) >= 10, "results", 60)
        (nodes,) = LocalNodes.made
        nodes.kill_replica()

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    assert evaluate(out, *more, "--cpu-dtype", "float32", cluster="h:1", replicas=2) == alone
    killer.join()
    assert [given.batch_invariant for given in limits] == [False, True]
    first, second, *_ = LocalNodes.made[0].replicas
    written = [each.replica.status()["answered"] for each in (first, second)]
    assert min(written) > 0 and sum(written) <= 5 * 6, "a prompt has four samples, and each is written once"
    assert len({each["text"] for each in alone.values()}) > 60


def test_searches_on_hosts_ask_the_replicas_where_there_are_some(network):
    words, nodes = network[1], LocalNodes("h:1")
    spec = ProverSpec(SearchConfig(), ProverOptions())
    whole = SimpleNamespace(whole_proofs=False)
    asking = SimpleNamespace(spec=lambda: spec, fleet_options=FleetOptions(), whole=whole)
    options = ClusterOptions(cluster="h:1", policy_replicas=1)
    with ExitStack() as stack, model_policy(network[0], words, SamplingConfig(max_gen_tokens=8)) as policy:
        made = driver._Evaluating(nodes, options, asking, stack)
        pool = made.make_pool(policy)
        stack.callback(pool.join)
        stack.callback(pool.stop)
        (replica,) = nodes.replicas
        asked = host.ReplicatedPolicy(made._token)
        asked.use([replica.replica.address()])
        assert asked.suggest("⊢ p", 5) == policy.suggest("⊢ p", 5)
        with pytest.raises(UserError, match="with the prompts of theirs"):
            made.make_pool(TextPolicy.__new__(TextPolicy))


class SlowThird(LocalNodes):
    """Its third replica starts when it may."""

    def __init__(self, address):
        super().__init__(address)
        self.may_start = threading.Event()

    def result(self, promise, seconds=None):
        if len(self.replicas) == 3 and self._calls[promise] is self.replicas[2]:
            self.may_start.wait(60)
        return super().result(promise, seconds)


def test_new_weights_do_not_wait_for_a_replica_that_starts_and_it_has_them_in_the_end(network):
    nodes = SlowThird("h:1")
    replicas = driver.Replicas(nodes, lambda: driver.Network(*network, SamplingConfig(max_gen_tokens=8)), 2)
    try:
        replicas.publish(0)
        gone = replicas.listed()
        nodes.kill_replica()
        wait_for(lambda: replicas.listed() != gone and len(nodes.replicas) == 3, replicas.listed)
        replicas.publish(1)
        assert nodes.replicas[1].replica.step == 1 and len(replicas.listed()) == 1
        nodes.may_start.set()
        wait_for(lambda: len(replicas.listed()) == 2 and nodes.replicas[2].replica.step == 1, replicas.listed)
    finally:
        nodes.may_start.set()
        replicas.close()


class ManyAtOnce(LocalNodes):
    """Answers for no replica before all are started."""

    def result(self, promise, seconds=None):
        wait_for(lambda: len(self.replicas) == 2, lambda: "one waits for the other", 0.1)
        return super().result(promise, seconds)


def test_conjectures_are_written_by_replicas_as_by_the_network_alone(monkeypatch, network):
    script_cluster(monkeypatch, ManyAtOnce)
    own = OwnModel("sft/run", *network)
    asked = ["theorem a : p\n", "theorem b : q\n", "theorem c : r\n"], GenerationOptions(5, 10), [3, 1, 2]
    options = ClusterOptions(cluster="h:1", policy_replicas=2)
    try:
        with driver.spread_over_cluster(options, own) as spread:
            assert batches_at_once(spread) == 2
            assert texts(spread.generate(*asked)) == texts(own.generate(*asked))
            answered = [each.replica.status()["answered"] for each in LocalNodes.made[0].replicas]
            assert sorted(answered) == [1, 2]
    finally:
        own.close()


def test_a_verification_survives_the_way():
    candidate = Candidate(THEOREM, "exact right", 3, 2**47 + 1, 7, 1, False)
    told = json.loads(json.dumps(Verification(Verifier("m"), candidate, 4.0).to_json()))
    made = Verifier("m").work(THEOREM, told)
    assert made._candidate == candidate and made._patience == 4.0
    made.take(["unsolved goals"])
    assert made.errors == ("unsolved goals",) == tuple(made.found())
