"""`--checker lean-kernel`: Lean's library found, asked in a process of its own, and what becomes of its crashes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nanolean.tests.library import SEED, sized
from nanoproof.common.errors import UserError
from nanoproof.lean import lean_kernel
from nanoproof.lean.certificates import check_certificates
from nanoproof.lean.embedded import write_certificates

STAND_IN = """
import json, os, signal, sys, time
print(json.dumps({"kernel": "lean", "version": "4.0.0", "tried": "old" not in sys.argv[-1]}), flush=True)
for line in sys.stdin:
    name = line.strip().rpartition("/")[2]
    if name.startswith("crash"):
        os.kill(os.getpid(), signal.SIGSEGV)
    if name.startswith("slow"):
        time.sleep(60)
    print("something that Lean prints")
    print(json.dumps({"file": name, "outcome": "refused" if "bad" in name else "accepted", "reason": "no"}), flush=True)
"""
needs_lean = pytest.mark.skipif(lean_kernel.installed() is None, reason="no libleanshared of Lean is installed")


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "stand_in.py"
    file.write_text(STAND_IN, encoding="utf-8")
    monkeypatch.setattr(lean_kernel, "COMMAND", (sys.executable, str(file)))


@pytest.mark.usefixtures("stand_in")
def test_a_crash_of_the_library_costs_one_certificate() -> None:
    files = [Path(name) for name in ("a", "crash1", "bad", "crash2", "b")]
    name, answers, _ = lean_kernel.judge(files, Path("lib"), 20.0)
    assert name == "Lean 4.0.0's kernel"
    assert [answers[file].outcome for file in files] == ["accepted", "refused", "refused", "refused", "accepted"]
    assert answers[Path("crash1")].reason == "Lean's library ended with signal 11"


@pytest.mark.usefixtures("stand_in")
def test_a_certificate_without_an_answer_in_time_is_refused() -> None:
    _, answers, _ = lean_kernel.judge([Path("slow"), Path("a")], Path("lib"), 1.0)
    assert answers[Path("slow")] == ("refused", "no answer from Lean's kernel in time")
    assert answers[Path("a")].outcome == "accepted"


@pytest.mark.usefixtures("stand_in")
def test_a_version_that_was_not_tried_is_said() -> None:
    assert "not tried" in lean_kernel.judge([], Path("old"), 1.0)[0]


def test_a_file_that_is_no_library_is_one_clear_line(tmp_path: Path) -> None:
    file = tmp_path / "libleanshared.so"
    file.write_text("nothing", encoding="utf-8")
    with pytest.raises(UserError, match="cannot be used as Lean's library"):
        lean_kernel.judge([], lean_kernel.find_library(f"lean-kernel:{tmp_path}"), 1.0)


def test_a_library_is_found_where_lean_installs_it(tmp_path: Path) -> None:
    folder = tmp_path / "lib" / "lean"
    folder.mkdir(parents=True)
    (folder / "libleanshared.so").touch()
    assert lean_kernel.find_library(f"lean-kernel:{tmp_path}") == (folder / "libleanshared.so").resolve()
    with pytest.raises(UserError, match="neither a libleanshared nor an installed Lean"):
        lean_kernel.find_library(f"lean-kernel:{tmp_path / 'nowhere'}")


def test_without_any_lean_the_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lean_kernel, "PACKAGE", "no_such_package")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UserError, match=r"pip install 'nanoproof\[lean-kernel\]'"):
        lean_kernel.find_library()


@needs_lean
def test_lean_accepts_our_proofs_and_no_addition_of_another_meaning(tmp_path: Path) -> None:
    for name in ("one", "two", "wrong"):
        text = f"theorem {name} (a b : Nat) : a + b = b + a ∧ 2 + 2 = 4 := by\n  exact ⟨Nat.add_comm a b, rfl⟩\n"
        (tmp_path / f"{name}.lean").write_text(text, encoding="utf-8")
    assert write_certificates(tmp_path) == 3
    # `fun n m => n` for `Nat.add`: Lean's kernel alone takes `1 + 1 = 1` by the definition and `1 + 1 = 2` by the name
    certificate = tmp_path / "wrong.ndjson"
    lines = certificate.read_text(encoding="utf-8").splitlines()
    certificate.write_text("\n".join(with_another_addition(lines)), encoding="utf-8")
    result = check_certificates(tmp_path, "lean-kernel", 60.0, 1)
    answers = {file.stem: answer for file, answer in result.answers.items()}
    assert not result.ok and [answers[name].outcome for name in ("one", "two", "wrong")] == [
        *["accepted"] * 2,
        "refused",
    ]
    assert "Nat.add" in answers["wrong"].reason


def with_another_addition(lines: list[str]) -> list[str]:
    """A certificate in which the value of `Nat.add` is that of the definition before it."""
    records = [json.loads(line) for line in lines]
    names = {0: ""}
    for record in records:
        if "str" in record:
            names[record["in"]] = f"{names[record['str']['pre']]}.{record['str']['str']}".lstrip(".")
    for record in records:
        if "def" in record and names[record["def"]["name"]] == "Nat.add":
            record["def"]["value"] = record["def"]["type"]
    return [json.dumps(record, ensure_ascii=False) for record in records]


@needs_lean
def test_both_kernels_judge_random_declarations_alike() -> None:
    kinds = ["types", "levels", "structures", "mutants", "equalities"]
    words = [sys.executable, "-m", "nanolean.tests.official", str(lean_kernel.find_library()), ",".join(kinds)]
    done = subprocess.run([*words, str(sized(1_000)), str(SEED)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(result["kind"], result["wrong"]) for result in found] == [(kind, []) for kind in kinds]
