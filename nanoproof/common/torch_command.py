"""`run_main` for commands that need torch: they end with one line where torch is not installed.

A command's module imports it before anything that needs torch; a section of its own in the order of imports
(`pyproject.toml`) keeps it first.
"""

import sys

from nanoproof.common.errors import UserError, run_main
from nanoproof.common.torch_there import require_torch

__all__ = ["run_main"]

try:
    require_torch()
except UserError as error:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(2)
