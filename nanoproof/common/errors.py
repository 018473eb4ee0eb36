"""Errors that end a command with one clear line.

A `UserError` says what a person or a remote system did, what was given and what would be accepted. `run_main` turns it
into one line on stderr and exit code 2; every other exception is our own bug and keeps its traceback.
"""

import sys
from collections.abc import Callable


class UserError(Exception):
    """Something outside the program is wrong; the message is one line a user can act on."""


def run_main(main: Callable[[], int | None]) -> None:
    """Run a command's `main` and exit with its code; 2 and one line for a `UserError`, 130 for Ctrl-C."""
    try:
        code = main() or 0
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = 130
    sys.exit(code)
