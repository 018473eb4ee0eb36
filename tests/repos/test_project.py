"""What a Lean project consists of, found from its files without Lean, and what Lean reads of one with its imports."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from nanoproof.common.errors import UserError
from nanoproof.lean.declarations import declared_names
from nanoproof.lean.lean_file import PLACEHOLDER, LeanFile
from nanoproof.repos.project import EXPLICIT, Project, imported_into, whole_text
from nanoproof.repos.source_file import SourceFile, read_source


def folder(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    return root


def write(root: Path, **files: str) -> Project:
    return Project.read(folder(root, {f"{name.replace('__', '/')}.lean": text for name, text in files.items()}))


def paths(files: Sequence[SourceFile]) -> list[str]:
    return [file.path for file in files]


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
    problems = {file.path: file.error for file in project.files}
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
    assert "byte 8" in Project.read(tmp_path).files[0].error


def test_files_come_after_their_imports_and_each_import_is_read_once(tmp_path: Path) -> None:
    files = {
        "P/Z.lean": "theorem z : True := trivial\r\n",
        "P/B.lean": "import P.Z\ntheorem b : True := trivial\n",
        "P/C.lean": "public import P.Z\nimport Mathlib.Order\ntheorem c : True := trivial\n",
        "P/A.lean": "import P.B\nimport P.C\n\ntheorem a : True := sorry\n",
        ".lake/packages/X/X.lean": "import P.A\n",
        "lakefile.lean": "import Lake\n",
    }
    found = Project.read(folder(tmp_path, files))
    z, b, c, a = found.files
    assert paths(found.files) == ["P/Z.lean", "P/B.lean", "P/C.lean", "P/A.lean"]
    assert found.closure(a) == (z, b, c) and found.closure(z) == ()
    assert found.importers(["P/C.lean"]) == (a,) and found.external_imports(c) == ("Mathlib.Order",)
    assert [file.sorries for file in found.files] == [0, 0, 0, 1]
    texts = {file.path: file.text for file in found.files}
    read = whole_text(found, a, texts, {"P/B.lean"})
    before = " ".join(f"section theorem {name} : True := trivial end" for name in "zc")
    assert " ".join(read.split()) == f"{before} theorem a : True := sorry"


def test_what_a_server_has_imported_comes_with_its_imports(tmp_path: Path) -> None:
    files = {"A.lean": "", "B.lean": "import A\n", "C.lean": "import B\n", "D.lean": "import C\n"}
    assert Project.read(folder(tmp_path, files)).provided_by(["Mathlib", "B"]) == {"A.lean", "B.lean"}


def test_only_without_its_libraries_names_are_not_bound(tmp_path: Path) -> None:
    """A server with Mathlib binds what the project's own options say."""
    files = {"A.lean": "import Mathlib\ntheorem t (x : ENat) : x = x := sorry", "B.lean": "theorem b : True := sorry"}
    path = folder(tmp_path, files)
    assert Project.of_file(path, path / "A.lean").with_imports(None).before == EXPLICIT
    assert Project.of_file(path, path / "A.lean").with_imports([]).before == ""
    assert Project.of_file(path, path / "B.lean").with_imports(None).before == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lakefile.toml", "[leanOptions]\nautoImplicit = false"),
        ("lakefile.toml", '[[lean_lib]]\nname = "A"\nleanOptions = [{ name = "autoImplicit", value = false }]'),
        ("lakefile.toml", 'moreLeanArgs = ["-DautoImplicit=false"]'),
        ("lakefile.lean", "package p where\n  leanOptions := #[⟨`autoImplicit, false⟩]"),
        ("lakefile.lean", "package p where\n  leanOptions := #[{ name := `autoImplicit, value := false }]"),
    ],
)
def test_what_lakes_file_forbids_to_bind_is_not_bound(name: str, text: str, tmp_path: Path) -> None:
    path = folder(tmp_path, {name: text, "A.lean": "theorem t (x : α) : x = x := sorry"})
    for server in (None, ["Mathlib"]):
        assert Project.read(path / "A.lean").with_imports(server).before == "set_option autoImplicit false\n"


