"""The HTTP server that runs an application (waitress with limits), and the shutdown of its process."""

import logging
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, Protocol

import waitress
from flask import Flask

from nanoproof.common.errors import UserError
from nanoproof.common.web.flask_app import RequestLog

_MAX_HEADER_BYTES = 64 * 1024
_BODIES_READ_TO_REFUSE = 8
_STOP_SECONDS = 5.0
_LAST_ANSWERS_SECONDS = 2.0
_POLL_SECONDS = 0.05


class HttpSettings(Protocol):
    """The settings of a server that concern HTTP."""

    @property
    def address(self) -> str:
        """Address to listen on."""
        ...

    @property
    def port(self) -> int:
        """Port to listen on; 0 for a free one."""
        ...

    @property
    def threads(self) -> int:
        """Number of requests that are answered at the same time."""
        ...

    @property
    def receive_seconds(self) -> float:
        """Idle time after which a connection is closed, unless it waits for an answer."""
        ...

    @property
    def max_body_mb(self) -> float:
        """Largest body that is accepted; longer ones are refused with 413."""
        ...


class HttpServer:
    """Serves an application on a listening socket, with more open connections than threads.

    A body that is too large is read to its end, within reason, so that the client sees the 413 of the application.
    What waitress itself refuses (no HTTP, too long a header, many times too large a body) it answers in plain text.
    """

    def __init__(self, app: Flask, settings: HttpSettings, listener: socket.socket) -> None:
        limit = round(settings.max_body_mb * 2**20)
        app.config["MAX_CONTENT_LENGTH"] = limit
        self._sockets: dict[int, Any] = {}  # waitress's, by descriptor: the listening one, its pipe, the connections
        self._server: Any = waitress.create_server(
            app,
            map=self._sockets,
            sockets=[listener],
            threads=settings.threads,
            connection_limit=10 * settings.threads + 100,
            channel_timeout=settings.receive_seconds,
            cleanup_interval=1,
            asyncore_use_poll=True,
            channel_request_lookahead=1,
            clear_untrusted_proxy_headers=True,
            log_socket_errors=False,
            max_request_header_size=_MAX_HEADER_BYTES,
            max_request_body_size=_BODIES_READ_TO_REFUSE * limit + 1,
            ident="nanoproof",
        )
        self._lock = threading.Lock()
        self._running = self._stopped = False
        self._ended = threading.Event()
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # a queue is nothing to warn of on each request

    def run(self) -> None:
        """Serve until `stop` is called, or until this thread is interrupted."""
        with self._lock:
            self._running = not self._stopped
        try:
            if self._running:
                self._server.run()
                if not self._stopped:  # waitress returns silently when it is interrupted
                    raise KeyboardInterrupt
        finally:
            with self._lock:
                self._stopped = True
            self._close_sockets()
            self._ended.set()

    def stop(self) -> None:
        """Let `run` return once the answers in progress are sent; may be called from any thread."""
        with self._lock:
            first, self._stopped = not self._stopped, True
            if self._running and first:
                self._server.trigger.pull_trigger(self._close_when_told)  # the thread that runs does it

    def close(self) -> None:
        """Stop, and wait until every connection is closed; may be called from any thread but the one that runs."""
        self.stop()
        if self._running:
            self._ended.wait(2 * _STOP_SECONDS)
        else:
            self._close_sockets()

    def _close_when_told(self) -> None:
        """Close the sockets, the pipe among them that wakes this thread: not before `stop` has written to it.

        An answer that is sent wakes it, too, and it does what it finds to do.
        """
        with self._lock:
            pass
        self._close_sockets()

    def _close_sockets(self) -> None:
        try:
            self._server.task_dispatcher.shutdown(timeout=_STOP_SECONDS)
        finally:
            for entry in reversed(list(self._sockets.values())):  # the pipe last, which a late answer would write to
                entry.close()


def bind(settings: HttpSettings) -> socket.socket:
    """Open the listening socket; raises `UserError` if the address is not available."""
    family = socket.AF_INET6 if ":" in settings.address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.address, settings.port))
    except OSError as error:
        listener.close()
        reason = error.strerror or str(error)
        raise UserError(f"cannot listen on {settings.address} port {settings.port}: {reason}") from error
    return listener


# -- Shutdown of the process -----------------------------------------------------------------------------------------


class Shutdown:
    """A signal handler that drains the server, waits for the requests in progress, and stops it.

    A second signal ends the process at once. A thread does the work, while the main thread continues to serve.
    """

    def __init__(
        self,
        drain: Callable[[], Any],
        close: Callable[[], Any],
        drain_seconds: float,
        requests: RequestLog,
        server: HttpServer,
    ) -> None:
        """`drain` refuses new work, `close` ends the work in progress; `drain_seconds` lie between them."""
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
    """Handle a signal as Ctrl-C: raise KeyboardInterrupt in the main thread."""
    raise KeyboardInterrupt


def allow_many_connections() -> None:
    """Raise the limit of open files to the hard limit: each connection and each process needs some."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def print_address(listener: socket.socket) -> None:
    """Print the line `listening on http://HOST:PORT`."""
    host, port = listener.getsockname()[:2]
    print(f"listening on http://{f'[{host}]' if ':' in host else host}:{port}", flush=True)
