"""The Flask application that each server is built on: access control, request metrics, JSON bodies, errors."""

import hmac
import ipaddress
import itertools
import json
import logging
import re
import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any, Self

from flask import Flask, Response, g, request
from prometheus_client import CollectorRegistry, Counter, disable_created_metrics
from prometheus_client.exposition import choose_encoder
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from werkzeug.exceptions import HTTPException, UnsupportedMediaType

from nanoproof.common.errors import first_problem
from nanoproof.common.web.http_client import on_loopback

log = logging.getLogger(__name__)

_RETRY_AFTER_SECONDS = 1
_PLACEHOLDER = re.compile(r"<(?:\w+:)?(\w+)>")
_ABSOLUTE = re.compile(r"\w+://([^/?#]*)")

disable_created_metrics()  # otherwise each counter comes with a second series, of when it was made

# -- Request and response bodies -------------------------------------------------------------------------------------


class BadRequest(Exception):
    """The body of a request is invalid; the message describes the error. Answered with status 400."""


def encode(body: Any) -> bytes:
    """Encode an answer as JSON. Lone surrogates, which text printed by Lean may hold, become question marks."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def reply(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Build a JSON response."""
    return Response(encode(body), status, headers=headers, mimetype="application/json")


def reply_later(body: Any, status: int) -> Response:
    """Build a JSON response with `Retry-After`, so that the client tries again."""
    return reply(body, status, {"Retry-After": str(_RETRY_AFTER_SECONDS)})


def request_data() -> bytes:
    """Return the body of the current request; raises 415 if it is not JSON."""
    if not request.is_json:
        raise UnsupportedMediaType  # a page in a browser cannot send JSON to another server without asking
    return request.get_data()


def comes_from_here() -> bool:
    """Tell whether the current request comes from this machine, as far as its address says."""
    return on_loopback(request.remote_addr or "")


def client_disconnected() -> Callable[[], bool]:
    """Return a function that tells whether the client of the current request has disconnected."""
    return request.environ.get("waitress.client_disconnected", lambda: False)


class Body(BaseModel):
    """A JSON object in the body of a request. Nothing is converted: true is no number."""

    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False)

    @classmethod
    def read(cls) -> Self:
        """Parse and validate the body of the current request; raises BadRequest, or 415 if it is not JSON."""
        return cls.parse(request_data())

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Parse and validate a body; raises BadRequest."""
        try:
            body = json.loads(data)
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
"""A text that has a UTF-8 form: JSON can also encode lone surrogates."""

Amount = Annotated[float, Field(ge=0, lt=1e12)]
"""A number of seconds, or of milliseconds."""

Number = Annotated[int, Field(ge=0, lt=10**15)]
"""A number by which something of an earlier answer is named."""


# -- The application -------------------------------------------------------------------------------------------------


class RequestLog:
    """The requests in progress."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self._active: dict[int, tuple[str, float, str]] = {}

    def begin(self, route: str) -> int:
        """Record the start of a request, and return the number by which it ends."""
        number = next(self._ids)
        self._active[number] = (route, time.monotonic(), threading.current_thread().name)
        return number

    def end(self, number: int) -> None:
        """Remove a request."""
        self._active.pop(number, None)

    def active(self) -> list[dict[str, Any]]:
        """Describe the requests in progress, oldest first, without the ids of leases: an id is what gives access."""
        now = time.monotonic()
        return [
            {"request_id": number, "path": path, "duration_seconds": round(now - began, 3), "thread": thread}
            for number, (path, began, thread) in sorted(self._active.copy().items())
        ]


def guarded_app(
    name: str,
    token: str | None,
    on_loopback: bool,
    answered: Counter,
    closing: Callable[[], bool],
    served_while_closing: Collection[str],
    other_login: Callable[[], bool] = lambda: False,
) -> Flask:
    """Create an application without routes, which refuses requests that lack access.

    With a `token`, requests need `Authorization: Bearer <token>`, or `other_login` to be true of them. Without one, a
    server on loopback answers only requests whose Host is a loopback name, against DNS rebinding by a page in a
    browser. Once it is `closing`, only the endpoints in `served_while_closing` are served. `answered` counts responses
    by route and status. The extension "requests" is the RequestLog.
    """
    app = Flask(name, static_folder=None)
    requests = RequestLog()

    def begin() -> None:
        g.request_id = requests.begin(route_of_request())

    def end(_error: BaseException | None) -> None:
        requests.end(g.get("request_id", 0))

    def check_caller() -> Response | None:
        if token and not _has_token(token) and not other_login():
            return reply({"error": "a valid token is needed"}, 401, {"WWW-Authenticate": "Bearer"})
        if not token and on_loopback and not _names_loopback(_host_of_request()):
            return reply({"error": "the Host header names another machine; set a token to serve under that name"}, 403)
        return None

    def check_open() -> Response | None:
        if closing() and request.endpoint not in served_while_closing:
            return reply_later({"error": "the server is shutting down"}, 503)
        return None

    def count(response: Response) -> Response:
        answered.labels(route_of_request(), str(response.status_code)).inc()
        return response

    def bad_request(error: BadRequest) -> Response:
        return reply({"error": str(error)}, 400)

    def http_error(error: HTTPException) -> Response:
        return reply({"error": f"{error.code} {error.name}"}, error.code or 500)

    def our_fault(error: Exception) -> Response:
        log.exception("a request failed because of a bug of this server", exc_info=error)
        reason = error.strerror if isinstance(error, OSError) else error  # the rest are paths of this machine
        return reply({"error": f"server bug: {type(error).__name__}: {reason}"}, 500)

    app.before_request(begin)
    app.before_request(check_caller)
    app.before_request(check_open)
    app.after_request(count)
    app.teardown_request(end)
    app.register_error_handler(BadRequest, bad_request)
    app.register_error_handler(HTTPException, http_error)
    app.register_error_handler(Exception, our_fault)
    app.extensions["requests"] = requests
    return app


def metrics_response(registry: CollectorRegistry) -> Response:
    """Answer `GET /metrics` in the format that the caller accepts."""
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return Response(encode(registry), content_type=content_type)


def route_of_request() -> str:
    """Return the route of the current request, with names in place of its variable parts, as in `/process/{pid}`."""
    return _PLACEHOLDER.sub(r"{\1}", request.url_rule.rule) if request.url_rule else "(none)"


def _has_token(token: str) -> bool:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())


def _host_of_request() -> str:
    """Return the host that a request names: that of an absolute target, else of the header Host (RFC 9112, 3.2.2)."""
    absolute = _ABSOLUTE.match(request.environ.get("REQUEST_URI", ""))
    return absolute[1] if absolute else request.headers.get("Host", "")


def _names_loopback(host: str) -> bool:
    """Tell whether a Host header is a loopback name; clients that are no browsers may leave it out."""
    name = re.sub(r":\d*$", "", host).strip("[]").lower().rstrip(".")
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name in ("", "localhost") or name.endswith(".localhost")
