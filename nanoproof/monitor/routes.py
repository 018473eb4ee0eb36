"""The routes of the monitor's API, and the run that they read."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, request, send_file

from nanoproof.actors.state_questions import MAX_QUESTION
from nanoproof.common.errors import UserError
from nanoproof.common.web.flask_app import BadRequest, client_disconnected, reply_later
from nanoproof.monitor.attempts import OUTCOMES, SORTS, read_searches, sample_rows
from nanoproof.monitor.identity import ask_command, read_note, write_note
from nanoproof.monitor.params import (
    MAX_PAGE,
    body_texts,
    choice_param,
    found_or,
    int_param,
    json_response,
    not_found,
    page_params,
    required_text_param,
    text_param,
    time_param,
)
from nanoproof.monitor.ranks import no_answer
from nanoproof.monitor.reader import RunReader
from nanoproof.monitor.record_schema import Attempt, Rounds
from nanoproof.monitor.records import read_tree, to_attempt, to_sample, to_train_sample, to_tree
from nanoproof.monitor.rounds import rounds
from nanoproof.monitor.runs import RunComparison, RunList
from nanoproof.monitor.schema import EvaluationDiff, Evaluations, Runs
from nanoproof.monitor.stream import UpdateStream
from nanoproof.monitor.tail import LEVELS, MAX_LINE, LogReader, parse_object, read_cursor, read_range
from nanoproof.monitor.timeline import chrome_trace
from nanoproof.prover.attempt_log import attempts_file

# -- The run that is shown -------------------------------------------------------------------------------------------


class NoRun(BadRequest):
    """There is no run to show yet."""


class NoSuchRun(BadRequest):
    """The request names no run, or one that does not exist."""


MAX_OPEN_RUNS = 12
"""Runs of a folder that are followed at a time; the one that was asked for longest ago is closed for another."""


class _Open:
    """The reader and the live updates of one run."""

    def __init__(self, run_path: Path, every_seconds: float, evaluations: Sequence[Path] = ()) -> None:
        reader = RunReader(run_path, every_seconds, evaluations)
        self.reader = reader.start() if every_seconds else reader
        self.updates = UpdateStream(self.reader)

    def close(self) -> None:
        self.updates.close()
        self.reader.close()


class CurrentRun:
    """The run that is shown, which may be replaced by another; or all runs below a folder, of which each request names
    one as `run`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._runs: RunList | None = None
        self._comparison: RunComparison | None = None
        self._every_seconds = 0.5

    def show(self, run_path: Path, every_seconds: float = 0.5, evaluations: Sequence[Path] = ()) -> None:
        """Show this run from now on; if `every_seconds` is 0, it is read at each request only.

        With `evaluations`, the first of which is `run_path`, show these alone, wherever they lie.
        """
        self.close()
        with self._lock:
            self._open[""] = _Open(run_path, every_seconds, evaluations)

    def show_runs(self, folder: Path, every_seconds: float = 0.5) -> None:
        """Show the runs below a folder from now on."""
        self.close()
        self._runs, self._every_seconds = RunList(folder), every_seconds
        self._comparison = RunComparison(self._runs)

    def close(self) -> None:
        """Show nothing."""
        with self._lock:
            opened, self._runs, self._comparison = list(self._open.values()), None, None
            self._open.clear()
        # Outside of the lock: to close a reader waits for its thread, and requests would wait with it.
        for run in opened:
            run.close()

    def runs(self) -> Runs:
        """Return the list of runs; empty where one run only is shown."""
        if self._runs is None:
            return {"folder": "", "items": [], "total": 0}
        return self._runs.runs()

    def _current(self) -> _Open:
        if self._runs is None:
            with self._lock:
                if "" not in self._open:
                    raise NoRun("no run yet")
                return self._open[""]
        name = text_param("run")
        if not name:
            raise NoSuchRun("`run` is needed: this monitor shows the runs of a folder, see /api/runs")
        return self._opened(name)

    @property
    def comparison(self) -> RunComparison:
        """What compares the evaluations of runs. Raises NoSuchRun."""
        if self._comparison is None:
            raise NoSuchRun("this monitor shows one run only")
        return self._comparison

    def _opened(self, name: str) -> _Open:
        surplus = None
        with self._lock:
            if name not in self._open:
                path = self._runs.path(name) if self._runs is not None else None
                if path is None:
                    raise NoSuchRun(f"there is no run {name}")
                self._open[name] = _Open(path, self._every_seconds)
                if len(self._open) > MAX_OPEN_RUNS:
                    surplus = self._open.popitem(last=False)[1]
            self._open.move_to_end(name)
            opened = self._open[name]
        if surplus is not None:
            surplus.close()
        return opened

    @property
    def reader(self) -> RunReader:
        """The reader, brought up to date. Raises NoRun, NoSuchRun."""
        reader = self._current().reader
        reader.refresh()
        return reader

    def locked(self, read: Callable[[RunReader], Any]) -> Response:
        """Answer with what is read of the run, which does not change meanwhile."""
        reader = self.reader
        with reader.lock:
            data = read(reader)
        return json_response(data)

    @property
    def updates(self) -> UpdateStream:
        """The live updates. Raises NoRun, NoSuchRun."""
        return self._current().updates


