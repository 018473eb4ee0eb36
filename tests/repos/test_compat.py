"""LeanDojo-v2's database by its known names: its scripts run, and its file is never lost."""

import importlib
import json
import runpy
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from nanolean.tests.each import each
from nanoproof import compat
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json
from nanoproof.compat.database import AnnotatedTactic, DynamicDatabase, Premise, PremiseFile, Repository, Theorem
from nanoproof.compat.database.dynamic_database import popular_repositories
from nanoproof.compat.database.models.annotations import Pos, parse_pos
from nanoproof.compat.trainers import begin_passes
from nanoproof.repos.store import Store
from tests.repos.made_records import chain, file, tactic, theorem

STEP = {
    "tactic": "exact A.b",
    "annotated_tactic": [
        "exact <a>A.b</a>",
        [{"full_name": "A.b", "def_path": "A.lean", "def_pos": "(1, 9)", "def_end_pos": "Pos(1, 12)"}],
    ],
    "state_before": "⊢ P",
    "state_after": "no goals",
}


def entry(number: int, count: int = 5, **changed: object) -> dict[str, object]:
    """A repository as LeanDojo-v2 writes it, with theorems of 1, 2, ... tactics and one that is open."""
    head = {"url": f"https://host/o/r{number}", "name": f"o/r{number}", "commit": "c0ffee"}
    versions = {"lean_version": "v4.27.0", "lean_dojo_version": "4.20.0"}

    def made(name: str, steps: list[object]) -> dict[str, object]:
        places = {"file_path": f"R{number}.lean", "start": "(3, 1)", "end": "(4, 2)"}
        owner = {"url": head["url"], "commit": "c0ffee"}
        rest = {"theorem_statement": None, "traced_tactics": steps, "difficulty_rating": None}
        return {"full_name": f"r{number}.{name}", **places, **owner, **rest}

    premise = {"full_name": "A.b", "code": "theorem b : P", "start": "(1, 1)", "end": "(1, 12)", "kind": "theorem"}
    return {
        **head,
        **versions,
        "metadata": {"date_processed": f"2026-01-0{number}T00:00:00", "note": "kept"},
        "proven_theorems": [
            made(f"t{i}", [{**STEP, "state_after": f"⊢ {j}"} for j in range(i + number)]) for i in range(1, count)
        ],
        "sorry_theorems_proved": [],
        "sorry_theorems_unproved": [made("open", [{**STEP, "tactic": "sorry", "annotated_tactic": ["sorry", []]}])],
        "premise_files": [{"path": f"R{number}.lean", "imports": [], "premises": [premise]}],
        "files_traced": [f"R{number}.lean"],
        "pr_url": None,
        **changed,
    }


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "db" / "dynamic_database.json")


@pytest.fixture
def database(path: str) -> DynamicDatabase:
    made = DynamicDatabase(path)
    for number in (1, 2):
        made.add_repository(Repository.from_dict(entry(number)))
    made.to_json()
    return made


def test_making_the_object_reads_the_file_and_never_empties_it(database: DynamicDatabase, path: str) -> None:
    before = Path(path).read_bytes()
    assert DynamicDatabase(path).repositories == database.repositories
    assert DynamicDatabase.from_json(path).to_dict() == database.to_dict()
    assert Path(path).read_bytes() == before and not Path("dynamic_database.json").exists()
    Path(path).write_text('{"repositories": 3}')
    with pytest.raises(UserError, match=r"dynamic_database\.json: Invalid DynamicDatabase data format"):
        DynamicDatabase(path)
    assert Path(path).read_text() == '{"repositories": 3}'
    with pytest.raises(FileNotFoundError):
        DynamicDatabase.from_json(path + "x")


def test_folders_that_cannot_be_are_one_line(database: DynamicDatabase, path: str) -> None:
    below_a_file = Path(path) / "x"
    repo = database.repositories[0]
    (theorem,) = repo.sorry_theorems_unproved[:1]
    calls = [
        lambda: DynamicDatabase(str(below_a_file)),
        lambda: DynamicDatabase(str(below_a_file.parents[1])),
        lambda: database.to_json(str(below_a_file)),
        lambda: database.export_merged_data([repo], below_a_file),
        lambda: repo.change_sorry_to_proven(theorem, str(below_a_file)),
        lambda: begin_passes(below_a_file, {}),
        lambda: read_json(below_a_file),
    ]
    for call in calls:
        with pytest.raises(UserError, match=r"^(cannot write|no such file:) /.*"):
            call()
    assert repo.sorry_theorems_unproved[0] is theorem


