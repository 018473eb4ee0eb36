"""The HTTP server under the application: errors in JSON, limits on bodies and slow senders, an orderly end."""

import json
import logging
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from flask import Flask
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask
from waitress.utilities import Error, RequestEntityTooLarge
from waitress.wasyncore import close_all

from nanoproof.common.errors import UserError

_IDLE_CONNECTION_SECONDS = 600
_MAX_HEADER_BYTES = 64 * 1024
_BODIES_READ_TO_REFUSE = 8
_STOP_SECONDS = 5.0


class HttpSettings(Protocol):
    """What the settings of a server say about HTTP."""

    @property
    def address(self) -> str:
        """Where to listen."""
        ...

    @property
    def port(self) -> int:
        """0 for a free one."""
        ...

    @property
    def threads(self) -> int:
        """Requests that are answered at the same time."""
        ...

    @property
    def receive_seconds(self) -> float:
        """How long a request may take to arrive."""
        ...

    @property
    def max_body_mb(self) -> float:
        """Longer bodies are refused."""
        ...


class _RequestTimeout(Error):
    code = 408
    reason = "Request Timeout"


class _Parser(HTTPRequestParser):
    """Reads a request. A body that is too large is read to its end, within reason, so that the client sees the 413."""

    error: Error | None
    expect_continue: bool

    def __init__(self, adj: Adjustments) -> None:
        super().__init__(adj)
        self.began = time.monotonic()
        self._to_discard = 0

    def parse_header(self, header_plus: bytes) -> None:
        """Read the header; numbers that Python refuses are the client's fault too.

        A request for `http://host/path` is one for that host, whatever its Host header says (RFC 9112, section 3.2.2).
        """
        try:
            super().parse_header(header_plus)
        except ValueError as error:
            raise ParsingError("a header is invalid") from error
        if self.proxy_netloc:
            self.headers["HOST"] = self.proxy_netloc

    def received(self, data: bytes) -> int:
        """Take in data; returns how many bytes belonged to this request."""
        if self._to_discard:
            taken = min(len(data), self._to_discard)
            self._to_discard -= taken
            self.completed = self._to_discard == 0
            return taken
        taken = int(super().received(data))
        if isinstance(self.error, RequestEntityTooLarge) and not self.chunked and not self.expect_continue:
            limit = _BODIES_READ_TO_REFUSE * self.adj.max_request_body_size
            self._to_discard = self.content_length if self.content_length <= limit else 0
            self.completed = self._to_discard == 0
        self.expect_continue = self.expect_continue and self.error is None
        return taken

    def give_up(self) -> None:
        """End a request that takes too long to arrive."""
        if not self.headers_finished:
            super().parse_header(b"GET / HTTP/1.0\r\n")
        self.error = self.error or _RequestTimeout("the request did not arrive in time")
        self.completed = True


class _JsonErrorTask(ErrorTask):
    """Answers a request that could not be read."""

    def execute(self) -> None:
        """Write the error as JSON and close the connection."""
        error = self.request.error
        self.channel.server.on_error(error.code)
        body = json.dumps({"error": f"{error.code} {error.reason}: {error.body}"}).encode()
        self.status = f"{error.code} {error.reason}"
        self.response_headers.append(("Content-Type", "application/json"))
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class _Channel(HTTPChannel):
    """One connection."""

    error_task_class = _JsonErrorTask
    parser_class = _Parser
    request: _Parser | None

    def expire(self, oldest: float) -> None:
        """Answer 408 if the request that is arriving began before `oldest`."""
        with self.requests_lock:
            if self.request is None or self.requests or self.request.began > oldest:
                return
            self.request.give_up()
            self.requests.append(self.request)
            self.request = None
            self.server.add_task(self)


class HttpServer(TcpWSGIServer):
    """Serves an application on a socket. `on_error` hears the status of requests that could not be read."""

    channel_class = _Channel

    def __init__(
        self, app: Flask, settings: HttpSettings, listener: socket.socket, on_error: Callable[[int], Any]
    ) -> None:
        self.on_error = on_error
        self._receive_seconds = settings.receive_seconds
        self._running = False
        self._stopping = threading.Event()
        self._ended = threading.Event()
        adjustments = Adjustments(
            sockets=[listener],
            threads=settings.threads,
            connection_limit=10 * settings.threads + 100,
            channel_timeout=_IDLE_CONNECTION_SECONDS,
            cleanup_interval=1,
            asyncore_use_poll=True,
            channel_request_lookahead=1,
            clear_untrusted_proxy_headers=True,
            log_socket_errors=False,
            max_request_header_size=_MAX_HEADER_BYTES,
            max_request_body_size=round(settings.max_body_mb * 2**20) + 1,
            ident="nanoproof",
        )
        address = (listener.family, listener.type, listener.proto, listener.getsockname())
        super().__init__(app, None, True, listener, adj=adjustments, bind_socket=False, sockinfo=address)
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # a queue is nothing to warn of on each request

    def run(self) -> None:
        """Serve until `stop` is called, or until this thread is interrupted."""
        self._running = True
        try:
            while not self._stopping.is_set():
                self.asyncore.loop(timeout=1.0, map=self._map, use_poll=True, count=1)
        finally:
            self.task_dispatcher.shutdown(timeout=_STOP_SECONDS)
            self._running = False
            self._close_sockets()

    def stop(self) -> None:
        """Let `run` return; may be called from any thread."""
        self._stopping.set()
        self.pull_trigger()

    def close(self) -> None:
        """Stop, and wait until every connection is closed; may be called from any thread but the one that runs."""
        if self._running:
            self.stop()
            self._ended.wait(2 * _STOP_SECONDS)
        else:
            self._close_sockets()

    def pull_trigger(self) -> None:
        """Wake the thread that runs; once the trigger is closed its descriptor may be another's."""
        if not self.trigger._closed:
            with suppress(OSError):  # it is being closed at this moment
                super().pull_trigger()

    def _close_sockets(self) -> None:
        self._stopping.set()
        super().close()
        close_all(self._map, ignore_all=True)
        self._ended.set()

    def maintenance(self, now: float) -> None:
        """Close idle connections, and answer those that are too slow."""
        super().maintenance(now)
        oldest = time.monotonic() - self._receive_seconds
        for channel in list(self.active_channels.values()):
            channel.expire(oldest)


def bind(settings: HttpSettings) -> socket.socket:
    """The listening socket; `UserError` if the address cannot be had."""
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
