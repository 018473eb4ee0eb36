"""What a request may ask: each parameter with its range, refused with one clear sentence otherwise."""

import json
import math
from collections.abc import Sequence
from typing import Any

from flask import Response, request

from nanoproof.common.web.json_api import BadRequest

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
