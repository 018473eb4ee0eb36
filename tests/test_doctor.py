"""`python -m nanoproof.doctor`: what it finds, what it says is missing for a stage, and what cannot bring it down."""

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch

from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import REPO_ROOT
from nanoproof.common.terminal import Paint
from nanoproof.data.nanolean import made_directory
from nanoproof.data.sources.manifest import dataset_dir
from nanoproof.doctor import __main__ as doctor
from nanoproof.doctor import checks
from nanoproof.doctor.report import CheckInputs, CheckRef, Finding, missing_for, run_check
from tests.data.installed import install

NOTHING = CheckInputs()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty $NANOPROOF_HOME, and no Lean project."""
    folder = tmp_path / "home"
    monkeypatch.setenv("NANOPROOF_HOME", str(folder))
    monkeypatch.delenv("LEAN_PROJECT_PATH", raising=False)
    return folder


def finding(findings: list[Finding], key: str) -> Finding:
    return next(each for each in findings if each.key == key)


# -- checks that break (run in processes of their own) --------------------------------------------------------------


def run(name: str, seconds: float = 240.0, asked: CheckInputs = NOTHING) -> Finding:
    (found,) = run_check(CheckRef(f"tests.fakes.checks:{name}", ("luck",)), asked, seconds)
    return found


@pytest.mark.parametrize(
    ("name", "words"), [("fails", "RuntimeError: no luck"), ("crashes", "ended by SIGSEGV"), ("gone", "AttributeError")]
)
def test_a_check_that_breaks_is_a_finding_with_its_last_words(name: str, words: str) -> None:
    found = run(name)
    assert (found.key, found.state) == ("luck", "broken")
    assert words in found.text


def test_a_check_that_hangs_is_ended() -> None:
    assert run("hangs", 0.5).text == "gave no answer in 0.5 s"


def test_what_a_check_prints_does_not_spoil_its_answer() -> None:
    assert run("chatters", asked=CheckInputs(lean_servers=("host:1",))) == Finding("luck", "ok", "host:1")


# -- the machine ----------------------------------------------------------------------------------------------------


def test_packages_are_compared_with_their_pins(monkeypatch: pytest.MonkeyPatch) -> None:
    assert finding(checks.packages(NOTHING), "packages").state == "ok"
    real = checks.installed_version
    monkeypatch.setattr(checks, "installed_version", lambda name: "0.1" if name == "flask" else real(name))
    wrong = finding(checks.packages(NOTHING), "packages")
    assert (wrong.state, wrong.fix) == ("broken", "rm -f .venv/nanoproof-setup; bash runs/setup.sh")
    assert wrong.text.startswith("not as pinned: flask 0.1 (pinned 3.")


def test_a_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "installed_version", lambda name: None if name == "pyarrow" else "1.0")
    assert finding(checks.packages(NOTHING), "packages").text == "not installed: pyarrow"


def test_attention_compile_and_8_bit_products_come_with_their_reasons() -> None:
    found = {each.key: each for each in checks.compute(NOTHING)}
    assert set(found) == {"torch", "device", "attention", "compile", "fp8", "engine"}
    assert all(each.text and each.suffices for each in found.values())


def test_a_torch_that_cannot_be_imported_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    (found,) = checks.compute(NOTHING)
    assert (found.key, found.state, found.fix) == ("torch", "broken", "rm -rf .venv && bash runs/setup.sh")


@pytest.mark.parametrize(
    ("cuda", "version", "said"),
    [
        ("13.0", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Release", "570 is too old for this torch"),
        ("13.0", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06", "cannot use"),
        ("12.6", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Release", "cannot use"),
        (None, "", "is for CPUs"),
    ],
)
def test_a_gpu_that_torch_cannot_use_is_no_reason_to_train_on_the_cpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cuda: str | None, version: str, said: str
) -> None:
    (tmp_path / "gpus").mkdir()
    (tmp_path / "version").write_text(version)
    monkeypatch.setattr(torch.version, "cuda", cuda)
    problem = checks.gpu_problem(tmp_path)
    assert problem is not None and said in problem[0]
    monkeypatch.setattr(checks, "gpu_problem", lambda: problem)
    assert not finding(checks.compute(NOTHING), "device").suffices
    assert not finding(checks.compute(CheckInputs(device_type="cuda")), "device").suffices
    assert finding(checks.compute(CheckInputs(device_type="cpu")), "device").suffices


def test_a_wrong_dtype_is_told_at_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NANOPROOF_DTYPE", "float12")
    found = finding(checks.compute(NOTHING), "device")
    assert found.state == "broken" and "NANOPROOF_DTYPE must be one of" in found.text


def test_a_home_that_cannot_be_written_to_is_told(home: Path) -> None:
    home.write_text("a file")
    assert finding(checks.resources(NOTHING), "disk").state == "broken"


def test_a_machine_without_room_for_temporary_files_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/dev/null"])
    assert finding(checks.resources(NOTHING), "disk").fix == "export TMPDIR=DIR"


# -- the home -------------------------------------------------------------------------------------------------------


def test_an_empty_home_names_the_commands_that_fill_it(home: Path) -> None:
    found = checks.tokenizer(NOTHING) + checks.checkpoints(NOTHING) + checks.data_sets(NOTHING)
    assert {each.state for each in found} == {"absent"}
    assert all(each.fix.startswith("python -m ") for each in found)
    assert finding(found, "data leanworkbook").fix == "python -m nanoproof.data.download leanworkbook"
    assert "accept its terms at " in finding(found, "data nemotron").text
    assert not home.exists()


def test_a_token_for_the_hub_is_told_but_not_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_made_up")
    found = finding(checks.hub(NOTHING), "hub")
    assert found.state == "ok" and "hf_made_up" not in found.text
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    found = finding(checks.hub(NOTHING), "hub")
    assert (found.state, found.fix) == ("absent", "hf auth login")


def test_a_data_set_is_known_by_its_manifest(home: Path) -> None:
    install("minif2f", Valid__lean="theorem a : True := by\n  sorry\n", Test__lean="")
    found = finding(checks.data_sets(NOTHING), "data minif2f")
    assert found.state == "ok" and found.text.startswith("bench: 2 files, 31 B")


def test_a_file_of_another_size_makes_a_data_set_broken(home: Path) -> None:
    install("minif2f", Valid__lean="theorem a", Test__lean="")
    (dataset_dir("minif2f") / "Valid.lean").write_text("theorem")
    found = finding(checks.data_sets(NOTHING), "data minif2f")
    assert found.state == "broken" and "Valid.lean is incomplete" in found.text


def test_one_damaged_manifest_leaves_the_other_data_sets_be(home: Path) -> None:
    install("minif2f", Valid__lean="theorem a", Test__lean="")
    install("proofnet", proofnet__jsonl="{}")
    (dataset_dir("minif2f") / "manifest.json").write_text("{")
    found = checks.data_sets(NOTHING)
    assert finding(found, "data minif2f").state == "broken"
    assert finding(found, "data proofnet").state == "ok"


def test_a_whitelist_for_the_projects_lean_is_asked_for(home: Path, tmp_path: Path) -> None:
    (tmp_path / "lean-toolchain").write_text("leanprover/lean4:v4.27.0\n")
    asked = CheckInputs(lean_project=str(tmp_path))
    files = {"deepseek_prover__jsonl": "{}"}
    install("deepseek_prover", **files)
    assert "no whitelist for Lean v4.27.0" in finding(checks.data_sets(asked), "data deepseek_prover").text
    install("deepseek_prover", **files, deepseek_prover__jsonl__whitelist__v4__27__0__json="{}")
    found = finding(checks.data_sets(asked), "data deepseek_prover")
    assert found.state == "ok" and found.text.endswith("whitelists of Lean v4.27.0")


def test_data_that_other_code_made_are_not_those_that_would_be_used(home: Path) -> None:
    folder = home / "data" / "nanolean" / "0123456789abcdef-0"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text('{"seed": 0, "statements": 5}')
    found = finding(checks.data_sets(NOTHING), "data nanolean")
    assert (found.state, found.suffices) == ("absent", True) and "made by other code only" in found.text
    folder.rename(made_directory())
    assert "5 statements" in finding(checks.data_sets(NOTHING), "data nanolean").text


def test_checkpoints_are_counted_and_those_without_weights_named(home: Path) -> None:
    run_path = home / "sft" / "some_run"
    run_path.mkdir(parents=True)
    for name in ("model_3.json", "model_3.pt", "model_7.json"):
        (run_path / name).write_text("{}")
    found = finding(checks.checkpoints(NOTHING), "checkpoints")
    assert found.text == "sft 1 in 1 runs; newest sft/some_run/model_3.pt; 1 without weights, such as sft/some_run/" + (
        "model_7.json"
    )


# -- Lean -----------------------------------------------------------------------------------------------------------


STATUS = {"max_processes": 4, "available_processes": 3, "used_processes": 1, "starting_processes": 0, "ready": False}


@pytest.fixture
def server() -> Iterator[str]:
    """The address of a server that answers GET /status."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(STATUS).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
    yield f"127.0.0.1:{http.server_port}"
    http.shutdown()
    http.server_close()


