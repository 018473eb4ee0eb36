"""Text for people: tables that line up, colours on a terminal only, and a quiet end when the reader goes away."""

import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}
PLAIN_WIDTH = 120
"""Columns where there is no terminal that would say how many it has."""

_STYLED = re.compile(r"\x1b\[[\d;]*m")
_KEPT = "\n\t"
_WIDEST = 1 << 20
"""Columns of a table that is never wrapped."""


def use_color(stream: TextIO | None = None) -> bool:
    """Whether to colour what goes to a stream (default: standard output): on a terminal, unless NO_COLOR is set."""
    stream = sys.stdout if stream is None else stream
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width() -> int:
    """Columns to fill."""
    return shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns if sys.stdout.isatty() else PLAIN_WIDTH


class Paint:
    """Colours a text by the name of a style; does nothing where there are no colours."""

    def __init__(self, on: bool | None = None) -> None:
        self.on = use_color() if on is None else on

    def __call__(self, text: str, *styles: str) -> str:
        if not (self.on and styles and text):
            return text
        return f"\x1b[{';'.join(STYLES[style] for style in styles)}m{text}\x1b[0m"


def print_lines(lines: Iterable[str]) -> None:
    """Print lines as they come. It stops without a word when nobody reads them any more (`| head`).

    Characters that the output cannot show are printed as escapes.
    """
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit


def harmless(text: str) -> str:
    """A text from outside without what would move the cursor or change colours: such characters by their numbers."""
    if text.isprintable():
        return text
    return "".join(
        char if char in _KEPT or char.isprintable() or (char.isspace() and ord(char) > 127) else f"<U+{ord(char):04X}>"
        for char in text
    )


def columns(text: str) -> int:
    """How many columns of a terminal a text takes, styles not counted."""
    plain = _STYLED.sub("", text)
    if plain.isascii():
        return len(plain)
    from rich.cells import cell_len  # imported where it is used, as below: this file is loaded by every command

    return cell_len(plain)


def shorten(text: str, limit: int) -> str:
    """A text on one line, at most so many columns of it."""
    line = harmless(" ".join(text.split()))
    if columns(line) <= limit:
        return line
    from rich.cells import set_cell_size

    return set_cell_size(line, limit - 1) + "…"


def table(headers: Sequence[str], rows: Sequence[Sequence[object]], paint: Paint | None = None) -> list[str]:
    """The lines of a table: a header and rows, two spaces between columns. Columns of numbers are set to the right.

    Whole numbers get separators, None is an empty cell, and an empty row is an empty line. A header that begins with
    `>` sets its column to the right too.
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


def size(num_bytes: float) -> str:
    """A number of bytes for people."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(num_bytes) < 1000:
            return f"{num_bytes:.0f} {unit}" if unit == "B" else f"{num_bytes:.1f} {unit}"
        num_bytes /= 1000
    return f"{num_bytes:.1f} TB"
