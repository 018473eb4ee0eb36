"""A run as one HTML file: what is in it, what is chosen, and what is said where there is nothing to write."""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from nanoproof.common.errors import UserError
from nanoproof.monitor.__main__ import main
from nanoproof.monitor.export import ExportOptions, choose_trees, export_evaluations
from tests.fakes.simulated_run import SimulatedRun
from tests.helpers import page_data
from tests.monitor.conftest import attempt, lines
from tests.monitor.test_numbers import FIRST_RUN

TREE = {
    **{"kind": "o", "solved": "0", "parent": [-1], "tactic": [-1], "prior": [1.0], "logprob": [0], "visits": [1]},
    **{"value_sum": [-2], "expansions": [1], "state": [0], "states": ["⊢ True"], "tactics": []},
}


def export(run: Path, out: Path, *words: str) -> Any:
    assert main(["export", str(run), "--out", str(out), *words]) == 0
    return page_data(out.read_text(encoding="utf-8"))


@pytest.mark.nightly
def test_the_file_of_a_run_has_charts_scores_theorems_and_chosen_trees(
    simulated: SimulatedRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = export(simulated.path, tmp_path / "run.html", "--trees", "3", "--theorems", "5")
    answers = data["answers"]
    assert data["kind"] == "run" and answers["overview"]["run"] == "simulated" and answers["overview"]["live"] is False
    steps = [json.loads(line)["step"] for line in (simulated.path / "metrics.jsonl").read_text().splitlines()]
    assert answers["series"]["steps"] == sorted(set(steps)) and len(answers["series"]["values"]["loss"]) == len(steps)
    theorems = answers["theorems"]
    assert len(theorems["items"]) == theorems["total"] == 24
    trees = {f"attempts/{one['rank']}/{one['step']}/{one['seq']}/tree" for one in answers["attempts"]["items"]}
    assert len(trees) == 3 and trees == {name for name in answers if name.endswith("/tree")}
    full = [answers[name] for name in answers if name.startswith("theorem/")]
    assert 5 <= len(full) <= 8 and all(one["best"] for one in full)
    listed = [
        f"attempts/{one['rank']}/{one['step']}/{one['seq']}/tree" for of in full for one in of["history"] if one["tree"]
    ]
    assert set(listed) == trees, "no link leads to a tree that the file does not have"
    names = [row["name"] for row in answers["evaluations"]["items"]]
    assert names and answers[f"evaluations/{names[0]}"]["evaluation"]["name"] == names[0]
    said = capsys.readouterr().out
    assert said.startswith(f"{tmp_path / 'run.html'}: ") and f"{len(set(steps))} steps, 24 theorems" in said


def test_trees_are_chosen_in_turns_and_by_name(tmp_path: Path) -> None:
    def row(name: str, outcome: str, tactics: int, simulations: int) -> Any:
        return {"dataset": "demo", "id": name, "outcome": outcome, "tactics": tactics, "simulations": simulations}

    kept = [row("a", "proven", 2, 1), row("a", "proven", 5, 9), row("b", "proven", 3, 1), row("c", "unproven", 0, 8)]
    kept += [row("d", "unproven", 0, 64), row("b", "unproven", 0, 99)]
    assert [(one["id"], one["outcome"]) for one in choose_trees(kept, 3)] == [
        ("a", "proven"),
        ("b", "unproven"),
        ("d", "unproven"),
    ]
    assert [one["id"] for one in choose_trees(kept, 9)] == ["a", "b", "d", "c"]

    (tmp_path / "metrics.jsonl").write_text(lines({"step": 1, "loss": 1.0}))
    (tmp_path / "attempts_r0.jsonl").write_text(lines(attempt(0), attempt(1, "u", "unproven")))
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "0_0_1.json.gz").write_bytes(gzip.compress(json.dumps(TREE).encode()))
    answers = export(tmp_path, tmp_path / "x.html", "--trees", "0", "--tree", "0/0/1", "--theorems", "0")["answers"]
    assert answers["attempts/0/0/1/tree"]["tree"]["states"] == ["⊢ True"] and answers["attempts/0/0/1"]["id"] == "u"
    assert [name for name in answers if name.startswith("theorem/")] == ["theorem/demo/u"]
    with pytest.raises(UserError, match="--tree 0/0/0: no such tree is kept"):
        main(["export", str(tmp_path), "--tree", "0/0/0"])


def test_evaluations_of_several_runs_are_in_one_file_side_by_side(tmp_path: Path) -> None:
    paths = []
    for run, evaluation in (("a", "0_exam_valid"), ("b", "2_exam_valid")):
        paths.append(tmp_path / run / "eval_exam")
        shutil.copytree(FIRST_RUN / "evals" / evaluation, paths[-1])
    (tmp_path / "a" / "metrics.jsonl").write_text(lines({"step": 1, "loss": 1.0}))  # of the run, not of the report
    said = export_evaluations(paths, ExportOptions(out=str(tmp_path / "report.html")))
    assert said.endswith("MB, 2 evaluations of 16 theorems (16 in full)")
    answers = page_data((tmp_path / "report.html").read_text(encoding="utf-8"))["answers"]
    overview = answers["overview"]
    assert (overview["run"], overview["stage"], overview["metrics"]) == (tmp_path.name, "evaluation", {})
    there, back = (
        answers[f"evaluations/diff/{names}"] for names in ("a:eval_exam/b:eval_exam", "b:eval_exam/a:eval_exam")
    )
    assert there["a"]["name"] == back["b"]["name"] == "a:eval_exam" and there["total"] == 8


def test_what_is_no_run_and_what_cannot_be_written_are_errors_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="RUN nothing/here: nothing there"):
        main(["export", "nothing/here"])
    with pytest.raises(UserError, match=r"holds no run: `python -m nanoproof\.runs list`"):
        main(["export", str(tmp_path), "--out", str(tmp_path / "x.html")])
    with pytest.raises(UserError, match="export takes a RUN"):
        main(["export"])
    with pytest.raises(UserError, match="rl/x: a run is named by --run-dir rl/x, or by export rl/x"):
        main(["rl/x"])
    with pytest.raises(UserError, match="--trees must be >= 0, got -1"):
        main(["export", str(tmp_path), "--trees", "-1"])
    (tmp_path / "metrics.jsonl").write_text(lines({"step": 1, "loss": 1.0}))
    with pytest.raises(UserError, match=r"cannot write .*: Is a directory"):
        main(["export", str(tmp_path), "--out", str(tmp_path)])
