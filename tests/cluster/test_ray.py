"""A real Ray cluster of three nodes: hosts and nodes are killed, join and leave; every attempt once."""

import importlib.util
import os
import signal
from collections import Counter

import pytest

from nanoproof.actors.remote import ProverSpec
from nanoproof.cluster.driver import HostOptions, HostPool
from nanoproof.common.errors import UserError
from nanoproof.evaluation.evaluate import EvaluationSource, Workload
from nanoproof.prover.prover import ProverOptions
from nanoproof.search.config import SearchConfig
from tests.cluster.scripted_host import ScriptedNodes
from tests.helpers import is_gone, wait_for
from tests.rl.small import theorems

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed (the extra `cluster`)"),
]

MEMORY = 80 * 2**20
THEOREMS = 150


@pytest.fixture(scope="module")
def cluster():
    """A head without processors, and two nodes with two each; all ask for a token."""
    environment = {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": "0123456789abcdef" * 4,
        "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        from ray.cluster_utils import Cluster

        node = {"object_store_memory": MEMORY}
        made = None
        try:
            head = {**node, "num_cpus": 0, "include_dashboard": False}
            made = Cluster(initialize_head=True, head_node_args=head)
            made.nodes = [made.add_node(**node, num_cpus=2) for _ in range(2)]
            made.node_options = {**node, "num_cpus": 2}
        except Exception as error:  # Ray gives a node 15 to 30 seconds, whatever the machine is doing
            if made is not None:
                made.shutdown()
            pytest.skip(f"no Ray cluster starts here at present: {error}")
        yield made
        made.shutdown()


@pytest.mark.timeout(600)
def test_every_attempt_is_taken_once_whatever_dies_joins_or_leaves(cluster):
    spec = ProverSpec(SearchConfig(), ProverOptions(keep_tree=False)).to_json()
    config = {"lean_servers": [], "lean_token": None, "client": {}, "policy_token": "t", "lost_proofs": 0}
    events, attempts = [], []
    nodes = ScriptedNodes(cluster.address)
    options = HostOptions({**config, "collect": spec, "evaluate": spec}, 2)
    pool = HostPool(nodes, options, report=lambda kind, **fields: events.append(fields))
    source = EvaluationSource("ray", Workload(theorems(THEOREMS), range(THEOREMS), 8, 0), attempts.append)

    def states():
        return Counter(event["state"] for event in events)

    def wait(condition):
        wait_for(lambda: pool.wait(lambda: True) or condition(), lambda: (events, pool.snapshot()["hosts"]), 250)

    try:
        pool.set_source(source)
        wait(lambda: len(pool.links) == 2 and all(link.attempts for link in pool.links))
        victim = pool.links[0].status["pid"]
        os.kill(victim, signal.SIGKILL)
        wait(lambda: states()["gone"] == 1 and states()["joined"] == 3)
        assert is_gone(victim)
        cluster.add_node(**cluster.node_options)
        wait(lambda: states()["joined"] == 4)
        cluster.remove_node(cluster.nodes[1], allow_graceful=False)
        wait(lambda: states()["gone"] == 2)
        wait(source.finished)
    finally:
        pool.stop()
        pool.join()
        nodes.close()
    assert Counter(one.theorem.id for one in attempts) == Counter(f"t{number}" for number in range(THEOREMS))
    assert {one.outcome for one in attempts} == {"proven"}
    assert pool.given_again > 0


def test_a_cluster_that_is_not_there_is_an_error_of_one_line(monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    with pytest.raises(UserError, match=r"--cluster 127\.0\.0\.1:1: no Ray cluster answers there"):
        ScriptedNodes("127.0.0.1:1")