# -- Overview, metrics and actors --------------------------------------------------------------------------------------

MAX_POINTS = 5000
MAX_NAMES = 100


def run_routes(current: CurrentRun) -> Blueprint:
    """/api/runs with /diff and /rivals, /api/run, /api/note, /api/ask, /api/overview, /api/series, /api/actors with
    searches"""
    routes = Blueprint("run", __name__)

    @routes.get("/api/runs")
    def runs() -> Response:
        return json_response(current.runs())

    @routes.get("/api/runs/diff")
    def runs_diff() -> Response:
        a, b = required_text_param("a"), required_text_param("b")
        return found_or(f"there is no run {a}, or no run {b}", current.comparison.diff(a, b))

    @routes.get("/api/runs/rivals")
    def rivals() -> Response:
        name = required_text_param("run")
        return found_or(f"there is no run {name}", current.comparison.rivals(name))

    @routes.get("/api/run")
    def run() -> Response:
        return current.locked(lambda reader: reader.run_info())

    @routes.get("/api/note")
    def note() -> Response:
        return json_response(read_note(current.reader.path))

    @routes.put("/api/note")
    def change_note() -> Response:
        title, note = body_texts("title", "note")
        try:
            return json_response(write_note(current.reader.path, title, note))
        except UserError as error:
            return json_response({"error": str(error)}, 409)

    @routes.put("/api/ask")
    def ask_policy() -> Response:
        id, state = body_texts("id", "state")
        if not state.strip() or len(state) > MAX_QUESTION or len(id) > 100:
            raise BadRequest(f"`state` must have from 1 to {MAX_QUESTION:,} characters")
        reader = current.reader
        with reader.lock:
            rank = reader.ranks.answering(time.time())
        if rank is None:
            return json_response(no_answer("silent", command=ask_command(reader.path)))
        try:
            return json_response(reader.states.ask(rank, id, state))
        except OSError as error:
            return json_response({"error": f"the run's folder cannot be written: {error.strerror or error}"}, 409)

    @routes.get("/api/overview")
    def overview() -> Response:
        return current.locked(lambda reader: reader.overview())

    @routes.get("/api/series")
    def series() -> Response:
        most = int_param("max_points", 600, 2, MAX_POINTS)
        text, names = text_param("names"), None
        if text is not None:
            names = list(filter(None, text.split(",")))[:MAX_NAMES]
        return current.locked(lambda reader: reader.metrics.series(names, most, reader.full_step()))

    @routes.get("/api/actors")
    def actors() -> Response:
        return current.locked(lambda reader: reader.actors())

    @routes.get("/api/actors/<int:rank>/<int:actor>/tree")
    def search(rank: int, actor: int) -> Response:
        reader = current.reader
        after = int_param("after", 0, 1, MAX_PAGE) if text_param("after") else None
        with reader.lock:
            exists, live = rank in reader.ranks.statuses, reader.ranks.is_live(rank, time.time())
        if not exists:
            return not_found(f"no rank {rank}")
        # Outside of the lock: a question is written for it, and an answer read.
        data = reader.watch.search(rank, actor, after, live)
        if attempt := data["attempt"]:
            with reader.lock:  # the log is read twice a second: who goes to an attempt at once must find it there
                if reader.attempts.find_attempt(rank, attempt["step"], attempt["seq"]) is None:
                    data = {**data, "attempt": None}
        return json_response(data)

    return routes


