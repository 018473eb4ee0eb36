"""The Flask application of the Lean server, and how it is served."""

import hmac
import itertools
import logging
import socket
import threading
import time
from typing import Any

import waitress
from flask import Flask, Response, g, request
from waitress.server import BaseWSGIServer
from werkzeug.exceptions import HTTPException

from nanoproof.common.errors import UserError
from nanoproof.lean.server.pool import Pool
from nanoproof.lean.server.routes import BadRequest, make_routes, reply
from nanoproof.lean.server.settings import ServerSettings

log = logging.getLogger(__name__)


class RequestLog:
    """The requests under way."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self._active: dict[int, tuple[str, float, str]] = {}

    def begin(self) -> None:
        """Note the current request."""
        g.request_id = next(self._ids)
        self._active[g.request_id] = (request.path, time.monotonic(), threading.current_thread().name)

    def end(self, _error: BaseException | None) -> None:
        """Forget the current request."""
        self._active.pop(g.get("request_id", 0), None)

    def active(self) -> list[dict[str, Any]]:
        """What is under way, oldest first."""
        now = time.monotonic()
        return [
            {"request_id": number, "path": path, "duration_seconds": round(now - began, 3), "thread": thread}
            for number, (path, began, thread) in sorted(self._active.copy().items())
        ]


def create_app(settings: ServerSettings, pool: Pool, token: str | None = None) -> Flask:
    """The application over a started pool. With a `token`, requests need `Authorization: Bearer <token>`."""
    app = Flask(__name__)
    requests = RequestLog()

    def check_token() -> Response | None:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token and not hmac.compare_digest(given.encode(), token.encode()):
            return reply({"error": "a valid token is needed"}, 401)
        return None

    def bad_request(error: BadRequest) -> Response:
        return reply({"error": str(error)}, 400)

    def http_error(error: HTTPException) -> Response:
        return reply({"error": f"{error.code} {error.name}"}, error.code or 500)

    def our_fault(error: Exception) -> Response:
        log.exception("a request failed because of a bug of this server", exc_info=error)
        return reply({"error": f"server bug: {type(error).__name__}: {error}"}, 500)

    app.before_request(requests.begin)
    app.before_request(check_token)
    app.teardown_request(requests.end)
    app.register_error_handler(BadRequest, bad_request)
    app.register_error_handler(HTTPException, http_error)
    app.register_error_handler(Exception, our_fault)
    app.register_blueprint(make_routes(settings, pool, requests.active))
    return app


def bind(settings: ServerSettings) -> socket.socket:
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


def make_http_server(app: Flask, settings: ServerSettings, listener: socket.socket) -> BaseWSGIServer:
    """The HTTP server for the application; `run()` serves until it is interrupted."""
    return waitress.create_server(
        app,
        sockets=[listener],
        threads=settings.threads,
        connection_limit=10 * settings.threads + 100,
        channel_timeout=3600,
        clear_untrusted_proxy_headers=True,
    )
