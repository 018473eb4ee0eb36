"""Serve the monitor from a thread of this process, or from a child process beside a run.

The listening socket is opened here, before the run writes anything, and handed down. The child ends when its standard
input does, that is with the run, however that ends. If the child ends first, the run logs it once and continues.
"""

import ctypes
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from nanoproof.common.errors import UserError
from nanoproof.common.web.http_client import on_loopback
from nanoproof.common.web.http_server import HttpServer, allow_many_connections, bind
from nanoproof.monitor.app import create_app
from nanoproof.monitor.routes import CurrentRun
from nanoproof.monitor.stream import MAX_VIEWERS

log = logging.getLogger(__name__)

TOKEN_VARIABLE = "NANOPROOF_MONITOR_TOKEN"
"""Environment variable with the token that browsers must give; other users of the machine can read command lines."""
_THREADS_BESIDE_VIEWERS = 16


@dataclass(frozen=True)
class ListenOptions:
    """Address and limits of the server; each viewer's live updates take one of its threads."""

    address: str = "127.0.0.1"
    port: int = 0
    threads: int = MAX_VIEWERS + _THREADS_BESIDE_VIEWERS
    receive_seconds: float = 600.0
    max_body_mb: float = 0.01


def open_listener(port: int, host: str = "127.0.0.1", token: str | None = None) -> socket.socket:
    """Open the listening socket.

    Raises UserError if the port is taken, or if other machines could connect without a token.
    """
    if host == "localhost":
        host = "127.0.0.1"  # one address, whatever that name means on this machine
    if not on_loopback(host) and not token:
        how = f"set {TOKEN_VARIABLE}, or give --token (--monitor-token of a run)"
        raise UserError(f"the monitor is not shown to other machines (on {host}) without a token: {how}")
    try:
        listener = bind(ListenOptions(host, port))
    except UserError as error:
        how = "choose another port: --port, or of a run --monitor-port, which also takes none"
        raise UserError(f"the monitor {error}; {how}") from error
    # From now on browsers that connect wait, instead of being refused while a run loads its model.
    listener.listen(256)
    return listener


class Monitor:
    """A monitor that serves from a thread of this process."""

    def __init__(
        self, listener: socket.socket, token: str | None = None, path: Path | None = None, is_folder: bool = False
    ) -> None:
        """Begin to serve the run in `path`, or if that `is_folder`, the runs below it; until there is something to show
        (`show`, `show_runs`), requests get status 503."""
        self.address = browser_url(listener)
        self._current = CurrentRun()
        # Before the first request is answered: the child of a run would say that there is no run yet.
        if path is not None and is_folder:
            self.show_runs(path)
        elif path is not None:
            self.show(path)
        allow_many_connections()
        app = create_app(self._current, token, on_loopback(listener.getsockname()[0]))
        self._server = HttpServer(app, ListenOptions(), listener)
        self._thread = threading.Thread(target=self._serve, name="monitor", daemon=True)
        self._thread.start()

    def show(self, run_path: Path, every_seconds: float = 0.5) -> None:
        """From now on show this run."""
        self._current.show(run_path, every_seconds)

    def show_runs(self, folder: Path, every_seconds: float = 0.5) -> None:
        """From now on show the runs below this folder."""
        self._current.show_runs(folder, every_seconds)

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


def browser_url(listener: socket.socket) -> str:
    """Return the URL to open in a browser."""
    host, port = listener.getsockname()[:2]
    if host in ("127.0.0.1", "::1"):
        host = "localhost"
    if ":" in host:  # IPv6
        host = f"[{host}]"
    return f"http://{host}:{port}"


def start_monitor(port: int, host: str = "127.0.0.1", token: str | None = None) -> Monitor:
    """Start a monitor in this process on `port` (0: a free one). Raises UserError if the port is taken."""
    token = token or os.environ.get(TOKEN_VARIABLE)
    return Monitor(open_listener(port, host, token), token)


_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
_LARGE = 256 << 10


def give_back_memory() -> None:
    """Let what was large and is freed go back to the system, in this process from now on.

    glibc keeps it, up to 32 MB for each thread that answers (mallopt(3)); of a run of a million attempts that is half
    of all memory. Elsewhere nothing is changed.
    """
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for option, value in ((_M_ARENA_MAX, 2), (_M_MMAP_THRESHOLD, _LARGE), (_M_TRIM_THRESHOLD, _LARGE)):
            mallopt(option, value)


_CLOSE_SECONDS = 5.0


class MonitorProcess:
    """A monitor in a child process; before `show`, browsers that connect wait."""

    def __init__(self, listener: socket.socket, token: str | None = None) -> None:
        self.address = browser_url(listener)
        self._listener, self._token = listener, token
        self._process: subprocess.Popen[bytes] | None = None
        self._closing = False

    def show(self, run_path: Path) -> None:
        """Start the child, which shows this run."""
        self._start(run_path, "run")

    def show_runs(self, folder: Path) -> None:
        """Start the child, which shows the runs below this folder."""
        self._start(folder, "runs")

    def _start(self, path: Path, what: str) -> None:
        handle = self._listener.fileno()
        command = [sys.executable, "-m", "nanoproof.monitor.server", str(handle), str(Path(path).absolute()), what]
        try:
            # A session of its own: Ctrl-C in the terminal is for the run, which then ends the monitor.
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[handle], start_new_session=True)
            assert self._process.stdin is not None
            # Not as an argument: other users of the machine can read command lines.
            self._process.stdin.write(json.dumps({"token": self._token}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            log.warning("the monitor could not be started: %s; the run continues without it", error)
            return
        finally:
            self._listener.close()
        threading.Thread(target=self._watch, name="monitor", daemon=True).start()

    @property
    def pid(self) -> int | None:
        """The child's process id; None before it is started."""
        return None if self._process is None else self._process.pid

    def _watch(self) -> None:
        assert self._process is not None
        code = self._process.wait()
        if not self._closing:
            log.warning("the monitor ended (exit code %d); the run continues without it", code)

    def close(self) -> None:
        """End the child."""
        self._closing = True
        self._listener.close()
        process = self._process
        if process is None:
            return
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.close()
        try:
            process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def start_monitor_process(port: int, host: str = "127.0.0.1", token: str | None = None) -> MonitorProcess:
    """Start a monitor process on `port` (0: a free one). Raises UserError if the port is taken."""
    token = token or os.environ.get(TOKEN_VARIABLE)
    return MonitorProcess(open_listener(port, host, token), token)


_NICENESS = 5


def main() -> None:
    """Serve on the socket that was handed down, until standard input ends."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the run decides when it is over
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError):
        os.nice(_NICENESS)  # the run comes first
    give_back_memory()
    settings = json.loads(sys.stdin.readline() or "{}")
    listener = socket.socket(fileno=int(sys.argv[1]))
    monitor = Monitor(listener, settings.get("token"), Path(sys.argv[2]), is_folder=sys.argv[3] == "runs")
    # The pipe ends with the process that holds it, also where that is killed and can say nothing.
    while sys.stdin.readline():
        pass
    monitor.close()


if __name__ == "__main__":
    main()
