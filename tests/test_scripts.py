"""`scripts.check_with_lean` and `scripts.prove` as a user runs them, over the embedded prover and a scripted Lean."""

import json
import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest

from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import REPO_ROOT
from nanoproof.lean.source import negate, splice
from nanoproof.lean.types import Theorem, Transition
from nanoproof.prover.attempt import Attempt
from scripts import check_with_lean, policy_eval, prove, readme_figures
from scripts.lean_command import sandbox_prefix

GOOD = "theorem good (p : Prop) (h : p) : p := by\n  exact h\n"
PROOFS = {
    "good": GOOD,
    "two": "theorem first' : True := True.intro\n\nnamespace N\ntheorem second : 1 = 1 := rfl\nend N\n",
    "classical": "theorem em (p : Prop) : p ∨ ¬p := by\n  exact Classical.em p\n",
    "gap": "theorem gap (p : Prop) (h : p) : p := by\n  sorry\n",
    "gap_beside": GOOD + "\nexample : 1 = 2 := by\n  sorry\n",
    "wrong": "theorem wrong (p q : Prop) (h : p) : q := by\n  exact h\n",
    "cheat": "axiom cheat : ∀ p : Prop, p\n\ntheorem cheated : 1 = 2 := cheat _\n",
    "cheat_later": "theorem later : 2 = 3 := cheat _\n",
    "negated": splice(negate(Theorem("theorem lie : 1 = 2 := by\n  sorry")).source, "omega"),
    "none": "namespace Nothing\nend Nothing\n",
    "empty": "",
}


RESULTS = {
    "honest": ("proven", "theorem honest (p : Prop) (h : p) : p := by\n  sorry", "exact h"),
    "fake": ("proven", "theorem fake (p q : Prop) (h : p) : q := by\n  sorry", "exact h"),
    "commands": ("proven", "theorem commands : True := by\n  sorry", "trivial theorem other : True := trivial"),
    "variable": ("proven", "variable (h : False)\ndef variable : 1 = 2 := by\n  sorry", "exact h.elim"),
    "open": ("unproven", "theorem open_ : False := by\n  sorry", ""),
    "negated": ("disproven", "theorem negated : 1 = 2 := by\n  sorry", "decide"),
}


def write(folder: Path, **texts: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.lean").write_text(text, encoding="utf-8")
    return folder


def command(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *map(str, words)], capture_output=True, text=True, timeout=240)


def exported(outcome: str, source: str, proof: str) -> str:
    return splice(negate(Theorem(source)) if outcome == "disproven" else source, proof)


def write_results(folder: Path) -> Path:
    """RESULTS as an evaluation stores them, with the files of the proofs."""
    attempts = [
        Attempt(Theorem(source, "test", name), outcome, proof=proof, source=proof and exported(outcome, source, proof))
        for name, (outcome, source, proof) in RESULTS.items()
    ]
    proofs = {attempt.theorem.id: attempt.source + "\n" for attempt in attempts if attempt.outcome == "proven"}
    write(folder / "proofs", **proofs)
    file = folder / "results.jsonl"
    file.write_text("".join(json.dumps(attempt.to_json()) + "\n" for attempt in attempts), encoding="utf-8")
    return file


# -- with the embedded prover ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """One run over all of PROOFS, and its `--json` file with file names in place of paths."""
    folder = write(tmp_path_factory.mktemp("proofs") / "deep", **PROOFS)
    out = folder.parent / "result.json"
    words = ["--lean", "nanolean", "--several", "--json", out]
    done = command("scripts.check_with_lean", folder.parent, *words)
    return done, by_name(out)


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """The same of the proofs of RESULTS, in the folder of their evaluation."""
    folder = tmp_path_factory.mktemp("evaluation")
    write_results(folder)
    done = command("scripts.check_with_lean", folder, "--lean", "nanolean", "--json", folder / "result.json")
    return done, by_name(folder / "result.json")


