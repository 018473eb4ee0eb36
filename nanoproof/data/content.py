"""Whether a file that came is what its name says, and how many rows it has.

A proxy may answer with a page of its own where a file was asked for; that must not take the file's name.
"""

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from nanoproof.data.transfer import TransferError

THEOREM = re.compile(r"^(?:theorem|lemma)\s", re.MULTILINE)


def count_rows(path: Path, filename: str) -> int | None:
    """The rows of a file that goes by `filename`: of a table, lines, elements of a list or theorems; None of others.

    Raises TransferError if the file is of another kind.
    """
    suffix = Path(filename).suffix
    try:
        if suffix == ".parquet":
            return int(pq.read_metadata(path).num_rows)
        if suffix == ".jsonl":
            return _lines(path)
        if suffix == ".json":
            value = json.loads(path.read_bytes())
            return len(value) if isinstance(value, list) else None
        if suffix == ".lean":
            return _theorems(path)
    except (pa.ArrowException, ValueError) as error:
        reason = " ".join(str(error).split())[:120]
        raise TransferError(
            f"what came as {filename} is no {suffix[1:]} file ({reason}); does a proxy answer?"
        ) from error
    return None


def _lines(path: Path) -> int:
    """Lines with text; the first must be a JSON object, and the last complete."""
    count, last = 0, b""
    with open(path, "rb") as file:
        first = file.readline()
        if not isinstance(json.loads(first), dict):
            raise ValueError("the first line is no JSON object")
        file.seek(0)
        for line in file:
            if line.strip():
                count += 1
                last = line
    json.loads(last)
    return count


def _theorems(path: Path) -> int:
    text = path.read_text(encoding="utf-8")
    count = len(THEOREM.findall(text))
    if count == 0:
        raise ValueError("it holds no theorem")
    return count
