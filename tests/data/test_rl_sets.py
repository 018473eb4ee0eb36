"""Theorem sets for reinforcement learning, from small files of the real shapes."""

import json
import random
import re

import pytest

from nanolean.tests.each import each
from nanoproof.common.errors import UserError
from nanoproof.data.rl import deepseek_prover, leanworkbook, numinamath
from nanoproof.lean.source import parse_declaration
from tests.data.installed import install, install_deepseek, install_leanworkbook, install_numinamath, workbook_row

SETS = {"leanworkbook": leanworkbook, "numinamath": numinamath, "deepseek_prover": deepseek_prover}


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    monkeypatch.delenv("LEAN_PROJECT_PATH", raising=False)
    return tmp_path


def sources(module, split="valid"):
    """Sources by id; small sets are all validation."""
    return {theorem.id: theorem.source for theorem in module.list_theorems(split)}


def left_out(module):
    return module.SET.stats()["left_out"]


# -- leanworkbook ------------------------------------------------------------------------------------------------


def test_leanworkbook_keeps_the_statement_as_it_is_behind_the_four_namespaces():
    install_leanworkbook([workbook_row("lean_workbook_7", "∀ x : ℝ, x = x")])
    assert sources(leanworkbook) == {
        "lean_workbook_7": "open BigOperators\nopen Nat\nopen Real\nopen Rat\n\n"
        "theorem lean_workbook_7 : ∀ x : ℝ, x = x  :=  by sorry"
    }


@pytest.mark.parametrize("proof", [[], "", None])
def test_leanworkbook_leaves_out_what_has_no_proof(proof):
    install_leanworkbook([workbook_row("a", proof=proof), workbook_row("b", proof="simp")])
    assert list(sources(leanworkbook)) == ["b"]
    assert left_out(leanworkbook) == {"no proof": 1}


def test_leanworkbook_keeps_the_first_of_one_name():
    install_leanworkbook([workbook_row("a", "1 = 1"), workbook_row("b"), workbook_row("a", "2 = 2")])
    assert "1 = 1" in sources(leanworkbook)["a"] and len(sources(leanworkbook)) == 2
    assert left_out(leanworkbook) == {"duplicate id": 1}


def test_leanworkbook_leaves_out_what_has_no_name():
    install_leanworkbook([workbook_row("a"), {"formal_statement": "example : True := by sorry", "proof": ["x"]}])
    assert list(sources(leanworkbook)) == ["a"] and left_out(leanworkbook) == {"no theorem name": 1}


@each(
    ("text", "message"),
    [
        ('[{"proof": "x"}]', r"lean_workbook\.json, row 1: the field 'formal_statement' must be a text, it is missing"),
        ('[{"formal_statement": 3, "proof": ""}]', "row 1: the field 'formal_statement' must be a text, got a number"),
        ('[{"formal_statement": "theorem a : b"}]', "row 1: the field 'proof' is missing"),
        ('[{"formal_statement": "theorem a : b", "proof": 3}]', "row 1: the field 'proof' must be a text or a list"),
        ('[{"formal_statement": "theorem a : b", "proof": ""}, 5]', "row 2: expected an object, got a number"),
        ('{"formal_statement": ""}', "must hold a list of objects, got an object"),
        ('[{"formal_statement": ', "is not valid JSON"),
    ],
)
def test_leanworkbook_in_another_shape_is_refused_with_row_and_field(text, message):
    install("leanworkbook", lean_workbook__json=text)
    with pytest.raises(UserError, match=message):
        leanworkbook.list_theorems("train")


# -- numinamath --------------------------------------------------------------------------------------------------


def numina(*statements, uuids=None):
    uuids = uuids or [f"u{number}" for number in range(len(statements))]
    install_numinamath({"uuid": uuids, "problem": ["?"] * len(uuids), "formal_statement": list(statements)})
    return sources(numinamath)


