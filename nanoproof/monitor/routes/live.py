"""Logs and live updates."""

from flask import Blueprint, Response, request

from nanoproof.common.web.json_api import BadRequest, caller_gone, reply_later
from nanoproof.monitor.current import CurrentRun
from nanoproof.monitor.logs import LEVELS, LogReader, read_cursor
from nanoproof.monitor.questions import answer, choice, text, whole

MAX_RECORDS = 1000


def live_routes(current: CurrentRun) -> Blueprint:
    """/api/logs, /api/stream"""
    routes = Blueprint("live", __name__)

    @routes.get("/api/logs")
    def logs() -> Response:
        level, count = choice("level", LEVELS, "DEBUG"), whole("size", 200, 1, MAX_RECORDS)
        rank = whole("rank", 0, 0, 1_000_000) if text("rank") else None
        reader = LogReader(current.reader.path, str(level), rank)
        after, before = _places("after"), _places("before")
        if after is not None:
            return answer(reader.after(after, count))
        return answer(reader.before(before if before is not None else reader.ends(), count))

    @routes.get("/api/stream")
    def stream() -> Response:
        current.reader.refresh()
        messages = current.hub.listen(request.headers.get("Last-Event-ID", ""), caller_gone())
        if messages is None:
            return reply_later({"error": "too many viewers"}, 503)
        response = Response(messages, mimetype="text/event-stream")
        response.headers["X-Accel-Buffering"] = "no"
        return response

    return routes


def _places(name: str) -> dict[int, int] | None:
    cursor = request.args.get(name)
    if not cursor:
        return None
    places = read_cursor(cursor)
    if places is None:
        raise BadRequest(f"`{name}` must be the `next` or `previous` of an earlier answer")
    return places
