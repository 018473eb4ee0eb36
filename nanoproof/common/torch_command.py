"""`run_main` for commands that need torch: they end with one line where torch is not installed.

A command's module imports it before anything that needs torch; a section of its own in the order of imports
(`pyproject.toml`) keeps it first.
"""

import sys
from importlib.util import find_spec

from nanoproof.common.errors import run_main

__all__ = ["run_main"]

if find_spec("torch") is None:
    print(
        "error: this command needs torch, which is not installed: bash runs/setup.sh, or pip install torch",
        file=sys.stderr,
    )
    sys.exit(2)
