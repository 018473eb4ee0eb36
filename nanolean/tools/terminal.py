"""`repl`: a session at the terminal, or read from a pipe."""

from __future__ import annotations

import sys

from nanolean.loader import cache_path, load_library
from nanolean.system import typed_lines, with_deep_stack
from nanolean.tools.session import Session

GREETING = "NanoLean: a fragment of Lean 4. `help` says what there is, `quit` ends."


def run_terminal() -> int:
    """Read lines until `quit` or the end of the input. Ctrl-C forgets the line, and what it was the continuation of."""
    interactive = sys.stdin.isatty()
    if interactive:
        print(GREETING if cache_path().is_file() else f"{GREETING}\nBuilding the library, once: some seconds.")
    session = Session(with_deep_stack(load_library))
    with typed_lines("nanolean_history") as ask:
        while not session.over:
            try:
                line = ask(session.prompt)
                if line is None:
                    break
                answer = with_deep_stack(lambda line=line: session.enter(line), interruptible=True)  # type: ignore[misc]
            except KeyboardInterrupt:
                session.cancel()
                print("^C (line forgotten)")
                continue
            if answer:
                print(answer, flush=True)
        if session.pending:
            print(with_deep_stack(lambda: session.enter("")))
    return 0
