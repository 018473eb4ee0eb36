"""Texts for the tokenizer commands: named data, files of several formats, and directories of these."""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from nanoproof.common.errors import UserError
from nanoproof.data.text.text_files import files_below, open_text_file
from nanoproof.data.transitions.leantree import read_transitions

SUFFIXES = (".parquet", ".jsonl", ".txt", ".md", ".tex", ".lean", ".py")
"""Files that are read in a directory."""
BLOCK = 1 << 16
"""Characters of a text file that are read at a time, up to the end of a line."""


def read_texts(source: str, max_chars: int | None = None) -> Iterator[str]:
    """Yield the texts of `nanolean`, of a file or of all files below a directory, `max_chars` characters at most.

    Parquet files and JSON lines have a column or field `text`; LeanTree JSONL gives its states and tactics; every other
    file is UTF-8 text. Raises UserError, for --input, if something cannot be read.
    """
    remaining = max_chars
    try:
        for text in chain.from_iterable(map(_file_texts, _files(source))):
            # A part of the last text: one book of ten megabytes must not be all or nothing.
            if remaining is not None:
                text = text[:remaining]
                remaining -= len(text)
            if text:
                yield text
            if remaining == 0:
                return
    except UserError as error:
        raise UserError(f"--input {source}: {error}") from error


def _files(source: str) -> list[Path]:
    if source == "nanolean":
        from nanoproof.data.nanolean import transitions_file  # loads the embedded prover, which other inputs do without

        return [transitions_file()]
    path = Path(source).expanduser()
    if not path.exists():
        raise UserError("no such file or directory")
    if not path.is_dir():
        return [path]
    return files_below(path, SUFFIXES)


def _file_texts(path: Path) -> Iterator[str]:
    if path.suffix == ".jsonl" and _is_leantree(path):
        for transition in read_transitions(path):
            yield transition.state + "\n"
            yield transition.tactic
    elif path.suffix in (".parquet", ".jsonl"):
        file = open_text_file(path)
        for number, group in enumerate(file.groups):
            yield from filter(None, file.read(number, range(group.documents)))
    else:
        yield from _blocks(path)


def _is_leantree(path: Path) -> bool:
    """Tell whether the first line is a file in LeanTree's format; lines that are no JSON are left to the reader."""
    with open(path, encoding="utf-8", errors="replace") as lines:
        try:
            first = json.loads(next(lines, "null"))
        except json.JSONDecodeError:
            return False
    return isinstance(first, dict) and "theorems" in first


def _blocks(path: Path) -> Iterator[str]:
    """Yield a text file in parts of whole lines, so that files of any size can be read."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            while lines := file.readlines(BLOCK):
                yield "".join(lines)
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text ({error.reason})") from error
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
