"""What the model samples and learns, and where time goes."""

from flask import Blueprint, Response

from nanoproof.common.web.json_api import BadRequest
from nanoproof.monitor.current import CurrentRun
from nanoproof.monitor.questions import answer, moment, paging, whole
from nanoproof.monitor.samples import sample_item, train_item
from nanoproof.monitor.timeline import chrome_trace

MAX_SPANS = 20_000
MAX_TRACE_SPANS = 200_000
MAX_NEWEST = 1_000_000_000
_PAGE = 20


def model_routes(current: CurrentRun) -> Blueprint:
    """/api/samples, /api/train-samples, /api/calibration, /api/timeline, /api/trace"""
    routes = Blueprint("model", __name__)

    @routes.get("/api/samples")
    def samples() -> Response:
        reader, (page, size) = current.reader, paging(_PAGE, 100)
        with reader.lock:
            records, total = reader.samples.page(page, size)
        return answer({"items": [sample_item(one) for one in records], "total": total, "page": page, "size": size})

    @routes.get("/api/train-samples")
    def train_samples() -> Response:
        reader, (page, size) = current.reader, paging(_PAGE, 100)
        with reader.lock:
            records, total = reader.train_samples.page(page, size)
        return answer({"items": [train_item(one) for one in records], "total": total, "page": page, "size": size})

    @routes.get("/api/calibration")
    def calibration() -> Response:
        reader = current.reader
        with reader.lock:
            data = reader.calibration.answer()
        return answer(data)

    @routes.get("/api/timeline")
    def timeline() -> Response:
        most, newest = whole("max", 5000, 10, MAX_SPANS), whole("last", 60, 0, MAX_NEWEST)
        return answer(current.reader.timeline.read(*_part(), most, newest))

    @routes.get("/api/trace")
    def trace() -> Response:
        data = answer(chrome_trace(current.reader.timeline.read(*_part(), MAX_TRACE_SPANS)))
        data.headers["Content-Disposition"] = 'attachment; filename="nanoproof-trace.json"'
        return data

    return routes


def _part() -> tuple[float | None, float | None]:
    start, end = moment("from"), moment("to")
    if start is not None and end is not None and end <= start:
        raise BadRequest("`to` must be later than `from`")
    return start, end
