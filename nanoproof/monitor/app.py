"""The dashboard's Flask app: one page, and the run as JSON."""

from pathlib import Path

from flask import Flask, Response, jsonify, send_from_directory

from nanoproof.monitor.reader import RunReader

STATIC = Path(__file__).parent / "static"


class CurrentRun:
    """The run that the app shows; none until one is set."""

    def __init__(self) -> None:
        self.reader: RunReader | None = None


def create_app(current: CurrentRun) -> Flask:
    """The app for whatever run `current` names at the time of a request."""
    app = Flask(__name__, static_folder=None)

    @app.get("/")
    def page() -> Response:
        return send_from_directory(STATIC, "index.html")

    @app.get("/api/overview")
    def overview() -> tuple[Response, int] | Response:
        if current.reader is None:
            return jsonify({"error": "no run yet"}), 503
        return jsonify(current.reader.overview())

    @app.errorhandler(404)
    def not_found(error: Exception) -> tuple[Response, int]:
        return jsonify({"error": "no such page"}), 404

    return app