def test_entries_are_read_and_written_with_all_fields_and_counters() -> None:
    found = Repository.from_dict(entry(1)).to_dict()
    counters = {
        **{"total_theorems": 5, "num_proven_theorems": 4, "num_sorry_theorems": 1, "num_sorry_theorems_proved": 0},
        **{"num_sorry_theorems_unproved": 1, "num_premise_files": 1, "num_premises": 1, "num_files_traced": 1},
    }
    written = json.loads(json.dumps({**entry(1), **counters}).replace("Pos(1, 12)", "(1, 12)"))
    assert found == written
    assert Repository.from_dict(found).metadata["date_processed"] == datetime(2026, 1, 1)
    for wanted in ("url", "metadata"):
        with pytest.raises(ValueError, match=f"Invalid Repository data format: no {wanted}"):
            Repository.from_dict({key: value for key, value in entry(1).items() if key != wanted})
    with pytest.raises(ValueError, match="date_processed"):
        Repository.from_dict(entry(1, metadata={}))
    for kind, data in ((Theorem, {}), (Premise, {}), (PremiseFile, {}), (AnnotatedTactic, {})):
        with pytest.raises(ValueError, match=f"Invalid {kind.__name__} data format"):
            kind.from_dict(data, "", "") if kind is Theorem else kind.from_dict(data)  # type: ignore[call-arg]
    assert (repr(parse_pos([3, 4])), list(Pos(3, 4))) == ("(3, 4)", [3, 4])
    with pytest.raises(ValueError, match="expected a place"):
        parse_pos("here")


