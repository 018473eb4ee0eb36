"""Benchmarks and LeanTree, from small files of the real shapes."""

import json

import pytest

from nanolean.tests.each import each
from nanoproof.common.errors import UserError
from nanoproof.data.bench import minif2f, proofnet, putnambench
from nanoproof.data.sft import leantree
from nanoproof.data.theorems.theorem_sets import list_theorems, splits_of
from nanoproof.lean.source import parse_declaration
from nanoproof.lean.types import Transition
from nanoproof.training.named_data import load_transitions
from tests.data.installed import install, install_proofnet, install_putnambench
from tests.data.shapes import PUTNAM
from tests.training.small import write_leantree

HEAD = """/-
Copyright. This is no theorem of ours:
theorem in_a_comment : False := by
  sorry
-/
import Mathlib
import FormalConjectures.Util.Answer

open scoped Real Nat

"""
VALID = (
    HEAD
    + """/-- What is the answer? Show that it is 65. -/
theorem mathd_algebra_478 (b h v : ℝ) (h₀ : 0 < b ∧ 0 < h)
    (h₁ : v = 1 / 3 * (b * h)) :
    v = 65 := by
  sorry

-- a remark
theorem numbertheory_4x3m7y3neq2003 (x y : ℤ) : 4 * x ^ 3 - 7 * y ^ 3 ≠ 2003 := by
  sorry

end MiniF2F
"""
)
TEST = (
    HEAD
    + """theorem mathd_numbertheory_66 : 194 % 11 = 7 := by
  norm_num

theorem mathd_algebra_302 : (Complex.I / 2)^2 = -(1 / 4) := by
  ring_nf
  -- the square of I
  simp

/-- The last one. -/
@[category test]
theorem last {x : ℕ} (f : ℕ → ℕ := fun x => x) : f x = x := by
  sorry
"""
)
OPENED = "open scoped Real\nopen scoped Nat\nopen scoped Topology\nopen scoped Polynomial\n\n"


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    return tmp_path


def install_minif2f(valid=VALID, test=TEST):
    return install("minif2f", Valid__lean=valid, Test__lean=test)


# -- minif2f -----------------------------------------------------------------------------------------------------


def test_minif2f_theorems_are_as_in_the_file_behind_the_four_scopes():
    install_minif2f()
    first, second = minif2f.list_theorems("valid")
    assert (first.dataset, first.id, second.id) == ("minif2f", "mathd_algebra_478", "numbertheory_4x3m7y3neq2003")
    assert first.source == OPENED + (
        "theorem mathd_algebra_478 (b h v : ℝ) (h₀ : 0 < b ∧ 0 < h)\n"
        "    (h₁ : v = 1 / 3 * (b * h)) :\n    v = 65 := by\n  sorry"
    )
    assert second.source.endswith("4 * x ^ 3 - 7 * y ^ 3 ≠ 2003 := by\n  sorry")


def test_minif2f_proofs_that_are_shipped_become_sorry():
    install_minif2f()
    sources = {theorem.id: theorem.source for theorem in minif2f.list_theorems("test")}
    assert list(sources) == ["mathd_numbertheory_66", "mathd_algebra_302", "last"]
    assert sources["mathd_numbertheory_66"] == OPENED + ("theorem mathd_numbertheory_66 : 194 % 11 = 7 := by\n  sorry")
    assert sources["mathd_algebra_302"] == OPENED + (
        "theorem mathd_algebra_302 : (Complex.I / 2)^2 = -(1 / 4) := by\n  sorry"
    )
    assert sources["last"].endswith("\ntheorem last {x : ℕ} (f : ℕ → ℕ := fun x => x) : f x = x := by\n  sorry")


def test_a_name_that_occurs_twice_in_minif2f_is_refused_with_file_and_line():
    install_minif2f(test=TEST + "\ntheorem mathd_algebra_478 : True := by\n  sorry\n")
    with pytest.raises(UserError, match=r"Test\.lean, line 24, theorem mathd_algebra_478: the name occurs twice"):
        minif2f.list_theorems("valid")


def test_a_statement_of_minif2f_that_cannot_be_worked_with_is_refused_with_its_place():
    install_minif2f(valid="theorem broken : sorry = 3 := by\n  sorry\n")
    with pytest.raises(UserError, match=r"Valid\.lean, line 1, theorem broken: .*exactly one sorry, got 2"):
        minif2f.list_theorems("valid")


