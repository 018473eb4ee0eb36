"""The server's side of `nanoproof.lean.local_socket`: calls on leases from programs of the same user and machine."""

import logging
import re
import socket
import threading
from contextlib import suppress

from nanoproof.common.web.flask_app import BadRequest, RequestLog, encode
from nanoproof.lean.local_socket import ANSWER, REQUEST, address_of, is_ours, new_name, receive
from nanoproof.lean.server.calls import Answer, LeaseCalls, Request
from nanoproof.lean.server.pool import Pool

log = logging.getLogger(__name__)

_PATH = re.compile(r"/process/(?P<lease>\d{1,18})/(?:proof/(?P<state>\d{1,18})/)?(?P<call>\w+)")
_MAX_PATH_BYTES = 256


class LocalServer:
    """Listens on a socket of this machine, with a thread for each connection; clients keep one for each of theirs."""

    def __init__(
        self, calls: LeaseCalls, pool: Pool, requests: RequestLog, max_body_bytes: int, max_connections: int
    ) -> None:
        self.name: str | None = None
        """What clients connect to; None while, or where, there is no such socket."""
        self._calls, self._pool, self._requests = calls, pool, requests
        self._max_body_bytes = max_body_bytes
        self._places = threading.BoundedSemaphore(max_connections)
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        self._listener: socket.socket | None = None

    def start(self) -> None:
        """Listen, where the system has such sockets; elsewhere clients use HTTP."""
        name = new_name()
        if name is None:
            return
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(address_of(name))
            listener.listen(128)
        except OSError as error:
            listener.close()
            log.info("no socket for clients on this machine, they use HTTP: %s", error)
            return
        self._listener, self.name = listener, name
        threading.Thread(target=self._accept, args=(listener,), name="lean-local", daemon=True).start()

    def close(self) -> None:
        """Close the socket and all connections."""
        self.name = None
        with self._lock:
            connections, listener = list(self._connections), self._listener
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)  # its thread, which waits for a request, closes it
        if listener is not None:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                if self.name is None:
                    return
                continue
            # Any user may connect, and this one only may call. Who finds no place goes on over HTTP.
            if not is_ours(connection) or not self._places.acquire(blocking=False):
                connection.close()
                continue
            with self._lock:
                self._connections.add(connection)
            threading.Thread(target=self._serve, args=(connection,), name="lean-local-call", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            while self.name is not None:
                path_bytes, body_bytes = REQUEST.unpack(receive(connection, REQUEST.size))
                if path_bytes > _MAX_PATH_BYTES or body_bytes > self._max_body_bytes:
                    return  # over HTTP it is answered 413
                path = receive(connection, path_bytes).decode("ascii", "replace")
                answer = self._answer(path, receive(connection, body_bytes), connection)
                data = encode(answer.body)
                connection.sendall(ANSWER.pack(answer.status, len(data)) + data)
        except OSError:
            pass  # the client is gone
        finally:
            with self._lock:
                self._connections.discard(connection)
            connection.close()
            self._places.release()

    def _answer(self, path: str, data: bytes, connection: socket.socket) -> Answer:
        matched = _PATH.fullmatch(path)
        route, call = "(none)", None
        if matched is not None and matched["state"] is None:
            route, call = f"/process/{{pid}}/{matched['call']}", self._calls.on_leases.get(matched["call"])
        elif matched is not None:
            route = f"/process/{{pid}}/proof/{{state}}/{matched['call']}"
            call = self._calls.on_states.get(matched["call"])
        if matched is None or call is None:
            route, answer = "(none)", Answer(404, {"error": "404 Not Found"})
        elif self._pool.closing:
            answer = Answer(503, {"error": "the server is shutting down"})
        else:
            number = self._requests.begin(route)
            try:
                lease, state = int(matched["lease"]), int(matched["state"] or 0)
                answer = call(Request(lease, state, lambda: data, lambda: _is_closed(connection)))
            except BadRequest as error:
                answer = Answer(400, {"error": str(error)})
            except Exception as error:
                log.exception("a request failed because of a bug of this server")
                answer = Answer(500, {"error": f"server bug: {type(error).__name__}: {error}"})
            finally:
                self._requests.end(number)
        self._pool.metrics.requests.labels(route, str(answer.status)).inc()
        return answer


def _is_closed(connection: socket.socket) -> bool:
    """Tell whether the client has hung up."""
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
