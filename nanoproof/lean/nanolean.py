"""The former path of NanoLean, the package `nanolean` now: `python -m nanolean repl|check|export|stats|build`."""

import sys

from nanoproof.common.errors import UserError, run_main


def main() -> None:
    """Say where the command is now, and run it there."""
    sys.stderr.write("python -m nanoproof.lean.nanolean is python -m nanolean now\n")
    try:
        from nanolean.__main__ import main as nanolean
    except ModuleNotFoundError as error:
        raise UserError(f"NanoLean is not installed: {error}") from None
    nanolean()


if __name__ == "__main__":
    run_main(main)
