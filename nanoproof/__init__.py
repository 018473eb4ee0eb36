"""nanoproof: an open automated theorem prover for Lean 4."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 (before a module is read that older versions cannot parse)
    present = ".".join(map(str, sys.version_info[:2]))
    sys.stderr.write("error: nanoproof needs Python 3.11 or newer; this is Python " + present + "\n")
    raise SystemExit(2)

from nanoproof.common import packages

# Before a command imports anything else: most often it is the environment that was not activated in this shell.
sys.excepthook = packages.end_command_that_imports