# -- Logs and live updates -------------------------------------------------------------------------------------------

MAX_RECORDS = 1000


def live_routes(current: CurrentRun) -> Blueprint:
    """/api/logs, /api/stream"""
    routes = Blueprint("live", __name__)

    @routes.get("/api/logs")
    def logs() -> Response:
        level, count = choice_param("level", LEVELS, "DEBUG"), int_param("size", 200, 1, MAX_RECORDS)
        rank = int_param("rank", 0, 0, 1_000_000) if text_param("rank") else None
        reader = LogReader(current.reader.path, str(level), rank)
        after, before = _cursor_positions("after"), _cursor_positions("before")
        if after is not None:
            return json_response(reader.after(after, count))
        if before is None:  # who comes first sees the newest
            before = reader.ends()
        return json_response(reader.before(before, count))

    @routes.get("/api/stream")
    def stream() -> Response:
        current.reader.refresh()
        messages = current.updates.subscribe(request.headers.get("Last-Event-ID", ""), client_disconnected())
        if messages is None:
            return reply_later({"error": "too many viewers"}, 503)
        response = Response(messages, mimetype="text/event-stream")
        response.headers["X-Accel-Buffering"] = "no"  # nginx before it would collect messages in a buffer
        return response

    return routes


def _cursor_positions(name: str) -> dict[int, int] | None:
    cursor = request.args.get(name)
    if not cursor:
        return None
    positions = read_cursor(cursor)
    if positions is None:
        raise BadRequest(f"`{name}` must be the `next` or `previous` of an earlier answer")
    return positions


# -- Model samples, training samples, calibration, timeline ------------------------------------------------------------

MAX_SPANS = 20_000
MAX_TRACE_SPANS = 200_000
MAX_NEWEST = 1_000_000_000
_DEFAULT_PAGE_SIZE = 20


def model_routes(current: CurrentRun) -> Blueprint:
    """/api/samples, /api/train-samples, /api/calibration, /api/timeline, /api/trace"""
    routes = Blueprint("model", __name__)

    @routes.get("/api/samples")
    def samples() -> Response:
        reader, (page, size) = current.reader, page_params(_DEFAULT_PAGE_SIZE, 100)
        with reader.lock:
            records, total = reader.samples.page(page, size)
        return _page(list(map(to_sample, records)), total, page, size)

    @routes.get("/api/train-samples")
    def train_samples() -> Response:
        reader, (page, size) = current.reader, page_params(_DEFAULT_PAGE_SIZE, 100)
        with reader.lock:
            records, total = reader.train_samples.page(page, size)
        return _page(list(map(to_train_sample, records)), total, page, size)

    @routes.get("/api/calibration")
    def calibration() -> Response:
        return current.locked(lambda reader: reader.calibration.summary())

    @routes.get("/api/timeline")
    def timeline() -> Response:
        most, newest = int_param("max", 5000, 10, MAX_SPANS), int_param("last", 60, 0, MAX_NEWEST)
        return json_response(current.reader.timeline.read(*_period(), most, newest))

    @routes.get("/api/trace")
    def trace() -> Response:
        data = json_response(chrome_trace(current.reader.timeline.read(*_period(), MAX_TRACE_SPANS)))
        data.headers["Content-Disposition"] = 'attachment; filename="nanoproof-trace.json"'
        return data

    return routes


def _period() -> tuple[float | None, float | None]:
    start, end = time_param("from"), time_param("to")
    if start is not None and end is not None and end <= start:
        raise BadRequest("`to` must be later than `from`")
    return start, end


