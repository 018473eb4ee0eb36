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

import pytest

from nanoproof.common.errors import ABSENT
from tests.lean.conftest import SCRIPT

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
IMPORT_ALL = """
import contextlib, importlib, io, json, sys

failed = {}
for name in sys.argv[1:]:
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
for former in ("nanoproof.dataset", "nanoproof.lean.nanolean"):
    failed.pop(former)  # they say in one line what there is in their place
print(json.dumps(failed))
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


def taken(file: Path) -> Iterator[tuple[str, bool]]:
    """What a file imports of NanoLean, and whether that is at its top."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        yield from ((name, node in tree.body) for name in names if name.split(".")[0] == "nanolean")


def module_name(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_nanoproof_takes_of_it_what_is_listed_and_only_where_it_is_used() -> None:
    found = [(module_name(file), *one) for file in (ROOT / "nanoproof").rglob("*.py") for one in taken(file)]
    assert {(name, of) for name, of, _ in found} == TAKEN
    assert [(name, of) for name, of, top in found if top] == []


@pytest.mark.parametrize("module", ["nanoproof.pretrain", "nanoproof.rl", "scripts.prover_eval"])
def test_importing_a_program_loads_nothing_of_it(module: str) -> None:
    code = f"import sys, {module}; print([name for name in sys.modules if name.split('.')[0] == 'nanolean'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


# -- with the folder deleted -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree in which there is no `nanolean/`."""
    copy = tmp_path_factory.mktemp("without") / "tree"
    for folder in ("nanoproof", "scripts", "benchmarks", "tests/lean", "tests/fakes", "data"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
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


def test_without_it_every_module_is_imported_and_every_command_tells_its_options(without: Path) -> None:
    files = sorted(file for folder in ("nanoproof", "scripts") for file in (without / folder).rglob("*.py"))
    names = [".".join(file.relative_to(without).with_suffix("").parts).removesuffix(".__init__") for file in files]
    assert len(names) > 200
    if importlib.util.find_spec("triton") is None:  # its kernels are imported where they are used
        names.remove("nanoproof.inference.triton_kernels")
    done = run(without, "-c", IMPORT_ALL, *names)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {}


def test_without_it_a_server_of_real_lean_proves_a_theorem(without: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPT))
    done = run(without, "-c", PROVE, script, tmp_path / "requests.jsonl")
    assert (done.returncode, done.stdout) == (0, "proved\n"), done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["-m", "nanoproof.lean.server", "--backend", "nanolean", "--port", "0"],
        ["-m", "nanoproof.lean.nanolean", "repl"],
        ["-m", "nanoproof.data.nanolean", "make"],
        ["-m", "scripts.prove", "--policy", "solver-only", "theorem t : True"],
        ["-m", "nanoproof.data.contamination", "nanolean:valid", "nanolean:test"],
    ],
)
def test_without_it_to_choose_the_embedded_prover_ends_in_one_line(without: Path, words: list[str]) -> None:
    done = run(without, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].endswith(ABSENT["nanolean"]) and "Traceback" not in done.stderr
