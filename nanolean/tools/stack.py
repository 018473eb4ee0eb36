"""Running things on a deep stack: terms may be nested far deeper than Python's own stack allows."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

from nanolean.kernel.errors import allow_deep_recursion
from nanoproof.common.errors import UserError

STACK_BYTES = 512 * 1024 * 1024
"""Address space for deeply nested terms; only what is used becomes memory."""

_T = TypeVar("_T")


def with_deep_stack(work: Callable[[], _T], interruptible: bool = False) -> _T:
    """Run something in a thread whose stack is large enough for deep recursion.

    If it is `interruptible`, Ctrl-C ends the work before it raises KeyboardInterrupt here. Raises UserError where a
    limit leaves no room for the stack.
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
