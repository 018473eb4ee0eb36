"""What tests ask about processes that others started."""

import psutil


def is_gone(pid: int) -> bool:
    """Whether a process has ended, whoever has taken notice of it."""
    try:
        status: str = psutil.Process(pid).status()
    except psutil.NoSuchProcess:
        return True
    return status == psutil.STATUS_ZOMBIE
