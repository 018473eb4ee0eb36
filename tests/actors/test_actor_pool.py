import math
import threading
import time

import pytest

from nanoproof.actors import actor as actor_pool
from nanoproof.actors.actor import MAX_RETURNS, ActorPool, wait_together
from nanoproof.actors.pool import Pauses
from nanoproof.actors.tasks import NullObserver, Task
from nanoproof.common.rank_watch import RankLost
from nanoproof.evaluation.evaluate import Workload, try_theorems
from nanoproof.lean.types import ProcessLost, ServerBusy, ServerUnavailable
from nanoproof.search.policy import BadState, ModelFailed, PolicyServerError, PolicyTimeout
from tests.fakes.policy import suggestion
from tests.helpers import wait_for
from tests.rl.small import ScriptedClient, make_prover, policy, theorems


@pytest.fixture
def pool_of():
    pools = []

    def make(*clients, ask=None, patience=60.0):
        pools.append(ActorPool(clients, ask or policy(), make_prover, patience_seconds=patience))
        return pools[-1]

    yield make
    for pool in pools:
        pool.stop()
        pool.join()
        assert not any(actor.is_alive() for actor in pool.actors)


def run(pool, count=12):
    """The attempts at as many theorems, in their order."""
    attempts = []
    try_theorems(pool, "test", Workload(theorems(count), range(count), 8, 0), attempts.append, show=False)
    return sorted(attempts, key=lambda attempt: int(attempt.theorem.id[1:]))


def outcomes(attempts):
    return [attempt.outcome for attempt in attempts]


def test_every_theorem_is_tried_once(pool_of):
    attempts = run(pool_of(ScriptedClient(), ScriptedClient(), ScriptedClient()))
    assert [attempt.theorem.id for attempt in attempts] == [f"t{number}" for number in range(12)]
    assert outcomes(attempts) == ["proven"] * 12


@pytest.mark.nightly
def test_a_thousand_theorems_are_all_tried(pool_of):
    attempts = run(pool_of(*(ScriptedClient() for _ in range(16))), 1000)
    assert len({attempt.theorem.id for attempt in attempts}) == 1000
    assert outcomes(attempts) == ["proven"] * 1000


class Collecting:
    """Has one theorem, and keeps what comes back."""

    purpose = "collect"

    def __init__(self):
        self.tasks, self.attempts = [Task(theorems(1)[0], 8, 0, 7)], []

    def next(self):
        return self.tasks.pop() if self.tasks else None

    def finish(self, task, attempt):
        self.attempts.append(attempt)


@pytest.mark.parametrize(("most", "dropped"), [(None, 0), (2, 0), (1, 2)])
def test_an_attempt_is_made_again_while_the_weights_change_too_often_in_it(most, dropped):
    class Overtaken:
        """Two steps of training are made while each of the first two attempts asks about its root."""

        def suggest(self, state_text, seed=0):
            at_root = state_text.endswith("A")
            if at_root:
                seeds.append(seed)
                if len(seeds) <= 2:
                    pool.weights_changed(pool.revision + 2)
            return suggestion(["step"] if at_root else ["close"])

    seeds, source = [], Collecting()
    pool = ActorPool([ScriptedClient()], Overtaken(), make_prover, max_staleness=most)
    pool.weights_changed(10)
    pool.set_source(source)
    try:
        wait_for(lambda: source.attempts)
    finally:
        pool.stop()
        pool.join()
    (attempt,) = source.attempts
    assert (pool.stale, attempt.outcome, len(seeds), len(set(seeds))) == (dropped, "proven", dropped + 1, 1)
    assert attempt.revisions == ((14, 14) if dropped else (10, 12))


def test_an_actor_whose_server_refuses_waits_and_goes_on(pool_of):
    assert outcomes(run(pool_of(ScriptedClient(refusals=1)), 2)) == ["proven"] * 2


def test_a_server_out_of_reach_in_an_attempt_costs_a_retry_not_the_attempt(pool_of):
    assert outcomes(run(pool_of(ScriptedClient(crashes=(ServerUnavailable("gone"),))), 2)) == ["proven"] * 2


