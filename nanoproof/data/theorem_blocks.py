"""The theorems of a Lean text, one by one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nanoproof.common.errors import UserError
from nanoproof.lean.lexical import mask

_THEOREM = r"^(?:{})[ \t\n]+(?P<name>[^\s:({{\[⦃]+)"
_COMMAND = re.compile(
    r"^(?:@\[|#|(?:theorem|lemma|example|def|abbrev|instance|noncomputable|private|protected|local|scoped|open|namespace"
    r"|section|end|set_option|variable|universe|attribute|notation|macro|syntax|import|structure|class|inductive|axiom"
    r"|mutual)(?![\w.']))",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A theorem of a text: its line (from 1 on), its name, its own text, and where that begins."""

    line: int
    name: str
    text: str
    start: int


def blocks(text: str, keywords: tuple[str, ...] = ("theorem",)) -> Iterator[Block]:
    """Each theorem that begins a line with one of the keywords; comments behind its last word are not part of it."""
    masked = mask(text)
    for match in re.compile(_THEOREM.format("|".join(keywords)), re.MULTILINE).finditer(masked):
        following = _COMMAND.search(masked, match.end())
        end = following.start() if following else len(masked)
        end = match.start() + len(masked[match.start() : end].rstrip())
        yield Block(text.count("\n", 0, match.start()) + 1, match["name"], text[match.start() : end], match.start())


def read_text(path: Path) -> str:
    """A text file. Raises UserError if it cannot be read, or is no UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text: {error}") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
