"""Files of theorems in the place of a data set."""

import json
from pathlib import Path

import pytest

from nanolean.commands.runner import run_text
from nanolean.tests.library import base
from nanoproof.common.errors import UserError
from nanoproof.data.theorems.theorem_sets import (
    Skipped,
    list_theorems,
    parse_set_names,
    read_theorem_file,
    skipped_notes,
)
from nanoproof.lean.lexical import without_noted_imports
from nanoproof.lean.types import Theorem
from nanoproof.prover.cli_input import read_lean_file
from scripts import inspect_problems

LEAN = """import Mathlib
import Lean
def double (n : Nat) : Nat := n + n

theorem proved : double 0 = 0 := rfl

/-- What it says. -/
@[simp]
theorem first (n : Nat) : n < double n := by
  sorry

namespace Foo
variable (p : Prop)

/-- And this. -/
lemma second (h : p) : p := sorry
end Foo
"""
IMPORTS = "/- import Mathlib -/\n/- import Lean -/\n"
CONTEXT = "def double (n : Nat) : Nat := n + n\n\ntheorem proved : double 0 = 0 := rfl"


def test_each_theorem_of_a_lean_file_has_what_comes_before_it_but_not_the_others(tmp_path: Path) -> None:
    file = tmp_path / "mine.lean"
    file.write_text(LEAN)
    first, second = list_theorems(str(file), "valid")
    assert (first.dataset, first.id, second.id) == ("mine", "first", "Foo.second")
    assert first.source.strip() == (
        f"{IMPORTS}{CONTEXT}\n\n/-- What it says. -/\n@[simp]\ntheorem first (n : Nat) : n < double n := by\n  sorry"
    )
    assert [line for line in second.source.splitlines() if line] == [
        *filter(None, (IMPORTS + CONTEXT).splitlines()),
        *("namespace Foo", "variable (p : Prop)", "/-- And this. -/", "lemma second (h : p) : p := sorry"),
    ]
    assert list_theorems(str(file), "train", "v4.27.0") == [first, second]


def test_what_is_open_by_another_name_is_in_no_source(tmp_path: Path) -> None:
    file = tmp_path / "mine.lean"
    held = "theorem f (p : Prop) : p := sorryAx p false\ntheorem g (p : Prop) : p := by\n  stop\n  rfl\n"
    used = "theorem u (start stop : Nat) (h : start = stop) : start = stop := by\n  exact h\n"
    file.write_text(f"{held}{used}theorem t (r : S) : r.stop = r.stop := by\n  sorry\n")
    read = read_theorem_file(str(file))
    assert [(skipped.line, skipped.name) for skipped in read.skipped] == [(1, "f"), (2, "g")]
    assert all("a sorry by another name" in skipped.reason for skipped in read.skipped)
    assert [theorem.source.strip() for theorem in read.theorems] == [
        f"{used}theorem t (r : S) : r.stop = r.stop := by\n  sorry"
    ]


def test_a_lone_carriage_return_ends_no_comment(tmp_path: Path) -> None:
    file = tmp_path / "mine.lean"
    file.write_bytes(b"\xef\xbb\xbftheorem t (n : Nat) -- for all\r(h : n = n + 1)\r\n  : n = n := by\r\n  sorry\r\n")
    (theorem,) = list_theorems(str(file), "valid")
    assert theorem.source.strip() == "theorem t (n : Nat) -- for all\r(h : n = n + 1)\n  : n = n := by\n  sorry"


IN_FRONT = """\
open Nat in
/-- One. -/
@[simp]
theorem one : succ 0 = 1 := by sorry

-- open Nat in
open Nat in def twice (n : Nat) : Nat := succ n + n

variable {p : Prop} -- as in
  [Decidable p] in
set_option maxHeartbeats 400 in
theorem two (h : p) : p := sorry

open Nat in
theorem proved : succ 0 = 1 := rfl

open Nat in open Int in theorem three : twice 1 = succ 2 := by
  sorry

public theorem four : twice 0 = 1 := sorry

/-- warning: x -/
#guard_msgs in theorem five : twice 0 = 1 := sorry

#guard_msgs in
theorem six : twice 0 = 1 := sorry
"""


