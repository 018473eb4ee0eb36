"""Files with `sorry`s: which are tried, what the prover is given, and the text with proofs in their places."""

from collections import Counter

import pytest

from nanolean.tests.each import each
from nanoproof.lean import lean_file
from nanoproof.lean.declarations import declared_names
from nanoproof.lean.lean_file import PLACEHOLDER, LeanFile
from nanoproof.lean.source import parse_declaration
from nanoproof.lean.types import SourceError

TEXT = """\
import Mathlib

namespace My
variable (p q : Prop)

/-- swap -/
theorem swap (h : p ∧ q) : q ∧ p := by
  sorry

def two : Nat := sorry

/-- both -/
theorem both : p ∧ q := by
  constructor
  · sorry
  · sorry

/-- not this -/
theorem last : q := ⟨sorry, "sorry"⟩ -- sorry

end My
"""


def test_a_bracket_that_is_a_character_closes_nothing() -> None:
    (gap,) = LeanFile.parse("theorem t (c : Char) (h : c = '(') : c = '(' := by sorry").gaps
    assert not gap.skip_reason


@pytest.fixture
def file() -> LeanFile:
    return LeanFile.parse(TEXT)


def test_every_sorry_is_found_with_its_place_and_theorem(file: LeanFile) -> None:
    places = [(gap.line, gap.column, gap.name) for gap in file.gaps]
    assert places == [(8, 2, "swap"), (10, 17, "two"), (15, 4, "both"), (16, 4, "both"), (19, 21, "last")]


def test_the_sorry_of_a_definition_is_left_alone(file: LeanFile) -> None:
    assert [gap.name for gap in file.gaps if gap.skip_reason] == ["two"]
    assert "may stand for data" in file.gaps[1].skip_reason


def test_a_theorem_may_begin_behind_what_is_opened_for_it() -> None:
    text = "open Nat in set_option autoImplicit false in theorem t : p := by sorry"
    file = LeanFile.parse(text)
    assert [(gap.name, gap.skip_reason) for gap in file.gaps] == [("t", "")]
    assert file.theorem(file.gaps[0], "user", "t").source.endswith(text)
    assert file.with_proof(file.gaps[0], "rfl").proved() == text.replace("by sorry", "by\n  rfl")


def test_several_theorems_of_a_line_are_proved_each() -> None:
    text = "namespace A theorem t : True := by sorry end A theorem u : True := by sorry theorem v : True := sorry\n"
    file = LeanFile.parse(text)
    assert [(gap.name, gap.skip_reason) for gap in file.gaps] == [("t", ""), ("u", ""), ("v", "")]
    assert file.declaration_numbers() == {gap: number for number, gap in enumerate(file.gaps)}
    assert file.theorem(file.gaps[1], "d", "u").source.endswith(" end A theorem u : True := by sorry")
    for gap in file.gaps:
        file = file.with_proof(gap, "trivial")
    proof = "by\n  trivial"
    assert file.proved() == text.replace("by sorry", proof).replace("sorry", proof)


@each("leave", ["\n#exit", "\n  #exit", " #exit"])
def test_behind_exit_lean_reads_nothing(leave: str) -> None:
    file = LeanFile.parse(f"theorem t : True := by\n  sorry{leave}\ntheorem u : True := by sorry no Lean\n")
    first, second = file.gaps
    assert not first.skip_reason and "`#exit`" in second.skip_reason
    read = "theorem t : True := by\n  trivial"
    filled = file.with_proof(first, "trivial")
    assert filled.checked().rstrip() == filled.imported().rstrip() == read and filled.proved().endswith("no Lean\n")
    assert filled.assuming([second]).rstrip().endswith(f"\n{read}")


def test_what_is_checked_up_to_a_sorry_ends_before_the_comments_of_what_follows() -> None:
    text = "theorem t : True := by\n  sorry -- here\n\n/-- About u. -/\ntheorem u : True := by sorry\n"
    file = LeanFile.parse(text)
    first, second = file.gaps
    assert file.with_proof(first, "trivial").checked(first) == "theorem t : True := by\n  trivial"
    assert "/-- About u. -/" in file.checked(second)
    text = 'theorem t : p := by\n  sorry\n  trace "word"\n\n/-- About u. -/\ndef u := 1'
    (gap,) = (file := LeanFile.parse(text)).gaps
    assert file.theorem(gap, "d", "t").source.endswith('trace "word"')


