"""The `sorry`s of a project: what is tried and in which order, what is known afterwards, and what comes out."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nanoproof.common.errors import UserError
from nanoproof.lean.embedded import start_embedded
from nanoproof.lean.lean_file import LeanFile
from nanoproof.lean.types import Branch, CheckReport, Goal, ProofState, ServerTimeout, Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.repos import prove
from nanoproof.repos.__main__ import main
from nanoproof.repos.project import Project
from nanoproof.repos.proving import FileCheck, ProjectProver, rising
from nanoproof.repos.store import Store
from nanoproof.repos.traced_files import Position, TracedFile, TracedTheorem
from nanoproof.repos.tries import Ledger, Rung, Task, gap_key
from nanoproof.search.node import or_node
from nanoproof.search.tree_json import tree_to_json
from tests.helpers import page_data, wait_for

BASIC = "namespace My\nvariable (n : Nat)\n\ntheorem zero_add' : 0 + n = n := by\n  sorry\n"
MORE = (
    "import Basic\n\nnamespace My\n\n-- The lemma of the other file is used here.\n"
    "theorem twice (n : Nat) : 0 + n + 0 = n := by\n  have h : 0 + n = n := sorry\n  rw [Nat.add_zero]\n  exact h\n\n"
    "theorem hard (f : Nat → Nat) : f 0 = f 1 := by\n  sorry\n\ndef value : Nat := sorry\n"
)
LAST = "import «Ωμ»\n\ntheorem last (a b : Nat) (h : a < b) : a + 1 ≤ b := sorry"
FILES = {"Basic.lean": BASIC, "Ωμ.lean": "\ufeff" + MORE.replace("\n", "\r\n"), "Last.lean": LAST}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository of three files: one with CRLF, one with a name in Greek, one without a line end at its end."""
    root = tmp_path / "mine"
    root.mkdir()
    for path, text in FILES.items():
        (root / path).write_bytes(text.encode())
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def read(root: Path) -> dict[str, str]:
    return {path: (root / path).read_bytes().decode() for path in FILES}


def records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "attempts.jsonl").read_text().splitlines()]


# -- the command, on NanoLean ----------------------------------------------------------------------------------------


