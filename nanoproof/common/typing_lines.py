"""Lines that a person types: with editing and history on a terminal, as they come from a pipe."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import ModuleType

from nanoproof.common.run_dir import home

_HISTORY_LINES = 2000


@contextmanager
def typed_lines(history: str) -> Iterator[Callable[[str], str | None]]:
    """A function that shows a prompt and gives the next line, None at the end of the input (Ctrl-D).

    On a terminal, lines can be edited, and those of earlier sessions are in the file `history` of our home. A
    KeyboardInterrupt (Ctrl-C) is the caller's to handle. No prompt is written where the lines come from a pipe.
    """
    interactive = sys.stdin.isatty()
    readline = _line_editing(history) if interactive else None

    def ask(prompt: str) -> str | None:
        try:
            return input(prompt if interactive else "")
        except EOFError:
            if interactive:
                print()
            return None

    try:
        yield ask
    finally:
        if readline is not None:
            with suppress(OSError):
                home().mkdir(parents=True, exist_ok=True)
                readline.write_history_file(home() / history)


def _line_editing(history: str) -> ModuleType | None:
    """The editor of lines with the lines of earlier sessions; None where Python has none."""
    try:
        import readline
    except ImportError:
        return None
    readline.set_history_length(_HISTORY_LINES)
    readline.clear_history()
    with suppress(OSError):
        readline.read_history_file(home() / history)
    return readline
