"""What the commands share that show what is in files: their options, filters, and how they end."""

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, TypeVar

from nanoproof.common.config import opt, validate
from nanoproof.common.terminal import Paint, harmless

T = TypeVar("T")


@dataclass(frozen=True)
class ViewOptions:
    """Printing."""

    max: int = opt(20, "Show at most so many.", min=1)
    full: bool = opt(False, "Show each in full instead of a line of a table.")
    sample: int | None = opt(
        None, "Show a random choice made with this seed instead of the first ones.", min=0, metavar="SEED"
    )
    json: bool = opt(False, "Print JSON, one object per line.")

    def __post_init__(self) -> None:
        validate(self, "view")

    def choose(self, items: Sequence[T]) -> list[T]:
        """What is shown of the items, in their order."""
        if self.sample is None or len(items) <= self.max:
            return list(items[: self.max])
        return [items[index] for index in sorted(random.Random(self.sample).sample(range(len(items)), self.max))]


def matches(patterns: Sequence[str], text: str) -> bool:
    """Whether a text is one of those wanted: `*` and `?` stand for anything; without patterns all are."""
    return not patterns or any(fnmatchcase(text, pattern) for pattern in patterns)


def contains(wanted: str | None, *texts: str) -> bool:
    """Whether one of the texts has the wanted one in it, upper and lower case alike."""
    return wanted is None or any(wanted.casefold() in text.casefold() for text in texts)


def json_lines(records: Iterable[Any]) -> Iterator[str]:
    """Each record as a line."""
    for record in records:
        yield json.dumps(record, ensure_ascii=False)


def not_shown(total: int, shown: int) -> Iterator[str]:
    """A last line that says how many there are besides, if any."""
    if total > shown:
        yield f"... and {total - shown:,} more (--max)"


def indented(text: str, margin: str = "  ") -> Iterator[str]:
    """The lines of a text from a file."""
    for line in harmless(text).splitlines():
        yield (margin + line).rstrip()


def heading(text: str, paint: Paint, *details: object) -> str:
    """The line above something shown in full."""
    return paint(harmless(text), "bold", "cyan") + "".join(f"  {paint(str(each), 'dim')}" for each in details if each)
