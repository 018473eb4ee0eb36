"""The driver's own code over a simulated cluster: hosts that join, die, leave and come back; every attempt once."""

import threading
from collections import Counter

import pytest

from nanoproof.cluster import driver, nodes
from nanoproof.cluster.driver import HostOptions, HostPool, place_of_replica
from nanoproof.cluster.nodes import Node, RayNodes, lean_label, require_refusal, require_token
from nanoproof.common.errors import UserError
from nanoproof.evaluation.evaluate import EvaluationSource, Workload
from nanoproof.lean.types import Theorem
from tests.fakes.simulated_cluster import SimulatedNodes, nodes_of
from tests.helpers import free_port

_names = iter(range(1000))
CONFIG = {"lean_servers": ["lean:1"], "lost_proofs": 0}


class Manual(HostPool):
    """Makes its turns when it is told to."""

    def _run(self):
        pass


class World:
    def __init__(self, nodes, theorems=40, each=1, **options):
        self.nodes, self.events, self.attempts = SimulatedNodes(nodes, each), [], []
        self.pool = Manual(
            self.nodes, HostOptions(CONFIG, 4), report=lambda kind, **fields: self.events.append(fields), **options
        )
        tried = [Theorem(f"theorem t{n} : True := by sorry", "s", f"t{n}") for n in range(theorems)]
        work = Workload(tried, range(theorems), 8, 0)
        self.source = EvaluationSource(f"hosts {next(_names)}", work, self.attempts.append)
        self.pool.set_source(self.source)

    def turns(self, count):
        for _ in range(count):
            self.look()

    def look(self):
        self.pool._next_look = 0.0
        self.pool.turn(0.0)

    def finish(self):
        for _ in range(400):
            self.look()
            if self.source.finished():
                return Counter(attempt.theorem.id for attempt in self.attempts)
        raise AssertionError("not finished")


def once(count):
    return Counter(f"t{number}" for number in range(count))


def test_every_node_gets_a_host_with_an_attempt_for_each_processor():
    small, labelled = Node("b", "10.0.0.2", 2, {}), Node("c", "10.0.0.3", 8, {"nanoproof-slots": "3"})
    world = World([Node("a", "10.0.0.1", 64, {}), small, labelled, Node("head", "10.0.0.4", 0, {})], each=-1)
    world.turns(1)
    assert [(host.node.id, host.config["cpus"], len(host.tasks)) for host in world.nodes.hosts] == [
        ("a", 4, 4),
        ("b", 2, 2),
        ("c", 4, 3),
    ]
    assert world.pool.size == 9


def test_a_node_may_name_the_lean_servers_of_its_host():
    world = World(
        [
            Node("a", "10.0.0.1", 2, {"nanoproof-lean": lean_label(["here:1", "here:2"])}),
            Node("b", "10.0.0.2", 2, {}),
        ]
    )
    world.turns(1)
    assert [host.config["lean_servers"] for host in world.nodes.hosts] == [["here:1", "here:2"], ["lean:1"]]


def test_every_attempt_is_taken_once():
    assert World(nodes_of(3, 4)).finish() == once(40)


def test_a_dead_host_s_attempts_go_to_others_and_its_node_gets_another(monkeypatch):
    monkeypatch.setattr(driver, "RESTART_SECONDS", 0.0)
    world = World(nodes_of(2, 4), each=-1)
    world.turns(1)
    victim = world.nodes.hosts[0]
    victim.alive, world.nodes.each = False, 1
    assert world.finish() == once(40)
    assert world.pool.given_again == 4 and victim in world.nodes.ended
    assert [event["state"] for event in world.events] == ["joined", "joined", "gone", "joined"]
    assert world.events[2]["given_again"] == 4


def test_a_host_that_is_stopped_is_given_up_and_its_attempts_go_to_others(monkeypatch):
    monkeypatch.setattr(driver, "RESTART_SECONDS", 0.0)
    world = World(nodes_of(2, 4), each=-1)
    world.turns(2)
    victim = world.nodes.hosts[0]
    victim.stopped, world.nodes.each = True, 1
    world.turns(3)
    assert victim.alive, "a machine that swaps takes its time"
    monkeypatch.setattr(driver, "HANG_SECONDS", -1.0)
    for host in world.pool._hosts.values():
        host.deadline -= 60.0
    world.look()
    monkeypatch.setattr(driver, "HANG_SECONDS", 60.0)
    assert victim in world.nodes.ended and "it hangs: no answer for" in world.events[-1]["reason"]
    assert world.finish() == once(40) and world.pool.given_again >= 4


