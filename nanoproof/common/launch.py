"""Run a program that gets a signal when the thread that started it ends: `python launch.py PID SIGNAL BYTES CMD...`.

A Lean process in the middle of a long computation does not notice that its standard input was closed, so the kernel is
asked to kill it (Linux only; elsewhere it ends when it next reads its input). PID is the parent, SIGNAL a name such as
SIGKILL. BYTES limits the address space; 0 is no limit. Where the limits of this process are lower already, as on
clusters, they stay.
"""

import ctypes
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with_parent(sent: signal.Signals) -> None:
    """Ask the kernel to send this process a signal when the thread that started it ends (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, sent, 0, 0, 0)


def main() -> None:
    """Ask for the signal, make sure that the parent still lives, and execute the program."""
    parent, limit, command = int(sys.argv[1]), int(sys.argv[3]), sys.argv[4:]
    end_with_parent(signal.Signals[sys.argv[2]])
    # After `prctl`: of a parent that ended before, no signal comes any more.
    if os.getppid() != parent:
        sys.exit(1)
    try:
        if limit:
            # To raise a hard limit is not allowed, so that nothing would start where `ulimit -v` was set lower.
            lowered = []
            for present in resource.getrlimit(resource.RLIMIT_AS):
                if present == resource.RLIM_INFINITY:  # -1, which `min` would take for the smaller one
                    lowered.append(limit)
                else:
                    lowered.append(min(limit, present))
            resource.setrlimit(resource.RLIMIT_AS, (lowered[0], lowered[1]))
        os.execvp(command[0], command)
    except (OSError, ValueError) as error:
        sys.exit(f"cannot run {command[0]}: {getattr(error, 'strerror', None) or error}")


if __name__ == "__main__":
    main()
