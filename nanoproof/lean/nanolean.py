"""The former path of NanoLean, the package `nanolean` now: `python -m nanolean repl|check|export|stats|build`."""

import importlib.util
import sys

from nanoproof.common.errors import ABSENT, UserError, run_main


def check_installed() -> None:
    """Raise UserError where the package of the embedded prover is not there: its processes cannot be started."""
    if importlib.util.find_spec("nanolean") is None:
        raise UserError(ABSENT["nanolean"])


def main(argv: list[str] | None = None) -> int | None:
    """Say where the command is now, and run it there."""
    sys.stderr.write("python -m nanoproof.lean.nanolean is python -m nanolean now\n")
    check_installed()
    from nanolean.__main__ import main as nanolean

    return nanolean(argv)


if __name__ == "__main__":
    run_main(main)
