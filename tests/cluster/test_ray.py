"""A real Ray cluster, a process for each node: what runs there is killed, joins and leaves; every attempt once."""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from nanoproof.actors.remote import ProverSpec
from nanoproof.cluster import driver, host
from nanoproof.cluster.driver import HostOptions, HostPool
from nanoproof.cluster.nodes import RayNodes
from nanoproof.common.errors import UserError
from nanoproof.evaluation.evaluate import EvaluationSource, Workload
from nanoproof.inference.language_model import GenerationOptions
from nanoproof.inference.own_model import OwnModel
from nanoproof.prover.prover import ProverOptions
from nanoproof.search.config import SearchConfig
from tests.cluster.scripted_host import (
    ScriptedNodes,
    VerifyingNodes,
    evaluate,
    lines,
    script_evaluations,
    texts,
    writing_network,
)
from tests.helpers import is_gone, wait_for
from tests.rl.small import theorems

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed (the extra `cluster`)"),
]

THEOREMS = 150
START_SECONDS, TRIES = 120.0, 3
STARTING = -10
"""The priority (`nice`) of nodes that start."""
ENVIRONMENT = {
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": "0123456789abcdef" * 4,
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_prestart_worker_first_driver": "0",
    "RAY_health_check_period_ms": "1000",
    "RAY_raylet_start_wait_time_s": "100",
}


class RayProcess:
    """`ray start --block`, and all that it starts."""

    def __init__(self, folder: Path, *words: str) -> None:
        """Wait until it is up.

        Ray gives the agents of a node 15 seconds, whatever the machine is doing, and stays after their end. So a node
        is a session, to which Linux gives as much as to any other one, and starts with more where that is allowed.
        """
        self._log = Path(tempfile.mkstemp(suffix=".log", dir=folder)[1])
        always = ("--num-cpus=2", "--object-store-memory=80000000", "--disable-usage-stats", "--block")
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ray.scripts.scripts", "start", *always, *words],
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **ENVIRONMENT},
                start_new_session=True,
            )
        usual = psutil.Process().nice()
        self._set_priority(STARTING)
        deadline = time.monotonic() + START_SECONDS
        while "Ray runtime started" not in self.output():
            if self._process.poll() is not None or self._raylet_is_dead() or time.monotonic() > deadline:
                self.end()
                raise RuntimeError(self.output()[-500:])
            time.sleep(0.2)
        self._set_priority(usual)

    def started(self) -> list[psutil.Process]:
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(self._process.pid).children(recursive=True)
        return []

    def _raylet_is_dead(self) -> bool:
        with suppress(psutil.NoSuchProcess):
            return any(one.status() == psutil.STATUS_ZOMBIE and one.name() == "raylet" for one in self.started())
        return False

    def _set_priority(self, nice: int) -> None:
        with suppress(OSError):  # of the session as a whole
            Path(f"/proc/{self._process.pid}/autogroup").write_text(str(min(nice, 0)))
        for process in [psutil.Process(self._process.pid), *self.started()]:
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                process.nice(nice)

    def output(self) -> str:
        return self._log.read_text()

    def end(self) -> None:
        """End it and what it started, at once."""
        for process in [self._process, *self.started()]:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.wait(60)


