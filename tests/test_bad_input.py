"""What a user can get wrong: one clear line on stderr, exit code 2, and nothing written."""

import io
import logging
import os
import subprocess
import sys

import pytest
import torch

from nanoproof.common.errors import run_main
from nanoproof.common.files import atomic_write_json, file_sha256, read_json
from nanoproof.model.checkpoint import save_checkpoint
from scripts import check_flags
from tests.helpers import free_port, main_of, taken_port
from tests.training import small

MODULES = {name: f"{name}.__main__" for name in ("nanoproof.lean.server", "nanoproof.monitor")}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoint")
    words = small.tokenizer()
    save_checkpoint(folder, 0, small.model(words), words)
    return folder


@pytest.fixture(scope="module")
def misshapen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("misshapen")
    words = small.tokenizer()
    path = save_checkpoint(folder, 0, small.model(words), words)
    state = torch.load(path, weights_only=True)
    state["head.weight"] = state["head.weight"][:, :-1].clone()
    torch.save(state, path)
    manifest = path.with_suffix(".json")
    found = read_json(manifest)
    atomic_write_json(manifest, {**found, "sha256": {**found["sha256"], path.name: file_sha256(path)}})
    return folder


@pytest.fixture
def refused(monkeypatch, capfd):
    """The single line that a command ends with; it must exit with 2 and write nothing.

    Commands run in this process, as `python -m` would run them: starting one takes longer than all that it does.
    """
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level

    def run(command, *arguments, home):
        before = sorted(home.rglob("*"))
        monkeypatch.setenv("NANOPROOF_HOME", str(home))
        monkeypatch.setattr(sys, "argv", [command, *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            run_main(main_of(MODULES.get(command, command)))
        return checked(ended.value.code, capfd.readouterr().err, before, home)

    yield run
    root.handlers[:] = handlers
    root.setLevel(level)


def checked(code, stderr, before, home):
    assert code == 2, stderr
    lines = [line for line in stderr.splitlines() if line.startswith("error:")]
    assert len(lines) == 1 and "Traceback" not in stderr, stderr
    assert sorted(home.rglob("*")) == before
    return lines[0]


@pytest.mark.nightly
def test_a_command_ends_as_it_does_in_this_process(tmp_path):
    environment = {**os.environ, "NANOPROOF_HOME": str(tmp_path)}
    words = [sys.executable, "-m", "nanoproof.monitor", "--run-dir", "nowhere"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment)
    assert "--run-dir nowhere" in checked(done.returncode, done.stderr, [], tmp_path)


@pytest.mark.parametrize("command", ["nanoproof.rl", "nanoproof.sft"])
def test_a_missing_checkpoint(tmp_path, command, refused):
    assert "--model-path nowhere" in refused(command, "--model-path", "nowhere", home=tmp_path)


def test_a_run_of_another_stage_cannot_be_resumed(tmp_path, checkpoint, refused):
    (checkpoint / "args.json").write_text("{}")
    assert "not of rl" in refused("nanoproof.rl", "--resume-from", checkpoint, home=tmp_path)


def test_a_checkpoint_of_another_shape(tmp_path, misshapen, refused):
    line = refused("scripts.prover_eval", "--model-path", misshapen, "--output-dir", tmp_path / "out", home=tmp_path)
    assert "head.weight has shape" in line


def test_an_unreachable_server(tmp_path, checkpoint, refused):
    port = free_port()
    words = ["scripts.prover_eval", "--model-path", checkpoint, "--output-dir", tmp_path / "out"]
    assert f"127.0.0.1:{port}" in refused(*words, "--lean-servers", f"127.0.0.1:{port}", home=tmp_path)


def test_a_busy_port_of_the_server(tmp_path, refused):
    with taken_port() as port:
        assert str(port) in refused("nanoproof.lean.server", "--backend", "nanolean", "--port", port, home=tmp_path)


def test_a_busy_port_of_the_dashboard(tmp_path, refused):
    (tmp_path / "run").mkdir()
    with taken_port() as port:
        assert str(port) in refused("nanoproof.monitor", "--run-dir", "run", "--port", port, home=tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        "nanoproof.sft",
        "nanoproof.rl",
        "nanoproof.inference",
        "nanoproof.lean.server",
        "scripts.prover_eval",
        "scripts.prove",
    ],
)
def test_an_unknown_flag(tmp_path, command, refused):
    assert "--no-such-flag" in refused(command, "--no-such-flag", home=tmp_path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nanoproof.sft", "--depth", "0"), "--depth must be >= 1, got 0"),
        (("nanoproof.rl", "--model-path", "x", "--fraction-sft", "1.5"), "--fraction-sft must be <= 1, got 1.5"),
        (("nanoproof.rl", "--model-path", "x", "--search-gamma", "2"), "--search-gamma must be <= 1"),
        (("nanoproof.rl", "--model-path", "x", "--eval-every", "soon"), "--eval-every must look like"),
        (("nanoproof.rl",), "give either --model-path"),
        (("nanoproof.inference",), "give --model-path"),
        (
            ("nanoproof.inference", "--model-path", "x", "--max-states", "9999"),
            "--max-states must be <= --max-open-states",
        ),
        (
            ("nanoproof.inference", "--model-path", "x", "--engine-max-rows", "0"),
            "--engine-max-rows must be >= 1, got 0",
        ),
        (("nanoproof.inference", "--model-path", "x", "--port", "0"), "x"),
        (("nanoproof.rl", "--model-path", "x", "--datasets", "other"), "unknown data set other"),
        (("scripts.prover_eval",), "--policy model needs --model-path"),
    ],
)
def test_a_value_out_of_range_or_a_clash(tmp_path, words, message, refused):
    assert message in refused(*words, home=tmp_path)


def test_a_theorem_with_a_syntax_error(tmp_path, refused):
    line = refused("scripts.prove", "theorem t (p : Prop : p := by sorry", "--policy", "solver-only", home=tmp_path)
    assert "line 1" in line and "column" in line


@pytest.mark.parametrize("flag", ["--help", "--no-such-flag"])
def test_the_check_of_flags_has_no_flags_itself(flag, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["check_flags", flag])
    with pytest.raises(SystemExit) as ended:
        run_main(check_flags.main)
    said = capsys.readouterr()
    assert (ended.value.code, "DRY_RUN=1" in said.out) == ((0, True) if flag == "--help" else (2, False))


def test_a_quote_that_is_not_closed(tmp_path, monkeypatch, refused):
    monkeypatch.setattr(sys, "stdin", io.StringIO('python -m nanoproof.rl --run "x'))
    assert "not a command, no closing quotation: python" in refused("scripts.check_flags", home=tmp_path)


def test_a_directory_below_a_file(tmp_path, checkpoint, refused):
    (tmp_path / "file").touch()
    below = tmp_path / "file" / "out"
    line = refused("scripts.export_model", "--model-path", checkpoint, "--output-dir", below, home=tmp_path)
    assert line.startswith(f"error: {tmp_path / 'file'}")