def by_name(out: Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return {**result, "refused": {Path(file).stem: reason for file, reason in result["refused"].items()}}


@pytest.mark.parametrize("name", ["good", "two", "classical", "negated"])
def test_proofs_hold(checked: Any, name: str) -> None:
    assert name not in checked[1]["refused"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gap", "`sorry` is not allowed in a proof"),
        ("gap_beside", "`sorry` is not allowed in a proof"),
        ("wrong", "2:8: error: Type mismatch"),
        ("cheat", "`axiom` begins a command that is no plain declaration"),
        ("cheat_later", "1:25: error: Unknown identifier `cheat`"),
        ("none", "it holds no theorem"),
        ("empty", "it holds no theorem"),
    ],
)
def test_what_is_no_proof_is_refused_with_its_reason(checked: Any, name: str, reason: str) -> None:
    assert checked[1]["refused"][name].startswith(reason)


def test_refused_files_are_counted_listed_and_make_the_exit_code_1(checked: Any) -> None:
    done, result = checked
    assert done.returncode == 1
    assert (result["files"], result["accepted"], result["lean"]) == (11, 4, "nanolean")
    assert done.stdout.count("refused: ") == 7
    assert "4 of 11 proofs hold (nanolean)\nchecked by NanoLean, " in done.stdout
    assert done.stdout.endswith("no record says what the files had to prove (--results)\n")


def test_what_each_file_proves_is_told(checked: Any) -> None:
    proved = {Path(file).stem: theorems for file, theorems in checked[1]["proved"].items()}
    assert proved["two"] == {"first'": "first' : True", "N.second": "N.second : 1 = 1"}


def test_results_go_up_the_whole_ladder_against_the_statements_as_given(compared: Any) -> None:
    done, result = compared
    assert "1 of 4 proofs hold (nanolean)\n2 of 5 results hold against the statements as given\n" in done.stdout
    assert done.stdout.endswith("; compared with " + str(Path(done.args[3]) / "results.jsonl\n"))
    assert set(result["results"]["refused"]) == set(result["refused"]) == {"fake", "commands", "variable"}


# -- what a user can get wrong -----------------------------------------------------------------------------------


def test_an_empty_folder_exits_with_2(tmp_path: Path) -> None:
    done = command("scripts.check_with_lean", tmp_path, "--lean", "nanolean")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: {tmp_path} holds no .lean file\n"


def test_a_missing_program_is_a_users_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^--lean no-such-lean --flag: no such program") as caught:
        check_with_lean.main([str(write(tmp_path, good=GOOD)), "--lean", "no-such-lean --flag"])
    assert "\n" not in str(caught.value)


def test_a_missing_working_folder_is_a_users_error(tmp_path: Path) -> None:
    write(tmp_path / "proofs", good=GOOD)
    gone = tmp_path / "gone"
    with pytest.raises(UserError, match=r"cannot run nanolean in .*gone"):
        check_with_lean.main([str(tmp_path / "proofs"), "--lean", "nanolean", "--cwd", str(gone)])


# -- with a program that prints what Lean prints -----------------------------------------------------------------

