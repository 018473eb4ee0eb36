"""The commands for files and for the library: check, export, build."""

import json
import re
from pathlib import Path

import pytest

from nanolean.__main__ import make_parser
from nanolean.commands.runner import run_text
from nanolean.kernel.env import axioms_of
from nanolean.library import loader
from nanolean.library.loader import cache_path, load_library, open_library
from nanolean.library.texts import beyond_core, declarations, declared_in, library_declarations
from nanolean.system import UserError
from nanolean.tests.library import base
from nanolean.tools import export as export_tool
from nanolean.tools.check import build, check_file, check_files
from nanolean.tools.export import NAMESPACE, export

pytestmark = pytest.mark.usefixtures("library_read_once")


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# --- check


def test_a_file_in_which_all_is_proved_passes(tmp_path, capsys):
    file = write(tmp_path / "a.lean", "def two := 2\n\ntheorem t : two = 2 := rfl\n")
    assert check_files([file]) == 0
    assert capsys.readouterr().out.startswith("1 file: 1 theorem, 1 definition; all checked by the kernel\ntrusted: ")


def test_a_sorry_fails_with_its_place(tmp_path, capsys):
    file = write(tmp_path / "a.lean", "theorem t : 1 = 1 := by\n  have h : 2 = 2 := sorry\n  rfl\n")
    assert check_files([file]) == 1
    out = capsys.readouterr().out
    assert f"{file}:2:20: sorry: 2 = 2" in out
    assert f"{file}:1:8: warning: declaration uses `sorry`" in out
    assert "1 file not proved" in out


def test_the_axiom_behind_sorry_fails_too(tmp_path):
    file = write(tmp_path / "a.lean", "example : 1 = 2 := sorryAx _ false\n")
    assert check_files([file]) == 1


def test_every_error_of_a_file_is_listed(tmp_path):
    text = "theorem a : 1 = 2 := rfl\n\ntheorem b : 1 = 1 := foo\n\n#nonsense\n"
    report = check_file(base(), write(tmp_path / "a.lean", text))
    assert [(f.line, f.column) for f in report.findings if f.severity == "error"] == [(1, 21), (3, 21), (5, 0)]


def test_axioms_are_listed_by_theorem(tmp_path, capsys):
    text = "theorem plain : 1 = 1 := rfl\n\ntheorem em' (p : Prop) : p ∨ ¬p := Classical.em p\n"
    file = write(tmp_path / "a.lean", text)
    check_files([file], axioms=True)
    out = capsys.readouterr().out
    assert f"{file}: plain: no axioms" in out
    assert "em': " in out and "Classical.choice" in out


