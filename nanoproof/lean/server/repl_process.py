"""One subprocess that speaks the Lean REPL protocol: JSON and an empty line, on standard input and output."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import psutil

from nanoproof.lean.server import launch

_CHUNK = 1 << 16
_STDERR_TAIL = 2000


class ReplError(Exception):
    """The process is gone, for the reason in the message; it has been killed if it was not dead already."""


class ReplTimeout(ReplError):
    """No answer came before the deadline."""


class ReplDied(ReplError):
    """The process ended by itself."""


class ReplGarbage(ReplError):
    """The process wrote something that is no JSON object."""


class ReplProcess:
    """A running REPL. One request at a time; any failure kills the process, because its answers are out of step then.

    The thread that creates it must live as long as it does (see `launch`).
    """

    def __init__(self, command: Sequence[str], cwd: str | None = None, env: Mapping[str, str] | None = None) -> None:
        launcher = [sys.executable, "-I", launch.__file__, str(os.getpid())]
        self._stderr = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [*launcher, *command],
            cwd=cwd,
            env=dict(env) if env is not None else None,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            start_new_session=True,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._stdin = self._process.stdin.fileno()
        self._stdout = self._process.stdout.fileno()
        os.set_blocking(self._stdin, False)
        os.set_blocking(self._stdout, False)
        self._closed = False
        self.uses = 0

    @property
    def pid(self) -> int:
        """The operating system's id of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """True while requests can be sent."""
        return not self._closed and self._process.poll() is None

    def request(self, message: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Send one request and return the answer; raises `ReplTimeout`, `ReplDied` or `ReplGarbage`."""
        if self._closed:
            raise ReplDied("the process has been closed")
        deadline = time.monotonic() + seconds
        try:
            self._send(json.dumps(message, ensure_ascii=False).encode() + b"\n\n", deadline)
            return self._parse(self._receive(deadline))
        except ReplError:
            self.close()
            raise

    def resident_bytes(self) -> int:
        """Resident memory that is not shared with others (mapped library files do not count); 0 if it is gone."""
        with suppress(psutil.Error):
            info = psutil.Process(self.pid).memory_info()
            return max(0, info.rss - getattr(info, "shared", 0))
        return 0

    def kill(self) -> None:
        """Kill the process and everything it started, from any thread; a request under way ends with `ReplDied`."""
        if not self._closed:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill the process and release what belongs to it; only the thread that uses it may call this."""
        if self._closed:
            return
        self.kill()
        self._closed = True
        self._process.wait()
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(OSError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._stderr.close()

    def _send(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        while view:
            self._wait(self._stdin, select.POLLOUT, deadline)
            try:
                view = view[os.write(self._stdin, view) :]
            except (BrokenPipeError, OSError) as error:
                raise self._died() from error

    def _receive(self, deadline: float) -> bytes:
        buffer = b""
        while True:
            self._wait(self._stdout, select.POLLIN, deadline)
            chunk = os.read(self._stdout, _CHUNK)
            if not chunk:
                raise self._died()
            buffer = (buffer + chunk).lstrip() if not buffer else buffer + chunk
            if (end := buffer.find(b"\n\n", max(0, len(buffer) - len(chunk) - 1))) >= 0:
                if buffer[end:].strip():
                    raise ReplGarbage(f"more than one answer to a request: {buffer[:200]!r}")
                return buffer[:end]

    def _wait(self, descriptor: int, event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise ReplTimeout("no answer before the deadline")

    def _parse(self, data: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(data)
        except ValueError as error:
            raise ReplGarbage(f"not JSON: {data[:200]!r}") from error
        if not isinstance(answer, dict):
            raise ReplGarbage(f"not a JSON object: {data[:200]!r}")
        return answer

    def _died(self) -> ReplDied:
        """The error for a process that closed its end, with its exit status and the last lines of its stderr."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _STDERR_TAIL))
        tail = self._stderr.read().decode(errors="replace").strip()
        return ReplDied(f"exit status {self._process.poll()}" + (f"; its last words: {tail}" if tail else ""))
