"""What the monitor says of experiments of self-play."""

import json
from collections.abc import Callable
from pathlib import Path

from nanoproof.monitor.export import ExportOptions, export_run
from tests.monitor.conftest import Asker

Look = Callable[..., Asker]


def test_an_experiment_of_self_play_has_its_rounds(look: Look, tmp_path: Path) -> None:
    path = tmp_path / "experiment"
    for number, rate in enumerate((40.0, 55.5)):
        folder = path / f"round{number}"
        (folder / "sampler_ckpt").mkdir(parents=True)
        metrics = {"succ rate": rate, "RL_new/nr_examples_proof": 3 + number, "success_rates": {"0.000": 5, "0.250": 1}}
        (folder / "metrics.json").write_text(json.dumps(metrics))
    (path / "round1" / "sampler_ckpt" / "conjectures.json").write_text('{"pairs": 7, "proposed": 21, "kept": 4}')
    (path / "round2").mkdir()
    (path / "selfplay.json").write_text("{}")
    model = path / "round0" / "RL_model"
    model.mkdir()
    (model / "args.json").write_text("{}")
    found = look(path).get("/api/rounds")["rounds"]
    assert [(one["number"], one["over"], one["proved_percent"]) for one in found] == [
        (0, True, 40.0),
        (1, True, 55.5),
        (2, False, None),
    ]
    assert found[1]["tally"] == {"pairs": 7, "proposed": 21, "kept": 4} and found[1]["proofs"] == 4
    said = export_run(path, ExportOptions(out=str(tmp_path / "run.html")))
    assert said.endswith(", 2 rounds")
    asker = look(tmp_path)
    asker.current.show_runs(tmp_path, every_seconds=0)
    rows = {one["name"]: (one["stage"], one["step"]) for one in asker.get("/api/runs")["items"]}
    assert rows == {"experiment": ("self-play", 2), "experiment/round0/RL_model": ("", None)}