def test_theorems_of_a_mutual_block_are_left_alone() -> None:
    text = "mutual\ntheorem s : p := by sorry\ntheorem t : q := s\nend\n\ntheorem u : p := by sorry"
    first, second = LeanFile.parse(text).gaps
    assert "`mutual` block" in first.skip_reason and not second.skip_reason


@pytest.mark.parametrize(
    "text", ["#check sorry", "theorem t : sorry = 1 := rfl", "theorem t : Nat → p\n  | 0 => sorry\n  | n + 1 => rfl"]
)
def test_what_is_no_proof_is_left_alone(text: str) -> None:
    (gap,) = LeanFile.parse(text).gaps
    assert gap.skip_reason


def test_the_prover_is_given_all_before_a_sorry_and_no_other_sorry(file: LeanFile) -> None:
    source = file.theorem(file.gaps[2], "user", "both").source
    assert "import" not in source and "variable (p q : Prop)" in source
    swap, two, _, both, _ = map(file.stand_in, file.gaps)
    assert f"theorem swap (h : p ∧ q) : q ∧ p := by\n  exact {swap}\n" in source
    assert f"noncomputable def two : Nat := {two}\n" in source
    assert source.endswith(f"  constructor\n  · sorry\n  · exact {both}")
    assert source.startswith("".join(f"axiom {name}.{{u}} {{α : Sort u}} : α\n" for name in (swap, two, both)))


def test_each_sorry_has_an_axiom_of_its_own_also_beside_those_of_other_files(file: LeanFile) -> None:
    same = LeanFile.parse(TEXT, path="Same.lean")
    names = [*map(file.stand_in, file.gaps), *map(same.stand_in, same.gaps)]
    assert len(set(names)) == 10 and all(name.startswith(f"{PLACEHOLDER}_") for name in names)
    together = LeanFile.parse(TEXT, same.imported(), "Other.lean", same.places)
    assert [place.described("Other.lean") for place in together.places.values()][3:7] == [
        "`both` (Same.lean, line 13)",
        "`last` (Same.lean, line 19)",
        "`swap` (line 7)",
        "`two` (line 10)",
    ]
    assert list(together.declaration_numbers().values()) == [4, 5, 6, 6, 7], "of both files, in order"


def test_definitions_behind_one_that_is_not_complete_are_no_code() -> None:
    defs = ["def a := 1", "private partial def f : Nat := sorry", "@[simp] abbrev g := f", "noncomputable def h := g"]
    file = LeanFile.parse("\n".join([*defs, "scoped instance : I := ⟨h⟩", "theorem t : p := by sorry"]))
    stand_in = file.stand_in(file.gaps[0])
    lines = file.theorem(file.gaps[1], "user", "t").source.split("\n")[1:]
    assert lines == [
        "def a := 1",
        f"private noncomputable partial def f : Nat := {stand_in}",
        "@[simp] noncomputable abbrev g := f",
        "noncomputable def h := g",
        "noncomputable scoped instance : I := ⟨h⟩",
        "theorem t : p := by sorry",
    ]


def test_a_sorry_that_is_not_what_it_looks_like_is_spelled_out() -> None:
    text = "theorem s : p := by\n  exact have h := i; sorry\n\ntheorem t : p := by\n  mine 1 sorry"
    file = LeanFile.parse(text)
    one, two = map(file.stand_in, file.gaps)
    assert f"i; exact {one}" in file.assuming(file.gaps) and f"1 {two}" in file.assuming(file.gaps)
    for gap in file.gaps:
        file = file.with_flipped(gap)
    assert f"i; {one}" in file.assuming(file.gaps) and f"1 exact {two}" in file.assuming(file.gaps)
    assert file.theorem(file.gaps[0], "user", "s").source.endswith("i; (by sorry)")
    assert file.proved() == text
    file = file.with_proof(file.gaps[0], "rfl").with_proof(file.gaps[1], "left\nrfl")
    assert file.proved().endswith("i; (by rfl)\n\ntheorem t : p := by\n  mine 1 focus left\n               rfl")