def test_a_task_whose_server_is_gone_for_good_is_done_by_another_actor(pool_of):
    broken = ScriptedClient(crashes=(ServerUnavailable("gone"),))
    lease = broken.lease
    broken.lease = lambda timeout: lease(timeout) if not broken.sessions else refuse()

    def refuse():
        raise ServerUnavailable("gone for good")

    pool = pool_of(broken, ScriptedClient())
    assert outcomes(run(pool, 12)) == ["proven"] * 12


def test_a_lost_process_is_an_error_of_this_attempt_alone(pool_of):
    client = ScriptedClient(crashes=(ProcessLost("crashed"),))
    assert outcomes(run(pool_of(client), 3)) == ["error", "proven", "proven"]
    assert client.sessions[0].closed


def test_a_theorem_that_ends_every_server_it_meets_is_an_error_in_the_end(pool_of):
    class Deadly(ScriptedClient):
        def lease(self, timeout):
            session = super().lease(timeout)
            start = session.start
            session.start = lambda theorem: end_server() if theorem.id == "t1" else start(theorem)
            return session

    def end_server():
        raise ServerUnavailable("the server is gone")

    pool = pool_of(*(Deadly() for _ in range(MAX_RETURNS + 1)))
    attempts = run(pool, 4)
    assert outcomes(attempts) == ["proven", "error", "proven", "proven"]
    assert attempts[1].stop_reason == "ServerUnavailable"


def test_a_wait_ends_when_no_server_is_within_reach_for_too_long(pool_of):
    pool = pool_of(ScriptedClient(refusals=99), ScriptedClient(refusals=99), patience=0.3)
    with pytest.raises(ServerUnavailable, match=r"no Lean process was to be had for 0\.3 s \(scripted: nobody there\)"):
        run(pool)


class BrokenPolicy:
    """Meets a bug at the first questions, and then says nothing."""

    def __init__(self, bugs):
        self.bugs = bugs

    def suggest(self, state_text, seed=0):
        self.bugs -= 1
        if self.bugs >= 0:
            raise ZeroDivisionError("a bug")
        return suggestion([])


def test_a_bug_that_is_met_again_and_again_reaches_the_main_thread(pool_of):
    with pytest.raises(ZeroDivisionError):
        run(pool_of(ScriptedClient(), ask=BrokenPolicy(1000)))


def test_a_bug_that_one_theorem_meets_costs_its_attempt(pool_of, caplog):
    attempts = run(pool_of(ScriptedClient(), ask=BrokenPolicy(1)), 3)
    assert outcomes(attempts) == ["error", "unproven", "unproven"]
    assert (attempts[0].stop_reason, attempts[0].message) == ("ZeroDivisionError", "a bug")
    assert "at t0 of scripted, seed" in caplog.text and "Traceback" in caplog.text


@pytest.mark.parametrize("error", [BadState("too long"), PolicyServerError("the model failed"), PolicyTimeout("late")])
def test_a_state_that_the_policy_cannot_answer_for_costs_its_attempt(pool_of, error):
    class Refuses:
        def suggest(self, state_text, seed=0):
            raise error

    attempts = run(pool_of(ScriptedClient(), ask=Refuses()), 12)
    assert outcomes(attempts) == ["error"] * 12
    assert (attempts[0].stop_reason, attempts[0].message) == (type(error).__name__, str(error))


def test_an_actor_shows_the_simulations_of_its_search_alone(pool_of):
    seen = []

    def ask(state_text, seed=0):
        seen.append((state_text, pool.actors[0].snapshot()["simulations"]))
        return policy().suggest(state_text, seed)

    asking = policy()
    asking.suggest = ask
    pool = pool_of(ScriptedClient(), ask=asking)
    run(pool, 3)
    assert seen == [("⊢ A", 0), ("⊢ B", 1)] * 3
    assert pool.actors[0].snapshot()["simulations"] == 2


