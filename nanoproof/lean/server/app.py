"""The Flask application of the Lean server, and what serves it."""

import socket

from flask import Flask

from nanoproof.common.web.guard import RequestLog, guarded_app
from nanoproof.common.web.server import HttpServer, bind
from nanoproof.lean.server.pool import Pool
from nanoproof.lean.server.routes import IdConverter, make_routes
from nanoproof.lean.server.settings import ServerSettings

__all__ = ["RequestLog", "bind", "create_app", "make_http_server"]

_SERVED_TO_THE_END = ("lean.status", "lean.metrics", "lean.return_process")


def create_app(settings: ServerSettings, pool: Pool, token: str | None = None) -> Flask:
    """The application over a started pool; for the `token` see `guarded_app`."""
    app = guarded_app(
        __name__, token, settings.on_loopback, pool.metrics.requests, lambda: pool.closing, _SERVED_TO_THE_END
    )
    app.url_map.converters["id"] = IdConverter
    app.register_blueprint(make_routes(settings, pool, app.extensions["requests"].active))
    return app


def make_http_server(app: Flask, settings: ServerSettings, listener: socket.socket) -> HttpServer:
    """The HTTP server for the application; `run()` serves until it is stopped."""
    return HttpServer(app, settings, listener)