@pytest.mark.parametrize("text", ["", "# autoImplicit = false", "[leanOptions]\nautoImplicit = true"])
def test_without_such_options_nothing_is_set(text: str, tmp_path: Path) -> None:
    path = folder(tmp_path, {"lakefile.toml": text, "A.lean": "theorem t (x : α) : x = x := sorry"})
    assert Project.read(path).opening(Project.read(path).files[0], by_nanolean=True) == ""


def test_a_file_alone_comes_with_its_imports_only(tmp_path: Path) -> None:
    files = {"lean-toolchain": "", "P/A.lean": "", "P/B.lean": "import P.A\n", "P/C.lean": "import P.B\n"}
    found = Project.read(folder(tmp_path, files) / "P" / "B.lean")
    assert (found.root, found.only, paths(found.files)) == (tmp_path.resolve(), "P/B.lean", ["P/A.lean", "P/B.lean"])


def test_modules_may_be_named_from_a_folder_that_no_file_of_lakes_names(tmp_path):
    project = write(tmp_path, src__P__A="", src__P__B="", other__P__B="", Main="import P.A\nimport «P».B")
    assert project.file_of("P.A").path == "src/P/A.lean" and project.file_of("P.B") is None
    assert paths(project.closure(project.file("Main.lean"))) == ["src/P/A.lean"]


def test_no_proof_is_put_into_a_file_that_has_the_name_of_what_is_open(tmp_path):
    project = write(tmp_path, A=f"theorem {PLACEHOLDER} : True := sorry", B="import A\ntheorem b : True := sorry")
    assert [(file.sorries, bool(file.fault), file.error) for file in project.files] == [(0, True, ""), (1, False, "")]


def test_lines_may_end_as_on_windows(tmp_path):
    (tmp_path / "A.lean").write_bytes(b"theorem t :\r\n  True := by\r\n  trivial\r\n")
    file = read_source(tmp_path, tmp_path / "A.lean", "A")
    (premise,) = file.premises()
    assert (premise.code, premise.start, premise.end) == ("theorem t :\n  True", (1, 1), (3, 10))


def test_files_may_have_private_names_in_common(tmp_path: Path) -> None:
    aux = "private theorem aux : True := trivial\n"
    project = write(tmp_path, A=f"{aux}theorem a : True := aux", B=f"import A\n{aux}theorem b : True := aux")
    read = whole_text(project, project.file("B.lean"), {file.path: file.text for file in project.files})
    assert len(set(declared_names(read))) == 4 and declared_names(read)[2:] == ["aux", "b"]


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    project = write(tmp_path, A="theorem a : True := trivial", B="\ufeffimport A\ntheorem b : True := by sorry")
    file = project.file("B.lean")
    assert file.imports == ("A",) and not file.text.startswith("\ufeff")
    parsed = LeanFile.parse(file.written)
    assert parsed.with_proof(parsed.gaps[0], "trivial").written() == "\ufeffimport A\ntheorem b : True := by\n  trivial"


def test_a_file_with_an_import_that_cannot_be_read_is_refused_by_its_name(tmp_path: Path) -> None:
    write(
        tmp_path, A="import Latin\ntheorem a : True := by sorry", B="import C\ntheorem b : True := sorry", C="import B"
    )
    (tmp_path / "Latin.lean").write_bytes(b"-- \xe9\ntheorem c : 1 = 2 := sorry\n")
    for name, reason in (("A", r"it imports Latin\.lean, which is not UTF-8 text"), ("B", "it imports itself: ")):
        path = tmp_path / f"{name}.lean"
        with pytest.raises(UserError, match=f"{name}.lean: {reason}"):
            imported_into(path, LeanFile.parse(path.read_text()))
