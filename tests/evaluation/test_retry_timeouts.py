"""Evaluations in which tactics run out of time: they are tried once more when nothing else runs."""

import json
import threading
from collections import Counter

import pytest

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.data.theorems import theorem_sets as sets
from nanoproof.evaluation import command, evaluate
from nanoproof.lean.types import ProcessLost
from scripts import prover_eval
from tests.evaluation import scripted_eval
from tests.evaluation.scripted_eval import words


class World:
    """How often theorems were begun, and what the tactic does then that takes too long at first in some of them."""

    def __init__(self):
        self.starts, self.lock, self.patient = Counter(), threading.Lock(), ()
        self.at_work = self.most_at_once = 0


class Session(scripted_eval.Session):
    def __init__(self, world):
        super().__init__({})
        self.world = world

    def start(self, theorem):
        branch = super().start(theorem)
        with self.world.lock:
            self.world.starts[theorem.id] += 1
            again = self.world.starts[theorem.id] > 1
        does = self.world.patient if again else "timeout"
        self.script = {"A": {"intro h": ("B",)}, "B": {"rfl": does if theorem.id in ("t0", "t4", "t8") else ()}}
        self.again = again
        return branch

    def apply(self, branch, tactics):
        if not self.again:
            return super().apply(branch, tactics)
        with self.world.lock:
            self.world.at_work += 1
            self.world.most_at_once = max(self.world.most_at_once, self.world.at_work)
        results = super().apply(branch, tactics)
        with self.world.lock:
            self.world.at_work -= 1
        return results


@pytest.fixture
def world(monkeypatch, nanoproof_home):
    world = World()
    monkeypatch.setitem(sets.DATASETS, "scripted", scripted_eval.scripted_theorems)
    monkeypatch.setattr(command, "open_fleet", scripted_eval.open_fleet)
    monkeypatch.setattr(scripted_eval.Client, "lease", lambda client, timeout: Session(world))
    monkeypatch.setenv("ACTORS", "4")
    return world


def evaluated(path, *more):
    """The summary, and the results by id, of an evaluation of ten theorems, half of which have no proof."""
    assert prover_eval.main(words(path, "--max-theorems", 10, *more)) == 0
    return read_json(path / "summary.json"), {
        each["theorem"]["id"]: each for each in read_jsonl(path / "results.jsonl")
    }


def test_a_tactic_that_is_fast_enough_alone_proves_its_theorem(world, tmp_path, capsys):
    summary, results = evaluated(tmp_path / "out")
    assert (summary["solved"], summary["solved_on_retry"], summary["total"]) == (5, 3, 10)
    assert (summary["retried"], summary["passed_on_retry"]) == (3, 3) and summary["timeouts"] >= 3
    assert results["t0"]["stop_reason"] == "retry" and results["t0"]["counts"]["simulations"] == 4
    assert "retried" not in results["t2"]["counts"] and world.starts["t1"] == 1
    assert (tmp_path / "out" / "proofs" / "t4.lean").exists() and world.most_at_once == 1
    said = (
        "of 3 in theorems given up, tried once more when nothing else ran, 3 worked, and 3 theorems were proved by that"
    )
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(("patient", "passed"), [("timeout", 0), ("reject", 0), (("D",), 3)])
def test_a_tactic_that_proves_nothing_alone_is_counted(world, tmp_path, patient, passed):
    world.patient = patient
    summary, results = evaluated(tmp_path / "out")
    assert (summary["solved"], summary["retried"], summary["passed_on_retry"]) == (2, 3, passed)
    assert (results["t0"]["outcome"], results["t0"]["message"]) == ("unproven", "no proof found")


def test_it_can_be_switched_off(world, tmp_path):
    summary, _ = evaluated(tmp_path / "out", "--no-retry-timeouts")
    assert (summary["solved"], summary["retried"], max(world.starts.values())) == (2, 0, 1)
    assert summary["settings"]["retry_timeouts"] is False


def test_a_server_that_fails_meanwhile_leaves_the_attempts_as_they_were(world, tmp_path):
    world.patient = ProcessLost("scripted crash")
    summary, results = evaluated(tmp_path / "out")
    assert (summary["solved"], summary["errors"], summary["retried"]) == (2, 0, 0)
    assert results["t0"]["outcome"] == "unproven"


def test_what_there_is_no_time_for_is_left_as_it_was(world, tmp_path, monkeypatch):
    monkeypatch.setattr(evaluate, "RETRY_LEAST_SECONDS", -1.0)
    monkeypatch.setattr(evaluate, "RETRY_SHARE", 0.0)
    assert evaluated(tmp_path / "out")[0]["retried"] == 0


def test_without_timeouts_the_results_are_the_same_with_and_without_second_tries(world, tmp_path):
    world.starts.update(f"t{number}" for number in range(10))  # so that all are fast
    found = [evaluated(tmp_path / name, *more)[1] for name, more in (("on", ()), ("off", ("--no-retry-timeouts",)))]
    first, second = ({name: {**each, "seconds": None} for name, each in results.items()} for results in found)
    assert first == second and len(first) == 10


def test_an_older_evaluation_goes_on_although_it_says_nothing_of_second_tries(world, tmp_path):
    path = tmp_path / "out"
    evaluated(path)
    record = read_json(path / "settings.json")
    del record["settings"]["retry_timeouts"], record["settings"]["search_rules"]
    (path / "settings.json").write_text(json.dumps(record))
    (path / "summary.json").unlink()
    assert evaluated(path, "--continue")[0]["solved"] == 5
    with pytest.raises(UserError, match="--retry-timeouts was True, is False"):
        evaluated(path, "--continue", "--no-retry-timeouts")
