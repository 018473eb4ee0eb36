"""An HTTP client for one server: keep-alive connections, deadlines, and retries of requests that may be repeated."""

import ipaddress
import json
import random
import re
import socket
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import urllib3
from urllib3.connection import HTTPConnection
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ReadTimeoutError

# -- Addresses -------------------------------------------------------------------------------------------------------

_ADDRESS = re.compile(r"(?:http://)?(?P<host>\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::(?P<port>\d+))?/?")


@dataclass(frozen=True, slots=True)
class Address:
    """Host and port of a server."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_address(text: str, default_port: int) -> Address:
    """Read `host`, `host:port` or `http://host:port`. Raises ValueError with what would be accepted."""
    match = _ADDRESS.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} (expected host, host:port or http://host:port)")
    port = int(match["port"]) if match["port"] else default_port
    if not 1 <= port <= 65535:
        raise ValueError(f"{text!r} (ports are 1 to 65535)")
    return Address(match["host"].strip("[]"), port)


def on_loopback(address: str) -> bool:
    """Tell whether only programs on this machine can connect to a server that listens on the address."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


# -- The client ------------------------------------------------------------------------------------------------------

BUSY_STATUSES = (429, 502, 503, 504)
"""Statuses of a server, or a proxy before it, that is overloaded or unavailable at present."""

MAX_ANSWER_BYTES = 64 * 2**20
"""More than any useful answer has: a Lean process may write as much, a thousand suggestions are a few megabytes."""

_BLOCK_BYTES = 1 << 20
_ATTEMPTS = 4
_FIRST_PAUSE_SECONDS = 0.1
_MAX_RETRY_AFTER_SECONDS = 30.0


