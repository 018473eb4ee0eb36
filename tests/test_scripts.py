"""`scripts.check_with_lean` and `scripts.prove` as a user runs them, over the embedded prover and a scripted Lean."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from nanoproof.common.errors import UserError
from scripts import check_with_lean

GOOD = "theorem good (p : Prop) (h : p) : p := by\n  exact h\n"
PROOFS = {
    "good": GOOD,
    "two": "theorem first' : True := True.intro\n\nnamespace N\ntheorem second : 1 = 1 := rfl\nend N\n",
    "classical": "theorem em (p : Prop) : p ∨ ¬p := by\n  exact Classical.em p\n",
    "gap": "theorem gap (p : Prop) (h : p) : p := by\n  sorry\n",
    "gap_beside": GOOD + "\nexample : 1 = 2 := by\n  sorry\n",
    "wrong": "theorem wrong (p q : Prop) (h : p) : q := by\n  exact h\n",
    "cheat": "axiom cheat : ∀ p : Prop, p\n\ntheorem cheated : 1 = 2 := cheat _\n",
    "none": "namespace Nothing\nend Nothing\n",
    "empty": "",
}


def write(folder: Path, **texts: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.lean").write_text(text, encoding="utf-8")
    return folder


def command(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *map(str, words)], capture_output=True, text=True, timeout=240)


# -- with the embedded prover ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """One run over all of PROOFS, and its `--json` file with file names in place of paths."""
    folder = write(tmp_path_factory.mktemp("proofs") / "deep", **PROOFS)
    out = folder.parent / "result.json"
    done = command("scripts.check_with_lean", folder.parent, "--lean", "nanolean", "--json", out)
    result = json.loads(out.read_text(encoding="utf-8"))
    result["refused"] = {Path(file).stem: reason for file, reason in result["refused"].items()}
    return done, result


@pytest.mark.parametrize("name", ["good", "two", "classical"])
def test_proofs_hold(checked: Any, name: str) -> None:
    assert name not in checked[1]["refused"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gap", "it uses sorry"),
        ("gap_beside", "it uses sorry"),
        ("wrong", "2:8: error: Type mismatch"),
        ("cheat", "it rests on cheat"),
        ("none", "its axioms were not listed for every theorem"),
        ("empty", "its axioms were not listed for every theorem"),
    ],
)
def test_what_is_no_proof_is_refused_with_its_reason(checked: Any, name: str, reason: str) -> None:
    assert checked[1]["refused"][name].startswith(reason)


def test_refused_files_are_counted_listed_and_make_the_exit_code_1(checked: Any) -> None:
    done, result = checked
    assert done.returncode == 1
    assert (result["files"], result["accepted"], result["lean"]) == (9, 3, "nanolean")
    assert done.stdout.count("refused: ") == 6
    assert done.stdout.endswith("3 of 9 proofs hold (nanolean)\n")


def test_a_folder_of_proofs_exits_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_with_lean.main([str(write(tmp_path, good=GOOD)), "--lean", "nanolean"]) == 0
    assert capsys.readouterr().out == "1 of 1 proofs hold (nanolean)\n"


def test_an_axiom_of_one_file_is_unknown_to_the_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, a=PROOFS["cheat"], b="theorem later : 2 = 3 := cheat _\n")
    assert check_with_lean.main([str(tmp_path), "--lean", "nanolean"]) == 1
    assert "b.lean: 1:" in capsys.readouterr().out


# -- what a user can get wrong -----------------------------------------------------------------------------------


def test_an_empty_folder_exits_with_2(tmp_path: Path) -> None:
    done = command("scripts.check_with_lean", tmp_path, "--lean", "nanolean")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: {tmp_path} holds no .lean file\n"


def test_a_missing_program_exits_with_2(tmp_path: Path) -> None:
    done = command("scripts.check_with_lean", write(tmp_path, good=GOOD), "--lean", "no-such-lean --flag")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: --lean no-such-lean --flag: no such program") and done.stderr.count("\n") == 1


def test_a_missing_working_folder_is_a_users_error(tmp_path: Path) -> None:
    write(tmp_path / "proofs", good=GOOD)
    gone = tmp_path / "gone"
    with pytest.raises(UserError, match=r"cannot run nanolean in .*gone"):
        check_with_lean.main([str(tmp_path / "proofs"), "--lean", "nanolean", "--cwd", str(gone)])


def test_a_file_that_is_no_text_is_a_users_error(tmp_path: Path) -> None:
    (tmp_path / "bytes.lean").write_bytes(b"theorem t : \xff")
    with pytest.raises(UserError, match=r"cannot read .*bytes\.lean"):
        check_with_lean.main([str(tmp_path), "--lean", "nanolean"])


def test_a_result_that_cannot_be_written_is_a_users_error(tmp_path: Path) -> None:
    write(tmp_path, good=GOOD)
    blocked = tmp_path / "good.lean" / "result.json"
    with pytest.raises(UserError, match=r"cannot write --json .*result\.json"):
        check_with_lean.main([str(tmp_path), "--lean", "nanolean", "--json", str(blocked)])


# -- with a program that prints what Lean prints -----------------------------------------------------------------

FOREVER = 600
FAKE = """#!{python}
import json, os, pathlib, sys, time
folder = pathlib.Path(__file__).parent
(folder / "pid").write_text(str(os.getpid()))
file = pathlib.Path(sys.argv[-1])
text = file.read_text(encoding="utf-8")
with open(folder / "calls.jsonl", "a", encoding="utf-8") as calls:
    calls.write(json.dumps([sys.argv[1:-1], str(pathlib.Path.cwd()), text]) + "\\n")
