"""Comparing settings of the search: what is run, what is not run again, and the figures."""

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import search_quality
from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.common.errors import UserError
from nanoproof.evaluation.results import RESULTS, SUMMARY
from nanoproof.evaluation.summary import summarize
from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.search.config import SearchConfig

THEOREMS = [Theorem(f"theorem t{i} : True := by sorry", "set", f"t{i}") for i in range(8)]


class Evaluations:
    """Stands in for `scripts.prover_eval`: an arm solves as many theorems as its flag `--solves` says."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.broken = 0

    def __call__(self, command: list[str]) -> SimpleNamespace:
        self.commands.append(command)
        if self.broken == len(self.commands):
            return SimpleNamespace(returncode=1)
        words = {flag: value for flag, value in zip(command, [*command[1:], ""], strict=True) if flag.startswith("--")}
        solves = int(words.get("--solves", "4"))
        attempts = [
            Attempt(
                theorem,
                "proven" if i < solves else "unproven",
                counts={"simulations": 10 + i, "tactic_samples": 60, "tactics_run": 40},
                seconds={"search": 3.0, "lean": 1.0, "policy": 2.0},
            )
            for i, theorem in enumerate(THEOREMS)
        ]
        path = Path(words["--output-dir"])
        path.mkdir(parents=True)
        (path / RESULTS).write_text("".join(json.dumps(attempt.to_json()) + "\n" for attempt in attempts))
        policy = words.get("--policy", "model")
        summary = {**summarize(attempts, 64, 24.0), "policy": policy, "settings": {}}
        (path / SUMMARY).write_text(json.dumps(summary))
        return SimpleNamespace(returncode=0)


@pytest.fixture
def evaluations(monkeypatch: pytest.MonkeyPatch) -> Evaluations:
    fake = Evaluations()
    monkeypatch.setattr(subprocess, "run", fake)
    return fake


def rows_of(tmp_path: Path, table: str, *flags: str) -> dict[str, dict[str, Any]]:
    (tmp_path / "arms.txt").write_text(table)
    figures = tmp_path / "figures.json"
    words = ["--out", str(tmp_path / "out"), "--table", str(tmp_path / "arms.txt"), "--json", str(figures), *flags]
    search_quality.main(words)
    return {row["details"]["variant"]: row["details"] for row in json.loads(figures.read_text())}


TABLE = "base: --solves 4\nbetter: --solves 8  # all of them\nsolvers: --policy solver-only --solves 1\n"


def test_every_arm_is_scored_with_every_network_and_seed_and_paired(tmp_path: Path, evaluations: Evaluations) -> None:
    flags = ("--baseline", "base", "--model-path", "sft/a", "sft/b", "--seeds", "3", "4", "--search-finishers", "simp")
    rows = rows_of(tmp_path, TABLE, *flags)
    assert len(evaluations.commands) == 2 * 2 * 2 + 1
    assert all(command[command.index("--search-finishers") + 1] == "simp" for command in evaluations.commands)
    assert sum("--model-path" in command for command in evaluations.commands) == 8
    better = rows["better"]
    assert (better["rate"], better["only_baseline"], better["only_variant"]) == (1.0, 0, 16)
    assert better["paired"]["difference"] == 0.5 and better["paired"]["p"] == pytest.approx(2 / 16)
    assert rows["solvers"]["only_baseline"] == 12 and rows["solvers"]["paired"]["difference"] == -3 / 8
    cost = better["per_theorem"]
    assert (cost["simulations"], cost["tactics_run"], cost["lean_seconds"], cost["policy_seconds"]) == (13.5, 40, 1, 2)
    assert cost["processor_seconds"] >= 0


def test_what_is_done_is_not_run_again_and_an_arm_must_not_change(tmp_path: Path, evaluations: Evaluations) -> None:
    evaluations.broken = 2
    with pytest.raises(UserError, match="start again"):
        rows_of(tmp_path, TABLE, "--baseline", "base", "--seeds", "0")
    evaluations.broken = 0
    rows_of(tmp_path, TABLE, "--baseline", "base", "--seeds", "0")
    assert len(evaluations.commands) == 4  # one of the three was run twice
    rows_of(tmp_path, TABLE + "new: --solves 2\n", "--baseline", "base", "--seeds", "0")
    assert len(evaluations.commands) == 5
    with pytest.raises(UserError, match="arm better"):
        rows_of(tmp_path, TABLE.replace("8", "7"), "--baseline", "base", "--seeds", "0")
    with pytest.raises(UserError, match="num_simulations"):
        rows_of(tmp_path, TABLE, "--baseline", "base", "--seeds", "0", "--num-simulations", "9")


@pytest.mark.parametrize("table", ["no colon here\n", ": --solves 1\n", "a/b: --solves 1\n"])
def test_a_line_that_is_no_arm_is_refused(tmp_path: Path, table: str) -> None:
    with pytest.raises(UserError, match="name: flags"):
        rows_of(tmp_path, table)


def test_the_arms_that_are_there_are_known_to_the_search() -> None:
    for flags in search_quality.CANDIDATES.values():
        parser = Parser()
        add_flags(parser, SearchConfig, "search-")
        assert from_args(SearchConfig, parser.parse_args(flags.split()), "search_") != SearchConfig()
