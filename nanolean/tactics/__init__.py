"""The tactics. `load()` makes the registry of `core` know them all."""

import importlib
from functools import cache

MODULES = (
    "ac",
    "apply",
    "basic",
    "calc",
    "cases",
    "closing",
    "combinators",
    "construct",
    "context",
    "decide",
    "grind",
    "extensionality",
    "impossible",
    "induction",
    "intro_patterns",
    "loops",
    "omega",
    "rcases",
    "rewrite",
    "simp",
    "simpa",
    "tracing",
    "split",
    "unfold",
)


@cache
def load() -> None:
    """Import every module that registers tactics; costs nothing the second time."""
    for name in MODULES:
        importlib.import_module(f"{__name__}.{name}")
