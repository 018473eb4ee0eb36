"""NanoLean stands apart: what nanoproof takes of it and where, and all that works for real Lean without its folder."""

import ast
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nanoproof.common.errors import ABSENT
from tests.helpers import import_nodes
from tests.lean.conftest import SCRIPT
from tests.test_structure import PROGRAMS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
TAKEN = {
    ("nanoproof.data.nanolean", "nanolean.data.families"),
    ("nanoproof.data.nanolean", "nanolean.data.make"),
    ("nanoproof.data.nanolean", "nanolean.data.problem"),
    ("nanoproof.data.nanolean", "nanolean.data.replay"),
    ("nanoproof.data.nanolean", "nanolean.data.statement_key"),
    ("nanoproof.data.nanolean", "nanolean.data.variants"),
    ("nanoproof.data.nanolean", "nanolean.kernel.budget"),
    ("nanoproof.data.nanolean", "nanolean.library.loader"),
    ("nanoproof.doctor.checks", "nanolean.library.loader"),
    ("nanoproof.lean.nanolean", "nanolean.__main__"),
    ("nanoproof.prover.cli_input", "nanolean.parser"),
}
"""Who imports what of it, where it is used; all else goes through its commands and its REPL process."""
OF_NANOLEAN = ("make_nanolean_benchmark.py", "make_nanolean_hard.py")
"""Scripts that are about NanoLean alone, and need it to be imported."""
HIDE = """
import sys
from pathlib import Path

sys.path[:] = [folder for folder in sys.path if not (Path(folder) / "nanolean").is_dir()]
"""
IMPORT_AND_RUN = """
import contextlib, importlib, io, json, runpy, sys, threading, psutil

programs, modules, commands = json.loads(sys.argv[1])
for name in programs:
    importlib.import_module(name)
loaded = [package for package in ("nanoproof.cluster", "ray") if package in sys.modules]
failed, ended = {}, []
for name in modules:
    try:
        module = importlib.import_module(name)
        if "\\n    run_main(main)\\n" not in open(module.__file__, encoding="utf-8").read():
            continue
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            module.main(["--help"])
    except SystemExit as stopped:
        if stopped.code or "usage:" not in said.getvalue():
            failed[name] = said.getvalue()
    except BaseException as error:
        failed[name] = repr(error)
started = [thread.name for thread in threading.enumerate()] + [child.name() for child in psutil.Process().children()]
for former in ("nanoproof.dataset", "nanoproof.lean.nanolean"):
    failed.pop(former)  # they say in one line what there is in their place
for words in commands:
    out, complaint, code = io.StringIO(), io.StringIO(), 0
    sys.argv = words
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(complaint):
            runpy.run_module(words[0], run_name="__main__")
    except SystemExit as stopped:
        code = stopped.code
    except BaseException as error:
        code = repr(error)
    ended.append([code, out.getvalue(), complaint.getvalue()])
print(json.dumps([failed, ended, loaded, started]))
"""
PROVE = """
import sys
from nanoproof.lean.server.backend import Backend
from tests.lean.conftest import AND, SCRIPTED_REPL, THEOREM, start_server

command = (sys.executable, str(SCRIPTED_REPL), sys.argv[1], sys.argv[2])
with start_server(Backend(command, start_seconds=60.0, can_prune=True)) as running, running.client().lease() as session:
    branch = session.start(THEOREM)
    assert str(branch.state) == AND
    (split,) = session.apply(branch, ["constructor"])
    for child, tactic in zip(split.branches, ("exact hp", "exact hq"), strict=True):
        (result,) = session.apply(child, [tactic])
        assert result.branches == ()
print("proved")
"""


CHOOSE = [
    ["nanoproof.lean.server", "--backend", "nanolean", "--port", "0"],
    ["nanoproof.lean.nanolean", "repl"],
    ["nanoproof.data.nanolean", "make"],
    ["scripts.prove", "--policy", "solver-only", "theorem t : True"],
    ["nanoproof.data.contamination", "nanolean:valid", "nanolean:test"],
]
"""Commands that need it."""


def taken(file: Path) -> Iterator[tuple[str, bool]]:
    """What a file imports of NanoLean, and whether that is at its top."""
    for node in import_nodes(file) if "nanolean" in file.read_text(encoding="utf-8") else []:
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        yield from ((name, node.col_offset == 0) for name in names if name.split(".")[0] == "nanolean")


def module_name(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_nanoproof_takes_of_it_what_is_listed_and_only_where_it_is_used() -> None:
    found = [(module_name(file), *one) for file in (ROOT / "nanoproof").rglob("*.py") for one in taken(file)]
    assert {(name, of) for name, of, _ in found} == TAKEN
    assert [(name, of) for name, of, top in found if top] == []


# -- with the folder deleted -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree in which there is no `nanolean/`."""
    copy = tmp_path_factory.mktemp("without") / "tree"
    for folder in ("nanoproof", "scripts", "benchmarks", "tests/lean", "tests/fakes", "data"):
        # What is compiled goes along, as the files keep their times.
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("node_modules"))
    for name in ("tests/__init__.py", "tests/helpers.py", "pyproject.toml"):
        shutil.copy(ROOT / name, copy / name)
    for name in OF_NANOLEAN:
        (copy / "scripts" / name).unlink()
    (copy / "sitecustomize.py").write_text(HIDE)  # this tree may be installed
    return copy


def run(tree: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Run Python in the copy."""
    home = str(tree.parent / "home")
    environment = {**os.environ, "PYTHONPATH": str(tree), "NANOPROOF_HOME": home, "WANDB_MODE": "disabled"}
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=280)


@pytest.fixture(scope="module")
def imported_and_run(without: Path) -> Any:
    """What failed when every module was imported, and how the commands of `CHOOSE` ended, all in one process."""
    files = sorted(file for folder in ("nanoproof", "scripts") for file in (without / folder).rglob("*.py"))
    names = [".".join(file.relative_to(without).with_suffix("").parts).removesuffix(".__init__") for file in files]
    assert len(names) > 200
    if importlib.util.find_spec("triton") is None:  # its kernels are imported where they are used
        names.remove("nanoproof.inference.triton_kernels")
    done = run(without, "-c", IMPORT_AND_RUN, json.dumps([PROGRAMS, names, CHOOSE]))
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()  # importing says nothing
    return json.loads(line)


def test_programs_do_without_it_and_the_cluster_and_nothing_is_started_by_importing(imported_and_run: Any) -> None:
    _, _, loaded, started = imported_and_run
    assert loaded == [] and started == ["MainThread"]


@pytest.mark.nightly
def test_without_it_every_module_is_imported_and_every_command_tells_its_options(imported_and_run: Any) -> None:
    assert imported_and_run[0] == {}


def test_without_it_a_server_of_real_lean_proves_a_theorem(without: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPT))
    done = run(without, "-c", PROVE, script, tmp_path / "requests.jsonl")
    assert (done.returncode, done.stdout) == (0, "proved\n"), done.stderr


@pytest.mark.parametrize("words", CHOOSE, ids=" ".join)
def test_without_it_to_choose_the_embedded_prover_ends_in_one_line(imported_and_run: Any, words: list[str]) -> None:
    code, out, complaint = imported_and_run[1][CHOOSE.index(words)]
    assert (code, out) == (2, ""), complaint
    assert complaint.splitlines()[-1].endswith(ABSENT["nanolean"]) and "Traceback" not in complaint
