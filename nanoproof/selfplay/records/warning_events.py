"""Warnings of the log as events of the run, so that whoever watches sees them; repetitions are left out."""

import logging
import time
from contextlib import suppress

from nanoproof.common.run_dir import RunDir

REPEAT_SECONDS = 60.0
"""A warning of one kind is told once in this time."""
MAX_LENGTH = 500


class WarningEvents(logging.Handler):
    """A log handler; use it as a context manager around the run whose warnings it is to tell."""

    def __init__(self, run: RunDir) -> None:
        super().__init__(logging.WARNING)
        self._run = run
        self._told: dict[tuple[str, str], float] = {}

    def emit(self, record: logging.LogRecord) -> None:
        kind, now = (record.name, str(record.msg)), time.monotonic()
        if now - self._told.get(kind, float("-inf")) < REPEAT_SECONDS:
            return
        self._told[kind] = now
        with suppress(OSError, ValueError):  # a full disk, a closed file: the log has it anyway
            self._run.event(
                "warning", level=record.levelname, logger=record.name, message=record.getMessage()[:MAX_LENGTH]
            )

    def __enter__(self) -> "WarningEvents":
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self)
