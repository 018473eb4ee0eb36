"""The tactics. `load()` makes the registry of `core` know them all."""

import importlib

MODULES = (
    "apply",
    "basic",
    "cases",
    "closing",
    "combinators",
    "construct",
    "decide",
    "induction",
    "rcases",
    "rewrite",
    "simp",
    "unfolding",
)


def load() -> None:
    """Import every module that registers tactics."""
    for name in MODULES:
        importlib.import_module(f"{__name__}.{name}")
