"""Options, filters and output that the inspect_* commands share, and the file of `--json` of those and others."""

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar

from nanoproof.common.config import opt, validated
from nanoproof.common.errors import cannot
from nanoproof.common.files import atomic_write_json
from nanoproof.common.terminal import Paint, printable

T = TypeVar("T")


@validated("view")
class ViewOptions:
    """Printing."""

    max: int = opt(20, "Show at most so many.", min=1)
    full: bool = opt(False, "Show each in full instead of a line of a table.")
    sample: int | None = opt(
        None, "Show a random choice made with this seed instead of the first ones.", min=0, metavar="SEED"
    )
    json: bool = opt(False, "Print JSON, one object per line.")

    def choose(self, items: Sequence[T]) -> list[T]:
        """Choose the items to show, in their order."""
        if self.sample is None or len(items) <= self.max:
            return list(items[: self.max])
        # Drawn as numbers and sorted: a choice keeps the order, in which neighbours belong together.
        chosen = random.Random(self.sample).sample(range(len(items)), self.max)
        return [items[index] for index in sorted(chosen)]


def matches(patterns: Sequence[str], text: str) -> bool:
    """Return whether a text matches one of the patterns (`*` and `?` are wildcards); true without patterns."""
    return not patterns or any(fnmatchcase(text, pattern) for pattern in patterns)


def contains(wanted: str | None, *texts: str) -> bool:
    """Return whether one of the texts contains the wanted one, regardless of case."""
    return wanted is None or any(wanted.casefold() in text.casefold() for text in texts)


def write_json_option(file: str, value: Any) -> None:
    """Write what `--json` asks for. Raises UserError if that is not possible."""
    with cannot(f"write --json {file}"):
        atomic_write_json(Path(file), value)


def json_lines(records: Iterable[Any]) -> Iterator[str]:
    """Yield each record as a line of JSON."""
    for record in records:
        yield json.dumps(record, ensure_ascii=False)


def not_shown(total: int, shown: int) -> Iterator[str]:
    """Yield a last line with the number of items that are not shown, if any."""
    if total > shown:
        yield f"... and {total - shown:,} more (--max)"


def indented(text: str, margin: str = "  ") -> Iterator[str]:
    """Yield the lines of a text from a file, indented."""
    for line in printable(text).splitlines():
        yield (margin + line).rstrip()


def heading(text: str, paint: Paint, *details: object) -> str:
    """Render the line above something shown in full."""
    line = paint(printable(text), "bold", "cyan")
    for detail in details:
        if detail:
            line += f"  {paint(str(detail), 'dim')}"
    return line
