"""The monitor of a run that goes on: a process of its own, which never takes the interpreter from the run's threads.

The listening socket is opened here, before the run writes anything, and handed down. The child ends when its standard
input does, that is with the run, however that ends. If the child ends first, the run says so once and goes on.
"""

import json
import logging
import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from nanoproof.monitor.server import TOKEN_VARIABLE, address_of, open_listener

log = logging.getLogger(__name__)

_CLOSE_SECONDS = 5.0


class MonitorProcess:
    """A monitor in a child process; before `show`, browsers that connect wait."""

    def __init__(self, listener: socket.socket, token: str | None = None) -> None:
        self.address = address_of(listener)
        self._listener, self._token = listener, token
        self._process: subprocess.Popen[bytes] | None = None
        self._closing = False

    def show(self, run_path: Path) -> None:
        """Start the child, which shows this run."""
        handle = self._listener.fileno()
        command = [sys.executable, "-m", "nanoproof.monitor.inherited", str(handle), str(Path(run_path).absolute())]
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[handle], start_new_session=True)
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps({"token": self._token}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            log.warning("the monitor could not be started: %s; the run goes on without it", error)
            return
        finally:
            self._listener.close()
        threading.Thread(target=self._watch, name="monitor", daemon=True).start()

    @property
    def pid(self) -> int | None:
        """The child's process id."""
        return None if self._process is None else self._process.pid

    def _watch(self) -> None:
        assert self._process is not None
        code = self._process.wait()
        if not self._closing:
            log.warning("the monitor ended (exit code %d); the run goes on without it", code)

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
    """A monitor on `port` (0: a free one) that waits for its run. Raises UserError if the port is taken."""
    token = token or os.environ.get(TOKEN_VARIABLE)
    return MonitorProcess(open_listener(port, host, token), token)
