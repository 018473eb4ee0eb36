"""The run at a glance, its numbers by step, and its actors."""

from flask import Blueprint, Response

from nanoproof.monitor.current import CurrentRun
from nanoproof.monitor.questions import answer, text, whole

MAX_POINTS = 5000
MAX_NAMES = 100


def run_routes(current: CurrentRun) -> Blueprint:
    """/api/run, /api/overview, /api/series, /api/actors"""
    routes = Blueprint("run", __name__)

    @routes.get("/api/run")
    def run() -> Response:
        reader = current.reader
        with reader.lock:
            data = reader.run_info()
        return answer(data)

    @routes.get("/api/overview")
    def overview() -> Response:
        reader = current.reader
        with reader.lock:
            data = reader.overview()
        return answer(data)

    @routes.get("/api/series")
    def series() -> Response:
        reader, most = current.reader, whole("max_points", 600, 2, MAX_POINTS)
        wanted = text("names")
        names = None if wanted is None else [name for name in wanted.split(",") if name][:MAX_NAMES]
        with reader.lock:
            data = reader.metrics.series(names, most)
        return answer(data)

    @routes.get("/api/actors")
    def actors() -> Response:
        reader = current.reader
        with reader.lock:
            data = reader.actors()
        return answer(data)

    return routes