def test_a_project_is_proved_into_a_patch_though_killed_and_a_second_run_adds_nothing(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, patch = tmp_path / "report", tmp_path / "proofs.patch"
    words = ["prove", str(repository), "--policy", "solver-only", "--num-simulations", "2", "--lean-processes", "1"]
    words += ["--report", str(report), "--patch", str(patch)]
    log = report / "attempts.jsonl"
    killed = subprocess.Popen(
        [sys.executable, "-m", "nanoproof.repos", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: (log.exists() and b'"proved"' in log.read_bytes()) or killed.poll() is not None, seconds=300)
    finally:
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()
    with open(log, "ab") as file:
        file.write(b'{"key": "torn')
    before = [each["key"] for each in records_of_whole_lines(log) if each["outcome"] == "proved"]
    assert before and read(repository) == FILES

    assert main(words) == 1
    said = capsys.readouterr().out
    assert "3 of 5 proved" in said and "1 not proved, 1 left alone" in said and "(known from before)" in said
    assert read(repository) == FILES
    tried = [(each["key"], each["method"], each["budget"]) for each in records(report) if "simulations" in each]
    assert len(tried) == len(set(tried)) and not [key for key in before if sum(key == each[0] for each in tried) > 1]
    gaps = {gap["name"]: gap for gap in json.loads((report / "report.json").read_text())["gaps"]}
    assert {name: gap["outcome"] for name, gap in gaps.items()} == {
        "zero_add'": "proved",
        "twice": "proved",
        "hard": "not proved",
        "value": "left alone",
        "last": "proved",
    }
    assert (gaps["hard"]["line"], gaps["hard"]["best_line"]) == (12, "⊢ f 0 = f 1")
    (search,) = page_data((report / gaps["hard"]["tree"]).read_text(encoding="utf-8"))["searches"]
    assert "f 0 = f 1" in search["tree"]["states"][0] and search["outcome"] == "unproven"
    page = (report / "report.html").read_text(encoding="utf-8")
    assert gaps["hard"]["tree"] in page and "zero_add&#x27;" in page

    subprocess.run(["git", "-C", str(repository), "apply", str(patch)], check=True)
    proved = read(repository)
    assert [text.count("sorry") for text in proved.values()] == [0, 2, 0]
    greek = proved["Ωμ.lean"]
    assert greek.startswith("\ufeffimport") and "  have h : 0 + n = n := by " in greek
    assert greek.count("\n") == greek.count("\r\n")
    subprocess.run(["git", "-C", str(repository), "apply", "--reverse", str(patch)], check=True)

    first = patch.read_bytes()
    assert main(words) == 1 and "3 of 5 proved, 0 of them new" in capsys.readouterr().out
    assert patch.read_bytes() == first and len(records(report)) == len(tried)


def records_of_whole_lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_bytes().split(b"\n")[:-1]]


# -- what a gap is known by ------------------------------------------------------------------------------------------


def keys(*texts: str) -> list[str]:
    """The keys of the gaps of a file, after the files that it imports."""
    before = "".join(LeanFile.parse(text).imported() for text in texts[:-1])
    file = LeanFile.parse(texts[-1], before)
    return [gap_key(file.theorem(gap, "d", "n").source, "Lean") for gap in file.gaps]


def test_a_change_invalidates_the_gaps_that_depend_on_it_and_no_others() -> None:
    lemma = "theorem a (n : Nat) : n = n := by\n  sorry\n"
    use = "/-- b -/\ntheorem b : 1 = 1 := by\n  sorry\n\ntheorem c : 2 = 2 := sorry\n"
    [a], [b, c] = keys(lemma), keys(lemma, use)
    assert len({a, b, c}) == 3
    proved = lemma.replace("sorry", "induction n with\n  | zero => rfl\n  | succ n h => rfl")
    assert keys(proved, use) == [b, c]
    assert keys(lemma, use.replace("/-- b -/", "-- another\n")) == [b, c]
    assert keys(lemma, use.replace("  sorry\n\n", "  rfl\n\n"))[-1] == c
    other_b, other_c = keys(lemma, use.replace("1 = 1", "1 = 1 + 0"))
    assert other_b != b and other_c != c
    assert keys(lemma, use.replace("2 = 2", "2 = 3"))[0] == b
    assert keys(lemma.replace("n = n", "n + 0 = n"), use) not in ([b, c], [b], [c])
    assert keys(lemma.replace("Nat", "Int"), use)[0] != b and keys(use) != [b, c]
    definition = "def d : Nat := 1\n"
    assert keys(definition, use) != keys(definition.replace("1", "2"), use)
    assert gap_key("theorem a : True := sorry", "4.26") != gap_key("theorem a : True := sorry", "4.27")


def test_what_a_torn_log_still_holds_is_known(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.write({"key": "a", "outcome": "not proved", "method": "m", "budget": 4, "simulations": 4})
    ledger.write({"key": "a", "outcome": "proved", "proof": "rfl", "method": "m", "budget": 16, "simulations": 9})
    ledger.write({"key": "b", "outcome": "stopped", "method": "m", "budget": 16, "simulations": 3})
    ledger.close()
    whole = (tmp_path / "attempts.jsonl").read_bytes()
    ends = [number for number, byte in enumerate(whole) if byte == ord("\n")]
    for cut in random.Random(0).sample(range(len(whole)), 20):
        (tmp_path / "attempts.jsonl").write_bytes(whole[:cut])
        known = Ledger(tmp_path)
        assert bool(known.known("a").proof) == (cut > ends[1]), cut
        assert known.known("a").budgets == ({"m": 16} if cut > ends[1] else {"m": 4} if cut > ends[0] else {})
        known.close()
    (tmp_path / "attempts.jsonl").write_bytes(whole)
    assert Ledger(tmp_path).known("b").budgets == {}


# -- order, faults, checks: a Lean and a prover that are scripted ----------------------------------------------------


class Server:
    """A server whose session accepts every text, unless `refuse` says why not."""

    def __init__(self, refuse: Callable[[str], str] = lambda source: "") -> None:
        self.refuse = refuse

    def lease(self, timeout: float) -> Any:
        return Session(self.refuse)


class Session:
    def __init__(self, refuse: Callable[[str], str]) -> None:
        self.refuse = refuse
        self.start = self.apply = None

    def check(self, source: str, seconds: float | None = None, since: int = 0) -> CheckReport:
        reason = self.refuse(source)
        return CheckReport((reason,) if reason else (), source.count("sorry"), ())

    def close(self) -> None: ...

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None: ...


class Tries:
    """A prover that proves a theorem with a word of `proofs` at a budget, and else thinks it is `left` tactics away."""

    def __init__(self, left: dict[str, float], proofs: dict[str, tuple[int, str]]) -> None:
        self.left, self.proofs = left, proofs
        self.log: list[tuple[str, int]] = []

    def prove(self, session: Any, theorem: Theorem, budget: int, rng: Any, should_stop: Any) -> Attempt:
        name = theorem.source.rpartition("theorem ")[2].split()[0]
        self.log.append((name, budget))
        least, proof = self.proofs.get(name, (1000, ""))
        if proof == "crash":
            raise ServerTimeout("it hangs")
        if budget >= least:
            return Attempt(theorem, "proven", proof=proof)
        root = or_node(Branch(ProofState((Goal("p"),))))
        root.visits, root.value_sum = 2, -2.0 * self.left.get(name, 1.0)
        return Attempt(theorem, "unproven", "no proof found", tree=tree_to_json(root), counts={"simulations": budget})


def proving(
    root: Path, tries: Tries, server: Server | None = None, budgets: tuple[int, ...] = (4, 16)
) -> ProjectProver:
    rungs = [Rung("p", "m", budget, tries) for budget in budgets]  # type: ignore[arg-type]
    ledger = Ledger(root / "log")
    prover = ProjectProver(Project.read(root), ledger, rungs, [server or Server()], "Lean")  # type: ignore[list-item]
    prover.prepare()
    prover.run()
    return prover


def gaps_of(root: Path, *names: str, file: str = "A.lean", header: str = "") -> Path:
    text = header + "".join(f"theorem {name} : p := by\n  sorry\n" for name in names)
    (root / file).write_text(text)
    return root


def test_all_are_tried_with_a_small_budget_then_the_most_promising_first(tmp_path: Path) -> None:
    tries = Tries({"far": 9.0, "near": 1.5, "middle": 4.0}, {"middle": (16, "rfl")})
    prover = proving(gaps_of(tmp_path, "far", "near", "middle"), tries)
    assert tries.log == [("far", 4), ("near", 4), ("middle", 4), ("near", 16), ("middle", 16), ("far", 16)]
    assert [task.outcome for task in prover.tasks] == ["not proved", "not proved", "proved"]
    assert prover.changed["A.lean"].endswith("theorem middle : p := by\n  rfl\n")


def test_budgets_rise_over_runs_and_a_changed_statement_is_tried_anew(tmp_path: Path) -> None:
    proving(gaps_of(tmp_path, "a", "b"), Tries({}, {}))
    again = Tries({}, {})
    proving(tmp_path, again)
    assert again.log == []
    more = Tries({}, {"b": (64, "rfl")})
    proving(tmp_path, more, budgets=(4, 16, 64))
    assert more.log == [("a", 64), ("b", 64)]
    (tmp_path / "A.lean").write_text((tmp_path / "A.lean").read_text().replace("b : p", "b : q"))
    changed = Tries({}, {})
    proving(tmp_path, changed)
    assert changed.log == [("b", 4), ("b", 16)]


def test_a_proof_that_lean_refuses_in_its_file_is_tried_for_anew(tmp_path: Path) -> None:
    tries = Tries({}, {"a": (4, "bad")})
    prover = proving(gaps_of(tmp_path, "a"), tries, Server(lambda source: "no" if "bad" in source else ""))
    assert tries.log == [("a", 4), ("a", 16)] and prover.changed == {}
    assert (prover.tasks[0].outcome, prover.tasks[0].message) == (
        "not proved",
        "the proof does not fit into the file: no",
    )


def test_errors_that_a_file_has_already_are_no_reason_to_leave_it_alone(tmp_path: Path) -> None:
    prover = proving(gaps_of(tmp_path, "a"), Tries({}, {"a": (4, "rfl")}), Server(lambda source: "an old error"))
    assert prover.tasks[0].outcome == "proved"


def test_a_proof_that_breaks_an_importer_is_withdrawn_and_others_stay(tmp_path: Path) -> None:
    gaps_of(tmp_path, "a")
    gaps_of(tmp_path, "b", file="B.lean", header="import A\n")
    gaps_of(tmp_path, "c", file="C.lean")
    server = Server(lambda source: "broken" if "bad" in source and "theorem b : p := by\n  rfl" in source else "")
    proofs = {"a": (4, "bad"), "b": (4, "rfl"), "c": (4, "rfl")}
    prover = proving(tmp_path, Tries({}, proofs), server)
    prover.tasks.sort(key=lambda task: task.path)
    if prover.tasks[1].outcome != "proved":  # its own check saw it already
        pytest.fail("the file was to be checked without the proofs of its imports")
    prover.verify()
    assert prover.withdrawn == ["B.lean"] and sorted(prover.changed) == ["A.lean", "C.lean"]
    assert [check.fault for check in prover.checks] == ["", "", ""]


def test_a_server_that_fails_is_not_taken_for_a_refusal(tmp_path: Path) -> None:
    tries = Tries({}, {"a": (4, "crash"), "b": (4, "rfl")})
    prover = proving(gaps_of(tmp_path, "a", "b"), tries)
    assert [task.outcome for task in prover.tasks] == ["not tried", "proved"] and prover.failure is None
    assert "it hangs" in prover.tasks[0].message
    assert [record["outcome"] for record in records(tmp_path / "log")] == ["proved"]


@pytest.mark.parametrize(
    ("after", "fault"),
    [
        (CheckReport(("old",), 1, ()), ""),
        (CheckReport(("old", "old"), 1, ()), "a new error: old"),
        (CheckReport(("old",), 3, ()), "3 sorries, there were 2"),
    ],
)
def test_what_is_worse_than_before(after: CheckReport, fault: str) -> None:
    assert FileCheck("A.lean", CheckReport(("old",), 2, ()), after).fault == fault


def test_the_same_error_with_another_metavariable_is_none() -> None:
    before, after = (CheckReport((f"f has type ?m.{number}",), 1, ()) for number in (7, 123))
    assert FileCheck("A.lean", before, after).fault == ""


def test_new_axioms_are_worse_unless_they_are_leans_or_the_files_own() -> None:
    after = CheckReport((), 0, ("My.ax", "propext", "sorryAx", "trick"))
    assert FileCheck("A.lean", CheckReport((), 0, ()), after, frozenset({"ax"})).fault == "it rests on sorryAx, trick"


def test_budgets_rise_to_the_one_that_was_asked_for() -> None:
    assert [rising(most) for most in (1, 4, 15, 64, 100)] == [[1], [4], [15], [4, 16, 64], [6, 25, 100]]


def test_a_damaged_log_and_a_missing_folder_are_users_errors(tmp_path: Path) -> None:
    (tmp_path / "attempts.jsonl").write_text("{}\nnot json\n{}\n")
    with pytest.raises(UserError, match="line 2: not valid JSON"):
        Ledger(tmp_path)
    with pytest.raises(UserError, match="no such folder or file"):
        main(["prove", str(tmp_path / "none")])


def test_a_mistyped_path_is_no_name_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path / "home"))
    with Store():
        pass
    for path in (str(tmp_path / "none"), "Mine.lean"):
        with pytest.raises(UserError, match=f"no such folder or file: .*{Path(path).name}"):
            main(["prove", path])
    with pytest.raises(UserError, match="no repository 'mine'"):
        main(["prove", "mine"])