for mark, output, code in json.loads((folder / "answers.json").read_text(encoding="utf-8")):
    if mark in text:
        if code is None:
            time.sleep({forever})
        print(output.replace("FILE", str(file)))
        sys.exit(code)
"""


class FakeLean:
    """A program `lean` on the PATH. Like Lean's, its errors and warnings name the file, its answers do not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        program = folder / "lean"
        program.write_text(FAKE.format(python=sys.executable, forever=FOREVER), encoding="utf-8")
        program.chmod(0o755)
        self._answers: list[tuple[str, str, int | None]] = []

    def answer(self, mark: str, *lines: str, code: int | None = 0) -> None:
        """What to print about files that hold `mark`; the exit code None stands for no answer at all."""
        self._answers.append((mark, "\n".join(lines), code))
        (self.folder / "answers.json").write_text(json.dumps(self._answers), encoding="utf-8")

    def running(self) -> bool:
        """Whether the process of the last call is still there (and not just waiting to be reaped)."""
        pid = int((self.folder / "pid").read_text())
        try:
            return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    def calls(self) -> list[tuple[list[str], str, str]]:
        """Flags, working folder and text of each call."""
        return [tuple(json.loads(line)) for line in (self.folder / "calls.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture
def lean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeLean:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return FakeLean(folder)


def verdict(folder: Path, *flags: str) -> str | None:
    """Why the only file of a folder is refused; None if it holds."""
    files = sorted(folder.rglob("*.lean"))
    out = folder / "result.json"
    code = check_with_lean.main([str(folder), "--json", str(out), *flags])
    refused = json.loads(out.read_text(encoding="utf-8"))["refused"]
    assert code == (1 if refused else 0) and len(files) == 1
    return refused.get(str(files[0]))


NO_AXIOMS = "'good' does not depend on any axioms"


@pytest.mark.parametrize(
    "lines",
    [
        [NO_AXIOMS],
        ["'good' depends on axioms: [propext, Quot.sound]"],
        ["'good' depends on axioms: [propext,", " Classical.choice,", " Quot.sound]"],
        ["FILE:1:23: warning: unused variable `h`", NO_AXIOMS],
    ],
)
def test_what_lean_says_of_a_good_proof(lean: FakeLean, tmp_path: Path, lines: list[str]) -> None:
    lean.answer("good", *lines)
    assert verdict(write(tmp_path / "proofs", good=GOOD)) is None


@pytest.mark.parametrize(
    ("lines", "code", "reason"),
    [
        (["FILE:2:8: error: Type mismatch", "  h", NO_AXIOMS], 1, "2:8: error: Type mismatch"),
        (["FILE:1:9: warning: unused variable", "FILE:2:8: error: no"], 1, "2:8: error: no"),
        (["FILE:2:8: error(lean.unknownIdentifier): Unknown identifier `x`", NO_AXIOMS], 1, "2:8: error(lean.unknown"),
        (["FILE:1:8: warning: declaration uses `sorry`", "'good' depends on axioms: [sorryAx]"], 0, "it uses sorry"),
        (["FILE:1:8: warning: declaration uses 'sorry'", NO_AXIOMS], 0, "it uses sorry"),
        (["'good' depends on axioms: [propext, Lean.ofReduceBool]"], 0, "it rests on Lean.ofReduceBool"),
        (["'good' depends on axioms: [propext, sorryAx]"], 0, "it rests on sorryAx"),
        ([""], 0, "its axioms were not listed"),
        (["'Nat.add_comm' does not depend on any axioms"], 0, "its axioms were not listed"),
        ([NO_AXIOMS], 137, "error: exit code 137"),
    ],
)
def test_what_lean_says_of_a_bad_proof(
    lean: FakeLean, tmp_path: Path, lines: list[str], code: int, reason: str
) -> None:
    lean.answer("good", *lines, code=code)
    found = verdict(write(tmp_path / "proofs", good=GOOD))
    assert found is not None and found.startswith(reason)


def test_every_theorem_of_a_file_is_asked_for(lean: FakeLean, tmp_path: Path) -> None:
    lean.answer("first'", "'first'' does not depend on any axioms", "'N.second' depends on axioms: [propext]")
    assert verdict(write(tmp_path / "proofs", two=PROOFS["two"])) is None
    assert lean.calls()[0][2].endswith("end N\n\n\n#print axioms first'\n\n#print axioms N.second\n")


def test_an_answer_for_one_theorem_of_two_is_not_enough(lean: FakeLean, tmp_path: Path) -> None:
    lean.answer("first'", *["'first'' does not depend on any axioms"] * 2)
    assert verdict(write(tmp_path / "proofs", two=PROOFS["two"])) == "its axioms were not listed for every theorem"


def test_files_are_judged_one_by_one(lean: FakeLean, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lean.answer("wrong", "FILE:2:8: error: Type mismatch", code=1)
    lean.answer("good", NO_AXIOMS)
    folder = write(tmp_path / "proofs", wrong=PROOFS["wrong"], good=GOOD)
    assert check_with_lean.main([str(folder)]) == 1
    printed = capsys.readouterr().out
    assert f"refused: {folder / 'wrong.lean'}: 2:8: error: Type mismatch\n1 of 2 proofs hold (lean)\n" == printed


def test_the_header_comes_first_and_the_flags_and_the_folder_are_those_asked_for(
    lean: FakeLean, tmp_path: Path
) -> None:
    lean.answer("good", NO_AXIOMS)
    project = tmp_path / "project"
    project.mkdir()
    folder = write(tmp_path / "proofs", good=GOOD)
    flags = ["--header", "import Mathlib", "--lean", "lean -DmaxHeartbeats=0", "--cwd", str(project)]
    assert verdict(folder, *flags) is None
    words, cwd, text = lean.calls()[0]
    assert (words, cwd) == (["-DmaxHeartbeats=0"], str(project))
    assert text.startswith("import Mathlib\n\ntheorem good")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("program", ["lean", "sh -c 'lean \"$0\"; true'"])
def test_a_lean_that_does_not_answer_refuses_the_file_and_is_ended(
    lean: FakeLean, tmp_path: Path, program: str
) -> None:
    lean.answer("good", code=None)
    found = verdict(write(tmp_path / "proofs", good=GOOD), "--lean", program, "--timeout", "2")
    assert found is not None and "no answer within" in found
    for _ in range(100):  # a killed process may take a moment
        if not lean.running():
            return
        time.sleep(0.05)
    pytest.fail("the program is still running")


# -- scripts.prove -----------------------------------------------------------------------------------------------


def test_an_easy_theorem_is_proved_written_and_holds(tmp_path: Path) -> None:
    out = tmp_path / "proofs" / "easy.lean"
    statement = "theorem easy (p q : Prop) (h : p) (g : q) : q"
    done = command("scripts.prove", statement, "--policy", "solver-only", "--num-simulations", 8, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "proven in 1 tactics" in done.stdout
    assert out.read_text(encoding="utf-8").startswith(f"{statement} := by\n  ")
    assert check_with_lean.main([str(out.parent), "--lean", "nanolean"]) == 0


def test_what_does_not_hold_is_not_proved(tmp_path: Path) -> None:
    out = tmp_path / "false.lean"
    statement = "theorem wrong (p q : Prop) (h : p) : q"
    done = command("scripts.prove", statement, "--policy", "solver-only", "--num-simulations", 8, "--out", out)
    assert done.returncode == 1, done.stderr
    assert "not proven: no proof found" in done.stdout
    assert not out.exists()
