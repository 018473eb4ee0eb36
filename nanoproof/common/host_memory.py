"""The C library's allocator: told to keep what is freed, as a step of training wants the same amounts again.

glibc gives freed blocks of 128 kB and more back to the system, and gets them back with every page cleared: a tenth of a
training step's processor time went into that (docs/benchmarks.md). With these thresholds it went to nothing.
"""

import ctypes
import os
import platform

SWITCH = "NANOPROOF_ALLOCATOR"
"""Environment variable; `system` leaves the allocator as it is."""
_CHOSEN_BY_USER = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES", "LD_PRELOAD")
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT_BYTES = 512 << 20
_MAPPED_FROM_BYTES = 32 << 20
"""The largest threshold that glibc takes: larger blocks are mapped by themselves and given back."""


def keep_freed_memory() -> str:
    """Tell glibc to keep freed memory; return what was done, and why, for the log."""
    if os.environ.get(SWITCH) == "system":
        return f"the system's ({SWITCH}=system)"
    for name in _CHOSEN_BY_USER:
        if os.environ.get(name):
            return f"the system's (it is chosen by {name})"
    if platform.libc_ver()[0] != "glibc":
        return "the system's (it is not glibc's)"
    try:
        mallopt = ctypes.CDLL(None).mallopt
        # The threshold for mapping first: setting either ends glibc's own adaption of both.
        is_set = mallopt(_M_MMAP_THRESHOLD, _MAPPED_FROM_BYTES) and mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
    except (OSError, AttributeError):
        is_set = 0
    if not is_set:
        return "the system's (it takes no thresholds)"
    return f"glibc's, keeping {_KEPT_BYTES >> 20} MB that are freed ({SWITCH}=system leaves it as it is)"