# -- the store -------------------------------------------------------------------------------------------------------


def test_the_store_learns_of_theorems_of_which_nothing_is_left_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    source = tmp_path / "mine"
    source.mkdir()
    (source / "A.lean").write_text("theorem a : True := by\n  sorry\n\ntheorem b : True ∧ True := ⟨sorry, sorry⟩\n")
    assert prove.located("mine") == Path("mine") and prove.stored_repository(source) is None
    project = Project.read(source)
    (gaps,) = [LeanFile.parse(project.file("A.lean").text).gaps]
    with Store() as store:
        repository = store.add_repository(str(source), "", source=str(source), name="mine")
        rows = [("a", Position(1, 1), Position(2, 8), 1), ("N.b", Position(4, 1), Position(4, 44), 2)]
        theorems = tuple(TracedTheorem(n, "A.lean", start, end, n, (), (), open_) for n, start, end, open_ in rows)
        store.put_file(repository, TracedFile("A.lean", (), (), theorems))
    assert prove.located("mine") == source and prove.stored_repository(source.resolve()) == repository
    with pytest.raises(UserError, match="did you mean mine"):
        prove.located("mint")

    tasks = [Task("A.lean", gap, f"k{n}", n, outcome="proved", proof="trivial") for n, gap in enumerate(gaps)]
    tasks[2].outcome = "not proved"
    prover = SimpleNamespace(tasks=tasks)
    assert len(prove.record_in_store(repository, prover)) == 1
    tasks[2].outcome, tasks[2].proof = "proved", "decide"
    assert len(prove.record_in_store(repository, prover)) == 1
    with Store() as store:
        found = {each.theorem.full_name: (each.state, each.proof) for each in store.theorems("mine")}
    assert found == {"a": ("sorry_proved", "trivial"), "N.b": ("sorry_proved", "trivial\ndecide")}
    assert prove.record_in_store(repository, prover) == []


