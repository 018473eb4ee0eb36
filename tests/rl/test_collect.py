import logging
from itertools import islice
from types import SimpleNamespace

import pytest
import torch

from nanoproof.actors.actor import ActorPool
from nanoproof.actors.fleet import deal_slots
from nanoproof.common.distributed import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.lean.types import Theorem, Transition
from nanoproof.prover.attempt import Attempt, FailedTactic
from nanoproof.prover.attempt_log import logged_attempts
from nanoproof.rl.batch_sampler import Buffers
from nanoproof.rl.collection import ERRORS_AT_LEAST, Collection, CollectSource, Experience, relearn
from nanoproof.rl.matchmaker import Matchmaker, MatchmakerConfig
from tests.rl.small import CHECKED, ScriptedClient, make_prover, policy, theorems

ALONE = DistInfo(0, 0, 1, torch.device("cpu"), "test", torch.float32, "test")


def experience(count=6):
    return Experience(theorems(count), Matchmaker(count, MatchmakerConfig()), Buffers(100, 100))


@pytest.fixture
def collected(tmp_path):
    """Three steps of collection: the experience that was learned, and the run directory."""
    learned = experience()
    source = CollectSource(learned, tmp_path, ALONE, seed=0, first_step=0)
    pool = ActorPool([ScriptedClient(), ScriptedClient()], policy(), make_prover)
    for _ in range(3):
        pool.set_source(source)
        source.begin(4, None)
        pool.wait(source.enough)
        with pool.locked():
            fresh = source.drain()
        step, attempts = source.exchange(fresh)
        learned.learn(step, attempts)
    pool.stop()
    pool.join()
    source.close()
    return learned, tmp_path


def test_collection_learns_transitions_and_failed_tactics(collected):
    learned, _ = collected
    assert learned.proofs >= 6
    assert [item.tactic for item in learned.buffers.replay.items()] == ["step", "close"]
    assert [item.depth for item in learned.buffers.replay.items()] == [2, 1]
    assert [item.tactic for item in learned.buffers.negative.items()] == ["wrong"]


def test_what_is_rebuilt_from_the_log_contains_what_was_learned(collected):
    learned, run_path = collected
    again = experience()
    next_step = relearn(again, run_path)
    assert next_step >= 3
    assert again.attempts >= learned.attempts
    assert again.buffers.replay.items() == learned.buffers.replay.items()
    told = experience()
    for step, attempt in islice(logged_attempts(run_path), learned.attempts):
        told.learn(step, [attempt])
    assert told.matchmaker.standings() == learned.matchmaker.standings() != {}


def test_theorems_of_two_data_sets_may_have_one_id():
    twins = [Theorem("theorem t : True := by sorry", dataset, "t") for dataset in ("one", "two")]
    learned = Experience(twins, Matchmaker(2, MatchmakerConfig()), Buffers(100, 100))
    learned.learn(0, [Attempt(theorem, "proven", num_tactics=2) for theorem in twins])
    assert [learned.matchmaker.standing(index).proofs for index in (0, 1)] == [1, 1]
    assert len(learned.ever_proven) == 2


def test_every_rank_has_slots_of_every_server():
    assert deal_slots([2, 3], 0, 1) == [0, 0, 1, 1, 1]
    assert deal_slots([2, 3], 0, 2) == [0, 1, 1]
    assert deal_slots([2, 3], 1, 2) == [0, 1]


def test_a_collection_without_proofs_ends_at_its_deadline(tmp_path):
    source = CollectSource(experience(), tmp_path, ALONE, seed=0, first_step=0)
    source.begin(4, 0.0)
    assert source.enough()
    source.close()


REFUSED = {"outcome": "error", "message": "unknown identifier 'Finset'", "stop_reason": "TheoremRejected"}