def test_each_server_is_told_by_itself(server: str) -> None:
    found = checks.servers(CheckInputs(lean_servers=("127.0.0.1:1", server, "no:such:address")))
    assert [each.state for each in found] == ["broken", "ok", "broken"]
    assert "127.0.0.1:1 cannot be reached" in found[0].text and "no:such:address" in found[2].text
    assert found[1].text == f"{server}: 4 processes, 3 available, 1 used, 0 starting, not ready yet"


def test_a_project_says_its_lean_and_what_is_not_set_up(home: Path, tmp_path: Path) -> None:
    from nanoproof.lean.project.layout import create

    create(tmp_path / "project", "v4.27.0", ["mathlib"])
    found = finding(checks.project(CheckInputs(lean_project=str(tmp_path / "project"))), "lean project")
    assert found.state == "broken" and "Lean v4.27.0" in found.text and "toolchain" in found.text
    assert found.fix == f"python -m nanoproof.lean.project setup {tmp_path / 'project'}"


def test_a_folder_that_is_no_project_is_told(home: Path, tmp_path: Path) -> None:
    found = finding(checks.project(CheckInputs(lean_project=str(tmp_path))), "lean project")
    assert found.state == "broken" and "not a Lean project" in found.text


# -- stages ---------------------------------------------------------------------------------------------------------


