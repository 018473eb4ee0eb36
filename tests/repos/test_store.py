"""The store: what is put in comes out, proofs stay, processes share it, and nothing else is taken for it."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from nanoproof.common.errors import UserError
from nanoproof.lean.lean_file import OpenPlace
from nanoproof.repos.manage import AddOptions, add_repository, split_target
from nanoproof.repos.project import named_path
from nanoproof.repos.prove import located
from nanoproof.repos.store import APPLICATION_ID, Store, default_path, free_name
from nanoproof.repos.traced_files import Position, Premise, TracedFile
from tests.helpers import main_of, wait_for
from tests.repos.made_records import chain, file, tactic, theorem

OPEN = theorem("b", line=4, tactics=[tactic("sorry", "⊢ P", "no goals")], sorries=1)
FILE = file("A.lean", [theorem("a", tactics=[tactic("exact h.le", "h : Q\n⊢ P", "no goals", "h.le")]), OPEN])
OTHER = file("B/ü.lean", [theorem("c", "B/ü.lean")], imports=["A.lean"])
ROOT = Path(__file__).resolve().parents[2]
repos = main_of("nanoproof.repos")


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "repos" / "store.sqlite") as made:
        yield made


@pytest.fixture
def filled(store):
    repository = store.add_repository("https://host/owner/algebra", "abc123", lean_version="v4.27.0")
    for each in (FILE, OTHER):
        store.put_file(repository, each)
    return store


def test_files_come_out_as_they_were_put_in_and_in_their_order(filled):
    assert list(filled.files("algebra")) == [FILE, OTHER]
    assert [each.path for each in filled.files("algebra", theorems=False)] == ["A.lean", "B/ü.lean"]
    counts = {"files": 2, "failed": 0, "premises": 3, "theorems": 3, "proved": 2, "sorry_proved": 0, "sorry": 1}
    assert filled.counts("algebra") == counts


def test_putting_a_file_again_changes_nothing_and_keeps_numbers(filled):
    before = [(each.id, each.theorem) for each in filled.theorems()]
    filled.put_file("algebra", FILE)
    assert [(each.id, each.theorem) for each in filled.theorems()] == before


def test_a_recorded_proof_moves_a_theorem_and_survives_tracing_as_long_as_it_is_stated_so(filled):
    (stored,) = filled.theorems("algebra", "sorry")
    filled.record_proof(stored.id, "by simp", "repos prove", when="2026-01-02T03:04:05+00:00")
    assert filled.counts("algebra")["sorry_proved"] == 1 and not list(filled.theorems(state="sorry"))
    moved = file("A.lean", [theorem("new", line=1), theorem("b", line=40, tactics=OPEN.tactics, sorries=1)])
    filled.put_file("algebra", moved)
    (kept,) = filled.theorems("algebra", "sorry_proved")
    assert (kept.id, kept.theorem.start.line, kept.proof, kept.how) == (stored.id, 40, "by simp", "repos prove")
    assert kept.time == "2026-01-02T03:04:05+00:00"
    filled.put_file("algebra", file("A.lean", [theorem("b", sorries=1, statement="theorem b : Q")]))
    assert [each.state for each in filled.theorems("algebra", path="A.lean")] == ["sorry"]
    filled.put_file("algebra", moved)
    assert [each.proof for each in filled.theorems("algebra", path="A.lean")] == [None, "by simp"]
    filled.put_file("algebra", file("A.lean", [theorem("b", tactics=chain("simp"))]))
    assert [each.state for each in filled.theorems("algebra", path="A.lean")] == ["proved"]


def test_proofs_of_equal_statements_in_one_file_are_told_apart(store):
    store.add_repository("x", name="x")
    twice = file("A.lean", [theorem("example", line=line, sorries=1) for line in (1, 5)])
    store.put_file("x", twice)
    _, second = store.theorems("x")
    store.record_proof(second.id, "by second", "test")
    store.put_file("x", twice)
    assert [each.proof for each in store.theorems("x")] == [None, "by second"]


def test_only_what_is_open_can_be_proved(filled):
    proved = next(filled.theorems("algebra", "proved"))
    with pytest.raises(UserError, match=r"a in A\.lean is proved there"):
        filled.record_proof(proved.id, "by simp", "test")
    with pytest.raises(UserError, match="no theorem number 999"):
        filled.record_proof(999, "by simp", "test")


def test_a_theorem_with_sorry_in_its_tactics_is_open_whatever_tracing_counted(store):
    store.add_repository("x", name="x")
    texts = ("exact (by sorry)", "exact no_sorry", "exact foo.sorry'", "sorry")
    store.put_file(
        "x", file("A.lean", [theorem(f"t{i}", line=3 * i + 1, tactics=chain(t)) for i, t in enumerate(texts)])
    )
    assert [each.state for each in store.theorems("x")] == ["sorry", "proved", "proved", "sorry"]


BAD = OpenPlace("bad", "A.lean", 1)


def test_a_proof_that_rests_on_something_open_is_not_among_the_proved(store):
    repository = store.add_repository("x")
    wrapper = replace(theorem("wrapper", line=7), rests_on=(BAD,))
    store.put_file(repository, file("A.lean", [theorem("bad", sorries=1), OPEN, wrapper]))
    _, uses, _ = store.theorems("x")
    store.record_proof(uses.id, "exact bad", "test", rests_on=[BAD])
    assert [(each.theorem.full_name, each.rests_on) for each in store.theorems("x", "conditional")] == [
        ("b", (BAD,)),
        ("wrapper", (BAD,)),
    ]
    counts = store.counts("x")
    assert [counts[state] for state in ("proved", "sorry", "sorry_proved", "conditional")] == [0, 1, 0, 2]
    assert [is_open for *_, is_open in store.lengths("x")] == [True, True, True]
    store.put_file(repository, file("A.lean", [OPEN, wrapper]))
    assert store.theorem(uses.id).state == "conditional", "it is still so after another trace"
    store.record_proof(uses.id, "rfl", "test")
    store.record_proof(uses.id, "exact bad", "test", rests_on=[BAD])
    assert (store.theorem(uses.id).state, store.theorem(uses.id).proof) == ("sorry_proved", "rfl")


def test_a_store_of_the_first_version_is_read(filled):
    filled.close()
    with sqlite3.connect(filled.path) as db:
        db.execute("ALTER TABLE theorems DROP COLUMN rests_on")
        db.execute("ALTER TABLE proofs DROP COLUMN rests_on")
        db.execute("PRAGMA user_version = 1")
    with Store(filled.path) as again:
        assert [each.state for each in again.theorems("algebra")] == ["proved", "sorry", "proved"]
        again.record_proof(again.find_theorems("algebra", "b")[0].id, "rfl", "test", rests_on=[BAD])
        assert again.counts("algebra")["conditional"] == 1
    with Store(filled.path) as third:
        assert third.counts("algebra")["conditional"] == 1


def test_reading_goes_on_while_proofs_are_recorded(filled):
    filled.put_file("algebra", file("C.lean", [theorem("d", "C.lean", sorries=1)]))
    for each in filled.theorems("algebra", "sorry"):
        filled.record_proof(each.id, f"by {each.theorem.full_name}", "test")
    assert [each.proof for each in filled.theorems("algebra", "sorry_proved")] == ["by b", "by d"]


def test_a_repository_goes_with_all_that_is_known_of_it(filled):
    (stored,) = filled.theorems("algebra", "sorry")
    filled.record_proof(stored.id, "by simp", "test")
    filled.remove_repository("algebra")
    assert filled.repositories() == []
    with sqlite3.connect(filled.path) as db:
        for table in ("files", "premises", "theorems", "proofs"):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    with pytest.raises(UserError, match=r"no repository 'algebra' in .*there are: none"):
        filled.counts("algebra")


def test_the_same_address_at_the_same_commit_is_the_same_repository(filled):
    again = filled.add_repository("https://host/owner/algebra", "abc123")
    assert (again.name, again.lean_version, len(filled.repositories())) == ("algebra", "v4.27.0", 1)
    later = filled.add_repository("https://host/owner/algebra", "def4567890")
    assert later.name == "algebra-def45678"
    with pytest.raises(UserError, match="did you mean algebra"):
        filled.repository("algebr")
    with pytest.raises(UserError, match="taken by another"):
        filled.add_repository("elsewhere", name="algebra")
    with pytest.raises(UserError, match="must be made of letters"):
        filled.add_repository("elsewhere", name="../up")


def test_names_are_made_of_addresses():
    assert free_name("https://host/o/My.Repo.git", "", ()) == "My.Repo"
    assert free_name("git@host:tools", "0123456789", ("tools",)) == "tools-01234567"
    assert free_name("/a/b c/", "", ("b-c", "b-c-2")) == "b-c-3"


def test_opening_a_store_changes_nothing_in_it(filled):
    filled.close()
    before = filled.path.read_bytes()
    with Store(filled.path) as again:
        assert again.counts("algebra")["theorems"] == 3
    assert filled.path.read_bytes() == before


def test_other_files_are_refused_and_left_as_they_are(tmp_path):
    text, other, later = tmp_path / "notes.txt", tmp_path / "other.sqlite", tmp_path / "later.sqlite"
    text.write_text("these are notes, and no database\n" * 99)
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE mine (x)")
    Store(later).close()
    with sqlite3.connect(later) as db:
        db.execute("PRAGMA user_version = 99")
    for path, complaint in [
        (text, "is not a store of repositories"),
        (other, "a database of something else"),
        (later, "later version of nanoproof .*version 99"),
    ]:
        before = path.read_bytes()
        with pytest.raises(UserError, match=complaint):
            Store(path)
        assert path.read_bytes() == before
    with pytest.raises(UserError, match="cannot make the folder"):
        Store(text / "store.sqlite")
    assert APPLICATION_ID.to_bytes(4, "big") == b"nPRF"


WRITER = """
import sys
from pathlib import Path
from nanoproof.repos.store import Store
from tests.repos.made_records import file, theorem
path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
print("begun", flush=True)
with Store(path) as store:
    store.add_repository(name, name=name)
    for i in range(count):
        store.put_file(name, file(f"{i}.lean", [theorem(f"t{i}_{j}", f"{i}.lean", j, sorries=1) for j in range(5)]))
        for each in store.theorems(name, path=f"{i}.lean"):
            store.record_proof(each.id, "by simp", "test")
