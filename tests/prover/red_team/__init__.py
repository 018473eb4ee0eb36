"""Tables of proofs for the final check."""

import tomllib
from pathlib import Path
from typing import Any


def table(name: str) -> list[dict[str, Any]]:
    """The entries of `NAME.toml`."""
    text = (Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8")
    return next(iter(tomllib.loads(text).values()))
