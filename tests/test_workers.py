"""The processes that run the tests: what fails in one is reported, and one that dies is no success."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PASSES = "def test_passes(tmp_path):\n    assert tmp_path.is_dir()\n"
FAILS = "import os\n\ndef test_fails():\n    os.system('echo said by a child')\n    assert 1 == 2\n"
DIES = "import os\n\ndef test_dies():\n    os.kill(os.getpid(), 9)\n"


def run(folder: Path, **texts: str) -> subprocess.CompletedProcess[str]:
    """Run files of tests in two workers."""
    for name, text in texts.items():
        (folder / f"test_{name}.py").write_text(text, encoding="utf-8")
    options = ["-p", "tests.workers", "--workers", "2", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    command = [sys.executable, "-m", "pytest", *options, str(folder)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)


def test_every_test_is_run_once_and_what_a_failed_one_said_is_shown(tmp_path: Path) -> None:
    done = run(tmp_path, a=PASSES, b=PASSES + FAILS, c=PASSES)
    assert done.returncode == 1 and "1 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    assert done.stdout.count("said by a child\n") == 1 and "assert 1 == 2" in done.stdout


def test_a_worker_that_dies_ends_the_run_with_an_error_that_no_rerun_of_failures_mends(tmp_path: Path) -> None:
    done = run(tmp_path, a=PASSES, b=DIES)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "a worker ended in the midst of its tests, exit code -9" in done.stdout
