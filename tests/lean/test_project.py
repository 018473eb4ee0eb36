"""Lean projects for servers: what is written, and what is refused."""

import tomllib
from pathlib import Path

import pytest

from nanoproof.common.errors import UserError
from nanoproof.lean.project.__main__ import main
from nanoproof.lean.project.layout import lean_version, parse_version


def test_a_project_requires_mathlib_at_the_tag_of_its_lean(tmp_path: Path) -> None:
    folder = tmp_path / "my project"
    main(["create", str(folder)])
    lakefile = tomllib.loads((folder / "lakefile.toml").read_text())
    assert [(entry["name"], entry["rev"]) for entry in lakefile["require"]] == [("mathlib", "v4.27.0")]
    assert lakefile["defaultTargets"] == [lakefile["lean_lib"][0]["name"]] == ["LeanServers"]
    assert (folder / "LeanServers.lean").read_text() == "import Mathlib\n"
    assert (folder / "lean-toolchain").read_text() == "leanprover/lean4:v4.27.0\n"
    assert lean_version(folder) == "v4.27.0"


def test_formal_conjectures_brings_mathlib_and_the_imports_that_build_it(tmp_path: Path) -> None:
    main(["create", str(tmp_path / "new" / "p"), "--lean", "4.27.0", "--libraries", "formal_conjectures"])
    lakefile = tomllib.loads((tmp_path / "new" / "p" / "lakefile.toml").read_text())
    mathlib, conjectures = lakefile["require"]
    assert mathlib["name"] == "mathlib"
    assert conjectures == {
        "name": "formal_conjectures",
        "scope": "google-deepmind",
        "git": "https://github.com/google-deepmind/formal-conjectures",
        "rev": "89c6801f9f05cf63105d66843ed70b1e4ceb0c69",
    }
    assert (tmp_path / "new" / "p" / "LeanServers.lean").read_text().splitlines() == [
        "import Mathlib",
        "import FormalConjecturesForMathlib.Analysis.SpecialFunctions.NthRoot",
        "import FormalConjectures.Util.Answer",
    ]


def test_another_revision_of_a_library_can_be_named(tmp_path: Path) -> None:
    main(["create", str(tmp_path / "p"), "--lean", "v4.28.0-rc1", "--libraries", "formal_conjectures@abc", "mathlib"])
    lakefile = tomllib.loads((tmp_path / "p" / "lakefile.toml").read_text())
    assert [entry["rev"] for entry in lakefile["require"]] == ["v4.28.0-rc1", "abc"]


def test_a_project_can_do_without_libraries(tmp_path: Path) -> None:
    main(["create", str(tmp_path), "--libraries"])
    assert "require" not in tomllib.loads((tmp_path / "lakefile.toml").read_text())


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--lean", "4.27"], "not a version of Lean: '4.27'"),
        (["--lean", "v4.27.0; rm"], "not a version of Lean"),
        (["--lean", ""], "not a version of Lean"),
        (["--libraries", "mathlb"], "unknown library 'mathlb' .known: mathlib, formal_conjectures."),
        (["--libraries", "mathlib", "mathlib@abc"], "mathlib is named twice"),
        (["--libraries", 'mathlib@a"b'], "not a git revision"),
        (["--libraries", "mathlib@"], "not a git revision"),
        (["--lean", "v4.28.0", "--libraries", "formal_conjectures"], "is for Lean v4.27.0, not v4.28.0"),
        (["--repl", "fork"], "--repl: unknown REPL 'fork' .known: official, leantree."),
        (["--repl", "leantree"], "--repl: leantree is for Lean v4.19.0, not v4.27.0; take --repl official"),
        (["--repl", "leantree@"], "not a git branch"),
    ],
)
def test_what_cannot_be_created_is_refused_and_writes_nothing(tmp_path: Path, flags: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        main(["create", str(tmp_path / "p"), *flags])
    assert list(tmp_path.iterdir()) == []


def test_create_leaves_what_is_there_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(UserError, match="is not empty"):
        main(["create", str(tmp_path)])
    with pytest.raises(UserError, match="is a file"):
        main(["create", str(tmp_path / "mine")])
    with pytest.raises(UserError, match="cannot write the project"):
        main(["create", str(tmp_path / "mine" / "p")])
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("leanprover/lean4:v4.27.0\n", "v4.27.0"),
        ("leanprover/lean4:4.27.0", "v4.27.0"),
        ("v4.28.0-rc1", "v4.28.0-rc1"),
        ("leanprover/lean4:nightly-2026-01-31", "nightly-2026-01-31"),
    ],
)
def test_lean_toolchain_is_read(tmp_path: Path, text: str, version: str) -> None:
    (tmp_path / "lean-toolchain").write_text(text)
    assert lean_version(tmp_path) == version


@pytest.mark.parametrize("content", [None, b"", b"stable", b"\xff\xfe", b"leanprover/lean4:v4.27.0\nv4.28.0"])
def test_a_bad_lean_toolchain_is_an_error_that_names_the_file(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "lean-toolchain").write_bytes(content)
    with pytest.raises(UserError, match="lean-toolchain"):
        lean_version(tmp_path)


def test_versions_are_written_with_their_v() -> None:
    assert parse_version("4.9.1") == parse_version("v4.9.1") == "v4.9.1"
