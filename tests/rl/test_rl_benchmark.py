"""`benchmarks.rl_scripted` and `cluster_sim` take the place of parts of a run and of a cluster, by their names."""

import json
from pathlib import Path

import pytest

from benchmarks import rl, rl_scripted
from benchmarks.cluster_sim import measure


@pytest.mark.nightly
@pytest.mark.slow
def test_a_run_over_a_lean_that_sleeps_is_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rl.make_model(tmp_path)
    flags = rl.run_flags(tmp_path, "run", steps=2, seconds=1)
    script = {"slots": 2, "tactic_seconds": 0.01, "report": str(tmp_path / "report"), "sleeping_network": True}
    monkeypatch.setenv("SCRIPTED_RL", json.dumps(script))
    monkeypatch.setattr("sys.argv", ["rl", *flags])
    assert rl_scripted.main() == 0
    report = json.loads((tmp_path / "report_r0.json").read_text())
    assert len(report["rows"]) == 2 and report["collect"]["answered"] > 0
    shares = rl.overlap(report)
    assert shares["of_ideal"] > 0 and shares["lean"] > 0 and shares["network"] > 0


def test_a_driver_over_simulated_hosts_is_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.cluster_sim.THEOREMS", 100)
    monkeypatch.setattr("benchmarks.cluster_sim.STEP", 10)
    figures = measure(2, 0.3, tmp_path)
    assert figures["attempts"] >= 10 and figures["bytes"] > 100
    assert figures["exchange and learn"] > 0