def test_a_host_that_never_starts_is_given_up(monkeypatch):
    monkeypatch.setattr(driver, "START_SECONDS", 0.0)
    world = World(nodes_of(2, 4))
    start = world.nodes.start_host

    def start_stopped(*what):
        host = start(*what)
        host.stopped = host.node is world.nodes.nodes[0]
        return host

    world.nodes.start_host = start_stopped
    assert world.finish() == once(40)
    assert [event["host"][:8] for event in world.events if event["state"] == "gone"][:1] == ["10.0.0.0"]


@pytest.mark.parametrize(
    ("label", "value"),
    [
        *(("nanoproof-slots", value) for value in ("", "three", "0", "-1", "4097", "1.5", "²", "1" * 5000)),
        *(("nanoproof-lean", value) for value in ("here", "here_", "_8000", "here_0", "here_99999", "a_1__", "a:1")),
    ],
)
def test_a_node_with_a_label_that_means_nothing_is_left_out_with_a_line(label, value, caplog):
    good = Node("good", "10.0.0.1", 2, {"nanoproof-slots": "1", "nanoproof-lean": "here_8000"})
    world = World([Node("bad", "10.0.0.2", 2, {label: value}), good])
    assert world.finish() == once(40)
    assert {host.node.id for host in world.nodes.hosts} == {"good"}
    assert caplog.text.count("node bad (10.0.0.2) is left out: its label") == 1 and label in caplog.text


def test_a_node_that_leaves_takes_its_host_along_and_one_that_joins_brings_one():
    world = World(nodes_of(2, 4), each=-1)
    world.turns(1)
    left = world.nodes.nodes.pop(0)
    world.nodes.nodes.append(Node("new", "10.0.9.9", 4, {}))
    world.nodes.each = 1
    assert world.finish() == once(40)
    assert [event["state"] for event in world.events] == ["joined", "joined", "gone", "joined"]
    assert left.id[:8] in world.events[2]["host"] and "has left" in world.events[2]["reason"]


def test_without_any_node_the_tasks_wait_for_the_first_host(caplog):
    world = World([Node("head", "10.0.0.1", 0, {})])
    world.turns(3)
    assert world.attempts == [] and caplog.text.count("attempts wait for one (ray start --address)") == 1
    assert world.pool.out_of_reach()[1] == "nobody works for this run"
    world.nodes.nodes = nodes_of(1, 4)
    assert world.finish() == once(40)


def test_a_node_whose_hosts_never_work_is_left_out(monkeypatch, caplog):
    monkeypatch.setattr(driver, "RESTART_SECONDS", 0.0)
    world = World(nodes_of(1, 4), each=-1)
    start = world.nodes.start_host

    def start_dead(*what):
        host = start(*what)
        host.alive = False
        return host

    world.nodes.start_host = start_dead
    world.turns(driver.MAX_STARTS + 3)
    assert len(world.nodes.hosts) == driver.MAX_STARTS
    assert "is left out" in caplog.text


def test_new_weights_are_brought_to_the_hosts_before_attempts_count_as_theirs():
    brought = []
    world = World(nodes_of(1, 4), weights=brought.append, max_staleness=0)
    world.source.purpose = "collect"
    world.nodes.each = -1
    world.turns(1)
    world.pool.weights_changed(1)
    world.nodes.each = 4
    world.turns(1)
    assert brought == [1] and (world.attempts, world.pool.stale) == ([], 4)
    assert world.finish() == once(40)


def test_attempts_that_begin_while_new_weights_are_on_their_way_count_as_of_those_before():
    begun = []

    def bring(revision):
        begun.append((world.pool.take_now()[1].revision, world.pool.revision))

    world = World(nodes_of(1, 4), weights=bring)
    world.pool.weights_changed(7)
    world.pool.weights_changed(8)
    assert begun == [(7, 7), (7, 8)], "nothing answers before the first weights"
    assert world.pool.take_now()[1].revision == 8


