"""What a run starts beside itself (see `child.py`): `python -m nanoproof.monitor.inherited HANDLE RUN_DIR`."""

import json
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

from nanoproof.monitor.server import Monitor

_NICE = 5


def main() -> None:
    """Serve on the socket that was handed down, until standard input ends."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the run decides when it is over
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError):
        os.nice(_NICE)  # the run comes first
    settings = json.loads(sys.stdin.readline() or "{}")
    listener = socket.socket(fileno=int(sys.argv[1]))
    monitor = Monitor(listener, settings.get("token"), Path(sys.argv[2]))
    while sys.stdin.readline():
        pass
    monitor.close()


if __name__ == "__main__":
    main()
