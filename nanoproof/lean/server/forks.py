"""REPL processes as forks of a process that has its library already, where a backend can have them so.

A process of NanoLean takes half a second of processor time to start; a fork of one takes a few milliseconds, and shares
its memory. `nanolean/forks.py` is the other side. Only Linux ends the forks with their parent, so only there.
"""

import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from nanoproof.common import launch

_REQUEST = struct.Struct("<cq")
_ANSWER = struct.Struct("<q")
_NOT_ENDED = 1 << 32
_POLL_SECONDS = 0.005
_MAX_WAIT_SECONDS = 5.0
"""How long the end of a process may take to be known."""
_MAX_WORDS = 500


def can_fork() -> bool:
    """Tell whether forks are used on this system."""
    return sys.platform == "linux"


class ForkedProcess:
    """A process that a `ForkServer` forked, with what `ReplProcess` uses of `subprocess.Popen`."""

    def __init__(self, server: "ForkServer", pid: int, ends: Sequence[int]) -> None:
        self._server = server
        self.pid = pid
        self.returncode: int | None = None
        self.stdin, self.stdout, self.stderr = (
            os.fdopen(end, mode, buffering=0) for end, mode in zip(ends, ("wb", "rb", "rb"), strict=True)
        )

    def wait(self, timeout: float) -> int:
        """Wait until the process has ended and return its exit code; raises `subprocess.TimeoutExpired`."""
        deadline = time.monotonic() + timeout
        while self.returncode is None:
            self.returncode = self._server.end_of(self.pid)
            if self.returncode is None:
                if time.monotonic() > deadline:
                    raise subprocess.TimeoutExpired(str(self.pid), timeout)
                time.sleep(_POLL_SECONDS)
        return self.returncode


class ForkServer:
    """The process that is forked; started when the first fork is wanted, and again if it has ended.

    The thread that asks for forks must live as long as they do (see `launch`). Safe for many threads.
    """

    def __init__(self, command: Sequence[str], address_space_bytes: int | None = None) -> None:
        """`command` serves forks on the socket that is its standard input; each inherits the limit."""
        self._command = [
            sys.executable,
            "-I",
            launch.__file__,
            str(os.getpid()),
            "SIGKILL",
            str(address_space_bytes or 0),
            *command,
        ]
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._closed = False

    def fork(self, seconds: float) -> ForkedProcess:
        """Return a new process within `seconds`, or raise OSError with the reason."""
        theirs, ours = [], []
        for is_input in (True, False, False):
            read_end, write_end = os.pipe()
            theirs.append(read_end if is_input else write_end)
            ours.append(write_end if is_input else read_end)
        try:
            pid = self._ask(b"f", 0, seconds, theirs)
        except BaseException:
            for end in ours:
                os.close(end)
            raise
        finally:
            for end in theirs:
                os.close(end)
        return ForkedProcess(self, pid, ours)

    def end_of(self, pid: int) -> int | None:
        """Return the exit code of a fork that has ended (negative: its signal), None while it runs."""
        try:
            code = self._ask(b"r", pid, _MAX_WAIT_SECONDS)
        except OSError:
            return -signal.SIGKILL  # by which the system ends all forks when the server ends
        if code == _NOT_ENDED:
            return None
        return code

    def close(self) -> None:
        """End the process and all of its forks."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()  # a thread that waits for its answer is answered by the end of the socket
            with suppress(subprocess.TimeoutExpired):
                process.wait(_MAX_WAIT_SECONDS)

    def _ask(self, kind: bytes, number: int, seconds: float, descriptors: Sequence[int] = ()) -> int:
        with self._lock:
            if self._closed:
                raise OSError("the server is shutting down")
            if self._process is None or self._process.poll() is not None:
                if kind == b"r":
                    raise OSError("the process that was forked has ended")
                self._start()
            assert self._channel is not None and self._process is not None
            self._channel.settimeout(seconds)
            try:
                socket.send_fds(self._channel, [_REQUEST.pack(kind, number)], descriptors)
                answer = self._channel.recv(_ANSWER.size)
            except TimeoutError as error:
                self._process.kill()  # its answer would be taken for the next one's
                raise OSError(f"no process was forked within {seconds:g} s") from error
            except OSError:
                answer = b""
            if len(answer) < _ANSWER.size:
                raise OSError(self._last_words())
            return _ANSWER.unpack(answer)[0]

    def _start(self) -> None:
        if self._channel is not None:
            self._channel.close()
        if self._process is not None and self._process.stderr is not None:
            self._process.stderr.close()
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        finally:
            theirs.close()

    def _last_words(self) -> str:
        """Return why the process ended, with the end of its standard error."""
        process = self._process
        assert process is not None and process.stderr is not None
        with suppress(subprocess.TimeoutExpired):
            process.wait(_MAX_WAIT_SECONDS)
        os.set_blocking(process.stderr.fileno(), False)
        words = (process.stderr.read() or b"").decode(errors="replace").strip()
        reason = f"the process that is forked ended with exit status {process.returncode}"
        if words:
            reason += f"; its last words: {words[-_MAX_WORDS:]}"
        return reason
