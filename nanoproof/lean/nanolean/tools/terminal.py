"""`repl`: a session at the terminal, or read from a pipe."""

from __future__ import annotations

import sys
from contextlib import suppress
from types import ModuleType

from nanoproof.common.run_dir import home
from nanoproof.lean.nanolean.loader import cache_path, load_library
from nanoproof.lean.nanolean.tools.session import Session
from nanoproof.lean.nanolean.tools.stack import with_deep_stack

HISTORY_LINES = 2000
GREETING = "NanoLean: a fragment of Lean 4. `help` says what there is, `quit` ends."


def run_terminal() -> int:
    """Read lines until `quit` or the end of the input. Ctrl-C forgets the line, and what it was the continuation of."""
    interactive = sys.stdin.isatty()
    readline = _line_editing() if interactive else None
    if interactive:
        print(GREETING if cache_path().is_file() else f"{GREETING}\nBuilding the library, once: some seconds.")
    session = Session(with_deep_stack(load_library))
    while not session.over:
        try:
            line = input(session.prompt if interactive else "")
            answer = with_deep_stack(lambda line=line: session.enter(line), interruptible=True)  # type: ignore[misc]
        except KeyboardInterrupt:
            session.cancel()
            print("^C (line forgotten)")
            continue
        except EOFError:
            if session.pending:
                print(with_deep_stack(lambda: session.enter("")))
            break
        if answer:
            print(answer, flush=True)
    if readline is not None:
        _save_history(readline)
    return 0


def _line_editing() -> ModuleType | None:
    """The editor of lines with the lines of earlier sessions; None where Python has none."""
    try:
        import readline
    except ImportError:
        return None
    readline.set_history_length(HISTORY_LINES)
    with suppress(OSError):
        readline.read_history_file(home() / "nanolean_history")
    return readline


def _save_history(readline: ModuleType) -> None:
    with suppress(OSError):
        home().mkdir(parents=True, exist_ok=True)
        readline.write_history_file(home() / "nanolean_history")
