"""What two sets share, by names, statements and words, and what counts as equal there."""

import json
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nanolean.tests.each import each
from nanoproof.common.errors import UserError
from nanoproof.data import contamination
from nanoproof.data.contamination import compare, main, read_set
from nanoproof.data.nanolean import list_theorems
from nanoproof.data.theorems.overlap import Index, declared_statements, name_key, normal_form, theorem_piece
from tests.data.installed import install_proofnet


def form(statement: str) -> str:
    (only,) = declared_statements(f"theorem t {statement} := by\n  sorry\n")
    return normal_form(only.text)


# ---------------------------------------------------------------------------------------------------------------------
# Normal forms


@each(
    ("one", "other"),
    [
        ("(a b : ℝ) (h : a<b) : a ≤ b", "(x : ℝ) (y : ℝ)\n    (h₀ : x < y) : -- so it is\n  x ≤ y"),
        ("(a : ℕ) : a = a", ": ∀ (n : ℕ), n = n"),
        ("(a b : ℕ) : a = b", ": ∀ n m : ℕ, n = m"),
        ("(a b : ℕ) : a + b = b + a", "{n : ℕ} ⦃m : Nat⦄ : n + m = m + n"),
        ("{G : Type*} [Group G] (a : G) : a = a", "{H : Type*} [inst : Group H] (x : H) : x = x"),
        ("(x : Real) (h : 0 <= x) : Real.sqrt x >= 0", "(y : ℝ) (hy : 0 ≤ y) : sqrt y ≥ 0"),
        (": (∃ x : ℕ, x > 3) -> True", ": (∃ n : ℕ, n > 3) → True"),
        (": ∑ i in Finset.range 3, i = 3", ": ∑ k ∈ Finset.range 3, k = 3"),
        ("(f : ℕ → ℕ) (h : f = fun x => x + 1) : f 0 = 1", "(g : ℕ → ℕ) (h : g = λ n ↦ n + 1) : g 0 = 1"),
        ("(s : Finset ℕ) (h : s = {x | x < 3}) : s.card = 3", "(S : Finset ℕ) (hS : S = {n | n < 3}) : S.card = 3"),
    ],
)
def test_statements_that_only_look_different_have_one_normal_form(one: str, other: str) -> None:
    assert form(one) == form(other)


@each(
    ("one", "other"),
    [
        ("(a b : ℝ) : a ≤ b", "(a b : ℝ) : b ≤ a"),
        ("(a b : ℝ) : a ≤ b", "(a b : ℝ) : a < b"),
        ("(a : ℝ) : a = a", "(a : ℕ) : a = a"),
        ("(a : ℕ) : a + 12 = a", "(a : ℕ) : a + 1 = a"),
        ("(a : ℕ) (h : a = 1) : a = 2", "(a : ℕ) : a = 2"),
        (": ∃ x : ℕ, x > 3", ": ∀ x : ℕ, x > 3"),
    ],
)
def test_different_statements_have_different_normal_forms(one: str, other: str) -> None:
    assert form(one) != form(other)


def test_declarations_are_found_with_their_namespaces_and_lines() -> None:
    text = """/- theorem commented : True := trivial -/
namespace Foo
@[simp] theorem bar (a : Nat) : a = a := rfl
section S
private lemma «odd name».{u} : let x := 1; x = 1 := rfl
end S
end Foo
open Nat in
theorem _root_.top : ∀ n : Nat, n = n
  | 0 => rfl
  | n + 1 => rfl
example : "theorem x : y" = "" := sorry
"""
    found = [(s.name, s.line) for s in declared_statements(text)]
    assert found == [("Foo.bar", 3), ("Foo.«odd name»", 5), ("top", 9), ("", 12)]
    texts = [s.text for s in declared_statements(text)]
    assert texts[:3] == ["(a : Nat) : a = a", ": let x := 1; x = 1", ": ∀ n : Nat, n = n"]


def test_scopes_and_modifiers_are_those_of_lean() -> None:
    text = """namespace A.B
noncomputable section
@[simp] @[grind] theorem one : 1 = 1 := rfl
end
end B
@[deprecated (since := "2025"),
  simp] theorem two : 2 = 2 where
  x := 1
set_option trace.Meta true in open Nat in theorem three : 3 = 3 := rfl
"""
    found = [(s.name, s.text) for s in declared_statements(text)]
    assert found == [("A.B.one", ": 1 = 1"), ("A.two", ": 2 = 2"), ("A.three", ": 3 = 3")]


def test_names_of_contest_problems_are_one_however_they_are_written() -> None:
    assert name_key("imo_1959_p1") == name_key("imo1959_q1") == name_key("Imo1959Q1")
    assert name_key("exercise_1_13") != name_key("exercise_11_3")
    assert name_key("mathd_algebra_302") != name_key("mathd_algebra_303")


# ---------------------------------------------------------------------------------------------------------------------
# Sets


CLAIM = "(x y z : ℝ) (h₀ : 0 < x) (h₁ : x < y) (h₂ : y < z) : x * x + y * y < 2 * z * z"


