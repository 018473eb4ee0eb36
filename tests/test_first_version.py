"""A run that the first version wrote: today's commands resume it, evaluate it, show it, and look into it.

Commands are named by the paths that users type, so that these tests stand still while modules move.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, build_opener

import pytest

from tests.helpers import main_of

FIXTURE = Path(__file__).parent / "fixtures" / "first_run"
ROOT = Path(__file__).resolve().parents[1]
RUN = "rl/first_run"
PROVED = {"given_p", "given_q", "given_r", "given_s", "pair_p_r", "pair_q_s"}
"""What the first version proved of the eight theorems of `exam.lean`, at both evaluations."""


@pytest.fixture
def home(tmp_path: Path, nanoproof_home: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `$NANOPROOF_HOME` with the run, and the working directory; the library's cache is that of all tests."""
    path = tmp_path / "home"
    shutil.copytree(FIXTURE, path)
    cache = Path(nanoproof_home) / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    (path / "cache").symlink_to(cache)
    monkeypatch.setenv("NANOPROOF_HOME", str(path))
    monkeypatch.chdir(path)
    return path


def run(module: str, *words: str) -> int:
    """Call a command in this process; returns its exit code."""
    found: int = main_of(module)([*words])
    return found


def records(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def proved(evaluation: Path) -> set[str]:
    """The names of the theorems that an evaluation proved."""
    results = records(evaluation / "results.jsonl")
    assert len(results) == 8
    return {result["theorem"]["id"] for result in results if result["outcome"] == "proven"}


def test_it_is_resumed(home: Path) -> None:
    path = home / RUN
    before = {name: (path / name).read_bytes() for name in ("metrics.jsonl", "attempts_r0.jsonl", "model_2.pt")}
    words = ["--num-steps", "3", "--eval-every", "never", "--no-eval-start"]
    assert run("nanoproof.rl", "--resume-from", RUN, *words) == 0
    metrics = records(path / "metrics.jsonl")
    assert [record["step"] for record in metrics] == [1, 2, 3]
    assert metrics[2]["theorems_proven"] >= metrics[1]["theorems_proven"] == 8  # the matchmaker remembers
    assert metrics[2]["replay"] >= metrics[1]["replay"] == 28  # and the buffer is filled again
    assert metrics[2]["loss"] < 3  # with weights that were made anew it would be 6
    assert (path / "model_3.pt").exists() and (path / "optim_3.pt").exists()
    for name, content in before.items():
        assert (path / name).read_bytes().startswith(content)
    args = json.loads((path / "args.json").read_text(encoding="utf-8"))
    assert args["num_steps"] == 3 and args["datasets"] == ["exercises.lean"] and args["negative_fraction"] == 0.2


@pytest.mark.nightly
def test_its_checkpoints_are_evaluated(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--datasets", "exam.lean", "--num-simulations", "12", "--lean-processes", "2", "--device-type", "cpu"]
    words += ["--search-finishers", "none", "--step-tactics", "0"]  # as in the evaluations that there are
    assert run("scripts.prover_eval", "--run-dir", RUN, *words) == 0
    assert capsys.readouterr().out.count("6/8") >= 2
    for step in (0, 2):
        (path,) = (home / RUN).glob(f"eval_{step}_*")
        assert proved(path) == proved(home / RUN / "evals" / f"{step}_exam_valid") == PROVED
    words += ["--max-theorems", "1", "--output-dir", str(home / "last")]
    assert run("scripts.prover_eval", "--model-path", RUN, *words) == 0
    summary = json.loads((home / "last" / "summary.json").read_text(encoding="utf-8"))
    assert (summary["model"]["step"], summary["solved"], summary["total"]) == (2, 1, 1)


def test_its_evaluations_are_compared_and_their_proofs_checked_again(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluations = [f"{RUN}/evals/{step}_exam_valid" for step in (0, 2)]
    assert run("scripts.compare_evals", *evaluations) == 0
    assert capsys.readouterr().out.count("6/8") >= 2
    words = ["--lean", "nanolean", "--json", "checked.json"]
    assert run("scripts.check_with_lean", f"{evaluations[1]}/proofs", *words) == 0
    checked = json.loads((home / "checked.json").read_text(encoding="utf-8"))
    assert (checked["files"], checked["accepted"]) == (6, 6)


@pytest.fixture
def address(home: Path) -> Iterator[str]:
    """Where a monitor shows the run."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "nanoproof.monitor", "--run-dir", RUN, "--port", "0"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            yield next(word for word in line.split() if word.startswith("http://"))
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)


def test_the_monitor_shows_it(address: str) -> None:
    opener = build_opener(ProxyHandler({}))

    def ask(question: str) -> Any:
        with opener.open(f"{address}/api/{question}", timeout=60) as answer:
            return json.load(answer)

    assert (ask("run")["name"], ask("run")["live"]) == ("first_run", False)
    overview = ask("overview")
    assert (overview["step"], overview["attempts"], overview["proofs"], overview["theorems_proven"]) == (2, 18, 16, 8)
    assert ask("series")["values"]["loss"] == [1.5640157461166382, 1.5956016778945923]
    theorems = {item["id"]: item for item in ask("theorems")["items"]}
    assert theorems["and_p_q"]["tactics"] == 5 and theorems["either"]["outcome"] == "unproven"
    attempts = ask("attempts")["items"]
    assert len(attempts) == 18
    kept = [item for item in attempts if item["tree"]]
    assert kept
    for item in kept:
        number = f"{item['rank']}/{item['step']}/{item['seq']}"
        assert ask(f"attempts/{number}")["id"] == item["id"]
        tree = ask(f"attempts/{number}/tree")
        assert tree["nodes"] == len(tree["tree"]["parent"]) > 1
    evaluations = {item["name"]: item for item in ask("evaluations")["items"]}
    assert {name: item["solved"] for name, item in evaluations.items()} == {"0_exam_valid": 6, "2_exam_valid": 6}
    assert ask("evaluations/2_exam_valid")["results"]["total"] == 8
    assert ask("evaluations/2_exam_valid/results/0")
    assert ask("evaluations/diff?a=0_exam_valid&b=2_exam_valid")
    assert len(ask("samples")["items"]) > 0 and len(ask("train-samples")["items"]) > 0
    assert ask("calibration")["count"] == 10
    assert ask("timeline")["lanes"] and ask("actors")["ranks"][0]["total"] == 2
    assert any("step 2: exam valid 6/8" in item["message"] for item in ask("logs")["items"])


def test_its_attempts_and_buffers_are_looked_into(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("scripts.inspect_proofs", RUN, "--origin", "collect", "--json") == 0
    attempts = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(attempts) == 18
    assert run("scripts.inspect_proofs", RUN, "--id", "and_s_p", "--tree", "--full") == 0
    assert "constructor" in capsys.readouterr().out
    assert run("scripts.inspect_buffer", RUN, "--json", "--max", "100") == 0
    replayed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(replayed) == 28
    assert run("scripts.inspect_buffer", RUN, "--kind", "negative") == 0
    assert "193" in capsys.readouterr().out
