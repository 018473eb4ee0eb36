"""Names of Lean's core that this library lacks: to declare them would give them another meaning than Lean's."""

from functools import cache
from pathlib import Path

FILE = Path(__file__).parent / "core_names.txt"


@cache
def core_names() -> frozenset[str]:
    """Return the names in `core_names.txt`, which says where they come from."""
    names = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            namespace, *parts = line.split()
            names += parts if namespace == "." else [f"{namespace}.{part}" for part in parts]
    return frozenset(names)
