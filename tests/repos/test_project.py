"""What a Lean project consists of, found from its files without Lean."""

from pathlib import Path

import pytest

from nanoproof.common.errors import UserError
from nanoproof.repos.project import Project, close_scopes, declarations, read_source
from nanoproof.repos.trees import Ran, dedent, nest, proof_trees, split_goals

EXAMPLE = Path(__file__).parents[1] / "data" / "example_repo"


def write(root: Path, **files: str) -> Project:
    for name, text in files.items():
        path = root / f"{name.replace('__', '/')}.lean"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return Project.read(root)


def test_imports_come_first_also_those_of_modern_headers(tmp_path):
    project = write(
        tmp_path,
        A__Top="module\n\npublic import A.Left\nmeta import all A.Right -- both\nimport Lean.Elab\n",
        A__Left="/- import A.Top -/ prelude import A.Base",
        A__Right="import A.Base\nprivate theorem import_ : True := trivial",
        A__Base="",
        Unrelated="theorem t : True := trivial",
    )
    paths = [file.path for file in project.files]
    assert paths == ["A/Base.lean", "Unrelated.lean", "A/Left.lean", "A/Right.lean", "A/Top.lean"]
    top = project.files[-1]
    assert top.is_module and top.imports == ("A.Left", "A.Right", "Lean.Elab")
    assert [file.module for file in project.closure(top)] == ["A.Base", "A.Left", "A.Right"]
    assert project.external_imports(top) == ("Lean.Elab",)


def test_files_that_import_themselves_have_a_problem_and_the_others_an_order(tmp_path):
    project = write(tmp_path, A="import B", B="import C", C="import B\nimport D", D="", E="import A")
    problems = {file.path: file.problem for file in project.files}
    assert {path for path, problem in problems.items() if problem} == {"B.lean", "C.lean"}
    assert problems["B.lean"].startswith("imports itself: ")
    assert [file.path for file in project.files].index("A.lean") < [f.path for f in project.files].index("E.lean")


def test_the_folder_that_modules_are_named_from_is_lakes(tmp_path):
    (tmp_path / "lakefile.toml").write_text('[[lean_lib]]\nname = "Foo"\nsrcDir = "src"\n')
    package = tmp_path / ".lake" / "packages" / "lib"
    package.mkdir(parents=True)
    (package / "Lib.lean").write_text("namespace Lib\ntheorem found : True := trivial\nend Lib")
    project = write(tmp_path, src__Foo__Bar="import Lib", Main="import Foo.Bar")
    assert [(file.module, file.path) for file in project.files] == [
        ("Foo.Bar", "src/Foo/Bar.lean"),
        ("Main", "Main.lean"),
    ]
    assert project.import_paths(project.files[0]) == (".lake/packages/lib/Lib.lean",)
    found = project.declared(with_nanolean=False)["Lib.found"]
    assert (found.path, found.start, found.end) == (".lake/packages/lib/Lib.lean", (2, 1), (2, 32))


def test_a_file_that_is_no_text_and_a_folder_without_files_are_told(tmp_path):
    with pytest.raises(UserError, match="holds no"):
        Project.read(tmp_path)
    with pytest.raises(UserError, match="no such folder"):
        Project.read(tmp_path / "absent")
    (tmp_path / "Bad.lean").write_bytes(b"theorem \xff")
    assert Project.read(tmp_path).files[0].problem == "is not UTF-8 (byte 8)"


def test_lines_may_end_as_on_windows(tmp_path):
    (tmp_path / "A.lean").write_bytes(b"theorem t :\r\n  True := by\r\n  trivial\r\n")
    file = read_source(tmp_path, tmp_path / "A.lean", "A")
    (premise,) = file.premises()
    assert (premise.code, premise.start, premise.end) == ("theorem t :\n  True", (1, 1), (3, 10))


SCOPES = """open Nat
namespace A.B
section
open C (x) -- in a comment: end
@[simp] theorem one : 1 = 1 := by rfl
end
mutual
def even : Nat → Bool
  | 0 => true
end
open D E in
/-- Documentation with `end A`. -/
protected lemma two (h : let x := 1; x = 1) :
    x = 1 := h
end B
theorem _root_.three.{u} : True where
instance : Inhabited Nat := ⟨0⟩
structure S where
  x : Nat
end A
theorem «four five».six : True := trivial
"""


