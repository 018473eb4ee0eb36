"""HTTP to one Lean server: kept-alive connections, deadlines, and retries of what may be repeated."""

import json
import random
import time
from dataclasses import dataclass
from typing import Any

import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NewConnectionError,
    ReadTimeoutError,
)
from urllib3.exceptions import (
    ProtocolError as BrokenConnection,
)

from nanoproof.common.config import opt, validate
from nanoproof.lean.address import Address
from nanoproof.lean.errors import ProtocolError, ServerTimeout, ServerUnavailable

TOKEN_VARIABLE = "NANOPROOF_LEAN_TOKEN"
"""Environment variable with the token that servers ask for and clients send."""

_ATTEMPTS = 4
_FIRST_PAUSE_SECONDS = 0.1
_MAX_RETRY_AFTER_SECONDS = 5.0


@dataclass(frozen=True)
class ClientConfig:
    """Lean client"""

    tactic_seconds: float = opt(5.0, "How long one tactic may run.", above=0)
    command_seconds: float = opt(300.0, "How long a statement or a final check may take.", above=0)
    connect_seconds: float = opt(10.0, "How long connecting to a server may take.", above=0)
    slack_seconds: float = opt(30.0, "How much longer than its own deadlines a server may take to answer.", above=0)

    def __post_init__(self) -> None:
        validate(self, "lean")


class Transport:
    """Requests to one server. Safe for several threads, but connections are kept for one at a time."""

    def __init__(self, address: Address, token: str | None, connect_seconds: float) -> None:
        self.address = address
        self._connect_seconds = connect_seconds
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._pool = urllib3.HTTPConnectionPool(address.host, address.port, maxsize=1, retries=False)

    def get(self, path: str, seconds: float, attempts: int = _ATTEMPTS) -> tuple[int, Any]:
        """GET a path: HTTP status and JSON body."""
        return self._send("GET", path, None, seconds, attempts, repeatable=True)

    def post(self, path: str, body: Any, seconds: float, repeatable: bool = True) -> tuple[int, Any]:
        """POST a JSON body: HTTP status and JSON body of the answer (None if it is not JSON).

        Connections that cannot be made, and 429, are tried again; a connection that breaks after the request was sent
        only if the request is `repeatable`. Raises `ServerUnavailable` or, past `seconds` of waiting, `ServerTimeout`.
        """
        data = json.dumps(body, ensure_ascii=False).encode()
        return self._send("POST", path, data, seconds, _ATTEMPTS, repeatable)

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def _send(
        self, method: str, path: str, data: bytes | None, seconds: float, attempts: int, repeatable: bool
    ) -> tuple[int, Any]:
        timeout = urllib3.Timeout(connect=self._connect_seconds, read=seconds)
        for attempt in range(attempts):
            last = attempt == attempts - 1
            pause = _FIRST_PAUSE_SECONDS * 3**attempt
            try:
                response = self._pool.request(method, path, body=data, headers=self._headers, timeout=timeout)
            except ReadTimeoutError as error:
                raise ServerTimeout(f"Lean server {self.address} did not answer {path} in {seconds:g} s") from error
            except (NewConnectionError, ConnectTimeoutError) as error:
                if last:
                    raise ServerUnavailable(self._unreachable(error)) from error
            except (BrokenConnection, OSError, HTTPError) as error:
                if last or not repeatable:
                    raise ServerUnavailable(self._unreachable(error)) from error
            else:
                if response.status != 429 or last:
                    return response.status, self._body(response)
                pause = _retry_after(response)
            time.sleep(pause * random.uniform(0.5, 1.5))
        raise AssertionError("the last attempt returns or raises")

    def _body(self, response: urllib3.BaseHTTPResponse) -> Any:
        if response.status == 401:
            raise ServerUnavailable(f"Lean server {self.address} refuses our token (status 401)")
        try:
            return json.loads(response.data)
        except ValueError as error:
            if response.status < 400:
                raise ProtocolError(f"Lean server {self.address} did not answer in JSON") from error
            return None

    def _unreachable(self, error: BaseException) -> str:
        cause: BaseException = error
        while cause.__cause__ is not None or cause.__context__ is not None:
            cause = cause.__cause__ or cause.__context__ or cause
        reason = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
        return f"Lean server {self.address} cannot be reached: {' '.join(reason.split())}"


def _retry_after(response: urllib3.BaseHTTPResponse) -> float:
    try:
        return min(_MAX_RETRY_AFTER_SECONDS, max(0.1, float(response.headers.get("Retry-After", "1"))))
    except ValueError:
        return 1.0
