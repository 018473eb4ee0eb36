"""REPL processes as forks of one process that has read the library: a new one takes milliseconds, not half a second.

Whoever wants processes holds the other end of a socket, which is this process's standard input, and sends messages of
a letter and a number: `f` with three descriptors forks a REPL on them, and is answered its process id; `r` with such an
id is answered how that process ended, once, or that it has not. When the socket closes all of them end.
"""

import ctypes
import os
import signal
import socket
import struct
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress

from nanolean.env_state import EnvState
from nanolean.repl import Repl, serve
from nanolean.system import freeze_gc

REQUEST = struct.Struct("<cq")
ANSWER = struct.Struct("<q")
NOT_ENDED = 1 << 32
"""The answer to `r` while the process runs; exit codes and the negative numbers of signals are smaller."""
_PR_SET_PDEATHSIG = 1
_WARM_STATEMENT = "theorem warm (a b : Nat) (h : a = b) : a + 0 = b := by\n  sorry"
_WARM_TACTICS = ("simp", "grind", "rw [h]")


def serve_forks(base: EnvState) -> None:
    """Answer requests for processes over the library `base` until the socket closes; for a thread with a deep stack."""
    _warm_up(base)
    freeze_gc()
    # Python warns of forks beside other threads, whose locks nobody releases. There is one, which waits for this one.
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    channel = socket.socket(fileno=os.dup(0))
    while True:
        data, descriptors, _, _ = socket.recv_fds(channel, REQUEST.size, 3)
        if len(data) < REQUEST.size:
            return
        kind, number = REQUEST.unpack(data)
        if kind == b"f":
            answer = _fork(base, channel, descriptors)
        else:
            answer = _end_of(number)
        channel.send(ANSWER.pack(answer))


def _warm_up(base: EnvState) -> None:
    """Have everything made that a process makes once: parser, tactics, the indexes of `simp` and `grind`."""
    repl = Repl(base)
    start = repl.answer({"cmd": _WARM_STATEMENT})
    for tactic in _WARM_TACTICS:
        repl.answer({"tactic": tactic, "proofState": start["sorries"][0]["proofState"]})


def _fork(base: EnvState, channel: socket.socket, descriptors: Sequence[int]) -> int:
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            channel.close()
            _serve_as_child(base, descriptors, parent)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)  # what the parent would do at its own end is not for this process
    # Child and parent both do this: whichever comes first, the group is there when the answer is, for `killpg`.
    with suppress(OSError):  # it has ended
        os.setpgid(pid, pid)
    for descriptor in descriptors:
        os.close(descriptor)
    return pid


def _serve_as_child(base: EnvState, descriptors: Sequence[int], parent: int) -> None:
    os.setpgid(0, 0)  # as a process that was started would be: what ends its group ends nobody else
    for standard, descriptor in enumerate(descriptors):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    _end_with_parent(parent)
    source = open(0, encoding="utf-8", errors="replace", closefd=False)
    sink = open(1, "w", encoding="utf-8", errors="replace", newline="\n", closefd=False)
    serve(base, source, sink)


def _end_with_parent(parent: int) -> None:
    """Have the system kill this process when its parent ends: in a long computation it would not notice."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before
        os._exit(1)


def _end_of(pid: int) -> int:
    """Return how a fork ended, which frees its process id."""
    try:
        ended, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return 0
    return os.waitstatus_to_exitcode(status) if ended else NOT_ENDED
