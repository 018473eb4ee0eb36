"""One subprocess that speaks the Lean REPL protocol: JSON and an empty line, on standard input and output."""

import json
import math
import os
import select
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any

import psutil

from nanoproof.common import launch
from nanoproof.lean.server.forks import ForkedProcess

_CHUNK = 1 << 16
_MAX_POLL_SECONDS = 60.0
_STDERR_TAIL = 2000
_SHOWN = 200
_EXIT_SECONDS = 1.0
_TABLE_SECONDS = 0.5
_REAP_SECONDS = 10.0
MAX_ANSWER_BYTES = 1 << 26
"""More than any useful answer has; a longer one counts as an error of the process."""

# -- Memory ---------------------------------------------------------------------------------------------------------


class ProcessTable:
    """Which processes each process has started, read from the system at most every half second.

    To read it anew for each of 16 Lean processes, every second and at every proof, took 5% of the processor time of RL.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._started: dict[int, list[psutil.Process]] = {}
        self._read_at = -math.inf

    def with_descendants(self, pid: int) -> list[psutil.Process]:
        """Return a process and all that it has started, and these in turn; raises psutil.Error if it is gone."""
        with self._lock:
            if time.monotonic() - self._read_at > _TABLE_SECONDS:
                started = defaultdict[int, list[psutil.Process]](list)
                for process in psutil.process_iter():
                    with suppress(psutil.Error):
                        started[process.ppid()].append(process)
                self._started, self._read_at = started, time.monotonic()
        found = [psutil.Process(pid)]
        for process in found:
            found += self._started.get(process.pid, ())
        return found


_table = ProcessTable()

# -- The pipes -------------------------------------------------------------------------------------------------------


class Overdue(Exception):
    """The deadline passed; the message tells how far the exchange had come."""


class Hangup(Exception):
    """The process closed its end; the message tells how far the exchange had come."""


class Stray(Exception):
    """The process wrote what cannot be the answer; the message quotes it."""


class ReplPipes:
    """Non-blocking ends of the pipes of one process. The owner of the descriptors closes them.

    All three are served in one loop: a process that fills its standard error, or answers before it has read the whole
    request, cannot make both sides wait for each other.
    """

    def __init__(self, stdin: int, stdout: int, stderr: int, max_answer_bytes: int) -> None:
        for descriptor in (stdin, stdout, stderr):
            os.set_blocking(descriptor, False)
        self._stdin, self._stdout, self._stderr = stdin, stdout, stderr
        self._max_answer_bytes = max_answer_bytes
        self._tail = b""
        self._stderr_open = True

    def exchange(self, request: bytes, deadline: float) -> bytes:
        """Send a request and return the answer, without the empty line that ends it.

        Raises `Overdue` at `deadline` (of the monotonic clock), `Hangup` and `Stray`; the pipes are of no use then.
        """
        # What is there before the request was sent belongs to another one: from here on all answers would be taken for
        # those to the request after theirs.
        answer = bytearray()
        self._read(answer)
        if answer:
            raise Stray(f"text that nobody asked for: {_shown(answer)}")
        # Without asking whether it can be written: a request nearly always fits into the empty pipe.
        unsent = memoryview(request)
        unsent = unsent[self._write(unsent) :]
        while True:
            for descriptor, _ in self._wait(bool(unsent), deadline, answer):
                if descriptor == self._stderr:
                    self._read_stderr()
                elif descriptor == self._stdin and unsent:
                    unsent = unsent[self._write(unsent) :]
                elif descriptor == self._stdout:
                    # The search goes on where it ended, one byte back for a line break that was cut in two: an answer
                    # of megabytes comes in many chunks.
                    searched = max(0, len(answer) - 1)
                    self._read(answer)
                    end = answer.find(b"\n\n", searched)
                    if end >= 0:
                        return self._complete(answer, end, bool(unsent))

    def tail(self) -> str:
        """Return the last lines that the process wrote to standard error."""
        self._read_stderr()
        return self._tail.decode(errors="replace").strip()

    def _wait(self, sending: bool, deadline: float, answer: bytearray) -> list[tuple[int, int]]:
        poll = select.poll()
        poll.register(self._stdout, select.POLLIN)
        if self._stderr_open:
            poll.register(self._stderr, select.POLLIN)
        if sending:
            poll.register(self._stdin, select.POLLOUT)
        while True:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise Overdue(_progress(answer, sending))
            events = poll.poll(min(remaining, _MAX_POLL_SECONDS) * 1000)
            if events:
                return events

    def _write(self, data: memoryview) -> int:
        try:
            return os.write(self._stdin, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise Hangup("it no longer reads requests") from error

    def _read(self, answer: bytearray) -> None:
        """Append what can be read from standard output, without empty lines in front of an answer."""
        try:
            chunk = os.read(self._stdout, _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            raise Hangup(_progress(answer, False))
        if not answer:
            chunk = chunk.lstrip()
        answer += chunk
        if len(answer) > self._max_answer_bytes:
            raise Stray(f"an answer of more than {self._max_answer_bytes} bytes: {_shown(answer)}")

    def _read_stderr(self) -> None:
        with suppress(OSError):
            while chunk := os.read(self._stderr, _CHUNK):
                self._tail = (self._tail + chunk)[-_STDERR_TAIL:]
                if len(chunk) < _CHUNK:
                    return
            self._stderr_open = False

    def _complete(self, answer: bytearray, end: int, sending: bool) -> bytes:
        # The official REPL answers a request only once it has the empty line behind it.
        if sending:
            raise Stray(f"an answer before the request had been read: {_shown(answer)}")
        if answer[end:].strip():
            raise Stray(f"more than one answer to a request: {_shown(answer)}")
        return bytes(answer[:end])


def _progress(answer: bytearray, sending: bool) -> str:
    if sending:
        return "it did not read the whole request"
    if not answer:
        return "no answer"
    return f"it wrote half an answer: {_shown(answer)}"


def _shown(data: bytearray) -> str:
    return repr(bytes(data[:_SHOWN]))


# -- The process -----------------------------------------------------------------------------------------------------


class ReplError(Exception):
    """The process is gone, for the reason in the message; it has been killed if it was not dead already."""


class ReplTimeout(ReplError):
    """No answer came before the deadline."""


class ReplDied(ReplError):
    """The process ended by itself."""


class ReplGarbage(ReplError):
    """The process wrote something that is no JSON object."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What stops a tactic in a process before the process has to be killed.

    `lean_env` is an environment in which Lean does (None: in none), `heeds_timeout` is true if the REPL does, and
    `reason` is why Lean does not.
    """

    lean_env: int | None = None
    heeds_timeout: bool = False
    reason: str = ""

    @property
    def names(self) -> list[str]:
        """Short names of what stops a tactic."""
        names = []
        if self.lean_env is not None:
            names.append("lean")
        if self.heeds_timeout:
            names.append("repl")
        return names


class ReplProcess:
    """A running REPL. One request at a time; any failure kills the process, because its answers are out of step then.

    The thread that creates it must live as long as it does (see `launch`). With `address_space_bytes` the operating
    system refuses it more address space than that, mapped files included.
    """

    limits = Limits()
    """Set when the process is prepared."""
    is_busy = False
    """True once a tactic still runs in the process although its request was answered."""

    _process: subprocess.Popen[bytes] | ForkedProcess

    def __init__(
        self,
        command: Sequence[str],
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        address_space_bytes: int | None = None,
        max_answer_bytes: int = MAX_ANSWER_BYTES,
        forked: ForkedProcess | None = None,
    ) -> None:
        """Start `command`, or take over a process that was `forked` from one that runs it."""
        if forked is None:
            self._process = self._start(command, cwd, env, address_space_bytes)
        else:
            self._process = forked
        ends = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._ends = [end for end in ends if end is not None]
        stdin, stdout, stderr = (end.fileno() for end in self._ends)
        self._pipes = ReplPipes(stdin, stdout, stderr, max_answer_bytes)
        self._closed = False
        self.uses = 0

    @staticmethod
    def _start(
        command: Sequence[str], cwd: str | None, env: Mapping[str, str] | None, address_space_bytes: int | None
    ) -> subprocess.Popen[bytes]:
        # Isolated (-I): else the folder of `launch.py` would be searched first for its imports.
        launcher = [sys.executable, "-I", launch.__file__, str(os.getpid()), "SIGKILL", str(address_space_bytes or 0)]
        return subprocess.Popen(
            [*launcher, *command],
            cwd=cwd,
            env=dict(env) if env is not None else None,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # so that `kill` reaches what it starts, and Ctrl-C reaches the server alone
        )

    @property
    def pid(self) -> int:
        """The operating system's id of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """True while requests can be sent."""
        return not self._closed and not self._ended()

    def request(self, message: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Send one request and return the answer; raises `ReplTimeout`, `ReplDied` or `ReplGarbage`.

        Raises ValueError, and does nothing, if the message holds text that has no UTF-8 form.
        """
        if self._closed:
            raise ReplDied("the process has been closed")
        data = json.dumps(message, ensure_ascii=False).encode() + b"\n\n"
        try:
            return self._parse(self._pipes.exchange(data, time.monotonic() + seconds))
        except Overdue as error:
            raise self._failed(ReplTimeout, f"not done after {seconds:g} s ({error})") from error
        except Stray as error:
            raise self._failed(ReplGarbage, str(error)) from error
        except Hangup as error:
            self._wait_for_exit()
            raise self._failed(ReplDied, str(error)) from error

    def resident_bytes(self) -> int:
        """Return the resident memory that is not shared (without mapped library files); 0 if the process is gone.

        What it started counts, too: in a sandbox it is not Lean itself.
        """
        total = 0
        with suppress(psutil.Error):
            for part in _table.with_descendants(self.pid):
                with suppress(psutil.Error):
                    info = part.memory_info()
                    total += max(0, info.rss - getattr(info, "shared", 0))
        return total

    def kill(self) -> None:
        """Kill the process and all that it started, from any thread; a request in progress ends with `ReplDied`."""
        if not self._closed:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill the process and release its resources; only the thread that uses it may call this."""
        if self._closed:
            return
        self.kill()
        self._closed = True
        with suppress(subprocess.TimeoutExpired):  # a killed process that hangs in the kernel is left to the system
            self._process.wait(_REAP_SECONDS)
        for end in self._ends:
            with suppress(OSError):
                end.close()

    def _parse(self, data: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(data)
            if b"\\ud" in data or b"\\uD" in data:
                json.dumps(answer, ensure_ascii=False).encode()  # half a surrogate pair cannot be sent on
        except (ValueError, RecursionError) as error:
            raise Stray(f"not JSON: {data[:200]!r}") from error
        if not isinstance(answer, dict):
            raise Stray(f"not a JSON object: {data[:200]!r}")
        return answer

    def _failed(self, kind: type[ReplError], reason: str) -> ReplError:
        """Close, and return the error, with the exit status if it ended by itself and the last lines of its stderr."""
        ended, tail = self._ended(), self._pipes.tail()
        self.close()
        message = reason
        if ended:  # else it is our own SIGKILL
            message = f"exit status {self._process.returncode}, {reason}"
        if tail:
            message += f"; its last words: {tail}"
        return kind(message)

    def _wait_for_exit(self) -> None:
        """Give a process that closed its pipes the time to end, so that its exit status is its own."""
        deadline = time.monotonic() + _EXIT_SECONDS
        while not self._ended() and time.monotonic() < deadline:
            time.sleep(0.005)

    def _ended(self) -> bool:
        """Tell whether the process has ended; it is not reaped, so that its id stays reserved until `close`."""
        try:
            return psutil.Process(self.pid).status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True
