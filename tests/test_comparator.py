"""`scripts.export_comparator`: a workspace for the public judges for each proof of an evaluation."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from nanoproof.common.errors import UserError
from nanoproof.lean.declarations import declared_names
from nanoproof.lean.source import negate, splice
from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt import Attempt
from scripts import export_comparator

SOURCES = {
    "plain": ("proven", "theorem plain (p : Prop) (h : p) : p := by\n  sorry", "exact h"),
    "within": ("proven", "namespace A\n\ntheorem b : 1 = 1 := by\n  sorry\n\nend A", "rfl"),
    "nameless": ("proven", "example : 2 = 2 := by\n  sorry", "rfl"),
    "lie": ("disproven", "theorem lie : 1 = 2 := by\n  sorry", "omega"),
    "open": ("unproven", "theorem open_ : False := by\n  sorry", ""),
}


def attempt(name: str) -> Attempt:
    outcome, source, proof = SOURCES[name]
    theorem = Theorem(source, "test", name)
    text = splice(negate(theorem) if outcome == "disproven" else theorem, proof) if proof else ""
    return Attempt(theorem, outcome, proof=proof, source=text)  # type: ignore[arg-type]


def evaluation(folder: Path, *names: str, lean: str | None = "nanolean", **changes: Any) -> Path:
    """The directory of an evaluation with these attempts."""
    records = [{**attempt(name).to_json(), **changes} for name in names]
    (folder / "results.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    (folder / "settings.json").write_text(json.dumps({"settings": {"lean": lean}}), encoding="utf-8")
    return folder


def project(folder: Path) -> Path:
    """A Lean project with requirements of every kind."""
    folder.mkdir()
    (folder / "lean-toolchain").write_text("leanprover/lean4:v4.27.0\n", encoding="utf-8")
    text = 'name = "lean_servers"\n\n[[require]]\nname = "mathlib"\nscope = "leanprover-community"\nrev = "v4.27.0"\n'
    text += '\n[[require]]\nname = "own"\npath = "../own"\noptions = {x = true, y = ["a\\"b", 2]}\n'
    (folder / "lakefile.toml").write_text(text, encoding="utf-8")
    (folder / "lake-manifest.json").write_text("{}", encoding="utf-8")
    (folder / "LeanServers.lean").write_text("import Mathlib\nimport Other.Module\n", encoding="utf-8")
    return folder


def test_every_proof_gets_a_workspace_with_equal_names_on_both_sides(tmp_path, capsys):
    folder = evaluation(tmp_path, *SOURCES)
    assert export_comparator.main([str(folder)]) == 0
    assert "4 of 4 proofs have a workspace" in capsys.readouterr().out
    names = {"plain": "plain", "within": "A.b", "nameless": "nanoproof_0", "lie": "lie_negated"}
    assert {path.name for path in (folder / "comparator").iterdir()} == names.keys()
    for file, name in names.items():
        workspace = folder / "comparator" / file
        config = json.loads((workspace / "config.json").read_text(encoding="utf-8"))
        assert config == {
            "challenge_module": "Challenge",
            "solution_module": "Solution",
            "theorem_names": [name],
            "permitted_axioms": ["propext", "Quot.sound", "Classical.choice"],
        }
        challenge, solution = ((workspace / f"{m}.lean").read_text(encoding="utf-8") for m in ("Challenge", "Solution"))
        assert declared_names(challenge) == declared_names(solution) == [name]
        assert challenge.count("sorry") == 1 and "sorry" not in solution


def test_without_a_project_nanolean_has_the_lean_that_its_library_follows(tmp_path):
    folder = evaluation(tmp_path, "plain")
    assert export_comparator.main([str(folder), "--output-dir", str(tmp_path / "out")]) == 0
    workspace = tmp_path / "out" / "plain"
    assert (workspace / "lean-toolchain").read_text(encoding="utf-8") == "leanprover/lean4:v4.33.0\n"
    lakefile = tomllib.loads((workspace / "lakefile.toml").read_text(encoding="utf-8"))
    assert lakefile["lean_lib"] == [{"name": "Challenge"}, {"name": "Solution"}] and "require" not in lakefile
    assert not (workspace / "Challenge.lean").read_text(encoding="utf-8").startswith("import")


def test_toolchain_requirements_and_imports_are_those_of_the_project(tmp_path):
    folder = evaluation(tmp_path, "plain", lean="v4.27.0")
    lean = project(tmp_path / "lean")
    words = [str(folder), "--lean-project", str(lean)]
    assert export_comparator.main([*words, "--share-packages"]) == 0
    workspace = folder / "comparator" / "plain"
    assert (workspace / "lean-toolchain").read_text(encoding="utf-8") == "leanprover/lean4:v4.27.0\n"
    assert (workspace / "lake-manifest.json").read_text(encoding="utf-8") == "{}"
    lakefile = tomllib.loads((workspace / "lakefile.toml").read_text(encoding="utf-8"))
    assert lakefile["packagesDir"] == str(lean / ".lake" / "packages")
    assert lakefile["require"] == [
        {"name": "mathlib", "scope": "leanprover-community", "rev": "v4.27.0"},
        {"name": "own", "path": str(tmp_path / "own"), "options": {"x": True, "y": ['a"b', 2]}},
    ]
    for module in ("Challenge", "Solution"):
        text = (workspace / f"{module}.lean").read_text(encoding="utf-8")
        assert text.startswith("import Mathlib\nimport Other.Module\n\ntheorem plain")
    assert export_comparator.main([*words, "--imports", "Init"]) == 0
    assert (workspace / "Solution.lean").read_text(encoding="utf-8").startswith("import Init\n\ntheorem plain")
    assert "packagesDir" not in (workspace / "lakefile.toml").read_text(encoding="utf-8")


def test_a_proof_of_something_else_is_left_out_and_told(tmp_path, capsys):
    folder = evaluation(tmp_path, "plain", source="theorem other : True := trivial")
    assert export_comparator.main([str(folder)]) == 1
    said = capsys.readouterr().out
    assert "left out: plain: the statement declares plain, its proof other" in said
    assert "0 of 1 proofs have a workspace" in said


@pytest.mark.parametrize(
    ("names", "lean", "flags", "reason"),
    [
        (["open"], "nanolean", [], "holds no proofs"),
        ([], "nanolean", [], "holds no attempts"),
        (["plain"], "v4.27.0", [], "--lean-project DIR is needed: .* was proved under Lean v4.27.0"),
        (["plain"], None, [], "--lean-project DIR is needed"),
        (
            ["plain"],
            "v4.27.0",
            ["--lean-project", "nowhere"],
            "--lean-project nowhere: cannot read nowhere/lean-toolchain",
        ),
    ],
)
def test_what_is_missing_is_one_line(tmp_path, names, lean, flags, reason):
    with pytest.raises(UserError, match=reason):
        export_comparator.main([str(evaluation(tmp_path, *names, lean=lean)), *flags])
    assert not (tmp_path / "comparator").exists()


def test_a_file_that_holds_no_attempts_is_one_line(tmp_path):
    (tmp_path / "results.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    with pytest.raises(UserError, match=r"results\.jsonl cannot be read"):
        export_comparator.main([str(tmp_path)])
