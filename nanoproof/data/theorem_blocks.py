"""The theorems of a Lean text, one by one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nanoproof.lean.gaps import COMMAND, IN_FRONT
from nanoproof.lean.lexical import mask

_BEFORE = rf"^(?:{IN_FRONT}[ \t]+)*(?:public[ \t]+)?"
_NAME = r"[ \t\n]+(?P<name>[^\s:({\[⦃]+)"


@dataclass(frozen=True, slots=True)
class Block:
    """A theorem of a text: its line (from 1 on), its name, its own text, and where that begins."""

    line: int
    name: str
    text: str
    start: int


def blocks(text: str, keywords: tuple[str, ...] = ("theorem",)) -> Iterator[Block]:
    """Each theorem that begins a line with one of the keywords; comments behind its last word are not part of it.

    Before the keyword may stand `public`, and what goes with the theorem alone, as `open Nat in` does.
    """
    masked = mask(text)
    for match in re.compile(f"{_BEFORE}(?:{'|'.join(keywords)}){_NAME}", re.MULTILINE).finditer(masked):
        following = COMMAND.search(masked, match.end())
        end = following.start() if following else len(masked)
        end = match.start() + len(masked[match.start() : end].rstrip())
        yield Block(text.count("\n", 0, match.start()) + 1, match["name"], text[match.start() : end], match.start())
