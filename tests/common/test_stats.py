import pytest

from nanoproof.evaluation.summary import mcnemar_exact, paired_difference, pass_at_k, sign_flip_test, wilson


def test_wilson_interval_of_a_known_case():
    assert wilson(50, 100) == pytest.approx((0.4038, 0.5962), abs=1e-4)


def test_wilson_interval_stays_within_zero_and_one():
    assert wilson(0, 10)[0] == 0.0
    assert wilson(10, 10)[1] == pytest.approx(1.0) and wilson(10, 10)[1] <= 1
    assert wilson(0, 0) == (0.0, 1.0)


def test_mcnemar_of_known_cases():
    assert mcnemar_exact(0, 0) == 1.0
    assert mcnemar_exact(0, 6) == pytest.approx(2 / 2**6)
    assert mcnemar_exact(6, 0) == mcnemar_exact(0, 6)
    assert mcnemar_exact(5, 5) == 1.0
    assert mcnemar_exact(1, 9) == pytest.approx(22 / 1024)


def test_the_interval_of_a_paired_difference_holds_it_and_counts_the_pairs_that_agree():
    difference, low, high = paired_difference(2, 10, 100)
    assert difference == 0.08 and low < 0.08 < high and low > 0
    assert paired_difference(2, 10, 20)[1:] != paired_difference(2, 10, 100)[1:]
    assert paired_difference(0, 0, 0) == (0.0, -1.0, 1.0)


def test_the_sign_flip_test_counts_patterns_that_are_as_extreme():
    assert sign_flip_test([1, 1, 1]) == 2 / 8
    assert sign_flip_test([0.0, 0.0]) == 1.0
    assert sign_flip_test([1.0, -1.0]) == 1.0
    assert sign_flip_test([0.2] * 40) < 0.001 < sign_flip_test([0.2, -0.2] * 20)


def test_pass_at_k_is_the_share_of_choices_with_a_success():
    assert pass_at_k(4, 0, 2) == 0.0 and pass_at_k(4, 4, 1) == 1.0
    assert pass_at_k(4, 1, 2) == pytest.approx(0.5)
    assert pass_at_k(5, 2, 1) == pytest.approx(0.4)
