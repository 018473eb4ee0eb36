"""What the benchmark of the value computes from attempts."""

import json

import pytest

from benchmarks.search_value import GivenUp, Search, crossed_ends, halving, main, read_searches, separation
from nanoproof.common.errors import UserError
from nanoproof.prover.attempt import Attempt
from nanoproof.search.expand import Estimate
from tests.rl.small import theorems


def mean(estimate: Estimate) -> float:
    return estimate.mean


def searched(simulations: int, solved: bool, *left: float) -> Search:
    """A search whose root seemed so far after 1, 2, 4, ... simulations."""
    return Search(simulations, solved, tuple(Estimate(1 << i, value, value) for i, value in enumerate(left)))


NEAR, FAR = searched(6, True, 5, 4, 3), searched(16, False, 5, 8, 9, 9)
LATE = searched(12, True, 5, 6, 7, 8)


def test_separation_is_the_chance_that_the_nearer_one_has_a_proof() -> None:
    assert separation([NEAR, FAR, LATE], mean, 4) == (1.0, 2, 1)
    assert separation([NEAR, FAR], mean, 1)[0] == 0.5
    assert separation([NEAR, FAR, LATE], mean, 8) == (1.0, 1, 1), "a proof was found before"


def test_giving_up_saves_what_would_follow_and_loses_later_proofs() -> None:
    searches = [NEAR, FAR, LATE]
    ends = [search.given_up(mean, 2, 6.5) for search in searches]
    assert ends == [None, 2, 4]
    assert GivenUp.of(searches, ends) == GivenUp(2, 14 + 8, 34, 1, 2)
    assert FAR.given_up(mean, 3, 6.5) == 4, "it is asked at powers of two"


def test_the_threshold_of_the_other_half_is_not_fitted_to_this_one() -> None:
    assert crossed_ends([NEAR, FAR, LATE, FAR], mean, 2) == [None, 4, None, 4]
    assert crossed_ends([NEAR, NEAR, FAR, LATE], mean, 2) == [None, None, 4, 2]


def test_half_goes_on_at_each_doubling() -> None:
    found = halving([NEAR, FAR, LATE, FAR], mean, 4)
    assert (found.solved, found.simulations) == (1, 4 * 4 + 2 + 4)
    assert found.uniform_budget == 5 and found.uniform_solved == 0


def test_records_are_cut_at_a_budget_and_old_ones_refused(tmp_path, capsys) -> None:
    theorem = theorems(1)[0]
    estimates = (Estimate(1, 5.0, 5.0), Estimate(2, 6.0, 4.0), Estimate(4, 7.0, 4.0))
    attempt = Attempt(theorem, "proven", budget=8, counts={"simulations": 7}, estimates=estimates)
    assert Attempt.from_json(json.loads(json.dumps(attempt.to_json()))) == attempt
    file = tmp_path / "results.jsonl"
    file.write_text(json.dumps(attempt.to_json()) + "\n")
    assert read_searches([tmp_path], None) == [Search(7, True, estimates)]
    assert read_searches([file], 4) == [Search(4, False, estimates[:2])]
    assert main([str(tmp_path), "--after", "2", "--json", str(tmp_path / "out.json")]) == 0
    assert "1 proofs, 7 simulations" in capsys.readouterr().out
    rows = json.loads((tmp_path / "out.json").read_text())["given_up"]
    assert [row["lost"] for row in rows if row["by"] == "V"] == [1, 1, 1, 1, 0, 0, 0, 0]
    file.write_text(json.dumps(Attempt(theorem, "unproven").to_json()) + "\n")
    with pytest.raises(UserError):
        read_searches([file], None)
