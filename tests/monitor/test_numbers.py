"""The figures of the page are what the files of runs say, computed again without the monitor (`recomputed.py`)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.fakes.simulated_run import SimulatedRun, write_evaluation
from tests.monitor import recomputed
from tests.monitor.conftest import Asker
from tests.monitor.recomputed import Shown

FIRST_RUN = Path(__file__).resolve().parents[1] / "fixtures" / "first_run" / "rl" / "first_run"
Look = Callable[..., Asker]
OVERVIEW: dict[str, Callable[[Any], Any]] = {
    "Step": lambda answer: answer["step"],
    "Time": lambda answer: answer["elapsed"],
    "Loss": lambda answer: answer["metrics"]["loss"],
    "Theorems proved": lambda answer: answer["theorems_proven"],
    "Proofs per hour": lambda answer: answer["proofs_per_hour"],
    "Attempts": lambda answer: answer["attempts"],
    "Replay buffer": lambda answer: answer["replay"],
}
THEOREM = {
    "Attempts": "attempts",
    "Proved": "proven",
    "Simulations": "simulations",
    "Time": "seconds",
    "First proof": "first_proven",
    "Shortest proof": "tactics",
}
CALIBRATION = {
    "States": "count",
    "Calibration error": "expected_error",
    "Mean error": "mean_error",
    "Mean absolute error": "mean_absolute_error",
    "Correlation": "correlation",
}
EVALUATION: dict[str, Callable[[Any], Any]] = {
    "Solved": lambda row: row["solved"] / row["done"],
    "Interval": lambda row: row["low"],
    "Interval's end": lambda row: row["high"],
    "Simulations": lambda row: row["simulations"],
    "Errors": lambda row: row["errors"],
    "Took": lambda row: row["tactic_samples"],
    "within 1": lambda row: row["solved_at"]["1"],
    "within 4": lambda row: row["solved_at"]["4"],
}
DIFFERENCE = {"Difference": "difference", "Difference's low end": "low", "Gained": "only_b", "Lost": "only_a", "p": "p"}


def answered(asker: Asker, one: Shown) -> Any:
    """What the API answers where the page shows this figure."""
    page, _, query = one.page.partition("?")
    if one.name.startswith("curve "):
        name = one.name.removeprefix("curve ")
        values = asker.get(f"/api/series?names={name}&max_points=500")["values"][name]
        return [value for value in values if value is not None][-1]
    if page == "":
        return OVERVIEW[one.name](asker.get("/api/overview"))
    if page == "theorem":
        theorem = asker.get(f"/api/theorem?{query}")["theorem"]
        return theorem[THEOREM[one.name]] + (one.name == "First proof")
    if page == "model":
        return asker.get("/api/calibration")[CALIBRATION[one.name]]
    if page == "actors":
        states: dict[str, float] = {}
        for rank in asker.get("/api/actors")["ranks"]:
            for state, seconds in rank["seconds"].items():
                states[state] = states.get(state, 0.0) + seconds
        words = {"waits for the model": "model", "waits for Lean": "lean", "paused for training": "paused"}
        return states.get(words.get(one.name, one.name), 0.0) / sum(states.values())
    if page == "run":
        about = asker.get("/api/run")["identity"]
        return about["seed"] if one.name == "Seed" else about["bytes"]
    if page == "compare":
        return asker.get(f"/api/evaluations/diff?{query}")[DIFFERENCE[one.name]]
    assert page.startswith("evaluation/")
    return EVALUATION[one.name](asker.get(f"/api/{quote(page.replace('evaluation/', 'evaluations/'))}")["evaluation"])


def compare(asker: Asker, figures: list[Shown], at_least: int = 12) -> None:
    assert len(figures) >= at_least
    found = {(one.page, one.name): answered(asker, one) for one in figures}
    assert found == {(one.page, one.name): pytest.approx(one.value, rel=1e-6, abs=1e-6) for one in figures}


def test_the_figures_of_reinforcement_learning(look: Look) -> None:
    compare(look(FIRST_RUN), recomputed.of_rl(FIRST_RUN))


def test_the_figures_of_reinforcement_learning_on_two_ranks(look: Look, simulated: SimulatedRun) -> None:
    compare(look(simulated.path), recomputed.of_rl(simulated.path))


def test_the_figures_of_finetuning(look: Look, finetuned: Path) -> None:
    compare(look(finetuned), recomputed.of_finetuning(finetuned))


def test_the_figures_of_evaluations(look: Look, tmp_path: Path) -> None:
    compare(look(FIRST_RUN), recomputed.of_evaluation(FIRST_RUN))
    for step, skill in ((2, 0.3), (9, 0.6)):
        write_evaluation(tmp_path, "nanolean", step, 1e9 + step, skill, theorems=60)
    compare(look(tmp_path), recomputed.of_evaluation(tmp_path))