def test_repositories_are_found_updated_and_deleted(
    database: DynamicDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    first = database.get_repository("https://host/o/r1", "c0ffee")
    assert first is not None and str(first) == "o/r1_c0ffee"
    database.add_repository(Repository.from_dict(entry(1)))
    assert len(database.repositories) == 2
    changed = Repository.from_dict(entry(1, pr_url="https://host/pr/1"))
    database.update_repository(changed)
    assert database.get_repository("https://host/o/r1", "c0ffee") is changed
    with pytest.raises(ValueError, match="not found"):
        database.update_repository(Repository.from_dict(entry(1, commit="beef")))
    database.print_database_contents()
    assert "  - https://host/o/r2 (commit: c0ffee)" in capsys.readouterr().out
    database.delete_repository("https://host/o/r1", "c0ffee")
    assert database.get_repository("https://host/o/r1", "c0ffee") is None
    with pytest.raises(ValueError, match="not found"):
        database.delete_repository("https://host/o/r1", "c0ffee")


def test_updating_a_file_adds_what_it_lacks(database: DynamicDatabase, path: str) -> None:
    other = DynamicDatabase.from_dict({"repositories": [entry(3), entry(2, pr_url="new")]})
    other.update_json(path)
    found = DynamicDatabase.from_json(path)
    known = [(each.name, each.pr_url) for each in found.repositories]
    assert known == [("o/r1", None), ("o/r2", "new"), ("o/r3", None)]
    other.update_json(path + "2")
    assert len(DynamicDatabase.from_json(path + "2").repositories) == 2


def test_a_sorry_that_is_proved_moves_and_is_logged(database: DynamicDatabase, tmp_path: Path) -> None:
    repository = database.repositories[0]
    (stated,) = repository.sorry_theorems_unproved
    log = tmp_path / "logs" / "proof_log.txt"
    repository.change_sorry_to_proven(stated, str(log))
    assert (repository.num_sorry_theorems_proved, repository.num_sorry_theorems_unproved) == (1, 0)
    assert log.read_text().endswith(" - Theorem proved: r1.open in R1.lean for repo o/r1 (commit: c0ffee)\n")
    with pytest.raises(ValueError, match="not in the list of unproved"):
        repository.change_sorry_to_proven(stated, str(log))
    other = Theorem("r1.t1", Path("R1.lean"), Pos(3, 1), Pos(4, 2), "u", "c", "statement")
    repository.update_theorem(other)
    assert repository.get_theorem("r1.t1", "R1.lean") is other and str(other) == "statement"
    assert repository.get_theorem("r1.t1", "R2.lean") is None
    with pytest.raises(ValueError, match=r"'r9\.t' not found"):
        repository.update_theorem(Theorem("r9.t", Path("A.lean"), Pos(1, 1), Pos(1, 2), "u", "c"))
    assert repository.get_file_traced("R1.lean") == Path("R1.lean") and repository.get_premise_file("x") is None


def test_the_easiest_repository_comes_first_and_ratings_are_saved(
    database: DynamicDatabase, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    database.repositories.reverse()
    assert [each.name for each in database.sort_repositories_by_difficulty()] == ["o/r1", "o/r2"]
    shown = capsys.readouterr().out
    # 2, 3, 3, 4, 4, 5, 5, 6 tactics: the percentiles are at places 2.31 and 4.69, of e^3 + 0.31 (e^4 - e^3) and so on
    assert "Easy up to 30.7844 (e^n of n <= 3.31 tactics), Medium up to 119.331 (n <= 4.69)" in shown
    assert "Hard (No proof): 1, such as r1.open (inf)" in shown
    ratings = [each.difficulty_rating for each in DynamicDatabase(path).repositories[1].get_all_theorems]
    assert ratings == pytest.approx([7.389056098, 20.08553692, 54.59815003, 148.4131591, float("inf")])
    assert DynamicDatabase.from_dict({"repositories": []}, path + "3").sort_repositories_by_difficulty() == []


def test_no_theorem_changes_its_split_over_a_curriculum(tmp_path: Path, path: str) -> None:
    database, out = DynamicDatabase(path), tmp_path / "raid" / "data" / "merged"
    seen: dict[tuple[str, str], str] = {}
    for number in (1, 2, 3):
        database.add_repository(Repository.from_dict(entry(number, count=30)))
        database.export_merged_data(database.repositories, out)
        for part in out.glob("*/*.json"):
            for exported in json.loads(part.read_text()):
                assert seen.setdefault((part.parent.name, exported["full_name"]), part.stem) == part.stem
        database = DynamicDatabase(path)  # as a script that goes on later
        database.repositories = [Repository.from_dict(entry(n, count=30)) for n in range(1, number + 1)]
    assert len(seen) == 2 * 90
    assert {split for (kind, _), split in seen.items() if kind == "random"} == {"train", "val", "test"}
    assert sorted(each.name for each in out.iterdir() if each.suffix) == [
        *("corpus.jsonl", "metadata.json", "traced_files.jsonl")
    ]


def test_a_data_set_in_a_folder_becomes_a_repository(database: DynamicDatabase, tmp_path: Path) -> None:
    database.export_merged_data(database.repositories[:1], tmp_path / "out")
    folders = {
        "theorems_folder": "random",
        "premise_files_corpus": "corpus.jsonl",
        "files_traced": "traced_files.jsonl",
    }
    places = {key: str(tmp_path / "out" / name) for key, name in folders.items()}
    head = {key: entry(1)[key] for key in ("url", "name", "commit", "lean_version", "lean_dojo_version", "metadata")}
    found = Repository.from_dict({**head, **places})
    assert (found.num_proven_theorems, found.num_sorry_theorems_unproved, found.num_premises) == (4, 1, 1)
    assert found.files_traced == [Path("R1.lean")]
    with pytest.raises(ValueError, match="Paths to data cannot be empty"):
        Repository.from_dict({**head, **places, "files_traced": str(tmp_path / "no")})


def test_tracing_a_folder_gives_a_repository_and_its_data_set(
    database: DynamicDatabase, empty_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "mine"
    project.mkdir()
    names = [theorem(f"t{i}", line=3 * i + 1, tactics=chain("intro x", "rfl")) for i in range(3)]
    todo = theorem("todo", line=99, tactics=[tactic("sorry", "⊢ P", "no goals")], sorries=1)
    records = [file("A.lean", [*names, todo]), file("Bad.lean", error="line 1: unknown")]
    monkeypatch.setattr("nanoproof.compat.database.dynamic_database.trace_files", lambda *_: iter(records))
    found = database.trace_repository(str(project), "")
    assert found is not None and (found.url, found.num_proven_theorems) == (str(project), 3)
    assert [each.full_name for each in found.sorry_theorems_unproved] == ["todo"]
    assert [str(each) for each in found.files_traced] == ["A.lean"] and found.num_premise_files == 2
    assert Theorem.from_dict(found.to_dict()["proven_theorems"][0], found.url, "").to_record() == names[0]
    assert (empty_home / "repos" / "mine" / "leandojo" / "random" / "train.json").exists()
    records[:] = [file("A.lean", names[:2])]
    assert database.trace_repository(str(project), "") is None
    with Store() as store:
        assert store.counts("mine")["theorems"] == 2


def test_the_most_starred_repositories_are_traced_and_listed(
    database: DynamicDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["leanprover/lean4", "o/r3", "o/broken", "o/small", "o/r4"]
    asked: list[Any] = []

    def get(url: str, **how: Any) -> httpx2.Response:
        asked.append((url, how["params"]["page"], how["headers"]))
        items = [{"full_name": name, "clone_url": f"https://host/{name}.git"} for name in names]
        return httpx2.Response(200, json={"items": items}, request=httpx2.Request("GET", url))

    def trace(url: str, *_: Any) -> Repository | None:
        if url.endswith("broken"):
            raise UserError("it has no lakefile")
        return None if url.endswith("small") else Repository.from_dict(entry(int(url[-1])))

    monkeypatch.setattr(httpx2, "get", get)
    monkeypatch.setattr(database, "trace_repository", trace)
    monkeypatch.setenv("GITHUB_API_URL", "https://git.example/api/v3/")
    monkeypatch.setenv("GITHUB_ACCESS_TOKEN", "secret")
    added = database.discover_repositories(num_repos=4, curriculum_learning=True)
    assert asked == [("https://git.example/api/v3/search/repositories", 1, {"Authorization": "Bearer secret"})]
    assert [repo.name for repo in added] == ["o/r3", "o/r4"] and added[0] in DynamicDatabase(
        database.json_path
    ).repositories
    listed = json.loads(Path("raid/data/repo_info_compatible.json").read_text())
    assert listed[0] == {"url": "https://host/o/r3", "commit": "c0ffee", "version": "v4.27.0"}
    said = capsys.readouterr().out
    assert "https://host/o/broken is passed over: it has no lakefile" in said
    assert "https://host/o/small is passed over: it has fewer than 3 theorems" in said


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda url: httpx2.Response(403, request=httpx2.Request("GET", url)), "answered 403 to a search"),
        (lambda url: httpx2.Response(200, text="<html>", request=httpx2.Request("GET", url)), "something else"),
        (lambda url: (_ for _ in ()).throw(httpx2.ConnectError("no route")), "cannot be reached: no route"),
    ],
)
def test_a_search_that_fails_is_one_line(monkeypatch: pytest.MonkeyPatch, answer: Any, message: str) -> None:
    monkeypatch.setattr(httpx2, "get", lambda url, **_: answer(url))
    with pytest.raises(UserError, match=message):
        list(popular_repositories())


def test_commands_of_lean_progress_run_by_their_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    create = importlib.import_module("nanoproof.compat.lean_progress.create_sample_dataset")
    monkeypatch.setattr(sys, "argv", ["create"])
    create.main()
    assert len(Path(compat.SAMPLE_PATH).read_text().splitlines()) == 3
    monkeypatch.setattr(sys, "argv", ["create", "--output", "mine.jsonl"])
    monkeypatch.delitem(sys.modules, create.__name__)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("nanoproof.compat.lean_progress.create_sample_dataset", run_name="__main__")
    assert not ended.value.code and len(Path("mine.jsonl").read_text().splitlines()) == 3
    train = importlib.import_module("nanoproof.compat.lean_progress.train_steps_model")
    monkeypatch.setattr(sys, "argv", ["train", "--dataset", "none.jsonl", "--output-dir", "out"])
    with pytest.raises(UserError, match=r"none\.jsonl"):
        train.main()


@each("name", compat.MODULES)
def test_modules_of_leandojo_have_the_public_names_of_ours(name: str) -> None:
    theirs = importlib.import_module(f"nanoproof.compat.{name}")
    ours = importlib.import_module(f"nanoproof.compat.{compat.MODULES[name]}")
    assert vars(theirs).items() >= {key: value for key, value in vars(ours).items() if key[0].isupper()}.items()