def test_what_stands_before_a_theorem_and_ends_in_in_is_its_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.lean"
    file.write_text(IN_FRONT)
    own = [
        "open Nat in\n/-- One. -/\n@[simp]\ntheorem one : succ 0 = 1 := by sorry",
        "variable {p : Prop} -- as in\n  [Decidable p] in\nset_option maxHeartbeats 400 in\n"
        "theorem two (h : p) : p := sorry",
        "open Nat in open Int in theorem three : twice 1 = succ 2 := by\n  sorry",
        "public theorem four : twice 0 = 1 := sorry",
        "/-- warning: x -/\n#guard_msgs in theorem five : twice 0 = 1 := sorry",
        "#guard_msgs in\ntheorem six : twice 0 = 1 := sorry",
    ]
    shared = [
        "",
        "-- open Nat in\nopen Nat in def twice (n : Nat) : Nat := succ n + n",
        "\n\nopen Nat in\ntheorem proved : succ 0 = 1 := rfl",
        *("", "", ""),
    ]
    theorems = list_theorems(str(file), "valid")
    assert [theorem.id for theorem in theorems] == ["one", "two", "three", "four", "five", "six"]
    before = ""
    for theorem, context, text in zip(theorems, shared, own):
        before += context
        assert theorem.source.split() == (before + "\n" + text).split()
        assert theorem.source.endswith(text)


@pytest.mark.parametrize(
    ("header", "comments"),
    [
        ("module\n\npublic import A -- a\nimport all B", "/- public import A -/ -- a\n/- import all B -/"),
        ("/- (c) -/\nprelude\nimport A import B", "/- (c) -/\n\n/- import A -/ /- import B -/"),
        ("import /- a -/ A\nimport\n B", "/- import A -/\n/- import\n B -/"),
    ],
)
def test_the_header_of_a_file_is_no_part_of_its_theorems(tmp_path: Path, header: str, comments: str) -> None:
    file = tmp_path / "mine.lean"
    file.write_text(f"{header}\n\ntheorem a : True := sorry\ntheorem a : True := sorry\n")
    read = read_theorem_file(str(file))
    assert read.skipped == [Skipped(3 + header.count("\n") + 1, "a", "the name occurs twice")]
    (theorem,) = read.theorems
    assert theorem.source.strip() == f"{comments}\n\ntheorem a : True := sorry"
    assert "import" not in without_noted_imports(theorem.source)


def test_nanolean_binds_no_name_that_a_missing_library_may_have() -> None:
    card = "theorem t (n : Nat) : n = card ∨ n ≠ card := by sorry"
    for imports, is_missing in (("", False), ("/- import Init.Data -/\n", False), ("/- public import A.B -/\n", True)):
        messages = run_text(base(), imports + card).messages
        assert [message.severity for message in messages] == ["error" if is_missing else "warning"]


def test_several_commands_of_a_line_are_read_one_by_one(tmp_path: Path) -> None:
    file = tmp_path / "mine.lean"
    file.write_text(
        "section S namespace A theorem a : True := by sorry end A theorem b : True := trivial end S\n"
        "open Nat in @[simp] private theorem c : True := sorry theorem d : True := sorry\n#check sorry\n"
    )
    read = read_theorem_file(str(file))
    assert [theorem.id for theorem in read.theorems] == ["A.a", "c", "d"]
    assert read.theorems[1].source.endswith("\nopen Nat in @[simp] private theorem c : True := sorry")
    assert [entry.line for entry in read.skipped] == [3]


OPEN_STATEMENT = """\
theorem a : answer(sorry) ↔ True := by sorry
theorem a.variants.one : True := trivial
theorem a.variants.two : True := by sorry
theorem b : True := a.2 trivial
theorem a.variants.three : True := by sorry
"""


def test_a_theorem_does_not_use_what_its_name_begins_with(tmp_path: Path) -> None:
    (tmp_path / "mine.lean").write_text(OPEN_STATEMENT)
    read = read_theorem_file(str(tmp_path / "mine.lean"))
    (theorem,) = read.theorems
    assert theorem.source.split("\n") == [*("", *OPEN_STATEMENT.split("\n")[1:3])]
    # What does use it cannot have it as an axiom, since its statement is open.
    assert [entry.line for entry in read.skipped] == [1, 5] and "`sorry`" not in read.skipped[1].reason
    assert "rest on the theorem a (line 1)" in read.skipped[1].reason


def test_a_namespace_does_not_use_the_theorem_of_its_name(tmp_path: Path) -> None:
    # In Formal Conjectures `answer(sorry)` has no axiom in its place, and variants are in a namespace of its name.
    (tmp_path / "t.lean").write_text(
        "theorem c : answer(sorry) := by\n  sorry\n\nnamespace c.variants\n\n"
        "theorem v : True := by\n  sorry\n\nend c.variants\n\ntheorem w : True := by\n  sorry\n"
    )
    read = read_theorem_file(str(tmp_path / "t.lean"))
    assert [theorem.id for theorem in read.theorems] == ["c.variants.v", "w"]


