"""Serves the dashboard from a thread of the training process, or for a run that is over.

A busy port is an error before anything is written; later failures of the dashboard never stop the run.
"""

import logging
import socket
import threading
from pathlib import Path

from waitress.server import create_server

from nanoproof.common.errors import UserError
from nanoproof.monitor.app import CurrentRun, create_app
from nanoproof.monitor.reader import RunReader

log = logging.getLogger(__name__)


class Monitor:
    """A running dashboard."""

    def __init__(self, listener: socket.socket) -> None:
        self.address = f"http://localhost:{listener.getsockname()[1]}"
        self._current = CurrentRun()
        self._server = create_server(create_app(self._current), sockets=[listener], threads=4)
        self._thread = threading.Thread(target=self._serve, name="monitor", daemon=True)
        self._thread.start()

    def show(self, run_path: Path) -> None:
        """From now on show this run."""
        self._current.reader = RunReader(run_path)

    def _serve(self) -> None:
        try:
            self._server.run()
        except Exception:
            log.exception("the dashboard stopped; the run goes on without it")

    def wait(self) -> None:
        """Serve until interrupted."""
        self._thread.join()

    def close(self) -> None:
        """Stop serving."""
        self._server.close()
        self._thread.join(timeout=5)


def start_monitor(port: int, host: str = "127.0.0.1") -> Monitor:
    """Start the dashboard on `port` (0: a free one). Raises UserError if the port is taken."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(64)
    except OSError as error:
        listener.close()
        raise UserError(
            f"the dashboard cannot use port {port} of {host}: {error.strerror}; choose another with --monitor-port, "
            "or none"
        ) from error
    return Monitor(listener)
