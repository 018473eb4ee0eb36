import pytest

from nanoproof.lean.errors import ProcessLost, ServerUnavailable
from nanoproof.selfplay.actors import ActorPool
from nanoproof.selfplay.evaluate import evaluate
from tests.selfplay.small import ScriptedClient, make_prover, policy, theorems


@pytest.fixture
def pool_of():
    pools = []

    def make(*clients, ask=None):
        pools.append(ActorPool(clients, ask or policy(), make_prover))
        return pools[-1]

    yield make
    for pool in pools:
        pool.stop()
        pool.join()
        assert not any(actor.is_alive() for actor in pool.actors)


def run(pool, count=12):
    return evaluate(pool, "test", theorems(count), 8, 0, "scripted", "valid", show=False)


def test_every_theorem_is_tried_once_and_in_order(pool_of):
    result = run(pool_of(ScriptedClient(), ScriptedClient(), ScriptedClient()))
    assert [attempt.theorem.id for attempt in result.attempts] == [f"t{number}" for number in range(12)]
    assert result.summary()["solved"] == 12


def test_the_summary_counts_solved_by_simulations(pool_of):
    summary = run(pool_of(ScriptedClient()), 3).summary()
    assert summary["solved_at"] == {"1": 0, "2": 3, "4": 3, "8": 3}
    assert summary["tactic_samples"] == 9 and summary["errors"] == 0


def test_an_actor_whose_server_refuses_waits_and_goes_on(pool_of):
    assert run(pool_of(ScriptedClient(refusals=1)), 2).solved == 2


def test_a_server_out_of_reach_in_an_attempt_costs_a_retry_not_the_attempt(pool_of):
    result = run(pool_of(ScriptedClient(crashes=(ServerUnavailable("gone"),))), 2)
    assert result.solved == 2


def test_a_task_whose_server_is_gone_for_good_is_done_by_another_actor(pool_of):
    broken = ScriptedClient(crashes=(ServerUnavailable("gone"),))
    lease = broken.lease
    broken.lease = lambda timeout: lease(timeout) if not broken.sessions else refuse()

    def refuse():
        raise ServerUnavailable("gone for good")

    pool = pool_of(broken, ScriptedClient())
    assert [attempt.outcome for attempt in run(pool, 12).attempts] == ["proven"] * 12


def test_a_lost_process_is_an_error_of_this_attempt_alone(pool_of):
    client = ScriptedClient(crashes=(ProcessLost("crashed"),))
    result = run(pool_of(client), 3)
    assert [attempt.outcome for attempt in result.attempts] == ["error", "proven", "proven"]
    assert client.sessions[0].closed


def test_a_bug_in_an_actor_reaches_the_main_thread(pool_of):
    class Broken:
        def suggest(self, state_text, seed=0):
            raise ZeroDivisionError("a bug")

    with pytest.raises(ZeroDivisionError):
        run(pool_of(ScriptedClient(), ask=Broken()))


def test_a_dead_embedded_server_ends_the_wait():
    def gone():
        raise ServerUnavailable("the embedded Lean server ended")

    pool = ActorPool([ScriptedClient()], policy(), make_prover, gone)
    with pytest.raises(ServerUnavailable, match="ended"):
        run(pool)
    pool.stop()
    pool.join()


def test_results_and_proofs_are_written(pool_of, tmp_path):
    (tmp_path / "proofs").mkdir()
    (tmp_path / "proofs" / "earlier.lean").write_text("")
    result = run(pool_of(ScriptedClient()), 2)
    result.write(tmp_path, {"step": 7})
    assert sorted(file.name for file in (tmp_path / "proofs").iterdir()) == ["t0.lean", "t1.lean"]
    assert (tmp_path / "proofs" / "t0.lean").read_text().startswith("theorem t0 : True := by\n")
    assert (tmp_path / "results.jsonl").read_text().count("\n") == 2
    assert '"step": 7' in (tmp_path / "summary.json").read_text()
