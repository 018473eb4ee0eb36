"""The scripts of whole runs: what is finished is not run again, what was stopped is resumed, the report says what was
measured."""

import json
import os
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from nanoproof.common.config import ConfigError
from nanoproof.common.errors import UserError
from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt import Attempt
from scripts import hard_results, quickstart, rl_cpu, small_runs
from scripts.check_flags import check_commands
from scripts.quickstart_report import print_table
from scripts.rl_cpu_report import Point, write_report
from scripts.small_runs import Commands
from tests.helpers import taken_port, wait_for

SETTINGS = {"seed": 0, "num_simulations": 8}


def make_evaluation(out: Path, solved: set[int], total: int = 10) -> None:
    """An evaluation as scripts.prover_eval leaves it."""
    out.mkdir(parents=True)
    records = []
    for number in range(total):
        theorem = Theorem(f"theorem t{number} : True := by sorry", "nanolean", f"t{number}")
        records.append(Attempt(theorem, "proven" if number in solved else "unproven", budget=8).to_json())
    (out / "results.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    low, high = small_interval(len(solved), total)
    summary = {"solved": len(solved), "total": total, "low": low, "high": high, "settings": SETTINGS}
    summary |= {"simulations": 8, "tactic_samples": 48}
    (out / "summary.json").write_text(json.dumps(summary))


def make_scores(out: Path, solved: set[int]) -> None:
    """Evaluations on both sets; one theorem less is solved on the hard one."""
    for number, name in enumerate(small_runs.SETS):
        make_evaluation(out / small_runs.evaluation_name(name), set(sorted(solved)[number:]))


def small_interval(solved: int, total: int) -> tuple[float, float]:
    return max(0.0, solved / total - 0.1), min(1.0, solved / total + 0.1)


class FakeCommands(Commands):
    """Writes what the commands would have left behind, and keeps what was run."""

    def __init__(self) -> None:
        super().__init__(ranks=1)
        self.ran: list[list[str]] = []
        self.stop_at: str | None = None

    def run(self, stage: str, text: str, words: list[str], ranks: int = 1) -> None:
        self.ran.append(words)
        if words[0] == "scripts.prover_eval":
            make_scores(Path(words[words.index("--output-dir") + 1]), {0, 1} if "rl" in stage else {0})
        elif words[0] == "scripts.tok_train":
            Path(words[-1]).mkdir(parents=True)
            (Path(words[-1]) / "tokenizer.json").touch()
        elif words[0] in ("nanoproof.sft", "nanoproof.rl"):
            self.train_like(stage, words)

    def train_like(self, stage: str, words: list[str]) -> None:
        run_dir = Path(words[words.index("--run-dir" if "--run-dir" in words else "--resume-from") + 1])
        run_dir.mkdir(parents=True, exist_ok=True)
        for step in (0, 1, 2, 3, 4):
            (run_dir / f"model_{step}.json").touch()
        (run_dir / "args.json").write_text('{"num_updates_per_step": 8}')
        rows = [{"step": step, "attempts": 5, "theorems_proven": 3 * step} for step in (1, 2, 3, 4)]
        (run_dir / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (run_dir / "best.json").write_text('{"step": 4}')
        if stage != self.stop_at:
            (run_dir / "finished").touch()


def compare(tmp_path: Path, commands: Commands, **changes: Any) -> None:
    """The comparison without its report, whose pictures take time."""
    options = rl_cpu.RLCPUOptions(**{"seeds": (0,), "theorems": 10, "out": str(tmp_path), **changes})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rl_cpu, "write_report", lambda *_: None)
        rl_cpu.Comparison(options, tmp_path, commands).run()


def modules(commands: FakeCommands) -> list[str]:
    return [words[0] for words in commands.ran]


def test_the_control_makes_as_many_steps_as_rl_on_supervised_data_alone(tmp_path: Path) -> None:
    commands = FakeCommands()
    compare(tmp_path, commands)
    rl, control = (words for words in commands.ran if words[0] == "nanoproof.rl")
    assert control[control.index("--num-steps") + 1] == "4"
    last = dict(pairwise(control))
    assert (last["--collect-transitions"], last["--fraction-sft"]) == ("0", "1")
    assert rl[rl.index("--max-time") + 1] == "0:30:00"


def test_what_is_finished_is_not_run_again(tmp_path: Path) -> None:
    compare(tmp_path, FakeCommands())
    again = FakeCommands()
    compare(tmp_path, again)
    assert modules(again) == ["nanoproof.data.nanolean"]


def test_a_stage_that_was_stopped_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    stopped = FakeCommands()
    stopped.stop_at = "rl, seed 0"
    with pytest.raises(UserError, match="'rl, seed 0' was stopped before its end"):
        compare(tmp_path, stopped)
    again = FakeCommands()
    compare(tmp_path, again)
    first = next(words for words in again.ran if words[0] == "nanoproof.rl")
    assert first == ["nanoproof.rl", "--resume-from", str(tmp_path / "seed_0" / "rl")]
    assert "nanoproof.sft" not in modules(again)


def test_remains_without_a_checkpoint_are_begun_anew(tmp_path: Path) -> None:
    remains = tmp_path / "seed_0" / "sft"
    remains.mkdir(parents=True)
    (remains / "args.json").touch()
    commands = FakeCommands()
    compare(tmp_path, commands)
    sft = next(words for words in commands.ran if words[0] == "nanoproof.sft")
    assert sft[-2:] == ["--run-dir", str(remains)]


def test_ablations_change_one_thing_each_and_start_from_the_same_model(tmp_path: Path) -> None:
    commands = FakeCommands()
    compare(tmp_path, commands, ablations=True)
    runs = [words for words in commands.ran if words[0] == "nanoproof.rl"][2:]
    assert len(runs) == len(rl_cpu.ABLATIONS)
    plain = set(runs[0])
    for words, (flags, _) in zip(runs, rl_cpu.ABLATIONS.values(), strict=True):
        assert set(words) - plain - {words[-1]} <= set(flags)
        assert words[words.index("--model-path") + 1] == str(tmp_path / "seed_0" / "sft")
        assert words[words.index("--max-time") + 1] == "0:08:00"


def test_other_recipes_begin_at_the_same_model_and_are_scored_by_the_same_search(tmp_path: Path) -> None:
    commands = FakeCommands()
    compare(tmp_path, commands, arms=("starts", "starts-and-steps"))
    plain, starts, both, _ = (words[:-2] for words in commands.ran if words[0] == "nanoproof.rl")
    assert starts == [*plain, "--start-states", "nanolean-hard"]
    assert both == [*starts, "--step-tactics", "6"]
    scores = evaluations(commands)
    for arm in ("starts", "starts-and-steps"):
        same_but_for_the_network = shlex.join(scores[f"eval_{arm}_4"]).replace(arm, "rl")
        assert same_but_for_the_network == shlex.join(scores["eval_rl_4"])
    with pytest.raises(ConfigError, match="arms must be of starts, steps"):
        rl_cpu.RLCPUOptions(arms=("start",))


def evaluations(commands: FakeCommands) -> dict[str, list[str]]:
    """The evaluations that were run, by the names of their directories."""
    ran = [words for words in commands.ran if words[0] == "scripts.prover_eval"]
    return {Path(words[words.index("--output-dir") + 1]).name: words for words in ran}


def test_the_comparison_scores_start_end_and_control_on_both_sets(tmp_path: Path) -> None:
    commands = FakeCommands()
    compare(tmp_path, commands)
    ran = evaluations(commands)
    assert {"solver_only", "no_network", "eval_sft", "eval_rl_4", "eval_control_4"} <= ran.keys()
    for words in ran.values():
        at = words.index("--datasets")
        assert words[at + 1 : at + 5] == [*small_runs.SETS, "--split", "test"]
        assert "--search-finishers" not in words  # their default


def test_the_quickstart_scores_its_stages_on_both_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commands = FakeCommands()
    shown = quickstart.Quickstart(quickstart.QuickstartOptions(), tmp_path, commands)
    shown.run()
    assert list(shown.stages) == ["solver_only", "no_network", "sft", "rl"]
    assert [row["solved"] for row in shown.stages["rl"].values()] == [2, 1]
    print_table(shown.stages, {"total": 1.0}, 8)
    table = capsys.readouterr().out
    assert "after finetuning" in table and "nanolean-hard" in table


def test_the_commands_have_flags_that_exist(tmp_path: Path) -> None:
    commands = FakeCommands()
    compare(tmp_path / "rl_cpu", commands, ablations=True)
    shown = quickstart.Quickstart(quickstart.QuickstartOptions(control=True), tmp_path / "quickstart", commands)
    shown.run()
    kinds = {(words[0], *(word for word in words if word.startswith("--"))): words for words in commands.ran}
    assert check_commands(shlex.join(["python", "-m", *words]) for words in kinds.values()) > 12


def test_the_page_of_results_compares_with_what_an_arm_is_compared_with(tmp_path: Path) -> None:
    costs = {
        "tactic_samples": 32.0,
        "lean_seconds": 0.5,
        "wall_seconds": 0.25,
        "simulations": 7.5,
        "policy_seconds": 2.0,
    }
    for path, solved in (("sft/8", {0, 1}), ("rl/8", {0, 1, 2, 3}), ("rl_best-first/8", {0}), ("control/8", {0})):
        make_evaluation(out := tmp_path / path / "seed_0" / "eval_nanolean-hard_test", solved)
        summary = json.loads((out / "summary.json").read_text()) | {"per_theorem": costs}
        if path == "rl/8":
            summary["verdicts"] = {"proofs": 4, "nanolean": 4, "outside": {"Lean's kernel": 3}}
        (out / "summary.json").write_text(json.dumps(summary))
    make_evaluation(out := tmp_path / "whole-proofs" / "proofs" / "eval_nanolean_test", {0, 1, 2})
    summary = json.loads((out / "summary.json").read_text()) | {
        "per_theorem": costs,
        "solved_at": {"1": 1, "8": 2, "32": 3},
    }
    (out / "summary.json").write_text(json.dumps(summary | {"whole_proofs": {"tokens": 4000}}))
    text = hard_results.page(hard_results.read_all(tmp_path, "test"), "", hard_results.read_whole(tmp_path, "test"))
    assert "## nanolean-hard, 10 theorems, 8 simulations" in text
    assert "| after RL | 4 | 40.0% | 16.8-68.7% | +20.0, +30.0 | " in text  # against finetuning, and the control
    assert "| after RL, best-first | 1 | 10.0% | 1.8-40.4% | -30.0 | " in text  # against RL with the other search
    assert "Proofs accepted. after RL: of 4 proofs 4 by NanoLean's checker, 3 by Lean's kernel." in text
    assert "| nanolean (10) | whole proofs | 1 | 2 | 3 |  | 20.0-40.0% | 32 | 400 | 0.50 | 0.25 |" in text


def test_other_options_do_not_mix_with_what_is_there(tmp_path: Path) -> None:
    rl_cpu.prepare_output_dir(tmp_path, rl_cpu.RLCPUOptions())
    rl_cpu.prepare_output_dir(tmp_path, rl_cpu.RLCPUOptions(seeds=(3,), ablations=True))
    with pytest.raises(UserError, match=r"minutes was 30\.0, is 10\.0"):
        rl_cpu.prepare_output_dir(tmp_path, rl_cpu.RLCPUOptions(minutes=10.0))


@pytest.mark.nightly
def test_the_report_compares_theorem_by_theorem(tmp_path: Path) -> None:
    points = []
    for seed in (0, 1):
        for stage, updates, solved in (
            ("after SFT", 0, {0}),
            ("RL", 32, {0, 1, 2, 3}),
            ("steps", 24, {1, 4}),
            ("control", 32, {1}),
        ):
            path = tmp_path / f"{stage}_{seed}"
            make_scores(path, solved)
            points.append(Point(stage, str(path), seed, updates // 8, updates))
    write_report(tmp_path, points, {"simulations": 8, "minutes": 1.0, "ablation_minutes": 1.0}, {})
    text = (tmp_path / "table.md").read_text()
    assert "| 1 | RL | 32 | 4/10 (40.0%) | 30.0-50.0% | 3/10 (30.0%) |" in text
    assert "| nanolean, seed 0: RL - SFT | +30.0 |" in text
    assert "| nanolean-hard, seed 0: RL - SFT | +30.0 |" in text
    assert "| nanolean-hard, seed 1: steps - RL | -20.0 |" in text
    assert "nanolean-hard, 2 seeds, RL - control: +30.0 points on average" in text
    assert "nanolean-hard, 2 seeds, steps - RL: -20.0 points on average" in text
    assert (tmp_path / "curves.png").stat().st_size > 1000


def test_a_command_that_fails_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    commands = Commands()
    with pytest.raises(UserError, match="the stage 'data' failed with exit code 1"):
        commands.run("data", "Making data", ["nanoproof.no_such_module"])
    assert "python -m nanoproof.no_such_module" in capfd.readouterr().out


def test_a_signal_reaches_the_command_which_ends_in_its_own_time(tmp_path: Path) -> None:
    code = "import os, signal, sys, time\n"
    code += "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
    code += "os.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(30)\n"
    assert small_runs.run_with_signals([sys.executable, "-c", code], {}) == 7


def test_a_stage_is_told_to_end_when_its_script_is_killed(tmp_path: Path) -> None:
    stage = "import signal, sys, time\nfrom pathlib import Path\n"
    stage += "signal.signal(signal.SIGTERM, lambda *_: (Path(sys.argv[1], 'told').touch(), sys.exit()))\n"
    stage += "Path(sys.argv[1], 'begun').touch()\ntime.sleep(60)\n"
    script = "import os, sys\nfrom scripts.small_runs import run_with_signals\n"
    script += "run_with_signals([sys.executable, '-c', sys.argv[1], sys.argv[2]], dict(os.environ))\n"
    with subprocess.Popen([sys.executable, "-c", script, stage, str(tmp_path)], cwd=small_runs.REPO_ROOT) as process:
        wait_for((tmp_path / "begun").exists, "the stage to begin")
        process.kill()
    wait_for((tmp_path / "told").exists, "the stage to be told")


def test_a_stage_that_outlives_its_script_keeps_others_out(tmp_path: Path) -> None:
    lock = small_runs.take_lock(tmp_path / "lock")
    with subprocess.Popen(["sleep", "60"], pass_fds=(lock.fileno(),)) as stage:
        lock.close()
        with pytest.raises(UserError, match=f"{tmp_path} is in use"):
            small_runs.take_lock(tmp_path / "lock")
        stage.kill()
    small_runs.take_lock(tmp_path / "lock").close()


def test_the_quickstart_finds_a_busy_port_before_it_begins() -> None:
    with taken_port() as port, pytest.raises(UserError, match=f"--monitor-port {port}: .*Address already in use"):
        quickstart.open_page(port)
    page = quickstart.open_page(0)
    assert page is not None and page.address.startswith("http://localhost:")
    page.close()
    assert quickstart.open_page(None) is None


def test_the_last_lines_of_the_quickstart_name_commands_that_can_be_typed(tmp_path: Path) -> None:
    (tmp_path / "rl").mkdir()
    (tmp_path / "rl" / "best.json").write_text('{"step": 12, "solved": 3}')
    lines = quickstart.what_next(tmp_path)
    assert f"  python -m nanoproof.monitor --run-dir {tmp_path}  # look at all of it again" in lines
    assert any("prove 'theorem " in line and f"--model-path {tmp_path}/rl/model_12.pt" in line for line in lines)


@pytest.mark.nightly
def test_a_dry_run_of_a_model_of_others_prints_every_command(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[1]
    command = ["bash", str(root / "runs" / "rl_open_prover.sh"), f"hf:{tmp_path / 'none'}"]
    environment = {**os.environ, "DRY_RUN": "1", "OUT": str(tmp_path / "out")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    modules = [line.split()[3] for line in done.stdout.splitlines() if line.startswith("+ python -m")]
    assert modules == [
        "nanoproof.sft",
        "scripts.prover_eval",
        "nanoproof.rl",
        "scripts.prover_eval",
        "scripts.compare_evals",
    ]
