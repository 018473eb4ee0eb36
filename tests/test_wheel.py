"""The package as it is installed: what a wheel holds, and that its commands run where there is no repository."""

import configparser
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from packaging.requirements import Requirement

pytestmark = pytest.mark.slow

TORCH = version("torch").partition("+")[0]
ROOT = Path(__file__).resolve().parents[1]
BUILD = "from setuptools import build_meta as b; print(b.build_sdist('out')); print(b.build_wheel('out'))"
PAGE = {"index.html": "<!doctype html><title>built</title>", "assets/index-12345678.js": "1"}
PAGE_FOLDER = "nanoproof/monitor/static/page"
NOT_PACKED = ("nanolean/README.md", "nanolean/docs", "nanolean/tests", "nanoproof/web")
"""What lies in the packages' folders for those who work on them."""
FOR_THE_REPOSITORY = {
    *("bench_inference", "check_flags", "draw_search", "make_nanolean_benchmark", "make_nanolean_hard"),
    "same_results",
}
"""Scripts that go with what a wheel does not have."""
LOOK = """
import importlib, json, sys, urllib.request
from nanoproof.__main__ import programs
from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import INSTALLED, REPO_ROOT, code_revision
from nanoproof.data.nanolean import list_theorems
from nanoproof.data.theorems.whitelists import load_whitelist
from nanoproof.doctor.checks import packages
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.monitor.server import start_monitor

try:
    Tokenizer.load("none")
except UserError as error:
    hint = str(error)
sys.path.insert(0, str(REPO_ROOT))
for module, _ in programs().values():
    importlib.import_module(module)
monitor = start_monitor(0)
open_url = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
pages = [open_url(monitor.address + path).read().decode() for path in ("/", "/assets/index-12345678.js")]
monitor.close()
names = ("nanoproof", "nanolean", "scripts", "tests", "benchmarks")
files = {name: module.__file__ for name, module in sys.modules.items() if name.split(".")[0] in names}
print(json.dumps({
    "installed": INSTALLED,
    "revision": code_revision(),
    "hint": hint,
    "packages": packages(None)[0].state,
    "theorems": [len(list_theorems(split)) for split in ("valid", "test")],
    "whitelist": len(load_whitelist("nanolean", "nanolean").passing),
    "pages": pages,
    "files": files,
}))
"""


