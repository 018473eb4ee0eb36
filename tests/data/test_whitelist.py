"""Whitelists: hashes, files, filtering, the registry of theorem sets."""

import json
import logging
import subprocess
import sys

import pytest

from nanoproof.common.errors import UserError
from nanoproof.data.rl import leanworkbook
from nanoproof.data.sources.manifest import read_manifest
from nanoproof.data.theorems import theorem_sets as sets
from nanoproof.data.theorems.theorem_sets import is_benchmark, list_theorems, parse_set_names, splits_of
from nanoproof.data.theorems.whitelists import (
    SHIPPED,
    Whitelist,
    data_file,
    filter_theorems,
    load_whitelist,
    theorem_hash,
    whitelist_path,
    write_whitelist,
)
from nanoproof.lean.types import Theorem
from tests.data.installed import install, install_leanworkbook, install_proofnet, workbook_row

VERSION = "v4.27.0"
FILENAME = f"lean_workbook.json.whitelist.{VERSION}.json"


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    monkeypatch.delenv("LEAN_PROJECT_PATH", raising=False)
    return tmp_path


def write(**changes):
    """A whitelist of leanworkbook as it is published, but for some fields."""
    record = {"lean_version": VERSION, "num_checked": 0, "num_passing": 0, "num_failing": 0, "passing": []}
    record |= {"failing": [], **changes}
    install_leanworkbook(workbook_row(f"t{number}") for number in range(503))
    (whitelist_path("leanworkbook", VERSION)).write_text(json.dumps(record))


def keys(split="valid"):
    return [theorem_hash(theorem.source) for theorem in leanworkbook.list_theorems(split)]


# -- hashes and files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [  # printf '...' | sha256sum | cut -c1-16
        ("theorem t : True := by sorry", "5b46eba89d2d19d1"),
        ("theorem t : ∀ x : ℕ, x = x := by\n  sorry", "b2ca880f57d8468c"),
    ],
)
def test_the_hash_is_the_beginning_of_the_sha256_of_the_source_as_utf8(source, expected):
    assert theorem_hash(source) == expected


@pytest.mark.parametrize(
    ("name", "filename"),
    [
        ("leanworkbook", "lean_workbook.json"),
        ("numinamath", "numinamath.parquet"),
        ("deepseek_prover", "deepseek_prover.jsonl"),
        ("nanolean", "nanolean.jsonl"),
    ],
)
def test_whitelists_are_named_after_the_data_file_and_the_version(name, filename):
    assert data_file(name) == filename
    assert whitelist_path(name, VERSION).name == f"{filename}.whitelist.{VERSION}.json"


def test_a_missing_whitelist_names_the_commands_that_bring_it():
    with pytest.raises(UserError) as error:
        load_whitelist("leanworkbook", VERSION)
    assert "python -m nanoproof.data.download leanworkbook, or make it with: " in str(error.value)
    with pytest.raises(UserError) as error:
        load_whitelist("leanworkbook", "v4.28.0")
    command = "check-init leanworkbook --lean-servers HOST:PORT --lean-project DIR"
    assert str(error.value).endswith(f"make it with: python -m nanoproof.data.whitelist {command}")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"passing": None}, "the field 'passing' must be a list of hashes"),
        ({"failing": ["0123456789ABCDEF"]}, "the field 'failing' must be a list of hashes"),
        ({"failing": ["0123"]}, "the field 'failing' must be a list of hashes"),
        ({"lean_version": "v4.26.0"}, r"is for Lean v4\.26\.0, not v4\.27\.0"),
    ],
)
def test_a_file_that_is_no_whitelist_of_the_version_is_one_line(changes, message):
    write(**changes)
    with pytest.raises(UserError, match=message):
        load_whitelist("leanworkbook", VERSION)


def test_what_is_written_is_read_again_and_listed_in_the_manifest():
    directory = install("leanworkbook", lean_workbook__json="[]")
    passing, failing = frozenset(f"{number:016x}" for number in range(5)), frozenset(["f" * 16])
    written = Whitelist(VERSION, passing, failing, directory / FILENAME)
    write_whitelist("leanworkbook", written)
    assert load_whitelist("leanworkbook", VERSION) == written
    record = json.loads(written.path.read_text())
    assert (record["num_checked"], record["num_passing"], record["num_failing"]) == (6, 5, 1)
    manifest = read_manifest("leanworkbook")
    assert manifest is not None and manifest.files[FILENAME].bytes == written.path.stat().st_size
    assert "lean_workbook.json" in manifest.files


# -- filtering ---------------------------------------------------------------------------------------------------


def test_failing_theorems_are_dropped_and_unknown_ones_kept_with_one_warning(tmp_path, caplog):
    theorems = [Theorem(f"theorem t{number} : True := by sorry", "d", f"t{number}") for number in range(6)]
    hashes = [theorem_hash(theorem.source) for theorem in theorems]
    whitelist = Whitelist(VERSION, frozenset(hashes[:2]), frozenset(hashes[2:3]), tmp_path / "w.json")
    with caplog.at_level(logging.WARNING):
        filtered = filter_theorems(theorems, whitelist, "d train")
    assert [theorem.id for theorem in filtered.theorems] == ["t0", "t1", "t3", "t4", "t5"]
    assert (filtered.failing, filtered.unknown) == (1, 3)
    (record,) = caplog.records
    assert (
        record.getMessage()
        == "d train: 3 of 6 theorems were not tried yet by whoever made w.json; they are used like the others"
    )


