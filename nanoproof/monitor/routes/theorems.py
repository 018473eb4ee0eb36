"""Theorems, attempts at them, and search trees."""

from typing import Any

from flask import Blueprint, Response

from nanoproof.monitor.attempts import OUTCOMES
from nanoproof.monitor.current import CurrentRun
from nanoproof.monitor.questions import answer, choice, needed_text, not_found, paging, text
from nanoproof.monitor.reader import RunReader
from nanoproof.monitor.record_schema import Attempt
from nanoproof.monitor.records import attempt_in_full, read_tree
from nanoproof.monitor.tail import MAX_LINE, parse_object, read_range
from nanoproof.monitor.theorems import SORTS, theorem_row
from nanoproof.selfplay.records.attempt_index import attempts_file

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
