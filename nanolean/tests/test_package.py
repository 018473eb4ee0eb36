"""The package stands alone: nothing of nanoproof, no third-party package, no circle of imports, no second file name."""

import ast
import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nanolean.__main__ import main

PACKAGE = Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parent
KERNEL = "nanolean.kernel"
TESTED_WITH = {"pytest", "hypothesis", "psutil"}
MOST_LINES = 600


@cache
def modules() -> dict[str, Path]:
    files = sorted(file for file in PACKAGE.rglob("*.py") if PACKAGE / "tests" not in file.parents)
    names = (".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for file in files)
    return dict(zip(names, files, strict=True))


@cache
def imports(file: Path) -> list[tuple[str, bool]]:
    """Every module that a file imports, wherever in it, and whether that is at the top."""
    found: list[tuple[str, bool]] = []
    left: list[tuple[Any, int]] = [(ast.parse(file.read_text(encoding="utf-8")), 0)]
    while left:  # statements only, as imports are no part of an expression
        node, depth = left.pop()
        if isinstance(node, ast.Import):
            found += [(alias.name, depth == 1) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None and not node.level, f"{file}: a relative import"
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            found += [(name if name in modules() else node.module, depth == 1) for name in full]
        for part in ("body", "handlers", "orelse", "finalbody", "cases"):
            left += [(inner, depth + 1) for inner in getattr(node, part, ())]
    return found


def test_the_package_imports_python_and_itself_only() -> None:
    known = {*sys.stdlib_module_names, "nanolean"}
    found = {(name, of) for name, file in modules().items() for of, _ in imports(file)}
    assert [pair for pair in sorted(found) if pair[1].split(".")[0] not in known] == []


def test_its_tests_import_nothing_of_the_prover_that_it_ships_with() -> None:
    known = {*sys.stdlib_module_names, *TESTED_WITH, "nanolean"}
    files = sorted((PACKAGE / "tests").rglob("*.py"))
    found = {(str(file.relative_to(PACKAGE)), of.split(".")[0]) for file in files for of, _ in imports(file)}
    assert [pair for pair in sorted(found) if pair[1] not in known] == []


def test_all_modules_are_imported_without_installed_packages() -> None:
    names = [name for name in modules() if not name.endswith("__main__")]
    code = f"import sys, importlib\nfor name in {names!r}: importlib.import_module(name)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-S", "-c", code], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_kernel_imports_nothing_else_of_the_package() -> None:
    inside = {name: file for name, file in modules().items() if f"{name}.".startswith(f"{KERNEL}.")}
    assert len(inside) > 8
    found = {(name, of) for name, file in inside.items() for of, _ in imports(file) if of.startswith("nanolean")}
    assert [pair for pair in found if not f"{pair[1]}.".startswith(f"{KERNEL}.")] == []


def test_there_is_no_circle_of_imports_nor_a_local_import_that_would_hide_one() -> None:
    hidden = [
        (name, of) for name, file in modules().items() for of, top in imports(file) if of in modules() and not top
    ]
    assert hidden == []
    left = {name: {of for of, _ in imports(file)} & modules().keys() - {name} for name, file in modules().items()}
    while ready := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in ready:
            del left[name]
    assert left == {}


def test_a_module_of_the_package_can_be_read_at_once() -> None:
    lengths = {name: len(file.read_text(encoding="utf-8").splitlines()) for name, file in modules().items()}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}
    short = [name for name, length in lengths.items() if length < 50 and modules()[name].name != "__init__.py"]
    assert len(short) <= 3


def test_no_file_name_occurs_more_than_twice() -> None:
    beside = (ROOT / "nanoproof").rglob("*.py")
    counts = Counter(file.name for file in [*modules().values(), *beside])
    own = {file.name for file in modules().values()} - {"__init__.py", "__main__.py"}
    assert {name: counts[name] for name in own if counts[name] > 2} == {}


@pytest.mark.parametrize("name", ["repl", "check", "export", "compare", "build"])
def test_every_command_is_there(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([name, "--help"])
    assert f"nanolean {name}" in capsys.readouterr().out


def test_it_is_started_as_a_module() -> None:
    words = [sys.executable, "-m", "nanolean", "build", "--help"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0 and "nanolean build" in done.stdout