# -- What a proof rests on -------------------------------------------------------------------------------------------


ProveHere = Callable[..., int]


@pytest.fixture(scope="module")
def prove_here() -> Iterator[ProveHere]:
    """Write a project and prove it with solver tactics and its own lemmas, its report in `tmp_path/report`.

    One server of NanoLean does it for all tests: that the command starts its own is for those further above.
    """
    with start_embedded(1) as servers:

        def prove_here(root: Path, tmp_path: Path, *flags: str, lines: dict[str, str]) -> int:
            root.mkdir(exist_ok=True)
            for path, text in lines.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            words = ["--policy", "solver-only", "--num-simulations", "4"]
            words += ["--lean-servers", *servers.addresses, "--lean-token", servers.token]
            return main(["prove", str(root), *words, "--report", str(tmp_path / "report"), *flags])

        yield prove_here


def test_lemmas_of_the_project_are_tried_where_nothing_else_is_said(
    prove_here: ProveHere, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lemma = "  induction n with\n  | zero => rfl\n  | succ n ih => rw [My.f, ih]; omega\n"
    lines = {
        "A.lean": "namespace My\ndef f : Nat → Nat\n  | 0 => 0\n  | n + 1 => f n + 2\n\n"
        f"theorem f_eq (n : Nat) : f n = 2 * n := by\n{lemma}end My\n",
        "B.lean": "import A\n\ntheorem gap (a b : Nat) : My.f (a + b) = My.f b + My.f a := by\n  sorry\n",
    }
    words = ["--policy", "uniform", "--num-simulations", "16"]
    without = [*words, "--premise-tactics", "0", "--report", str(tmp_path / "without")]
    assert prove_here(tmp_path / "mine", tmp_path, *without, lines=lines) == 1
    assert prove_here(tmp_path / "mine", tmp_path, *words, lines={}) == 0
    assert "1 of 1 proved" in capsys.readouterr().out
    assert "f_eq" in (tmp_path / "report" / "proofs.patch").read_text()


def reported(tmp_path: Path) -> dict[str, dict[str, Any]]:
    return {gap["name"]: gap for gap in json.loads((tmp_path / "report" / "report.json").read_text())["gaps"]}


CONDITIONAL = {
    "Bad.lean": "theorem bad (n : Nat) : n = n + 1 := by\n  sorry\n",
    "Uses.lean": (
        "import Bad\n\ntheorem wrapper (n : Nat) : n = n + 1 := bad n\n\n"
        "theorem uses (n : Nat) : n = n + 1 := by\n  sorry\n\ntheorem fine (n : Nat) : n + 0 = n := by sorry\n"
    ),
}


def test_a_proof_by_an_open_lemma_of_another_file_is_told_apart_everywhere(
    prove_here: ProveHere, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "mine"
    assert prove_here(root, tmp_path, lines=CONDITIONAL) == 1
    said = capsys.readouterr().out
    assert "1 of 3 proved, 1 if others hold, 1 not proved" in said
    assert said.count("Uses.lean:6 uses: proved, if `bad` (Bad.lean, line 1) holds") == 2
    uses = reported(tmp_path)["uses"]
    assert uses["outcome"] == "conditional"
    assert uses["rests_on"] == [{"name": "bad", "file": "Bad.lean", "line": 1}]
    page = (tmp_path / "report" / "report.html").read_text()
    assert "proved, if `bad` (Bad.lean, line 1) holds" in page and "1 of 3 sorries proved" in page
    patch = (tmp_path / "report" / "proofs.patch").read_text()
    assert "fine" in patch and "bad" not in patch.replace("import Bad", "")
    assert "wrapper" in (tmp_path / "report" / "conditional.patch").read_text()

    capsys.readouterr()
    right = CONDITIONAL["Bad.lean"].replace("n = n + 1", "n = n + 0")
    right_uses = CONDITIONAL["Uses.lean"].replace("n = n + 1", "n = n + 0")
    assert prove_here(root, tmp_path, lines={"Bad.lean": right, "Uses.lean": right_uses}) == 0
    assert "3 of 3 proved" in capsys.readouterr().out, "what it rests on is proved in the same run"
    assert not (tmp_path / "report" / "conditional.patch").exists()


JUDGED = {
    "A.lean": "theorem no : 1 = 2 := by\n  sorry\n\ntheorem rests : 1 = 2 := no\n\n"
    "theorem yes (n : Nat) : n = n := by sorry\n",
    "B.lean": "import A\n\ntheorem also (n : Nat) : n = n := by\n  have h : n = n := sorry\n  exact yes n\n",
}


@pytest.mark.parametrize(("code", "accepted"), [(0, 2), (1, 0)])
def test_a_checker_judges_the_proofs_without_what_is_open(
    prove_here: ProveHere, code: int, accepted: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checker = f"{sys.executable} -c 'import sys; print(sys.argv[1]); sys.exit({code})' {{file}}"
    lines = JUDGED if code == 0 else {"A.lean": "theorem yes (n : Nat) : n = n := by sorry\n"}
    assert prove_here(tmp_path / "mine", tmp_path, "--checker", checker, lines=lines) == 1
    total = len(lines)
    assert (
        f"verdicts on {total} proofs: {total} accepted by NanoLean's checker, {accepted} by" in capsys.readouterr().out
    )
    judged = json.loads((tmp_path / "report" / "report.json").read_text())["verdicts"]
    assert judged["outside"] == {checker: accepted} and judged["not_judged"] == 0
    assert len(judged["refused"]) == total - accepted


def test_a_checker_that_is_not_there_is_said_before_the_work(prove_here: ProveHere, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such program"):
        prove_here(tmp_path / "mine", tmp_path, "--checker", "no_such_checker", lines=JUDGED)
    assert not (tmp_path / "report").exists()


def test_what_the_log_says_is_proved_is_checked_again(
    prove_here: ProveHere, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, log = tmp_path / "mine", tmp_path / "report" / "attempts.jsonl"
    forged = {
        "no1": "sorry",
        "no2": "exact no2",
        "no3": "admit",
        "no4": "exact sorryAx _ false",
        "no5": "rfl\ntheorem x : 1 = 2 := sorry",
        "no6": "",
    }
    # In files of their own, as one that stands behind another of them would be proved, if that holds.
    lines = {f"{name}.lean": f"theorem {name} : 1 = 2 := by\n  sorry\n" for name in forged}
    lines["yes.lean"] = "theorem yes (n : Nat) : n = n := by sorry\n"
    assert prove_here(root, tmp_path, lines=lines) == 1
    keys = {record["name"]: record["key"] for record in records(tmp_path / "report")}
    with open(log, "w") as file:
        for name, proof in forged.items():
            record = {"key": keys[name], "outcome": "proved", "proof": proof, "method": "m", "budget": 99}
            file.write(json.dumps(record) + "\n")
    capsys.readouterr()
    assert prove_here(root, tmp_path, lines={}) == 1
    said = capsys.readouterr().out
    assert "1 of 7 proved" in said, said
    tried = [each["name"] for each in records(tmp_path / "report") if "simulations" in each]
    assert set(tried) == {*forged, "yes"}, "all are tried anew, as if nothing was known"
    for name, proof in forged.items():
        assert f"{name}.lean:2 {name}: not proved" in said, said
        assert not proof or f"{name}.lean:2 {name}: the proof in attempts.jsonl counts as nothing" in said, said


def test_a_file_that_could_not_be_read_is_counted_and_no_success(
    prove_here: ProveHere, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "mine"
    lines = {
        "A.lean": "theorem yes (n : Nat) : n = n := by sorry\n",
        "Here.lean": "import There\ntheorem x : 1 = 2 := by sorry\n",
        "There.lean": "import Here\n",
    }
    root.mkdir()
    (root / "Latin.lean").write_bytes("-- é\ntheorem y : 1 = 2 := by sorry\n".encode("latin-1"))
    assert prove_here(root, tmp_path, lines=lines) == 1
    said = capsys.readouterr().out
    assert "1 of 1 proved, 3 files not worked on" in said
    for name in ("Latin.lean is left alone: is not UTF-8", "Here.lean is left alone: imports itself", "There.lean"):
        assert name in said
    assert len(json.loads((tmp_path / "report" / "report.json").read_text())["left_alone"]) == 3


@pytest.mark.parametrize(
    ("gaps", "filled", "after", "fault"),
    [
        ((3, 2), 1, 2, ""),
        ((3, 3), 1, 3, "3 sorries, there were 3, and 1 of them have proofs"),
        ((3, 2), 1, 3, "3 sorries, there were 3, and 1 of them have proofs"),
        ((3, 1), 1, 1, "1 sorries, there were 3, and 1 of them have proofs"),
    ],
)
def test_the_count_of_sorries_falls_by_what_was_filled(
    gaps: tuple[int, int], filled: int, after: int, fault: str
) -> None:
    before, now = CheckReport((), 3, ()), CheckReport((), after, ())
    assert FileCheck("A.lean", before, now, frozenset(), filled, gaps).fault == fault


@pytest.mark.parametrize("header", ["import Mathlib\n", "import B\n"])
def test_a_name_of_a_missing_library_is_not_bound(
    prove_here: ProveHere, header: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = {"A.lean": f"{header}theorem t (x : ENat) : x = x := by sorry\n", "B.lean": "import Mathlib\n"}
    assert prove_here(tmp_path / "mine", tmp_path, lines=lines) == 1
    said = capsys.readouterr().out
    assert "Unknown identifier `ENat`" in said and "t: proved" not in said


def test_what_comes_behind_an_error_is_refused_for_that_error_alone(
    prove_here: ProveHere, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = 'theorem a : 1 = 1 := by sorry\nmacro "m" : tactic => `(tactic| simp)\n'
    behind = "theorem b (x : foo y) : f x := by sorry\ntheorem c : True := by sorry\n"
    assert prove_here(tmp_path / "mine", tmp_path, lines={"A.lean": first + behind}) == 1
    said = capsys.readouterr().out
    assert ":1 a: proved" in said
    assert (
        said.count(": what comes before it has errors (line 2, column 0: the command `macro` is not supported)\n") == 2
    )


def test_a_certified_text_that_lacks_something_binds_no_names(
    prove_here: ProveHere, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its statement could have become another one: it is not judged."""
    lines = {**JUDGED, "A.lean": f"{JUDGED['A.lean']}\ntheorem auto (x : a) : x = x := by sorry\n"}
    assert prove_here(tmp_path / "mine", tmp_path, "--checker", "true", lines=lines) == 1
    assert "not judged, as no certificate holds them: 1 proof" in capsys.readouterr().out
