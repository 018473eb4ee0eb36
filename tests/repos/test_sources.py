"""The files of a project in the order of their imports, and what Lean reads of one: its imports before it."""

from pathlib import Path

import pytest

from nanoproof.common.errors import UserError
from nanoproof.repos.sources import enclosed, module_index, open_scopes, read_project, whole_text


def project(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    return root


@pytest.mark.parametrize(
    ("text", "scopes"),
    [
        ("namespace A\nsection\nend\n", ["A"]),
        ("namespace A.B\nend B\n", ["A"]),
        ("namespace A.B\nend A.B\n", []),
        ("namespace A\nsection\ntheorem end' : True := trivial\n", ["A", ""]),
        ("section One\nnamespace «a b».C\n", ["One", "«a b»", "C"]),
        ("mutual\ntheorem a : True := trivial\nend\n-- namespace B\n/- section -/\n", []),
        ("noncomputable section\nvariable (n : Nat)\n", [""]),
    ],
)
def test_scopes_that_a_file_leaves_open_are_known(text: str, scopes: list[str]) -> None:
    assert open_scopes(text) == scopes


def test_an_imported_file_is_a_section_that_ends_what_it_opens() -> None:
    assert enclosed("namespace A\nvariable (n : Nat)") == "section\nnamespace A\nvariable (n : Nat)\nend A\nend\n"


def test_files_come_after_their_imports_and_each_import_is_read_once(tmp_path: Path) -> None:
    files = {
        "P/Z.lean": "theorem z : True := trivial\r\n",
        "P/B.lean": "import P.Z\ntheorem b : True := trivial\n",
        "P/C.lean": "public import P.Z\nimport Mathlib.Order\ntheorem c : True := trivial\n",
        "P/A.lean": "import P.B\nimport P.C\n\ntheorem a : True := sorry\n",
        ".lake/packages/X/X.lean": "import P.A\n",
        "lakefile.lean": "import Lake\n",
    }
    found = read_project(project(tmp_path, files))
    assert list(found.files) == ["P/Z.lean", "P/B.lean", "P/C.lean", "P/A.lean"]
    assert found.needed("P/A.lean") == ("P/Z.lean", "P/B.lean", "P/C.lean") and found.needed("P/Z.lean") == ()
    assert found.importers(["P/C.lean"]) == ("P/A.lean",) and found.foreign["P/C.lean"] == ("Mathlib.Order",)
    assert [file.sorries for file in found.files.values()] == [0, 0, 0, 1]
    texts = {path: file.text for path, file in found.files.items()}
    read = whole_text(found, "P/A.lean", texts, {"P/B.lean"})
    z, c = (f"section theorem {name} : True := trivial end" for name in "zc")
    assert " ".join(read.split()) == f"{z} {c} theorem a : True := sorry"


def test_what_a_server_has_imported_comes_with_its_imports(tmp_path: Path) -> None:
    files = {"A.lean": "", "B.lean": "import A\n", "C.lean": "import B\n", "D.lean": "import C\n"}
    assert read_project(project(tmp_path, files)).provided_by(["Mathlib", "B"]) == {"A.lean", "B.lean"}


def test_a_file_alone_comes_with_its_imports_only(tmp_path: Path) -> None:
    files = {"lean-toolchain": "", "P/A.lean": "", "P/B.lean": "import P.A\n", "P/C.lean": "import P.B\n"}
    found = read_project(project(tmp_path, files) / "P" / "B.lean")
    assert (found.root, found.only, list(found.files)) == (tmp_path.resolve(), "P/B.lean", ["P/A.lean", "P/B.lean"])


def test_modules_may_be_named_from_a_folder_of_sources() -> None:
    index = module_index(["src/P/A.lean", "src/P/B.lean", "other/P/B.lean"])
    assert index["P.A"] == "src/P/A.lean" and "P.B" not in index


def test_a_circle_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"import each other: A\.lean -> B\.lean -> A\.lean"):
        read_project(project(tmp_path, {"A.lean": "import B\n", "B.lean": "import A\n"}))


def test_what_cannot_be_read_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "Bad.lean").write_bytes(b"theorem a : True := \xff\n")
    found = read_project(project(tmp_path, {"A.lean": "import Bad\n"}))
    assert "byte 20" in found.files["Bad.lean"].error and not found.files["A.lean"].error


def test_a_folder_without_lean_files_is_a_users_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no \.lean file"):
        read_project(tmp_path)
