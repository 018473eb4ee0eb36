"""`scripts.minif2f`: its commands parse, what is done is not done again, and all stages run, small, on NanoLean."""

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import torch

from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.evaluation.summary import wilson
from nanoproof.model.checkpoint import save_checkpoint
from nanoproof.model.gpt import GPT, GPTConfig, with_reserved_markers
from nanoproof.model.tokenizer import train_tokenizer
from scripts import minif2f, run_generation_and_test, small_runs
from scripts.check_flags import check_commands
from scripts.minif2f import Measurement, MiniF2FOptions
from tests.helpers import main_of, taken_port


@pytest.fixture(autouse=True)
def no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NANOPROOF_LEAN_TOKEN", raising=False)


def options_of(*words: str) -> MiniF2FOptions:
    parser = Parser()
    add_flags(parser, MiniF2FOptions)
    return from_args(MiniF2FOptions, parser.parse_args(words))


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> list[list[str]]:
    """The commands of a dry run, split into words; all of them parse."""
    assert minif2f.main([*words, "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert check_commands(lines) == len(lines)
    return [shlex.split(line) for line in lines]


def modules(commands: list[list[str]]) -> list[str]:
    return [words[words.index("-m") + 1].removeprefix("nanoproof.") for words in commands]


# -- the commands ------------------------------------------------------------------------------------------------


def test_the_measurement_goes_from_the_data_to_workspaces_for_judges(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LEAN_PROJECT_PATH", raising=False)
    words = [
        "--model-path",
        "hf:W",
        "--whole-proofs",
        "openai:http://h:1/v1#w",
        "--gpus",
        "2",
        "--out",
        str(tmp_path / "o"),
    ]
    words += [
        "--search-flags",
        "--num-sampled-tactics 16",
        "--whole-flags",
        "--proof-temperature 0.7",
        "--lean-port",
        "9",
    ]
    commands = printed(capsys, *words)
    evaluations = ["scripts.prover_eval"] * 4
    lean = ["data.download", "lean.project", "lean.project", "lean.server", "lean.probe"]
    after = ["scripts.check_with_lean"] * 4 + ["scripts.passk"] + ["scripts.compare_evals"] * 3
    assert modules(commands) == [*lean, *evaluations, *after, *["scripts.export_comparator"] * 2]
    solvers, no_network, search, whole = commands[5:9]
    assert all(words[:3] == ["torchrun", "--standalone", "--nproc_per_node=2"] for words in commands[5:9])
    for words in (solvers, no_network, search):
        assert words[words.index("--num-simulations") + 1] == "512"
    assert "--num-sampled-tactics" in search and "--num-sampled-tactics" not in no_network
    assert whole[whole.index("--samples") + 1] == "32" and whole[whole.index("--proof-temperature") + 1] == "0.7"
    for words in commands[4:9]:
        assert words[words.index("--lean-servers") + 1] == "localhost:9"
    assert not (tmp_path / "o").exists()


def test_with_servers_none_is_started_and_no_library_is_built(capsys: pytest.CaptureFixture[str]) -> None:
    commands = printed(capsys, "--model-path", "M", "--lean-servers", "a:1", "b:2", "--lean-token", "secret")
    assert modules(commands)[:3] == ["data.download", "lean.project", "lean.probe"] and commands[1][3] == "create"
    assert not any("secret" in word for words in commands for word in words)
    assert "--whole-proofs" not in [word for words in commands for word in words]


def test_another_benchmark_is_measured_in_the_same_way(capsys: pytest.CaptureFixture[str]) -> None:
    commands = printed(capsys, "--model-path", "M", "--dataset", "putnambench", "--max-theorems", "5")
    assert commands[0][-1] == "putnambench"
    assert {words[words.index("--datasets") + 1] for words in commands if "--datasets" in words} == {"putnambench"}


def test_a_rehearsal_trains_its_own_networks_and_checks_certificates(capsys: pytest.CaptureFixture[str]) -> None:
    commands = printed(capsys, "--rehearsal")
    assert modules(commands)[:6] == ["data.nanolean", "scripts.tok_train", "sft", "sft", "lean.server", "lean.probe"]
    assert sum("--certificates" in words for words in commands) == 2
    sizes = [words[words.index("--num-simulations") + 1] for words in commands if "--num-simulations" in words]
    assert sizes == ["32"] * 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "--model-path SPEC is needed"),
        (("--rehearsal", "--lean-servers", "a:1"), "either --rehearsal"),
        (("--model-path", "M", "--search-flags", 'x "y'), "--search-flags is no list of flags: No closing quotation"),
    ],
)
def test_what_cannot_be_is_one_line(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        options_of(*words)


def test_the_benchmarks_by_whole_proofs_are_one_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))  # nothing has been downloaded
    words = [
        "M",
        "out",
        "--datasets",
        "minif2f,proofnet,putnambench",
        "--lean-servers",
        "h:1",
        "--lean-token",
        "secret",
    ]
    assert run_generation_and_test.main([*words, "--prompt-format", "stp", "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert check_commands(lines) == 7 and "secret" not in "".join(lines)
    assert lines[0] == "python -m nanoproof.data.download minif2f proofnet putnambench"
    folders = [
        f"out/{name}" for name in ("minif2f_valid", "minif2f_test", "proofnet_valid", "proofnet_test", "putnambench")
    ]
    for line, folder in zip(lines[1:6], folders, strict=True):
        assert f"--output-dir {folder} " in line and "--samples 3200 " in line and "--prompt-format stp" in line
    assert lines[6].startswith(f"python -m scripts.passk {' '.join(folders)} --budgets 1,32,128,640,3200")
    config = tmp_path / "c.json"
    config.write_text(json.dumps([{"dataset_path": "made.jsonl", "weight": 5}]))
    assert run_generation_and_test.main(["M", "out", "--raw-dataset-config", str(config), "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "--samples 5 --model-path M --datasets out/0_made.jsonl" in lines[0] and check_commands(lines) == 2


# -- resuming ----------------------------------------------------------------------------------------------------


class Recorded(small_runs.Commands):
    """Leaves behind what each command would, and keeps what was run; one of them may be killed."""

    def __init__(self, killed: str = "") -> None:
        super().__init__(ranks=1)
        self.ran: list[str] = []
        self.killed = killed

    def run(self, stage: str, text: str, words: list[str], ranks: int = 1) -> None:
        self.ran.append(stage)
        if words[0] == "scripts.prover_eval":
            write(Path(words[words.index("--output-dir") + 1]) / "summary.json", solved(2 if stage == "search" else 0))
        elif words[0] == "scripts.export_comparator":
            folder = Path(words[words.index("--output-dir") + 1])
            write(folder / f"Proof{len(list(folder.glob('*')))}" / "config.json", {})
        if stage == self.killed:
            raise small_runs.StageFailed(stage, -9)


def write(file: Path, value: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))


def solved(count: int, total: int = 4) -> dict[str, Any]:
    low, high = wilson(count, total)
    score = {"solved": count, "total": total, "low": low, "high": high, "errors": 0}
    return {**score, "simulations": 512, "tactic_samples": 9, "seconds": 1.5}


def measured(out: Path, commands: Recorded) -> Measurement:
    out.mkdir(exist_ok=True)
    measurement = Measurement(options_of("--model-path", "M", "--lean-servers", "a:1"), out, commands)
    measurement.run()
    return measurement


STAGES = ["data", "project", "probe", "solvers", "no_network", "search", "recheck_search"]
STAGES += ["compare_solvers_search", "compare_no_network_search", "judges_search"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEAN_PROJECT_PATH", str(tmp_path / "lean"))
    return tmp_path / "lean"


@pytest.mark.parametrize("killed", ["data", "probe", "search", "recheck_search", "judges_search"])
def test_a_stage_that_was_killed_is_run_again_and_nothing_before_it(tmp_path: Path, project: Path, killed: str) -> None:
    out, first, second = tmp_path / "out", Recorded(killed), Recorded()
    with pytest.raises(small_runs.StageFailed, match=f"the stage '{killed}' was ended by SIGKILL"):
        measured(out, first)
    assert not (out / "judges_search").exists()
    project.mkdir()
    (project / "lean-toolchain").touch()
    measured(out, second)
    assert first.ran == STAGES[: STAGES.index(killed) + 1]
    assert second.ran == [stage for stage in STAGES[STAGES.index(killed) :] if stage != "project"]
    assert [path.name for path in (out / "judges_search").iterdir()] == ["Proof0"]  # not what was half done
    assert not (out / ".judges_search").exists()
    again = Recorded()
    measured(out, again)
    assert again.ran == []


def test_proofs_that_were_refused_or_left_out_are_a_result_and_a_broken_server_is_not(
    tmp_path: Path, project: Path
) -> None:
    class Refused(Recorded):
        def run(self, stage: str, text: str, words: list[str], ranks: int = 1) -> None:
            super().run(stage, text, words, ranks)
            if stage in self.killed.split():
                raise small_runs.StageFailed(stage, 1)

    assert measured(tmp_path / "a", Refused("recheck_search judges_search")).commands.ran == STAGES  # type: ignore[attr-defined]
    with pytest.raises(small_runs.StageFailed, match="'probe'"):
        measured(tmp_path / "b", Refused("probe"))


def test_other_options_do_not_mix_with_what_is_there(tmp_path: Path) -> None:
    base = options_of("--model-path", "M")
    small_runs.keep_settings(tmp_path / "settings.json", minif2f.shown_options(base))
    others = options_of("--model-path", "M", "--gpus", "4", "--lean-servers", "a:1", "--claim", "50")
    small_runs.keep_settings(tmp_path / "settings.json", minif2f.shown_options(others))
    changed = options_of("--model-path", "M", "--simulations", "64")
    with pytest.raises(UserError, match="simulations was 512, is 64"):
        small_runs.keep_settings(tmp_path / "settings.json", minif2f.shown_options(changed))


@pytest.mark.nightly
def test_a_server_that_cannot_start_is_named_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with taken_port() as port:
        monkeypatch.setattr(minif2f, "free_port", lambda: port)
        monkeypatch.setattr(minif2f.socket, "create_connection", refused)
        measurement = Measurement(options_of("--rehearsal", "--model-path", "M"), tmp_path, Recorded())
        said = rf"the Lean server ended with exit code 2: .*port {port}: Address already"
        with pytest.raises(UserError, match=said), measurement.servers():
            pass
    assert "NANOPROOF_LEAN_TOKEN" not in os.environ


@pytest.mark.parametrize("before", [None, "theirs"])
def test_a_token_is_in_the_environment_while_the_servers_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    if before is not None:
        monkeypatch.setenv("NANOPROOF_LEAN_TOKEN", before)
    for token in ("ours", None):
        words = ["--model-path", "M", "--lean-servers", "a:1", *(["--lean-token", token] if token else [])]
        with Measurement(options_of(*words), tmp_path, Recorded()).servers():
            assert os.environ.get("NANOPROOF_LEAN_TOKEN") == (token or before)
        assert os.environ.get("NANOPROOF_LEAN_TOKEN") == before


def refused(*_: object) -> None:
    raise OSError("connection refused")


# -- the result --------------------------------------------------------------------------------------------------


def test_the_table_names_scores_intervals_differences_and_the_claim() -> None:
    pair = {"difference": 0.125, "low": 0.0213, "high": 0.2249, "p": 0.0123}
    summary = {
        "scores": {"solvers": solved(40, 244), "search": {**solved(128, 244), "errors": 3}, "whole": solved(1, 244)},
        "compared": {"solvers - search": pair},
        "recheck": {"search": {"accepted": 127, "files": 128}},
        "certificates": {},
        "workspaces": {"search": 126},
        "claim": 60.0,
    }
    lines = minif2f.table(summary).splitlines()
    assert re.search(r"solver tactics alone +40/ 244 +16\.4% +12\.3 - 21\.6% +512 simulations +0 +-$", lines[1])
    assert re.search(r"tree search, solvers +128/ 244 +52\.5% +46\.2 - 58\.6% +512 simulations +3 +127/128$", lines[2])
    assert re.search(r"whole proofs +1/ 244 +0\.4% .*512 samples ", lines[3])
    assert "solver tactics alone: +12.5 points, 95% interval +2.1 to +22.5, McNemar's exact test p = 0.0123" in lines[4]
    assert lines[5] == "workspaces for judges of the model's tree search, solvers: 126 of 128 proofs"
    assert lines[6] == "claimed: 60%, which is above the 95% interval 46.2 - 58.6% of the tree search"
    assert "inside" in minif2f.claim_line(solved(128, 244), 58.6) and "below" in minif2f.claim_line(solved(3, 4), 30)


# -- all of it ---------------------------------------------------------------------------------------------------


class InThisProcess(small_runs.Commands):
    """Runs each command for real, without a process of its own, which would import torch anew."""

    def run(self, stage: str, text: str, words: list[str], ranks: int = 1) -> None:
        if code := main_of(words[0])(words[1:]):
            raise small_runs.StageFailed(stage, code)


@pytest.mark.nightly
@pytest.mark.slow
def test_all_stages_on_nanolean(
    tmp_path: Path, nanoproof_home: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NANOPROOF_LEAN_TOKEN", "of-this-test")
    words = train_tokenizer(["simp", "intro h", "omega", "exact h", "theorem t (p : Prop) : p := by"], 460)
    torch.manual_seed(0)
    config = GPTConfig(vocab_size=words.vocab_size, depth=1, aspect_ratio=16, head_dim=16, sequence_len=192)
    save_checkpoint(tmp_path / "model", 0, with_reserved_markers(GPT.create(config)), words)
    model, out = str(tmp_path / "model"), tmp_path / "out"
    flags = ["--rehearsal", "--model-path", model, "--whole-proofs", model, "--max-theorems", "2", "--simulations", "2"]
    flags += ["--samples", "2", "--lean-processes", "1", "--claim", "50", "--out", str(out), "--seed", "1"]
    flags += [
        "--whole-flags",
        "--proof-max-new-tokens 4",
        "--eval-flags=--log-level=error --max-gen-tokens 4 --num-sampled-tactics 2",
    ]
    monkeypatch.setattr(small_runs, "Commands", InThisProcess)
    assert minif2f.main(flags) == 0
    said = capsys.readouterr().out
    summary = read_json(out / "summary.json")
    assert list(summary["scores"]) == ["solvers", "no_network", "search", "whole"]
    assert all(score["total"] == 2 for score in summary["scores"].values())
    assert summary["scores"]["search"]["solved"] >= 1  # by solvers
    found = summary["scores"]["search"]["solved"]
    assert summary["recheck"]["search"]["accepted"] == summary["recheck"]["search"]["files"] == found
    assert summary["certificates"]["search"]["accepted"] == found == summary["workspaces"]["search"]
    assert list(summary["compared"]) == ["solvers - search", "no_network - search", "whole - search"]
    assert summary["pass_at_k"][0]["statements"] == 2
    assert "of-this-test" not in (out / "summary.json").read_text() + said
    assert (out / "table.txt").read_text().rstrip() in said and "claimed: 50%" in said
    assert f"moved to {out / 'judges_search'}" in said
    assert list(read_jsonl(out / "probe.jsonl"))
    times = {path: path.stat().st_mtime_ns for path in out.rglob("*.jsonl")}
    assert minif2f.main(flags) == 0  # nothing is left to do, and the table is printed again
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.jsonl")} == times
    assert "== The Lean server" not in capsys.readouterr().out
