"""Theorems of one's own: a file wherever the name of a theorem set may stand, `mine.lean` or `mine.jsonl`.

Of a Lean file every `theorem` or `lemma` that begins a line (maybe behind `open Nat in` or the like) and whose proof is
a `sorry` is one, under its own name. Its source is all that comes before it but the other such theorems, what belongs
to them, and the header (imports are the server's): so it may use definitions, notation, `variable` lines, and what is
proved there. Of a JSONL file every line is one, with `source` and, if the theorem's own name is not to be it, `id`.

A file has no splits: all of it is what is asked for. No whitelist leaves anything out.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_text
from nanoproof.data.theorem_blocks import blocks
from nanoproof.data.theorem_set import jsonl_rows, require_usable, text_field
from nanoproof.lean.gaps import IN_FRONT, SORRY
from nanoproof.lean.lexical import mask, without_header
from nanoproof.lean.source import theorem_name
from nanoproof.lean.theorem import Theorem

_IN_FRONT = re.compile(rf"(?:^[ \t]*{IN_FRONT}|@\[[^\]]*\])\s*\Z", re.MULTILINE)
"""What belongs to the declaration behind it, besides the comment that documents it."""


def is_file(name: str) -> bool:
    """Whether what stands in the place of a data set's name is a file of theorems, which may not be there."""
    return Path(name).suffix in (".lean", ".jsonl")


def set_name(name: str) -> str:
    """The name of a data set in results: a file goes by its name without folder and ending."""
    return Path(name).stem if is_file(name) else name


def read_theorems(file: str) -> list[Theorem]:
    """The theorems of a file, in its order.

    Raises UserError, with the line, for what the prover cannot work with and for a name that occurs twice, and if there
    is no such file, or no theorem in it.
    """
    path = Path(file).expanduser()
    if not path.is_file():
        raise UserError(f"no such file of theorems: {path}")
    found: dict[str, Theorem] = {}
    for place, name, source in _lean(path) if path.suffix == ".lean" else _jsonl(path):
        require_usable(source, place)
        name = name or theorem_name(source) or place.rpartition(" ")[2]
        if name in found:
            raise UserError(f"{place}: the name {name} occurs twice")
        found[name] = Theorem(source, set_name(file), name)
    if not found:
        raise UserError(f"{path} holds no theorem whose proof is a sorry")
    return list(found.values())


def _lean(path: Path) -> Iterator[tuple[str, str, str]]:
    """Place, name and source of each."""
    text = without_header(read_text(path))
    masked, before, position = mask(text), "", 0
    for block in blocks(text, ("theorem", "lemma")):
        end = block.start + len(block.text)
        if not SORRY.search(masked, block.start, end):
            continue
        between = text[position : block.start]
        head = _head(between, masked[position : block.start])
        before += between[:head]
        position = end
        yield f"{path}, line {block.line}", block.name, before + between[head:] + block.text


def _head(between: str, masked: str) -> int:
    """Where, before a declaration, begins what belongs to it: `open .. in`, documentation, attributes."""
    start = len(between)
    while True:
        code = len(masked[:start].rstrip())
        if (documented := between.find("/--", code, start)) >= 0:
            start = documented
        elif match := _IN_FRONT.search(masked, 0, code):
            start = match.start()
        else:
            return start


def _jsonl(path: Path) -> Iterator[tuple[str, str, str]]:
    for place, record in jsonl_rows(path):
        name = text_field(record, "id", place) if "id" in record else ""
        yield place, name, text_field(record, "source", place)
