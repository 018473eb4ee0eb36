"""Errors that end a command with one clear line.

The message of a `UserError` tells what a person or a remote system did, what was given and what would be accepted.
`run_main` turns it into one line on stderr and exit code 2; it does the same with OSErrors of files (a full disk, a
path below a file). Every other exception is our own bug and keeps its traceback. A reader who goes away (`| head`) is
no error. Under torchrun only the first rank to fail prints.
"""

import errno
import json
import os
import re
import select
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from nanoproof.common.terminal import open_streams, use_utf8

if TYPE_CHECKING:
    from pydantic import ValidationError

ABSENT = {"nanolean": "the embedded prover is not here (no package nanolean): name servers of Lean with --lean-servers"}
"""Error messages of commands, by the optional package that is not installed."""

_LIMITS = {
    errno.EMFILE: "ulimit -n says how many a program may have, and ulimit -n 4096 allows more",
    errno.ENFILE: "all programs together have as many as the system allows",
    errno.ENOMEM: "free some, or use fewer processes",
}
"""What to do about a limit of the system, by the error that it shows as."""


class UserError(Exception):
    """Something outside of the program is wrong; the message is one line that a user can act on."""


@contextmanager
def cannot(what: str) -> Iterator[None]:
    """Raise an OSError as a UserError that says what the user's files do not allow: `cannot write FILE: disk full`."""
    try:
        yield
    except OSError as error:
        raise UserError(f"cannot {what}: {error.strerror}") from error


def did_you_mean(typed: str, known: Iterable[str]) -> str:
    """Return the end of a message that names the nearest of the known names; empty where none is near."""
    near = get_close_matches(typed, list(known), n=1)
    if not near:
        return ""
    return f"; did you mean {near[0]}?"


_FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]*")
_flag_names: ContextVar[Mapping[str, str] | None] = ContextVar("flag names", default=None)


@contextmanager
def flags_as(names: Mapping[str, str]) -> Iterator[None]:
    """Let errors name flags as the command does that was typed, while it runs another one.

    `names` has the flag of the command that was typed for each of the other one that it sets; it holds for the messages
    of UserErrors that leave the block, and for what `report_error` prints in it.
    """
    token = _flag_names.set(names)
    try:
        yield
    except UserError as error:
        raise UserError(_with_known_flags(str(error))) from error
    finally:
        _flag_names.reset(token)


def _with_known_flags(message: str) -> str:
    names = _flag_names.get() or {}
    return _FLAG.sub(lambda flag: names.get(flag[0], flag[0]), message)


def first_problem(error: "ValidationError") -> str:
    """Describe the first error in one sentence, with the field that it is about."""
    first = error.errors(include_url=False, include_input=False)[0]
    field = ""
    for part in first["loc"]:
        if isinstance(part, int):
            field += f"[{part}]"
        else:
            field += f".{part[:50]}"  # it may be a key that somebody else wrote, of any length
    field = field.removeprefix(".")
    problem = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        problem = "there is no such field"
    if not field:
        return problem
    return f"`{field}`: {problem[0].lower()}{problem[1:]}"


def is_full_disk(error: object) -> bool:
    """Tell whether an error is an OSError about space for a file: on the disk, in a quota, or by a size limit."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def count_errors(add: int) -> int:
    """Count the ranks that have reported an error, with `add` more: under torchrun, outside of the process group too.

    Where torchrun's store cannot be reached, this rank's own are all that is known.
    """
    from torch.distributed import TCPStore  # torch is there under torchrun; other users of this module need not have it

    try:
        address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        # The process group may be the very thing that failed: a connection of its own, and no wait for workers.
        store = TCPStore(*address, is_master=False, timeout=timedelta(seconds=5), wait_for_workers=False)
        # A launcher may start all ranks again in the same store; errors of the attempt before are not counted.
        return int(store.add(f"nanoproof/errors/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", add))
    except (KeyError, ValueError, RuntimeError):
        return add


def report_error(message: str) -> None:
    """Print the error that ends a command as one line on stderr. Of several ranks only the first one prints.

    torchrun's own report gets the line as well, in place of a traceback.
    """
    message = _with_known_flags(message)
    if "TORCHELASTIC_RUN_ID" in os.environ:
        report = os.environ.get("TORCHELASTIC_ERROR_FILE")
        # The format that `torch.distributed.elastic` reads; without it its report ends in a traceback of its own.
        if report is not None:
            details = {"message": f"error: {message}", "extraInfo": {"timestamp": str(int(time.time()))}}
            Path(report).write_text(json.dumps({"message": details}))
        if count_errors(add=1) > 1:
            return
    print(f"error: {message}", file=sys.stderr)


def _follows_another_rank() -> bool:
    """Tell whether another rank has reported its error, of which this rank's may be a consequence."""
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return False
    time.sleep(1.0)  # the other rank leaves the group before it reports
    return count_errors(add=0) > 0


def _nobody_reads() -> bool:
    """Tell whether standard output is a pipe whose reader has gone away."""
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), select.POLLOUT)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
    except (OSError, ValueError, AttributeError):  # there is no such file
        return False


def run_main(main: Callable[[], int | None]) -> None:
    """Run a command's `main` and exit with its code.

    The code is 2, with one line, for a `UserError` or an OSError of a file, 130 on Ctrl-C, and 141 without a line if
    nobody reads standard output.
    """
    open_streams()
    use_utf8()
    try:
        if sys.flags.optimize > 1:
            raise UserError("pages of help are made of docstrings, which Python leaves out here: unset PYTHONOPTIMIZE")
        code = main() or 0
        # A full disk or a reader who is gone shows here, where it has its line, and not in the flush at exit.
        if not sys.stdout.closed:
            sys.stdout.flush()
    except UserError as error:
        report_error(str(error))
        code = 2
    # Not every installation has the embedded prover, which is imported where it is used.
    except ModuleNotFoundError as error:
        if error.name not in ABSENT:
            raise
        report_error(ABSENT[error.name])
        code = 2
    except OSError as error:
        if isinstance(error, BrokenPipeError) and _nobody_reads():
            code = 141  # the code of a program that SIGPIPE ends, in a shell
        elif is_full_disk(error):
            report_error(f"cannot write: {error.strerror}{f' ({error.filename})' if error.filename else ''}")
            code = 2
        elif error.filename:
            report_error(f"{error.filename}: {error.strerror}")
            code = 2
        elif error.errno in _LIMITS:
            report_error(f"{error.strerror}: {_LIMITS[error.errno]}")
            code = 2
        elif "usable temporary directory" in str(error):  # of `tempfile`, whose probe a full disk refuses as well
            report_error(f"{error.strerror}: make room there, or name another folder in TMPDIR")
            code = 2
        else:
            raise
    except RuntimeError:  # such as those of collectives whose other end is gone
        if not _follows_another_rank():
            raise
        code = 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = 130
    with suppress(ValueError):  # of a stream that is closed
        try:
            sys.stdout.flush()
        except OSError:  # said above: so that the flush at exit is silent
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
