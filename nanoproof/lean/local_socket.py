"""Calls to a Lean server on the same machine without HTTP: frames on a socket that the server offers with each lease.

They are the calls of the HTTP API, with the same bodies and answers; parsing HTTP costs as much processor time as the
embedded prover needs for several tactics. A client that cannot connect (another machine or container, a proxy between)
goes on over HTTP. Only on Linux, whose abstract sockets have no file that could be left behind.
"""

import os
import secrets
import socket
import struct
import sys
import threading
import time

REQUEST = struct.Struct("<II")
"""Bytes of path and body, which follow."""
ANSWER = struct.Struct("<HI")
"""Status, and bytes of the body, which follows."""
_CREDENTIALS = struct.Struct("3i")
_CHUNK = 1 << 16


def new_name() -> str | None:
    """Return a name for a socket, None where there are none of this kind."""
    if sys.platform != "linux":
        return None
    return f"nanoproof-lean-{secrets.token_hex(16)}"


def address_of(name: str) -> str:
    """Return the name as the system wants it: those without a file begin with a zero."""
    return f"\0{name}"


def receive(connection: socket.socket, size: int, deadline: float | None = None) -> bytes:
    """Receive exactly so many bytes; raises ConnectionError at the end of the stream, TimeoutError at `deadline`."""
    data = bytearray()
    while len(data) < size:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("timed out")
            connection.settimeout(left)
        chunk = connection.recv(min(_CHUNK, size - len(data)))
        if not chunk:
            raise ConnectionError("the connection was closed")
        data += chunk
    return bytes(data)


def is_ours(connection: socket.socket) -> bool:
    """Tell whether a program of this user is at the other end."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, user, _ = _CREDENTIALS.unpack(credentials)
    return bool(user == os.getuid())


class LocalSocket:
    """Connections to one server's socket; safe for many threads, each of which has one for the time of a call."""

    def __init__(self, name: str, max_answer_bytes: int) -> None:
        self.name = name
        self._max_answer_bytes = max_answer_bytes
        self._lock = threading.Lock()
        self._idle: list[socket.socket] = []

    def call(self, path: str, body: bytes, seconds: float) -> tuple[int, bytes]:
        """Return status and body of the answer.

        Raises TimeoutError after `seconds`, ValueError for an answer that is too large, other OSErrors if there is no
        connection (any more): whether the server has done what was asked is not known then.
        """
        deadline = time.monotonic() + seconds
        connection = self._take(seconds)
        try:
            connection.settimeout(seconds)
            encoded = path.encode()
            connection.sendall(REQUEST.pack(len(encoded), len(body)) + encoded + body)
            status, size = ANSWER.unpack(receive(connection, ANSWER.size, deadline))
            if size > self._max_answer_bytes:
                raise ValueError(f"an answer of {size} bytes")
            answer = receive(connection, size, deadline)
        except BaseException:
            connection.close()
            raise
        with self._lock:
            self._idle.append(connection)
        return status, answer

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take(self, seconds: float) -> socket.socket:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(seconds)
            connection.connect(address_of(self.name))
            # The name is no secret, and free again once its server has ended: whoever takes it could answer for Lean.
            if not is_ours(connection):
                raise ConnectionError("another user answers there")
        except BaseException:
            connection.close()
            raise
        return connection
