import errno
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from nanolean import system
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json


def ends_with(error):
    def main():
        raise error

    with pytest.raises(SystemExit) as ended:
        run_main(main)
    return ended.value.code


def test_an_error_of_the_user_is_one_line_and_code_2(capsys):
    assert ends_with(UserError("no such thing")) == 2
    assert capsys.readouterr().err == "error: no such thing\n"


def test_a_full_disk_is_one_line_and_code_2(capsys):
    assert ends_with(OSError(errno.ENOSPC, "No space left on device", "/data/model_1.pt")) == 2
    assert capsys.readouterr().err == "error: cannot write: No space left on device (/data/model_1.pt)\n"


def test_a_file_that_cannot_be_is_one_line_and_code_2(capsys, tmp_path):
    (tmp_path / "file").touch()
    below = tmp_path / "file" / "out"
    with pytest.raises(SystemExit) as ended:
        run_main(lambda: atomic_write_json(below / "scores.json", {}))
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"error: {below}: Not a directory\n"


@pytest.mark.parametrize("command", [run_main, system.run_main])
def test_closed_streams_are_the_null_device(monkeypatch, command):
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    with pytest.raises(SystemExit) as ended:
        command(lambda: print("a line") or print("another", file=sys.stderr) or len(sys.stdin.read()))
    assert ended.value.code == 0


@pytest.mark.parametrize("command", [run_main, system.run_main])
def test_an_output_on_a_full_disk_is_one_line(monkeypatch, capsys, command):
    with monkeypatch.context() as patched, open("/dev/full", "w") as full:
        patched.setattr(sys, "stdout", full)
        with pytest.raises(SystemExit) as ended:
            command(lambda: print("a line"))
    assert ended.value.code == 2 and "No space left" in capsys.readouterr().err


def test_where_python_leaves_out_what_commands_need_that_is_said(monkeypatch, capsys):
    monkeypatch.setattr(sys, "flags", SimpleNamespace(optimize=2))
    with pytest.raises(SystemExit) as ended:
        run_main(lambda: 0)
    assert ended.value.code == 2 and "unset PYTHONOPTIMIZE" in capsys.readouterr().err


def test_a_limit_of_the_system_is_one_line(capsys):
    assert ends_with(OSError(errno.EMFILE, "Too many open files")) == 2
    assert capsys.readouterr().err.startswith("error: Too many open files: ulimit -n")


def test_no_folder_for_temporary_files_is_one_line(capsys):
    assert ends_with(FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")) == 2
    assert "name another folder in TMPDIR" in capsys.readouterr().err


@pytest.mark.parametrize("lines", [1, 100_000])
def test_a_reader_that_goes_away_ends_a_command_without_a_word(lines):
    text = f"""
from nanoproof.common.errors import run_main
input()
run_main(lambda: print("a line\\n" * {lines}))
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}  # so that the line still waits when the command ends
    with subprocess.Popen([sys.executable, "-c", text], env=buffered, **pipes) as process:
        process.stdout.close()
        assert process.communicate(b"\n", timeout=60)[1] == b""
    assert process.returncode == 141


def test_another_broken_pipe_keeps_its_traceback():
    with pytest.raises(BrokenPipeError):
        run_main(lambda: (_ for _ in ()).throw(BrokenPipeError(errno.EPIPE, "Broken pipe")))


def test_another_error_keeps_its_traceback():
    with pytest.raises(PermissionError):
        run_main(lambda: (_ for _ in ()).throw(PermissionError(errno.EACCES, "no")))
