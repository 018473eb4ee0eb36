import pytest

from nanoproof.common.stats import wilson


def test_wilson_interval_of_a_known_case():
    assert wilson(50, 100) == pytest.approx((0.4038, 0.5962), abs=1e-4)


def test_wilson_interval_stays_within_zero_and_one():
    assert wilson(0, 10)[0] == 0.0
    assert wilson(10, 10)[1] == pytest.approx(1.0) and wilson(10, 10)[1] <= 1
    assert wilson(0, 0) == (0.0, 1.0)
