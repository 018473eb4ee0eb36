"""What is in a rotating file and in the part before it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nanoproof.rl.records import older_part


def both_parts(path: Path) -> Iterator[Any]:
    """Read the records of both parts, oldest first; lines that are torn or damaged are left out."""
    for part in (older_part(path), path):
        try:
            lines = part.read_bytes().split(b"\n")[:-1]
        except OSError:
            continue
        for line in lines:
            try:
                yield json.loads(line)
            except ValueError:
                continue
