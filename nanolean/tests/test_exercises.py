"""Exercises of templates: every one is proved as it is written, in its turns of phrase."""

import random

import pytest

from nanolean.data.exercises import entry, exercises, instance, templates
from nanolean.data.make import make_exercises
from nanolean.data.replay import replay, start
from nanolean.data.statement_key import shape_key, statement_key
from nanolean.kernel.budget import allow_deep_recursion
from nanolean.tests.library import NIGHTLY


@pytest.mark.parametrize("part", range(3 if NIGHTLY else 1))
def test_each_template_s_proof_goes_through(part: int) -> None:
    """A third of them outside of nightly runs."""
    allow_deep_recursion()
    for kind in sorted(templates())[part::3]:
        for exercise in exercises(kind, seed=17, count=1):
            asked = entry(exercise)
            replay(start(asked.source), asked.proof)  # raises ReplayError if it does not


def test_instances_are_the_same_for_a_seed_and_differ() -> None:
    first, second = (list(exercises("own_sum_append", 3, 6)) for _ in range(2))
    assert first == second
    assert len({exercise.text for exercise in first}) == 6
    assert first != list(exercises("own_sum_append", 4, 6))


def test_choices_with_one_number_choose_alike() -> None:
    template = "theorem $t : ⟦1:a¦b⟧ := by\n  ⟦1:exact a¦exact b⟧\n  ⟦1:¦skip⟧"
    texts = {instance(template, random.Random(seed)) for seed in range(20)}
    assert texts == {"theorem exercise : a := by\n  exact a\n", "theorem exercise : b := by\n  exact b\n  skip\n"}


def test_numbers_and_sums_of_them() -> None:
    for seed in range(10):
        small, double = instance("theorem $t : #a = #(2*a) := by\n", random.Random(seed)).split()[3:6:2]
        assert 2 <= int(small) <= 7
        assert int(double) == 2 * int(small)


def test_the_shape_of_a_statement_has_no_names_of_its_own_definitions() -> None:
    def source(name: str, step: str) -> str:
        return (
            f"def {name} : Nat → Nat\n  | 0 => 0\n  | n + 1 => {name} n + {step}\n\n"
            f"theorem t (n : Nat) : {name} n = {step} * n := by\n  sorry"
        )

    assert statement_key(source("total", "2")) != statement_key(source("other", "2"))
    assert shape_key(source("total", "2")) == shape_key(source("other", "2"))
    assert shape_key(source("total", "2")) != shape_key(source("total", "3"))
    assert shape_key("theorem t (n : Nat) : n + 0 = n := by\n  sorry") == statement_key(
        "theorem u (m : Nat) : m + 0 = m := by\n  sorry"
    )


def test_an_exercise_with_the_shape_of_a_benchmark_s_statement_is_left_out() -> None:
    kinds = ["coins", "own_sum_append"]
    shape = "def sum9 : List Nat → Nat\n  | [] => 0\n  | x :: l => x + sum9 l\n\n"
    shape += "theorem t (k m : List Nat) : sum9 (k ++ m) = sum9 k + sum9 m := by\n  sorry"
    both = make_exercises(kinds, 0, 2, frozenset(), str.splitlines)
    assert [record["name"] for record in both][:1] == ["exercise_coins_0"] and len(both) == 4
    left = make_exercises(kinds, 0, 2, frozenset({shape_key(shape)}), str.splitlines)
    assert {record["name"].rsplit("_", 1)[0] for record in left} == {"exercise_coins"}