class Wheel(NamedTuple):
    """A wheel, its files, where they are unpacked, and those of the source distribution beside it."""

    file: Path
    names: set[str]
    site: Path
    source: set[str]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Wheel:
    """Built of a copy, with a page of the monitor in it, by the setuptools that is here."""
    copy, site = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    for folder in ("nanoproof", "nanolean", "scripts", "data"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    for name, text in PAGE.items():
        file = copy / PAGE_FOLDER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    done = subprocess.run([sys.executable, "-c", BUILD], cwd=copy, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    (built,) = (copy / "out").glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(site)
    with tarfile.open(*(copy / "out").glob("*.tar.gz")) as sources:
        return Wheel(built, set(archive.namelist()), site, {name.partition("/")[2] for name in sources.getnames()})


def run(wheel: Wheel, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the wheel and the environment's packages, but without what is installed there as editable."""
    path = os.pathsep.join([str(wheel.site), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    environment = {**os.environ, "PYTHONPATH": path, "WANDB_MODE": "disabled"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # each would compile the wheel's modules anew
    command = [sys.executable, "-S", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=200)


def test_it_holds_the_packages_their_data_and_what_is_shipped(wheel: Wheel) -> None:
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    folders = ["nanoproof", "nanolean", "data", "scripts"]
    done = subprocess.run([*listing, *folders], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git checkout")
    tracked = [name for name in done.stdout.splitlines() if not name.startswith(NOT_PACKED) and (ROOT / name).exists()]
    packed = {name for name in tracked if name.startswith(("nanoproof/", "nanolean/"))}
    scripts = {f"scripts/{Path(name).name}" for name in tracked if name.startswith("scripts/")}
    shipped = {name for name in tracked if name.startswith("data/") and name != "data/README.md"}
    shipped |= scripts - {f"scripts/{name}.py" for name in FOR_THE_REPOSITORY}
    packed |= {f"{PAGE_FOLDER}/{name}" for name in PAGE}
    found = {name for name in wheel.names if ".dist-info/" not in name}
    assert found == packed | {f"nanoproof/shipped/{name}" for name in shipped}
    assert wheel.source >= packed | shipped


def test_its_commands_have_names(wheel: Wheel) -> None:
    (file,) = wheel.site.glob("*.dist-info/entry_points.txt")
    points = configparser.ConfigParser()
    points.read(file)
    assert set(points["console_scripts"]) == {"nanoproof", "nanolean", "leanserver"}
    for name, place in points["console_scripts"].items():
        module, _, function = place.partition(":")
        assert f"def {function}()" in (wheel.site / f"{module.replace('.', '/')}.py").read_text(), name


@pytest.mark.nightly
def test_its_modules_data_and_page_are_found_in_it(wheel: Wheel, tmp_path: Path, nanoproof_home: str) -> None:
    done = run(wheel, tmp_path, "-c", LOOK)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    elsewhere = {name: file for name, file in found.pop("files").items() if not str(file).startswith(str(wheel.site))}
    assert elsewhere == {}
    assert "make one with: nanoproof tok_build (" in found.pop("hint")
    assert found.pop("whitelist") > 1000
    assert found == {
        "installed": True,
        "revision": "version 0.1.0",
        "packages": "ok",
        "theorems": [200, 200],
        "pages": list(PAGE.values()),
    }


@pytest.mark.nightly
def test_it_checks_and_proves(wheel: Wheel, tmp_path: Path, nanoproof_home: str) -> None:
    (tmp_path / "mine.lean").write_text("theorem t (p q : Prop) (h : p ∧ q) : q ∧ p := by\n  sorry\n")
    done = run(wheel, tmp_path, "-m", "nanoproof", "prove", "mine.lean", "--policy", "solver-only")
    assert (done.returncode, "1 of 1 proved" in done.stdout) == (0, True), done.stderr
    done = run(wheel, tmp_path, "-m", "nanolean", "check", "mine.lean", "mine.proved.lean")
    assert done.returncode == 1
    assert done.stdout.count("sorry") == 2 and "2 files: 2 theorems; 1 file not proved" in done.stdout


def test_a_torch_that_is_there_stays_also_a_build_without_cuda(wheel: Wheel, tmp_path: Path) -> None:
    """The extras name no build, and no marker can: what pip takes by itself has CUDA's packages (docs/commands.md)."""
    report = tmp_path / "report.json"
    # Both at once: pip would have to take another torch if either asked for one.
    words = ["install", "--dry-run", "--no-index", "--quiet", "--report", str(report), f"{wheel.file}[cpu,gpu]"]
    done = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True, timeout=100)
    if "No module named pip" in done.stderr:
        pytest.skip("there is no pip")
    assert done.returncode == 0, done.stderr
    assert [item["metadata"]["name"] for item in json.loads(report.read_text())["install"]] == ["nanoproof"]
    metadata = (next(wheel.site.glob("*.dist-info")) / "METADATA").read_text()
    for extra in ("cpu", "gpu"):
        (torch,) = (line for line in metadata.splitlines() if "torch" in line and f'extra == "{extra}"' in line)
        assert Requirement(torch.removeprefix("Requires-Dist: ")).specifier.contains(f"{TORCH}+cpu")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 0, "  check_with_lean "),
        (["--version"], 0, "nanoproof version 0.1.0\n"),
        (["check-with-lean", "--help"], 0, "usage: nanoproof check_with_lean "),
        (["prov"], 2, "error: there is no command prov; did you mean prove?\n"),
    ],
)
def test_a_command_is_named_by_a_word(wheel: Wheel, tmp_path: Path, words: list[str], code: int, said: str) -> None:
    done = run(wheel, tmp_path, "-m", "nanoproof", *words)
    assert done.returncode == code and said in done.stdout + done.stderr