FOREVER = 600
FAKE = """#!{python}
import json, os, pathlib, re, sys, time
folder = pathlib.Path(__file__).parent
(folder / "pid").write_text(str(os.getpid()))
file = pathlib.Path(sys.argv[-1])
text = file.read_text(encoding="utf-8")
with open(folder / "calls.jsonl", "a", encoding="utf-8") as calls:
    calls.write(json.dumps([sys.argv[1:-1], str(pathlib.Path.cwd()), text]) + "\\n")
for mark, messages, code in json.loads((folder / "answers.json").read_text(encoding="utf-8")):
    if mark in text:
        listing = text.find("#eval show")
        if listing >= 0:
            found = re.findall(r"^(?:namespace (\\S+)|end|(theorem|axiom|def) (\\S+))", text, re.MULTILINE)
            told, scope = [re.search(r'told := "(.*)"', text)[1]], ""
            for space, kind, name in found:
                scope = space + "." if space else scope if kind else ""
                told += [kind + " " + scope + name] if kind else []
            told += [message[5:] for message in messages if message[:5] == "told "]
            messages = [] if "tells nothing" in messages else [["info", "#eval show", chr(10).join(told)]]
        if code is None:
            time.sleep({forever})
        questions = re.findall(r"#check (\\S+)", text)
        printed = [["information", "#check " + name, name.removeprefix("_root_.") + " : p"] for name in questions]
        for message in [*messages, *printed]:
            if isinstance(message, str):
                print(message)
                continue
            severity, line, data = message
            if isinstance(line, str):
                line = text.split(line)[0].count(chr(10)) + 1 if line in text else 0
            place = dict(line=line, column=8)
            told = dict(severity=severity, pos=place, endPos=place, fileName=str(file), data=data, caption="")
            print(json.dumps(dict(told, keepFullRange=False, kind="[anonymous]", isSilent=False)))
        sys.exit(code)
"""


Told = str | tuple[str, int | str, str]


