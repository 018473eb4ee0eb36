"""Texts with weights to train on: JSON, a list of `{"prompt", "target", "weight"}`, the weight 1 where it is left out.

The target follows the prompt, and then the text ends. A prompt for a network of ours ends with a marker of its
tokenizer; one without has that of a proof, or of a conjecture where it asks for one as the Self-play Theorem Prover
does.
"""

import gzip
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write, lone_surrogate, parse_json

CONJECTURE_MARKER, PROOF_MARKER = "<|conjecture|>", "<|proof|>"
ASKS_FOR_CONJECTURE = "<hard theorem>"
EXPECTED = "expected texts `prompt` and `target`, and a `weight` of at least 0"
LEAST_WEIGHT, MOST_WEIGHT = 1e-30, 1e30
"""Of weights that are not 0: they become float32, and Python's integers have no limit."""


class Row(NamedTuple):
    """A text to train on, with what comes before it."""

    prompt: str
    target: str
    weight: float = 1.0


def is_row_file(name: str) -> bool:
    """Tell whether `--data` names a file of such rows: transitions are in `.jsonl` files."""
    return name.endswith((".json", ".json.gz"))


def read_packed_json(path: Path) -> Any:
    """Read JSON, gzipped if the name ends so; where `path` is not there, `path.gz` is tried. Raises UserError."""
    if not path.exists() and (packed := path.with_name(f"{path.name}.gz")).exists():
        path = packed
    try:
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        return parse_json(data)
    except FileNotFoundError as error:
        raise UserError(f"no such file: {path}") from error
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise UserError(f"{path} is not valid JSON: {error}") from error


def write_packed_json(path: Path, value: Any) -> None:
    """Write JSON atomically, gzipped if the name ends so; the same value gives the same bytes."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)  # without the time
    atomic_write(path, lambda file: file.write(data))


def read_rows(path: Path) -> list[Row]:
    """Read a file of rows. Raises UserError, with the place, for anything else."""
    records = read_packed_json(path)
    if not isinstance(records, list):
        raise UserError(f'{path} must hold a list of {{"prompt", "target", "weight"}}')
    return [row_of(record, f"{path}, row {number}") for number, record in enumerate(records, start=1)]


def row_of(record: Any, place: str) -> Row:
    """Convert a record to a row; other columns do not matter. Raises UserError with the place of a bad one."""
    if not isinstance(record, dict):
        raise UserError(f"{place}: {EXPECTED}, got no object")
    for field in ("prompt", "target"):
        if not isinstance(record.get(field), str):
            problem = "is no text" if field in record else "is missing"
            raise UserError(f"{place}: {EXPECTED}; `{field}` {problem}")
        if lone_surrogate(record[field]) is not None:  # a tokenizer would end the training by it, hours later
            raise UserError(f"{place}: `{field}` is not Unicode: it has a lone surrogate")
    weight = record.get("weight")
    if weight is None:
        weight = 1.0
    is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
    if not (is_number and (weight == 0 or LEAST_WEIGHT <= weight < MOST_WEIGHT)):
        problem = f"{weight!r:.50}"
        if is_number and weight > 0:
            problem = "too large" if weight > 1 else "too small"
        raise UserError(f"{place}: {EXPECTED}; `weight` is {problem}")
    return Row(record["prompt"], record["target"], float(weight))


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Write a file of rows, atomically."""
    write_packed_json(path, [row._asdict() for row in rows])


def conjecture_text(lemma: str, easy: str) -> str:
    """Write what a conjecturer is shown: a lemma, and a theorem that uses it."""
    return f"<lemma>\n{lemma}\n<easy theorem>\n{easy}\n{ASKS_FOR_CONJECTURE}"


def at_marker(prompt: str) -> tuple[str, str]:
    """Return the text before the marker of a prompt for a network of ours, and the marker."""
    for marker in (CONJECTURE_MARKER, PROOF_MARKER):
        if prompt.endswith(marker):
            return prompt.removesuffix(marker), marker
    text = prompt.removesuffix("\n") + "\n"
    if ASKS_FOR_CONJECTURE in prompt:
        return text, CONJECTURE_MARKER
    return text, PROOF_MARKER
