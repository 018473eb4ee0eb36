"""The figures of the page are what the files of runs say, computed again without the monitor (`recomputed.py`)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

from nanoproof.monitor.app import create_app
from nanoproof.monitor.routes import CurrentRun
from nanoproof.prover.attempt_log import START_STATES
from tests.fakes.simulated_run import SimulatedRun, write_evaluation
from tests.monitor import recomputed
from tests.monitor.conftest import Asker, attempt, lines
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


def test_attempts_of_a_step_that_has_not_ended_are_told_from_those_in_the_metrics(look: Look, tmp_path: Path) -> None:
    log = [attempt(0, step=0), attempt(1, step=0), attempt(2, step=1), attempt(3, step=2), attempt(4, step=2)]
    (tmp_path / "attempts_r0.jsonl").write_text(lines(*log))
    steps = [{"step": 1, "time": 1.0, "attempts": 2}, {"step": 2, "time": 2.0, "attempts": 1}]
    (tmp_path / "metrics.jsonl").write_text(lines(*steps))
    overview = look(tmp_path).get("/api/overview")
    assert (overview["attempts"], overview["since_step"]) == (5, 2)
    assert overview["attempts"] - overview["since_step"] == sum(step["attempts"] for step in steps)
    assert overview["indexing"] == {"done": True, "bytes": len(lines(*log)), "total_bytes": len(lines(*log))}


def test_proofs_at_start_states_are_no_theorems_proved(look: Look, tmp_path: Path) -> None:
    inside = attempt(0, "proof@2")
    inside["theorem"]["dataset"] = START_STATES
    (tmp_path / "attempts_r0.jsonl").write_text(lines(inside, attempt(1, "t"), attempt(2, "t")))
    overview = look(tmp_path).get("/api/overview")
    assert (overview["theorems_proven"], overview["proofs"]) == (1, 3)


def test_thinned_curves_are_means_of_whole_stretches(look: Look, tmp_path: Path) -> None:
    losses = [float(number * number % 17) for number in range(64)]
    (tmp_path / "metrics.jsonl").write_text(lines(*({"step": n + 1, "loss": loss} for n, loss in enumerate(losses))))
    series = look(tmp_path).get("/api/series?names=loss&max_points=8")
    parts = np.reshape(losses, (8, 8))
    assert series["values"]["loss"] == pytest.approx(parts.mean(axis=1).tolist())
    assert series["low"]["loss"] == parts.min(axis=1).tolist() and series["steps"] == list(range(8, 65, 8))


def test_two_runs_are_compared_by_the_newest_evaluations_of_both(tmp_path: Path) -> None:
    for name, skill in (("one", 0.2), ("two", 0.8), ("three", 0.5)):
        (tmp_path / "rl" / name).mkdir(parents=True)
        (tmp_path / "rl" / name / "args.json").write_text("{}")
        for step in (0, 5) if name != "three" else ():
            write_evaluation(tmp_path / "rl" / name, "nanolean", step, 1e9 + step, skill + step / 100, theorems=40)
    write_evaluation(tmp_path / "rl" / "one", "minif2f", 5, 1e9, 0.5)
    current = CurrentRun()
    current.show_runs(tmp_path, every_seconds=0)
    client = create_app(current).test_client()
    try:
        answer = client.get("/api/runs/diff?a=rl/one&b=rl/two").get_json()
        (diff,) = answer["items"]  # only one of them was evaluated on miniF2F
        folders = [tmp_path / "rl" / name / "evals" / "5_nanolean_valid" for name in ("one", "two")]
        results = map(recomputed.evaluated, folders)
        before, after = ({key: one["outcome"] == "proven" for key, one in found.items()} for found in results)
        gained = sorted(key for key in before if after[key] and not before[key])
        lost = sum(before[key] and not after[key] for key in before)
        assert len(gained) > lost and (sorted(diff["gained"]), diff["only_a"]) == (gained, lost)
        assert diff["p"] == pytest.approx(recomputed.binomial_p(lost, len(gained)))
        assert client.get("/api/runs/diff?a=rl/one&b=rl/three").get_json()["items"] == []
        same = client.get("/api/runs/diff?a=rl/one&b=rl/one").get_json()["items"]
        assert [one["p"] for one in same] == [1.0, 1.0]
        for query, status in (("a=rl/one", 400), ("a=rl/one&b=nothing", 404)):
            assert client.get(f"/api/runs/diff?{query}").status_code == status
    finally:
        current.close()


def evaluate_checkpoint(folder: Path, model: Path, skill: float, moment: float) -> None:
    """An evaluation of `scripts.prover_eval` of a checkpoint of a run, in a folder of its own."""
    write_evaluation(folder, "simulated", 0, moment, skill, theorems=40)
    (folder / "evals" / "0_simulated_valid").rename(folder / "eval_simulated_valid")
    (folder / "evals").rmdir()
    file = folder / "eval_simulated_valid" / "summary.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "model": {"path": str(model)}}))


def test_runs_are_compared_by_evaluations_of_their_checkpoints_the_later_gains(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name, moment in (("sft", 1e9), ("rl", 1e9 + 100)):
        (home / "quick" / name).mkdir(parents=True)
        (home / "quick" / name / "args.json").write_text("{}")
        (home / "quick" / name / "metrics.jsonl").write_text(lines({"step": 1, "time": moment}))
    evaluate_checkpoint(home / "quick" / "eval_rl", home / "quick" / "rl" / "model_1.pt", 0.8, 1e9 + 200)
    elsewhere = Path("/where/it/was/trained/sft/model_1.pt")  # the folder was copied from another machine
    evaluate_checkpoint(home / "quick" / "eval_sft", elsewhere, 0.2, 1e9 + 300)
    current = CurrentRun()
    current.show_runs(home, every_seconds=0)
    client = create_app(current).test_client()
    try:
        rows = {row["name"]: row for row in client.get("/api/runs").get_json()["items"]}
        assert {name: row["evaluates"] for name, row in rows.items() if row["evaluates"]} == {
            "quick/eval_rl": "quick/rl",
            "quick/eval_sft": "quick/sft",
        }
        answers = [
            client.get(f"/api/runs/diff?a={a}&b={b}").get_json()
            for a, b in (("quick/rl", "quick/sft"), ("quick/sft", "quick/rl"))
        ]
        assert answers[0] == answers[1]
        (diff,) = answers[0]["items"]
        assert (answers[0]["a"], answers[0]["b"]) == ("quick/sft", "quick/rl")
        assert (diff["run_a"], diff["run_b"]) == ("quick/eval_sft", "quick/eval_rl")
        assert diff["difference"] > 0 and diff["only_b"] > diff["only_a"]
        (rival,) = client.get("/api/runs/rivals?run=quick/eval_rl").get_json()["items"]
        assert rival == diff
        query = "run=quick/eval_rl&a=eval_simulated_valid&b=eval_simulated_valid&run_a=quick/eval_sft"
        assert client.get(f"/api/evaluations/diff?{query}").get_json() == diff
        assert client.get(f"/api/evaluations/diff?{query}x").status_code == 404
        overview = client.get("/api/overview?run=quick/eval_rl").get_json()
        assert (overview["stage"], overview["state"]["name"]) == ("evaluation", "finished")
    finally:
        current.close()


def test_an_evaluation_is_summed_by_part_level_and_length_of_proof(look: Look, tmp_path: Path) -> None:
    names = [
        f"{part}_{family}_l{level}_{n}"
        for part in ("easy", "hard")
        for family in "ab"
        for level in (1, 2)
        for n in "xy"
    ]
    results = [
        {
            "theorem": {"dataset": "simulated", "id": name, "source": f"theorem {name} : True := by sorry"},
            "outcome": "proven" if "easy" in name else "unproven",
            "num_tactics": 2 if "l1" in name else 5,
            "counts": {"tactics_run": 10, "rejected": 7, "simulations": 3},
        }
        for name in names
    ]
    place = tmp_path / "eval_simulated_test"
    place.mkdir()
    (place / "settings.json").write_text(json.dumps({"settings": {"dataset": "simulated"}}))
    (place / "results.jsonl").write_text(lines(*results))
    answer = look(tmp_path).get("/api/evaluations/eval_simulated_test?q=easy")
    parts = {(part["by"], part["name"]): (part["solved"], part["total"]) for part in answer["parts"]}
    assert parts == {
        ("part", "easy"): (8, 8),
        ("part", "hard"): (0, 8),
        ("level", "level 1"): (4, 8),
        ("level", "level 2"): (4, 8),
    }
    assert answer["lengths"] == {"2": 4, "5": 4} and answer["counts"]["rejected"] == 7 * 16
    assert answer["results"]["items"][0]["statement"] == "theorem easy_a_l1_x : True"
    assert look(tmp_path).get("/api/overview")["state"]["name"] == "stopped"  # nobody works on it, and it is not over
    alone = look(place).get("/api/evaluations")["items"]  # the folder of the evaluation itself
    assert [row["name"] for row in alone] == ["eval_simulated_test"]


def test_searches_are_summed_and_the_value_is_judged_by_what_was_not_proved_too(look: Look, tmp_path: Path) -> None:
    log: list[Any] = []
    for number in range(40):
        record = attempt(number, f"t{number}", "unproven" if number % 2 else "proven", step=number % 4)
        record["counts"] = {"simulations": 2, "tactics_run": 10, "rejected": 8, "timeouts": 1}
        record["estimates"] = [[1, 3.0 + number % 2, 3.0]]
        log.append(record)
    (tmp_path / "attempts_r0.jsonl").write_text(lines(*log))
    answer = look(tmp_path).get("/api/searches")
    assert (answer["attempts"], answer["total"]) == (40, 40)
    assert answer["counts"]["rejected"] == 320 and answer["counts"]["timeouts"] == 40
    by_step = [(one["step"], one["counts"]["tactics_run"]) for one in answer["steps"]]
    assert by_step == [(step, 100) for step in range(4)]
    assert answer["values"]["unproven"] == {"count": 20, "mean": 4.0, "by_value": {"4": 20}}
    assert answer["told_apart"] == 1.0
    assert look(tmp_path / "empty").get("/api/searches")["told_apart"] is None
