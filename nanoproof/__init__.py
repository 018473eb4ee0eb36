"""nanoproof: an open automated theorem prover for Lean 4."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 (before a module is read that older versions cannot parse)
    present = ".".join(map(str, sys.version_info[:2]))
    sys.stderr.write("error: nanoproof needs Python 3.11 or newer; this is Python " + present + "\n")
    raise SystemExit(2)
