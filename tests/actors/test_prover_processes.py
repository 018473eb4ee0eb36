"""Prover processes: the attempts of threads, made elsewhere, each taken once whatever ends meanwhile."""

import json
import os
import signal
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from nanoproof.actors.actor import MAX_RETURNS, ActorPool
from nanoproof.actors.processes import ProcessPool
from nanoproof.actors.remote import Link, ProverSpec, RemotePool, policy_error, task_from_json, task_to_json
from nanoproof.actors.tasks import Task
from nanoproof.common.errors import UserError
from nanoproof.evaluation.evaluate import Workload, try_theorems
from nanoproof.lean.transport import ClientConfig
from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.prover import ProverOptions
from nanoproof.search.config import SearchConfig
from nanoproof.search.policy import BadState, ModelFailed, PolicyTimeout
from tests.helpers import is_gone, wait_for
from tests.rl.small import ScriptedClient, make_prover, policy, theorems

SPEC = ProverSpec(SearchConfig(), ProverOptions(keep_tree=False))
COMMAND = (sys.executable, "-m", "tests.actors.scripted_process")
SLOT = SimpleNamespace(address="scripted:1", client=SimpleNamespace(token=None, config=ClientConfig()))


def pool_of(slots, count, command=COMMAND):
    return ProcessPool([SLOT] * slots, policy(), {"collect": SPEC, "evaluate": SPEC}, count, command=command)


@pytest.fixture(scope="module")
def pool():
    made = pool_of(4, 2)
    yield made
    made.stop()
    made.join()
    assert all(one.process.poll() is not None and not one.thread.is_alive() for one in made.processes)


_names = iter(range(1000))


def run(pool, tasks):
    attempts = []
    name = f"processes {next(_names)}"
    try_theorems(pool, name, Workload(tasks, range(len(tasks)), 8, 0), attempts.append, show=False)
    return sorted(attempts, key=lambda attempt: int(attempt.theorem.id.strip("abcdefghijklmnopqrstuvwxyz")))


def called(name, count):
    return [replace(theorem, id=f"{name}{number}") for number, theorem in enumerate(theorems(count))]


def test_the_attempts_are_those_of_threads(pool):
    threads = ActorPool([ScriptedClient()], policy(), make_prover)
    expected = run(threads, theorems(20))
    threads.stop()
    threads.join()
    found = run(pool, theorems(20))
    assert len(found) == 20 and {attempt.outcome for attempt in found} == {"proven"}
    assert [replace(one, seconds={}, policy="") for one in found] == [
        replace(one, seconds={}, policy="") for one in expected
    ]
    assert {attempt.policy for attempt in found} == {"step 0"}


def test_both_processes_work_and_are_shown(pool):
    run(pool, called("slow", 6))
    shown = pool.snapshot()
    assert [host["host"] for host in shown["hosts"]] == ["process 0", "process 1"]
    assert all(host["attempts"] > 0 and host["under_way"] == 0 for host in shown["hosts"])
    wait_for(lambda: len(pool.snapshot()["actors"]) == 4)
    assert [actor["actor"] for actor in pool.snapshot()["actors"]] == [0, 1, 2, 3]


def test_what_a_killed_process_worked_on_is_tried_again_and_taken_once(pool):
    attempts, killed = [], []
    process = pool.processes[0].process

    def keep(attempt):
        attempts.append(attempt)
        if not killed:
            killed.append(os.kill(process.pid, signal.SIGKILL))

    work = Workload(called("slow", 12), range(12), 8, 0)
    before = pool.given_again
    try_theorems(pool, "killed", work, keep, show=False)
    assert sorted(int(one.theorem.id.removeprefix("slow")) for one in attempts) == list(range(12))
    assert {one.outcome for one in attempts} == {"proven"}
    assert is_gone(process.pid) and pool.given_again > before
    wait_for(lambda: pool.processes[0].process is not process and len(pool.links) == 2)


def test_a_process_that_never_works_ends_the_run():
    pool = pool_of(1, 1, (sys.executable, "-c", "import sys; sys.exit(3)"))
    with pytest.raises(UserError, match=r"process 0 ended with status 3, 5 times before any attempt of it did"):
        run(pool, theorems(1))
    pool.stop()
    pool.join()


# -- Without processes -------------------------------------------------------------------------------------------------


class Source:
    """Has one theorem, and keeps what comes back."""

    def __init__(self, purpose="collect", work=None):
        self.purpose, self.tasks, self.attempts, self._work = purpose, 1, [], work

    def next(self):
        self.tasks -= 1
        return (
            Task(Theorem("example : True := by sorry", "s", "t"), 7, 0, 5, work=self._work) if self.tasks >= 0 else None
        )

    def finish(self, task, attempt):
        self.attempts.append(attempt)

    def hand_over(self, task):
        return False


