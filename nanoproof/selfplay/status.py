"""What a rank is doing right now, written to `status_r<rank>.json` every second for whoever watches."""

import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nanoproof.common.files import atomic_write_json

log = logging.getLogger(__name__)


class StatusWriter:
    """A thread that writes what `snapshot()` returns. If it cannot, it says so once, and the run goes on."""

    def __init__(self, path: Path, snapshot: Callable[[], dict[str, Any]], every_seconds: float = 1.0) -> None:
        self._path, self._snapshot, self._every = path, snapshot, every_seconds
        self._stop = threading.Event()
        self._failed = False
        self._thread = threading.Thread(target=self._run, name="status", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(self._every):
            self.write()

    def write(self) -> None:
        """Write one snapshot now."""
        try:
            atomic_write_json(self._path, {"time": time.time(), "pid": os.getpid(), **self._snapshot()})
        except OSError as error:
            if not self._failed:
                log.warning("cannot write %s: %s; the run goes on without it", self._path, error)
            self._failed = True

    def close(self) -> None:
        """Write a last snapshot and stop."""
        self._stop.set()
        self._thread.join()
        self.write()