def test_one_failure_of_the_model_that_all_actors_are_told_of_ends_no_run(pool_of):
    class FailsOnce:
        def __init__(self):
            self.cause, self.told = RuntimeError("out of memory"), 0

        def suggest(self, state_text, seed=0):
            self.told += 1
            if self.told <= 6:
                raise ModelFailed("the model failed") from self.cause
            return suggestion([])

    attempts = run(pool_of(*(ScriptedClient() for _ in range(6)), ask=FailsOnce()), 8)
    assert outcomes(attempts).count("error") == 6 and outcomes(attempts).count("unproven") == 2


def test_a_busy_server_costs_a_retry_not_the_attempt(pool_of):
    client = ScriptedClient(crashes=(ServerBusy("all processes are in use"),))
    assert outcomes(run(pool_of(client), 3)) == ["proven"] * 3


def test_a_dead_embedded_server_ends_the_wait():
    def gone():
        raise ServerUnavailable("the embedded Lean server ended")

    pool = ActorPool([ScriptedClient()], policy(), make_prover, gone)
    with pytest.raises(ServerUnavailable, match="ended"):
        run(pool)
    pool.stop()
    pool.join()


def test_a_signal_that_comes_of_the_death_of_another_rank_is_not_why_the_run_ends(monkeypatch):
    """Launchers end all ranks when one dies, and are faster than the watch over the ranks."""
    looks = []

    def check():
        looks.append(1)
        if len(looks) > 3:
            raise RankLost("rank 1 has died")

    def broken_collective(_):
        raise RuntimeError("Connection closed by peer")

    pool = ActorPool([], policy(), make_prover, check, asked_to_end=lambda: True)
    monkeypatch.setattr(actor_pool, "gather_json", broken_collective)
    with pytest.raises(RankLost, match="rank 1 has died"):
        wait_together(pool, lambda: False)


# -- Pauses of the model -----------------------------------------------------------------------------------------------


def test_a_span_is_cut_at_pauses():
    pauses = Pauses()
    pauses._times.extend([(10.0, 14.0), (20.0, 21.0), (30.0, math.inf)])
    assert pauses.outside(0.0, 5.0) == [(0.0, 5.0)]
    assert pauses.outside(9.0, 20.5) == [(9.0, 10.0), (14.0, 20.0)]
    assert pauses.outside(11.0, 13.0) == [] and pauses.outside(14.0, 20.0) == [(14.0, 20.0)]
    assert pauses.outside(20.5, 40.0) == [(21.0, 30.0)] and pauses.now


class SlowPolicy:
    """Answers when it is told to."""

    def __init__(self):
        self.answers, self.asked, self.release = policy(), threading.Event(), threading.Event()

    def suggest(self, state_text, seed=0):
        self.asked.set()
        assert self.release.wait(30)
        return self.answers.suggest(state_text, seed)


def test_waits_for_a_model_that_is_paused_do_not_count_as_waits_for_the_model(pool_of):
    slow = SlowPolicy()
    pool = pool_of(ScriptedClient(), ask=slow)
    (actor,) = pool.actors

    def train():
        with pool.pauses.paused():
            assert slow.asked.wait(30)
            wait_for(lambda: actor.snapshot()["state"] == "paused")
            began.append(actor.since)
            ended.append(time.monotonic())
        slow.release.set()

    class Spans(NullObserver):
        def span(self, actor, state, began, ended):
            spans.append((state, ended - began))

    began, ended, spans = [], [], []
    pool.observer = Spans()
    trainer = threading.Thread(target=train)
    trainer.start()
    assert outcomes(run(pool, 1)) == ["proven"]
    trainer.join()
    assert actor.seconds["paused"] >= ended[0] - began[0] > 0
    drawn = sum(seconds for state, seconds in spans if state == "paused")
    assert drawn == pytest.approx(actor.seconds["paused"]), "the timeline would call a pause idle"
    assert actor.snapshot()["seconds"].keys() == {"model", "lean", "idle", "error", "paused"}