def remote(**options):
    pool, source, link = RemotePool(**options), Source(), Link("a", 4)
    pool.connect(link)
    pool.set_source(source)
    return pool, source, link


def done(task, outcome="unproven"):
    attempt = Attempt(task_from_json(task).theorem, outcome, budget=task["simulations"], seed=task["seed"])
    return {"id": task["id"], "attempt": json.loads(json.dumps(attempt.to_json())), "address": "lean:1"}


def test_an_attempt_is_taken_once_and_from_whom_it_was_given():
    pool, source, link = remote()
    (task,) = pool.grant(link, 4)
    other = Link("b", 1)
    pool.accept(other, done(task))
    assert source.attempts == [] and pool.unknown == 1
    pool.accept(link, done(task))
    pool.accept(link, done(task))
    assert [attempt.seed for attempt in source.attempts] == [5] and (pool.attempts, pool.unknown) == (1, 2)


def test_the_task_of_a_lost_link_keeps_its_seed_and_what_comes_late_is_not_taken():
    pool, source, link = remote()
    (task,) = pool.grant(link, 1)
    pool.disconnect(link, "gone")
    other = Link("b", 1)
    pool.connect(other)
    (again,) = pool.grant(other, 1)
    assert {**again, "id": task["id"]} == {**task, "returns": 1}
    pool.accept(link, done(task))
    assert source.attempts == []
    pool.accept(other, done(again))
    assert len(source.attempts) == 1 and pool.given_again == 1


def test_a_theorem_that_ends_every_link_is_an_error_in_the_end():
    pool, source, _ = remote()
    for turn in range(MAX_RETURNS + 1):
        link = Link(f"host {turn}", 1)
        pool.connect(link)
        assert len(pool.grant(link, 1)) == 1
        pool.disconnect(link, f"host {turn} is gone")
    (attempt,) = source.attempts
    assert (attempt.outcome, attempt.message, attempt.stop_reason) == ("error", "host 4 is gone", "LinkLost")


@pytest.mark.parametrize(("later", "taken"), [(2, 1), (3, 0)])
def test_an_attempt_by_weights_that_are_too_old_is_dropped_and_its_theorem_tried_again(later, taken):
    pool, source, link = remote(max_staleness=2)
    pool.weights_changed(10)
    (task,) = pool.grant(link, 1)
    pool.weights_changed(10 + later)
    pool.accept(link, done(task))
    assert (len(source.attempts), pool.stale) == (taken, 1 - taken)
    again = pool.grant(link, 1)
    assert [one["seed"] for one in again] == [5] * (1 - taken)
    for one in again:
        pool.accept(link, done(one))
    assert [attempt.revisions for attempt in source.attempts] == [(10 if taken else 10 + later, 10 + later)]


def test_an_error_is_never_too_old_nor_is_an_evaluation():
    pool, source, link = remote(max_staleness=0)
    (task,) = pool.grant(link, 1)
    pool.weights_changed(5)
    pool.accept(link, done(task, "error"))
    assert [attempt.outcome for attempt in source.attempts] == ["error"] and pool.stale == 0
    evaluation = Source("evaluate")
    pool.set_source(evaluation)
    (task,) = pool.grant(link, 1)
    pool.weights_changed(9)
    pool.accept(link, done(task))
    assert [attempt.revisions for attempt in evaluation.attempts] == [()] and pool.stale == 0


def test_work_that_cannot_be_told_is_refused_in_one_line():
    pool, _, link = remote()
    pool.set_source(Source(work=lambda session, observer: None))
    assert pool.grant(link, 1) == []
    with pytest.raises(UserError, match="not for these processes"):
        pool.wait(lambda: False)


def test_tasks_and_provers_survive_the_way():
    task = Task(Theorem("theorem t : p := by sorry", "d", "x"), 9, 3, 2**47 + 1, returns=2, may_disprove=False)
    told = json.loads(json.dumps(task_to_json(11, "evaluate", task)))
    assert (told["purpose"], task_from_json(told)) == ("evaluate", replace(task, index=11))
    spec = ProverSpec(
        SearchConfig(finishers=("grind", "omega"), c_init=0.25),
        ProverOptions(disprove_fraction=0.5),
    )
    assert ProverSpec.from_json(json.loads(json.dumps(spec.to_json()))) == spec


@pytest.mark.parametrize("error", [BadState("long"), PolicyTimeout("late"), ModelFailed("broken")])
def test_errors_of_the_policy_keep_their_kind(error):
    found = policy_error(type(error).__name__, str(error))
    assert type(found) is type(error) and str(found) == str(error)


@pytest.mark.parametrize("kind", ["ZeroDivisionError", "Policy", "os"])
def test_errors_that_are_no_errors_of_a_policy_are_failures_of_the_model(kind):
    found = policy_error(kind, "x")
    assert type(found) is ModelFailed and str(found) == f"{kind}: x"