@each(
    ("statement", "source"),
    [
        ("theorem a : p := by", "theorem a : p := by sorry"),
        ("theorem a : p :=", "theorem a : p := by sorry"),
        ("\n  theorem a : p := by \n\n", "theorem a : p := by sorry"),
        ("import Mathlib\nimport Aesop\n\nopen Real\n\ntheorem a : p := by", "open Real\n\ntheorem a : p := by sorry"),
        ("set_option maxHeartbeats 0 in\n#check Nat\ntheorem a : p :=", "theorem a : p := by sorry"),
        (
            "/- see import x -/\ntheorem a\n    : p := by\n#check a\n",
            "/- see import x -/\ntheorem a\n    : p := by sorry",
        ),
        ("theorem a (imported : p) :\n important := by", "theorem a (imported : p) :\n important := by sorry"),
        ("theorem a : p :=by", "theorem a : p :=by sorry"),
        ("theorem a : p :=\n  by", "theorem a : p :=\n  by sorry"),
        ("theorem a : p :=  by \n", "theorem a : p :=  by sorry"),
        ("open Nat\n  set_option maxHeartbeats 0 in\ntheorem a : p := by", "open Nat\ntheorem a : p := by sorry"),
        ("  import A\n\t#check A\ntheorem a : p := by", "theorem a : p := by sorry"),
        ("module\n\npublic import A import B\n\ntheorem a : p := by", "theorem a : p := by sorry"),
    ],
)
def test_numinamath_statements_lose_imports_options_and_checks_and_get_a_sorry(statement, source):
    assert numina(statement) == {"u0": source}


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("theorem a : p := by\n  simp", "does not end in := by or :="),
        ("theorem a : p := by sorry", "does not end in := by or :="),
        ("theorem a : p :=nearby", "does not end in := by or :="),
        ("lemma b : q := by sorry\ntheorem a : p := by", "another sorry"),
    ],
)
def test_numinamath_statements_of_another_form_are_left_out_and_counted(statement, reason):
    assert list(numina("theorem fine : p := by", statement)) == ["u0"]
    assert left_out(numinamath) == {reason: 1}


def test_numinamath_keeps_the_first_of_one_uuid():
    found = numina("theorem a : p := by", "theorem b : p := by", "theorem c : p := by", uuids=["x", "y", "x"])
    assert found == {"x": "theorem a : p := by sorry", "y": "theorem b : p := by sorry"}
    assert left_out(numinamath) == {"duplicate id": 1} and numinamath.SET.stats()["rows"] == 3


def test_a_uuid_of_numinamath_whose_first_row_is_left_out_does_not_come_back():
    assert numina("theorem a : p", "theorem b : p := by", "theorem c : p := by", uuids=["x", "y", "x"]) == {
        "y": "theorem b : p := by sorry"
    }
    assert left_out(numinamath) == {"does not end in := by or :=": 1, "duplicate id": 1}


def test_numinamath_without_a_column_is_refused_by_its_name():
    install_numinamath({"uuid": ["x"], "statement": ["theorem a : p := by"]})
    with pytest.raises(UserError, match=r"numinamath\.parquet has no column formal_statement; it has: uuid, statement"):
        numinamath.list_theorems("train")


def test_a_field_of_numinamath_without_a_text_is_refused_with_its_row():
    install_numinamath({"uuid": ["x", "y"], "formal_statement": ["theorem a : p := by", None]})
    with pytest.raises(UserError, match=r"parquet, row 2: the field 'formal_statement' must be a text, got nothing"):
        numinamath.list_theorems("train")


def test_a_damaged_parquet_file_is_one_line():
    install("numinamath", numinamath__parquet=b"PAR1 and then nothing")
    with pytest.raises(UserError, match=r"numinamath\.parquet is not a whole parquet file"):
        numinamath.list_theorems("train")


def test_a_parquet_file_that_is_damaged_inside_is_one_line():
    directory = install_numinamath({"uuid": [f"{n}" * 99 for n in range(999)], "formal_statement": ["t := by"] * 999})
    content = bytearray((directory / "numinamath.parquet").read_bytes())
    content[4:1500] = bytes(1496)
    install("numinamath", numinamath__parquet=bytes(content))
    with pytest.raises(UserError, match=r"numinamath\.parquet is not a whole parquet file"):
        numinamath.list_theorems("train")


# -- deepseek_prover ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "end"),
    [
        ("theorem thm_0 : p := by", "theorem thm_0 : p := by sorry"),
        ("\ntheorem thm_0 : p :=\n", "theorem thm_0 : p := by sorry"),
    ],
)
def test_deepseek_prover_statements_are_stripped_and_get_a_sorry_behind_one_line_of_namespaces(statement, end):
    install_deepseek([{"name": "thm_0", "formal_statement": statement, "formal_proof": "x", "goal": "⊢ p"}])
    assert sources(deepseek_prover) == {"thm_0": "open BigOperators Real Nat Topology Rat\n\n" + end}


def test_the_last_row_of_deepseek_prover_counts_without_a_line_end():
    install_deepseek({"name": f"t{n}", "formal_statement": f"theorem t{n} : p := by"} for n in range(3))
    assert sorted(sources(deepseek_prover)) == ["t0", "t1", "t2"]


