"""The routes of the monitor's API, the run that it shows, and what a request may ask."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, request

from nanoproof.common.web.flask_app import BadRequest, caller_gone, reply_later
from nanoproof.monitor.attempts import OUTCOMES, SORTS, theorem_row
from nanoproof.monitor.reader import RunReader
from nanoproof.monitor.record_schema import Attempt
from nanoproof.monitor.records import attempt_in_full, read_tree, sample_item, train_item
from nanoproof.monitor.schema import Evaluations
from nanoproof.monitor.stream import Hub
from nanoproof.monitor.tail import LEVELS, MAX_LINE, LogReader, parse_object, read_cursor, read_range
from nanoproof.monitor.timeline import chrome_trace
from nanoproof.rl.attempt_log import attempts_file

# -- What a request may ask: each parameter with its range, refused with one clear sentence otherwise ----------------

MAX_SIZE = 500
MAX_PAGE = 1_000_000_000
MAX_TEXT = 1000


def whole(name: str, default: int, low: int, high: int) -> int:
    """A whole number. Raises BadRequest."""
    text = _given(name)
    if text is None:
        return default
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else -1
    if not low <= number <= high:
        raise BadRequest(f"`{name}` must be a whole number from {low} to {high}")
    return number


def moment(name: str) -> float | None:
    """A time in seconds. Raises BadRequest."""
    text = _given(name)
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < 1e11:
        raise BadRequest(f"`{name}` must be a time in seconds")
    return value


def choice(name: str, choices: Sequence[str], default: str | None = None) -> str | None:
    """One of several words. Raises BadRequest."""
    text = _given(name)
    if text is None or (text == "" and default is None):
        return default
    if text not in choices:
        raise BadRequest(f"`{name}` must be one of {', '.join(choices)}")
    return text


def text(name: str) -> str | None:
    """A text of reasonable length. Raises BadRequest."""
    value = _given(name)
    if value is not None and len(value) > MAX_TEXT:
        raise BadRequest(f"`{name}` must not be longer than {MAX_TEXT} characters")
    return value


def needed_text(name: str) -> str:
    """A text that must be there. Raises BadRequest."""
    value = text(name)
    if not value:
        raise BadRequest(f"`{name}` is needed")
    return value


def paging(default_size: int = 50, most: int = MAX_SIZE) -> tuple[int, int]:
    """Number and size of a page. Raises BadRequest."""
    return whole("page", 1, 1, MAX_PAGE), whole("size", default_size, 1, most)


def answer(data: Any, status: int = 200) -> Response:
    """A JSON answer. Numbers that JSON has no word for become null; half a character becomes a question mark."""
    try:
        body = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        body = json.dumps(_finite(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(body.encode("utf-8", "replace"), status, mimetype="application/json")


def not_found(what: str) -> Response:
    """There is no such thing."""
    return answer({"error": what}, 404)


def _given(name: str) -> str | None:
    values = request.args.getlist(name)
    if len(values) > 1:
        raise BadRequest(f"`{name}` is given {len(values)} times")
    return values[0] if values else None


def _finite(data: Any) -> Any:
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {name: _finite(value) for name, value in data.items()}
    return [_finite(value) for value in data] if isinstance(data, (list, tuple)) else data


# -- The run that a monitor shows; none until one is set -------------------------------------------------------------


class NoRun(BadRequest):
    """Nothing is shown yet."""


class CurrentRun:
    """Reader and live updates of a run, which may be exchanged for another."""

    def __init__(self) -> None:
        self._reader: RunReader | None = None
        self._hub: Hub | None = None

    def show(self, run_path: Path, every_seconds: float = 0.5) -> None:
        """From now on show this run; without `every_seconds` it is read at each question and in no background."""
        self.close()
        reader = RunReader(run_path, every_seconds)
        self._reader = reader.start() if every_seconds else reader
        self._hub = Hub(self._reader)

    def close(self) -> None:
        """Show nothing."""
        if self._hub is not None:
            self._hub.close()
        if self._reader is not None:
            self._reader.close()
        self._reader = self._hub = None

    @property
    def reader(self) -> RunReader:
        """What is known of the run, brought up to date. Raises NoRun."""
        if self._reader is None:
            raise NoRun("no run yet")
        self._reader.refresh()
        return self._reader

    @property
    def hub(self) -> Hub:
        """The live updates. Raises NoRun."""
        if self._hub is None:
            raise NoRun("no run yet")
        return self._hub


# -- The run at a glance, its numbers by step, and its actors --------------------------------------------------------

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


# -- Logs and live updates -------------------------------------------------------------------------------------------

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


# -- What the model samples and learns, and where time goes ----------------------------------------------------------

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


# -- Theorems, attempts at them, and search trees --------------------------------------------------------------------

MAX_HISTORY = 200
_GONE = "the log of attempts does not hold it any more"


def theorem_routes(current: CurrentRun) -> Blueprint:
    """/api/theorems, /api/theorem, /api/attempts, /api/attempts/<rank>/<step>/<seq>, and its /tree"""
    routes = Blueprint("theorems", __name__)

    @routes.get("/api/theorems")
    def theorems() -> Response:
        reader, (page, size) = current.reader, paging()
        sort, order = choice("sort", SORTS, "last"), choice("order", ("asc", "desc"), "desc")
        dataset, outcome, q = text("dataset") or None, choice("outcome", OUTCOMES), text("q") or ""
        with reader.lock:
            data = reader.theorems.page(q, dataset, outcome, str(sort), order == "desc", page, size)
        return answer(data)

    @routes.get("/api/theorem")
    def theorem() -> Response:
        reader, dataset, name = current.reader, text("dataset") or "", needed_text("id")
        with reader.lock:
            stats = reader.attempts.theorem(dataset, name)
            if stats is None:
                return not_found(f"no attempt at a theorem {name[:100]!r} of {dataset[:100]!r}")
            history, total = reader.attempts.page(1, MAX_HISTORY, theorem=stats.number)
            number = stats.best if stats.best >= 0 else stats.last_row
            row = theorem_row(stats)
            best = _in_full(reader, number)
        return answer({"theorem": row, "best": best, "history": history, "total": total})

    @routes.get("/api/attempts")
    def attempts() -> Response:
        reader, (page, size) = current.reader, paging()
        dataset, name, outcome = text("dataset") or None, text("id"), choice("outcome", OUTCOMES)
        with_tree = choice("tree", ("true", "false"), "false") == "true"
        with reader.lock:
            stats = reader.attempts.theorem(dataset or "", name) if name else None
            if name and stats is None:
                return not_found(f"no attempt at a theorem {name[:100]!r} of {(dataset or '')[:100]!r}")
            number = None if stats is None else stats.number
            items, total = reader.attempts.page(page, size, None if name else dataset, number, outcome, with_tree)
        return answer({"items": items, "total": total, "page": page, "size": size})

    @routes.get("/api/attempts/<int:rank>/<int:step>/<int:seq>")
    def attempt(rank: int, step: int, seq: int) -> Response:
        reader = current.reader
        with reader.lock:
            number = reader.attempts.find(rank, step, seq)
            data = None if number is None else _in_full(reader, number)
        if number is None:
            return not_found(f"no attempt {rank}/{step}/{seq}")
        return not_found(_GONE) if data is None else answer(data)

    @routes.get("/api/attempts/<int:rank>/<int:step>/<int:seq>/tree")
    def tree(rank: int, step: int, seq: int) -> Response:
        reader = current.reader
        with reader.lock:
            number = reader.attempts.find(rank, step, seq)
            row = None if number is None else reader.attempts.row(number)
        if row is None:
            return not_found(f"no attempt {rank}/{step}/{seq}")
        data: Any = read_tree(reader.path, row)
        return not_found("the search tree of this attempt is not kept") if data is None else answer(data)

    return routes


def _in_full(reader: RunReader, number: int) -> Attempt | None:
    """An attempt with all that its record says; None if the log does not hold it any more."""
    row = reader.attempts.row(number)
    rank, at, size = reader.attempts.place(number)
    record = parse_object(read_range(attempts_file(reader.path, rank), at, min(size, MAX_LINE)))
    expected = {"step": row["step"], "rank": rank, "sequence": row["seq"]}
    return None if record is None or record.get("number") != expected else attempt_in_full(row, record)


# -- Evaluations: their scores, their results, and two of them side by side ------------------------------------------

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
