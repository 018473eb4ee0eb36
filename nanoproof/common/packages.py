"""What ends a command while it imports, a missing package or Ctrl-C: one line in place of a traceback."""

import sys
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).parents[2]
OURS = ("nanoproof", "nanolean", "scripts", "benchmarks")


def how_to_get(package: str) -> str:
    """Return a sentence about a package that this Python does not have, and what to type."""
    said = f"this command needs {package}, which is not installed"
    environment = ROOT / ".venv"
    if (environment / "bin" / "activate").exists() and Path(sys.prefix).resolve() != environment.resolve():
        return f"{said} for {sys.executable}: source .venv/bin/activate"
    if (ROOT / "runs" / "setup.sh").exists():
        return f"{said}: bash runs/setup.sh, or pip install {package}"
    return f"{said}: pip install {package}"


def end_command_that_imports(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Be `sys.excepthook`: end a command of ours with a line: exit code 2 where a package is missing, 130 on Ctrl-C.

    Everything else keeps its traceback: other errors, modules of ours that are missing, programs and shells of others.
    """
    spec = getattr(sys.modules["__main__"], "__spec__", None)  # none in a shell, which must not end
    is_command = spec is not None and spec.name.split(".")[0] in OURS
    missing = (error.name or "").split(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if is_command and issubclass(kind, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    if not is_command or not missing or missing in OURS:
        sys.__excepthook__(kind, error, traceback)
        return
    print(f"error: {how_to_get(missing)}", file=sys.stderr)
    sys.exit(2)
