import pytest

from nanoproof.common.errors import UserError
from nanoproof.training.batches import EpochSampler
from nanoproof.training.schedule import Trigger, duration, learning_rate_factor


def test_the_learning_rate_rises_stays_and_falls():
    factor = [learning_rate_factor(progress, 0.1, 0.5, 0.8, 0.2) for progress in (0.05, 0.1, 0.5, 0.75, 1.0)]
    assert factor == pytest.approx([0.4, 0.8, 0.8, 0.5, 0.2])


def test_a_step_trigger_fires_at_its_multiples_but_not_at_0():
    trigger = Trigger.parse("20steps", "--eval-every")
    assert [step for step in range(50) if trigger.due(step)] == [20, 40]


def test_a_time_trigger_fires_once_its_time_is_over():
    trigger = Trigger.parse("1:00:00", "--save-every")
    assert not trigger.due(1)
    trigger.last_time -= 3601
    assert trigger.due(2) and not trigger.due(3)


def test_the_clock_of_rank_0_decides_for_all(monkeypatch):
    trigger = Trigger.parse("1:00:00", "--eval-every")
    monkeypatch.setattr("nanoproof.training.schedule.broadcast_json", lambda own_opinion: True)
    assert trigger.due(1)
    monkeypatch.setattr("nanoproof.training.schedule.broadcast_json", lambda own_opinion: False)
    trigger.last_time -= 3601
    assert not trigger.due(2)


@pytest.mark.parametrize("text", ["", "20", "0steps", "1:2", "-3steps", "0:00:00", "1:99:00"])
def test_another_trigger_is_refused_by_name(text):
    with pytest.raises(UserError, match="--eval-every must look like"):
        Trigger.parse(text, "--eval-every")


def test_a_duration_is_no_number_of_steps():
    assert duration("0:01:30", "--max-time") == 90 and duration("0:75:00", "--max-time") == 4500
    assert duration("never", "--max-time") is None
    with pytest.raises(UserError, match="--max-time must look like 2:30:00"):
        duration("100steps", "--max-time")


def test_an_epoch_sees_every_index_once():
    sampler = EpochSampler(10, seed=1)
    assert sorted(pick.index for pick in sampler.picks(4) + sampler.picks(6)) == list(range(10))
    assert sampler.epoch == 1


def test_a_restored_sampler_goes_on_where_it_was():
    first, second = EpochSampler(10, seed=1), EpochSampler(10, seed=1)
    first.picks(17)
    second.restore(first.state())
    assert first.picks(20) == second.picks(20)


def test_a_position_in_another_set_is_refused():
    with pytest.raises(ValueError, match="the set has 5 examples"):
        EpochSampler(5, seed=1).restore({"size": 6, "epoch": 0, "offset": 0})


def test_a_position_in_other_examples_of_the_same_number_is_refused():
    with pytest.raises(ValueError, match="but other ones"):
        EpochSampler(5, seed=1, fingerprint=2).restore(EpochSampler(5, seed=1, fingerprint=3).state())


def test_a_trigger_tells_how_long_it_is_until_it_fires():
    assert Trigger.parse("20steps", "--eval-every").left(33) == {"steps": 7}
    left = Trigger.parse("1:00:00", "--eval-every").left(33)
    assert left is not None and 3590 < left["seconds"] <= 3600
    assert Trigger.parse("never", "--eval-every").left(33) is None
