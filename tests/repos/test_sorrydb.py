"""SorryDB's lists: repositories at their commits, proofs in place of each sorry alone, reasons for the rest."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanoproof.common.errors import UserError
from nanoproof.common.option_groups import LeanOptions
from nanoproof.lean.lean_file import LeanFile
from nanoproof.repos.__main__ import main
from nanoproof.repos.sorrydb import Entry, plain_version, read_entries, replacement, summary
from tests.helpers import wait_for

GOOD = """namespace My

theorem tactic (a b : Nat) : a + b = b + a := by
  sorry

theorem term (p : Prop) (h : p) : p := sorry

theorem inside (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor
  · sorry
  · exact hq

theorem far (f : Nat → Nat) : f 0 = f 1 := by
  sorry

theorem near (f : Nat → Nat) (h : f 1 = 3) : f 0 = 3 := by
  have := far f
  sorry

def value : Nat := sorry

end My
"""
SECOND = "import Base\n\ntheorem uses : double 2 = 4 := by sorry\n"
BASE = "def double (n : Nat) : Nat := n + n\n"
BROKEN = "theorem broken : undefined.thing = 1 := by\n  sorry\n"
FAST = ["--policy", "solver-only", "--num-simulations", "2", "--lean-processes", "1"]


def made_repository(folder: Path, files: dict[str, str], toolchain: str) -> tuple[str, str]:
    """A git repository; its address and commit."""
    for path, text in {**files, "lean-toolchain": f"leanprover/lean4:{toolchain}\n"}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "made"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    done = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return f"file://{folder}", done.stdout.strip()


def record(remote: str, commit: str, lean: str, path: str, line: int, column: int) -> dict[str, Any]:
    """A record as SorryDB has it."""
    return {
        "repo": {"remote": remote, "branch": "main", "commit": commit, "lean_version": lean},
        "location": {
            "path": path,
            "start_line": line,
            "start_column": column,
            "end_line": line,
            "end_column": column + 5,
        },
        "debug_info": {"goal": "⊢ p", "url": "https://example.org"},
        "metadata": {"blame_email_hash": "x", "blame_date": "2024-01-01", "inclusion_date": "2024-01-01"},
        "id": f"{path}:{line}",
    }


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five repositories with three toolchains, two of them broken."""
    folder = tmp_path_factory.mktemp("repositories")
    first = made_repository(folder / "first", {"My/Good.lean": GOOD}, "v4.18.0")
    second = made_repository(folder / "second", {"Base.lean": BASE, "Second.lean": SECOND}, "v4.20.0")
    third = made_repository(folder / "third", {"T.lean": "theorem t : 1 = 1 := sorry\n"}, "v4.27.0")
    fourth = made_repository(folder / "fourth", {"Broken.lean": BROKEN}, "v4.27.0")
    records = [
        record(*first, "v4.18.0", "My/Good.lean", 4, 2),
        record(*first, "v4.18.0", "My/Good.lean", 6, 39),
        record(*first, "v4.18.0", "My/Good.lean", 10, 4),
        record(*first, "v4.18.0", "My/Good.lean", 14, 2),
        record(*first, "v4.18.0", "My/Good.lean", 18, 2),
        record(*first, "v4.18.0", "My/Good.lean", 20, 19),
        record(*first, "v4.18.0", "My/Good.lean", 1, 0),
        record(*first, "v4.18.0", "../../../etc/passwd", 1, 0),
        record(*second, "v4.20.0", "Second.lean", 3, 34),
        record(*third, "v4.27.0", "T.lean", 1, 21),
        record(third[0], "0" * 40, "v4.27.0", "T.lean", 1, 21),
        record(*fourth, "v4.27.0", "Broken.lean", 2, 2),
        record(f"file://{folder}/none", "1" * 40, "v4.18.0", "A.lean", 1, 0),
        record("ext::sh -c true", "1" * 40, "v4.18.0", "A.lean", 1, 0),
        {"repo": {"remote": "x"}},
        {**record(*first, "v4.18.0", f"{'A' * 300}.lean", 1, 0), "half": "\ud83d"},
    ]
    (folder / "list.json").write_text(json.dumps({"doc": "made", "sorries": records}))
    return folder / "list.json"


def test_proofs_come_out_each_in_place_of_its_sorry_and_the_rest_has_reasons(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, report = tmp_path / "proofs.json", tmp_path / "report"
    words = ["sorrydb", str(database), "--out", str(out), "--report", str(report), *FAST]
    killed = subprocess.Popen([sys.executable, "-m", "nanoproof.repos", *words], stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: list(report.glob("*/attempts.jsonl")) or killed.poll() is not None, seconds=120)
    finally:
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()

    assert main(words) == 1
    said = capsys.readouterr().out
    results = json.loads(out.read_text())
    assert [result["sorry"] for result in results] == json.loads(database.read_text())["sorries"]
    outcomes = [result["outcome"] for result in results]
    assert outcomes[:6] == ["proved", "proved", "proved", "not proved", "conditional", "left alone"]
    assert outcomes[8:10] == ["proved", "proved"] and outcomes[11] == "refused"
    assert {outcomes[i] for i in (6, 7, 10, 12, 13, 14, 15)} == {"not set up"}
    reasons = [result["feedback"] or "" for result in results]
    for number, words_of_reason in {
        4: "proved, if `far` (line 13) holds",
        5: "stand for data",
        6: "no sorry stands at line 1, column 0",
        7: "there is no ../../../etc/passwd in the repository",
        10: "cannot clone",
        12: "cannot clone",
        13: "no address that is cloned",
        14: "no record of SorryDB",
        15: "there is no AAAA",
    }.items():
        assert words_of_reason in reasons[number], (number, reasons[number])
    assert [result["proof_verified"] for result in results] == [outcome == "proved" for outcome in outcomes]
    assert {result["checked_by"] for result in results if result["proof"]} == {"NanoLean"}
    for row in ("4.18.0", "4.20.0", "4.27.0"):
        assert row in said
    assert "5 (31.2%)" in said and "not set up: cannot clone" in said

    # Each proof holds in place of its sorry alone.
    good = GOOD
    for result in reversed(results[:3]):
        line, column = result["sorry"]["location"]["start_line"], result["sorry"]["location"]["start_column"]
        lines = good.split("\n")
        start = sum(len(text) + 1 for text in lines[: line - 1]) + column
        assert good[start : start + 5] == "sorry"
        good = good[:start] + result["proof"] + good[start + 5 :]
    check = tmp_path / "check.lean"
    check.write_text(good)
    done = subprocess.run([sys.executable, "-m", "nanolean", "check", str(check)], capture_output=True, text=True)
    assert "error:" not in done.stdout and done.stdout.count(": sorry:") == 3, done.stdout

    before = sum(1 for log in report.glob("*/attempts.jsonl") for _ in open(log))
    assert main(words) == 1
    again = json.loads(out.read_text())
    assert [result["proof"] for result in again] == [result["proof"] for result in results]
    assert [result["outcome"] for result in again] == outcomes
    assert sum(1 for log in report.glob("*/attempts.jsonl") for _ in open(log)) == before


def test_sorries_without_a_server_of_their_lean_say_so(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nanoproof.lean.client import LeanFleet, ServerReport
    from nanoproof.repos import sorrydb

    status = {"versions": {"lean": "4.18.0"}, "max_processes": 1}
    monkeypatch.setattr(LeanFleet, "check", lambda self: [ServerReport("a:1", status, "", 0, 0.0)])
    entries = [entry for entry in read_entries(database) if not entry.reason]
    options = sorrydb.FleetOptions(LeanOptions(servers=("a:1",)))
    ((label, own, members),) = sorrydb._groups(options, entries)
    assert label == "Lean 4.18.0" and own.lean.servers == ("a:1",)
    assert {member.lean for member in members} == {"v4.18.0"}
    others = {entry.reason for entry in entries if entry.lean != "v4.18.0"}
    assert others == {f"no server of Lean {version} is named by --lean-servers" for version in ("4.20.0", "4.27.0")}


def test_nanolean_beside_other_servers_takes_what_they_do_not(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nanoproof.lean.client import LeanFleet, ServerReport
    from nanoproof.repos import sorrydb

    statuses = {"b:1": {"nanolean": True}, "a:1": {"versions": {"lean": "4.18.0"}}}
    reports = [ServerReport(address, status, "", 0, 0.0) for address, status in statuses.items()]
    monkeypatch.setattr(LeanFleet, "check", lambda self: reports)
    monkeypatch.setattr(sorrydb, "runs_nanolean", lambda status: "nanolean" in status)
    entries = [entry for entry in read_entries(database) if not entry.reason]
    groups = sorrydb._groups(sorrydb.FleetOptions(LeanOptions(servers=tuple(statuses))), entries)
    assert [label for label, _, _ in groups] == ["Lean 4.18.0", "NanoLean"]
    dealt = [entry for _, _, members in groups for entry in members]
    assert sorted(map(id, dealt)) == sorted(map(id, entries)), "each goes to one Lean, whose verdict stands"
    assert {member.lean for member in groups[0][2]} == {"v4.18.0"}


def test_what_is_no_list_is_refused(tmp_path: Path) -> None:
    for text, complaint in (("{}", "no list of SorryDB"), ("3", "no list of SorryDB"), ("{", "not valid JSON")):
        (tmp_path / "list.json").write_text(text)
        with pytest.raises(UserError, match=complaint):
            read_entries(tmp_path / "list.json")
    (tmp_path / "list.json").write_text("[]")
    with pytest.raises(UserError, match="no such folder"):
        main(["sorrydb", str(tmp_path / "list.json"), "--out", str(tmp_path / "none" / "out.json")])
    with pytest.raises(UserError, match="lists no sorry"):
        main(["sorrydb", str(tmp_path / "list.json"), "--out", str(tmp_path / "out.json")])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["repo", "location"]), inner),
    max_leaves=8,
)


@pytest.mark.nightly
@settings(max_examples=100)
@given(JSON)
def test_any_record_is_read_or_has_a_reason(value: Any) -> None:
    entry = Entry.read(value)
    assert entry.reason and json.dumps(entry.to_json())
    assert any("not set up" in line for line in summary([entry]))


@settings(max_examples=100)
@given(st.sampled_from(["exact h", "constructor\nexact h\nsimp", "have x := 1\nomega"]), st.integers(0, 3))
def test_the_text_in_place_of_a_sorry_gives_the_file_with_the_proof(proof: str, number: int) -> None:
    file = LeanFile.parse(GOOD)
    gap = file.gaps[number]
    text = replacement(file, file.with_proof(gap, proof), gap.start, gap.end)
    assert text is not None
    replaced = file.text[: gap.start] + text + file.text[gap.end :]
    expected = file.with_proof(gap, proof).proved()
    assert [line.rstrip() for line in replaced.split("\n")] == [line.rstrip() for line in expected.split("\n")]


def test_versions_are_compared_by_their_numbers() -> None:
    assert {plain_version(text) for text in ("v4.18.0", "4.18.0", "leanprover/lean4:v4.18.0\n")} == {"4.18.0"}
