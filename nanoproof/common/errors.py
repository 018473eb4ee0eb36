"""Errors that end a command with one clear line.

A `UserError` says what a person or a remote system did, what was given and what would be accepted. `run_main` turns it
into one line on stderr and exit code 2, and a full disk too, wherever it shows; every other exception is our own bug
and keeps its traceback. Under torchrun the ranks say together what one would say alone: a single line.
"""

import errno
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path


class UserError(Exception):
    """Something outside the program is wrong; the message is one line a user can act on."""


def is_full_disk(error: object) -> bool:
    """Whether an error says that there is no room for a file: on the disk, in a quota, or by a limit on its size."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def say_error(message: str) -> None:
    """Print the line that a command ends with. Of several ranks only the first to come prints.

    torchrun takes up the line as well, in place of the traceback in its own report.
    """
    if "TORCHELASTIC_RUN_ID" in os.environ:
        from nanoproof.common.dist import count_errors  # it imports torch, which this file's users need not

        report = os.environ.get("TORCHELASTIC_ERROR_FILE")
        if report is not None:
            details = {"message": f"error: {message}", "extraInfo": {"timestamp": str(int(time.time()))}}
            Path(report).write_text(json.dumps({"message": details}))
        if count_errors(add=1) > 1:
            return
    print(f"error: {message}", file=sys.stderr)


def _follows_another_rank() -> bool:
    """Whether another rank has said its error, of which this rank's may be a consequence."""
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return False
    from nanoproof.common.dist import count_errors

    time.sleep(1.0)  # the other rank leaves the group first and speaks then
    return count_errors(add=0) > 0


def run_main(main: Callable[[], int | None]) -> None:
    """Run a command's `main` and exit with its code: 2 and one line for a `UserError` or a full disk, 130 on Ctrl-C."""
    try:
        code = main() or 0
    except UserError as error:
        say_error(str(error))
        code = 2
    except OSError as error:
        if not is_full_disk(error):
            raise
        place = f" ({error.filename})" if error.filename else ""
        say_error(f"cannot write: {error.strerror}{place}")
        code = 2
    except RuntimeError:  # such as those of collectives whose other end is gone
        if not _follows_another_rank():
            raise
        code = 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = 130
    sys.exit(code)
