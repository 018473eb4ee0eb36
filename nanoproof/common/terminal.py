"""Output of commands: tables, colours and progress bars on a terminal, plain lines elsewhere."""

import argparse
import io
import logging
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}
PLAIN_WIDTH = 120
"""Columns to fill where the output is no terminal."""

ASCII = ("ascii", "us-ascii", "ansi_x3.4-1968")
"""What Python calls the encoding of the C locale."""

_STYLED = re.compile(r"\x1b\[[\d;]*m")
_KEPT = "\n\t"
_WIDEST = 1 << 20
"""Columns of a table that is never wrapped."""
_PER_SECOND = 4
"""How often a progress bar is drawn."""


def use_color(stream: TextIO | None = None) -> bool:
    """Tell whether to colour the output to a stream (default: stdout): on a terminal, unless NO_COLOR is set."""
    if stream is None:
        stream = sys.stdout
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width() -> int:
    """Return how many columns the output may fill."""
    if not sys.stdout.isatty():
        return PLAIN_WIDTH
    return shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns


class Paint:
    """Colours a text by the name of a style; does nothing where there are no colours."""

    def __init__(self, on: bool | None = None) -> None:
        self.on = use_color() if on is None else on

    def __call__(self, text: str, *styles: str) -> str:
        if not (self.on and styles and text):
            return text
        return f"\x1b[{';'.join(STYLES[style] for style in styles)}m{text}\x1b[0m"


def open_streams() -> None:
    """Open the standard streams that whoever started the program has closed (`>&-`, a daemon) on the null device."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))


def use_utf8() -> None:
    """Print UTF-8, and read it from arguments, whatever the locale says: in the C locale Python takes ASCII alone.

    Goals hold `⊢`, and programs of ours read each other's output. A terminal of another encoding keeps it, and gets
    escapes for what it lacks. Names of files stay as the system has them.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            keeps = stream.isatty() and stream.encoding.lower() not in ASCII
            stream.reconfigure(encoding=stream.encoding if keeps else "utf-8", errors="backslashreplace")
    if sys.getfilesystemencoding().lower() in ASCII:
        for index, word in enumerate(sys.argv):
            with suppress(UnicodeError):
                sys.argv[index] = word if os.path.exists(word) else os.fsencode(word).decode("utf-8")


def print_lines(lines: Iterable[str]) -> None:
    """Print lines as they come, and stop silently when nobody reads them any more (`| head`).

    Characters that the output cannot show are printed as escapes.
    """
    try:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="backslashreplace")  # which writes out what waits, maybe for nobody
        for line in lines:
            # `print` writes the line's end apart, and the lines of two threads would run together.
            sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit


def printable(text: str) -> str:
    """Replace characters that move the cursor or change colours by their code points, in text from outside."""
    if text.isprintable():
        return text
    shown: list[str] = []
    for char in text:
        is_wide_space = char.isspace() and ord(char) > 127  # Python calls these unprintable; they only leave room
        if char in _KEPT or char.isprintable() or is_wide_space:
            shown.append(char)
        else:
            shown.append(f"<U+{ord(char):04X}>")
    return "".join(shown)


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes; styles count for nothing."""
    plain = _STYLED.sub("", text)
    if plain.isascii():
        return len(plain)
    from rich.cells import cell_len  # imported where it is used, as below: every command loads this module

    return cell_len(plain)


def shorten(text: str, limit: int) -> str:
    """Put a text on one line and cut it to at most `limit` columns."""
    line = printable(" ".join(text.split()))
    if columns(line) <= limit:
        return line
    from rich.cells import set_cell_size

    return set_cell_size(line, limit - 1) + "…"


def table(headers: Sequence[str], rows: Sequence[Sequence[object]], paint: Paint | None = None) -> list[str]:
    """Format a table as lines: a header and rows, two spaces between columns. Columns of numbers are aligned right.

    Whole numbers get separators, None is an empty cell, and an empty row is an empty line. A header that begins with
    `>` aligns its column right too.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    built = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold" if paint and paint.on else "none")
    for index, header in enumerate(headers):
        values = [row[index] for row in rows if row and row[index] is not None]
        right = header.startswith(">") or bool(values and all(map(_is_number, values)))
        built.add_column(Text(header.removeprefix(">")), justify="right" if right else "left", no_wrap=True)
    for row in rows:
        built.add_row(*(Text.from_ansi(_cell(value)) for value in row))
    # rich would cut or wrap columns to the screen; a name that is cut off cannot be copied into a command.
    console = Console(width=_WIDEST, color_system="standard", force_terminal=True, no_color=False, soft_wrap=True)
    with console.capture() as captured:
        console.print(built)
    return [line.rstrip() for line in captured.get().splitlines()]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, as in "1,200 theorems" and "2 sorries"."""
    if number != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun}"


def size(num_bytes: float) -> str:
    """Format a number of bytes, as in 3.2 MB (decimal units)."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(num_bytes) < 1000:
            if unit == "B":
                return f"{num_bytes:.0f} B"
            return f"{num_bytes:.1f} {unit}"
        num_bytes /= 1000
    return f"{num_bytes:.1f} TB"


# -- Progress --------------------------------------------------------------------------------------------------------