def test_benchmarks_have_no_train_split():
    install_minif2f()
    with pytest.raises(UserError, match="minif2f has no split 'train'; there are: valid, test"):
        minif2f.list_theorems("train")


# -- putnambench -------------------------------------------------------------------------------------------------


def test_putnambench_has_each_file_without_imports_and_with_its_answer():
    install_putnambench(PUTNAM)
    found = {theorem.id: theorem.source for theorem in putnambench.list_theorems("valid")}
    assert list(found) == ["putnam_2098_a3", "putnam_2099_a1", "putnam_2099_b2"]
    assert found["putnam_2098_a3"] == "/-- Show it. -/\ntheorem putnam_2098_a3\n(p : Prop)\n: p → p :=\nsorry"
    head, tail = found["putnam_2099_a1"].split("\n/--\n")
    assert head == "open Nat\n\nnoncomputable abbrev putnam_2099_a1_solution : Nat → Nat := (fun n => n + 2)"
    assert tail.endswith("n + 1 + 1 = putnam_2099_a1_solution n :=\n  sorry")
    assert found["putnam_2099_b2"].startswith(
        "noncomputable abbrev putnam_2099_b2_solution : Prop := True\n\n-- a remark that is no answer\ndef twice"
    )
    assert all(theorem.dataset == "putnambench" for theorem in putnambench.list_theorems("test"))


def test_putnambench_has_no_splits_so_that_each_name_is_all_of_it(capsys):
    install_putnambench(PUTNAM)
    assert splits_of("putnambench") == ("valid",)
    assert list_theorems("putnambench", "test", "v4.27.0") == list_theorems("putnambench", "valid") != []
    with pytest.raises(UserError, match="putnambench has no split 'train'; there are: valid"):
        list_theorems("putnambench", "train")
    assert putnambench.main(["stats", "--json"]) == 0
    stats = json.loads(capsys.readouterr().out)
    assert (stats["rows"], stats["left_out"]) == (3, {})
    assert {split: count["theorems"] for split, count in stats["splits"].items()} == {"valid": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "abbrev x_solution : Nat := sorry\n\n-- 2\ntheorem x : True := sorry",
            "x: no answer .* line after x_solution",
        ),
        ("abbrev x_solution : Nat := sorry\n--\ntheorem x : True := sorry", "x: no answer .* line after x_solution"),
        ("abbrev x : Nat := sorry\n-- 2\ntheorem y : True := sorry", "y: .*exactly one sorry, got 2"),
        ("def x : Nat := 2", "a file of PutnamBench has one theorem, got 0"),
        ("theorem x : True := sorry\ntheorem y : True := sorry", "one theorem, got 2"),
    ],
)
def test_a_problem_in_another_shape_is_refused_with_its_file(text, message):
    install_putnambench({"a.lean": "import Mathlib\n" + text + "\n"})
    with pytest.raises(UserError, match=rf"src/a\.lean.*{message}"):
        putnambench.list_theorems("valid")


def test_two_files_with_one_theorem_are_refused():
    install_putnambench(dict.fromkeys(("a.lean", "b.lean"), "theorem x : True := sorry\n"))
    with pytest.raises(UserError, match=r"b\.lean, theorem x: the name occurs twice"):
        putnambench.list_theorems("valid")


# -- proofnet ----------------------------------------------------------------------------------------------------


def row(**changes):
    fields = {
        "name": "exercise_1_1a",
        "split": "valid",
        "header": "import Mathlib\nimport Aesop\n\nopen Real\nopen scoped BigOperators\n\n",
        "formal_statement": "theorem exercise_1_1a (x : ℝ) (y : ℚ) :\n  Irrational x → Irrational (x + y) :=",
    }
    return {**fields, **changes}


