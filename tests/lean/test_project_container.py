"""The Dockerfile and the compose file of the Lean server, so far as they can be checked without building them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

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


def test_the_packages_of_the_image_are_pinned() -> None:
    found = re.search(r"--constraint /tmp/pins.txt (.+)$", DOCKERFILE, re.MULTILINE)
    assert found is not None
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert [name for name in found[1].split() if f'"{name}==' not in text] == []


def test_the_compose_file_builds_that_image_and_serves_this_machine_only() -> None:
    service = compose()
    context = (FOLDER / service["build"]["context"]).resolve()
    assert (context / service["build"]["dockerfile"]).resolve() == FOLDER / "Dockerfile"
    assert set(service["build"]["args"]) == set(re.findall(r"^ARG (\w+)=", DOCKERFILE, re.MULTILINE))
    assert service["ports"] == ["127.0.0.1:8000:8000"]
    assert list(service["environment"]) == [TOKEN_VARIABLE]
    assert ":?" in service["environment"][TOKEN_VARIABLE]