def test_a_split_is_the_same_but_for_failing_theorems(caplog):
    write()
    train, valid = keys("train"), keys("valid")
    write(passing=[*train, *valid[2:]], failing=valid[:2])
    with caplog.at_level(logging.WARNING):
        assert [theorem_hash(t.source) for t in leanworkbook.list_theorems("valid", VERSION)] == valid[2:]
        assert [theorem_hash(t.source) for t in leanworkbook.list_theorems("train", VERSION)] == train
    assert caplog.records == []
    assert keys("valid") == valid


def test_what_the_prover_cannot_work_with_is_not_unknown_to_a_whitelist(caplog):
    install_leanworkbook([workbook_row("fine"), {"formal_statement": "theorem odd : True := by simp", "proof": ["x"]}])
    whitelist = Whitelist(VERSION, frozenset(keys()), frozenset(), whitelist_path("leanworkbook", VERSION))
    write_whitelist("leanworkbook", whitelist)
    with caplog.at_level(logging.WARNING):
        assert [theorem.id for theorem in leanworkbook.list_theorems("valid", VERSION)] == ["fine"]
    assert caplog.records == []


def test_stats_under_a_version_say_what_fails_and_what_is_unknown(tmp_path, capsys):
    write()
    valid = keys()
    write(passing=valid[3:], failing=valid[:3])
    (tmp_path / "lean-toolchain").write_text(f"leanprover/lean4:{VERSION}\n")
    assert leanworkbook.main(["stats", "--json", "--lean-project", str(tmp_path)]) == 0
    stats = json.loads(capsys.readouterr().out)
    fails = {f"fails under Lean {VERSION}": 3}
    assert stats["splits"]["valid"] == {"theorems": 497, "left_out": fails, "unknown": 0}
    assert stats["splits"]["train"] == {"theorems": 3, "left_out": {}, "unknown": 3}


def test_benchmarks_are_never_filtered():
    fields = {"split": "test", "header": "", "formal_statement": "theorem a : p := by"}
    install_proofnet([{**fields, "name": "a"}])
    assert len(list_theorems("proofnet", "test", "v9.9.9")) == 1
    assert len(list_theorems("nanolean", "valid", "v9.9.9")) == 200


def test_the_embedded_training_set_is_filtered_as_others_are(monkeypatch):
    theorems = [Theorem(f"theorem t{number} : True := by sorry", "nanolean", f"t{number}") for number in range(2)]
    monkeypatch.setattr("nanoproof.data.nanolean.list_theorems", lambda split: theorems)
    with pytest.raises(UserError, match=r"no whitelist of nanolean for Lean v4\.27\.0"):
        list_theorems("nanolean", "train", VERSION)
    path = whitelist_path("nanolean", VERSION)
    hashes = [theorem_hash(theorem.source) for theorem in theorems]
    write_whitelist("nanolean", Whitelist(VERSION, frozenset(hashes[:1]), frozenset(hashes[1:]), path))
    assert list_theorems("nanolean", "train", VERSION) == theorems[:1]
    assert list_theorems("nanolean", "train") == theorems


def test_the_shipped_whitelist_of_the_embedded_set_knows_its_benchmark():
    whitelist = load_whitelist("nanolean", "nanolean")
    assert whitelist.path.parent == SHIPPED and not whitelist.failing
    known = [
        theorem_hash(t.source) in whitelist.passing for s in ("valid", "test") for t in list_theorems("nanolean", s)
    ]
    assert all(known) and len(whitelist.passing) > 1000
    assert whitelist.path.stat().st_size < 100_000


# -- by name -----------------------------------------------------------------------------------------------------


def test_names_may_be_separated_by_spaces_and_commas():
    assert parse_set_names(["numinamath,leanworkbook", "nanolean numinamath"]) == [
        "numinamath",
        "leanworkbook",
        "nanolean",
    ]


@pytest.mark.parametrize("values", [["nemotron"], ["nanolean", "nobody"], [""], []])
def test_unknown_names_are_one_line_that_lists_the_known_ones(values):
    with pytest.raises(UserError, match=r"unknown data set .*; there are: .*leanworkbook.*minif2f.*nanolean"):
        parse_set_names(values)


def test_an_unknown_name_is_no_theorem_set():
    with pytest.raises(UserError, match="unknown data set leantree"):
        list_theorems("leantree", "train")


@pytest.mark.parametrize(
    ("name", "splits", "benchmarks"),
    [
        ("numinamath", ("train", "valid"), []),
        ("minif2f", ("valid", "test"), ["valid", "test"]),
        ("nanolean", ("train", "valid", "test"), ["valid", "test"]),
    ],
)
def test_what_splits_a_set_has_and_which_are_benchmarks(name, splits, benchmarks):
    assert splits_of(name) == splits
    assert [split for split in splits if is_benchmark(name, split)] == benchmarks


def test_the_theorem_sets_of_the_catalog_are_there():
    wanted = {"leanworkbook", "numinamath", "deepseek_prover", "minif2f", "proofnet", "nanolean"}
    assert wanted <= set(sets.DATASETS)


def test_no_set_is_imported_before_it_is_asked_for_and_none_needs_torch():
    code = (
        "import sys, nanoproof.data.theorems.theorem_sets\n"
        "early = [name for name in sys.modules if name.startswith(('nanoproof.data.rl.', 'nanoproof.data.nanolean'))]\n"
        "import nanoproof.data.rl.numinamath, nanoproof.data.bench.minif2f, nanoproof.data.sft.leantree\n"
        "import nanoproof.data.whitelist\n"
        "sys.exit(str(early) if early else 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