# -- Theorems, attempts and search trees -----------------------------------------------------------------------------

MAX_HISTORY = 200


def theorem_routes(current: CurrentRun) -> Blueprint:
    """/api/theorems, /api/theorem, /api/searches, /api/attempts, /api/attempts/<rank>/<step>/<seq>, and its /tree"""
    routes = Blueprint("theorems", __name__)

    @routes.get("/api/theorems")
    def theorems() -> Response:
        reader, (page, size) = current.reader, page_params()
        sort, order = choice_param("sort", SORTS, "last"), choice_param("order", ("asc", "desc"), "desc")
        dataset, outcome, q = text_param("dataset") or None, choice_param("outcome", OUTCOMES), text_param("q") or ""
        with reader.lock:
            data = reader.theorems.page(q, dataset, outcome, str(sort), order == "desc", page, size)
        return json_response(data)

    @routes.get("/api/theorem")
    def theorem() -> Response:
        reader, dataset, name = current.reader, text_param("dataset") or "", required_text_param("id")
        with reader.lock:
            stats = reader.attempts.find_theorem(dataset, name)
            if stats is None:
                return not_found(f"no attempt at a theorem {name[:100]!r} of {dataset[:100]!r}")
            history, total = reader.attempts.page(1, MAX_HISTORY, theorem=stats.number)
            number = stats.best if stats.best >= 0 else stats.last_row
            row = reader.attempts.theorem_row(stats)
            best = _read_attempt(reader, number)
        return json_response({"theorem": row, "best": best, "history": history, "total": total})

    @routes.get("/api/attempts")
    def attempts() -> Response:
        reader, (page, size) = current.reader, page_params()
        dataset, name, outcome = text_param("dataset") or None, text_param("id"), choice_param("outcome", OUTCOMES)
        with_tree = choice_param("tree", ("true", "false"), "false") == "true"
        number = None
        with reader.lock:
            if name:
                stats = reader.attempts.find_theorem(dataset or "", name)
                if stats is None:
                    return not_found(f"no attempt at a theorem {name[:100]!r} of {(dataset or '')[:100]!r}")
                number, dataset = stats.number, None  # a theorem is of one data set
            items, total = reader.attempts.page(page, size, dataset, number, outcome, with_tree)
        return _page(items, total, page, size)

    @routes.get("/api/searches")
    def searches() -> Response:
        reader = current.reader
        with reader.lock:
            rows, total = sample_rows(reader.attempts), len(reader.attempts)
        # Hundreds of records are read: outside of the lock, so that nobody waits for them.
        return json_response(read_searches(reader.path, rows, total))

    @routes.get("/api/attempts/<int:rank>/<int:step>/<int:seq>")
    def attempt(rank: int, step: int, seq: int) -> Response:
        reader = current.reader
        with reader.lock:
            number = reader.attempts.find_attempt(rank, step, seq)
            if number is None:
                return not_found(f"no attempt {rank}/{step}/{seq}")
            data = _read_attempt(reader, number)
        return found_or("the log of attempts does not hold it any more", data)

    @routes.get("/api/attempts/<int:rank>/<int:step>/<int:seq>/tree")
    def tree(rank: int, step: int, seq: int) -> Response:
        reader = current.reader
        with reader.lock:
            number = reader.attempts.find_attempt(rank, step, seq)
            if number is None:
                return not_found(f"no attempt {rank}/{step}/{seq}")
            row = reader.attempts.row(number)
        return found_or("the search tree of this attempt is not kept", read_tree(reader.path, row))

    return routes


def round_routes(current: CurrentRun) -> Blueprint:
    """/api/rounds"""
    routes = Blueprint("rounds", __name__)

    @routes.get("/api/rounds")
    def of_selfplay() -> Response:
        data: Rounds = {"rounds": rounds(current.reader.path)}
        return json_response(data)

    return routes


