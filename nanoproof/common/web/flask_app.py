"""The Flask application that each server starts from: who may call, what is counted, JSON in and out, errors."""

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

# -- JSON in and out of a request: what is wrong with a body is said in one sentence, with status 400 ----------------

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


log = logging.getLogger(__name__)

_PLACEHOLDER = re.compile(r"<(?:\w+:)?(\w+)>")
_ABSOLUTE = re.compile(r"\w+://([^/?#]*)")

disable_created_metrics()  # otherwise each counter comes with a second series, of when it was made


class RequestLog:
    """The requests under way."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self._active: dict[int, tuple[str, float, str]] = {}

    def begin(self) -> None:
        """Note the current request."""
        g.request_id = next(self._ids)
        self._active[g.request_id] = (route_of_request(), time.monotonic(), threading.current_thread().name)

    def end(self, _error: BaseException | None) -> None:
        """Forget the current request."""
        self._active.pop(g.get("request_id", 0), None)

    def active(self) -> list[dict[str, Any]]:
        """What is under way, oldest first. Ids of leases are left out: who knows one can use the lease."""
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
    served_to_the_end: Collection[str],
    other_proof: Callable[[], bool] = lambda: False,
) -> Flask:
    """An application without routes. With a `token`, requests need `Authorization: Bearer <token>`, or `other_proof`.

    Without one, a server on loopback answers only requests that name it as loopback: a page in a browser, whose own
    host name is made to point here, is told off. Once it is `closing`, only endpoints that are `served_to_the_end` are.
    `answered` counts by route and status. The extension "requests" is the RequestLog.
    """
    app = Flask(name, static_folder=None)
    requests = RequestLog()

    def check_caller() -> Response | None:
        if token and not _has_token(token) and not other_proof():
            return reply({"error": "a valid token is needed"}, 401, {"WWW-Authenticate": "Bearer"})
        if not token and on_loopback and not _names_loopback(_host_of_request()):
            return reply({"error": "the Host header names another machine; set a token to serve under that name"}, 403)
        return None

    def check_open() -> Response | None:
        if closing() and request.endpoint not in served_to_the_end:
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
        told = error.strerror if isinstance(error, OSError) else error  # the rest are paths of this machine
        return reply({"error": f"server bug: {type(error).__name__}: {told}"}, 500)

    app.before_request(requests.begin)
    app.before_request(check_caller)
    app.before_request(check_open)
    app.after_request(count)
    app.teardown_request(requests.end)
    app.register_error_handler(BadRequest, bad_request)
    app.register_error_handler(HTTPException, http_error)
    app.register_error_handler(Exception, our_fault)
    app.extensions["requests"] = requests
    return app


def metrics_of(registry: CollectorRegistry) -> Response:
    """Answer `GET /metrics` in the format that the caller accepts."""
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return Response(encode(registry), content_type=content_type)


def route_of_request() -> str:
    """The route of the current request, with the names of its parts for the parts."""
    return _PLACEHOLDER.sub(r"{\1}", request.url_rule.rule) if request.url_rule else "(none)"


def _has_token(token: str) -> bool:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())


def _host_of_request() -> str:
    """The host that a request names; `http://host/path` is for that one, whatever Host says (RFC 9112, 3.2.2)."""
    absolute = _ABSOLUTE.match(request.environ.get("REQUEST_URI", ""))
    return absolute[1] if absolute else request.headers.get("Host", "")


def _names_loopback(host: str) -> bool:
    """True if a Host header names this machine as itself; clients that are no browsers may leave it out."""
    name = re.sub(r":\d*$", "", host).strip("[]").lower().rstrip(".")
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name in ("", "localhost") or name.endswith(".localhost")