@each(
    ("changes", "source"),
    [
        (
            {},
            "open Real\nopen scoped BigOperators\n\n"
            "theorem exercise_1_1a (x : ℝ) (y : ℚ) :\n  Irrational x → Irrational (x + y) := by\n  sorry",
        ),
        ({"header": "import Mathlib\n", "formal_statement": "theorem a : p := by\n"}, "theorem a : p := by\n  sorry"),
        ({"header": "open Nat", "formal_statement": "theorem a : p :=  "}, "open Nat\n\ntheorem a : p := by\n  sorry"),
        (
            {"header": "import Mathlib\n\n", "formal_statement": "def a (G : Type*) [Group G] : CommGroup G :="},
            "def a (G : Type*) [Group G] : CommGroup G := by\n  sorry",
        ),
        (
            {"header": "open Nat\n-- about\n", "formal_statement": "theorem a : p :="},
            "open Nat\n-- about\n\ntheorem a : p := by\n  sorry",
        ),
        (
            {"header": "module\npublic import A\n\nopen Nat\n", "formal_statement": "theorem a : p :="},
            "open Nat\n\ntheorem a : p := by\n  sorry",
        ),
    ],
)
def test_proofnet_statements_stand_behind_their_header_without_imports(changes, source):
    install_proofnet([row(**changes)])
    (theorem,) = proofnet.list_theorems("valid")
    assert (theorem.source, theorem.dataset, theorem.id) == (source, "proofnet", "exercise_1_1a")


def test_proofnet_rows_go_to_the_split_that_they_name_in_their_order():
    splits = ["test", "valid", "test"]
    install_proofnet(row(name=f"e{number}", split=split) for number, split in enumerate(splits))
    assert [theorem.id for theorem in proofnet.list_theorems("test")] == ["e0", "e2"]
    assert [theorem.id for theorem in proofnet.list_theorems("valid")] == ["e1"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "first"}, "line 2: the field 'name' must be unique, got 'first' again"),
        ({"split": "train"}, "line 2: the field 'split' must be one of valid, test, got 'train'"),
        ({"formal_statement": "theorem a : p"}, "line 2: the field 'formal_statement' must end in := or := by"),
        ({"formal_statement": "theorem : p :="}, "line 2: the theorem has no name"),
        ({"header": None}, "line 2: the field 'header' must be a text, got nothing"),
    ],
)
def test_proofnet_in_another_shape_is_refused_with_line_and_field(changes, message):
    install_proofnet([row(name="first"), row(**changes)])
    with pytest.raises(UserError, match=rf"proofnet\.jsonl, {message}"):
        proofnet.list_theorems("valid")


def test_every_benchmark_theorem_can_be_worked_with():
    install_minif2f()
    install_proofnet(row(name=f"e{number}", split=split) for number, split in enumerate(["valid", "test"]))
    for module in (minif2f, proofnet):
        for split in ("valid", "test"):
            for theorem in module.list_theorems(split):
                assert parse_declaration(theorem.source) and "import" not in theorem.source


# -- commands ----------------------------------------------------------------------------------------------------


def test_benchmarks_are_counted_and_shown(capsys):
    install_minif2f()
    assert minif2f.main(["stats"]) == 0
    assert capsys.readouterr().out.split() == ["minif2f", "rows", "5", "valid", "2", "test", "3"]
    assert minif2f.main(["show", "--id", "last"]) == 0
    assert capsys.readouterr().out.startswith("-- minif2f test: last\nopen scoped Real\n")


@pytest.fixture
def transitions(home):
    items = [Transition(f"⊢ {number}", f"exact {number}", 1) for number in range(20)]
    write_leantree(home / "made.jsonl", items, per_file=1)
    install("leantree", leantree_mathlib__jsonl=(home / "made.jsonl").read_bytes())
    return items


def test_leantree_is_counted_with_its_last_tenth_for_validation(transitions, capsys):
    assert leantree.main(["stats", "--json"]) == 0
    splits = json.loads(capsys.readouterr().out)["splits"]
    assert [splits[name]["transitions"] for name in ("train", "valid")] == [18, 2]


def test_leantree_is_shown_by_split_and_by_file(transitions, capsys):
    assert leantree.main(["show", "--split", "valid", "--json"]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["tactic"] for record in records] == ["exact 18", "exact 19"]
    assert leantree.main(["show", "--id", records[1]["path"]]) == 0
    assert "⊢ 19\n\n  exact 19\n" in capsys.readouterr().out


def test_leantree_goes_by_its_name_where_stages_take_transitions(transitions):
    train, valid = load_transitions("leantree")
    assert ([item.tactic for item in valid], len(train)) == (["exact 18", "exact 19"], 18)


def test_leantree_that_is_not_there_names_its_command():
    with pytest.raises(UserError, match=r"python -m nanoproof\.data\.download leantree"):
        leantree.main(["stats"])
