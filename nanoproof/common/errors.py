"""Errors that end a command with one clear line.

A `UserError` says what a person or a remote system did, what was given and what would be accepted. `run_main` turns it
into one line on stderr and exit code 2, and a full disk too, wherever it shows; every other exception is our own bug
and keeps its traceback.
"""

import errno
import sys
from collections.abc import Callable


class UserError(Exception):
    """Something outside the program is wrong; the message is one line a user can act on."""


def run_main(main: Callable[[], int | None]) -> None:
    """Run a command's `main` and exit with its code: 2 and one line for a `UserError` or a full disk, 130 on Ctrl-C."""
    try:
        code = main() or 0
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        code = 2
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        place = f" ({error.filename})" if error.filename else ""
        print(f"error: cannot write: {error.strerror}{place}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = 130
    sys.exit(code)