@each(
    ("line", "names"),
    [
        ("namespace A theorem t : p := by sorry", ["A.t"]),
        ("section theorem t : p := by sorry end theorem u : p := by sorry", ["t", "u"]),
        ("theorem s : p := q theorem t : p := by sorry", ["s", "t"]),
        ("example : p := (q) theorem t : p := by sorry", ["t"]),
        ("def s := q /-- doc -/ @[simp] private lemma t : p := by sorry", ["s", "t"]),
        ("theorem s : p := by simp open Nat in theorem t : p := sorry", ["s", "t"]),
        ("variable (p : Prop) theorem t : p := by admit end A theorem u : p := by sorry", ["t", "u"]),
        ("#check s theorem t : p := by sorry", ["t"]),
        ("open Nat in theorem t : p := by sorry", ["t"]),
        ("macro `(command| theorem s : p := q)\ntheorem t : p := by sorry", ["t"]),
    ],
)
def test_commands_need_no_line_of_their_own(line: str, names: list[str]) -> None:
    file = LeanFile.parse(line)
    assert declared_names(line) == names
    assert [gap.name for gap in file.gaps] == [name.rpartition(".")[2] for name in names][-len(file.gaps) :]
    assert not any(gap.skip_reason for gap in file.gaps) and file.proved() == line
    source = file.theorem(file.gaps[0], "user", "t").source
    assert parse_declaration(source).name == file.gaps[0].name and line[: file.gaps[0].start] in source + " admit"


def test_line_ends_are_written_as_they_were() -> None:
    file = LeanFile.parse("theorem t : p := by\r\n  sorry\r\n")
    assert "\r" not in file.theorem(file.gaps[0], "user", "t").source
    assert file.with_proof(file.gaps[0], "left\nrfl").written() == "theorem t : p := by\r\n  left\r\n  rfl\r\n"
    mixed = "theorem s : p := q\r\ntheorem t : p := by sorry\n"
    assert LeanFile.parse(mixed).written() == mixed


def test_a_comment_behind_a_declaration_is_not_part_of_it(file: LeanFile) -> None:
    assert file.theorem(file.gaps[0], "user", "swap").source.endswith("q ∧ p := by\n  sorry")
    assert file.theorem(file.gaps[4], "user", "last").source.endswith('⟨sorry, "sorry"⟩')


def test_a_comment_that_reads_like_an_import_moves_nothing() -> None:
    text = "import A\n\ntheorem s : q := r\n\ntheorem t : p := by\n  sorry\n\n/- what to\nimport later, at length\n-/"
    file = LeanFile.parse(text)
    source = file.theorem(file.gaps[0], "user", "t").source
    assert source.endswith("\n\n\ntheorem s : q := r\n\ntheorem t : p := by\n  sorry")


def test_proofs_stand_in_the_text_and_in_what_comes_after_them(file: LeanFile) -> None:
    file = file.with_proof(file.gaps[0], "intro h\nexact h").with_proof(file.gaps[3], "rfl")
    assert file.proved() == TEXT.replace(":= by\n  sorry", ":= by\n  intro h\n  exact h", 1).replace(
        "  · sorry\n\n", "  · rfl\n\n"
    )
    source = file.theorem(file.gaps[2], "user", "both").source
    assert "intro h\n  exact h" in source and source.endswith("  · sorry\n  · rfl")
    assert [gap.name for gap in file.open_gaps] == ["two", "both", "last"]


def test_a_proof_that_goes_below_its_line_leaves_no_space_behind() -> None:
    file = LeanFile.parse("theorem t : p := by\n  have h : q := by sorry\n  exact h")
    text = file.with_proof(file.gaps[0], "intro h\nexact h").proved()
    assert text == "theorem t : p := by\n  have h : q := by\n    intro h\n    exact h\n  exact h"


def test_what_is_found_for_a_theorem_of_many_sorries_is_put_into_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    inserted = Counter[str]()
    insert = lean_file._insert

    def counting(text: str, start: int, end: int, proof: str) -> str:
        inserted[proof] += 1
        return insert(text, start, end, proof)

    monkeypatch.setattr(lean_file, "_insert", counting)
    lines = [f"  have h{number} : p := by sorry" for number in range(20)]
    file = LeanFile.parse("\n".join(["theorem many : p := by", *lines, "  exact h0"]))
    for number, gap in enumerate(file.gaps):
        file.theorem(gap, "user", "many")
        file = file.with_proof(gap, f"exact q{number}")
    assert file.proved().count("exact q") == 20
    assert set(inserted.values()) == {1}


def test_a_file_without_proofs_is_as_it_was(file: LeanFile) -> None:
    assert file.proved() == TEXT


def test_the_axioms_that_a_file_declares_are_known() -> None:
    assert LeanFile.parse("axiom A.b : Nat\n-- axiom c : p\nprivate axiom d (n : Nat) : p").axioms == {"b", "d"}


def test_a_file_that_names_the_placeholder_is_refused() -> None:
    with pytest.raises(SourceError, match="is taken"):
        LeanFile.parse(f"theorem t : p := {PLACEHOLDER}")
