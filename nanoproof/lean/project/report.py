"""What there is of a project, and the command that starts a server over it."""

import os
import shlex
import sys
from pathlib import Path

import psutil

from nanoproof.lean.project.layout import lean_version, required_imports
from nanoproof.lean.project.steps import REPL_EXE, State, find_program, make_steps

BYTES_PER_PROCESS = 4 * 2**30
"""Memory set aside for one Lean process with Mathlib when we suggest how many to run (docs/lean-servers.md)."""


def suggest_processes(num_cores: int, memory_bytes: int) -> int:
    """One process per core, as far as the memory goes; the server keeps a spare one besides."""
    return max(1, min(num_cores, memory_bytes // BYTES_PER_PROCESS - 1))


def server_command(folder: Path, num_processes: int) -> str:
    """The command that starts a server over a project that is set up."""
    words = ["python", "-m", "nanoproof.lean.server", "--backend", "repl", "--project-path", str(folder)]
    words += ["--repl-exe", str(folder / REPL_EXE)]
    if imports := required_imports(folder):
        words += ["--imports", *imports]
    return shlex.join([*words, "--max-processes", str(num_processes), "--warmup"])


def check(folder: Path) -> bool:
    """Print what is there; returns whether a server can be started. Raises `UserError` if it is no project of ours."""
    folder = folder.absolute()
    state = State(folder)
    print(f"{folder}: Lean {lean_version(folder)}, imports {' '.join(required_imports(folder)) or 'none'}")
    missing = []
    for step in make_steps(folder, install_elan=False):
        done = step.is_there() if step.name == "elan" else state.is_done(step)
        print(f"  {'is there' if done else 'missing '}  {step.name}: {step.title}")
        missing += [] if done else [step.name]
    if missing:
        again = f"python -m nanoproof.lean.project setup {shlex.quote(str(folder))}"
        print(f"not ready: {', '.join(missing)} missing; run `{again}`", file=sys.stderr)
        return False
    lake = find_program("lake")
    if lake is not None and os.path.dirname(lake) not in os.environ.get("PATH", "").split(os.pathsep):
        print(f"ready, after: export PATH={shlex.quote(os.path.dirname(lake))}:$PATH")
    else:
        print("ready; start a server with:")
    print(server_command(folder, suggest_processes(os.cpu_count() or 1, psutil.virtual_memory().total)))
    return True
