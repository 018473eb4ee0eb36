"""Data of self-play: examples out of traced files, lemmas, published tables and what is prepared from them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from nanolean.tests.each import each
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json
from nanoproof.data import stp
from nanoproof.data.weighted_rows import Row, read_rows, write_packed_json
from nanoproof.selfplay.files import load_lemmas

# With characters that end a line for Python and not for Lean.
FILE = """import Base
/-! A file.\f\u2028 -/
theorem one (p : Prop) (h : p) : p := by
  exact id h

@[simp] protected theorem two (p q : Prop) (h : p) :
    p ∨ q := by
  left
  exact id h
theorem three : True := by trivial
theorem four (n : Nat) : n = n := by
  cases n with
  | zero => exact one _ rfl
  | succ n => exact id rfl
"""


def theorem(name: str, start: int, end: int, *premises: str) -> dict[str, Any]:
    annotated = ["<a>x</a>", [{"full_name": each, "def_path": "", "def_pos": [1, 1]} for each in premises]]
    tactics = [{"tactic": "x", "annotated_tactic": annotated, "state_before": "⊢ p", "state_after": "no goals"}]
    place = {"start": [start, 1], "end": [end, 9], "file_path": "A/F.lean", "full_name": name}
    return {**place, "theorem_statement": None, "traced_tactics": tactics}


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """A LeanDojo export, its theorems dealt over the splits, and the files beside it."""
    (tmp_path / "src" / "A").mkdir(parents=True)
    (tmp_path / "src" / "A" / "F.lean").write_text(FILE)
    (tmp_path / "random").mkdir()
    parts = {
        "train": [theorem("four", 11, 14, "one", "id", "id"), {**theorem("term", 10, 10), "traced_tactics": []}],
        "val": [theorem("two", 6, 9, "Foreign.x", "id")],
        "test": [theorem("id", 3, 4, "id"), theorem("one", 3, 4, "id"), theorem("three", 10, 10)],
    }
    for name, records in parts.items():
        (tmp_path / "random" / f"{name}.json").write_text(json.dumps(records))
    return tmp_path


def test_theorems_are_whole_lines_of_their_file_in_order(export: Path) -> None:
    ((path, found),) = stp.traced_theorems(str(export), export / "src").items()
    assert path == "A/F.lean" and [each.full_name for each in found] == ["id", "one", "two", "three", "four"]
    two = found[2]
    assert two.text == "@[simp] protected theorem two (p q : Prop) (h : p) :\n    p ∨ q := by\n  left\n  exact id h"
    assert two.statement == "@[simp] protected theorem two (p q : Prop) (h : p) :\n    p ∨ q"
    assert two.before == FILE[: FILE.index("@[simp]")] and two.premises == ("Foreign.x", "id")
    assert found[4].premises == ("one", "id")


def test_conjectures_come_from_earlier_theorems_that_use_the_same_lemma(export: Path) -> None:
    ((_, found),) = stp.traced_theorems(str(export), export / "src").items()
    lemmas = stp.theorem_dict({"A/F.lean": found})
    assert set(lemmas) == {"id", "one", "two", "three", "four"}
    pairs = [(name, easy.full_name, hard.full_name) for name, easy, hard in stp.conjecture_pairs(found, lemmas)]
    assert pairs == [
        ("id", "id", "one"),
        *(("id", each, "two") for each in ("id", "one")),
        *(("id", each, "four") for each in ("id", "one", "two")),
    ]


def test_examples_are_written_as_published_and_for_our_networks(export: Path) -> None:
    theorems = stp.traced_theorems(str(export), export / "src")
    lemmas = stp.theorem_dict(theorems)
    before = FILE[: FILE.index("theorem one")]
    one = "theorem one (p : Prop) (h : p) : p := by\n  exact id h"
    rows = stp.conjecture_rows(theorems, lemmas, "stp")
    assert rows[2] == Row(
        f"Complete the following Lean 4 code:\n\n```lean4\n{before.strip()}\n"
        f"<lemma>\n{one}\n<easy theorem>\n{one}\n<hard theorem>",
        "\n@[simp] protected theorem two (p q : Prop) (h : p) :\n    p ∨ q\n</hard theorem>",
    )
    ours = stp.conjecture_rows(theorems, lemmas, "nanoproof")
    assert ours[2] == Row(
        f"<lemma>\ntheorem one (p : Prop) (h : p) : p\n<easy theorem>\n{one}\n<hard theorem>\n<|conjecture|>",
        "theorem two (p q : Prop) (h : p) :\n    p ∨ q := by\n</hard theorem>",
    )
    proofs = stp.proof_rows(theorems, "stp")
    assert proofs[1] == Row(f"Complete the following Lean 4 code:\n\n```lean4\n{before}", one)
    assert stp.proof_rows(theorems, "nanoproof")[1:] == [
        Row("theorem (p : Prop) (h : p) : p := by\n<|proof|>", "exact id h"),
        Row("theorem (p q : Prop) (h : p) : p ∨ q := by\n<|proof|>", "left\nexact id h"),
        Row("theorem : True := by\n<|proof|>", "trivial"),
        Row(
            "theorem (n : Nat) : n = n := by\n<|proof|>",
            "cases n with\n| zero => exact one _ rfl\n| succ n => exact id rfl",
        ),
    ]


def test_the_command_writes_rows_and_lemmas(export: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--data", str(export), "--source", str(export / "src")]
    assert stp.main(["build", *given, "--out", str(export / "out"), "--held-out", "2"]) == 0
    train, valid = (read_rows(export / "out" / f"{name}.json") for name in ("train", "eval"))
    assert (len(train), len(valid)) == (6 + 3, 2)
    assert not any("<hard theorem>" in row.prompt for row in valid)
    assert train != sorted(train) and "9 rows, 6 of them conjectures" in capsys.readouterr().out
    assert stp.main(["theorem-dict", *given, "--out", str(export / "lemmas.json")]) == 0
    assert read_json(export / "lemmas.json")["three"] == ["A/F.lean", "theorem three : True := by trivial"]
    assert load_lemmas(str(export / "lemmas.json"))["two"].endswith("    p ∨ q")
    lemma = '@[simp, deprecated one (since := "2025")]\ntheorem five (p : Prop) : p = p := by simp'
    write_packed_json(export / "lemmas.json", {"five": ["A/F.lean", lemma]})
    assert load_lemmas(str(export / "lemmas.json")) == {"five": lemma.removesuffix(" := by simp")}


def test_a_comment_behind_a_statement_is_no_part_of_the_conjecture(export: Path) -> None:
    file = export / "src" / "A" / "F.lean"
    file.write_text(FILE.replace("    p ∨ q := by", "    p ∨ q -- or := both\n  := by").replace("  left\n", ""))
    theorems = stp.traced_theorems(str(export), export / "src")
    rows = stp.conjecture_rows(theorems, stp.theorem_dict(theorems), "nanoproof")
    assert rows[2].target == "theorem two (p q : Prop) (h : p) :\n    p ∨ q := by\n</hard theorem>"


def test_a_trace_of_ours_is_read_too(export: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = export / "repos" / "mine" / "trace"
    (folder / "files" / "A").mkdir(parents=True)
    tactic = {"tactic": "x", "marked": "<a>id</a>", "premises": [{"full_name": "id"}]}
    one = {"full_name": "one", "path": "A/F.lean", "start": [3, 1], "end": [4, 9], "tactics": [tactic], "premises": []}
    (folder / "summary.json").write_text(json.dumps({"order": ["A/F.lean"]}))
    (folder / "files" / "A" / "F.lean.json").write_text(json.dumps({"digest": "", "file": {"theorems": [one]}}))
    monkeypatch.setenv("NANOPROOF_HOME", str(export))
    for name in ("repo:mine", str(folder)):
        ((_, (found,)),) = stp.traced_theorems(name, export / "src").items()
        assert found.text.endswith("exact id h") and found.premises == ("id",)
    with pytest.raises(UserError, match="neither a trace"):
        stp.traced_theorems(str(export / "src"), export)
    (export / "src" / "A" / "F.lean").write_text("theorem one : p := by\n")
    with pytest.raises(UserError, match="has 1 lines; one was traced at 3"):
        stp.traced_theorems("repo:mine", export / "src")


# -- Published tables ------------------------------------------------------------------------------------------------


def write_table(path: Path, **columns: list[Any]) -> None:
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def test_a_published_table_is_read_with_its_tags(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    tags, weights = ["['conjecture']", "['statement', 'x']"], [0.5, None]
    write_table(path, prompt=["p", "q"], target=["t", "u"], weight=weights, tag=tags, iteration=[0, 47])
    assert list(stp.read_released(path)) == [
        stp.ReleasedRow(Row("p", "t", 0.5), ("conjecture",), 0),
        stp.ReleasedRow(Row("q", "u", 1.0), ("statement", "x"), 47),
    ]
    (tmp_path / "t.json").write_text(json.dumps([{"prompt": "p", "target": "t", "tag": ["a"]}]))
    assert list(stp.read_released(tmp_path / "t.json")) == [stp.ReleasedRow(Row("p", "t"), ("a",))]
    (tmp_path / "bad.json").write_text(json.dumps([{"prompt": "p", "target": "t", "tag": "[1"}]))
    with pytest.raises(UserError, match="`tag` is not the text of a list"):
        list(stp.read_released(tmp_path / "bad.json"))
    write_table(path, prompt=["p", None], target=["t", "u"])
    with pytest.raises(UserError, match=r"t\.parquet, row 2: expected .*`prompt` is no text"):
        list(stp.read_released(path))


def test_three_files_are_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_table(tmp_path / "train-0.parquet", prompt=["mathlib", "theorem lean_workbook_1"], target=["a", "b"])
    write_table(tmp_path / "eval-0.parquet", prompt=["held out"], target=["c"])
    monkeypatch.setattr(stp, "file_paths", lambda name, pattern: sorted(tmp_path.glob(pattern)))
    assert stp.main(["prepare", "--out", str(tmp_path / "SFT")]) == 0
    counts = {name: len(read_rows(tmp_path / "SFT" / name)) for name in stp.prepare(tmp_path / "SFT")}
    assert counts == {"mathlib_leanworkbook.json": 2, "mathlib.json": 1, "eval.json": 1}
    assert read_rows(tmp_path / "SFT" / "mathlib.json") == [Row("mathlib", "a")]
    assert "         2 rows" in capsys.readouterr().out


SPLIT = """\
/-- as in `x := y`: theorem -/
@[simp, deprecated one (since := "2025-01-01")]
theorem attributed (a : Nat) : a = a := by
  rfl
