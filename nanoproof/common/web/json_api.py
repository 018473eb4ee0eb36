"""JSON in and out of a request: what is wrong with a body is said in one sentence, with status 400."""

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Self

from flask import Response, request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from werkzeug.exceptions import UnsupportedMediaType

from nanoproof.common.errors import first_problem

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


class Body(BaseModel):
    """The JSON object that a request brings. Nothing is converted: true is no number."""

    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False)

    @classmethod
    def read(cls) -> Self:
        """The body of the current request. Raises BadRequest."""
        if not request.is_json:
            raise UnsupportedMediaType  # a page in a browser cannot send JSON to another server without asking
        try:
            body = json.loads(request.get_data())
        except (ValueError, RecursionError) as error:
            raise BadRequest("the body is not JSON") from error
        if not isinstance(body, dict):
            raise BadRequest("the body must be a JSON object")
        try:
            return cls.model_validate(body)
        except ValidationError as error:
            raise BadRequest(first_problem(error)) from error


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"this is not Unicode: lone surrogate at {error.start}") from error
    return text


Text = Annotated[str, AfterValidator(_whole)]
"""A text that can be sent on: JSON can also spell half a character."""

Amount = Annotated[float, Field(ge=0, lt=1e12)]
"""A number of seconds, or of milliseconds."""
