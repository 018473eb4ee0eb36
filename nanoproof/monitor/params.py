"""What requests to the monitor's API bring, each parameter with its range, and the answers in JSON."""

import json
import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from flask import Response, request

from nanoproof.common.web.flask_app import BadRequest

MAX_PAGE_SIZE = 500
MAX_PAGE = 1_000_000_000
MAX_TEXT = 1000


def int_param(name: str, default: int, low: int, high: int) -> int:
    """Return a query parameter that is a whole number. Raises BadRequest."""
    text = _single_value(name)
    if text is None:
        return default
    number = -1
    if text.isascii() and text.isdigit() and len(text) < 19:  # isdigit alone is true of other scripts' digits, and of ²
        number = int(text)
    if not low <= number <= high:
        raise BadRequest(f"`{name}` must be a whole number from {low} to {high}")
    return number


def time_param(name: str) -> float | None:
    """Return a query parameter that is a time in seconds since the epoch. Raises BadRequest."""
    text = _single_value(name)
    if text is None:
        return None
    with suppress(ValueError):
        value = float(text)
        if 0 <= value < 1e11:  # not of "nan" either, which float() takes
            return value
    raise BadRequest(f"`{name}` must be a time in seconds")


def choice_param(name: str, choices: Sequence[str], default: str | None = None) -> str | None:
    """Return a query parameter that is one of `choices`. Raises BadRequest."""
    text = _single_value(name)
    if text is None or (text == "" and default is None):
        return default
    if text not in choices:
        raise BadRequest(f"`{name}` must be one of {', '.join(choices)}")
    return text


def text_param(name: str) -> str | None:
    """Return a query parameter of at most MAX_TEXT characters. Raises BadRequest."""
    value = _single_value(name)
    if value is not None and len(value) > MAX_TEXT:
        raise BadRequest(f"`{name}` must not be longer than {MAX_TEXT} characters")
    return value


def required_text_param(name: str) -> str:
    """Return a text parameter that is required. Raises BadRequest."""
    value = text_param(name)
    if not value:
        raise BadRequest(f"`{name}` is needed")
    return value


def body_texts(*names: str) -> list[str]:
    """Read the texts of a JSON body. Raises BadRequest.

    Pages of others cannot send one: a browser asks before it sends PUT, or JSON, and gets no leave.
    """
    body = None
    if request.mimetype == "application/json":
        body = request.get_json(silent=True)
    texts: list[str] = []
    for name in names:
        if not isinstance(body, dict) or not isinstance(body.get(name), str):
            raise BadRequest("the body is JSON: {" + ", ".join(f'"{name}": "..."' for name in names) + "}")
        texts.append(body[name])
    return texts


def page_params(default_size: int = 50, most: int = MAX_PAGE_SIZE) -> tuple[int, int]:
    """Return the number and size of a page. Raises BadRequest."""
    return int_param("page", 1, 1, MAX_PAGE), int_param("size", default_size, 1, most)


def json_response(data: Any, status: int = 200) -> Response:
    """Return a JSON response; NaN and infinities become null, lone surrogates question marks."""
    try:
        body = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:  # a second time, only for answers with such a number: a tree of 6,000 nodes takes long to walk
        body = json.dumps(_finite(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(body.encode("utf-8", "replace"), status, mimetype="application/json")


def not_found(what: str) -> Response:
    """Return a 404 response with this error."""
    return json_response({"error": what}, 404)


def found_or(error: str, data: Any) -> Response:
    """Return data as JSON, or a 404 response with this error where there is none (None)."""
    return not_found(error) if data is None else json_response(data)


def _single_value(name: str) -> str | None:
    values = request.args.getlist(name)
    if len(values) > 1:
        raise BadRequest(f"`{name}` is given {len(values)} times")
    return values[0] if values else None


def _finite(data: Any) -> Any:
    if isinstance(data, float) and not math.isfinite(data):
        return None
    if isinstance(data, dict):
        return {name: _finite(value) for name, value in data.items()}
    if isinstance(data, (list, tuple)):
        return list(map(_finite, data))
    return data