@pytest.mark.parametrize(
    ("addresses", "mode", "refused"),
    [
        (["127.0.0.1", "::1", "localhost"], None, False),
        (["127.0.0.1", "10.0.0.7"], None, True),
        (["gpu-node"], None, True),
        (["10.0.0.7", "gpu-node"], "token", False),
        (["10.0.0.7"], "disabled", True),
    ],
)
def test_a_cluster_beyond_loopback_needs_a_token(monkeypatch, addresses, mode, refused):
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    if mode:
        monkeypatch.setenv("RAY_AUTH_MODE", mode)
    if refused:
        with pytest.raises(UserError, match="RAY_AUTH_MODE=token"):
            require_token(addresses)
    else:
        require_token(addresses)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import os, sys; sys.exit(3 if os.environ['RAY_AUTH_MODE'] == 'disabled' else 0)", None),
        ("pass", "lets in who has no token"),
        ("raise RuntimeError('gone')", "cannot be told: RuntimeError: gone"),
        ("import time; time.sleep(60)", "cannot be told: it did not answer for 1 s"),
    ],
)
def test_the_head_itself_has_to_refuse_who_has_no_token(monkeypatch, code, message):
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setattr(nodes, "_ASK_WITHOUT_TOKEN", code)
    monkeypatch.setattr(nodes, "ASK_SECONDS", 1.0 if "sleep" in code else 60.0)
    if message is None:
        require_refusal("10.0.0.7:6379")
    else:
        with pytest.raises(UserError, match=message):
            require_refusal("10.0.0.7:6379")


class HeadlessRay:
    """Ray whose head answers no more."""

    def __init__(self):
        self.calls, self.over = [], threading.Event()

    def nodes(self):
        self.over.wait()

    def shutdown(self):
        self.calls.append("shutdown")

    def kill(self, actor):
        self.calls.append("kill")


def test_a_head_that_is_gone_ends_the_run_and_ray_is_not_asked_for_more(monkeypatch):
    monkeypatch.setattr(nodes, "HEAD_SECONDS", 0.05)
    cluster = object.__new__(RayNodes)
    cluster._ray, cluster._gone = HeadlessRay(), False
    cluster.end("host")
    with pytest.raises(UserError, match=r"head of the Ray cluster is gone .no answer .*--resume-from"):
        cluster.alive()
    cluster.end("host")
    cluster.close()
    assert cluster._ray.calls == ["kill"]
    cluster._ray.over.set()


def test_within_returns_raises_and_gives_up():
    assert nodes.within(30.0, lambda: 7) == 7
    with pytest.raises(KeyError):
        nodes.within(30.0, lambda: {}["a"])
    forever = threading.Event()
    assert nodes.within(0.05, forever.wait) is None
    forever.set()


@pytest.mark.parametrize(
    ("told", "short"),
    [
        (
            "The actor died unexpectedly. class_name: ProverHost pid: 7 Worker exit detail: Worker unexpectedly exits "
            "with a connection error code 2. End of file. Some common causes include: (1) the OOM killer",
            "Worker unexpectedly exits with a connection error code 2. End of file.",
        ),
        ("ip: 10.0.0.1\n The actor died because its node has died.", "The actor died because its node has died."),
        ("ValueError:  x\n y", "ValueError: x y"),
    ],
)
def test_what_ray_says_of_a_loss_is_shortened(told, short):
    assert nodes.short_reason(told) == short


def test_replicas_take_gpus_first_and_spread_over_nodes():
    def place(*of_nodes, used=()):
        found = place_of_replica([Node(name, "h", cpus, {}, gpus) for name, cpus, gpus in of_nodes], used)
        return found and (found[0].id, found[1])

    learner, cpu, gpu = ("learner", 0, 8), ("c", 8, 0), ("g", 8, 2)
    assert place(learner, cpu, gpu) == ("g", 1)
    assert place(learner, cpu, gpu, used=("g",)) == ("g", 1)
    assert place(learner, cpu, gpu, used=("g", "g")) == ("c", 0)
    assert place(cpu, ("d", 8, 0), used=("c",)) == ("d", 0)
    assert place(learner) is None


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("auto:", "give HOST:PORT of the cluster's head, or auto"),
        ("6379", "give HOST:PORT"),
        ("127.0.0.1:99999", "no Ray cluster answers there"),
        ("127.0.0.1:PORT", "no Ray cluster answers there .*refused"),
    ],
)
def test_an_address_where_nothing_listens_is_an_error_at_once(address, message):
    with pytest.raises(UserError, match=message):
        nodes.require_answer(address.replace("PORT", str(free_port())), "127.0.0.1")