LINE_COLUMNS = 200
"""Columns of a line of progress where there is no terminal to ask: titles may name many data sets."""


class Progress:
    """Progress of long work: a bar on a terminal, a line every `every_seconds` elsewhere; silent if not `show`.

    Counts from `initial` up to `total` units (0: not known). Use it as a context manager and call `update` or `reach`;
    lines come also while neither is called. They go to standard output, or to `screen`. With `say` that is told each
    line, there is no bar, and no last line where there was none before.
    """

    def __init__(
        self,
        total: int,
        desc: str,
        unit: str = "it",
        every_seconds: float = 10.0,
        show: bool = True,
        initial: int = 0,
        screen: TextIO | None = None,
        say: Callable[[str], object] | None = None,
    ) -> None:
        self.total, self.desc, self.unit = total, desc, unit
        self.count, self.note = initial, ""
        self._initial, self._stack = initial, ExitStack()
        self._every, self._show = every_seconds, show
        self._screen, self._say = screen, say
        self._start = self._last = time.monotonic()
        self._bar: Bar | None = None
        self._over, self._lines = threading.Event(), 0
        self._beating: threading.Thread | None = None

    def update(self, count: int = 1, note: str = "") -> None:
        """Count `count` more units; `note` is shown behind the numbers."""
        self.count += count
        self.note = note or self.note
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self.count, note=self.note)
        else:
            self._line_if_due()

    def reach(self, count: int, total: int, note: str = "") -> None:
        """Note that `count` of `total` units are done; call it now and then also where nothing has changed."""
        if total != self.total and self._bar is not None:
            self._bar.update(self._bar.task_ids[0], total=total or None)
        self.total = total
        self.update(count - self.count, note)

    def _line_if_due(self) -> None:
        if self._show and time.monotonic() - self._last >= self._every:
            self._last = time.monotonic()
            self._line()

    def _beat(self) -> None:
        while not self._over.wait(self._every / 10):
            self._line_if_due()

    def _line(self) -> None:
        self._lines += 1
        seconds = time.monotonic() - self._start
        note = to_go = total = ""
        if self.note:
            note = f", {self.note}"
        done, left = self.count - self._initial, self.total - self.count
        # By what was done here: the work that a continued command found done took it no time.
        if done > 0 and left > 0:
            to_go = f" (about {_readable(left * seconds / done)} to go)"
        if self.total:
            total = f"/{self.total}"
        line = f"{self.desc}: {self.count}{total} {self.unit} in {_readable(seconds)}{to_go}{note}"
        if self._say is not None:
            self._say(line)
        else:
            print(shorten(line, LINE_COLUMNS), file=self._screen or sys.stdout, flush=True)

    def __enter__(self) -> "Progress":
        screen = sys.stderr
        if self._show and self._say is None and screen.isatty() and os.environ.get("TERM") != "dumb":
            self._bar = self._stack.enter_context(_make_bar())
            self._bar.add_task(self.desc, total=self.total or None, completed=self.count, unit=self.unit, note="")
            self._stack.enter_context(_logs_above(screen))
        elif self._show and self._every:
            self._beating = threading.Thread(target=self._beat, name="progress", daemon=True)
            self._beating.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Finish the bar, or print the last line."""
        self._stack.close()
        self._over.set()
        if self._beating is not None:
            self._beating.join()
        if self._bar is None and self._show and (self._say is None or self._lines):
            self._line()


def _make_bar() -> "Bar":
    from rich.console import Console  # takes a tenth of a second, which only a terminal is worth
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
        handler
        for handler in logging.getLogger().handlers
        if isinstance(handler, logging.StreamHandler) and handler.stream is screen
    ]
    try:
        for handler in handlers:
            handler.setStream(sys.stderr)
        yield
    finally:
        for handler in handlers:
            handler.setStream(screen)


def _readable(seconds: float) -> str:
    """Format a duration in seconds, or as `H:MM:SS` from five minutes on."""
    if seconds < 300:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


# -- Pages of help ---------------------------------------------------------------------------------------------------


class HelpFormatter(argparse.HelpFormatter):
    """Formats pages of many options: a short usage line, short names of values, and defaults that say something."""

    MANY_OPTIONS = 8
    """From so many on, the usage line does not list them."""

    def _format_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any) -> str:
        optional = [action for action in actions if action.option_strings]
        if len(optional) < self.MANY_OPTIONS:
            return super()._format_usage(usage, actions, groups, prefix)
        line = super()._format_usage(usage, [action for action in actions if not action.option_strings], [], prefix)
        first, prog, rest = line.partition(self._prog)
        return f"{first}{prog} [options]{rest}"

    def _get_default_metavar_for_optional(self, action: argparse.Action) -> str:
        return {int: "N", float: "X"}.get(action.type, "NAME" if action.nargs else "TEXT")  # type: ignore[call-overload]

    def _get_help_string(self, action: argparse.Action) -> str | None:
        value, text = action.default, action.help or ""
        if value in (None, argparse.SUPPRESS, "", ()) or "(default" in text:
            return text
        shown = " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        shown = {"True": "on", "False": "off"}.get(shown, shown)
        # argparse puts its own values into what is left of the text by `%`.
        return f"{text} (default: {shown.replace('%', '%%')})"
