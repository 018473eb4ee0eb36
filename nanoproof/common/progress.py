"""Progress of long work: a bar on a terminal, a plain line now and then elsewhere."""

import sys
import time
from contextlib import ExitStack
from types import TracebackType

from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm


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
        self._bar = (
            tqdm(total=total or None, desc=desc, unit=unit, dynamic_ncols=True, initial=initial)
            if show and sys.stderr.isatty()
            else None
        )

    def update(self, count: int = 1, note: str = "") -> None:
        """Count `count` more units; `note` is shown behind the numbers."""
        self.count += count
        self.note = note or self.note
        if self._bar is not None:
            self._bar.set_postfix_str(self.note, refresh=False)
            self._bar.update(count)
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

    def close(self) -> None:
        """Finish the bar, or print the last line."""
        self._stack.close()
        if self._bar is not None:
            self._bar.close()
        elif self._show:
            self._line()

    def __enter__(self) -> "Progress":
        if self._bar is not None:
            self._stack.enter_context(logging_redirect_tqdm())  # log lines go above the bar, not through it
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def _readable(seconds: float) -> str:
    """Seconds, or `H:MM:SS` where there are many."""
    if seconds < 300:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
