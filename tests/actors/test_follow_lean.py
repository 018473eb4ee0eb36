"""Which data are taken where none are named: those of the Lean that the servers run."""

import json
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from nanoproof.actors.fleet import FleetOptions, follow_lean, open_fleet
from nanoproof.common.config import Parser
from nanoproof.common.errors import UserError
from nanoproof.common.option_groups import LeanOptions
from nanoproof.data.sources.catalog import RL_DATA
from nanoproof.doctor import __main__ as doctor
from nanoproof.doctor.report import CheckInputs
from nanoproof.evaluation.plan import add_eval_flags, parse_eval_args
from nanoproof.lean.client import runs_nanolean
from nanoproof.lean.server.backend import Backend
from nanoproof.rl.options import parse_args
from scripts import prover_eval
from tests.fakes.leantree_server import LeanTreeServer
from tests.helpers import FORK_REPL
from tests.lean.conftest import start_server
from tests.training.small import ALONE

REAL = {
    "datasets": ("leanworkbook", "numinamath", "deepseek_prover"),
    "sft_data": "leantree",
    "eval_datasets": ("minif2f",),
    "search_finishers": ("lean",),
}
NANOLEAN = {
    "datasets": ("nanolean",),
    "sft_data": "nanolean",
    "eval_datasets": ("nanolean",),
    "search_finishers": ("nanolean",),
}


Start = Callable[[str], str]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a server of some kind, whose processes nobody asks for; returns its address."""
    with ExitStack() as running:

        def run(kind: str) -> str:
            if kind.startswith("leantree"):
                server = LeanTreeServer(FORK_REPL if "proves" in kind else ["false"], tmp_path / "bomb")
                running.callback(server.close)
                return server.address
            options: dict[str, Any] = {"project_path": str(tmp_path), "repl_exe": "repl"} if kind == "repl" else {}
            served = start_server(Backend(("false",)), spares=0, **options)
            return f"127.0.0.1:{running.enter_context(served).port}"

        yield run


def chosen(*words: str) -> dict[str, Any]:
    args = parse_args(["--model-path", "sft/RUN", *words])
    follow_lean(args, RL_DATA)
    return {name: getattr(args, name) for name in RL_DATA}


def test_the_embedded_prover_has_its_own_data_and_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert chosen() == NANOLEAN
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("kinds", "expected", "name"), [
    (["leantree"], REAL, "real Lean"),
    (["repl"], REAL, "real Lean"),
    (["leantree", "repl"], REAL, "real Lean"),
    (["nanolean"], NANOLEAN, "NanoLean"),
])  # fmt: skip
def test_rl_takes_the_data_of_the_servers_lean_and_says_so_in_one_line(
    kinds: list[str], expected: dict[str, Any], name: str, start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    addresses = [start(kind) for kind in kinds]
    assert chosen("--lean-servers", *addresses) == expected
    datasets, benchmarks = " ".join(expected["datasets"]), " ".join(expected["eval_datasets"])
    line = f"--datasets {datasets}, --sft-data {expected['sft_data']}, --eval-datasets {benchmarks}"
    line += f", --search-finishers {expected['search_finishers'][0]}"
    assert capsys.readouterr().err == f"{name} at {', '.join(addresses)}, so by default {line}\n"


def test_only_one_of_several_ranks_says_it(
    start: Start, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RANK", "1")
    assert chosen("--lean-servers", start("leantree")) == REAL
    assert capsys.readouterr().err == ""


def test_flags_that_are_given_win(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    given = chosen("--datasets", "nanolean", "--lean-servers", start("leantree"))
    assert given == {**REAL, "datasets": ["nanolean"]}
    assert capsys.readouterr().err.endswith(
        ", so by default --sft-data leantree, --eval-datasets minif2f, --search-finishers lean\n"
    )


def test_servers_of_both_kinds_are_asked_about_and_not_guessed(start: Start) -> None:
    toy, real = start("nanolean"), start("leantree")
    with pytest.raises(UserError, match=f"{toy} run NanoLean and {real} real Lean; .*: --datasets --sft-data --eval-"):
        chosen("--lean-servers", toy, real)
    words = ["--datasets", "minif2f", "--sft-data", "leantree", "--eval-datasets", "minif2f"]
    words += ["--search-finishers", "none"]
    assert chosen("--lean-servers", toy, real, *words)["datasets"] == ["minif2f"]


def test_a_server_that_is_not_there_is_the_error_that_it_was() -> None:
    with pytest.raises(UserError, match=r"127\.0\.0\.1:1 cannot be reached"):
        chosen("--lean-servers", "127.0.0.1:1")


def test_a_resumed_run_keeps_its_data_whatever_the_servers(tmp_path: Path) -> None:
    recorded = {
        "datasets": ["leanworkbook"],
        "sft_data": "nanolean",
        "eval_datasets": ["proofnet"],
        "search_finishers": [],
    }
    (tmp_path / "args.json").write_text(json.dumps(recorded))
    args = parse_args(["--resume-from", str(tmp_path), "--lean-servers", "127.0.0.1:1"])
    follow_lean(args, RL_DATA)
    assert {name: getattr(args, name) for name in RL_DATA} == recorded


@pytest.mark.parametrize(("kind", "expected"), [("leantree", ("minif2f",)), ("nanolean", ("nanolean",))])
def test_evaluation_takes_the_benchmark_of_the_servers_lean(kind: str, expected: tuple[str], start: Start) -> None:
    parser = Parser()
    add_eval_flags(parser)
    args: Namespace = parse_eval_args(parser, ["--lean-servers", start(kind)])
    assert args.datasets == expected


def test_an_evaluation_with_real_lean_asks_for_its_benchmark(start: Start, empty_home: Path) -> None:
    words = ["--policy", "solver-only", "--device-type", "cpu", "--log-level", "error"]
    with pytest.raises(UserError, match=r"minif2f .*python -m nanoproof.data.download minif2f"):
        prover_eval.main([*words, "--lean-servers", start("leantree that proves")])


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"max_processes": 2}, False),
        ({"backend": "repl", "versions": {"lean": None}}, False),
        ({"backend": "nanolean"}, True),
        ({"versions": {"lean": "nanolean"}}, True),
        ({"versions": "nanolean"}, False),
    ],
)
def test_servers_run_real_lean_unless_they_say_nanolean(status: dict[str, Any], expected: bool) -> None:
    assert runs_nanolean(status) is expected


@pytest.mark.nightly
def test_a_fleet_of_servers_that_say_nothing_is_one_of_real_lean(start: Start) -> None:
    assert open_fleet(FleetOptions(LeanOptions((start("leantree that proves"),))), ALONE).is_real
    assert not open_fleet(FleetOptions(LeanOptions((start("nanolean"),))), ALONE).is_real


@pytest.mark.parametrize(("kind", "expected"), [("leantree", "data deepseek_prover"), ("nanolean", "data nanolean")])
def test_the_doctor_looks_for_the_data_that_rl_would_take(kind: str, expected: str, start: Start) -> None:
    assert (expected,) in doctor.stage_needs("rl", CheckInputs(lean_servers=(start(kind),)))
    assert ("data proofnet",) in doctor.stage_needs(
        "rl", CheckInputs(lean_servers=(start(kind),), datasets=("proofnet",))
    )