def all_well(stage: str, asked: CheckInputs) -> dict[str, Finding]:
    keys = {key for keys in doctor.stage_needs(stage, asked) for key in keys}
    return {key: Finding(key, "ok", "") for key in keys}


@pytest.mark.parametrize("stage", list(doctor.STAGES))
@pytest.mark.parametrize("key", ["torch", "packages", "disk", "python", "device"])
def test_every_stage_needs_the_machine(stage: str, key: str) -> None:
    states = all_well(stage, NOTHING)
    assert missing_for(doctor.stage_needs(stage, NOTHING), states.values()) == []
    states[key] = Finding(key, "broken", "")
    assert missing_for(doctor.stage_needs(stage, NOTHING), states.values()) == [key]


def test_the_embedded_prover_will_do_for_its_own_data_only() -> None:
    assert ("nanolean",) in doctor.stage_needs("rl", NOTHING)
    assert ("lean servers",) in doctor.stage_needs("rl", CheckInputs(datasets=("leanworkbook",)))
    assert ("lean servers",) in doctor.stage_needs("eval", CheckInputs(lean_servers=("host:1",)))


def test_the_page_is_there_without_any_package() -> None:
    command = [sys.executable, "-S", "-m", "nanoproof.doctor", "--help"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=REPO_ROOT, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_one_of_several_servers_that_does_not_answer_is_missing() -> None:
    up, down = Finding("lean servers", "ok", "a"), Finding("lean servers", "broken", "b")
    for found in ([up, down], [down, up]):
        assert missing_for([("lean servers",)], found) == ["lean servers"]
    assert missing_for([("lean servers",)], [up, up]) == []


def test_a_tokenizer_or_a_checkpoint_will_do_for_finetuning() -> None:
    states = all_well("sft", NOTHING)
    states["tokenizer"] = Finding("tokenizer", "absent", "")
    assert missing_for(doctor.stage_needs("sft", NOTHING), states.values()) == []
    states["checkpoints"] = Finding("checkpoints", "absent", "")
    assert missing_for(doctor.stage_needs("sft", NOTHING), states.values()) == ["tokenizer or checkpoints"]


# -- the command ----------------------------------------------------------------------------------------------------


def test_the_page_has_a_word_for_every_sign_and_exits_with_1_for_what_is_missing(
    empty_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sections = {title: doctor.SECTIONS[title] for title in ("Machine", "Home")}  # for that of Lean see the next test
    monkeypatch.setattr(doctor, "SECTIONS", sections)
    assert doctor.main(["--for", "pretrain"]) == 1
    page = capsys.readouterr().out
    assert "  ✗ missing data nemotron  " in page and "  ✓ ok      torch  " in page
    assert "→ python -m nanoproof.data.download nemotron\n" in page
    assert page.endswith("Stages\n  ✗ missing pretrain             tokenizer, data nemotron\n")
    assert "\x1b" not in page


def test_json_holds_the_same_findings(
    empty_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "SECTIONS", {"Lean": doctor.SECTIONS["Lean"]})
    assert doctor.main(["--json", "--lean-servers", "127.0.0.1:1"]) == 0
    report = json.loads(capsys.readouterr().out)
    servers = [each for each in report["findings"] if each["key"] == "lean servers"]
    assert [each["state"] for each in servers] == ["broken"] and report["missing"] == {}


def test_colours_only_colour() -> None:
    found = Finding("torch", "broken", "it is gone", "bash runs/setup.sh")
    plain, colored = (list(doctor.render_finding(found, True, Paint(on))) for on in (False, True))
    assert plain == ["  ✗ broken  torch                it is gone", " " * 33 + "→ bash runs/setup.sh"]
    assert colored[0].replace("\x1b[31m", "").replace("\x1b[0m", "") == plain[0] and "\x1b[31m" in colored[0]


def test_unknown_data_sets_are_refused() -> None:
    with pytest.raises(UserError, match="unknown data set leanworkbok; there are: nemotron"):
        doctor.main(["--for", "rl", "--datasets", "leanworkbok"])
