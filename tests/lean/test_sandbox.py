"""A foreign project's code in bubblewrap: what Lake and the REPL of it can reach."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nanoproof.common.config import ConfigError
from nanoproof.common.errors import UserError
from nanoproof.lean.server.backend import ServerSettings, make_backend
from nanoproof.lean.server.repl_process import ReplProcess
from nanoproof.lean.server.sandbox import bubblewrap, inside
from tests.helpers import wait_for

PROBE = """#!{python}
import json, os, socket, sys
found = dict(os.environ)
reached = []
for place in ({outside!r}, "written", ".lake/written"):
    try:
        open(place, "w").close()
        reached.append(place)
    except OSError:
        pass
try:
    socket.create_connection(("127.0.0.1", {port}), 2)
    reached.append("network")
except OSError:
    pass
reached += [name for name in ("OPENAI_API_KEY",) if name in found]
if os.path.exists({secret!r}):
    reached.append("home")
if os.path.exists("/proc/{pid}"):
    reached.append("processes")
block = bytearray(60_000_000)
with open(".lake/reached", "w") as file:
    json.dump(reached, file)
os.rename(".lake/reached", ".lake/reached.json")
sys.stdin.read()
"""
LAKE = """#!/bin/sh
[ -e {secret} ] && echo reached > {leak}
shift
exec "$@"
"""


def works() -> bool:
    program = shutil.which("bwrap")
    command = [str(program), "--unshare-all", "--ro-bind", "/", "/", "true"]
    return program is not None and subprocess.run(command, capture_output=True).returncode == 0


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project whose Lake and REPL say what they reach."""
    folder, home = tmp_path / "project", tmp_path / "home"
    for made in (folder / ".lake", home, tmp_path / "bin"):
        made.mkdir(parents=True)
    (home / "key").write_text("secret")
    values = {"python": sys.executable, "secret": str(home / "key"), "outside": str(tmp_path / "outside")}
    listener = socket.create_server(("127.0.0.1", 0))
    values |= {"leak": str(folder / ".lake" / "leak"), "pid": str(os.getpid())}
    values["port"] = str(listener.getsockname()[1])
    for file, text in ((tmp_path / "bin" / "lake", LAKE), (folder / "repl", PROBE)):
        file.write_text(text.format(**values))
        file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    with listener:
        yield folder


@pytest.mark.skipif(not works(), reason="no bubblewrap that makes sandboxes here")
def test_a_project_in_the_sandbox_reaches_itself_alone_and_its_memory_counts(project: Path) -> None:
    backend = make_backend(ServerSettings(project_path=str(project), repl_exe="repl", sandbox="bwrap"))
    assert not (project / ".lake" / "leak").exists(), "Lake saw the home folder"
    process = ReplProcess(backend.command, cwd=backend.cwd, env=backend.env)
    try:
        reached = project / ".lake" / "reached.json"
        wait_for(reached.exists, seconds=60)
        # what it writes below /tmp is in one of its own, and gone with it
        assert json.loads(reached.read_text()) == [str(project.parent / "outside"), ".lake/written"]
        assert process.resident_bytes() > 60_000_000
    finally:
        process.close()
    assert sorted(os.listdir(project)) == [".lake", "repl"] and not (project.parent / "outside").exists()


def test_where_there_is_no_sandbox_nothing_runs_without_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = ServerSettings(project_path=str(project), repl_exe="repl", sandbox="bwrap")
    monkeypatch.setenv("PATH", str(project.parent / "bin"))
    with pytest.raises(UserError, match=r"there is no bwrap on the PATH"):
        make_backend(settings)
    program = project.parent / "bin" / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(UserError, match=r"no sandbox here: bwrap: No permissions"):
        make_backend(settings)
    (project / ".lake").rmdir()
    (project / ".lake").symlink_to(project.parent / "home")
    with pytest.raises(UserError, match=r"is a symbolic link, through which it would write"):
        make_backend(settings)
    assert not (project.parent / "home" / "leak").exists()


def test_the_command_hides_first_and_shows_the_project_last(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = project.parent / "bin" / "bwrap"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    command = bubblewrap(project, [Path("/opt/repl")], {"HOME": str(project.parent / "home")})
    words = " ".join(command)
    assert command[1] == "--unshare-all" and "--unshare-net" not in words and "--share-net" not in words
    assert words.index("--ro-bind / /") < words.index("--tmpfs /tmp") < words.index("--ro-bind-try /opt/repl")
    shown = f"--ro-bind-try {project} {project} --bind-try {project}/.lake {project}/.lake --chdir {project} --"
    assert words.endswith(shown)
    assert inside({"PATH": "a", "LEAN_PATH": "b", "HF_TOKEN": "c", "LC_ALL": "C"}) == {
        "PATH": "a",
        "LEAN_PATH": "b",
        "LC_ALL": "C",
    }


def test_nanolean_needs_no_sandbox() -> None:
    with pytest.raises(ConfigError, match="nanolean runs no code of files"):
        ServerSettings(sandbox="bwrap")