theorem defaulted (a : Nat := 1) (h : a = a := by rfl) :
    let b := a; b = a := by rfl
theorem termed (a : Nat) : a = a := rfl
theorem opened (a : Nat) : a = a := by
  have b : True := sorry
  rfl
"""


def test_a_statement_of_ours_ends_at_its_proof_and_what_gives_no_row_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "A").mkdir()
    (tmp_path / "A" / "F.lean").write_text(SPLIT)
    (tmp_path / "random").mkdir()
    places = [("attributed", 1, 4), ("defaulted", 5, 6), ("termed", 7, 7), ("nothing", 4, 4), ("opened", 8, 10)]
    records = [theorem(name, start, end, "l") for name, start, end in places]
    for split in ("train", "val", "test"):
        (tmp_path / "random" / f"{split}.json").write_text(json.dumps(records if split == "train" else []))
    given = ["--data", str(tmp_path), "--source", str(tmp_path), "--held-out", "0", "--format", "nanoproof"]
    assert stp.main(["build", *given, "--out", str(tmp_path / "out")]) == 0
    assert {(row.prompt, row.target) for row in read_rows(tmp_path / "out" / "train.json")} == {
        ("theorem (a : Nat) : a = a := by\n<|proof|>", "rfl"),
        ("theorem (a : Nat := 1) (h : a = a := by rfl) : let b := a; b = a := by\n<|proof|>", "rfl"),
    }
    printed = capsys.readouterr().out
    assert "1 theorems without a proof row: its proof is no block of tactics" in printed
    assert "1 theorems without a proof row: its lines hold no theorem" in printed
    assert "1 theorems without a proof row: it has a sorry" in printed


@each(
    ("text", "proof"),
    [
        ("namespace A theorem t (h : p) : p := by exact h end A theorem u : q := by simp", "exact h"),
        ("theorem s : q := by simp theorem t (h : p) : p := by exact h", "exact h"),
        ("theorem t : p := by exact And.intro\n    h.2 h.1", "exact And.intro\n  h.2 h.1"),
        (
            "theorem t : p := by cases n with\n  | zero => a\n  | succ n =>\n    b",
            "cases n with\n  | zero => a\n  | succ n =>\n    b",
        ),
        ("theorem t : p := by /- c -/ a\n                            b", "a\nb"),
        ("theorem t : p := by -- c\n    a -- d\n    · b\n      c\n   more\n-- e", "a -- d\n· b\n  c\n  more"),
        ("theorem t : p :=\nby a\n   b", "a\nb"),
        ("theorem t : p := by\n  a\ntermination_by n", None),
        ("theorem t : p := by\n  exact f\nwhere\n  f : p := h", None),
    ],
)
def test_a_proof_is_a_block_of_tactics_and_no_more(text: str, proof: str | None) -> None:
    of_file = [stp.SourceTheorem("A.t", "A/F.lean", "", text, ())]
    left_out: Counter[str] = Counter()
    rows = stp.proof_rows({"A/F.lean": of_file}, "nanoproof", left_out)
    assert [row.target for row in rows] == ([] if proof is None else [proof])
    assert left_out.total() == (proof is None)