@pytest.fixture
def benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path / "home"))
    row = {"header": "import Mathlib\nopen Real\n\n", "split": "valid"}
    claims = {"exercise_1_1a": CLAIM, "exercise_1_1b": "(n : ℕ) (h : n = 7) : n ∣ 49"}
    install_proofnet({**row, "name": name, "formal_statement": f"theorem {name} {c} :="} for name, c in claims.items())


def test_overlap_is_found_by_name_by_statement_and_by_words(benchmark: None, tmp_path: Path) -> None:
    renamed = CLAIM.replace("x", "a").replace("h₀", "first")
    texts = {
        "name.lean": "theorem Rudin.exercise_1_1a : 1 + 1 = 2 := rfl",
        "statement.lean": f"theorem other {renamed} := by nlinarith",
        "words.lean": f"theorem longer {CLAIM} + 1 := by nlinarith",
        "clean.lean": "theorem clean (n : ℕ) (h : n = 8) : n ∣ 64 := by subst h; decide",
    }
    for name, text in texts.items():
        (tmp_path / "a").mkdir(exist_ok=True)
        (tmp_path / "a" / name).write_text(text)
    report = compare(str(tmp_path / "a"), "proofnet:valid")
    assert report["a"]["pieces"] == 4 and report["b"]["pieces"] == 2
    assert set(report["overlap"]) == {"name", "statement", "words"}
    for kind, file in (("name", "name.lean"), ("statement", "statement.lean"), ("words", "words.lean")):
        found = report["overlap"][kind]
        assert (found["a"], found["b"]) == (1, 1), kind
        (example,) = found["examples"]
        assert example["a"].endswith(file) and example["b"] == "proofnet: exercise_1_1a"
    assert report["overlap"]["words"]["b_mostly"] == 1


def test_the_command_prints_a_table_or_json_and_ends_with_zero(
    benchmark: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shard = tmp_path / "shard.parquet"
    texts = ["theorem y (m : ℕ) (hm : m = 7) : m ∣ 49 := sorry", None, "nothing of Lean"]
    pq.write_table(pa.table({"text": texts, "path": ["A.lean", "B.lean", "C.lean"]}), shard)
    assert main([str(shard), "proofnet"]) == 0
    assert "proofnet: exercise_1_1b  in  A.lean, line 1" in capsys.readouterr().out
    assert main([str(shard), "proofnet", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["overlap"]["statement"]["b"] == 1 and report["overlap"]["name"]["b"] == 0


def test_sets_are_read_from_jsonl_and_from_leantree(benchmark: None, tmp_path: Path) -> None:
    goal = {"type": "k ∣ 49", "hypotheses": [{"user_name": n, "type": t} for n, t in (("k", "ℕ"), ("hk", "k = 7"))]}
    tree = {"root_id": 5, "nodes": [{"id": 5, "state": {"goals": [goal]}}]}
    file = {"path": "Mathlib/X.lean", "imports": [], "theorems": [{"error": "?"}, {"by_blocks": [{"tree": tree}]}]}
    (tmp_path / "tree.jsonl").write_text(json.dumps(file) + "\n")
    report = compare(str(tmp_path / "tree.jsonl"), "proofnet")
    assert report["overlap"]["statement"]["examples"][0]["a"] == "Mathlib/X.lean: _ (1)"
    (tmp_path / "rows.jsonl").write_text(json.dumps({"name": "u", "formal_statement": f"theorem u {CLAIM} :="}) + "\n")
    assert compare(str(tmp_path / "rows.jsonl"), "proofnet:valid")["overlap"]["statement"]["a"] == 1
    assert compare("proofnet", str(tmp_path / "rows.jsonl"))["overlap"]["statement"]["a"] == 1


def test_leantree_has_two_splits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = [{"name": f"u{n}", "formal_statement": f"theorem u{n} (h : {n} = 7) : {n} ∣ 49 :="} for n in range(20)]
    (tmp_path / "tree.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(contamination, "file_path", lambda *_: tmp_path / "tree.jsonl")
    labels = {split: [piece.label for piece in read_set(f"leantree{split}")] for split in ("", ":train", ":valid")}
    assert labels[":valid"] == ["u18", "u19"] and labels[":train"] + labels[":valid"] == labels[""]


@pytest.mark.parametrize("wrong", ["no_such_set", "proofnet:train", "leantree:test", "empty.lean.d"])
def test_a_set_that_is_not_there_is_one_line(benchmark: None, tmp_path: Path, wrong: str) -> None:
    with pytest.raises(UserError):
        compare(wrong, "proofnet")


def test_short_and_meaningless_statements_are_never_equal() -> None:
    index = Index([theorem_piece(list_theorems("valid")[0])])
    assert list(index.hits(theorem_piece(list_theorems("valid")[0])))
    assert index.pieces[0].words == ()


def test_the_two_halves_of_the_embedded_benchmark_share_no_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contamination, "statement_key", cache(contamination.statement_key))  # of a half thrice
    overlap = compare("nanolean:valid", "nanolean:test")["overlap"]
    assert [overlap[kind]["b"] for kind in ("name", "statement", "key")] == [0, 0, 0]
    same = compare("nanolean:test", "nanolean:test")["overlap"]
    assert [same[kind]["b"] for kind in ("name", "statement", "key")] == [200, 200, 200]