class FakeLean:
    """A program `lean` on the PATH that writes messages as `lean --json` does: each a line of JSON."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        program = folder / "lean"
        program.write_text(FAKE.format(python=sys.executable, forever=FOREVER), encoding="utf-8")
        program.chmod(0o755)
        self._answers: list[tuple[str, tuple[Told, ...], int | None]] = []

    def answer(self, mark: str, *messages: Told, code: int | None = 0) -> None:
        """What to say about files that hold `mark`; the exit code None stands for no answer at all.

        A message is severity, line (or the text that stands there) and words; a bare string is printed as it is.
        """
        self._answers.append((mark, messages, code))
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
    bwrap = folder / "bwrap"  # one that does not work: a sandbox does not see this fake, whatever is installed
    bwrap.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    bwrap.chmod(0o755)
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


def axioms(words: str, name: str = "good") -> Told:
    """What Lean answers to `#print axioms`."""
    return "information", f"#print axioms _root_.{name}", f"'{name}' {words}"


NO_AXIOMS = axioms("does not depend on any axioms")
HINT = ("warning", 1, "unused variable `h`")


@pytest.mark.parametrize(
    "messages",
    [
        [NO_AXIOMS],
        [axioms("depends on axioms: [propext, Quot.sound]")],
        [axioms("depends on axioms: [propext,\n Classical.choice,\n Quot.sound]")],
        [HINT, NO_AXIOMS],
        ["info: downloading component 'lean'", NO_AXIOMS],
    ],
)
def test_what_lean_says_of_a_good_proof(lean: FakeLean, tmp_path: Path, messages: list[Told]) -> None:
    lean.answer("good", *messages)
    assert verdict(write(tmp_path / "proofs", good=GOOD)) is None


@pytest.mark.parametrize(
    ("messages", "code", "reason"),
    [
        ([("error", 2, "Type mismatch\n  h"), NO_AXIOMS], 1, "2:8: error: Type mismatch"),
        ([HINT, ("error", 2, "no")], 1, "2:8: error: no"),
        ([("error", 2, "Unknown identifier `x`"), NO_AXIOMS], 0, "2:8: error: Unknown identifier"),
        ([("warning", 1, "declaration uses `sorry`"), axioms("depends on axioms: [sorryAx]")], 0, "it uses sorry"),
        ([("warning", 1, "declaration uses 'sorry'"), NO_AXIOMS], 0, "it uses sorry"),
        ([axioms("depends on axioms: [propext, Lean.ofReduceBool]")], 0, "the proof rests on Lean.ofReduceBool"),
        ([axioms("depends on axioms: [propext, sorryAx]")], 0, "it uses sorry"),
        ([], 0, "the axioms of good are not reported"),
        (["'good' does not depend on any axioms"], 0, "the axioms of good are not reported"),
        ([("information", 1, NO_AXIOMS[2])], 0, "the axioms of good are not reported"),
        ([axioms("does not depend on any axioms", "Nat.add_comm")], 0, "the axioms of good are not reported"),
        ([NO_AXIOMS, NO_AXIOMS], 0, "the axioms of good are not reported"),
        ([NO_AXIOMS], 137, "exit code 137"),
        ([NO_AXIOMS, '{"severity": "error", "da'], 0, "output that cannot be read"),
        ([NO_AXIOMS, "error: unknown package 'mathlib'"], 0, "error: unknown package"),
        ([NO_AXIOMS, ("fatal", 1, "stack overflow")], 0, "not a message of Lean"),
    ],
)
def test_what_lean_says_of_a_bad_proof(
    lean: FakeLean, tmp_path: Path, messages: list[Told], code: int, reason: str
) -> None:
    lean.answer("good", *messages, code=code)
    found = verdict(write(tmp_path / "proofs", good=GOOD))
    assert found is not None and found.startswith(reason)


def test_a_folder_of_proofs_exits_with_0(lean: FakeLean, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lean.answer("good", NO_AXIOMS)
    assert check_with_lean.main([str(write(tmp_path / "proofs", good=GOOD))]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("1 of 1 proofs hold (lean)\nchecked by `lean`, in no sandbox (")


def test_a_result_that_cannot_be_written_is_a_users_error(lean: FakeLean, tmp_path: Path) -> None:
    lean.answer("good", NO_AXIOMS)
    folder = write(tmp_path / "proofs", good=GOOD)
    with pytest.raises(UserError, match=r"cannot write --json .*result\.json"):
        check_with_lean.main([str(folder), "--json", str(folder / "good.lean" / "result.json")])


def test_every_theorem_of_a_file_is_asked_for(lean: FakeLean, tmp_path: Path) -> None:
    first, second = "does not depend on any axioms", "depends on axioms: [propext]"
    lean.answer("first'", axioms(first, "first'"), axioms(second, "N.second"))
    assert verdict(write(tmp_path / "proofs", two=PROOFS["two"]), "--several") is None
    asked = lean.calls()[0][2].split("end N\n")[1]
    assert asked.strip().split("\n") == [
        "#print axioms _root_.first'",
        "#check _root_.first'",
        "#print axioms _root_.N.second",
        "#check _root_.N.second",
    ]


def test_an_answer_for_one_theorem_of_two_is_not_enough(lean: FakeLean, tmp_path: Path) -> None:
    lean.answer("first'", axioms("does not depend on any axioms", "first'"))
    found = verdict(write(tmp_path / "proofs", two=PROOFS["two"]))
    assert found is not None and found.startswith("the axioms of N.second are not reported")


def test_words_that_no_proof_may_hold_are_refused_whatever_lean_says(lean: FakeLean, tmp_path: Path) -> None:
    lean.answer("good", NO_AXIOMS)
    text = GOOD.replace("exact h", "set_option debug.skipKernelTC true in exact h")
    found = verdict(write(tmp_path / "proofs", good=text))
    assert found is not None and "debug.skipKernelTC" in found


def test_files_are_judged_one_by_one(lean: FakeLean, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lean.answer("wrong", ("error", 2, "Type mismatch"), code=1)
    lean.answer("good", NO_AXIOMS)
    folder = write(tmp_path / "proofs", wrong=PROOFS["wrong"], good=GOOD)
    assert check_with_lean.main([str(folder)]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith(
        f"refused: {folder / 'wrong.lean'}: 2:8: error: Type mismatch\n1 of 2 proofs hold (lean)\n"
    )


def test_results_that_are_none_are_a_users_error(tmp_path: Path) -> None:
    folder, results = write(tmp_path / "proofs", good=GOOD), tmp_path / "results.jsonl"
    results.write_text('{"outcome": "proven"}\n', encoding="utf-8")
    with pytest.raises(UserError, match=r"--results .*results\.jsonl"):
        check_with_lean.main([str(folder), "--lean", "nanolean", "--results", str(results)])


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
    assert (words, cwd) == (["-DmaxHeartbeats=0", "--json"], str(project))
    assert text.startswith("import Mathlib\n\ntheorem good")


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ("told axiom Lie.lie", "it declares the axiom Lie.lie"),
        ("told axiom good._native.native_decide.ax_1_1", "it declares the axiom good._native.native_decide.ax_1_1"),
        ("told theorem decoy", "it declares the theorem decoy, which its text does not seem to"),
        ("told inductive T", "it declares the inductive T"),
        ("told axiom good", "it declares the axiom good"),
        ("told def good", "it declares no theorem good, which its text seems to"),
        ("tells nothing", "it does not say what the text declares"),
    ],
)
def test_lean_is_asked_what_a_file_has_declared(lean: FakeLean, tmp_path: Path, told: str, reason: str) -> None:
    lean.answer("good", NO_AXIOMS, told)
    found = verdict(write(tmp_path / "proofs", good=GOOD))
    assert found is not None and found.startswith(reason)


def test_what_comes_along_with_a_declaration_is_no_other_one(lean: FakeLean, tmp_path: Path) -> None:
    lean.answer("good", NO_AXIOMS, "told theorem good._proof_1", "told def good.match_1", "told theorem _auxLemma.1")
    assert verdict(write(tmp_path / "proofs", good=GOOD)) is None


def test_the_question_what_is_declared_comes_with_imports_of_its_own(lean: FakeLean, tmp_path: Path) -> None:
    lean.answer("good", NO_AXIOMS)
    text = "import Mathlib.Order\nnamespace B\n" + GOOD  # and a namespace that stays open
    assert verdict(write(tmp_path / "proofs", good=text)) is not None
    assert verdict(write(tmp_path / "proofs", good=GOOD), "--header", "import Init") is None
    asked = lean.calls()[-1][2]
    assert asked.startswith("import Lean\nimport Init\n\ntheorem good")
    question = asked[asked.index("#eval show") :]
    assert "_root_.Lean.getEnv" in question and "constants.map₂" in question and "_root_.Lean.logInfo" in question


def test_a_text_that_is_not_plain_is_not_shown_to_lean(lean: FakeLean, tmp_path: Path) -> None:
    texts = {"evil": '#eval IO.println "hi"\n' + GOOD, "foreign": "import Evil\n" + GOOD}
    lean.answer("good", NO_AXIOMS)
    assert check_with_lean.main([str(write(tmp_path / "proofs", **texts))]) == 1
    assert not (lean.folder / "calls.jsonl").exists()


BWRAP = """#!{python}
import os, pathlib, sys
folder = pathlib.Path(__file__).parent
(folder / "sandbox").write_text(" ".join(sys.argv[1:]))
words = sys.argv[sys.argv.index("--") + 1 :]
sys.exit({code}) if words[-1] == "--version" else os.execvp(words[0], words)
"""


def test_lean_runs_in_bubblewrap_where_that_works(
    lean: FakeLean, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lean.answer("good", NO_AXIOMS)
    folder, bwrap = write(tmp_path / "proofs", good=GOOD), lean.folder / "bwrap"
    for code, said in [
        (0, "in a bubblewrap sandbox, with no network"),
        (3, "in no sandbox (`lean --version` ends with"),
    ]:
        bwrap.write_text(BWRAP.format(python=sys.executable, code=code), encoding="utf-8")
        bwrap.chmod(0o755)
        assert check_with_lean.main([str(folder)]) == 0
        assert said in capsys.readouterr().out
    with pytest.raises(UserError, match="--sandbox bwrap: `lean --version` ends with exit code 3"):
        check_with_lean.main([str(folder), "--sandbox", "bwrap"])
    with pytest.raises(UserError, match="--sandbox jail: it is auto, bwrap, docker:IMAGE or none"):
        check_with_lean.main([str(folder), "--sandbox", "jail"])


def test_sandboxes_have_no_network_and_nothing_to_write_to() -> None:
    bwrap = sandbox_prefix("bwrap", "/tmp/files", "/project", 60.0)
    assert bwrap[-1] == "--" and "--unshare-all" in bwrap and "--bind" not in bwrap
    docker = sandbox_prefix("docker:lean4", "/tmp/files", "/project", 60.0)
    assert docker[-1] == "lean4" and docker[docker.index("--network") + 1] == "none" and "--read-only" in docker
    assert all(word.endswith(":ro") for word in docker if word.startswith("/") and word.count(":"))
    assert sandbox_prefix("none", "/tmp/files", None, 60.0) == []


@pytest.mark.timeout(60)
@pytest.mark.parametrize("program", ["lean", "sh -c 'lean \"$@\"; true' sh"])
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


@pytest.mark.nightly
def test_an_easy_theorem_is_proved_written_and_holds(tmp_path: Path) -> None:
    out = tmp_path / "proofs" / "easy.lean"
    statement = "theorem easy (p q : Prop) (h : p) (g : q) : q"
    done = command("scripts.prove", statement, "--policy", "solver-only", "--num-simulations", 8, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "proven in 1 tactic," in done.stdout
    assert out.read_text(encoding="utf-8").startswith(f"{statement} := by\n  ")
    assert check_with_lean.main([str(out.parent), "--lean", "nanolean"]) == 0


def test_what_does_not_hold_is_not_proved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "false.lean"
    statement = "theorem wrong (p q : Prop) (h : p) : q"
    assert prove.main([statement, "--policy", "solver-only", "--num-simulations", "8", "--out", str(out)]) == 1
    assert "not proven: no proof found" in capsys.readouterr().out
    assert not out.exists()


# -- scripts.policy_eval -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 7, 500, 1000, 1001, 2000, None])
def test_as_many_transitions_are_judged_as_were_asked_for_if_there_are_so_many(count: int | None) -> None:
    items = [Transition(str(number), "rfl", 1) for number in range(1001)]
    chosen = policy_eval.spread(items, count)
    assert len(chosen) == min(1001, count or 1001)
    places = [int(item.state) for item in chosen]
    steps = {after - before for before, after in pairwise(places)}
    assert len(steps) <= 2 and all(step > 0 for step in steps)
    assert policy_eval.spread([], count) == []


# -- scripts.readme_figures ----------------------------------------------------------------------------------------


def test_a_quickstart_s_scores_stand_in_readme_and_nothing_else_changes():
    row = {"solved": 36, "total": 50, "low": 0.583, "high": 0.825}
    scores = {"nanolean": row, "nanolean-hard": {**row, "solved": 9}}
    summary = {
        "stages": {"sft": scores},
        "seconds": {"total": 600.0},
        "seed": 3,
        "versions": {"nanoproof": "abcdef"},
    }
    block = readme_figures.figures(summary, "2026-01-01")
    assert "| after finetuning | 36 of 50 (58 to 82%) | 9 of 50 (58 to 82%) |" in block
    assert "seed 3, 2026-01-01 (abcdef), 10 minutes" in block
    page = f"before\n{readme_figures.BEGIN}\nold\n{readme_figures.END}\nafter\n"
    renewed = readme_figures.with_figures(page, block)
    assert renewed == page.replace("old", block) and readme_figures.with_figures(renewed, "old") == page
    with pytest.raises(UserError, match="has no"):
        readme_figures.with_figures("nothing", block)


def test_readme_has_the_markers():
    text = (REPO_ROOT / "README.md").read_text(encoding="utf-8")
    assert text.index(readme_figures.BEGIN) < text.index(readme_figures.END)
