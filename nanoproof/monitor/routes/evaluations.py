"""Evaluations: their scores, their results, and two of them side by side."""

from flask import Blueprint, Response

from nanoproof.monitor.attempts import OUTCOMES
from nanoproof.monitor.current import CurrentRun
from nanoproof.monitor.questions import answer, choice, needed_text, not_found, paging, text
from nanoproof.monitor.schema import Evaluations

MAX_EVALUATIONS_AT_ONCE = 1000


def evaluation_routes(current: CurrentRun) -> Blueprint:
    """/api/evaluations, /api/evaluations/<name>, its /results/<index>, and /api/evaluations/diff"""
    routes = Blueprint("evaluations", __name__)

    @routes.get("/api/evaluations")
    def evaluations() -> Response:
        reader, (page, size) = current.reader, paging(50, MAX_EVALUATIONS_AT_ONCE)
        dataset = text("dataset") or None
        with reader.lock:
            rows = reader.evaluations.rows()
        names = sorted({row["dataset"] for row in rows})
        chosen = [row for row in rows if dataset is None or row["dataset"] == dataset]
        items = chosen[(page - 1) * size : page * size]
        data: Evaluations = {"items": items, "total": len(chosen), "page": page, "size": size, "benchmarks": names}
        return answer(data)

    @routes.get("/api/evaluations/diff")
    def diff() -> Response:
        reader, a, b = current.reader, needed_text("a"), needed_text("b")
        with reader.lock:
            for name in (a, b):
                if reader.evaluations.row(name) is None:
                    return _unknown(name)
            data = reader.evaluations.diff(a, b)
        if data is None:
            return answer({"error": f"{a} and {b} are not evaluations of the same theorems"}, 409)
        return answer(data)

    @routes.get("/api/evaluations/<name>")
    def evaluation(name: str) -> Response:
        reader, (page, size) = current.reader, paging()
        outcome, q = choice("outcome", OUTCOMES), text("q") or ""
        with reader.lock:
            if reader.evaluations.row(name) is None:
                return _unknown(name)
            data = reader.evaluations.evaluation(name, outcome, q, page, size)
        return answer(data)

    @routes.get("/api/evaluations/<name>/results/<int:index>")
    def result(name: str, index: int) -> Response:
        reader = current.reader
        with reader.lock:
            if reader.evaluations.row(name) is None:
                return _unknown(name)
            data = reader.evaluations.result(name, index)
        return not_found(f"{name} has no result {index}") if data is None else answer(data)

    return routes


def _unknown(name: str) -> Response:
    return not_found(f"no evaluation {name[:200]!r}")