"""


def start_writer(path: Path, name: str, count: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


@pytest.mark.nightly
def test_processes_that_make_and_write_a_store_at_once_lose_nothing_and_one_that_is_killed_leaves_it_whole(tmp_path):
    path = tmp_path / "store.sqlite"
    writers = [start_writer(path, name, 20) for name in ("x", "y")]
    killed = start_writer(path, "killed", 100_000)
    wait_for(lambda: path.exists() and files_in(path, "killed") > 3, seconds=240, processes=[killed])
    os.kill(killed.pid, signal.SIGKILL)
    assert [writer.wait(240) for writer in writers] == [0, 0]
    killed.communicate()
    with Store(path) as store:
        for name in ("x", "y"):
            assert store.counts(name)["sorry_proved"] == 100
        for each in store.files("killed"):
            assert len(each.theorems) == 5
        assert store._rows("PRAGMA integrity_check") == [("ok",)]
    for writer in writers:
        writer.communicate()


def files_in(path: Path, name: str) -> int:
    with Store(path) as store:
        return store.counts(name)["files"] if name in [each.name for each in store.repositories()] else 0


@pytest.mark.nightly
def test_memory_of_reading_does_not_grow_with_the_store(store):
    store.add_repository("x", name="x")
    steps = chain(*(f"exact {'h' * 5000} {i}" for i in range(4)))
    peaks = []
    for first, last in ((0, 12), (12, 48)):
        with store.all_or_nothing():
            for i in range(first, last):
                here = [theorem(f"t{i}_{j}", f"{i}.lean", j, steps) for j in range(10)]
                store.put_file("x", file(f"{i}.lean", here))
        tracemalloc.start()
        assert sum(len(each.theorem.tactics) for each in store.theorems("x")) == 4 * 10 * last
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


# -- commands --------------------------------------------------------------------------------------------------------


def git(*words: str, at: Path) -> str:
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.com"]
    done = subprocess.run(["git", *identity, *words], cwd=at, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "my-project"
    folder.mkdir()
    (folder / "lean-toolchain").write_text("leanprover/lean4:v4.27.0\n")
    (folder / "A.lean").write_text("theorem a : True := trivial\n")
    git("init", "-q", at=folder)
    for number in range(2):
        (folder / "A.lean").write_text(f"theorem a{number} : True := trivial\n")
        git("add", ".", at=folder)
        git("commit", "-q", "-m", str(number), at=folder)
    return folder


def traced(root: Path, folder: Path, options: AddOptions) -> list[TracedFile]:
    """Traces by reading: a theorem for each line of each file."""
    found = []
    for path in sorted(root.glob("*.lean")):
        names = [line.split()[1] for line in path.read_text().splitlines()]
        found.append(file(path.name, [theorem(name, path.name, i + 1) for i, name in enumerate(names)]))
    return found


def test_a_folder_is_referred_to_and_brought_up_to_date(store, project):
    first = add_repository(store, str(project), trace=traced)
    head = git("rev-parse", "HEAD", at=project)
    assert (first.name, first.commit, first.lean_version) == ("my-project", head, "v4.27.0")
    assert first.source == str(project) and [t.theorem.full_name for t in store.theorems(first)] == ["a1"]
    (project / "A.lean").rename(project / "B.lean")
    git("commit", "-qam", "moved", at=project)
    second = add_repository(store, f"{project}@{git('rev-parse', 'HEAD', at=project)[:9]}", trace=traced)
    assert second.commit != first.commit and [each.name for each in store.repositories()] == ["my-project"]
    assert [each.path for each in store.files(second)] == ["B.lean"]
    with pytest.raises(UserError, match=r"is at commit .*, not abcdef1: check that out, or add file://"):
        add_repository(store, f"{project}@abcdef1")


def test_an_address_is_cloned_at_its_commit_and_the_clone_goes_with_the_repository(store, project, capsys):
    old = git("rev-parse", "HEAD~1", at=project)
    added = add_repository(store, f"file://{project}@{old}", name="cloned", trace=traced)
    assert added.commit == old and [each.theorem.full_name for each in store.theorems(added)] == ["a0"]
    assert Path(added.source).parent == store.path.parent / "cloned"
    assert add_repository(store, f"file://{project}@{old[:8]}", trace=traced) == added
    with pytest.raises(UserError, match=r"cannot clone file:.* at 0123456"):
        add_repository(store, f"file://{project}@0123456", trace=traced)
    assert [path.name for path in store.path.parent.iterdir() if path.is_dir()] == ["cloned"]
    assert repos(["remove", "cloned", "--store", str(store.path)]) == 0
    assert not Path(added.source).exists() and "1 theorems" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("target", "parts"),
    [
        ("https://host/o/n@v1.0", ("https://host/o/n", "v1.0")),
        ("git@host:o/n", ("git@host:o/n", "")),
        ("git@host:o/n@abc", ("git@host:o/n", "abc")),
        ("ssh://git@host/o/n", ("ssh://git@host/o/n", "")),
        ("https://user@host/o/n", ("https://user@host/o/n", "")),
        ("https://host/o/n@feature/x", ("https://host/o/n", "feature/x")),
        ("no-such-folder@abc", ("no-such-folder", "abc")),
    ],
)
def test_a_commit_stands_behind_an_address(target, parts):
    assert split_target(target) == parts


def test_an_empty_name_is_not_the_working_directory() -> None:
    for read in (split_target, named_path, located):
        with pytest.raises(UserError, match="the name of the project is empty"):
            read(" ")


def test_no_command_that_reads_a_store_makes_one(empty_home, tmp_path, capsys):
    (tmp_path / "no-data-set").mkdir()
    exported = ["export", "my-projcet", "--out", str(tmp_path / "out")]
    for command in (exported, ["show", "x"], ["remove", "x"], ["list", "--store", "x"], ["import", str(tmp_path)]):
        with pytest.raises(UserError, match=r"there is no store .*repos add|holds neither"):
            repos(command)
    assert repos(["list"]) == 0 and "no repositories yet" in capsys.readouterr().out
    assert not default_path().exists() and not (tmp_path / "out").exists()


def test_the_commands_add_list_show_and_remove(project, empty_home, capsys):
    assert repos(["add", str(project), "--no-trace"]) == 0
    assert capsys.readouterr().out.startswith("my-project: 0 files, 0 premises, 0 theorems")
    with Store(default_path()) as store:
        magic = Premise("N.magic", "axiom magic : P", Position(2, 1), Position(2, 16), "axiom")
        store.put_file("my-project", replace(FILE, premises=(*FILE.premises, magic)))
        store.put_file("my-project", replace(file(".lake/packages/l/L.lean"), premises=(magic,)))
        store.put_file("my-project", file("Bad.lean", error="line 3: unknown identifier"))
        (stored,) = store.theorems(state="sorry")
        store.record_proof(stored.id, "by\n  simp", "repos prove")
    assert repos(["list", "--by", "difficulty"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[-4:] == ["Medium", "Hard", "no", "proof"]
    assert lines[1].split()[-8:] == ["2", "1", "1", "0", "1", "0", "0", "1"]
    assert repos(["show", "my-project"]) == 0
    shown = capsys.readouterr().out
    assert "b  A.lean:4  by simp (repos prove)" in shown and "Bad.lean: line 3: unknown identifier" in shown
    assert "axioms, which what is proved may rest on:\n  N.magic  A.lean:2\nnot traced" in shown
    assert repos(["show", "my-project", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["sorry_proved"] == 1
    assert repos(["remove", "my-project"]) == 0
    assert project.exists() and "1 proved by us" in capsys.readouterr().out
    with pytest.raises(UserError, match="no repository 'my-project'"):
        repos(["show", "my-project"])
