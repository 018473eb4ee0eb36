"""The Dockerfile and the compose file of the Lean server, so far as they can be checked without building them."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.lean.project.__main__ import make_parser
from nanoproof.lean.project.layout import LIBRARIES, parse_version
from nanoproof.lean.project.setup import REPL_EXE
from nanoproof.lean.server.backend import ServerSettings
from nanoproof.lean.transport import TOKEN_VARIABLE

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "runs" / "lean-server"
DOCKERFILE = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
_DEFAULT = re.compile(r"\$\{\w+:-([^}]*)\}")


def words_of(instruction: str) -> list[str]:
    found = re.search(rf"^{instruction} (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert found is not None
    return list(json.loads(found[1]))


def compose() -> dict[str, Any]:
    """The service, with the defaults of its variables filled in."""
    text = _DEFAULT.sub(r"\1", (FOLDER / "compose.yaml").read_text(encoding="utf-8"))
    return dict(yaml.safe_load(text)["services"]["lean"])


@pytest.mark.parametrize("flags", [words_of("CMD"), compose()["command"]])
def test_the_container_starts_a_server_over_the_project_that_it_made(flags: list[str]) -> None:
    python, minus_m, module, *fixed = words_of("ENTRYPOINT")
    assert (python, minus_m, module) == ("python", "-m", "nanoproof.lean.server")
    parser = Parser()
    add_flags(parser, ServerSettings)
    settings = from_args(ServerSettings, parser.parse_args([*fixed, *flags]))
    assert (settings.backend, settings.imports, settings.repl_exe) == ("repl", ("Mathlib",), REPL_EXE)
    made = re.search(r"nanoproof\.lean\.project (create .*?) \\$", DOCKERFILE, re.MULTILINE)
    assert made is not None
    defaults = dict(re.findall(r"^ARG (\w+)=(\S+)$", DOCKERFILE, re.MULTILINE))
    words = re.sub(r"\$(\w+)", lambda match: defaults[match[1]], made[1]).split()
    args = make_parser().parse_args(words)
    assert (args.dir, args.lean, args.libraries) == (settings.project_path, parse_version(args.lean), ["mathlib"])
    assert set(args.libraries) <= set(LIBRARIES)


def test_what_the_image_copies_is_there_and_not_ignored() -> None:
    ignore = (FOLDER / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    for line in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE):
        for source in line.split():
            assert (ROOT / source).exists()
            assert f"!{source.split('/')[0]}" in ignore


def image_packages() -> list[str]:
    """The packages that the image installs by name."""
    found = re.search(r"--constraint /tmp/pins.txt (.+)$", DOCKERFILE, re.MULTILINE)
    assert found is not None
    return found[1].split()


def test_the_packages_of_the_image_are_pinned() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert [name for name in image_packages() if f'"{canonicalize_name(name)}==' not in text] == []


@pytest.mark.nightly
def test_the_packages_of_the_image_are_all_that_the_server_imports() -> None:
    found: set[str] = set()
    waiting = image_packages()
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name not in found:
            found.add(name)
            needs = map(Requirement, metadata.requires(name) or [])
            waiting += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    code = "import sys, nanoproof.lean.server.__main__; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    distributions = metadata.packages_distributions()
    loaded = {each for name in done.stdout.split() for each in distributions.get(name, ())}
    assert loaded, done.stderr
    assert {canonicalize_name(name) for name in loaded} <= found | {"nanoproof", "setuptools"}


def test_the_files_that_make_the_project_are_enough_for_it(tmp_path: Path) -> None:
    for line, folder in re.findall(r"^COPY (.+) /opt/setup/(\S+)$", DOCKERFILE, re.MULTILINE):
        for source in line.split():
            target = tmp_path / folder / (Path(source).name if folder.endswith("/") else "")
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / source).is_dir() else shutil.copyfile)(ROOT / source, target)
    command = [sys.executable, "-m", "nanoproof.lean.project", "create", "project", "--libraries", "mathlib"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, (tmp_path / "project" / "lakefile.toml").is_file()) == (0, True), done.stderr


def test_the_compose_file_builds_that_image_and_serves_this_machine_only() -> None:
    service = compose()
    context = (FOLDER / service["build"]["context"]).resolve()
    assert (context / service["build"]["dockerfile"]).resolve() == FOLDER / "Dockerfile"
    assert set(service["build"]["args"]) == set(re.findall(r"^ARG (\w+)=", DOCKERFILE, re.MULTILINE))
    assert service["ports"] == ["127.0.0.1:8000:8000"]
    assert list(service["environment"]) == [TOKEN_VARIABLE]
    assert ":?" in service["environment"][TOKEN_VARIABLE]
