"""JSON in and out of a request: what is wrong with a body is said in one sentence, with status 400."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from flask import Response, request
from werkzeug.exceptions import UnsupportedMediaType

_RETRY_AFTER_SECONDS = 1


class BadRequest(Exception):
    """The body of a request lacks something; the message says what."""


def reply(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON response. What Lean printed may hold half a character, which no encoding can say."""
    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Response(data, status, headers=headers, mimetype="application/json")


def reply_later(body: Any, status: int) -> Response:
    """A JSON response that asks the client to come again."""
    return reply(body, status, {"Retry-After": str(_RETRY_AFTER_SECONDS)})


def caller_gone() -> Callable[[], bool]:
    """A function that tells whether the caller has hung up."""
    gone: Callable[[], bool] = request.environ.get("waitress.client_disconnected", lambda: False)
    return gone


def json_object() -> dict[str, Any]:
    """The body of the current request. Raises BadRequest."""
    if not request.is_json:
        raise UnsupportedMediaType  # a page in a browser cannot send JSON to another server without asking
    try:
        body = json.loads(request.get_data())
    except (ValueError, RecursionError) as error:
        raise BadRequest("the body is not JSON") from error
    if not isinstance(body, dict):
        raise BadRequest("the body must be a JSON object")
    return body


def string(body: dict[str, Any], key: str) -> str:
    """A text that must be there. Raises BadRequest."""
    value = body.get(key)
    if not is_text(value):
        raise BadRequest(f"`{key}` must be a string")
    assert isinstance(value, str)
    return value


def strings(body: dict[str, Any], key: str, most: int) -> list[str]:
    """A list of at most `most` texts that must be there. Raises BadRequest."""
    value = body.get(key)
    if not isinstance(value, list) or len(value) > most or not all(map(is_text, value)):
        raise BadRequest(f"`{key}` must be a list of at most {most} strings")
    return value


def is_text(value: Any) -> bool:
    """True for a string that can be sent on: JSON can also spell half a character."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def flag(body: dict[str, Any], key: str, default: bool) -> bool:
    """True or false. Raises BadRequest."""
    value = body.get(key)
    if value is not None and not isinstance(value, bool):
        raise BadRequest(f"`{key}` must be true or false")
    return default if value is None else value


def number(body: dict[str, Any], key: str, default: float) -> float:
    """A number from 0 on. Raises BadRequest."""
    value = body.get(key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e12:
        raise BadRequest(f"`{key}` must be a number >= 0")
    return float(value)
