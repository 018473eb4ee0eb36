"""An HTTP proxy that misbehaves on cue: refuses, resets, stalls, answers garbage or half, says 429, 503, and lies.

Each request is read whole; `fault(path)` then says what to do with it. Faults that happen before the request reaches
the server and those that only spoil the answer (the work has been done then) are told apart by their names.
"""

import http.client
import json
import select
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from nanoproof.lean.client import parse_address

FAULTS = (
    "reset",
    "reset_answer",
    "stall",
    "stall_answer",
    "garbage",
    "not_http",
    "half",
    "empty",
    "429",
    "503",
    "500",
)
LIES: tuple[Any, ...] = (
    {"max_processes": -5, "available_processes": 10**30, "used_processes": "many", "starting_processes": None},
    {"max_processes": "32"},
    {"max_processes": float("nan"), "available_processes": float("inf")},
    {"max_processes": 10**400},
    {"max_processes": True, "ready": "no", "processes": 7, "active_requests": {}},
    [],
    None,
    "ok",
)

Fault = Callable[[str], str | None]


class ChaosProxy:
    """Forwards what comes to a free port of loopback to the server at `target`.

    `fault` names one of FAULTS, or "lie", or nothing, for each request. `close_door` makes connections be refused
    until `open_door`. `counts` says what was done how often.
    """

    def __init__(self, target: str, fault: Fault) -> None:
        self._target = parse_address(target)
        self._fault = fault
        self.counts: Counter[str] = Counter()
        self._connections: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._port = 0
        self.open_door()
        self.address = f"127.0.0.1:{self._port}"

    def open_door(self) -> None:
        """Listen, at the same port as before."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self._port))
        listener.listen(256)
        self._port = listener.getsockname()[1]
        self._listener = listener
        self._start(self._accept, listener)

    def close_door(self, cut: bool = True) -> None:
        """Refuse connections, and `cut` those that stand."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            connections = list(self._connections) if cut else []
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End everything, stalled requests too."""
        self.close_door()
        for thread in self._threads:
            thread.join(20.0)

    def _start(self, work: Callable[[socket.socket], None], connection: socket.socket) -> None:
        thread = threading.Thread(target=work, args=(connection,), name="chaos", daemon=True)
        self._threads = [other for other in self._threads if other.is_alive()] + [thread]
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self.counts["connections"] += 1
            with self._lock:
                self._connections.add(connection)
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        upstream = http.client.HTTPConnection(self._target.host, self._target.port, timeout=60.0)
        try:
            with connection, connection.makefile("rb") as reader:
                while (request := _read_request(reader)) and self._handle(connection, upstream, *request):
                    pass
        except (OSError, http.client.HTTPException, ValueError):
            pass  # either side went away
        finally:
            upstream.close()
            with self._lock:
                self._connections.discard(connection)

    def _handle(
        self, connection: socket.socket, upstream: http.client.HTTPConnection, method: str, path: str, body: bytes
    ) -> bool:
        """Answer one request; False if the connection is to be closed."""
        fault = self._fault(path)
        self.counts[fault or "forwarded"] += 1
        if fault == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        if fault == "empty":
            return False
        if fault == "stall":
            _wait_until_gone(connection)
            return False
        if fault in ("429", "503", "500", "lie"):
            _respond(connection, *_refusal(fault, self.counts[fault]))
            return True
        upstream.request(method, path, body, {"Content-Type": "application/json"})
        _await_answer(upstream, connection)
        response = upstream.getresponse()
        answer = response.read()
        match fault:
            case "reset_answer":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            case "stall_answer":
                _wait_until_gone(connection)
            case "garbage":
                _respond(connection, 200, b"\xff\xfe{]" + answer[:10])
            case "not_http":
                connection.sendall(b"\x00\x16\x03\x01SSH-2.0 nonsense\r\n\r\n")
            case "half":
                _respond(connection, response.status, answer, declared=2 * len(answer) + 10)
            case _:
                _respond(connection, response.status, answer)
                return True
        return fault == "garbage"


def _await_answer(upstream: http.client.HTTPConnection, connection: socket.socket) -> None:
    """Wait for the server's answer, but not longer than the client does: its going away must reach the server."""
    readable, _, _ = select.select([upstream.sock, connection], [], [], 60.0)
    if upstream.sock not in readable:
        raise ConnectionError("the client went away")


def _wait_until_gone(connection: socket.socket) -> None:
    connection.settimeout(60.0)
    with suppress(OSError):
        while connection.recv(1 << 16):
            pass


def _read_request(reader: Any) -> tuple[str, str, bytes] | None:
    words = reader.readline(1 << 16).decode("latin-1").split()
    if len(words) != 3:
        return None
    length = 0
    while (line := reader.readline(1 << 16)) not in (b"\r\n", b"\n", b""):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return words[0], words[1], reader.read(length)


def _refusal(fault: str, count: int) -> tuple[int, bytes]:
    if fault == "lie":
        return 200, json.dumps(LIES[count % len(LIES)]).encode()
    text = {"429": "too many requests", "503": "busy", "500": "Internal Server Error"}[fault]
    return int(fault), json.dumps({"error": text}).encode() if count % 2 else f"<h1>{text}</h1>".encode()


def _respond(connection: socket.socket, status: int, body: bytes, declared: int | None = None) -> None:
    length = len(body) if declared is None else declared
    head = f"HTTP/1.1 {status} Chaos\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n"
    if status in (429, 503):
        head += "Retry-After: 0.05\r\n"
    connection.sendall(head.encode() + b"\r\n" + body)