def _read_attempt(reader: RunReader, number: int) -> Attempt | None:
    """Return an attempt with its whole record; None if the log does not hold it any more."""
    row = reader.attempts.row(number)
    rank, at, size = reader.attempts.record_range(number)
    record = parse_object(read_range(attempts_file(reader.path, rank), at, min(size, MAX_LINE)))
    # Between two polls a run may be made anew in its place: another attempt is there then.
    if record is None or record.get("number") != {"step": row["step"], "rank": rank, "sequence": row["seq"]}:
        return None
    return to_attempt(row, record)


# -- Evaluations -------------------------------------------------------------------------------------------------------

MAX_EVALUATIONS_AT_ONCE = 1000


def evaluation_routes(current: CurrentRun) -> Blueprint:
    """/api/evaluations, /api/evaluations/<name>, its /results/<index>, and /api/evaluations/diff"""
    routes = Blueprint("evaluations", __name__)

    @routes.get("/api/evaluations")
    def evaluations() -> Response:
        reader, (page, size) = current.reader, page_params(50, MAX_EVALUATIONS_AT_ONCE)
        dataset = text_param("dataset") or None
        with reader.lock:
            rows = reader.evaluations.rows()
        names = sorted({row["dataset"] for row in rows})
        chosen = [row for row in rows if dataset in (None, row["dataset"])]
        items = chosen[(page - 1) * size : page * size]
        data: Evaluations = {"items": items, "total": len(chosen), "page": page, "size": size, "benchmarks": names}
        return json_response(data)

    @routes.get("/api/evaluations/diff")
    def diff() -> Response:
        a, b, run_a = required_text_param("a"), required_text_param("b"), text_param("run_a")
        if run_a:
            try:
                data = current.comparison.evaluations(run_a, a, required_text_param("run"), b)
            except KeyError as error:
                return _unknown(str(error.args[0]))
            return _diff_response(data, a, b)
        reader = current.reader
        with reader.lock:
            for name in (a, b):
                if reader.evaluations.row(name) is None:
                    return _unknown(name)
            data = reader.evaluations.diff(a, b)
        return _diff_response(data, a, b)

    @routes.get("/api/evaluations/<name>")
    def evaluation(name: str) -> Response:
        reader, (page, size) = current.reader, page_params()
        outcome, q = choice_param("outcome", OUTCOMES), text_param("q") or ""
        with reader.lock:
            if reader.evaluations.row(name) is None:
                return _unknown(name)
            data = reader.evaluations.evaluation(name, outcome, q, page, size)
        return json_response(data)

    @routes.get("/api/evaluations/<name>/results/<int:index>")
    def result(name: str, index: int) -> Response:
        reader = current.reader
        with reader.lock:
            if reader.evaluations.row(name) is None:
                return _unknown(name)
            data = reader.evaluations.result(name, index)
        return found_or(f"{name} has no result {index}", data)

    @routes.get("/api/evaluations/<name>/results/<int:index>/tree")
    def tree(name: str, index: int) -> Response:
        reader = current.reader
        with reader.lock:
            data = reader.evaluations.tree(name, index)
        if data is None:
            return not_found(f"{name} keeps no tree of result {index}")
        return json_response(to_tree(data))

    @routes.get("/api/evaluations/<name>/results/<int:index>/certificate")
    def certificate(name: str, index: int) -> Response:
        reader = current.reader
        with reader.lock:
            file = reader.evaluations.certificate(name, index)
        if file is None:
            return not_found(f"{name} has no certificate of result {index}")
        return send_file(file, "application/octet-stream", as_attachment=True, download_name=file.name)

    return routes


def _diff_response(data: EvaluationDiff | None, a: str, b: str) -> Response:
    # Won and lost theorems can only be told of the same theorems: no score is compared with that of another set.
    if data is None:
        return json_response({"error": f"{a} and {b} are not evaluations of the same theorems"}, 409)
    return json_response(data)


def _unknown(name: str) -> Response:
    return not_found(f"no evaluation {name[:200]!r}")


def _page(items: list[Any], total: int, page: int, size: int) -> Response:
    return json_response({"items": items, "total": total, "page": page, "size": size})
