"""LeanDojo's data set and database: written as it is known, read back equal, split so that no theorem moves."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanoproof.common.errors import UserError
from nanoproof.common.files import json_items
from nanoproof.data.transitions.leantree import read_transitions
from nanoproof.repos.database_json import UNKNOWN_PROOF, export_database, import_database
from nanoproof.repos.leandojo import export_stored, import_folder, position, read_corpus
from nanoproof.repos.splits import HoldOut, LeanDojoSplits, StableSplits, random_split, used_premises
from nanoproof.repos.store import Store
from nanoproof.repos.traced_files import Position, TracedTactic, open_places
from tests.helpers import NIGHTLY, main_of
from tests.repos.made_records import chain, file, tactic, theorem, used

repos = main_of("nanoproof.repos")
ALL = [(strategy, split) for strategy in ("random", "novel_premises") for split in ("train", "val", "test")]
PROVED = theorem(
    "Nat.my_le",
    "Basic.lean",
    tactics=[
        tactic("constructor", "⊢ P ∧ Q", "case left\n⊢ P\n\ncase right\n⊢ Q"),
        tactic("exact Nat.le_refl", "case left\n⊢ P", "no goals", "Nat.le_refl"),
        tactic("exact q", "case right\n⊢ Q", "no goals"),
    ],
)
SORRY = theorem("ü.todo", "Basic.lean", 7, [tactic("sorry", "⊢ P", "no goals")], sorries=1)
TERM = theorem("term", "Basic.lean", 12)
FILES = [
    file("Main.lean", [theorem("main", "Main.lean", 3, chain("intro x", "rfl"))], imports=["Basic.lean"]),
    file("Basic.lean", [PROVED, SORRY, TERM]),
]


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "store.sqlite") as made:
        made.add_repository("https://host/owner/first", "c0ffee", lean_version="v4.27.0", date="2026-01-01T00:00:00")
        for each in FILES:
            made.put_file("first", each)
        yield made


def read(folder, strategy, split):
    return json.loads((folder / strategy / f"{split}.json").read_text(encoding="utf-8"))


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def everything(folder, strategy="random"):
    return [each for split in ("train", "val", "test") for each in read(folder, strategy, split)]


# -- shape -----------------------------------------------------------------------------------------------------------


def test_the_folder_has_the_files_and_fields_of_leandojo(store, tmp_path):
    out = tmp_path / "out"
    done = export_stored(store, ["first"], out)
    names = sorted(str(path.relative_to(out)) for path in out.rglob("*.json*"))
    assert names == sorted([*(f"{a}/{b}.json" for a, b in ALL), "corpus.jsonl", "metadata.json", "traced_files.jsonl"])
    (found,) = [each for each in everything(out) if each["full_name"] == "Nat.my_le"]
    assert found == {
        "url": "https://host/owner/first",
        "commit": "c0ffee",
        "file_path": "Basic.lean",
        "full_name": "Nat.my_le",
        "theorem_statement": "theorem Nat.my_le : P",
        "start": [1, 1],
        "end": [2, 9],
        "traced_tactics": [
            {
                "tactic": "constructor",
                "annotated_tactic": ["constructor", []],
                "state_before": "⊢ P ∧ Q",
                "state_after": "case left\n⊢ P\n\ncase right\n⊢ Q",
            },
            {
                "tactic": "exact Nat.le_refl",
                "annotated_tactic": [
                    "exact <a>Nat.le_refl</a>",
                    [{"full_name": "Nat.le_refl", "def_path": "A.lean", "def_pos": [1, 1], "def_end_pos": [1, 20]}],
                ],
                "state_before": "case left\n⊢ P",
                "state_after": "no goals",
            },
            {
                "tactic": "exact q",
                "annotated_tactic": ["exact q", []],
                "state_before": "case right\n⊢ Q",
                "state_after": "no goals",
            },
        ],
    }
    assert {each["full_name"] for each in everything(out, "novel_premises")} == {"Nat.my_le", "ü.todo", "term", "main"}
    corpus = lines(out / "corpus.jsonl")
    assert [each["path"] for each in corpus] == ["Basic.lean", "Main.lean"]
    assert corpus[1] == {
        "path": "Main.lean",
        "imports": ["Basic.lean"],
        "premises": [
            {"full_name": "main", "code": "theorem main : P", "start": [3, 1], "end": [4, 9], "kind": "theorem"}
        ],
    }
    assert {each["traced_file_path"] for each in lines(out / "traced_files.jsonl")} == {"Basic.lean", "Main.lean"}
    metadata = json.loads((out / "metadata.json").read_text())
    assert metadata["from_repo"] == {"url": "https://host/owner/first", "commit": "c0ffee"}
    assert {"creation_time", "leandojo_version"} <= set(metadata)
    counts = {"total_theorems": 4, "num_proven_theorems": 3, "num_sorry_theorems": 1, "num_files_traced": 2}
    assert {key: metadata[key] for key in counts} == counts
    assert (done.files, done.premises) == (2, 4)


def test_tactics_without_goals_or_with_bullets_or_repeated_and_marks_without_a_place_are_left_out(store, tmp_path):
    unknown = TracedTactic(
        *("rw [p, q]", "⊢ P", "⊢ Q", "rw [<a>p</a>, <a>q</a>]"), (used("X.p", line=None), used("X.q", line=4))
    )
    kept = tactic("simp", "⊢ Q", "no goals")
    dropped = [tactic("rfl", "no goals", "no goals"), tactic("· simp", "⊢ P", "no goals", "simp"), kept]
    store.put_file("first", file("Drop.lean", [theorem("drop", "Drop.lean", 1, [unknown, kept, *dropped])]))
    core = ".lake/packages/lean4/src/Init/Core.lean"
    store.put_file("first", file(core, [theorem("Core.x", core)]))
    export_stored(store, ["first"], tmp_path / "out")
    found = {each["full_name"]: each for each in everything(tmp_path / "out")}
    assert [each["tactic"] for each in found["drop"]["traced_tactics"]] == ["rw [p, q]", "simp"]
    text, premises = found["drop"]["traced_tactics"][0]["annotated_tactic"]
    assert (text, [each["full_name"] for each in premises]) == ("rw [p, <a>q</a>]", ["X.q"])
    assert "Core.x" not in found


def test_the_corpus_is_in_the_order_of_imports_whatever_came_first(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        store.add_repository("x", name="x")
        graph = {"d": ["b", "c", "Elsewhere"], "b": ["a"], "c": ["a", "b"], "a": []}
        for name, imports in graph.items():
            store.put_file("x", file(name, imports=imports))
        export_stored(store, ["x"], tmp_path / "out")
        corpus = lines(tmp_path / "out" / "corpus.jsonl")
        assert [each["path"] for each in corpus] == ["a", "b", "c", "d"] and corpus[-1]["imports"] == ["b", "c"]
        store.put_file("x", file("a", imports=["d"]))
        with pytest.raises(UserError, match=r"in a circle: .* <- "):
            export_stored(store, ["x"], tmp_path / "out")
    assert lines(tmp_path / "out" / "corpus.jsonl") == corpus  # the earlier export is still there
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "s.sqlite"]


def test_an_export_replaces_an_earlier_one_and_nothing_else(store, tmp_path):
    out = tmp_path / "out"
    export_stored(store, ["first"], out)
    store.put_file("first", file("Main.lean"))
    export_stored(store, ["first"], out)
    assert len(everything(out)) == 3
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("x")
    with pytest.raises(UserError, match="other files in it"):
        export_stored(store, ["first"], mine)
    with pytest.raises(UserError, match="a file of that name"):
        export_stored(store, ["first"], mine / "thesis.tex")
    assert (mine / "thesis.tex").read_text() == "x"


# -- reading back ----------------------------------------------------------------------------------------------------


def as_imported(files):
    """What an export and an import leave of the records."""
    for each in files:
        theorems = []
        for t in each.theorems:
            names = tuple(dict.fromkeys(premise.full_name for step in t.tactics for premise in step.premises))
            theorems.append(replace(t, premises=names, sorries=open_places(t)))
        yield replace(each, theorems=tuple(theorems))


def test_an_export_is_read_back_equal(store, tmp_path):
    store.put_file("first", file("Bad.lean", error="it is not among the traced files"))
    export_stored(store, ["first"], tmp_path / "out")
    with Store(tmp_path / "again.sqlite") as again:
        (repository,) = import_folder(again, tmp_path / "out")
        assert replace(repository, source=None) == store.repository("first")
        by_path = {each.path: each for each in again.files(repository)}
        assert by_path == {each.path: each for each in as_imported(store.files("first"))}
        assert again.counts(repository) == store.counts("first")
        export_stored(again, [repository.name], tmp_path / "twice")
        for strategy, split in ALL:
            first, second = (read(tmp_path / name, strategy, split) for name in ("out", "twice"))
            assert sorted(first, key=str) == sorted(second, key=str)
        before = list(again.theorems())
        import_folder(again, tmp_path / "out")
        assert list(again.theorems()) == before


def test_the_older_benchmark_is_read_without_tracing(tmp_path):
    folder = tmp_path / "leandojo_benchmark_4"
    (folder / "random").mkdir(parents=True)
    old = {
        "url": "https://github.com/leanprover-community/mathlib4",
        "commit": "29dcec07",
        "file_path": "Mathlib/Order/X.lean",
        "full_name": "X.y",
        "start": [10, 1],
        "end": [12, 3],
        "traced_tactics": [
            {
                "tactic": "rw [a_b]",
                "annotated_tactic": [
                    "rw [<a>a_b</a>]",
                    [{"full_name": "A.a_b", "def_path": "M.lean", "def_pos": [4, 9]}],
                ],
                "state_before": "⊢ P",
                "state_after": "no goals",
            }
        ],
    }
    (folder / "random" / "train.json").write_text(json.dumps([old]))
    for split in ("val", "test"):
        other = {**old, "full_name": split, "traced_tactics": []}
        (folder / "random" / f"{split}.json").write_text(json.dumps([other], indent=2))
    premise = {"full_name": "A.a_b", "code": "theorem a_b : P", "start": [4, 1], "end": [5, 2], "kind": "lemma"}
    nameless = {**premise, "full_name": None}
    corpus = {"path": "M.lean", "imports": [], "premises": [premise, nameless]}
    (folder / "corpus.jsonl").write_text(json.dumps(corpus) + "\n")
    origin = {"url": old["url"], "commit": old["commit"]}
    metadata = {"creation_time": "2023-06-05 12:00:00", "from_repo": origin, "leandojo_version": "1.1.0"}
    (folder / "metadata.json").write_text(json.dumps(metadata))
    with Store(tmp_path / "s.sqlite") as store:
        (repository,) = import_folder(store, folder)
        assert (repository.name, repository.tool, repository.date) == (
            "mathlib4",
            "LeanDojo 1.1.0",
            "2023-06-05 12:00:00",
        )
        (found,) = store.find_theorems("mathlib4", "X.y")
        (step,) = found.theorem.tactics
        assert (step.premises[0].start, step.premises[0].end, found.theorem.statement) == (Position(4, 9), None, "")
        assert store.counts("mathlib4") | {"files": 2, "theorems": 3, "premises": 1, "failed": 0} == store.counts(
            "mathlib4"
        )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{}", "train.json is not a list of JSON near '{}'"),
        ('[{"full_name": "a"', "ends too early"),
        ("[1]", "theorem 0: expected an object, got 1"),
        ('[{"full_name": "a", "traced_tactics": [{"tactic": "\\ud83d"}]}]', r"tactics\[0\]\.tactic: .* lone surrogate"),
        ('[{"full_name": "a", "file_path": "A", "start": [1]}]', r"theorem 0: start: expected a place .* got \[1\]"),
        ('[{"full_name": 3}]', "full_name: expected a text, got 3"),
    ],
)
def test_damaged_data_is_refused_with_its_place_and_leaves_the_store_as_it_was(tmp_path, text, complaint):
    (tmp_path / "train.json").write_text(text)
    (tmp_path / "metadata.json").write_text('{"from_repo": {"url": "x", "commit": "y"}}')
    with Store(tmp_path / "s.sqlite") as store:
        with pytest.raises(UserError, match=complaint):
            import_folder(store, tmp_path)
        assert store.repositories() == []


@pytest.mark.nightly
@given(
    items=st.lists(st.recursive(st.integers() | st.text('a[]{},\\" ü\n'), st.lists)), indent=st.sampled_from([None, 1])
)
@settings(max_examples=25 * NIGHTLY)
def test_lists_are_read_item_by_item_whatever_the_pieces(tmp_path_factory, items, indent):
    path = tmp_path_factory.getbasetemp() / "items.json"
    path.write_text(json.dumps(items, indent=indent), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nanoproof.common.files._CHUNK", 3)
        assert list(json_items(path)) == items
    path.write_text("[1 2]")
    with pytest.raises(UserError, match=r"near '2\]'"):
        list(json_items(path))


@pytest.mark.parametrize("text", ["(3, 14)", "Pos(3, 14)", "Pos(line_nb=3, column_nb=14)", [3, 14]])
def test_positions_are_read_in_every_form(text):
    assert position({"start": text}, "start") == Position(3, 14)


# -- splits ----------------------------------------------------------------------------------------------------------


def many(count, name="t", premises=40):
    """Theorems that use one to three of some premises, the first ones often."""
    found = []
    for i in range(count):
        names = {f"p{(i * i * (k + 7) + k) % premises * (i % 5) // 4}" for k in range(i % 4)}
        found.append(
            theorem(f"{name}{i}", tactics=[tactic(" ".join(sorted(names)), "⊢ P", "no goals", *sorted(names))])
        )
    return found


def novel(theorems, splits):
    """Whether each theorem for val or test uses a premise that none for training does."""
    assigned = [(splits.assign(each)[1], used_premises(each)) for each in theorems]
    trained = {name for split, names in assigned if split == "train" for name in names}
    return all(names - trained for split, names in assigned if split != "train")


def test_random_splits_are_20_20_60_and_go_by_the_name_alone():
    counts = {"train": 0, "val": 0, "test": 0}
    for i in range(5000):
        counts[random_split(theorem(f"Some.theorem_{i}"))] += 1
    assert counts == {"train": 2987, "val": 1041, "test": 972}
    moved = theorem("Some.theorem_1", "Elsewhere.lean", 99, chain("simp"), statement="theorem x : Q")
    assert random_split(moved) == random_split(theorem("Some.theorem_1")) == "test"
    nameless = {random_split(theorem("example", statement=f"example : {i} = {i}")) for i in range(20)}
    assert nameless == {"train", "val", "test"}


def test_held_out_premises_take_two_fifths_of_the_theorems_out_of_training():
    theorems = many(500)
    splits = StableSplits(HoldOut.choose(theorems))
    found = [splits.assign(each)[1] for each in theorems]
    assert abs(found.count("train") - 300) < 15 and abs(found.count("val") - 100) < 25
    assert novel(theorems, splits)
    assert HoldOut.choose([theorem("a"), theorem("b", tactics=chain("simp"))]) is None
    held = splits.hold_out
    assert HoldOut.parse(str(held)) == held
    for text in ("8:0.1", "0:2", "x", "0:nan"):
        with pytest.raises(UserError, match="HASH:THRESHOLD"):
            HoldOut.parse(text)


@given(
    uses=st.lists(st.sets(st.integers(0, 25), max_size=5), max_size=40),
    later=st.lists(st.sets(st.integers(0, 40), max_size=5), max_size=40),
)
@settings(max_examples=50 * NIGHTLY)
def test_both_drawings_have_the_novel_premise_property_and_ours_keeps_it_when_theorems_come_in(uses, later):
    def made(sets, name):
        texts = [[f"p{n}" for n in sorted(each)] for each in sets]
        return [
            theorem(f"{name}{i}", tactics=[tactic(" ".join(t), "⊢ P", "no goals", *t)]) for i, t in enumerate(texts)
        ]

    first, second = made(uses, "a"), made(later, "b")
    drawn = LeanDojoSplits(first)
    ours = StableSplits(HoldOut.choose(first))
    assert novel(first, drawn) and novel(first, ours) and novel(first + second, ours)
    for number in (0, 1):
        found = [drawn.assign(each)[number] for each in first]
        fifth = int(len(first) * 0.2)
        if number == 0 or len(first) - found.count("train") >= 2 * fifth:
            assert found.count("val") == fifth
            assert number == 1 or found.count("test") == fifth


def test_leandojos_drawing_takes_the_rarest_premises_first_and_stops_when_there_are_enough():
    common = [theorem(f"c{i}", tactics=[tactic("common", "⊢ P", "no goals", "common")]) for i in range(7)]
    rare = [theorem(f"r{i}", tactics=[tactic(f"rare{i}", "⊢ P", "no goals", f"rare{i}")]) for i in range(3)]
    splits = LeanDojoSplits([*common, *rare])
    assert [splits.assign(each)[1] for each in rare].count("train") == 0
    # three rare ones are less than int(0.2 * 10) twice, so that the common premise goes too, into test
    assert [splits.assign(each)[1] for each in common] != ["train"] * 7
    more = LeanDojoSplits([*common, *rare, theorem("r3", tactics=[tactic("rare3", "⊢ P", "no goals", "rare3")])])
    assert [more.assign(each)[1] for each in common] == ["train"] * 7
    again = LeanDojoSplits([*common, *rare])
    assert [again.assign(each) for each in [*common, *rare]] == [splits.assign(each) for each in [*common, *rare]]


def assignments(folder):
    return {(strategy, each["full_name"]): split for strategy, split in ALL for each in read(folder, strategy, split)}


def test_adding_a_repository_moves_no_theorem_between_splits(tmp_path, capsys):
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        store.add_repository("one", name="one")
        store.put_file("one", file("A.lean", many(60, "a")))
        export_stored(store, ["one"], tmp_path / "first")
        store.add_repository("two", name="two")
        store.put_file("two", file("B.lean", [replace(t, path="B.lean") for t in many(200, "b", 90)]))
    assert repos(["export", "one", "two", "--out", str(tmp_path / "both"), "--store", str(path)]) == 0
    before, after = assignments(tmp_path / "first"), assignments(tmp_path / "both")
    assert len(after) == 520 and before.items() <= after.items()
    assert "260" not in capsys.readouterr().out.splitlines()[0]
    repos(["export", "one", "two", "--out", str(tmp_path / "theirs"), "--splits", "leandojo", "--store", str(path)])
    assert capsys.readouterr().out.splitlines()[0] == "random: 156 train, 52 val, 52 test"
    theirs = assignments(tmp_path / "theirs")
    assert any(theirs[key] != split for key, split in before.items())


def test_of_several_repositories_the_newest_theorem_and_the_first_corpus_file_count(store, tmp_path):
    store.add_repository("https://host/owner/second", "beef", date="2026-03-01T00:00:00+00:00")
    store.put_file(
        "second", replace(FILES[1], imports=("Main.lean",), theorems=(TERM, replace(SORRY, statement="new")))
    )
    out = tmp_path / "out"
    export_stored(store, ["first", "second"], out)
    found = {each["full_name"]: each["commit"] for each in everything(out)}
    assert found == {"term": "beef", "ü.todo": "beef", "Nat.my_le": "c0ffee", "main": "c0ffee"}
    assert {each["path"]: each["imports"] for each in lines(out / "corpus.jsonl")}["Basic.lean"] == []
    metadata = json.loads((out / "metadata.json").read_text())
    assert [each["name"] for each in metadata["repositories"]] == ["first", "second"]
    assert metadata["total_theorems"] == 6 and "from_repo" not in metadata


# -- other formats ---------------------------------------------------------------------------------------------------


def test_the_database_file_is_read_back_equal_with_its_counters_and_proofs(store, tmp_path):
    (stored,) = store.theorems("first", "sorry")
    store.record_proof(stored.id, "by simp", "repos prove", when="2026-05-05T00:00:00+00:00")
    assert repos(["export", "first", "--format", "database", "--out", str(tmp_path), "--store", str(store.path)]) == 0
    path = tmp_path / "dynamic_database.json"
    (value,) = json.loads(path.read_text())["repositories"]
    assert list(value) == [
        *("url", "name", "commit", "lean_version", "lean_dojo_version", "metadata", "total_theorems"),
        *("num_proven_theorems", "num_sorry_theorems", "num_sorry_theorems_proved", "num_sorry_theorems_unproved"),
        *("num_premise_files", "num_premises", "num_files_traced", "proven_theorems", "sorry_theorems_proved"),
        *("sorry_theorems_unproved", "premise_files", "files_traced", "pr_url"),
    ]
    counts = [value[name] for name in list(value)[6:14]]
    assert counts == [4, 3, 1, 1, 0, 2, 4, 2] and value["name"] == "owner/first"
    (ours,) = value["sorry_theorems_proved"]
    assert (ours["start"], ours["proof"], ours["difficulty_rating"]) == ("(7, 1)", "by simp", float("inf"))
    with Store(tmp_path / "again.sqlite") as again:
        (repository,) = import_database(again, path)
        assert repository == store.repository("first")
        assert {f.path: f for f in again.files("first")} == {f.path: f for f in as_imported(store.files("first"))}
        (found,) = again.theorems("first", "sorry_proved")
        assert (found.proof, found.how, found.time) == ("by simp", "repos prove", "2026-05-05T00:00:00+00:00")
        for name in ("proof", "proof_found_by", "proof_time"):
            del ours[name]
        path.write_text(json.dumps({"repositories": [value]}))
        again.remove_repository("first")
        import_database(again, path)
        assert [each.how for each in again.theorems("first", "sorry_proved")] == [UNKNOWN_PROOF]
        export_database(again, ["first"], tmp_path / "second.json")
        assert json.loads((tmp_path / "second.json").read_text())["repositories"][0]["sorry_theorems_proved"] == [ours]
        path.write_text(json.dumps({"repositories": [value, {"url": "x"}]}))
        with pytest.raises(UserError, match="repository 1: metadata"):
            import_database(again, path)


def test_an_imported_repository_is_exported_as_trees_to_learn_from(store, tmp_path, capsys):
    torn = theorem(
        "torn", "Torn.lean", tactics=[tactic("split", "⊢ P", "⊢ Q\n\n⊢ R"), tactic("rfl", "⊢ Q", "no goals")]
    )
    store.put_file("first", file("Torn.lean", [torn]))
    command = ["export", "first", "--format", "leantree", "--out", str(tmp_path), "--store", str(store.path)]
    assert repos(command) == 0
    assert "3 files in" in (said := capsys.readouterr().out) and "1 proofs are no tree" in said
    steps = [(each.state, each.tactic, each.depth) for each in read_transitions(tmp_path / "leantree.jsonl")]
    assert steps == [
        ("n : Nat\n⊢ P 0 n", "intro x", 2),
        ("n : Nat\n⊢ P 1 n", "rfl", 1),
        ("⊢ P ∧ Q", "constructor", 2),
        ("case left\n⊢ P", "exact Nat.le_refl", 1),
        ("case right\n⊢ Q", "exact q", 1),
    ]
    traced = store.path.parent / "first" / "trace" / "leantree.jsonl"
    traced.parent.mkdir(parents=True)
    traced.write_text('{"path": "T.lean", "imports": [], "theorems": []}\n')
    assert repos(command) == 0
    assert (tmp_path / "leantree.jsonl").read_text() == traced.read_text()


def test_the_import_command_takes_folders_and_databases_and_refuses_the_rest(store, tmp_path, empty_home, capsys):
    export_stored(store, ["first"], tmp_path / "set")
    export_database(store, ["first"], tmp_path / "db" / "dynamic_database.json")
    for place, name in ((tmp_path / "set", "a"), (tmp_path / "db", "b")):
        assert repos(["import", str(place), "--name", name, "--store", str(tmp_path / f"{name}.sqlite")]) == 0
        assert capsys.readouterr().out == f"{name}: 2 files, 4 premises, 4 theorems, 1 open and 0 proved by us\n"
    with pytest.raises(UserError, match=r"holds neither random/train\.json nor dynamic_database\.json"):
        repos(["import", str(empty_home)])
    with pytest.raises(UserError, match="no such file or folder"):
        repos(["import", str(tmp_path / "nothing")])
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(UserError, match=r"is no dynamic_database\.json"):
        repos(["import", str(tmp_path / "x.json")])


def test_the_last_file_of_a_corpus_counts_also_without_a_line_feed_behind_it(tmp_path) -> None:
    lines = [json.dumps({"path": name, "imports": [], "premises": []}) for name in ("A.lean", "B.lean")]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    assert [source.path for source in read_corpus(tmp_path / "corpus.jsonl")] == ["A.lean", "B.lean"]
