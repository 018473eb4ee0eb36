import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nanoproof.prover.attempt import Attempt, FailedTactic, Transition
from nanoproof.selfplay.buffers import Buffers, WindowBuffer
from tests.selfplay.small import theorems


@given(st.lists(st.integers(0, 8), max_size=60), st.integers(1, 5))
def test_a_window_holds_the_newest_distinct_items(keys, window):
    buffer = WindowBuffer(window)
    for step, key in enumerate(keys):
        buffer.add(key, key, step)
    newest = list(dict.fromkeys(reversed(keys)))[:window]
    assert buffer.items() == newest[::-1]


def test_samples_are_items_of_the_buffer():
    buffer = WindowBuffer(3)
    for key in range(5):
        buffer.add(key, key, key)
    assert set(buffer.sample(np.random.default_rng(0), 200)) == {2, 3, 4}


def test_staleness_is_the_mean_age_in_steps():
    buffer = WindowBuffer(9)
    buffer.add("a", 1, 2)
    buffer.add("b", 1, 4)
    assert buffer.staleness(5) == 2.0


def test_attempts_fill_both_buffers():
    attempt = Attempt(
        theorems(1)[0],
        "proven",
        transitions=(Transition("s", "t", 2), Transition("u", "v", 1)),
        failed_tactics=(FailedTactic("s", "bad"),),
    )
    buffers = Buffers(10, 10)
    assert buffers.add([attempt, attempt], step=0) == 4
    assert [item.tactic for item in buffers.replay.items()] == ["t", "v"]
    assert [item.tactic for item in buffers.negative.items()] == ["bad"]


def test_a_negative_window_of_0_keeps_nothing():
    attempt = Attempt(theorems(1)[0], "unproven", failed_tactics=(FailedTactic("s", "bad"),))
    buffers = Buffers(10, 0)
    buffers.add([attempt], step=0)
    assert len(buffers.negative) == 0
