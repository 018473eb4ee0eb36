"""Headers of Lean files, of today and of before, wherever a file is read."""

from pathlib import Path

import pytest

from nanolean.commands.runner import run_text
from nanolean.library.loader import load_library
from nanolean.tests.each import each
from nanoproof.data.midtrain.refine import examine
from nanoproof.lean.lean_file import PLACEHOLDER, LeanFile
from nanoproof.lean.lexical import imported_modules, without_header
from nanoproof.lean.project.layout import ROOT_MODULE, required_imports
from nanoproof.lean.source import parse_declaration
from nanoproof.lean.types import SourceError

THEOREM = "theorem t : 1 = 1 := by sorry"
HEADERS = [
    ("import A\nimport B.C\n", ["A", "B.C"], "\n\n"),
    ("import A import B\n", ["A", "B"], "\n"),
    ("import\n  A\n", ["A"], "\n\n"),
    ("module\n\npublic import A\nmeta import B\npublic meta import C\n", ["A", "B", "C"], "\n\n\n\n\n"),
    ("module\nimport all A\npublic import all B\n", ["A", "B"], "\n\n\n"),
    ("prelude\nimport «my lib».A'\n", ["«my lib».A'"], "\n\n"),
    ("/- (c) import X -/\nmodule -- new\n\n/- why\nimport Y -/ public import A -- for a\n", ["A"], None),
    ("module\n", [], "\n"),
]


@each(("text", "modules", "left"), HEADERS)
def test_a_header_is_taken_off_and_the_lines_below_keep_their_numbers(text, modules, left):
    left = "/- (c) import X -/\n-- new\n\n/- why\nimport Y -/ -- for a\n" if left is None else left
    assert imported_modules(text + THEOREM) == modules
    assert without_header(text + THEOREM) == left + THEOREM


@pytest.mark.parametrize(
    "text",
    [
        "-- import A\ntheorem module : import_ := all",
        "def f := 1\n\nmodule_doc",
        "/-- import A -/\nprelude_ x",
        "moduleA\nimportA B",
        "",
    ],
)
def test_what_only_looks_like_a_header_stays(text):
    assert without_header(text) == text and imported_modules(text) == []


@each(("text", "modules", "left"), HEADERS)
def test_the_prover_is_given_no_header_and_a_file_is_written_with_it(text, modules, left):
    file = LeanFile.parse(text + THEOREM)
    source = file.theorem(file.gaps[0], "file", "t").source
    assert parse_declaration(source).name == "t" and source.startswith(f"axiom {PLACEHOLDER}")
    assert file.with_proof(file.gaps[0], "rfl").written() == text + "theorem t : 1 = 1 := by\n  rfl"


@pytest.mark.parametrize("line", ["import A", "public import A", "public meta import all A", "module", "prelude"])
def test_a_source_with_a_header_is_refused_by_its_words(line):
    with pytest.raises(SourceError, match=f"a theorem's source holds no imports, got '{line}'"):
        parse_declaration(f"-- a note\n{line}\n\n{THEOREM}")


def test_an_import_below_the_header_is_refused_too():
    with pytest.raises(SourceError, match="holds no imports, got 'public import A'"):
        parse_declaration(f"open Nat\npublic import A\n{THEOREM}")


def test_files_that_differ_in_their_header_only_are_duplicates():
    codes = {examine(f"{header}\ntheorem t : 1 = 1 := rfl\n", None).code for header, *_ in HEADERS}
    assert len(codes) == 1
    assert examine("module\n\npublic import A\npublic import B\n", None).code == ""


def test_servers_are_told_to_import_what_the_root_module_does(tmp_path: Path):
    (tmp_path / f"{ROOT_MODULE}.lean").write_text("module\npublic import Mathlib\nimport all My.Lib -- mine\n")
    assert required_imports(tmp_path) == ["Mathlib", "My.Lib"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("module\npublic import Init\nmeta import Std\nimport all Lean\n", None),
        ("import Init import Mathlib\n", "unknown module prefix 'Mathlib'"),
        ("module\nimport all Mathlib.Tactic\n", "unknown module prefix 'Mathlib'"),
        ("public import Init\n", "cannot use `public import` without `module`"),
        ("prelude\n", "`prelude` is not supported"),
    ],
)
def test_nanolean_reads_headers_of_files(text, said):
    result = run_text(load_library(), text + "theorem t : 1 = 1 := rfl", header=True)
    errors = [message.text.splitlines()[0] for message in result.messages if message.severity == "error"]
    assert [error[: len(said)] if said else error for error in errors] == ([said] if said else [])
