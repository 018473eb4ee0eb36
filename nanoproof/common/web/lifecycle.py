"""The life of a server process: room for connections, what it says when it is ready, and its end on a signal."""

import resource
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from nanoproof.common.web.guard import RequestLog
from nanoproof.common.web.server import HttpServer

_LAST_ANSWERS_SECONDS = 2.0
_POLL_SECONDS = 0.05


class Shutdown:
    """What the first signal starts: no new work, a while for the work under way, then the end. A second one ends all.

    The end comes from a thread of its own, while the main thread goes on to serve.
    """

    def __init__(
        self,
        drain: Callable[[], Any],
        close: Callable[[], Any],
        drain_seconds: float,
        requests: RequestLog,
        server: HttpServer,
    ) -> None:
        """`drain` lets in no new work, `close` ends the work under way."""
        self._drain, self._close, self._seconds = drain, close, drain_seconds
        self._requests = requests
        self._server = server
        self._begun = False

    def __call__(self, signal_number: int, frame: FrameType | None) -> None:
        if self._begun:
            interrupt(signal_number, frame)
        self._begun = True
        threading.Thread(target=self._end, name="shutdown", daemon=True).start()

    def _end(self) -> None:
        self._drain()
        self._wait_for_requests(self._seconds)
        self._close()
        self._wait_for_requests(_LAST_ANSWERS_SECONDS)
        self._server.stop()

    def _wait_for_requests(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self._requests.active() and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)


def on_signals(handler: Callable[[int, FrameType | None], None]) -> None:
    """Call `handler` on SIGTERM and SIGINT."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handler)


def interrupt(_signal: int, _frame: FrameType | None) -> None:
    """End the main thread as Ctrl-C does."""
    raise KeyboardInterrupt


def allow_many_connections() -> None:
    """Raise the limit of open files as far as we may: each connection and each process needs some."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def say_listening(listener: socket.socket) -> None:
    """Print the line that says where the server can be reached."""
    host, port = listener.getsockname()[:2]
    print(f"listening on http://{f'[{host}]' if ':' in host else host}:{port}", flush=True)
