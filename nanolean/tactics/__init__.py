"""The tactics. `load()` makes the registry of `core` know them all."""

import importlib
from functools import cache

MODULES = (
    "apply",
    "basic",
    "cases",
    "closing",
    "combinators",
    "context",
    "conv",
    "extensionality",
    "grind",
    "omega",
    "rcases",
    "rewrite",
    "simp",
    "split",
)


@cache
def load() -> None:
    """Import every module that registers tactics; costs nothing the second time."""
    for name in MODULES:
        importlib.import_module(f"{__name__}.{name}")
