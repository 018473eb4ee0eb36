"""The process that runs one check: `python -m nanoproof.doctor.worker MODULE:FUNCTION`.

Reads the check's inputs as JSON from standard input and writes findings as JSON to standard output. What the check
itself prints goes to standard error.
"""

import importlib
import json
import os
import sys
from dataclasses import asdict
from typing import Any

from nanoproof.doctor.report import CheckInputs


def main() -> None:
    """Run the check and write its findings."""
    # Libraries print what they like when they are imported; only findings may be in the answer.
    answer = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    values: dict[str, Any] = json.load(sys.stdin)
    for name in ("lean_servers", "datasets"):
        values[name] = tuple(values[name])  # JSON has lists only
    module, _, function = sys.argv[1].partition(":")
    findings = getattr(importlib.import_module(module), function)(CheckInputs(**values))
    with answer:
        json.dump([asdict(finding) for finding in findings], answer)
        answer.flush()
    os._exit(0)  # threads of whatever library was loaded are not waited for


if __name__ == "__main__":
    main()
