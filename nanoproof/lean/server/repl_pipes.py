"""One request and its answer over the pipes of a REPL process: bounded in time and size, linear in the answer."""

import os
import select
import time
from contextlib import suppress

_CHUNK = 1 << 16
_MAX_POLL_SECONDS = 60.0
_STDERR_TAIL = 2000
_SHOWN = 200


class Overdue(Exception):
    """The deadline passed; the message says how far the exchange had come."""


class Hangup(Exception):
    """The process closed its end; the message says how far the exchange had come."""


class Stray(Exception):
    """The process wrote what cannot be the answer; the message quotes it."""


class ReplPipes:
    """Non-blocking ends of the pipes of one process. Whoever owns the descriptors closes them.

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
        answer = bytearray()
        self._read(answer)
        if answer:
            raise Stray(f"text that nobody asked for: {_shown(answer)}")
        unsent = memoryview(request)
        while True:
            for descriptor, _ in self._wait(bool(unsent), deadline, answer):
                if descriptor == self._stderr:
                    self._read_stderr()
                elif descriptor == self._stdin and unsent:
                    unsent = unsent[self._write(unsent) :]
                elif descriptor == self._stdout:
                    searched = max(0, len(answer) - 1)
                    self._read(answer)
                    if (end := answer.find(b"\n\n", searched)) >= 0:
                        return self._complete(answer, end, bool(unsent))

    def tail(self) -> str:
        """The last lines of what the process wrote to standard error."""
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
            if events := poll.poll(min(remaining, _MAX_POLL_SECONDS) * 1000):
                return events

    def _write(self, data: memoryview) -> int:
        try:
            return os.write(self._stdin, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise Hangup("it no longer reads requests") from error

    def _read(self, answer: bytearray) -> None:
        """Append what standard output has for us; empty lines in front of an answer do not count."""
        try:
            chunk = os.read(self._stdout, _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            raise Hangup(_progress(answer, False))
        answer += chunk if answer else chunk.lstrip()
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
        if sending:
            raise Stray(f"an answer before the request had been read: {_shown(answer)}")
        if answer[end:].strip():
            raise Stray(f"more than one answer to a request: {_shown(answer)}")
        return bytes(answer[:end])


def _progress(answer: bytearray, sending: bool) -> str:
    if sending:
        return "it did not read the whole request"
    return f"it wrote half an answer: {_shown(answer)}" if answer else "no answer"


def _shown(data: bytearray) -> str:
    return repr(bytes(data[:_SHOWN]))
