"""The Dockerfile and compose.yml of the product, so far as they can be checked without docker."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.inference.__main__ import ModelOptions
from nanoproof.monitor.__main__ import MonitorOptions
from nanoproof.policy.protocol import ServiceOptions

ROOT = Path(__file__).resolve().parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def instructions(name: str) -> list[str]:
    """The arguments of each instruction of this name, with continued lines joined."""
    joined = DOCKERFILE.replace("\\\n", " ")
    return re.findall(rf"^{name} (.+)$", joined, re.MULTILINE)


def test_it_holds_to_the_rules_of_hadolint_that_matter_here() -> None:
    (base,) = instructions("FROM")
    assert re.search(r":[\w.-]+$", base) and not base.endswith(":latest")  # DL3006, DL3007
    assert instructions("USER")[-1] not in ("root", "0")  # DL3002
    assert instructions("ADD") == []  # DL3020
    assert all(Path(folder).is_absolute() for folder in instructions("WORKDIR"))  # DL3000
    for form in instructions("ENTRYPOINT") + instructions("CMD"):
        assert isinstance(json.loads(form), list)  # DL3025
    script = "\n".join(instructions("RUN"))
    for installed in re.findall(r"apt-get install[^&]*", script):
        assert "-y" in installed and "--no-install-recommends" in installed  # DL3014, DL3015
    assert "rm -rf /var/lib/apt/lists/*" in script  # DL3009
    for installed in re.findall(r"(?<!uv )pip install[^&]*", script):
        assert "--no-cache-dir" in installed and "==" in installed  # DL3042, DL3013
    assert "sudo" not in script and "| sh" not in script  # DL3004, DL4006


def test_what_is_copied_is_there_not_ignored_and_all_that_a_wheel_is_made_of() -> None:
    kept = (ROOT / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    copied = set()
    for line in instructions("COPY"):
        copied.update(line.split()[:-1])
    assert [name for name in copied if not (ROOT / name).exists() or f"!{name}" not in kept] == []
    # The same as tests/test_wheel.py builds a wheel of.
    assert copied == {
        *("nanoproof", "nanolean", "scripts", "data"),
        "pyproject.toml",
        "setup.py",
        "README.md",
        "LICENSE",
    }


def test_only_the_monitor_can_be_reached_and_from_this_machine_alone() -> None:
    ports = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert ports == {"monitor": ["127.0.0.1:5050:5050"]}
    assert COMPOSE["networks"]["private"]["internal"] is True
    for name, service in SERVICES.items():
        assert "private" in service["networks"] and service["cap_drop"] == ["ALL"]
        assert name == "monitor" or "front" not in service["networks"]
        for variable, value in service["environment"].items():
            assert value.startswith(f"${{{variable}:?"), name  # a service without its token does not start


@pytest.mark.parametrize(
    ("name", "options"), [("inference", (ModelOptions, ServiceOptions)), ("monitor", (MonitorOptions,))]
)
def test_the_services_are_commands_with_flags_that_exist(name: str, options: tuple[type[Any], ...]) -> None:
    text = re.sub(r"\$\{MODEL:-([^}]*)\}", r"\1", " ".join(SERVICES[name]["command"]))
    command, *words = text.split()
    assert command == name
    parser = Parser()
    for options_class in options:
        add_flags(parser, options_class)
    args = parser.parse_args(words)
    for options_class in options:
        from_args(options_class, args)
