"""Difficulty and curriculum: golden values, and thresholds that stay finite."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanoproof.repos.difficulty import CATEGORIES, Curriculum, Item, Thresholds, difficulty, percentile


def items(*lengths: int | None) -> list[Item[str]]:
    """Theorems with so many tactics, `None` for one with a `sorry`."""
    return [Item(f"t{i}", 1 if n is None else n, n is None) for i, n in enumerate(lengths)]


@pytest.mark.parametrize(
    ("num_tactics", "has_sorry", "rating"),
    [(0, False, None), (0, True, math.inf), (3, True, math.inf), (1, False, math.e), (5, False, 148.4131591025766)],
)
def test_difficulty_is_e_to_the_number_of_tactics(num_tactics, has_sorry, rating):
    assert difficulty(num_tactics, has_sorry) == pytest.approx(rating)


def test_a_proof_of_710_tactics_has_a_difficulty_too():
    assert difficulty(709, False) == pytest.approx(math.exp(709))
    assert difficulty(710, False) == difficulty(5000, False) == sys.float_info.max
    found = Thresholds.of([1, 710, 5000])
    assert math.isfinite(found.easy_difficulty) and math.isfinite(found.medium_difficulty)
    assert [found.category(n) for n in (1, 710, 5000)] == ["Easy", "Medium", "Hard"]


def test_thresholds_are_the_33rd_and_67th_percentile_between_neighbours():
    found = Thresholds.of([1, 2, 3, 4])
    # places 0.99 and 2.01 of the sorted difficulties e, e^2, e^3, e^4
    assert found.easy_difficulty == pytest.approx(math.e + 0.99 * (math.e**2 - math.e))
    assert found.medium_difficulty == pytest.approx(math.e**3 + 0.01 * (math.e**4 - math.e**3))
    assert (found.easy, found.medium) == pytest.approx((1.99, 3.01))
    assert [found.category(n) for n in (1, 2, 3, 4)] == ["Easy", "Medium", "Medium", "Hard"]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30))
def test_categories_by_number_of_tactics_are_those_by_difficulty(lengths):
    rated = [math.exp(n) for n in lengths]
    low, high = np.percentile(rated, [33, 67])
    found = Thresholds.of(lengths)
    assert (found.easy_difficulty, found.medium_difficulty) == pytest.approx((low, high))
    for n, rating in zip(lengths, rated, strict=True):
        exact = rating in (pytest.approx(low, rel=1e-9), pytest.approx(high, rel=1e-9))
        if not exact:  # there the difference is one of rounding
            assert found.category(n) == ("Easy" if rating <= low else "Medium" if rating <= high else "Hard")


def test_sorries_are_no_part_of_the_thresholds_and_a_category_of_their_own():
    found = Curriculum.of({"a": items(1, 2, 3, 4, *[None] * 50)})
    assert found.thresholds == Thresholds.of([1, 2, 3, 4])
    assert found.counts == {"Easy": 1, "Medium": 2, "Hard": 1, "Hard (No proof)": 50}


def test_term_proofs_are_dealt_out_in_thirds_with_the_rest_hard():
    found = Curriculum.of({"a": items(*[0] * 8)})
    parts = {name: [item.what for item in found.categories["a"][name]] for name in CATEGORIES}
    assert parts == {
        "Easy": ["t0", "t1"],
        "Medium": ["t2", "t3"],
        "Hard": ["t4", "t5", "t6", "t7"],
        "Hard (No proof)": [],
    }
    assert found.thresholds is None


def test_the_repository_with_the_most_easy_theorems_comes_first_and_equal_ones_stay_in_order():
    repositories = {"hard": items(9, 9, 9), "a": items(1, 5), "easy": items(1, 1, 1), "b": items(1, 9)}
    assert Curriculum.of(repositories).order == ("easy", "a", "b", "hard")
    assert Curriculum.of({}).order == () and list(Curriculum.of({}).summary())[-1].startswith("0 theorems")


def test_the_summary_names_the_three_hardest_and_the_thresholds():
    lines = list(Curriculum.of({"a": items(1, 1, 2, 3, 9, 10, 11, 12, None, 0, 0, 0)}).summary())
    assert "  Hard: 4, such as t7 (162755), t6 (59874.1), t5 (22026.5)" in lines
    assert "  Hard (No proof): 1, such as t8 (inf)" in lines
    assert lines[-2].endswith("Hard (No proof) 1 (8.3%)") and "n <= 2.31" in lines[-1]


def test_there_is_no_percentile_of_nothing():
    with pytest.raises(ValueError, match="no values"):
        percentile([], 33)
    assert percentile([7], 67) == 7