def test_deepseek_prover_in_another_shape_is_refused_with_line_and_field():
    install(
        "deepseek_prover", deepseek_prover__jsonl='{"name": "a", "formal_statement": "theorem a : p := by"}\n{"name"'
    )
    with pytest.raises(UserError, match=r"deepseek_prover\.jsonl, line 2: not valid JSON"):
        deepseek_prover.list_theorems("train")
    install_deepseek([{"name": None, "formal_statement": "theorem a : p := by"}])
    with pytest.raises(UserError, match=r"line 1: the field 'name' must be a text, got nothing"):
        deepseek_prover.list_theorems("train")


# -- all of them -------------------------------------------------------------------------------------------------


def install_all(count):
    names = [f"t{number}" for number in range(count)]
    install_leanworkbook(workbook_row(name, f"{number} = {number}") for number, name in enumerate(names))
    install_deepseek({"name": name, "formal_statement": f"theorem {name} : p := by"} for name in names)
    install_numinamath({"uuid": names, "formal_statement": [f"theorem {name} : p := by" for name in names]})
    return names


@pytest.mark.parametrize("name", SETS)
def test_a_fixed_shuffle_decides_the_split_whose_last_five_hundred_are_validation(name):
    names = install_all(512)
    random.Random(0).shuffle(names)
    module = SETS[name]
    train, valid = module.list_theorems("train"), module.list_theorems("valid")
    assert [theorem.id for theorem in train] == names[:12]
    assert [theorem.id for theorem in valid] == names[12:]
    assert {theorem.dataset for theorem in train} == {name}
    for theorem in (*train, *valid):
        assert parse_declaration(theorem.source).name == theorem.id and theorem.source.count("sorry") == 1


def test_what_the_prover_cannot_work_with_is_left_out_after_the_split():
    rows = [workbook_row(f"t{number}") for number in range(510)]
    for row in rows[::2]:
        row["formal_statement"] = row["formal_statement"].replace("sorry", "simp")
    install_leanworkbook(rows)
    stats = leanworkbook.SET.stats()
    assert (stats["rows"], stats["left_out"]) == (510, {})
    reason = "a theorem's source needs exactly one sorry, got 0"
    train, valid = stats["splits"]["train"], stats["splits"]["valid"]
    assert train["theorems"] + train["left_out"][reason] == 10
    assert valid["theorems"] + valid["left_out"][reason] == 500
    assert valid["left_out"][reason] + train["left_out"][reason] == 255
    assert len(leanworkbook.list_theorems("valid")) == valid["theorems"]


@pytest.mark.parametrize("name", SETS)
def test_a_data_set_that_is_not_there_names_the_command_that_fetches_it(name):
    with pytest.raises(UserError, match=f"python -m nanoproof.data.download {name}"):
        SETS[name].list_theorems("train")


@pytest.mark.parametrize("name", SETS)
def test_an_unknown_split_is_one_line(name):
    with pytest.raises(UserError, match=f"{name} has no split 'test'; there are: train, valid"):
        SETS[name].list_theorems("test")


# -- commands ----------------------------------------------------------------------------------------------------


def test_stats_prints_what_was_left_out_and_the_sizes_of_the_splits(capsys):
    install_leanworkbook([*(workbook_row(f"t{number}") for number in range(503)), workbook_row("no", proof=[])])
    assert leanworkbook.main(["stats"]) == 0
    lines = [re.split(r"\s{2,}", line.strip()) for line in capsys.readouterr().out.splitlines()]
    assert lines == [["leanworkbook"], ["rows", "504"], ["left out", "1", "no proof"], ["train", "3"], ["valid", "500"]]
    assert leanworkbook.main(["stats", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["splits"]["train"]["theorems"] == 3


def test_show_prints_so_many_theorems_of_a_split(capsys):
    install_all(502)
    assert deepseek_prover.main(["show", "--split", "valid", "--max", "2", "--json"]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    expected = deepseek_prover.list_theorems("valid")[:2]
    assert [(record["id"], record["source"]) for record in records] == [(t.id, t.source) for t in expected]
    assert deepseek_prover.main(["show"]) == 0
    assert capsys.readouterr().out.count("theorem t") == 2


def test_show_finds_an_id_in_whichever_split_and_says_if_there_is_none(capsys):
    install_all(502)
    chosen = leanworkbook.list_theorems("valid")[5]
    assert leanworkbook.main(["show", "--id", chosen.id]) == 0
    assert capsys.readouterr().out == f"-- leanworkbook valid: {chosen.id}\n{chosen.source}\n"
    with pytest.raises(UserError, match="--id nobody: no such theorem in leanworkbook train, valid"):
        leanworkbook.main(["show", "--id", "nobody"])
