"""System services: errors with exit codes, files, terminal input, deep stacks, memory."""

import argparse
import ctypes
import errno
import gc
import io
import os
import re
import secrets
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from nanolean.kernel.budget import allow_deep_recursion

STACK_BYTES = 512 * 1024 * 1024
"""Address space for deeply nested terms; only what is used becomes memory."""
_HISTORY_LINES = 2000

_T = TypeVar("_T")


class UserError(Exception):
    """Something outside the program is wrong; the message is one line a user can act on."""


def home() -> Path:
    """Return where caches and histories are kept: `$NANOPROOF_HOME`, by default `~/.nanoproof`."""
    return Path(os.environ.get("NANOPROOF_HOME") or Path.home() / ".nanoproof").expanduser()


# -- commands


class Parser(argparse.ArgumentParser):
    """argparse without abbreviations, with errors of one line (exit code 2)."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", argparse.ArgumentDefaultsHelpFormatter)
        super().__init__(allow_abbrev=False, **kwargs)

    def error(self, message: str) -> Any:
        """Exit with code 2 and one line, which names what comes nearest to an unknown command or option."""
        wrong = re.search(r"invalid choice: '([^']*)'|unrecognized arguments: (\S+)", message)
        near: list[str] = []
        if wrong is not None:
            near = get_close_matches(wrong[1] or wrong[2], sorted(self._words()), 1)
        if near:
            message += f"; did you mean {near[0]}?"
        print(f"error: {message}", file=sys.stderr)
        sys.exit(2)

    def _words(self) -> set[str]:
        """Return all commands and options, those of the commands included."""
        known: set[str] = set()
        for action in self._actions:
            known.update(action.option_strings, map(str, action.choices or ()))
            if isinstance(action.choices, dict):
                for command in action.choices.values():
                    known |= command._words()
        return known


def run_main(main: Callable[[], int | None]) -> None:
    """Run a command's `main` and exit with its code.

    2 and one line for a `UserError` or what the system says of a file, 130 on Ctrl-C, 141 without a word if nobody
    reads what it prints.
    """
    print_utf8()
    try:
        code = main() or 0
        if not sys.stdout.closed:
            sys.stdout.flush()
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        code = 2
    except OSError as error:
        if isinstance(error, BrokenPipeError) and _nobody_reads():
            code = 141  # what a shell says of a program that the signal SIGPIPE ends
        elif error.filename or error.errno == errno.ENOSPC:
            print(f"error: {error.filename or 'cannot write'}: {error.strerror}", file=sys.stderr)
            code = 2
        else:
            raise
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = 130
    with suppress(ValueError):  # of a stream that is closed
        try:
            sys.stdout.flush()
        except OSError:  # said above: so that the flush at exit says nothing
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def print_utf8() -> None:
    """Print UTF-8 whatever the locale says: goals hold `⊢`, and in the C locale Python would print ASCII alone.

    A terminal of another encoding keeps it, and gets escapes for what it lacks.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started the program
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            keeps = stream.isatty() and stream.encoding.lower() not in ("ascii", "us-ascii", "ansi_x3.4-1968")
            stream.reconfigure(encoding=stream.encoding if keeps else "utf-8", errors="backslashreplace")


def _nobody_reads() -> bool:
    """Whether standard output is a pipe whose reader has gone away."""
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), select.POLLOUT)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
    except (OSError, ValueError, AttributeError):  # there is no such file
        return False


# -- files


def atomic_write(path: Path, data: bytes, sync: bool = True) -> None:
    """Write a file that others see whole or not at all. OSErrors leave no file behind and name `path`.

    Without `sync` that holds as long as the machine does not stop. A device or a pipe (`/dev/null`, `/dev/stdout`) is
    written into: a rename would put a file in its place.
    """
    opened = re.fullmatch(r"/proc/self/fd/(\d+)", os.readlink(path)) if path.is_symlink() else None
    if opened or (path.exists() and not (path.is_file() or path.is_dir())):
        sys.stdout.flush()  # what was printed comes first
        with open(os.dup(int(opened[1])) if opened else path, "wb") as file:
            file.write(data)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:  # unlike tempfile's, with the rights that the umask leaves
            file.write(data)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and error.filename in (None, str(temporary)):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def atomic_write_text(path: Path, text: str) -> None:
    """Write UTF-8 text that others see whole or not at all."""
    atomic_write(path, text.encode("utf-8"))


# -- lines that a person types


@contextmanager
def typed_lines(history: str) -> Iterator[Callable[[str], str | None]]:
    """Return a function that shows a prompt and reads a line; it returns None at the end of the input (Ctrl-D).

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


# -- memory and stacks


def freeze_gc() -> None:
    """Tell the garbage collector that what is there (the library) stays, so that it looks at new objects only, seldom.

    Otherwise it waits until new objects are a quarter of all, and takes its time about it. Terms make no cycles: to
    look for some after every 700 new objects, Python's default, took a tenth of the time of replaying proofs.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def with_deep_stack(work: Callable[[], _T], interruptible: bool = False) -> _T:
    """Run something in a thread whose stack is large enough for deep recursion.

    If it is `interruptible`, Ctrl-C ends the work before it raises KeyboardInterrupt here. Raises UserError where a
    limit is too low for the stack.
    """
    allow_deep_recursion()
    results: list[_T] = []
    errors: list[BaseException] = []
    done = threading.Event()  # an interrupted `join` takes the thread for finished

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    threading.stack_size(STACK_BYTES)
    thread = threading.Thread(target=run, daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        limits = "the limit of address space (ulimit -v, in kB) or of processes (ulimit -u) is too low"
        raise UserError(f"no thread with a stack of {STACK_BYTES >> 20} MB can be started: {limits}") from error
    finally:
        threading.stack_size(0)
    try:
        done.wait()
    except KeyboardInterrupt:
        if interruptible:
            _raise_in(thread)
            done.wait()
        raise
    if errors:
        raise errors[0]
    return results[0]


def _raise_in(thread: threading.Thread) -> None:
    """Raise KeyboardInterrupt in a thread, at the next step of its Python code."""
    assert thread.ident is not None
    raise_in_thread = ctypes.pythonapi.PyThreadState_SetAsyncExc
    raise_in_thread(ctypes.c_ulong(thread.ident), ctypes.py_object(KeyboardInterrupt))


# -- processes


@contextmanager
def starting_workers() -> Iterator[None]:
    """Start processes of a pool that Ctrl-C does not reach, and that do not import the command's own module.

    A terminal sends Ctrl-C to all processes, and each would show where it was; the one that asked ends the others. The
    module of a command imports torch, which takes seconds of each worker that never uses it.
    So what they are given must not be of that module: where it is run with `-m` they would not find it.
    """
    command = sys.modules["__main__"]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = command
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
