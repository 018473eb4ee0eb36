"""Actors over real sockets, with Lean servers that die, come back or stall: each costs its own actors only."""

import json
import os
import sys
import time
from contextlib import ExitStack

import pytest

from nanoproof.actors import actor as actor_pool
from nanoproof.actors.actor import ActorPool
from nanoproof.evaluation.evaluate import EvaluationSource, Workload
from nanoproof.lean.client import ClientConfig, LeanFleet
from nanoproof.lean.server.backend import Backend
from nanoproof.lean.types import Theorem
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.search.config import SearchConfig
from nanoproof.search.policy import Suggestion
from tests.fakes.chaos_proxy import ChaosProxy
from tests.helpers import SCRIPTED_REPL, wait_for
from tests.lean.conftest import SCRIPT, start_server

pytestmark = pytest.mark.slow

CONFIG = ClientConfig(tactic_seconds=0.3, command_seconds=0.5, connect_seconds=0.5, slack_seconds=0.2)
SLOTS = 2
DEADLINE = 60.0


class Slowly:
    """Suggests a tactic that proves nothing, after a moment."""

    def suggest(self, state_text, seed=0):
        time.sleep(0.01)
        return Suggestion(("constructor", "nonsense"), (-0.5, -0.5), (1, 1), 3.0)


class World:
    """Two servers behind proxies, whose faults are set by their numbers, and actors on both."""

    def __init__(self, folder, stack):
        (folder / "script.json").write_text(json.dumps(SCRIPT))
        command = (sys.executable, "-S", str(SCRIPTED_REPL), str(folder / "script.json"), os.devnull)
        backend = Backend(command, imports=(), start_seconds=20.0, can_prune=True)
        self.faults = [None, None]
        self.proxies = []
        for number in range(2):
            server = stack.enter_context(start_server(backend, max_processes=SLOTS + 2, local=False))
            proxy = ChaosProxy(f"127.0.0.1:{server.port}", lambda path, number=number: self.faults[number])
            stack.callback(proxy.close)
            self.proxies.append(proxy)
        self.told = []
        self.kept = []
        self.stack = stack

    def start(self, count, servers=(0, 1)):
        """Actors on these servers, at work on `count` theorems."""
        fleet = LeanFleet([self.proxies[number].address for number in servers], config=CONFIG)
        slots = [server for server in fleet.servers for _ in range(SLOTS)]
        make = lambda purpose, policy: Prover(policy, SearchConfig(), ProverOptions(keep_tree=False))  # noqa: E731
        self.pool = ActorPool(slots, Slowly(), make, report_server=lambda *what: self.told.append(what))
        self.stack.callback(self.pool.join)
        self.stack.callback(self.pool.stop)
        theorems = [
            Theorem(f"theorem t{n} (p q : Prop) (hp : p) (hq : q) : p ∧ q := by\n  sorry", "test", f"t{n}")
            for n in range(count)
        ]
        self.source = EvaluationSource("faults", Workload(theorems, range(count), 8, 0), self.kept.append)
        self.pool.set_source(self.source)
        return self

    def wait(self, condition):
        wait_for(condition, lambda: (self.told, len(self.kept), self.pool.servers.snapshot()), DEADLINE)

    def address(self, number):
        return self.proxies[number].address

    def down(self, number):
        return (self.address(number), "down", SLOTS) in self.told

    def outcomes(self):
        return [attempt.outcome for attempt in self.kept]


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.setattr(actor_pool, "FIRST_BACKOFF_SECONDS", 0.05)
    monkeypatch.setattr(actor_pool, "MAX_BACKOFF_SECONDS", 0.2)
    monkeypatch.setattr(actor_pool, "LEASE_TIMEOUT_SECONDS", 1.0)
    monkeypatch.setattr("nanoproof.lean.transport._CALL_SECONDS", 2.0)
    monkeypatch.setattr("nanoproof.lean.client._FIRST_REST_SECONDS", 0.1)
    monkeypatch.setattr("nanoproof.lean.client._MAX_REST_SECONDS", 0.2)
    with ExitStack() as stack:
        yield World(tmp_path, stack)


@pytest.mark.nightly
def test_a_server_that_dies_costs_its_own_actors_and_no_attempt_and_is_used_again(world):
    world.start(400)
    world.wait(lambda: len(world.kept) >= 4)
    world.proxies[0].close_door()
    world.wait(lambda: world.down(0))
    before = len(world.kept)
    world.wait(lambda: len(world.kept) >= before + 8)
    assert world.told == [(world.address(0), "down", SLOTS)]
    world.proxies[0].open_door()
    world.wait(lambda: (world.address(0), "up", SLOTS) in world.told)
    world.wait(lambda: all(actor.state != "error" for actor in world.pool.actors))
    assert {(attempt.outcome, attempt.message) for attempt in world.kept} == {("unproven", "no proof found")}


def test_with_all_servers_gone_actors_wait_and_the_run_says_so_and_goes_on_when_one_is_back(world):
    world.start(24)
    world.wait(lambda: len(world.kept) >= 2)
    for proxy in world.proxies:
        proxy.close_door()
    world.wait(lambda: ("all", "gone", 2 * SLOTS) in world.told)
    assert world.pool.servers.gone_seconds > 0 and "cannot be reached" in world.pool.servers.reason
    assert {server["state"] for server in world.pool.servers.snapshot()} == {"down"}
    world.proxies[1].open_door()
    world.wait(lambda: ("all", "up", SLOTS) in world.told)
    world.wait(world.source.finished)
    assert world.outcomes() == ["unproven"] * 24
    assert world.down(0) and (world.address(0), "up", SLOTS) not in world.told


def test_theorems_begun_on_a_rank_that_has_no_server_left_are_done_by_another_rank(world):
    world.start(12, servers=(0,))
    world.wait(lambda: world.kept)
    world.proxies[0].close_door()
    world.wait(lambda: ("all", "gone", SLOTS) in world.told)
    other, taken = world.source, []  # as another rank would: its source shares the counters of this one
    world.wait(lambda: taken.append(other.next()) or len([task for task in taken if task]) >= 12 - len(world.kept))
    names = sorted({task.theorem.id for task in taken if task} | {attempt.theorem.id for attempt in world.kept})
    assert len(names) == 12 and any(task.returns for task in taken if task)


@pytest.mark.nightly
def test_a_server_that_stalls_keeps_nobody_waiting_but_its_own_actors(world):
    world.start(24)
    world.wait(lambda: len(world.kept) >= 2)
    world.faults[0] = "stall_answer"
    world.wait(world.source.finished)
    errors = [attempt for attempt in world.kept if attempt.outcome == "error"]
    assert len(errors) <= SLOTS and {attempt.stop_reason for attempt in errors} <= {"ServerTimeout"}
    assert len(world.kept) == 24
