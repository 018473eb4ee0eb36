from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanoproof.lean.types import Transition
from nanoproof.prover.attempt import Attempt, FailedTactic
from nanoproof.rl.batch_sampler import Buffers, WindowBuffer
from tests.rl.small import theorems


@given(st.lists(st.integers(0, 8), max_size=60), st.integers(1, 5))
def test_a_window_holds_the_newest_distinct_items(keys, window):
    buffer = WindowBuffer(window)
    for step, key in enumerate(keys):
        buffer.add(key, key, step)
    newest = list(dict.fromkeys(reversed(keys)))[:window]
    assert buffer.items() == newest[::-1]


@given(st.lists(st.tuples(st.integers(0, 8), st.booleans()), max_size=60), st.integers(1, 5))
def test_samples_and_staleness_are_those_of_the_items_that_are_there(changes, window):
    buffer, plain = WindowBuffer(window), {}
    for step, (key, leaves) in enumerate(changes):
        plain.pop(key, None)
        if leaves:
            buffer.discard(key)
        else:
            buffer.add(key, (key, step), step)
            plain[key] = step
            plain = dict(list(plain.items())[-window:])
    assert buffer.entries() == [(key, (key, step), step) for key, step in plain.items()]
    assert buffer.staleness(60) == pytest.approx(sum(60 - step for step in plain.values()) / max(1, len(plain)))
    if plain:
        assert set(buffer.sample(np.random.default_rng(0), 100)) == set(plain.items())


def test_a_sample_takes_the_same_time_whatever_was_added_before():
    buffer = WindowBuffer(50_000)
    for key in range(50_000):
        buffer.add(key, key, 0)
    rng, keys = np.random.default_rng(0), range(50_000, 52_000)
    for key in keys:  # with a new list of all items after each addition this would take minutes
        buffer.add(key, key, 1)
        assert buffer.sample(rng, 1)[0] in buffer


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


def proving(*transitions):
    return Attempt(theorems(1)[0], "proven", transitions=tuple(Transition(*each) for each in transitions))


def failing(*tactics):
    return Attempt(theorems(1)[0], "unproven", failed_tactics=tuple(FailedTactic(*each) for each in tactics))


def test_a_tactic_that_later_succeeds_in_the_same_state_is_no_failed_one():
    buffers = Buffers(10, 10)
    buffers.add([failing(("s", "t"), ("s2", "t"))], step=0)
    buffers.add([proving(("s", "t", 1))], step=1)
    buffers.add([failing(("s", "t"))], step=2)
    assert [item.state for item in buffers.negative.items()] == ["s2"]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 3)), max_size=40))
def test_depths_count_the_transitions_that_are_there(found):
    buffers = Buffers(4, 0)
    for number, depth in found:
        buffers.add([proving((f"s{number}", "t", depth))], step=0)
    assert +buffers.depths == Counter(item.depth for item in buffers.replay.items())


def test_a_negative_window_of_0_keeps_nothing():
    buffers = Buffers(10, 0)
    buffers.add([failing(("s", "bad"))], step=0)
    assert len(buffers.negative) == 0


def test_what_uses_a_solver_that_is_left_out_is_not_learned():
    buffers = Buffers(10, 10, ("grind", "aesop"))
    buffers.add([proving(("s", "grind", 1), ("s", "exact h", 1)), failing(("s", "aesop"), ("s", "simp"))], step=0)
    assert [item.tactic for item in buffers.replay.items()] == ["exact h"]
    assert [item.tactic for item in buffers.negative.items()] == ["simp"]
    assert +buffers.depths == {1: 1}


@given(st.lists(st.tuples(st.sampled_from((proving, failing)), st.integers(0, 8)), max_size=40))
def test_no_key_is_in_two_buffers(made):
    buffers = Buffers(3, 3)
    for step, (kind, number) in enumerate(made):
        key = (f"s{number % 5}", f"t{number % 2}")
        buffers.add([kind(key if kind is failing else (*key, 1))], step)
        keys = [key for buffer in (buffers.replay, buffers.negative) for key, *_ in buffer.entries()]
        assert len(keys) == len(set(keys)) and +buffers.depths == Counter([1] * len(buffers.replay))
