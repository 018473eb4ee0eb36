"""Setting up Lean projects for servers, and checking what is there, over stand-ins for Lean's programs."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.common.errors import UserError
from nanoproof.lean.project import setup
from nanoproof.lean.project.__main__ import main
from nanoproof.lean.project.setup import set_up
from nanoproof.lean.server.backend import ServerSettings

LEAN_TOOLS = Path(__file__).parents[1] / "fakes" / "lean_tools.sh"
CALLS = [
    "lake --version",
    "lake update",
    "lake exe cache get",
    "lake build",
    "git clone",
    "lake build repl",
    "lake env",
]
STEPS = ["elan", "toolchain", "update", "cache", "build", "repl", "repl-build", "trial"]
NO_NETWORK = "fatal: unable to access 'https://github.com/': Could not resolve host: github.com"


class Tools:
    """The programs on the test's own PATH."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bin, self._log, self._monkeypatch = folder / "bin", folder / "calls.log", monkeypatch
        self.bin.mkdir()
        for name in ("elan", "lake", "git", "curl"):
            self.write(name)
        shutil.copy(self.bin / "lake", folder / "lake")
        for name in ("sh", "mkdir", "cp", "chmod", "sleep"):
            (self.bin / name).symlink_to(shutil.which(name) or name)
        monkeypatch.setenv("PATH", str(self.bin))
        monkeypatch.setenv("ELAN_HOME", str(folder / "elan"))
        monkeypatch.setenv("FAKE_LOG", str(self._log))
        monkeypatch.setenv("FAKE_LAKE", str(folder / "lake"))

    def write(self, name: str) -> None:
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n. '{LEAN_TOOLS}'\n")
        path.chmod(0o755)

    def fail(self, **deeds: str) -> None:
        """What calls do instead of their work; `lake_update="text"` is about `lake update`."""
        cues = [f"{start.replace('__', ' --').replace('_', ' ')}|{deed}" for start, deed in deeds.items()]
        self._monkeypatch.setenv("FAKE_FAIL", "\n".join(cues))

    def calls(self) -> list[str]:
        """The calls since the last time."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        self._log.unlink(missing_ok=True)
        return lines

    @property
    def pid_file(self) -> Path:
        return self._log.with_suffix(".pid")


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tools:
    return Tools(tmp_path, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path, tools: Tools) -> Path:
    """A written project."""
    main(["create", str(tmp_path / "my project")])
    return tmp_path / "my project"


def go(folder: Path, install_elan: bool = False, dry_run: bool = False, step_hours: float = 0.1) -> None:
    set_up(folder, install_elan, step_hours, dry_run)


def starts(calls: list[str]) -> list[str]:
    """Each call cut down to the entry of CALLS that it begins with (the longest one)."""
    return [max((start for start in CALLS if call.startswith(start)), key=len, default=call) for call in calls]


# -- setup -------------------------------------------------------------------------------------------------------


def test_setup_runs_every_step_and_then_the_project_is_ready(
    folder: Path, tools: Tools, capsys: pytest.CaptureFixture[str]
) -> None:
    go(folder)
    calls = tools.calls()
    assert starts(calls) == CALLS
    assert "git clone --depth 1 --branch v4.27.0 https://github.com/leanprover-community/repl" in calls[4]
    capsys.readouterr()
    assert main(["check", str(folder)]) == 0
    command = capsys.readouterr().out.splitlines()[-1]
    executable = folder / "repl/.lake/build/bin/repl"
    python, minus_m, module, *flags = shlex.split(command)
    assert (python, minus_m, module) == ("python", "-m", "nanoproof.lean.server")
    parser = Parser()
    add_flags(parser, ServerSettings)
    settings = from_args(ServerSettings, parser.parse_args(flags))
    assert (settings.backend, settings.imports, settings.warmup) == ("repl", ("Mathlib",), True)
    assert (settings.project_path, settings.repl_exe) == (str(folder), str(executable))


def test_a_second_setup_has_nothing_to_do(folder: Path, tools: Tools) -> None:
    go(folder)
    tools.calls()
    go(folder)
    assert tools.calls() == []


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("cue", "step", "number"),
    [
        ("lake__version", "toolchain", 0),
        ("lake_update", "update", 1),
        ("lake_exe_cache", "cache", 2),
        ("git_clone", "repl", 4),
        ("lake_build_repl", "repl-build", 5),
        ("lake_env", "trial", 6),
    ],
)
def test_a_failure_names_its_step_and_the_next_run_goes_on_there(
    folder: Path, tools: Tools, cue: str, step: str, number: int
) -> None:
    tools.fail(**{cue: NO_NETWORK})
    with pytest.raises(UserError) as failure:
        go(folder)
    message = str(failure.value)
    assert message.startswith(f"step {step} failed: ") and "\n" not in message
    assert "Could not resolve host: github.com" in message and "does not reach the network" in message
    assert f"setup '{folder}'` again" in message
    assert starts(tools.calls()) == CALLS[: number + 1]
    tools.fail()
    go(folder)
    assert starts(tools.calls()) == CALLS[number:]


@pytest.mark.parametrize(("cue", "step"), [("lake_update", "update"), ("lake_build", "build"), ("git_clone", "repl")])
def test_a_program_that_ends_well_without_its_result_is_a_failure(
    folder: Path, tools: Tools, cue: str, step: str
) -> None:
    tools.fail(**{cue: "nothing"})
    with pytest.raises(UserError, match=f"step {step} failed|cannot read .*lean-toolchain"):
        go(folder)


def test_a_full_disk_is_told_as_such(folder: Path, tools: Tools) -> None:
    tools.fail(lake_exe_cache="write failed: No space left on device")
    with pytest.raises(UserError, match=r"step cache failed: .*; free disk space"):
        go(folder)


def test_without_elan_nothing_is_run(folder: Path, tools: Tools) -> None:
    (tools.bin / "elan").unlink()
    with pytest.raises(UserError, match="step elan failed: there is no `elan` on the PATH; install it"):
        go(folder)
    assert tools.calls() == []


def test_elan_is_installed_if_that_is_asked_for(folder: Path, tools: Tools) -> None:
    (tools.bin / "elan").unlink()
    (tools.bin / "lake").unlink()
    go(folder, install_elan=True)
    calls = tools.calls()
    assert calls[0].startswith("curl ") and starts(calls[1:]) == CALLS


def test_check_says_how_to_find_a_lake_that_is_not_on_the_path(
    folder: Path, tools: Tools, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tools.bin / "elan").unlink()
    (tools.bin / "lake").unlink()
    go(folder, install_elan=True)
    assert main(["check", str(folder)]) == 0
    assert f"export PATH={tmp_path / 'elan' / 'bin'}:$PATH" in capsys.readouterr().out


def test_a_missing_git_is_named(folder: Path, tools: Tools) -> None:
    (tools.bin / "git").unlink()
    with pytest.raises(UserError, match="step repl failed: there is no `git` on the PATH"):
        go(folder)


def test_a_program_that_cannot_be_run_is_named(folder: Path, tools: Tools) -> None:
    (tools.bin / "git").write_text("#!/no/such/interpreter\n")
    with pytest.raises(UserError, match="step repl failed: `git` cannot be run: No such file"):
        go(folder)


def test_a_dry_run_prints_every_command_and_runs_none(
    folder: Path, tools: Tools, capsys: pytest.CaptureFixture[str]
) -> None:
    go(folder, dry_run=True)
    assert tools.calls() == []
    assert not (folder / ".nanoproof").exists()
    printed = capsys.readouterr().out
    assert all(f"{number}. {step}: " in printed for number, step in enumerate(STEPS, start=1))
    assert all(f": {call}" in printed or f"| {call}" in printed for call in CALLS)


def test_a_step_is_done_again_when_its_result_is_gone(folder: Path, tools: Tools) -> None:
    go(folder)
    tools.calls()
    (folder / "repl/.lake/build/bin/repl").unlink()
    go(folder)
    assert starts(tools.calls()) == ["lake build repl"]


def test_every_step_is_done_again_for_another_lakefile(folder: Path, tools: Tools) -> None:
    go(folder)
    tools.calls()
    (folder / "lakefile.toml").write_text((folder / "lakefile.toml").read_text() + "\n# changed\n")
    go(folder)
    assert starts(tools.calls()) == CALLS


@pytest.mark.parametrize("content", ["", "{", "[]", "\x00"])
def test_a_damaged_state_file_costs_repetition_and_nothing_else(folder: Path, tools: Tools, content: str) -> None:
    go(folder)
    tools.calls()
    (folder / ".nanoproof" / "setup.json").write_text(content)
    go(folder)
    assert starts(tools.calls()) == CALLS


def test_half_a_clone_is_thrown_away(folder: Path, tools: Tools) -> None:
    (folder / ".nanoproof" / "repl").mkdir(parents=True)
    (folder / ".nanoproof" / "repl" / "half").write_text("half")
    go(folder)
    assert not (folder / "repl" / "half").exists()


def test_a_repl_for_another_lean_is_refused(folder: Path, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_REPL_TOOLCHAIN", "leanprover/lean4:v4.9.0")
    with pytest.raises(UserError, match=r"step repl failed: the REPL tagged v4.27.0 is for Lean v4.9.0"):
        go(folder)
    assert not (folder / "repl").exists()


def test_the_fork_of_leantree_is_cloned_and_can_be_exchanged(tmp_path: Path, tools: Tools) -> None:
    folder = tmp_path / "p"
    main(["create", str(folder), "--lean", "v4.19.0", "--repl", "leantree"])
    go(folder)
    assert "--branch master https://github.com/Kripner/lean-repl" in tools.calls()[4]
    set_up(folder, False, 0.1, False, "official")
    cloned, *others = tools.calls()
    assert "--branch v4.19.0 https://github.com/leanprover-community/repl" in cloned
    assert starts(others) == ["lake build repl", "lake env"]
    go(folder)
    assert tools.calls() == []


def test_a_dry_run_changes_no_repl(folder: Path, tools: Tools, capsys: pytest.CaptureFixture[str]) -> None:
    set_up(folder, False, 0.1, True, "leantree@new")
    assert "--branch new https://github.com/Kripner/lean-repl" in capsys.readouterr().out
    assert not (folder / "lean-repl").exists() and tools.calls() == []


@pytest.mark.parametrize("repl", ["leantree", "leantree@other"])
def test_a_fork_for_another_lean_is_refused(folder: Path, tools: Tools, repl: str) -> None:
    with pytest.raises(UserError, match=r"is for Lean v4.19.0, not v4.27.0") as failure:
        set_up(folder, False, 0.1, False, repl)
    assert "\n" not in str(failure.value) and not (folder / "repl").exists()


def test_a_project_file_that_names_no_repl_is_refused(folder: Path) -> None:
    (folder / "lean-repl").write_text("mine\n")
    with pytest.raises(UserError, match=r"lean-repl: unknown REPL 'mine'"):
        go(folder)


def test_a_library_that_changes_the_toolchain_is_refused(
    folder: Path, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_UPDATED_TOOLCHAIN", "leanprover/lean4:v4.28.0")
    with pytest.raises(UserError, match=r"changed lean-toolchain from v4.27.0 to v4.28.0"):
        go(folder)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ('{"messages": [{"severity": "error", "data": "unknown module"}]}', "unknown module"),
        ('{"message": "Unknown environment."}', "Unknown environment"),
        ("Segmentation fault", "Segmentation fault"),
        ("", "no answer"),
        ("[1]", "cannot import"),
    ],
)
def test_a_repl_that_cannot_import_the_libraries_fails_the_trial(
    folder: Path, tools: Tools, monkeypatch: pytest.MonkeyPatch, answer: str, message: str
) -> None:
    monkeypatch.setenv("FAKE_ANSWER", answer)
    with pytest.raises(UserError, match=f"step trial failed: .*{message}"):
        go(folder)


def test_the_trial_reads_past_the_warnings_of_lake(folder: Path, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ANSWER", 'warning: manifest out of date\n{"env":\n 0}')
    go(folder)


def test_a_step_that_takes_too_long_is_stopped(folder: Path, tools: Tools) -> None:
    before = set(psutil.Process().children())
    tools.fail(lake__version="hang")
    with pytest.raises(UserError, match=r"step toolchain failed: .* took too long"):
        go(folder, step_hours=1 / 3600)
    assert set(psutil.Process().children()) <= before


def test_two_setups_of_one_project_do_not_meet(folder: Path, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    def second(*_: object) -> None:
        with pytest.raises(UserError, match="another set-up is at work"):
            go(folder)
        raise KeyboardInterrupt

    monkeypatch.setattr("nanoproof.lean.project.setup.run_program", second)
    with pytest.raises(KeyboardInterrupt):
        go(folder)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_program_under_way_and_the_next_run_goes_on(folder: Path, tools: Tools, sent: int) -> None:
    tools.fail(lake_exe_cache="hang")
    command = [sys.executable, "-m", "nanoproof.lean.project", "setup", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if "at it" in line:
                break
        process.send_signal(sent)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, errors) == (130, "interrupted\n")
    assert not psutil.pid_exists(int(tools.pid_file.read_text()))
    tools.calls()
    tools.fail()
    go(folder)
    assert starts(tools.calls()) == CALLS[2:]


def test_the_command_ends_with_one_line_and_status_2(folder: Path, tools: Tools) -> None:
    tools.fail(lake_update=NO_NETWORK)
    command = [sys.executable, "-m", "nanoproof.lean.project", "setup", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("error: step update failed: ") and done.stderr.count("\n") == 1


# -- check and bad input -----------------------------------------------------------------------------------------


def test_check_lists_what_is_missing(folder: Path, tools: Tools, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(folder)]) == 1
    printed = capsys.readouterr()
    assert "is there  elan" in printed.out and "missing   build" in printed.out
    assert "not ready: toolchain, update, cache, build, repl, repl-build, trial missing" in printed.err
    assert tools.calls() == []


@pytest.mark.parametrize("words", [["setup"], ["check"], ["setup", "--dry-run"]])
def test_a_folder_that_is_no_project_is_refused(tmp_path: Path, words: list[str]) -> None:
    with pytest.raises(UserError, match="not a Lean project"):
        main([words[0], str(tmp_path), *words[1:]])
    with pytest.raises(UserError, match="no directory"):
        main([words[0], str(tmp_path / "nowhere"), *words[1:]])
    (tmp_path / "lean-toolchain").write_text("leanprover/lean4:v4.27.0")
    with pytest.raises(UserError, match="was not made by `create`"):
        main([words[0], str(tmp_path), *words[1:]])
    assert [path.name for path in tmp_path.iterdir()] == ["lean-toolchain"]


@pytest.mark.parametrize("hours", ["0", "-1", "nan"])
def test_a_step_needs_time(folder: Path, hours: str) -> None:
    with pytest.raises(UserError, match="--step-hours must be > 0"):
        main(["setup", str(folder), "--step-hours", hours])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_project_that_cannot_be_written_to_is_one_line(folder: Path) -> None:
    folder.chmod(0o555)
    with pytest.raises(UserError, match="cannot write in"):
        go(folder)


@pytest.mark.parametrize(("cores", "gigabytes", "number"), [(16, 128, 16), (64, 64, 15), (2, 1, 1)])
def test_as_many_processes_are_suggested_as_cores_and_memory_allow(cores: int, gigabytes: int, number: int) -> None:
    assert setup.suggest_processes(cores, gigabytes * 2**30) == number


def test_the_reason_of_a_failure_is_its_last_complaint() -> None:
    ended = setup.Ended(1, ("error: first", "error: no such tag", "at the end"))
    assert ended.reason == "exit status 1: error: no such tag"
    assert setup.Ended(-9, ()).reason == "signal 9: it wrote nothing"
