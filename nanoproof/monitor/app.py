"""The monitor's Flask app: who may look, the routes, the page, and what goes with every answer."""

import gzip

from flask import Flask, Response, request
from prometheus_client import CollectorRegistry, Counter

from nanoproof.common.web.guard import guarded_app, metrics_of
from nanoproof.monitor.current import CurrentRun, NoRun
from nanoproof.monitor.login import Login
from nanoproof.monitor.page import Pages
from nanoproof.monitor.questions import answer
from nanoproof.monitor.routes.evaluations import evaluation_routes
from nanoproof.monitor.routes.live import live_routes
from nanoproof.monitor.routes.model import model_routes
from nanoproof.monitor.routes.run import run_routes
from nanoproof.monitor.routes.theorems import theorem_routes

_COMPRESS_FROM = 8192


def create_app(current: CurrentRun, token: str | None = None, on_loopback: bool = True) -> Flask:
    """The app for whatever run `current` names at the time of a request."""
    pages, login = Pages(), Login(token)
    registry = CollectorRegistry()
    answered = Counter("nanoproof_monitor_requests_total", "Requests answered.", ("path", "status"), registry=registry)
    app = guarded_app(__name__, token, on_loopback, answered, lambda: False, (), login.has_cookie)
    app.before_request_funcs[None].insert(0, login.exchange)

    @app.get("/")
    def index() -> Response:
        return pages.index()

    @app.get("/metrics")
    def metrics() -> Response:
        return metrics_of(registry)

    @app.get("/<path:name>")
    def file(name: str) -> Response:
        return pages.file(name) or answer({"error": "no such page"}, 404)

    for make in (run_routes, theorem_routes, model_routes, evaluation_routes, live_routes):
        app.register_blueprint(make(current))
    app.register_error_handler(404, lambda error: answer({"error": "no such page"}, 404))
    app.register_error_handler(NoRun, lambda error: answer({"error": str(error)}, 503))

    @app.after_request
    def finish(response: Response) -> Response:
        if token and response.status_code == 401 and "text/html" in request.headers.get("Accept", ""):
            response = pages.login()
        _secure(response, pages.policy)
        return _compressed(response)

    return app


def _secure(response: Response, policy: str) -> None:
    """What keeps a browser from doing with our answers what they are not for."""
    headers = response.headers
    headers["Content-Security-Policy"] = policy
    headers["X-Content-Type-Options"] = "nosniff"
    headers["X-Frame-Options"] = "DENY"
    headers["Referrer-Policy"] = "no-referrer"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    headers.setdefault("Cache-Control", "no-store")


def _compressed(response: Response) -> Response:
    """Long texts are sent compressed to those who take that."""
    if response.is_streamed or response.direct_passthrough or response.status_code != 200:
        return response
    kind = response.mimetype or ""
    wanted = "gzip" in request.headers.get("Accept-Encoding", "") and "Content-Encoding" not in response.headers
    if wanted and (kind.startswith("text/") or kind.endswith(("json", "javascript", "svg+xml"))):
        body = response.get_data()
        if len(body) >= _COMPRESS_FROM:
            response.set_data(gzip.compress(body, compresslevel=1))
            response.headers["Content-Encoding"] = "gzip"
            response.vary.add("Accept-Encoding")
    return response