class HttpClient:
    """Requests to one server over keep-alive connections; safe for many threads.

    Every call ends within `connect_seconds` and its own `seconds` together, retries and pauses included, and reads at
    most `MAX_ANSWER_BYTES`, never compressed ones. Subclasses set the server's name in messages and the errors.
    """

    server = "server"
    unavailable: type[Exception] = ConnectionError
    denied: type[Exception] = PermissionError
    garbled: type[Exception] = ValueError
    late: type[Exception] = TimeoutError
    kept_connections = 256

    def __init__(self, address: Address, token: str | None, connect_seconds: float) -> None:
        self.address = address
        self._connect_seconds = connect_seconds
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        self._headers["Accept-Encoding"] = "identity"
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._pool = _Pool(address.host, address.port, maxsize=self.kept_connections, retries=False)

    def get(self, path: str, seconds: float, attempts: int = _ATTEMPTS) -> tuple[int, Any]:
        """GET a path; return HTTP status and JSON body. Raises what `post` raises."""
        return self._send("GET", path, None, seconds, attempts, repeatable=True)

    def post(
        self,
        path: str,
        body: Any,
        seconds: float,
        repeatable: bool = True,
        attempts: int = _ATTEMPTS,
        retry_seconds: float = float("inf"),
    ) -> tuple[int, Any]:
        """POST a JSON body; return HTTP status and JSON body of the answer (None if an error answer is not JSON).

        Connections that cannot be made, and servers that are busy (429, 503), are tried again; a connection that
        breaks after the request was sent only if the request is `repeatable`; and nothing is once `retry_seconds`
        are over. Raises what the class calls `unavailable`, `denied`, `garbled` or, past `seconds` of waiting, `late`.
        """
        data = json.dumps(body, ensure_ascii=False).encode()
        return self._send("POST", path, data, seconds, attempts, repeatable, retry_seconds)

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()

    def _send(
        self,
        method: str,
        path: str,
        data: bytes | None,
        seconds: float,
        attempts: int,
        repeatable: bool,
        retry_seconds: float = float("inf"),
    ) -> tuple[int, Any]:
        started = time.monotonic()
        pause, left = _FIRST_PAUSE_SECONDS, seconds + self._connect_seconds
        for attempt in range(1, attempts + 1):
            timeout = urllib3.Timeout(connect=min(self._connect_seconds, left), read=min(seconds, left))
            wait = pause * random.uniform(0.5, 1.5)
            failure: Exception | None = None
            try:
                response = self._pool.request(
                    method,
                    path,
                    body=data,
                    headers=self._headers,
                    timeout=timeout,
                    redirect=False,
                    preload_content=False,
                )
                body = self._read(response, path)
            except ReadTimeoutError as error:
                raise self.late(f"{self.server} {self.address} did not answer {path} in {seconds:g} s") from error
            except (HTTPError, OSError) as error:
                # What never connected was never sent, and is safe to repeat whatever it is.
                unsent = isinstance(error, (NewConnectionError, ConnectTimeoutError))
                failure = error
                if not unsent and not repeatable:
                    raise self.unavailable(self._unreachable(error)) from error
            else:
                asked = seconds_to_wait(response.headers.get("Retry-After"))
                turned_away = response.status in (429, 503) or (repeatable and response.status in BUSY_STATUSES)
                if not turned_away or attempt == attempts:
                    return response.status, self._parse(response.status, body)
                if asked is not None:
                    wait = asked * random.uniform(1.0, 1.2)
            passed = time.monotonic() - started + wait
            left = seconds + self._connect_seconds - passed
            if attempt == attempts or left <= 0 or passed > retry_seconds:
                if failure is None:
                    return response.status, self._parse(response.status, body)
                raise self.unavailable(self._unreachable(failure)) from failure
            time.sleep(wait)
            pause *= 3
        raise AssertionError("the last attempt returns or raises")

    def _read(self, response: urllib3.BaseHTTPResponse, path: str) -> bytes:
        """Read the body of an answer. Raises `garbled` if it is too large or has an encoding that was not asked for."""
        problem = ""
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        body = bytearray()
        if encoding not in ("", "identity"):
            problem = f"with the encoding {encoding[:50]!r}, which we did not ask for"
        while not problem and (block := response.read(_BLOCK_BYTES, decode_content=False)):
            body += block
            if len(body) > MAX_ANSWER_BYTES:
                problem = f"with more than {MAX_ANSWER_BYTES >> 20} MB"
        if problem:
            response.close()
            raise self.garbled(f"{self.server} {self.address} answered {path} {problem}")
        response.release_conn()
        return bytes(body)

    def _parse(self, status: int, body: bytes) -> Any:
        if status in (401, 403):
            raise self.denied(f"{self.server} {self.address} refuses our token (status {status})")
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            if status < 400:
                raise self.garbled(f"{self.server} {self.address} did not answer in JSON") from error
            return None

    def _unreachable(self, error: BaseException) -> str:
        cause: BaseException = error
        while cause.__cause__ is not None or cause.__context__ is not None:
            cause = cause.__cause__ or cause.__context__ or cause
        reason = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
        return f"{self.server} {self.address} cannot be reached: {' '.join(reason.split())}"


class _DeadlineSocket(socket.socket):
    """A socket whose timeout bounds all reads that follow, so that a trickle of bytes keeps no caller waiting."""

    _deadline: float | None = None

    def settimeout(self, value: float | None) -> None:
        self._deadline = None if value is None else time.monotonic() + value
        super().settimeout(value)

    def recv_into(self, *args: Any) -> int:
        if self._deadline is not None:
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("timed out")
            super().settimeout(left)
        return super().recv_into(*args)


class _Connection(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        plain = super()._new_conn()
        timeout = plain.gettimeout()
        bounded = _DeadlineSocket(plain.family, plain.type, plain.proto, plain.detach())
        bounded.settimeout(timeout)
        return bounded


class _Pool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Connection


def seconds_to_wait(retry_after: str | None) -> float | None:
    """Return the seconds of a `Retry-After` header (which may be a date), at most our limit; None without one."""
    if retry_after is None:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return None
    return min(_MAX_RETRY_AFTER_SECONDS, max(0.1, seconds))
