"""What tests ask about processes that others started, and do to them."""

import os
import signal
import time

import psutil


def is_gone(pid: int) -> bool:
    """Whether a process has ended, whoever has taken notice of it."""
    try:
        status: str = psutil.Process(pid).status()
    except psutil.NoSuchProcess:
        return True
    return status == psutil.STATUS_ZOMBIE


def stop(pid: int) -> None:
    """Stop a process; once this returns it does nothing, which the signal alone does not say of its threads."""
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + 30
    while psutil.Process(pid).status() != psutil.STATUS_STOPPED:
        assert time.monotonic() < deadline, "it does not stop"
        time.sleep(0.01)
