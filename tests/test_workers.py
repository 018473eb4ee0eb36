"""Workers of the tests: one that dies takes its test with it and no other."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

FIRST = """
import os, warnings

def test_passes(tmp_path):
    (tmp_path.parents[1] / "shared").touch()
    warnings.warn("a warning")
    print("not to be seen")

def test_kills_its_process():
    os._exit(0)

def test_that_the_dead_one_had_not_begun():
    print("what it said")
    assert 1 == 2
"""
SECOND = """
import pytest, time

@pytest.fixture(scope="module")
def made():
    yield 7
    print("taken down")

@pytest.mark.parametrize("number", (7, 8))
def test_numbers(made, number):
    assert made == number

def test_folders_of_all_are_side_by_side(tmp_path):
    deadline = time.monotonic() + 60
    while not (tmp_path.parents[1] / "shared").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)

@pytest.mark.skip(reason="no use")
def test_skipped():
    pass
"""


def test_all_tests_are_reported_though_a_process_dies(tmp_path):
    (tmp_path / "test_first.py").write_text(FIRST)
    (tmp_path / "test_second.py").write_text(SECOND)
    options = ["-p", "tests.workers", "--workers", "2", "-p", "no:cacheprovider", "-rA"]
    folders = ["--rootdir", str(tmp_path), "--basetemp", str(tmp_path / "temporary"), str(tmp_path)]
    command = [sys.executable, "-m", "pytest", *options, *folders]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    said = ended.stdout
    assert ended.returncode == 1, said + ended.stderr
    assert "3 failed, 3 passed, 1 skipped" in said
    assert "the process that ran test_first.py::test_kills_its_process has died" in said
    assert "what it said" in said and "assert 7 == 8" in said and "a warning" in said