def test_declarations_have_the_names_that_lean_gives_them():
    found = declarations(SCOPES)
    assert [(each.keyword, each.full_name) for each in found] == [
        ("theorem", "A.B.one"),
        ("def", "A.B.even"),
        ("lemma", "A.B.two"),
        ("theorem", "three"),
        ("structure", "A.S"),
        ("theorem", "«four five».six"),
    ]
    assert [SCOPES[each.start : each.statement_end].split()[-1] for each in found[:4]] == ["1", "Bool", "1", "True"]
    assert found[0].namespaces == ("A.B", "A") and found[0].opens == ("Nat", "C")
    assert found[2].namespaces == ("A.B", "A") and found[2].opens == ("Nat", "D", "E")
    assert SCOPES[found[2].start :].startswith("open D E in") and found[5].namespaces == ()


def test_open_scopes_are_closed_with_their_names():
    assert (
        close_scopes("namespace A.B\nsection\nend\nsection X\n")
        == "namespace A.B\nsection\nend\nsection X\nend X\nend B\nend A\n"
    )
    assert close_scopes("namespace A.B\nend B\n") == "namespace A.B\nend B\nend A\n"


# -- Trees of tactics --------------------------------------------------------------------------------------------------


def test_goals_are_split_with_and_without_empty_lines_between_them():
    first, second = "case a\nx : Nat\nh : x =\n    1\n⊢ x = 1 ∧\n    True", "⊢ True"
    assert split_goals(f"{first}\n\n{second}") == split_goals(f"{first}\n{second}") == [first, second]
    assert split_goals("no goals") == split_goals("") == []


def test_lines_of_a_tactic_move_with_its_first():
    assert dedent("cases h with\n    | a => x\n  y", 4) == "cases h with\n| a => x\ny"


TEXT = """theorem t (n : Nat) : n = n := by
  induction n with
  | zero => rfl
  | succ n ih =>
    have h : 1 = 1 := by
      simp
    exact (foo (by omega))
"""


def ran(text: str, before: list[str], after: list[str] | None = None, number: int = 0) -> Ran:
    start = TEXT.index(text)
    return Ran(start, start + len(text), text, number, before, (), after)


def induction_tactics() -> list[Ran]:
    return [
        ran(TEXT[TEXT.index("induction") : -1], ["n : Nat\n⊢ n = n"], []),
        ran("rfl", ["case zero\n⊢ 0 = 0"], []),
        ran("have h : 1 = 1 := by\n      simp", ["⊢ n = n + 1"], ["h : 1 = 1\n⊢ n = n + 1"]),
        ran("simp", ["⊢ 1 = 1"], []),
        ran("exact (foo (by omega))", ["h : 1 = 1\n⊢ n = n + 1"], []),
        ran("omega", ["⊢ 2 = 2"], []),
    ]


def test_a_tactic_that_runs_others_becomes_its_head_and_they_work_on_its_goals():
    tactics = induction_tactics()
    nest(tactics, TEXT)
    assert [each.head for each in tactics] == [
        "induction n with\n| zero => ?_\n| succ n ih => ?_",
        "",
        "have h : 1 = 1 := ?_",
        "",
        "refine (foo (?_))",
        "",
    ]
    tactics[0].head_after = ["case zero\n⊢ 0 = 0", "case succ\n⊢ n = n + 1"]
    tactics[2].head_after = ["⊢ 1 = 1", "h : 1 = 1\n⊢ n = n + 1"]
    tactics[4].head_after = ["⊢ 3 = 3"]  # not the goal that `omega` proves: it stays whole
    (block,) = proof_trees(tactics, {id(each): [each.text] for each in tactics})
    nodes = block["tree"]["nodes"]
    assert [(n["tactic"]["tactic_string"].split("\n")[0], n["tactic"]["children"]) for n in nodes] == [
        ("induction n with", [1, 2]),
        ("rfl", []),
        ("have h : 1 = 1 := ?_", [3, 4]),
        ("simp", []),
        ("exact (foo (by omega))", []),
    ]
    assert [(n["proof_size"], n["proof_depth"]) for n in nodes] == [(5, 3), (1, 1), (3, 2), (1, 1), (1, 1)]
    assert block["span"] == {"start": tactics[0].start, "finish": tactics[0].end}


def test_proofs_that_are_no_tree_are_told():
    tactics = [
        ran("simp", ["⊢ 1 = 1", "⊢ 2 = 2"], []),
        ran("omega", ["⊢ 3 = 3"], None),
        ran("rfl", ["⊢ 4 = 4"], ["⊢ 5 = 5"]),
    ]
    found = [proof_trees([each], {id(each): []}) for each in tactics]
    assert found == [
        [{"error": "`simp` works on several goals at once"}],
        [{"error": "`omega` is refused on its own"}],
        [{"error": "no tactic is known for a goal of it"}],
    ]
