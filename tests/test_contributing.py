"""The files for those who cite, report and contribute, held to what the project says elsewhere."""

import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from nanoproof.__main__ import version

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def read(file: Path) -> Any:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def test_the_citation_and_the_command_name_the_version_and_licence_of_the_package() -> None:
    citation = read(ROOT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= set(citation)  # what CFF 1.2.0 requires
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])
    assert version().startswith(f"nanoproof version {PROJECT['version']}, revision ")


@pytest.mark.parametrize("form", [file for file in FORMS if file.name != "config.yml"], ids=lambda file: file.stem)
def test_issue_forms_have_what_github_requires(form: Path) -> None:
    content = read(form)
    assert {"name", "description", "body"} <= set(content)
    names = [field["id"] for field in content["body"]]
    assert len(set(names)) == len(names)
    for field in content["body"]:
        assert field["type"] in ("input", "textarea") and field["attributes"]["label"]


def test_hooks_run_what_is_in_the_set_up_and_refuse_a_file_without_style(tmp_path: Path) -> None:
    hooks = read(ROOT / ".pre-commit-config.yaml")["repos"][0]["hooks"]
    if not (ROOT / ".venv" / "bin" / "ruff").exists():
        pytest.skip("no .venv")
    bad = tmp_path / "bad.py"
    bad.write_text("import os\nx  = 1\n")
    for hook in hooks:
        done = subprocess.run([*hook["entry"].split(), str(bad)], cwd=ROOT, capture_output=True, text=True, timeout=60)
        assert done.returncode == 1, done.stderr
