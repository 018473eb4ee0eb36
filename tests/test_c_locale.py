"""Commands under the C locale without Python's UTF-8 mode, as in bare containers and cron jobs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def run(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, **C_LOCALE, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, *words], capture_output=True, env=environment, cwd=cwd, timeout=120)


def test_good_proofs_hold(tmp_path: Path) -> None:
    (tmp_path / "swap.lean").write_text(
        "theorem swap (p q : Prop) (h : p ∧ q) : q ∧ p := by\n  exact ⟨h.2, h.1⟩\n", encoding="utf-8"
    )
    done = run("-m", "scripts.check_with_lean", str(tmp_path), "--lean", "nanolean", "--sandbox", "none")
    assert b"1 of 1 proofs hold" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("package", ["nanoproof.common.errors", "nanolean.system"])
def test_output_is_utf8(package: str) -> None:
    code = f"from {package} import run_main; run_main(lambda: print(chr(0x22A2), chr(0xD83D)))"
    done = run("-c", code)
    assert (done.returncode, done.stdout.decode()) == (0, "⊢ \\ud83d\n"), done.stderr


def test_arguments_are_utf8_and_names_of_files_are_as_they_are(tmp_path: Path) -> None:
    code = "import sys; from nanoproof.common.errors import run_main; run_main(lambda: print(ascii(sys.argv[1:])))"
    (tmp_path / "é").touch()
    done = run("-c", code, "⊢ p", "é", cwd=tmp_path)
    assert done.stdout.decode().strip() == ascii(["⊢ p", "\udcc3\udca9"]), done.stderr