def test_a_line_of_jsonl_is_a_theorem(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    rows = [{"source": "theorem a : True := sorry"}, {"id": "b/2", "source": "example : True := by sorry", "more": 1}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert list_theorems(str(file), "test") == [
        Theorem("theorem a : True := sorry", "mine", "a"),
        Theorem("example : True := by sorry", "mine", "b/2"),
    ]


def test_what_inspect_problems_prints_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.lean"
    file.write_text(LEAN)
    assert inspect_problems.main([str(file), "--json"]) == 0
    copy = tmp_path / "copy.jsonl"
    copy.write_text(capsys.readouterr().out)
    assert [(t.id, t.source) for t in list_theorems(str(copy), "valid")] == [
        (t.id, t.source) for t in list_theorems(str(file), "valid")
    ]


SKIPPED = """\
import X
theorem a : True := by
  trivial
  sorry
example : True := sorry
theorem b : sorry := trivial
#check sorry
mutual
theorem c : True := by sorry
theorem d : True := c
end
theorem e : Nat → True
  | 0 => trivial
  | n + 1 => sorry
theorem f : True := sorry
theorem f : True := by admit
"""


def test_what_cannot_be_worked_with_is_skipped_with_its_line_and_reason(tmp_path: Path) -> None:
    (tmp_path / "mine.lean").write_text(SKIPPED)
    read = read_theorem_file(str(tmp_path / "mine.lean"))
    assert [theorem.id for theorem in read.theorems] == ["f"] and read.theorems[0].source.count("theorem") == 1
    assert [(entry.line, entry.name) for entry in read.skipped] == [
        *((2, "a"), (5, ""), (6, "b"), (7, ""), (9, "c"), (12, "e"), (16, "f")),
    ]
    assert "not the whole proof" in read.skipped[0].reason and "`mutual`" in read.skipped[4].reason
    assert "1 skipped (line 16): the name occurs twice" in skipped_notes(read.skipped)


def test_a_file_of_which_nothing_can_be_used_is_refused_with_the_reasons(tmp_path: Path) -> None:
    file = tmp_path / "mine.lean"
    file.write_text("def a := 1\n")
    with pytest.raises(UserError, match=r"mine.lean holds no theorem whose proof is a sorry$"):
        list_theorems(str(file), "valid")
    file.write_text("import X\ntheorem a : True := by\n  trivial\n  sorry\n")
    with pytest.raises(UserError, match=r"mine.lean holds no theorem .*: 1 skipped \(line 2\): the sorry is not the"):
        list_theorems(str(file), "valid")


def test_files_that_are_no_theorems_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^no such file of theorems: .*/none\.lean$"):
        list_theorems(str(tmp_path / "none.lean"), "valid")
    (tmp_path / "mine.lean").write_bytes(b"theorem \xff")
    with pytest.raises(UserError, match=r"mine\.lean is not UTF-8 text"):
        list_theorems(str(tmp_path / "mine.lean"), "valid")
    (tmp_path / "mine.jsonl").write_text('{"id": 3, "source": "theorem a : True := sorry"}\n')
    with pytest.raises(UserError, match=r"mine\.jsonl, line 1: the field 'id' must be a text, got a number"):
        list_theorems(str(tmp_path / "mine.jsonl"), "valid")
    for field in ("id", "source"):
        row = {"id": "a", "source": "theorem a : True := sorry"}
        (tmp_path / "mine.jsonl").write_text(json.dumps({**row, field: row[field] + "\ud83d"}))
        with pytest.raises(UserError, match=rf"mine\.jsonl, line 1: `{field}` is not Unicode: it has a lone surrogate"):
            list_theorems(str(tmp_path / "mine.jsonl"), "valid")


def test_two_files_of_one_name_are_refused() -> None:
    with pytest.raises(UserError, match=r"^a/mine\.lean and b/mine\.jsonl would both be called mine"):
        parse_set_names(["a/mine.lean,b/mine.jsonl"])
    with pytest.raises(UserError, match=r"^unknown data set mine; there are: .*, and files of theorems"):
        parse_set_names(["mine"])
    with pytest.raises(UserError, match="did you mean nanolean"):
        parse_set_names(["nanolaen"])


def test_the_mark_that_editors_put_first_is_no_part_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.lean"
    file.write_text("\ufefftheorem a : True := by sorry\n", encoding="utf-8")
    assert [theorem.id for theorem in read_theorem_file(str(file)).theorems] == ["a"]
    assert read_lean_file(file).text.startswith("theorem")


def test_the_path_of_a_file_may_have_blanks(tmp_path: Path) -> None:
    path = tmp_path / "Größe, mit Leer.lean"
    path.write_text("theorem t : True := sorry")
    assert parse_set_names([str(path), "nanolean,nanolean-hard"]) == [str(path), "nanolean", "nanolean-hard"]
