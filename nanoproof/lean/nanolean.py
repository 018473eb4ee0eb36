"""Former path of the command `python -m nanolean`, and the check that the package `nanolean` is installed."""

import importlib.util
import sys

from nanoproof.common.errors import ABSENT, UserError, run_main


def check_installed() -> None:
    """Raise UserError if the package of the embedded prover is not installed."""
    if importlib.util.find_spec("nanolean") is None:
        raise UserError(ABSENT["nanolean"])


def main(argv: list[str] | None = None) -> int | None:
    """Run `python -m nanolean`, after a line on stderr that names it."""
    sys.stderr.write("python -m nanoproof.lean.nanolean is python -m nanolean now\n")
    check_installed()
    from nanolean.__main__ import main as nanolean

    return nanolean(argv)


if __name__ == "__main__":
    run_main(main)