def test_what_rests_on_an_axiom_of_the_file_is_said_so_unasked(tmp_path, capsys):
    text = "axiom lie : 1 = 2\ntheorem free (p : Prop) : p ∨ ¬p := Classical.em p\ntheorem t : 2 = 1 := lie.symm\n"
    file = write(tmp_path / "a.lean", text)
    assert check_files([file]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == f"{file}: t holds if lie does, which the file takes for granted" and second.startswith("1 file: ")


def test_the_report_is_json_on_request(tmp_path, capsys):
    good = write(tmp_path / "a.lean", "theorem t : 1 = 1 := rfl\n")
    bad = write(tmp_path / "b.lean", "theorem t : 1 = 2 := rfl\n")
    assert check_files([good, bad], as_json=True) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is False
    assert [file["ok"] for file in report["files"]] == [True, False]
    assert report["files"][0]["axioms"] == {"t": []}
    assert report["files"][1]["messages"][0]["line"] == 1


def test_what_a_file_declares_comes_behind_its_messages(tmp_path, capsys):
    text = "namespace A\naxiom lie : False\ninductive T where | c\ntheorem t : True := trivial\nend A\n"
    file = write(tmp_path / "a.lean", text)
    check_files([file], as_messages=True)
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert said["fileName"] == str(file)
    assert [entry for entry in said["declared"] if entry[0] != "def"] == [
        ["axiom", "A.lie"],
        ["inductive", "A.T"],
        ["ctor", "A.T.c"],
        ["rec", "A.T.rec"],
        ["theorem", "A.t"],
    ]


def test_files_do_not_see_each_other(tmp_path):
    first = write(tmp_path / "a.lean", "theorem shared : 1 = 1 := rfl\n")
    second = write(tmp_path / "b.lean", "theorem uses : 1 = 1 := shared\n")
    assert check_files([first, second]) == 1


def test_a_file_may_import_what_comes_with_lean_and_nothing_else(tmp_path):
    assert (
        check_files([write(tmp_path / "a.lean", "import Lean\n-- why\nimport Init\ntheorem t : 1 = 1 := rfl\n")]) == 0
    )
    assert check_files([write(tmp_path / "b.lean", "import Mathlib\ntheorem t : 1 = 1 := rfl\n")]) == 1


@pytest.mark.timeout(60)
def test_comments_before_the_imports_are_read_once_and_nest(tmp_path):
    text = "/- a /- b -/ import Mathlib -/\n" + "/- c -/ -- d\n" * 1000 + "import Lean\ntheorem t : 1 = 1 := rfl\n"
    assert check_files([write(tmp_path / "a.lean", text)]) == 0


# --- export


def exported(tmp_path, *sources: str) -> str:
    out = tmp_path / "out.lean"
    assert export(list(sources), out) == 0
    return out.read_text(encoding="utf-8")


def test_a_library_theorem_is_exported_with_a_header_and_checks_again(tmp_path):
    text = exported(tmp_path, "Nat.add_comm")
    assert text.startswith("/-\nProved in NanoLean, for Lean 4.33")
    assert "Declarations: Nat.add_comm." in text and "Axioms: none." in text
    assert not re.search(r"^import", text, re.MULTILINE)
    assert f"namespace {NAMESPACE}" in text
    assert check_files([tmp_path / "out.lean"]) == 0


def test_what_core_has_is_used_by_name(tmp_path):
    text = exported(tmp_path, "Nat.add_comm")
    assert "theorem Nat.add_comm" in text
    assert "theorem Nat.succ_add" not in text and "Nat.succ_add" in text


def test_what_core_lacks_is_brought_along(tmp_path, monkeypatch):
    monkeypatch.setattr(export_tool, "beyond_core", lambda: (frozenset({"Nat.succ_add"}), ("Omega.",)))
    text = exported(tmp_path, "Nat.add_comm")
    assert text.index("theorem Nat.succ_add") < text.index("theorem Nat.add_comm")
    assert "Lean's core does not have them: Nat.succ_add." in text
    assert check_files([tmp_path / "out.lean"]) == 0


def test_what_only_a_tactic_uses_is_not_brought_along(tmp_path):
    source = write(tmp_path / "a.lean", "theorem t (a b : Nat) (h : a < b) : a + 1 ≤ b := by\n  omega\n")
    text = exported(tmp_path, str(source))
    assert "Omega" not in text
    assert text.endswith("  omega\n")


def test_a_file_is_exported_without_its_imports(tmp_path):
    source = write(tmp_path / "a.lean", "import Lean\n\ntheorem t : 1 = 1 := rfl\n")
    text = exported(tmp_path, str(source))
    assert "import Lean" not in text and "theorem t : 1 = 1 := rfl" in text


def test_a_file_with_a_gap_is_not_exported(tmp_path):
    source = write(tmp_path / "a.lean", "theorem t : 1 = 1 := sorry\n")
    with pytest.raises(UserError, match="has errors or `sorry`"):
        export([str(source)], tmp_path / "out.lean")
    assert not (tmp_path / "out.lean").exists()


def test_a_proof_that_only_the_library_can_make_is_not_exported(tmp_path):
    with pytest.raises(UserError, match="only inside of the library"):
        export(["Nat.mod_lt"], tmp_path / "out.lean")
    assert not (tmp_path / "out.lean").exists()


def test_an_unknown_name_is_not_exported(tmp_path):
    with pytest.raises(UserError, match=r"Nat\.nonsense is neither"):
        export(["Nat.nonsense"], tmp_path / "out.lean")


def test_a_declaration_comes_with_its_scope():
    text = "namespace A\nvariable (p : Prop)\nsection B\nopen Nat\ntheorem t : p → p := id\nend B\n"
    text += "theorem u : 1 = 1 := rfl\nend A\n"
    first, second = declared_in(text)
    assert first.name == "A.t"
    assert first.opening == ("namespace A", "variable (p : Prop)", "section B", "open Nat")
    assert first.closing == ("end B", "end A")
    assert second.opening == ("namespace A", "variable (p : Prop)")


def test_the_list_of_names_beyond_core_is_about_the_library():
    exact, prefixes = beyond_core()
    names = {info.name for info in declarations(base())}
    assert exact <= names
    assert all(any(name.startswith(prefix) for name in names) for prefix in prefixes)


# --- build


def test_every_theorem_of_the_library_is_found_in_its_text():
    known = library_declarations()
    assert [info.name for info in declarations(base()) if info.kind == "theorem" and info.name not in known] == []


def test_no_library_theorem_rests_on_sorry():
    assert all(
        "sorryAx" not in axioms_of(base().env, info.name) for info in declarations(base()) if info.kind == "theorem"
    )


def test_the_librarys_text_comes_to_what_is_recorded():
    """A cache that is read instead was written by this code, from this text, where it came to this."""
    assert open_library().recorded


def test_a_library_is_built_from_text_by_one_command_recorded_and_read_again_as_it_was(capsys, monkeypatch, tmp_path):
    """The first files of the library, in the place of all, which take seconds."""
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    monkeypatch.setattr("nanolean.tools.check.library_files", lambda: loader.library_files()[:3])
    monkeypatch.setattr(loader, "DIGEST", tmp_path / "digest.txt")
    assert build() == 1 and not cache_path().exists()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("01_prelude.lean: ") and lines[-1].startswith("this is not the library that ")
    assert build(record=True) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"\d+ theorems checked in [\d.]+ s", lines[-1])
    assert cache_path().parent == tmp_path / "cache" and cache_path().is_file()
    read = load_library()
    assert read.env.names() == base().env.names()[: len(read.env)] and len(read.env) > 200
    assert read.tagged("simp") == base().tagged("simp")[: len(read.tagged("simp"))]
    for info in read.env:
        other = base().env[info.name]
        assert (other.kind, other.type) == (info.kind, info.type)
        assert getattr(other, "value", None) is getattr(info, "value", None)


def test_exported_text_is_what_the_library_says():
    declared = library_declarations()["Nat.add_comm"]
    result = run_text(base(), f"namespace Copy\n{declared.text}\nend Copy")
    assert not result.has_errors


@pytest.mark.parametrize(
    ("name", "words"),
    [("none.lean", "there is no such file"), (".", "it is a folder"), ("latin.lean", r"it is not UTF-8 \(byte 3\)")],
)
def test_a_file_that_cannot_be_read_is_told_before_the_library_is_loaded(tmp_path, monkeypatch, name, words):
    (tmp_path / "latin.lean").write_bytes(b"-- \xff")
    monkeypatch.setattr("nanolean.tools.check.open_library", lambda distrust: pytest.fail("it was loaded"))
    with pytest.raises(UserError, match=f"cannot read .*: {words}"):
        check_files([tmp_path / name])


@pytest.mark.parametrize(
    ("argv", "words"),
    [(["chek", "a.lean"], "did you mean check?"), (["check", "--axiom", "a.lean"], "did you mean --axioms?")],
)
def test_errors_of_the_command_line_name_what_comes_nearest(capsys, argv, words):
    with pytest.raises(SystemExit, match="2"):
        make_parser().parse_args(argv)
    assert words in capsys.readouterr().err
