"""Progress of long work: a bar on a terminal, a plain line now and then elsewhere."""

import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_PER_SECOND = 4


class Progress:
    """Counts from `initial` up to `total` units of work (0: how many is not known); silent if not `show`.

    Use it as a context manager and call `update`.
    """

    def __init__(
        self,
        total: int,
        desc: str,
        unit: str = "it",
        every_seconds: float = 10.0,
        show: bool = True,
        initial: int = 0,
    ) -> None:
        self.total, self.desc, self.unit = total, desc, unit
        self.count, self.note = initial, ""
        self._initial, self._stack = initial, ExitStack()
        self._every, self._show = every_seconds, show
        self._start = self._last = time.monotonic()
        self._bar: Bar | None = None

    def update(self, count: int = 1, note: str = "") -> None:
        """Count `count` more units; `note` is shown behind the numbers."""
        self.count += count
        self.note = note or self.note
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self.count, note=self.note)
        elif self._show and time.monotonic() - self._last >= self._every:
            self._last = time.monotonic()
            self._line()

    def _line(self) -> None:
        seconds = time.monotonic() - self._start
        note = f", {self.note}" if self.note else ""
        done, left = self.count - self._initial, self.total - self.count
        to_go = f" (about {_readable(left * seconds / done)} to go)" if done > 0 and left > 0 else ""
        total = f"/{self.total}" if self.total else ""
        print(f"{self.desc}: {self.count}{total} {self.unit} in {_readable(seconds)}{to_go}{note}", flush=True)

    def __enter__(self) -> "Progress":
        screen = sys.stderr
        if self._show and screen.isatty() and os.environ.get("TERM") != "dumb":
            self._bar = self._stack.enter_context(_make_bar())
            self._bar.add_task(self.desc, total=self.total or None, completed=self.count, unit=self.unit, note="")
            self._stack.enter_context(_logs_above(screen))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Finish the bar, or print the last line."""
        self._stack.close()
        if self._bar is None and self._show:
            self._line()


def _make_bar() -> "Bar":
    from rich.console import Console  # a tenth of a second that whoever is no terminal need not wait
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[unit]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    screen = Console(stderr=True)
    # What is printed goes above the bar where both are on the terminal, and else to its file or pipe as always.
    return Bar(*columns, console=screen, refresh_per_second=_PER_SECOND, redirect_stdout=sys.stdout.isatty())


@contextmanager
def _logs_above(screen: TextIO) -> Iterator[None]:
    """Send log lines for `screen` through the bar's standard error, so that they appear above the bar, not in it."""
    handlers = [
        each
        for each in logging.getLogger().handlers
        if isinstance(each, logging.StreamHandler) and each.stream is screen
    ]
    try:
        for handler in handlers:
            handler.setStream(sys.stderr)
        yield
    finally:
        for handler in handlers:
            handler.setStream(screen)


def _readable(seconds: float) -> str:
    """Seconds, or `H:MM:SS` where there are many."""
    if seconds < 300:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