def test_a_lean_that_refuses_every_statement_ends_the_run(tmp_path):
    source = CollectSource(experience(), tmp_path, ALONE, seed=0, first_step=0)
    source.begin(4, None)
    busy = [source.next() for _ in range(3)]
    for _ in range(ERRORS_AT_LEAST - 1):
        source.finish(busy[0], Attempt(busy[0].theorem, **REFUSED))
    assert not source.enough()
    source.finish(busy[1], Attempt(busy[1].theorem, "unproven"))
    for _ in range(ERRORS_AT_LEAST):
        assert not source.enough()
        source.finish(busy[0], Attempt(busy[0].theorem, **REFUSED))
    with pytest.raises(UserError, match=r"the last 50 attempts ended in errors: .* import .* identifier 'Finset'"):
        source.enough()
    assert len(list(logged_attempts(tmp_path))) == 2 * ERRORS_AT_LEAST
    source.close()


def test_refusals_are_no_reason_to_end_while_many_actors_are_at_work(tmp_path):
    source = CollectSource(experience(60), tmp_path, ALONE, seed=0, first_step=0)
    source.begin(4, None)
    busy = [source.next() for _ in range(30)]
    for _ in range(2 * ERRORS_AT_LEAST):
        source.finish(busy[0], Attempt(busy[0].theorem, **REFUSED))
    assert not source.enough()
    source.close()


@pytest.mark.parametrize("window", [0, 9])
def test_ranks_tell_each_other_failed_tactics_only_where_they_are_kept(tmp_path, window):
    learned = Experience(theorems(2), Matchmaker(2, MatchmakerConfig()), Buffers(9, window))
    source = CollectSource(learned, tmp_path, ALONE, seed=0, first_step=0)
    found = Attempt(
        *(theorems(1)[0], "proven", "", False, "step", "the whole text", 1),
        transitions=(Transition("A", "step", 1),),
        failed_tactics=(FailedTactic("A", "wrong"),),
        counts={"simulations": 3},
        check=CHECKED,
    )
    source.finish(source.next(), found)
    (told,) = source.exchange(source.drain())[1]
    assert (told.theorem, told.outcome, told.transitions) == (found.theorem, "proven", found.transitions)
    assert (told.num_tactics, told.simulations, told.source) == (1, 3, "")
    assert len(told.failed_tactics) == bool(window)
    assert [attempt for _, attempt in logged_attempts(tmp_path)] == [found]
    source.close()


def test_only_theorems_without_a_proof_may_be_disproved(tmp_path):
    learned = experience(2)
    learned.learn(0, [Attempt(theorems(2)[0], "proven", num_tactics=2)])
    source = CollectSource(learned, tmp_path, ALONE, seed=0, first_step=0)
    assert {task.index: task.may_disprove for task in (source.next(), source.next())} == {0: False, 1: True}
    source.close()


@pytest.mark.parametrize(("seconds_each", "lines"), [(6.0, 4), (1.0, 0)])
def test_a_collection_says_how_far_it_is_at_least_every_20_seconds(monkeypatch, caplog, seconds_each, lines):
    """Eleven looks at the clock of a collection of 100 transitions, ten come from one look to the next."""
    clock = SimpleNamespace(now=0.0, said=[])
    monkeypatch.setattr("nanoproof.common.terminal.time", SimpleNamespace(monotonic=lambda: clock.now))
    source = SimpleNamespace(
        begin=lambda *_: None, collected=0, progress="7 attempts", enough=lambda: source.collected > 99
    )

    def wait(done):
        while not done():
            clock.now += seconds_each
            source.collected += 10

    collection = SimpleNamespace(
        source=source,
        pool=SimpleNamespace(set_source=lambda _: None, wait=wait),
        _config=SimpleNamespace(rl=SimpleNamespace(collect_transitions=100)),
        learner=SimpleNamespace(state=SimpleNamespace(step=2)),
        _dist=ALONE,
    )
    with caplog.at_level(logging.INFO):
        Collection.gather(collection, None)
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == lines
    if lines:
        assert said[0] == "step 3 collects: 30/100 transitions in 18 s (about 42 s to go), 7 attempts"
        assert said[-1] == "step 3 collects: 100/100 transitions in 60 s, 7 attempts"