class Cluster:
    """A head without processors, and nodes with two each; all ask for a token."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.nodes: list[RayProcess] = []
        words = ("--head", "--port=0", "--num-cpus=0", "--include-dashboard=false", f"--temp-dir={folder}")
        self._head = self._start(*words)
        (self.address,) = set(re.findall(r"ray start --address='([^']+)'", self._head.output()))

    def _start(self, *words: str) -> RayProcess:
        for _ in range(TRIES - 1):
            with suppress(RuntimeError):  # too slow where others have the processors
                return RayProcess(self._folder, *words)
        return RayProcess(self._folder, *words)

    def add_node(self) -> None:
        self.nodes.append(self._start(f"--address={self.address}"))

    def end(self) -> None:
        for node in [*self.nodes, self._head]:
            node.end()


@pytest.fixture(scope="module")
def cluster():
    folder = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))  # names of sockets in it may not be long
    made = None
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**ENVIRONMENT, "CHECKED": str(folder / "checked"), "SLOW": "0.03"}.items():
            patch.setenv(name, value)
        try:
            made = Cluster(folder)
            made.add_node()
            made.add_node()
            yield made
        except RuntimeError as error:
            pytest.skip(f"no Ray cluster starts here at present: {error}")
        finally:
            if made is not None:
                made.end()
            shutil.rmtree(folder, ignore_errors=True)


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
        cluster.add_node()
        wait(lambda: states()["joined"] == 4)
        cluster.nodes.pop(0).end()
        wait(lambda: states()["gone"] == 2)
        wait(source.finished)
    finally:
        pool.stop()
        pool.join()
        nodes.close()
    assert Counter(one.theorem.id for one in attempts) == Counter(f"t{number}" for number in range(THEOREMS))
    assert {one.outcome for one in attempts} == {"proven"}
    assert pool.given_again > 0


@pytest.mark.timeout(600)
def test_a_host_that_is_stopped_is_given_up_and_its_attempts_are_made_elsewhere(cluster, monkeypatch):
    monkeypatch.setattr(driver, "HANG_SECONDS", 10.0)
    spec = ProverSpec(SearchConfig(), ProverOptions(keep_tree=False)).to_json()
    config = {"lean_servers": [], "lean_token": None, "client": {}, "policy_token": "t", "lost_proofs": 0}
    events, attempts = [], []
    nodes = ScriptedNodes(cluster.address)
    options = HostOptions({**config, "collect": spec, "evaluate": spec}, 2)
    pool = HostPool(nodes, options, report=lambda kind, **fields: events.append(fields))
    source = EvaluationSource("stop", Workload(theorems(THEOREMS), range(THEOREMS), 8, 0), attempts.append)
    try:
        pool.set_source(source)
        wait_for(lambda: len(pool.links) == 2 and all(link.attempts for link in pool.links), seconds=250)
        victim = pool.links[0].status["pid"]
        os.kill(victim, signal.SIGSTOP)
        wait_for(lambda: pool.wait(lambda: True) or source.finished(), lambda: (events, pool.snapshot()), 250)
        wait_for(lambda: is_gone(victim), seconds=60)  # Ray ends it, so that its processors are free
    finally:
        pool.stop()
        pool.join()
        nodes.close()
    assert Counter(one.theorem.id for one in attempts) == Counter(f"t{number}" for number in range(THEOREMS))
    assert [event["reason"] for event in events if event["state"] == "gone"] == ["it hangs: no answer for 10 s"]


@pytest.mark.timeout(600)
def test_whole_proofs_are_verified_by_hosts_of_which_one_is_killed(cluster, monkeypatch, nanoproof_home, tmp_path):
    script_evaluations(monkeypatch, VerifyingNodes)
    checked, out, pools = Path(os.environ["CHECKED"]), tmp_path / "out", []
    alone = evaluate(tmp_path / "alone", "--samples", 40)
    checked.unlink()

    def make(*what, **more):
        pools.append(HostPool(*what, **more))
        return pools[-1]

    def at_work():
        """The hosts that have texts to verify; one that joined late may not have said anything yet."""
        return [link.status["pid"] for link in pools[0].links if link.given and "pid" in link.status]

    def kill():
        wait_for(lambda: len(lines(out / "results.jsonl")) >= 20 and at_work(), "results", 250)
        os.kill(at_work()[0], signal.SIGKILL)

    monkeypatch.setattr(driver, "HostPool", make)
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    assert evaluate(out, "--samples", 40, cluster=cluster.address) == alone
    killer.join()
    times = Counter(lines(checked))
    assert len(times) == 200 and pools[0].given_again > 0
    assert times.total() - 200 <= pools[0].given_again, "what had a verdict was verified again"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_replica_writes_what_the_network_does_and_another_follows_one_that_is_lost(cluster, monkeypatch, how):
    monkeypatch.setattr(driver, "HANG_SECONDS", 10.0)
    monkeypatch.setattr(host, "SILENCE_SECONDS", 5.0)

    def replicas():
        started = [process for node in cluster.nodes for process in node.started()]
        return [one for one in started if "PolicyReplica" in " ".join(one.cmdline())]

    own, nodes = OwnModel("sft/run", *writing_network()), RayNodes(cluster.address)
    asked = ["theorem a : p\n", "theorem b : q\n"], GenerationOptions(4, 10), [3, 1]
    try:
        alone = texts(own.generate(*asked))
        with driver.writing_replicas(nodes, 1, own) as spread:
            (first,) = spread.addresses()
            assert texts(spread.generate(*asked)) == alone
            (victim,) = replicas()
            victim.send_signal(how)
            assert texts(spread.generate(*asked)) == alone
            wait_for(lambda: spread.addresses() not in ([], [first]), spread.addresses, 250)
            assert texts(spread.generate(*asked)) == alone
    finally:
        nodes.close()
        own.close()


def test_a_cluster_that_is_not_there_is_an_error_of_one_line(monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    with pytest.raises(UserError, match=r"--cluster 127\.0\.0\.1:1: no Ray cluster answers there"):
        ScriptedNodes("127.0.0.1:1")
