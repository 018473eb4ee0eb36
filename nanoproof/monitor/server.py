"""Serves the monitor: in this process, for whoever calls `python -m nanoproof.monitor`, for a run, and for tests."""

import logging
import os
import socket
import threading
from dataclasses import dataclass
from pathlib import Path

from nanoproof.common.address import on_loopback
from nanoproof.common.errors import UserError
from nanoproof.common.web.lifecycle import allow_many_connections
from nanoproof.common.web.server import HttpServer, bind
from nanoproof.monitor.app import create_app
from nanoproof.monitor.current import CurrentRun
from nanoproof.monitor.stream import MAX_VIEWERS

log = logging.getLogger(__name__)

TOKEN_VARIABLE = "NANOPROOF_MONITOR_TOKEN"
"""Environment variable with the token that browsers are asked for; other users of the machine see command lines."""
_THREADS_BESIDE_VIEWERS = 16


@dataclass(frozen=True)
class Listen:
    """Where the monitor listens; each viewer's live updates take one of its threads."""

    address: str = "127.0.0.1"
    port: int = 0
    threads: int = MAX_VIEWERS + _THREADS_BESIDE_VIEWERS
    receive_seconds: float = 600.0
    max_body_mb: float = 0.01


def open_listener(port: int, host: str = "127.0.0.1", token: str | None = None) -> socket.socket:
    """The listening socket. Raises UserError if the port is taken, or open to others without a token."""
    host = "127.0.0.1" if host == "localhost" else host
    if not on_loopback(host) and not token:
        how = f"set {TOKEN_VARIABLE}, or give --token (--monitor-token of a run)"
        raise UserError(f"the monitor is not shown to other machines (on {host}) without a token: {how}")
    try:
        listener = bind(Listen(host, port))
    except UserError as error:
        raise UserError(f"the monitor {error}; choose another port (--monitor-port of a run, or none)") from error
    listener.listen(256)
    return listener


class Monitor:
    """A monitor that serves from a thread of this process."""

    def __init__(self, listener: socket.socket, token: str | None = None, run_path: Path | None = None) -> None:
        """Whoever connects before there is a run to show (`run_path`, `show`) is told so."""
        self.address = address_of(listener)
        self._current = CurrentRun()
        if run_path is not None:
            self.show(run_path)
        allow_many_connections()
        app = create_app(self._current, token, on_loopback(listener.getsockname()[0]))
        self._server = HttpServer(app, Listen(), listener)
        self._thread = threading.Thread(target=self._serve, name="monitor", daemon=True)
        self._thread.start()

    def show(self, run_path: Path, every_seconds: float = 0.5) -> None:
        """From now on show this run."""
        self._current.show(run_path, every_seconds)

    def _serve(self) -> None:
        try:
            self._server.run()
        except Exception:
            log.exception("the monitor stopped")

    def wait(self) -> None:
        """Serve until interrupted."""
        self._thread.join()

    def close(self) -> None:
        """Stop serving."""
        self._current.close()
        self._server.close()
        self._thread.join(timeout=5)


def address_of(listener: socket.socket) -> str:
    """What to type into a browser."""
    host, port = listener.getsockname()[:2]
    shown = "localhost" if host in ("127.0.0.1", "::1") else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


def start_monitor(port: int, host: str = "127.0.0.1", token: str | None = None) -> Monitor:
    """Start a monitor in this process on `port` (0: a free one). Raises UserError if the port is taken."""
    token = token or os.environ.get(TOKEN_VARIABLE)
    return Monitor(open_listener(port, host, token), token)
