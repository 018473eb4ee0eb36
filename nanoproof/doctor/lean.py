"""Checks of Lean: the embedded prover, servers, a project; and of the dashboard's pages."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanoproof.common.run_dir import REPO_ROOT
from nanoproof.common.terminal import size
from nanoproof.doctor.report import Asked, Finding, attempt, describe

if TYPE_CHECKING:
    from nanoproof.lean.fleet import ServerReport

PROJECT_VARIABLE = "LEAN_PROJECT_PATH"
BUILD = "python -m nanolean build"


def embedded(asked: Asked) -> list[Finding]:
    """NanoLean: whether its library loads."""
    return [attempt("nanolean", _embedded, BUILD)]


def _embedded() -> Finding:
    from nanolean.library.loader import cache_path, library_files, load_library

    path = cache_path()
    if not path.exists():
        text = f"library not checked yet; what needs it does it first ({len(library_files())} files, half a minute)"
        return Finding("nanolean", "absent", text, BUILD, usable=True)
    start = time.monotonic()
    load_library()
    seconds = time.monotonic() - start
    return Finding("nanolean", "ok", f"library loaded in {seconds:.1f} s ({size(path.stat().st_size)})")


def servers(asked: Asked) -> list[Finding]:
    """Every Lean server that is given."""
    if not asked.lean_servers:
        text = "none given (--lean-servers HOST:PORT); RL and evaluation start the embedded prover then"
        return [Finding("lean servers", "absent", text)]
    try:
        return _servers(asked)
    except Exception as error:
        return [Finding("lean servers", "broken", describe(error))]


def _servers(asked: Asked) -> list[Finding]:
    """All at the same time: a dead one may take seconds."""
    from nanoproof.lean.address import parse_address
    from nanoproof.lean.errors import LeanError
    from nanoproof.lean.fleet import LeanFleet

    findings, addresses = [], []
    for text in asked.lean_servers:
        try:
            addresses.append(parse_address(text))
        except LeanError as error:
            findings.append(Finding("lean servers", "broken", str(error)))
    with ThreadPoolExecutor(max_workers=max(1, min(32, len(addresses)))) as threads:
        reports = LeanFleet(addresses, asked.lean_token).statuses()
        return [*threads.map(lambda report: _server(report, asked.lean_token), reports), *findings]


def _server(report: "ServerReport", token: str | None) -> Finding:
    """What its status says, and whether it can prove a small theorem."""
    from nanoproof.lean.probe import COMMAND, brief_problem

    address, status = report.address, report.status
    if status is None:
        start = "python -m nanoproof.lean.server --project-path DIR --repl-exe repl/.lake/build/bin/repl"
        return Finding("lean servers", "broken", report.error, start)
    if status["max_processes"] == 0:
        return Finding("lean servers", "broken", f"{address}: it has no processes (--max-processes)")
    if (problem := brief_problem(address, token)) is not None:
        return Finding("lean servers", "broken", problem, f"{COMMAND} {address}")
    return Finding("lean servers", "ok", f"{address}: {_processes(status)}")


def _processes(status: dict[str, Any]) -> str:
    words = [f"{status['max_processes']} processes"]
    words += [
        f"{status[name + '_processes']} {name}"
        for name in ("available", "used", "starting")
        if f"{name}_processes" in status
    ]
    if status.get("ready") is False:
        words.append("not ready yet")
    ram = status.get("ram")
    if isinstance(ram, dict) and isinstance(ram.get("available_bytes"), (int, float)):
        words.append(f"{size(ram['available_bytes'])} of memory available")
    return ", ".join(words)


def project_folder(asked: Asked) -> tuple[str, str] | None:
    """The Lean project that is meant, and who says so."""
    if asked.lean_project:
        return asked.lean_project, "--lean-project"
    folder = os.environ.get(PROJECT_VARIABLE)
    return (folder, PROJECT_VARIABLE) if folder else None


def project_version(asked: Asked) -> str | None:
    """The Lean version of the project that is meant; None without one. Raises UserError if it names none."""
    from nanoproof.lean.project.layout import lean_version

    chosen = project_folder(asked)
    return lean_version(Path(chosen[0]).expanduser()) if chosen else None


def project(asked: Asked) -> list[Finding]:
    """The Lean project, its version, and what is missing to start servers over it."""
    create = "python -m nanoproof.lean.project create DIR"
    if project_folder(asked) is None:
        text = f"none given (--lean-project DIR, {PROJECT_VARIABLE}); the embedded prover needs none"
        return [Finding("lean project", "absent", text, create)]
    return [attempt("lean project", lambda: _project(asked), create)]


def _project(asked: Asked) -> Finding:
    from nanoproof.lean.project.layout import required_imports
    from nanoproof.lean.project.steps import State, make_steps

    chosen = project_folder(asked)
    assert chosen is not None
    folder = Path(chosen[0]).expanduser().absolute()
    state, about = State(folder), f"{folder}: Lean {project_version(asked)}"
    try:
        about += f", imports {' '.join(required_imports(folder)) or 'none'}"
        steps = make_steps(folder, install_elan=False)
    except Exception as error:
        return Finding("lean project", "ok", f"{about}; it was not made by nanoproof ({describe(error)})")
    missing = [step.name for step in steps if not (step.is_there() if step.name == "elan" else state.is_done(step))]
    if missing:
        set_up = f"python -m nanoproof.lean.project setup {folder}"
        return Finding("lean project", "broken", f"{about}; not set up: {', '.join(missing)}", set_up)
    return Finding("lean project", "ok", f"{about}; ready for servers")


def dashboard(asked: Asked) -> list[Finding]:
    """What the dashboard would serve."""
    return [attempt("dashboard", _dashboard)]


def _dashboard() -> Finding:
    built, page = REPO_ROOT / "web" / "dist" / "index.html", REPO_ROOT / "nanoproof" / "monitor" / "static"
    if built.exists():
        return Finding("dashboard", "ok", f"{built.parent}")
    if not (page / "index.html").exists():
        return Finding("dashboard", "broken", f"there is no page in {page}", "git checkout nanoproof/monitor/static")
    source = (REPO_ROOT / "web" / "package.json").exists()
    build = "cd web && npm ci && npm run build" if source else ""
    return Finding("dashboard", "ok", "no browser build in web/dist: the built-in page is served", build)
